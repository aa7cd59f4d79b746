/* Every technique on every recording of a real GPU: none is predicted to bring more than the recording allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <string.h>

#include "cmd/source.h"
#include "whatif/what_if.h"

static struct report *load_with(const char *path, const char *ceilings_path)
{
	const struct source source = {.path = path, .ceilings_path = ceilings_path};
	struct report *report = NULL;
	struct err err = {""};

	if (source_load(&report, &source, "test", &err) < 0)
		fail_msg("%s: %s", path, err.text);
	return report;
}

/* With the ceilings of the GPU that was recorded. */
static struct report *load(const char *path)
{
	struct report *report = load_with(path, "ceilings/NVIDIA_H200-580.159.04.json");

	if (!strcmp(report->profile->devices[0].name, "NVIDIA H200"))
		return report;
	assert_string_equal(report->profile->devices[0].name, "NVIDIA H100 80GB HBM3");
	report_free(report);
	return load_with(path, "ceilings/NVIDIA_H100_80GB_HBM3-580.159.04.json");
}

static void expect_possible(const struct what_if *found, const char *path, int technique,
			    const char *range)
{
	if (found->effect.refusal == refused_impossible)
		fail_msg("%s: %s in range %s promises more than there is", path,
			 techniques[technique]->id, range ? range : "-");
}

/* Alone, as advice has it and as whatif with a number, and all together in the order of their rows. */
static size_t try_all(struct what_ifs *all, size_t device, const char *path, const char *range)
{
	enum technique_id ids[TECHNIQUE_COUNT];
	struct what_if parts[TECHNIQUE_COUNT];
	struct prediction together;
	size_t count = 0;

	for (int i = 0; i < TECHNIQUE_COUNT; i++) {
		bool has_number = techniques[i]->argument == ARGUMENT_NUMBER;

		ids[i] = (enum technique_id)i;
		for (uint64_t number = has_number ? 4 : 0; number <= 64; number += 60) {
			struct what_if found;

			all->numbers[i] = number;
			assert_int_equal(what_if_alone(&found, ids[i], all, device), 0);
			expect_possible(&found, path, i, range);
			count += !found.effect.refusal;
			if (!has_number)
				break;
		}
	}
	assert_int_equal(what_if_together(&together, parts, ids, TECHNIQUE_COUNT, all, device), 0);
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		expect_possible(&parts[i], path, i, range);
	return count;
}

/* Sanitizers look at the code that runs, which each sixth recording has, too, and the first GPU of each.  A job is replayed
 * as a whole for each of its GPUs: two of them tell. */
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 6, GPUS_MOST = 1 };
#else
enum { STEP = 1, GPUS_MOST = 2 };
#endif

static size_t try_recording(const char *path)
{
	struct report *report = load(path);
	static const char *const ranges[] = {NULL, "run"};
	size_t count = 0;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct what_ifs all;

		assert_int_equal(what_ifs_open(&all, report->profile, report->ceilings, ranges[i]),
				 0);
		assert_int_equal(what_ifs_add_report(&all, report), 0);
		for (size_t j = 0;
		     all.predictor.is_usable && j < report->profile->device_count && j < GPUS_MOST;
		     j++)
			count += try_all(&all, j, path, ranges[i]);
		what_ifs_free(&all);
	}
	report_free(report);
	return count;
}

static void try_folder(const char *pattern, size_t least_count)
{
	glob_t found;
	size_t count = 0;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i += STEP)
		count += try_recording(found.gl_pathv[i]);
	globfree(&found);
	assert_true(count >= least_count / STEP);
}

static void test_recordings(void **state)
{
	(void)state;
	try_folder("tests/recordings/*.roofline", 500);
}

static void test_pairs(void **state)
{
	(void)state;
	try_folder("tests/pairs/*.roofline", 300);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("no technique promises more than a recording of tests/recordings allows",
			 test_recordings),
		SENTENCE("no technique promises more than a recording of tests/pairs allows",
			 test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
