/* From files that are damaged, or hold what nobody expects, to struct profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture_profile.h"
#include "trace/reader.h"

static void test_no_recording(void **state)
{
	struct profile *profile;
	struct fixture empty = {0};
	struct err err = {""};

	(void)state;
	fixture_create(&empty);
	assert_int_equal(profile_load(&profile, empty.path, &err), -ENOENT);
	assert_non_null(strstr(err.text, empty.path));
	assert_non_null(strstr(err.text, "rooflinectl record"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(profile_load(&profile, "/nonexistent/folder", &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/folder: No such file or directory");
	memset(&err, 0, sizeof(err));
	fixture_write(&empty, "host.1", "x", "");
	fixture_write(&empty, "host.1/kernels.csv", "x", "");
	assert_int_equal(profile_load(&profile, empty.path, &err), -EIO);
	assert_non_null(strstr(err.text, "host.1/kernels.csv: Is a directory"));
	fixture_remove(&empty);
}

static void test_unreadable_table(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;
	char path[128];

	snprintf(path, sizeof(path), "%s/" FIXTURE_PROCESS "/copies.csv", fixture->path);
	assert_int_equal(unlink(path), 0);
	fixture_write(fixture, FIXTURE_PROCESS "/copies.csv", "x", "");
	profile = fixture_load(fixture);
	assert_int_equal(profile->op_count, 4);
	assert_loss(profile, "unreadable_rows", 1,
		    "host.100/copies.csv: the table cannot be read: Is a directory");
	profile_free(profile);
}

static void test_invalid_times(void **state)
{
	struct profile *profile =
		fixture_load_with(*state, "kernels.csv",
				  "start_ns,end_ns,signature,device,context,stream\n"
				  "0,10,1,0,1,7\n10,0,1,0,1,7\n20,10,1,0,1,7\n-5,10,1,0,1,7\n"
				  "1,9223372036854775807,1,0,1,7\n30,30,1,0,1,7\n"
				  "9223372036854775806,9223372036854775807,1,0,1,7\n");

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 4); /* one kernel is good */
	assert_loss(profile, "invalid_times", 6, "host.100/kernels.csv:2: start 0, end 10");
	profile_free(profile);
}

static void test_overlapping_calls(void **state)
{
	struct profile *profile =
		fixture_load_with(*state, "api.csv",
				  "start_ns,end_ns,name,thread,correlation,result\n"
				  "1000,1500,3,100,101,0\n1600,2500,3,100,102,0\n"
				  "2000,3000,3,100,103,0\n3000,3500,3,100,104,0\n");

	assert_consistent(profile);
	assert_int_equal(profile->call_count, 4);
	assert_int_equal(profile->calls[0].end_ns, 1500);
	assert_int_equal(profile->calls[1].end_ns, 2000);
	assert_int_equal(profile->calls[2].end_ns, 3000);
	assert_loss(profile, "invalid_times", 1,
		    "host.100/api.csv: a call that lasts until 2500, and one of its thread from "
		    "2000 on");
	profile_free(profile);
}

static void test_orphans(void **state)
{
	struct profile *profile =
		fixture_load_with(*state, "kernels.csv",
				  "start_ns,end_ns,signature,device,context,stream,correlation\n"
				  "2000,2100,99,0,1,7,101\n"
				  "2200,2300,1,6,1,7,4294967295\n"
				  "2400,2500,1,0,4294967295,4294967295,999\n"
				  "2600,2700,4000000000,70000,55,66,1\n");
	const struct profile_op *ops = profile->ops;

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 7);
	assert_int_equal(profile->device_count, 3);
	/* the four kernels, and the counted graph launch that is gone */
	assert_loss(profile, "orphan_ids", 5,
		    "host.100/kernels.csv:2: signature 99 is not in signatures.csv");
	assert_string_equal(profile->signatures[ops[0].detail].name, "unknown kernel");
	assert_int_equal(profile->calls[ops[0].call].start_ns, 1000);
	assert_string_equal(profile->devices[1].name, "unknown GPU");
	profile_free(profile);
}

