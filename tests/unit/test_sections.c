/* What has to be found for a section. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "output/outputs.h"

/* The advice itself, and what is told beside it; all others say what was measured. */
static bool is_advice(const struct section *section)
{
	static const char *const keys[] = {"verdict", "plan", "advice", "rejected", "next"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(section->key, keys[i]))
			return true;
	return false;
}

static void test_one(void **state)
{
	(void)state;
	for (size_t i = 0; sections[i]; i++) {
		const struct section *const chosen[] = {sections[i], NULL};
		const struct output_options options = {.sections = chosen};

		if (sections_want_advice(&options) != is_advice(sections[i]))
			fail_msg("%s", sections[i]->key);
	}
}

static void test_several(void **state)
{
	const struct section *const chosen[] = {&section_kernels, NULL};

	(void)state;
	assert_true(sections_want_advice(&(struct output_options){0}));
	assert_true(sections_want_advice(
		&(struct output_options){.sections = chosen, .is_verdict_only = true}));
	assert_false(sections_want_advice(&(struct output_options){.has_holes = true}));
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("for a section of what was measured no advice is looked for", test_one),
		SENTENCE(
			"for the whole report it is, and for the verdict, but not of some of its kernels",
			test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
