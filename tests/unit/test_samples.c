/* Samples that are too many for memory: the file gives the same ones in the same order, and reads each block once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/report.h"
#include "base/stable_sort.h"
#include "fixture_profile.h"
#include "output/outputs.h"
#include "trace/profile_select.h"
#include "trace/sample_file.h"
#include "trace/samples.h"

#define COUNT 20000
#define DEVICES 3
#define RUN 3000 /* samples that are added at once */

/* ---- the same samples in both ways ---- */

static int compare(const void *left, const void *right)
{
	const struct profile_sample *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* What the file shall have of the samples: sorted, and without those that begin inside the one before. */
static size_t sort_all(struct profile_sample *samples, size_t count)
{
	size_t kept = 0;

	assert_int_equal(stable_sort(samples, count, sizeof(*samples), compare), 0);
	for (size_t i = 0; i < count; i++)
		if (!kept || samples[kept - 1].device != samples[i].device ||
		    samples[i].start_ns >= sample_end_ns(&samples[kept - 1]))
			samples[kept++] = samples[i];
	return kept;
}

struct both {
	struct profile_device devices[DEVICES];
	struct profile profile;	       /* in a file */
	struct profile_sample *sorted; /* in memory */
	size_t count;
};

/* Takes samples, COUNT of them. */
static struct both *both_new(struct profile_sample *samples)
{
	struct both *both = calloc(1, sizeof(*both));
	struct profile_sample *run = malloc(RUN * sizeof(*run));
	struct err err = {""};

	assert_true(both && run);
	assert_int_equal(sample_file_create(&both->profile.sample_file, &err), 0);
	for (size_t i = 0; i < COUNT; i += RUN) {
		size_t count = COUNT - i < RUN ? COUNT - i : RUN;

		memcpy(run, &samples[i], count * sizeof(*run));
		assert_int_equal(stable_sort(run, count, sizeof(*run), compare), 0);
		assert_int_equal(sample_file_add(both->profile.sample_file, run, count, &err), 0);
	}
	assert_int_equal(sample_file_seal(both->profile.sample_file, &err), 0);
	free(run);
	both->sorted = samples;
	both->count = sort_all(samples, COUNT);
	both->profile.devices = both->devices;
	both->profile.device_count = DEVICES;
	both->profile.sample_count = both->count;
	for (size_t i = 0, device = 0; device < DEVICES; device++) {
		both->devices[device].first_sample = i;
		for (; i < both->count && samples[i].device == device; i++)
			both->devices[device].sample_count++;
	}
	return both;
}

static void both_free(struct both *both)
{
	sample_file_free(both->profile.sample_file);
	free(both->sorted);
	free(both);
}

static void expect_same(struct both *both)
{
	struct sample_cursor cursor = sample_cursor_open(&both->profile);
	size_t count, sum = 0;
	const struct sample_block *blocks = sample_file_blocks(both->profile.sample_file, &count);

	for (size_t i = 0; i < count; i++)
		sum += blocks[i].count;
	assert_int_equal(sum, both->count);
	for (size_t i = 0; i < both->count; i++)
		assert_memory_equal(sample_at(&cursor, i), &both->sorted[i],
				    sizeof(both->sorted[i]));
	for (size_t i = 0; i < both->count; i++) {
		size_t any = (size_t)rand() % both->count;

		assert_memory_equal(sample_at(&cursor, any), &both->sorted[any],
				    sizeof(both->sorted[any]));
	}
	assert_int_equal(sample_cursor_close(&cursor), 0);
}

/* COUNT samples of 1000 ns, one after the other, in turn of each device. */
static struct profile_sample *samples_new(void)
{
	struct profile_sample *samples = calloc(COUNT, sizeof(*samples));

	assert_non_null(samples);
	srand(1);
	for (int64_t i = 0; i < COUNT; i++)
		samples[i] = (struct profile_sample){.start_ns = 5000 + 1000 * (i / DEVICES),
						     .length_ns = 1000,
						     .device = (uint32_t)(i % DEVICES),
						     .sample_count = 1,
						     .sm = (float)(rand() % 100) / 100,
						     .l2_bytes = i < COUNT / 2 ? 7 : (float)i};
	return samples;
}

static void samples_in_order_are_the_same(void **state)
{
	struct both *both = both_new(samples_new());

	(void)state;
	assert_int_equal(both->count, COUNT);
	expect_same(both);
	both_free(both);
}

static void samples_with_holes_in_any_order_are_the_same(void **state)
{
	struct profile_sample *samples = samples_new();
	struct both *both;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		samples[i].length_ns -= (uint64_t)rand() % 3;
	for (size_t i = COUNT - 1; i > 0; i--) {
		size_t other = (size_t)rand() % (i + 1);
		struct profile_sample held = samples[i];

		samples[i] = samples[other];
		samples[other] = held;
	}
	both = both_new(samples);
	assert_int_equal(both->count, COUNT);
	expect_same(both);
	both_free(both);
}

/* The second half has the times of the first, a little later or at once: which of two is kept depends on the one before. */
static void of_two_processes_that_sample_a_gpu_the_same_samples_are_kept(void **state)
{
	struct profile_sample *samples = samples_new();
	struct both *both;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		if (i >= COUNT / 2)
			samples[i].start_ns -=
				1000 * (COUNT / 2 / DEVICES) - (rand() % 4 ? rand() % 900 : 0);
		samples[i].length_ns = 800 + (uint64_t)(rand() % 400);
	}
	both = both_new(samples);
	assert_in_range(both->count, COUNT / 4, COUNT - 1);
	expect_same(both);
	both_free(both);
}