static void test_orphan_names(void **state)
{
	struct profile *profile = fixture_load_with(*state, "names.csv", "id,text\n");

	assert_consistent(profile);
	assert_int_equal(profile->op_count, 5);
	assert_string_equal(profile->kernel_names[0], "unknown kernel");
	assert_string_equal(call_text(profile, 0), "unknown call");
	assert_string_equal(profile->overheads[0].name, "unknown overhead");
	assert_string_equal(profile->ranges[0].name, "unknown range");
	assert_true(loss_count(profile, "orphan_ids") >= 9);
	profile_free(profile);
}

static void test_only_kernels(void **state)
{
	struct fixture fixture = {0};
	struct profile *profile;

	(void)state;
	fixture_create(&fixture);
	fixture_write(
		&fixture, "h.7", "kernels.csv",
		"start_ns,end_ns,signature,device,context,stream\n5,9,1,2,1,7\n5,8,1,3,1,7\n");
	profile = fixture_load(&fixture);
	assert_consistent(profile);
	assert_int_equal(profile->op_count, 2);
	assert_int_equal(profile->device_count, 2);
	assert_int_equal(profile->processes[0].pid, 7);
	assert_string_equal(profile->processes[0].command, "");
	assert_int_equal(profile->processes[0].rank, -1);
	assert_int_equal(profile->processes[0].sealed_ns, 0);
	assert_int_equal(loss_count(profile, "orphan_ids"), 2);
	profile_free(profile);
	fixture_remove(&fixture);
}

/* Stream ids that are 16 apart, and equal ones of other contexts and devices, in turn. */
static void test_streams_in_turn(void **state)
{
	static const struct {
		uint32_t device, context, stream;
	} turns[] = {{2, 1, 7}, {2, 1, 23}, {2, 4, 7}, {3, 1, 7}, {2, 1, 7}, {3, 1, 23}};
	struct fixture fixture = {0};
	struct profile *profile;
	char text[1024];
	int used = sprintf(text, "start_ns,end_ns,signature,device,context,stream\n");

	(void)state;
	for (size_t i = 0; i < 12; i++) { /* all of them twice */
		size_t turn = i % (sizeof(turns) / sizeof(turns[0]));

		used += sprintf(text + used, "%zu,%zu,1,%u,%u,%u\n", 5 + i, 6 + i,
				turns[turn].device, turns[turn].context, turns[turn].stream);
	}
	fixture_create(&fixture);
	fixture_write(&fixture, "h.7", "kernels.csv", text);
	profile = fixture_load(&fixture);
	assert_consistent(profile);
	assert_int_equal(profile->op_count, 12);
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_stream *stream = &profile->streams[op->stream];
		size_t turn = (size_t)(op->start_ns - 5) % (sizeof(turns) / sizeof(turns[0]));

		assert_int_equal(stream->context, turns[turn].context);
		assert_int_equal(stream->stream, turns[turn].stream);
		assert_int_equal(stream->device, turns[turn].device - 2);
	}
	profile_free(profile);
	fixture_remove(&fixture);
}

static void test_unused_stream(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	fixture_write(fixture, FIXTURE_PROCESS, "contexts.csv", "");
	profile = fixture_load_with(fixture, "streams.csv", "context,stream,flag\n9,50,3\n");
	assert_consistent(profile); /* its device is a real index */
	assert_true(profile->streams[0].is_null);
	profile_free(profile);
}

static void test_far_correlations(void **state)
{
	struct profile *profile;

	fixture_write(*state, FIXTURE_PROCESS, "api.csv",
		      "start_ns,end_ns,name,thread,correlation\n"
		      "1000,1100,3,100,4000000000\n1200,1300,3,100,7\n1210,1220,4,100,8\n");
	profile = fixture_load_with(*state, "kernels.csv",
				    "start_ns,end_ns,signature,device,context,stream,correlation\n"
				    "2000,2010,1,0,1,7,4000000000\n2020,2030,1,0,1,7,8\n"
				    "2040,2050,1,0,1,7,9\n");
	assert_int_equal(profile->calls[profile->ops[0].call].start_ns, 1000);
	assert_int_equal(profile->calls[profile->ops[1].call].start_ns, 1200);
	assert_true(profile->ops[2].call == PROFILE_NONE);
	profile_free(profile);
}

static void test_unordered(void **state)
{
	struct profile *profile;
	char text[200 * 64], *to = text;

	to += sprintf(to, "start_ns,end_ns,signature,device,context,stream\n");
	for (int i = 0; i < 150; i++) {
		int start = 1000 + i * 37 % 150;

		to += sprintf(to, "%d,%d,1,0,1,7\n", start, start + i % 5);
	}
	profile = fixture_load_with(*state, "kernels.csv", text);
	assert_int_equal(profile->op_count, 153);
	assert_consistent(profile);
	profile_free(profile);
}

