/* base/ranked_value.h: the value of a rank, by sorting and without, and how often values are asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/ranked_value.h"

#define MANY (2 * RANKED_VALUES_KEPT + 1)

struct numbers {
	double *items;
	size_t asked_count;
};

/* Every seventh item has no value. */
static bool number_at(size_t index, double *value, void *context)
{
	struct numbers *numbers = context;

	numbers->asked_count++;
	*value = numbers->items[index];
	return index % 7 != 3;
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* What sorting gives for some ranks. */
static void expect_as_sorted(double *items, size_t count)
{
	struct numbers numbers = {items, 0};
	const struct ranked_values values = {count, number_at, &numbers};
	double *sorted = malloc(count * sizeof(*sorted)), value;
	size_t kept = 0;

	assert_non_null(sorted);
	for (size_t i = 0; i < count; i++)
		if (i % 7 != 3)
			sorted[kept++] = items[i];
	qsort(sorted, kept, sizeof(*sorted), compare);
	for (int part = 0; part <= 4; part++) {
		size_t rank = (kept - 1) * (size_t)part / 4;

		numbers.asked_count = 0;
		assert_int_equal(ranked_value(&value, &values, rank), 0);
		assert_memory_equal(&value, &sorted[rank], sizeof(value));
		assert_in_range(numbers.asked_count, 1, 5 * count);
	}
	free(sorted);
}

static double random_number(void)
{
	return (double)(rand() % 2000001 - 1000000) / (1 + rand() % 1000);
}

static void few_and_many_values_give_what_sorting_gives(void **state)
{
	static const size_t counts[] = {1, 2, 3, 64, 65, 1000, MANY};
	double *items = malloc(MANY * sizeof(*items));

	(void)state;
	assert_non_null(items);
	srand(1);
	for (size_t i = 0; i < MANY; i++)
		items[i] = random_number();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		expect_as_sorted(items, counts[i]);
	free(items);
}

static void values_that_are_nearly_all_equal_take_no_more_memory(void **state)
{
	double *items = malloc(MANY * sizeof(*items));

	(void)state;
	assert_non_null(items);
	for (size_t i = 0; i < MANY; i++)
		items[i] = 0.1;
	expect_as_sorted(items, MANY);
	items[0] = -3;
	items[1] = 1e300;
	items[2] = 0.1000000000000001;
	expect_as_sorted(items, MANY);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_and_many_values_give_what_sorting_gives),
		cmocka_unit_test(values_that_are_nearly_all_equal_take_no_more_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