/* Nothing else is out of order, so that no run overlaps another. */
static void one_sample_that_begins_inside_the_one_before_it_goes(void **state)
{
	struct profile_sample *samples = samples_new();
	struct both *both;

	(void)state;
	samples[100].length_ns = 1001;
	both = both_new(samples);
	assert_int_equal(both->count, COUNT - 1);
	expect_same(both);
	both_free(both);
}

static void samples_of_one_moment_are_one(void **state)
{
	struct profile_sample *samples = samples_new();
	struct both *both;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		samples[i].start_ns = 5000;
	both = both_new(samples);
	assert_int_equal(both->count, DEVICES);
	expect_same(both);
	both_free(both);
}

/* ---- finding and reading ---- */

static size_t search_each(const struct both *both, const struct profile_device *device,
			  enum sample_bound bound, int64_t ns)
{
	size_t i = device->first_sample, end = i + device->sample_count;

	for (; i < end; i++) {
		int64_t start_ns = both->sorted[i].start_ns;

		if (bound == SAMPLE_STARTS_FROM	   ? start_ns >= ns
		    : bound == SAMPLE_STARTS_AFTER ? start_ns > ns
						   : sample_end_ns(&both->sorted[i]) > ns)
			return i;
	}
	return end;
}

/* Also in a part of a device's samples, which begins and ends inside a block; and each search reads one block. */
static void a_search_finds_what_looking_at_each_finds(void **state)
{
	struct both *both = both_new(samples_new());
	struct profile_device *device = &both->devices[1];

	(void)state;
	for (int part = 0; part < 3; part++) {
		for (int i = 0; i < 3000; i++) {
			struct sample_cursor cursor = sample_cursor_open(&both->profile);
			int64_t ns = 500 * (rand() % (2 * COUNT / DEVICES + 30));
			enum sample_bound bound = (enum sample_bound)(i % 3);

			assert_int_equal(sample_search(&cursor, device, bound, ns),
					 search_each(both, device, bound, ns));
			assert_in_range(cursor.read_count, 0, 1);
			assert_int_equal(sample_cursor_close(&cursor), 0);
		}
		device->first_sample += 700;
		device->sample_count -= part ? device->sample_count : 3500;
	}
	both_free(both);
}

static void in_order_every_block_is_read_once_also_with_looks_at_the_one_before(void **state)
{
	struct both *both = both_new(samples_new());
	struct sample_cursor cursor = sample_cursor_open(&both->profile);
	size_t count;

	(void)state;
	sample_file_blocks(both->profile.sample_file, &count);
	for (size_t i = 0; i < COUNT; i++)
		for (size_t back = 0; back <= 5 && back <= i; back++)
			sample_at(&cursor, i - back);
	assert_int_equal(cursor.read_count, count);
	assert_int_equal(sample_cursor_close(&cursor), 0);
	both_free(both);
}

static void neighbors_stay_valid_together(void **state)
{
	struct both *both = both_new(samples_new());
	struct sample_cursor cursor = sample_cursor_open(&both->profile);

	(void)state;
	for (size_t i = 1; i < COUNT; i++) {
		const struct profile_sample *a = sample_at(&cursor, i);
		const struct profile_sample *b = sample_at(&cursor, i - 1);

		assert_memory_equal(a, &both->sorted[i], sizeof(*a));
		assert_memory_equal(b, &both->sorted[i - 1], sizeof(*b));
	}
	assert_int_equal(sample_cursor_close(&cursor), 0);
	both_free(both);
}