static void test_nested_threads(void **state)
{
	struct profile *profile =
		fixture_load_with(*state, "api.csv",
				  "start_ns,end_ns,name,thread,correlation\n"
				  "1100,1200,4,1,1\n" /* inside the next, written before it */
				  "1000,2000,3,1,2\n"
				  "1300,1400,4,1,3\n"
				  "1350,1380,4,1,4\n"	/* inside a dropped one */
				  "1950,2050,4,2,5\n"	/* another thread */
				  "1900,2100,4,1,6\n"	/* overlaps, is not inside */
				  "1000,2000,4,1,7\n"); /* exactly as long as the outer */

	assert_int_equal(profile->call_count, 3);
	assert_int_equal(profile->calls[0].correlation, 2);
	profile_free(profile);
}

static void test_marker_ends(void **state)
{
	struct profile *profile =
		fixture_load_with(*state, "markers.csv",
				  "time_ns,id,phase,is_thread,thread,domain,name\n"
				  "1000,1,2,1,100,0,0\n" /* started before recording */
				  "1100,2,1,1,100,0,8\n"
				  "1200,2,2,1,100,0,0\n"
				  "1200,2,1,1,100,0,9\n" /* the id again */
				  "1300,2,2,1,100,0,0\n"
				  "1400,3,1,1,100,0,8\n"); /* never ends */

	assert_int_equal(profile->range_count, 3);
	assert_int_equal(profile->ranges[1].start_ns, 1200);
	assert_int_equal(profile->ranges[1].end_ns, 1300);
	assert_int_equal(profile->ranges[1].depth, 0);
	assert_true(profile->ranges[2].is_open);
	assert_int_equal(profile->ranges[2].end_ns, profile->processes[0].last_ns);
	assert_loss(profile, "orphan_ids", 1,
		    "host.100/markers.csv: marker 1 ends without a start");
	profile_free(profile);
}

static void test_marker_ends_of_a_dump(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	fixture_write(fixture, FIXTURE_PROCESS, "process.csv",
		      "key,value\ndump_reason,rooflinectl ctl\n");
	profile = fixture_load_with(fixture, "markers.csv",
				    "time_ns,id,phase,is_thread,thread,domain,name\n"
				    "1000,1,2,1,100,0,0\n"
				    "1100,2,1,1,100,0,8\n"
				    "1200,2,2,1,100,0,0\n");
	assert_int_equal(profile->range_count, 1);
	for (size_t i = 0; i < profile->loss_count; i++)
		assert_string_not_equal(profile->losses[i].kind, "orphan_ids");
	profile_free(profile);
}

static void test_loss_overflow(void **state)
{
	struct profile *profile = fixture_load_with(*state, "losses.csv",
						    "time_ns,kind,count,detail\n"
						    "1,dropped_records,18446744073709551615,a\n"
						    "1,dropped_records,1,b\n");

	assert_loss(profile, "dropped_records", UINT64_MAX, "a");
	profile_free(profile);
}

/* Sanitizers look at the code that runs, which damage of each third byte has, too. */
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

/* Every table, cut off at every byte: never a crash, and the loss is told. */
static void test_cut_everywhere(void **state)
{
	const struct fixture *fixture = *state;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		const char *text = fixture_table((enum trace_table)table);
		char file[64];

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (size_t length = 0; length < strlen(text); length += STEP) {
			struct profile *profile;
			bool is_cut = length > 0 && text[length - 1] != '\n';

			fixture_write_bytes(fixture, FIXTURE_PROCESS, file, text, length);
			profile = fixture_load(fixture);
			assert_consistent(profile);
			if (loss_count(profile, "cut_off_rows") != (is_cut ? 1 : 0))
				fail_msg("%s cut after %zu bytes: %" PRIu64 " cut_off_rows", file,
					 length, loss_count(profile, "cut_off_rows"));
			profile_free(profile);
		}
		fixture_write(fixture, FIXTURE_PROCESS, file, text);
	}
}

