/* A section that is asked for alone is read from a part of the recording, and says the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "analysis/report.h"
#include "output/outputs.h"

#define RECORDING(name) "tests/recordings/" name ".roofline"

static char *written(output_function output, const struct report *report,
		     const struct section *section)
{
	const struct section *const asked[] = {section, NULL};
	const struct output_options options = {.sections = asked};
	struct err err = {""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(output(report, out, &options, &err), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void expect_equal(const struct report *whole, const struct report *part,
			 const struct section *section)
{
	static const output_function forms[] = {output_text, output_json, output_csv};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		char *expected = written(forms[i], whole, section);
		char *got = written(forms[i], part, section);

		if (strcmp(expected, got))
			fail_msg("%s of %s:\n%s\n%s", section->key, whole->profile->path, expected,
				 got);
		free(expected);
		free(got);
	}
}

static struct report_needs needs_of(const struct section *section)
{
	const struct section *const asked[] = {section, NULL};

	return sections_needs(&(struct output_options){.sections = asked});
}

static void compare(const char *path)
{
	struct err err = {""};
	const struct report_needs everything = {.analyses = ANALYSES_ON_REQUEST};
	struct report *whole, *part;

	assert_int_equal(report_build_for(&whole, path, &everything, &err), 0);
	for (size_t i = 0; sections[i]; i++) {
		const struct report_needs needs = needs_of(sections[i]);

		if (!needs.tables)
			continue;
		assert_int_equal(report_build_for(&part, path, &needs, &err), 0);
		expect_equal(whole, part, sections[i]);
		report_free(part);
	}
	report_free(whole);
}

static void test_same(void **state)
{
	(void)state;
	compare(RECORDING("concurrent_kernels.streams"));
	compare(RECORDING("dependent_launch.dependent"));
	compare(RECORDING("device_graph"));
	compare(RECORDING("graph_chain.graph"));
	compare(RECORDING("work_queue.naive.counted"));
	compare(RECORDING("memory_bound.naive"));
}

static void test_everything(void **state)
{
	const struct output_options whole = {0};

	(void)state;
	assert_int_equal(sections_needs(&whole).tables, 0);
	assert_int_equal(needs_of(&section_advice).tables, 0);
}

static void test_on_request(void **state)
{
	static const struct section *const asked[] = {&section_advice, &section_events, NULL};
	struct err err = {""};
	struct report *report;

	(void)state;
	assert_false(section_is_wanted(&section_events, &(struct output_options){0}));
	assert_int_equal(sections_needs(&(struct output_options){0}).analyses, 0);
	assert_int_equal(sections_needs(&(struct output_options){.sections = asked}).tables, 0);
	assert_int_equal(sections_needs(&(struct output_options){.sections = asked}).analyses,
			 NEED_events);
	assert_int_equal(report_build(&report, RECORDING("graph_chain.graph"), &err), 0);
	assert_null(report->events);
	report_free(report);
}

static void test_part(void **state)
{
	const struct report_needs needs = needs_of(&section_kernels);
	struct err err = {""};
	struct report *report;

	(void)state;
	assert_int_equal(report_build_for(&report, RECORDING("concurrent_kernels.streams"), &needs,
					  &err),
			 0);
	assert_true(report->profile->op_count > 0);
	assert_int_equal(report->profile->range_count, 0);
	assert_null(report->gaps);
	assert_true(report->statistics->kernel_count > 0);
	assert_null(report->statistics->calls);
	report_free(report);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a section alone is the same as in the whole report", test_same),
		SENTENCE("the whole report, and advice, need everything", test_everything),
		SENTENCE("events are put in order only where they are asked for", test_on_request),
		SENTENCE(
			"kernels alone are read without ranges, causes of idle time and statistics of calls",
			test_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