/* ---- what fails ---- */

static void what_cannot_be_read_again_is_told(void **state)
{
	int file = dup(0); /* the number that the file will have */
	struct sample_cursor cursor;
	struct both *both;

	(void)state;
	close(file);
	both = both_new(samples_new());
	assert_int_equal(ftruncate(file, 100000), 0);
	cursor = sample_cursor_open(&both->profile);
	for (size_t i = 0; i < COUNT; i++)
		assert_true(sample_at(&cursor, i)->length_ns > 0);
	assert_int_equal(sample_cursor_close(&cursor), -ENODATA);
	both_free(both);
}

static void a_full_disk_and_a_missing_folder_are_told(void **state)
{
	const struct rlimit small = {50000, RLIM_INFINITY}, any = {RLIM_INFINITY, RLIM_INFINITY};
	struct profile_sample *samples = samples_new();
	struct sample_file *file = NULL;
	struct err err = {""};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(sample_file_create(&file, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(sample_file_add(file, samples, COUNT, &err), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &any), 0);
	assert_non_null(strstr(err.text, "cannot keep samples"));
	assert_non_null(strstr(err.text, "set TMPDIR to a folder with space"));
	sample_file_free(file);
	free(samples);
	err.text[0] = '\0';
	setenv("TMPDIR", "/nowhere", 1);
	assert_int_equal(sample_file_create(&file, &err), -ENOENT);
	unsetenv("TMPDIR");
	assert_non_null(strstr(err.text, "/nowhere: cannot keep samples: No such file"));
}

/* ---- a recording ---- */

#define RECORDING "tests/recordings/work_queue.naive.sampled.roofline"

static struct profile *load(size_t in_memory)
{
	size_t usual = samples_in_memory;
	struct profile *profile = NULL;
	struct err err = {""};

	samples_in_memory = in_memory;
	assert_int_equal(profile_load(&profile, RECORDING, &err), 0);
	samples_in_memory = usual;
	return profile;
}

static void a_recording_has_the_same_samples_where_few_fit_into_memory(void **state)
{
	struct profile *one = load(samples_in_memory), *other = load(7);
	struct sample_cursor cursor = sample_cursor_open(other);

	(void)state;
	assert_int_equal(one->sample_count, other->sample_count);
	assert_true(one->sample_count > 1000);
	assert_null(one->sample_file);
	assert_non_null(other->sample_file);
	for (size_t i = 0; i < one->sample_count; i++)
		assert_memory_equal(sample_at(&cursor, i), &one->samples[i],
				    sizeof(one->samples[i]));
	assert_int_equal(sample_cursor_close(&cursor), 0);
	profile_free(one);
	profile_free(other);
}

/* Its report as JSON, which the caller frees. */
static char *report_of(size_t in_memory)
{
	const struct output_options options = {0};
	size_t usual = samples_in_memory, size = 0;
	struct report *report = NULL;
	struct err err = {""};
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	samples_in_memory = in_memory;
	assert_non_null(out);
	assert_int_equal(report_build(&report, RECORDING, &err), 0);
	samples_in_memory = usual;
	assert_int_equal(output_json(report, out, &options, &err), 0);
	report_free(report);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void a_report_is_the_same_where_few_samples_fit_into_memory(void **state)
{
	char *one = report_of(samples_in_memory), *other = report_of(7);

	(void)state;
	assert_non_null(strstr(one, "\"sm_activity\""));
	assert_string_equal(one, other);
	free(one);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_in_order_are_the_same),
		cmocka_unit_test(samples_with_holes_in_any_order_are_the_same),
		cmocka_unit_test(of_two_processes_that_sample_a_gpu_the_same_samples_are_kept),
		cmocka_unit_test(one_sample_that_begins_inside_the_one_before_it_goes),
		cmocka_unit_test(samples_of_one_moment_are_one),
		cmocka_unit_test(a_search_finds_what_looking_at_each_finds),
		cmocka_unit_test(
			in_order_every_block_is_read_once_also_with_looks_at_the_one_before),
		cmocka_unit_test(neighbors_stay_valid_together),
		cmocka_unit_test(what_cannot_be_read_again_is_told),
		cmocka_unit_test(a_full_disk_and_a_missing_folder_are_told),
		cmocka_unit_test(a_recording_has_the_same_samples_where_few_fit_into_memory),
		cmocka_unit_test(a_report_is_the_same_where_few_samples_fit_into_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
