/* collector/counters/metric_table.h: what a request for counters means on a chip that is made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "collector/counters/metric_table.c"

/* A chip has every counter in one pass, but for these. */
struct chip {
	const char *missing[8], *two_passes[8];
	unsigned int questions;
};

static bool is_listed(const char *const *list, const char *name)
{
	while (*list && !strstr(name, *list))
		list++;
	return *list != NULL;
}

static unsigned int passes_on(void *context, const char *name)
{
	struct chip *chip = context;

	chip->questions++;
	assert_true(*name && !strchr(name, '+') && !strchr(name, ','));
	if (is_listed(chip->missing, name))
		return 0;
	return is_listed(chip->two_passes, name) ? 2 : 1;
}

static struct metric_list list;
static char refused[256];

static void resolve(struct chip *chip, const char *request, enum metric_scope scope)
{
	memset(refused, 'x', sizeof(refused));
	metric_table_resolve(&list, request, scope, 1, passes_on, chip, refused, sizeof(refused));
	assert_true(list.count <= METRIC_LIMIT);
	assert_non_null(memchr(refused, '\0', sizeof(refused)));
}

/* Counters that stand for a role, joined by '+'; "-" for a gap; "" when it is not in the list. */
static const char *answer(enum metric_role role)
{
	static char text[512];

	*text = '\0';
	for (size_t i = 0; i < list.count; i++)
		if (list.choices[i].role == role) {
			strcat(text, *text ? "+" : "");
			strcat(text, *list.choices[i].name ? list.choices[i].name : "-");
		}
	return text;
}

static void assert_each_once(void)
{
	for (size_t i = 0; i < list.count; i++)
		for (size_t j = 0; j < i; j++)
			assert_false(*list.choices[i].name &&
				     !strcmp(list.choices[i].name, list.choices[j].name));
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(metric_table_word("roofline"), WORD_SET);
	assert_int_equal(metric_table_word("stalls"), WORD_SET);
	assert_int_equal(metric_table_word("dram__bytes.sum"), WORD_COUNTER);
	assert_int_equal(metric_table_word("dram_bytes"), WORD_UNKNOWN);
	assert_int_equal(metric_table_word("roof"), WORD_UNKNOWN);
	assert_int_equal(metric_table_word(""), WORD_UNKNOWN);
}

static void test_every_role_has_an_answer(void **state)
{
	struct chip chip = {.questions = 0};

	(void)state;
	resolve(&chip, "roofline,atomics,shared,global,sm,stalls", SCOPE_ALL);
	assert_string_equal(refused, "");
	for (int role = 0; role < METRIC_ROLE_COUNT; role++) {
		assert_string_not_equal(answer((enum metric_role)role), "");
		assert_string_not_equal(answer((enum metric_role)role), "-");
	}
	assert_each_once();
}

static void test_time_comes_first(void **state)
{
	struct chip chip = {.questions = 0};

	(void)state;
	resolve(&chip, "stalls", SCOPE_ALL);
	assert_int_equal(list.choices[0].role, METRIC_range_ns);
	assert_false(list.choices[0].is_patched);
	resolve(&chip, "stalls,roofline", SCOPE_ALL);
	assert_string_equal(answer(METRIC_range_ns), "gpu__time_duration.sum"); /* once */
	resolve(&chip, "", SCOPE_ALL);
	assert_int_equal(list.count, 1);
}

static void test_a_set_has_its_own_roles(void **state)
{
	struct chip chip = {.questions = 0};

	(void)state;
	resolve(&chip, "sm", SCOPE_ALL);
	assert_int_equal(list.count, 6);
	assert_string_not_equal(answer(METRIC_warps_active_percent), "");
	assert_string_equal(answer(METRIC_dram_read_bytes), "");
}

