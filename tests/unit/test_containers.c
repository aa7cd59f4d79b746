/* The loader's small containers: the stable sort, the id map and the strings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/search.h"
#include "trace/id_map.h"
#include "base/stable_sort.h"
#include "base/strings.h"

struct item {
	uint32_t key, number; /* number: where it stood */
};

static size_t comparison_count;

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	comparison_count++;
	return (a->key > b->key) - (a->key < b->key);
}

static void assert_sorted(const struct item *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].number < items[i].number);
	}
}

static void sort_keys(uint32_t (*key)(uint32_t), uint32_t count)
{
	struct item *items = calloc(count + 1, sizeof(*items));
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct item){key(i), i};
	assert_int_equal(stable_sort(items, count, sizeof(*items), compare_items), 0);
	assert_sorted(items, count);
	for (uint32_t i = 0; i < count; i++)
		sum += items[i].number;
	assert_int_equal(sum, (uint64_t)count * (count ? count - 1 : 0) / 2); /* none is lost */
	free(items);
}

static uint32_t scattered(uint32_t i)
{
	return i * 2654435761u >> 20;
}

static uint32_t backwards(uint32_t i)
{
	return 1000000 - i;
}

static uint32_t interleaved(uint32_t i)
{
	return i % 3 * 100000 + i;
}

static uint32_t equal(uint32_t i)
{
	(void)i;
	return 7;
}

static void test_sort(void **state)
{
	static uint32_t (*const keys[])(uint32_t) = {scattered, backwards, interleaved, equal};

	(void)state;
	for (size_t key = 0; key < sizeof(keys) / sizeof(keys[0]); key++) {
		for (uint32_t count = 0; count < 120; count++)
			sort_keys(keys[key], count);
		sort_keys(keys[key], 20000);
	}
}

static uint32_t nearly_sorted(uint32_t i)
{
	return i ^ 1;
}

static void test_sort_cost(void **state)
{
	(void)state;
	comparison_count = 0;
	sort_keys(nearly_sorted, 100000);
	assert_true(comparison_count < 300000); /* a plain merge sort takes 1,600,000 */
}

static void test_sort_size(void **state)
{
	char items[2][200] = {{0}};

	(void)state;
	assert_int_equal(stable_sort(items, 2, sizeof(items[0]), compare_items), -EINVAL);
}

static void test_id_map(void **state)
{
	static const uint32_t ids[] = {0, 1, 63, 64, 4242, 4194303, 4194304, UINT32_MAX};
	struct id_map map = {0};
	uint32_t count = sizeof(ids) / sizeof(ids[0]);

	(void)state;
	assert_int_equal(id_map_get(&map, 0), PROFILE_NONE);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(id_map_put(&map, ids[i], 10 + i), 0);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(id_map_get(&map, ids[i]), 10 + i);
	assert_int_equal(id_map_get(&map, 2), PROFILE_NONE);
	assert_int_equal(id_map_get(&map, UINT32_MAX - 1), PROFILE_NONE);
	assert_int_equal(id_map_put(&map, 64, 99), 0);
	assert_int_equal(id_map_put(&map, UINT32_MAX, 98), 0);
	assert_int_equal(id_map_get(&map, 64), 99);
	assert_int_equal(id_map_get(&map, UINT32_MAX), 98);
	id_map_clear(&map);
	assert_int_equal(id_map_get(&map, 64), PROFILE_NONE);
}

static void test_strings(void **state)
{
	struct strings *strings = strings_create();
	char text[] = "one";
	const char *one = strings_intern(strings, text);

	(void)state;
	assert_ptr_not_equal(one, text);
	assert_ptr_equal(strings_intern(strings, "one"), one);
	assert_ptr_not_equal(strings_intern(strings, "on"), one);
	assert_ptr_not_equal(strings_intern(strings, ""), one);
	assert_int_equal(strings_number(strings, "one"), 0);
	assert_int_equal(strings_number(strings, "on"), 1);
	assert_int_equal(strings_number(strings, "two"), 3);
	assert_string_equal(one, "one");
	strings_free(strings);
	strings_free(NULL);
}

static void test_array_limit(void **state)
{
	size_t capacity = 0;

	(void)state;
	assert_null(array_reserve(NULL, &capacity, SIZE_MAX / 4, 48));
	assert_int_equal(capacity, 0);
}

static bool is_at_least(size_t index, const void *context)
{
	assert_true(index >= 3 && index < 40);
	return index >= *(const size_t *)context;
}

static void test_search(void **state)
{
	(void)state;
	for (size_t end = 3; end <= 40; end++)
		for (size_t first = 0; first <= 41; first++)
			assert_int_equal(search_first(3, end, is_at_least, &first),
					 first < 3     ? 3
					 : first > end ? end
						       : first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"any order is sorted, and equal items stay in order", test_sort, NULL, NULL, NULL},
		{"nearly sorted items cost little", test_sort_cost, NULL, NULL, NULL},
		{"items too large to hold are refused", test_sort_size, NULL, NULL, NULL},
		{"small and huge ids find their index", test_id_map, NULL, NULL, NULL},
		{"equal texts are one string with one number", test_strings, NULL, NULL, NULL},
		{"the search finds the first index that is reached, or the end", test_search, NULL,
		 NULL, NULL},
		{"an array too large for memory is refused", test_array_limit, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