/* Copies CSV text without its column-th column; returns false when there is none such. */
static bool drop_column(char *to, const char *text, unsigned column)
{
	unsigned at = 0;
	bool is_quoted = false, was_there = false, is_first = true;

	for (; *text; text++) {
		if (*text == '"')
			is_quoted = !is_quoted;
		if (!is_quoted && (*text == ',' || *text == '\n')) {
			at = *text == ',' ? at + 1 : 0;
			if (*text == '\n')
				is_first = true;
			if (*text == '\n' || (at != column && !is_first))
				*to++ = *text;
			continue;
		}
		if (at == column) {
			was_there = true;
			continue;
		}
		*to++ = *text;
		is_first = false;
	}
	*to = '\0';
	return was_there;
}

static void test_missing_columns(void **state)
{
	const struct fixture *fixture = *state;
	unsigned tried = 0;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		const char *text = fixture_table((enum trace_table)table);
		char file[64], less[4096];

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (unsigned column = 0; drop_column(less, text, column); column++) {
			struct profile *profile = fixture_load_with(fixture, file, less);

			assert_consistent(profile);
			assert_int_equal(loss_count(profile, "unreadable_rows"), 0);
			assert_int_equal(loss_count(profile, "cut_off_rows"), 0);
			profile_free(profile);
			tried++;
		}
		fixture_write(fixture, FIXTURE_PROCESS, file, text);
	}
#define COUNT_COLUMN(type, name, meaning) +1
#define COUNT_TABLE(table, columns) columns(COUNT_COLUMN)
	assert_int_equal(tried, TRACE_TABLES(COUNT_TABLE));
}

/* Every byte of every table replaced by what hurts a parser most. */
static void test_damage_everywhere(void **state)
{
	static const char bad[] = {'\0', '"', ',', '\n', '9', '-'};
	const struct fixture *fixture = *state;
	unsigned turn = 0;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		const char *text = fixture_table((enum trace_table)table);
		size_t length = strlen(text);
		char file[64], damaged[4096];

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (size_t at = 0; at < length; at += STEP) {
			struct profile *profile;

			memcpy(damaged, text, length);
			damaged[at] = bad[turn++ % sizeof(bad)];
			fixture_write_bytes(fixture, FIXTURE_PROCESS, file, damaged, length);
			profile = fixture_load(fixture);
			assert_consistent(profile);
			profile_free(profile);
		}
		fixture_write(fixture, FIXTURE_PROCESS, file, text);
	}
}

static void test_cr_lf(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		char file[64], converted[8192], *to = converted;

		snprintf(file, sizeof(file), "%s.csv", reader_table_name((enum trace_table)table));
		for (const char *text = fixture_table((enum trace_table)table); *text; text++) {
			if (*text == '\n')
				*to++ = '\r';
			*to++ = *text;
		}
		fixture_write_bytes(fixture, FIXTURE_PROCESS, file, converted,
				    (size_t)(to - converted));
	}
	profile = fixture_load(fixture);
	assert_int_equal(profile->op_count, 5);
	assert_int_equal(profile->loss_count, 1);
	profile_free(profile);
}

#define TEST(name, function)                                            \
	{                                                               \
		name, function, fixture_set_up, fixture_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a folder without a recording is a clear message", test_no_recording),
		TEST("a table that cannot be read is a counted loss", test_unreadable_table),
		TEST("zero, reversed and absurd times are counted", test_invalid_times),
		TEST("of calls of a thread that overlap one ends where the next begins",
		     test_overlapping_calls),
		TEST("operations that refer to nothing are kept and counted", test_orphans),
		TEST("missing names get a name", test_orphan_names),
		TEST("kernels alone are a recording", test_only_kernels),
		TEST("operations of streams with like ids in turn have each its own",
		     test_streams_in_turn),
		TEST("a stream that nothing describes has a device", test_unused_stream),
		TEST("correlation ids that lie far apart are found", test_far_correlations),
		TEST("rows out of order are sorted", test_unordered),
		TEST("calls are nested per thread only", test_nested_threads),
		TEST("ends without starts and starts without ends are told", test_marker_ends),
		TEST("a range of a dump may have begun before it", test_marker_ends_of_a_dump),
		TEST("counts of losses cannot overflow", test_loss_overflow),
		TEST("every table may be cut off at every byte", test_cut_everywhere),
		TEST("every column may be missing", test_missing_columns),
		TEST("every byte may be damaged", test_damage_everywhere),
		TEST("CR LF in every table changes nothing", test_cr_lf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