static void test_tensor_types_wait(void **state)
{
	struct chip chip = {.questions = 0};

	(void)state;
	resolve(&chip, "roofline", SCOPE_WITHOUT_TENSOR_TYPES);
	assert_string_not_equal(answer(METRIC_tensor_instructions), "");
	for (int role = METRIC_tensor_fp64_ops; role <= METRIC_tensor_int8_ops; role++)
		assert_string_equal(answer((enum metric_role)role), "");
	resolve(&chip, "roofline", SCOPE_ALL);
	for (int role = METRIC_tensor_fp64_ops; role <= METRIC_tensor_int8_ops; role++)
		assert_string_not_equal(answer((enum metric_role)role), "");
}

static void test_answers_by_preference(void **state)
{
	struct chip chip = {.questions = 0};

	(void)state;
	resolve(&chip, "roofline", SCOPE_ALL);
	assert_string_equal(answer(METRIC_tensor_fp16_ops),
			    "sm__ops_path_tensor_op_hgmma_src_fp16.sum+"
			    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum+"
			    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum");
	chip.missing[0] = "_op_hgmma_"; /* one part is enough to take the next answer */
	resolve(&chip, "roofline", SCOPE_ALL);
	assert_string_equal(answer(METRIC_tensor_fp16_ops),
			    "sm__ops_path_tensor_src_fp16_dst_fp32.sum+"
			    "sm__ops_path_tensor_src_fp16_dst_fp16.sum");
	chip.missing[1] = "tensor_src_fp16_dst_fp16";
	resolve(&chip, "roofline", SCOPE_ALL);
	assert_string_equal(answer(METRIC_tensor_fp16_ops),
			    "sm__ops_path_tensor_src_fp16_dst_fp32.sum");
}

static void test_gaps(void **state)
{
	struct chip chip = {.missing = {"dram__", "src_fp16"}};

	(void)state;
	resolve(&chip, "roofline", SCOPE_ALL);
	assert_string_equal(answer(METRIC_dram_read_bytes), "-");
	assert_string_equal(answer(METRIC_dram_write_bytes), "-");
	assert_string_equal(answer(METRIC_tensor_fp16_ops), "-");
	assert_string_not_equal(answer(METRIC_l2_bytes), "-");
	assert_string_equal(refused, ""); /* a gap is no mistake of the user's */
}

static void test_two_passes_are_no_answer(void **state)
{
	struct chip chip = {.two_passes = {"lts__t_bytes", "_op_hgmma_src_fp16"}};

	(void)state;
	resolve(&chip, "roofline", SCOPE_ALL);
	assert_string_equal(answer(METRIC_l2_bytes), "-");
	assert_string_equal(answer(METRIC_tensor_fp16_ops),
			    "sm__ops_path_tensor_src_fp16_dst_fp32.sum+"
			    "sm__ops_path_tensor_src_fp16_dst_fp16.sum");
}

static void test_counters_by_name(void **state)
{
	struct chip chip = {.two_passes = {"two__"}, .missing = {"none__"}};

	(void)state;
	resolve(&chip, "x__a.sum,,x__b.sum,x__a.sum", SCOPE_ALL);
	assert_string_equal(answer(METRIC_NONE), "x__a.sum+x__b.sum");
	assert_string_equal(refused, "");
	resolve(&chip, "none__a.sum,two__b.sum,x__c.sum,", SCOPE_ALL);
	assert_string_equal(answer(METRIC_NONE), "x__c.sum");
	assert_string_equal(refused, "none__a.sum is no counter of this chip");
	resolve(&chip, "two__b.sum", SCOPE_ALL);
	assert_string_equal(refused,
			    "two__b.sum needs more than one pass: ask for it with --replay");
	metric_table_resolve(&list, "two__b.sum", SCOPE_ALL, UINT32_MAX, passes_on, &chip, refused,
			     sizeof(refused));
	assert_string_equal(answer(METRIC_NONE), "two__b.sum");
	assert_string_equal(refused, "");
}

static void test_a_counter_that_a_set_has(void **state)
{
	struct chip chip = {.questions = 0};

	(void)state;
	resolve(&chip, "roofline,dram__bytes_read.sum", SCOPE_ALL);
	assert_string_equal(answer(METRIC_NONE), "");
	assert_each_once();
	resolve(&chip, "dram__bytes_read.sum,roofline", SCOPE_ALL);
	assert_string_equal(answer(METRIC_dram_read_bytes), "dram__bytes_read.sum");
	assert_each_once();
}

static void test_sets_twice(void **state)
{
	struct chip chip = {.questions = 0};
	size_t count;

	(void)state;
	resolve(&chip, "atomics,sm", SCOPE_ALL);
	count = list.count;
	resolve(&chip, "atomics,sm,sm,atomics", SCOPE_ALL);
	assert_int_equal(list.count, count);
}

static void test_instrumented_counters_are_marked(void **state)
{
	struct chip chip = {.questions = 0};

	(void)state;
	resolve(&chip, "roofline,x__sass_y.sum", SCOPE_ALL);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.choices[i].is_patched,
				 strstr(list.choices[i].name, "__sass_") != NULL);
	assert_true(list.choices[list.count - 1].is_patched);
}

static void test_limits(void **state)
{
	struct chip chip = {.questions = 0};
	static char request[64 * 1024], name[32];

	(void)state;
	*request = '\0';
	for (int i = 0; i < 2 * METRIC_LIMIT; i++) {
		snprintf(name, sizeof(name), "x__%d.sum,", i);
		strcat(request, name);
	}
	resolve(&chip, request, SCOPE_ALL);
	assert_int_equal(list.count, METRIC_LIMIT);
	assert_string_equal(refused, "x__127.sum is one counter too many");
	strcat(request, "roofline,stalls"); /* roles find no room either */
	resolve(&chip, request, SCOPE_ALL);
	assert_int_equal(list.count, METRIC_LIMIT);
}

static void test_a_name_that_is_too_long(void **state)
{
	struct chip chip = {.questions = 0};
	char request[METRIC_NAME_BYTES + 60];

	(void)state;
	memset(request, 'a', sizeof(request));
	memcpy(request, "x__", 3);
	strcpy(request + METRIC_NAME_BYTES + 20, ",x__b.sum");
	resolve(&chip, request, SCOPE_ALL);
	assert_string_equal(answer(METRIC_NONE), "x__b.sum");
	assert_non_null(strstr(refused, " is no counter of this chip"));
}

static void test_a_small_buffer_for_the_refusal(void **state)
{
	struct chip chip = {.missing = {"none__"}};
	char small[8] = "yyyyyyy";

	(void)state;
	metric_table_resolve(&list, "none__a.sum", SCOPE_ALL, 1, passes_on, &chip, small,
			     sizeof(small));
	assert_string_equal(small, "none__a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name, function) {name, function, NULL, NULL, NULL}
		TEST("words are sets, counters or neither", test_words),
		TEST("every role has an answer in one of the sets", test_every_role_has_an_answer),
		TEST("the time of the range comes first and once", test_time_comes_first),
		TEST("a set has its own roles", test_a_set_has_its_own_roles),
		TEST("tensor types wait for the wider scope", test_tensor_types_wait),
		TEST("answers are taken by preference, and only whole", test_answers_by_preference),
		TEST("a role without an answer is a gap", test_gaps),
		TEST("a counter of two passes is no answer", test_two_passes_are_no_answer),
		TEST("counters are asked for by name, and refused with a reason",
		     test_counters_by_name),
		TEST("a counter that a set has too is asked for once",
		     test_a_counter_that_a_set_has),
		TEST("sets asked for twice are taken once", test_sets_twice),
		TEST("instrumented counters are marked", test_instrumented_counters_are_marked),
		TEST("more counters than there is room for are refused", test_limits),
		TEST("a name that is too long is refused, not cut into another",
		     test_a_name_that_is_too_long),
		TEST("the refusal is cut to its buffer", test_a_small_buffer_for_the_refusal),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
