/* The reader alone: what of a file becomes a row and what is counted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "trace/reader.h"

struct reading {
	struct fixture fixture;
	struct reader_losses losses;
	struct err err;
	unsigned rows;
	struct trace_kernels_row kernel; /* the last */
	struct trace_copies_row copy;
	char text[64]; /* of the last name */
	uint64_t line; /* of the last row */
};

static int set_up(void **state)
{
	struct reading *reading = calloc(1, sizeof(*reading));

	fixture_create(&reading->fixture);
	*state = reading;
	return 0;
}

static int tear_down(void **state)
{
	struct reading *reading = *state;

	fixture_remove(&reading->fixture);
	free(reading);
	return 0;
}

static int add_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct reading *reading = context;

	reading->rows++;
	reading->line = place->line;
	if (place->table == TRACE_TABLE_kernels)
		reading->kernel = row->kernels;
	if (place->table == TRACE_TABLE_copies)
		reading->copy = row->copies;
	if (place->table == TRACE_TABLE_names)
		snprintf(reading->text, sizeof(reading->text), "%s", row->names.text);
	return 0;
}

static int refuse_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	(void)row;
	(void)place;
	++*(unsigned *)context;
	return -ECANCELED;
}

static int read_with(struct reading *reading, enum trace_table table, reader_row each,
		     void *context)
{
	char folder[128];
	const struct recording_process process = {.name = (char *)"p.1",
						  .path = folder,
						  .unpacked_fd = -1};

	snprintf(folder, sizeof(folder), "%s/p.1", reading->fixture.path);
	return reader_read_table(&process, table, each, context, &reading->losses, &reading->err);
}

static int read_file(struct reading *reading, enum trace_table table)
{
	return read_with(reading, table, add_row, reading);
}

static void read_bytes(struct reading *reading, enum trace_table table, const void *bytes,
		       size_t length)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.csv", reader_table_name(table));
	fixture_write_bytes(&reading->fixture, "p.1", name, bytes, length);
	assert_int_equal(read_file(reading, table), 0);
}

static void read_names(struct reading *reading, const char *text)
{
	read_bytes(reading, TRACE_TABLE_names, text, strlen(text));
}

static void read_kernels(struct reading *reading, const char *text)
{
	read_bytes(reading, TRACE_TABLE_kernels, text, strlen(text));
}

static void assert_loss(const struct reading *reading, enum reader_loss kind, uint64_t count,
			const char *detail)
{
	assert_int_equal(reading->losses.count[kind], count);
	assert_string_equal(reading->losses.first[kind], detail);
}

static void assert_nothing_lost(const struct reading *reading)
{
	for (int kind = 0; kind < READER_LOSS_COUNT; kind++)
		assert_int_equal(reading->losses.count[kind], 0);
}

static void test_order(void **state)
{
	struct reading *reading = *state;

	read_kernels(reading, "device,unheard_of,end_ns,start_ns,also new\n7,x,20,-10,\"a\nb\"\n");
	assert_int_equal(reading->rows, 1);
	assert_int_equal(reading->kernel.device, 7);
	assert_int_equal(reading->kernel.start_ns, -10);
	assert_int_equal(reading->kernel.end_ns, 20);
	assert_int_equal(reading->kernel.graph_node, 0);
	assert_nothing_lost(reading);
}

static void test_missing_text(void **state)
{
	struct reading *reading = *state;

	strcpy(reading->text, "before");
	read_names(reading, "id\n1\n");
	assert_int_equal(reading->rows, 1);
	assert_string_equal(reading->text, "");
	assert_nothing_lost(reading);
}

static void test_limits(void **state)
{
	struct reading *reading = *state;

	read_kernels(reading, "start_ns,end_ns,device,graph_node\n"
			      "-9223372036854775807,9223372036854775807,4294967295,"
			      "18446744073709551615\n");
	assert_int_equal(reading->rows, 1);
	assert_true(reading->kernel.start_ns == -INT64_MAX);
	assert_true(reading->kernel.end_ns == INT64_MAX);
	assert_true(reading->kernel.device == UINT32_MAX);
	assert_true(reading->kernel.graph_node == UINT64_MAX);
}

static void test_bad_numbers(void **state)
{
	static const struct {
		const char *row, *problem;
	} cases[] = {
		{"9223372036854775808,0,0,0", "start_ns is out of range"},
		{"-9223372036854775809,0,0,0", "start_ns is out of range"},
		{"99999999999999999999999,0,0,0", "start_ns is out of range"},
		{"1,0,4294967296,0", "device is out of range"},
		{"1,0,-1,0", "device is not a whole number"},
		{"1,0,0,18446744073709551616", "graph_node is out of range"},
		{"1,0,0,-5", "graph_node is not a whole number"},
		{"1,,0,0", "end_ns is empty"},
		{"1,-,0,0", "end_ns is not a whole number"},
		{"1,1.5,0,0", "end_ns is not a whole number"},
		{"1,1e9,0,0", "end_ns is not a whole number"},
		{"1,0x10,0,0", "end_ns is not a whole number"},
		{"1,1 2,0,0", "end_ns is not a whole number"},
		{"1,+2,0,0", "end_ns is not a whole number"},
		{"1,2,0", "the row has another number of fields than the header"},
		{"1,2,0,0,0", "the row has another number of fields than the header"},
	};
	struct reading *reading = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256], detail[256];

		memset(&reading->losses, 0, sizeof(reading->losses));
		reading->rows = 0;
		snprintf(text, sizeof(text),
			 "start_ns,end_ns,device,graph_node\n1,2,3,4\n%s\n5,6,7,8\n", cases[i].row);
		snprintf(detail, sizeof(detail), "p.1/kernels.csv:3: %s", cases[i].problem);
		read_kernels(reading, text);
		assert_int_equal(reading->rows, 2);
		assert_int_equal(reading->kernel.start_ns, 5);
		assert_loss(reading, READER_unreadable_rows, 1, detail);
	}
}

static void test_first_place(void **state)
{
	struct reading *reading = *state;

	read_kernels(reading, "start_ns,end_ns\n1,2\nx,2\n3,y\n4,5\n");
	assert_int_equal(reading->rows, 2);
	assert_loss(reading, READER_unreadable_rows, 2,
		    "p.1/kernels.csv:3: start_ns is not a whole number");
}

static void test_quotes(void **state)
{
	struct reading *reading = *state;

	read_names(reading, "id,text\n\"1\",\"a, \"\"b\"\"\nc \"\n");
	assert_int_equal(reading->rows, 1);
	assert_string_equal(reading->text, "a, \"b\"\nc ");
	assert_nothing_lost(reading);
}

static void test_quoted_lines_count(void **state)
{
	struct reading *reading = *state;

	read_names(reading, "id,text\n1,\"a\nb\nc\"\n2,d\nx,e\n");
	assert_int_equal(reading->line, 5);
	assert_loss(reading, READER_unreadable_rows, 1,
		    "p.1/names.csv:6: id is not a whole number");
}

static void test_cr_lf(void **state)
{
	struct reading *reading = *state;

	read_kernels(reading, "start_ns,end_ns\r\n1,2\r\n3,4\r\nx,4\r\n");
	assert_int_equal(reading->rows, 2);
	assert_int_equal(reading->kernel.end_ns, 4);
	assert_int_equal(reading->line, 3);
	assert_loss(reading, READER_unreadable_rows, 1,
		    "p.1/kernels.csv:4: start_ns is not a whole number");
	assert_int_equal(reading->losses.count[READER_cut_off_rows], 0);
}

static void test_cut_off(void **state)
{
	struct reading *reading = *state;

	read_kernels(reading, "start_ns,end_ns\n1,2\n3,45");
	assert_int_equal(reading->rows, 1);
	assert_int_equal(reading->kernel.end_ns, 2);
	assert_loss(reading, READER_cut_off_rows, 1, "p.1/kernels.csv:3: the last line is cut off");
	assert_int_equal(reading->losses.count[READER_unreadable_rows], 0);
}

static void test_cut_off_quote(void **state)
{
	struct reading *reading = *state;

	read_names(reading, "id,text\n1,a\n2,\"b\nc");
	assert_int_equal(reading->rows, 1);
	assert_loss(reading, READER_cut_off_rows, 1, "p.1/names.csv:3: the last line is cut off");
}

static void test_nul(void **state)
{
	static const char bytes[] = "id,text\n1,a\0b\n2\0,c\n3,d\n";
	struct reading *reading = *state;

	read_bytes(reading, TRACE_TABLE_names, bytes, sizeof(bytes) - 1);
	assert_int_equal(reading->rows, 2); /* in a text it is shown, in a number it is junk */
	assert_string_equal(reading->text, "d");
	assert_loss(reading, READER_nul_bytes, 2, "p.1/names.csv:2: a zero byte");
	assert_loss(reading, READER_unreadable_rows, 1,
		    "p.1/names.csv:3: id is not a whole number");
	read_bytes(reading, TRACE_TABLE_names, bytes, 14);
	assert_string_equal(reading->text, "a?b");
}

static void test_empty(void **state)
{
	struct reading *reading = *state;

	read_kernels(reading, "start_ns,end_ns\n");
	assert_int_equal(reading->rows, 0);
	assert_nothing_lost(reading);
}

static void test_no_header(void **state)
{
	static const char *const files[] = {"", "\n\n", "\r\n"};
	struct reading *reading = *state;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		reading->losses = (struct reader_losses){.count = {0}};
		read_kernels(reading, files[i]);
		assert_loss(reading, READER_missing_tables, 1,
			    "p.1/kernels.csv:1: the first line, with the names of the columns, is "
			    "missing");
		assert_int_equal(reading->losses.count[READER_cut_off_rows], 0);
	}
	assert_int_equal(reading->rows, 0);
}

static void test_absent(void **state)
{
	struct reading *reading = *state;

	assert_int_equal(read_file(reading, TRACE_TABLE_jit), -ENOENT);
	assert_string_equal(reading->err.text, "");
}

static void test_folder(void **state)
{
	struct reading *reading = *state;

	fixture_write(&reading->fixture, "p.1", "names.csv", "id,text\n");
	fixture_write(&reading->fixture, "p.1/api.csv", "x", "");
	assert_int_equal(read_file(reading, TRACE_TABLE_api), -EISDIR);
	assert_non_null(strstr(reading->err.text, "p.1/api.csv: Is a directory"));
}

static void test_foreign(void **state)
{
	struct reading *reading = *state;

	read_kernels(reading, "this,is\nnot,a\ntable,at all\n");
	assert_int_equal(reading->rows, 0);
	assert_loss(reading, READER_unreadable_rows, 1,
		    "p.1/kernels.csv:1: the first line names no column of this table");
}

static void test_many_columns(void **state)
{
	struct reading *reading = *state;
	char text[8192] = "start_ns";
	size_t used = strlen(text);

	for (int i = 0; i < 200; i++)
		used += (size_t)sprintf(text + used, ",new_%d", i);
	used += (size_t)sprintf(text + used, ",end_ns\n1");
	for (int i = 0; i < 200; i++)
		used += (size_t)sprintf(text + used, ",%d", i);
	sprintf(text + used, ",77\n");
	read_kernels(reading, text);
	assert_int_equal(reading->rows, 1);
	assert_int_equal(reading->kernel.end_ns, 77);
}

/* Longer than the reader's buffer and than any honest field. */
static void test_lost_quote(void **state)
{
	static const char start[] = "id,text\n1,a\n2,\"never closed\n", row[] = "3,swallowed\n";
	size_t count = (size_t)10 * 1024 * 1024 / (sizeof(row) - 1);
	struct reading *reading = *state;
	char *bytes = malloc(sizeof(start) + count * sizeof(row));
	size_t used = sizeof(start) - 1;

	memcpy(bytes, start, used);
	for (size_t i = 0; i < count; i++, used += sizeof(row) - 1)
		memcpy(bytes + used, row, sizeof(row) - 1);
	read_bytes(reading, TRACE_TABLE_names, bytes, used);
	free(bytes);
	assert_true(reading->rows > 1000); /* it went on behind the damage */
	assert_string_equal(reading->text, "swallowed");
	assert_loss(reading, READER_unreadable_rows, 1,
		    "p.1/names.csv:3: a field longer than 8 MiB: is a closing quote missing?");
}

static void test_long_file(void **state)
{
	size_t count = 100000, used = 0;
	struct reading *reading = *state;
	char *bytes = malloc(count * 40);

	used += (size_t)sprintf(bytes, "start_ns,end_ns\n");
	for (size_t i = 0; i < count; i++)
		used += (size_t)sprintf(bytes + used, "%zu,%zu\n", i, i * i);
	read_bytes(reading, TRACE_TABLE_kernels, bytes, used);
	free(bytes);
	assert_int_equal(reading->rows, count);
	assert_int_equal(reading->kernel.end_ns, (count - 1) * (count - 1));
	assert_int_equal(reading->line, count + 1);
	assert_nothing_lost(reading);
}

/* ---- both ways of reading ---- */

/* Everything that one way of reading a file says, as text. */
struct told {
	FILE *stream;
	char *text;
	size_t length;
};

static int tell_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	FILE *stream = ((struct told *)context)->stream;

	fwrite(&row->kernels, sizeof(row->kernels), 1, stream);
	fprintf(stream, " at %llu\n", (unsigned long long)place->line);
	return 0;
}

static struct told tell(const struct reading *reading, enum reader_way way)
{
	char folder[128];
	const struct recording_process process = {.name = (char *)"p.1",
						  .path = folder,
						  .unpacked_fd = -1};
	struct reader_losses losses = {.first = {""}};
	struct err err = {""};
	struct told told = {0};

	told.stream = open_memstream(&told.text, &told.length);
	snprintf(folder, sizeof(folder), "%s/p.1", reading->fixture.path);
	assert_int_equal(reader_read_table_by(way, &process, TRACE_TABLE_kernels, tell_row, &told,
					      &losses, &err),
			 0);
	/* where a quote is open, a zero byte's line is told from where reading began, which differs */
	for (int i = 0; i < READER_LOSS_COUNT; i++)
		fprintf(told.stream, "%llu %s\n", (unsigned long long)losses.count[i],
			i == READER_nul_bytes ? "" : losses.first[i]);
	fclose(told.stream);
	return told;
}

static void expect_told(const struct reading *reading, enum reader_way way,
			const struct told *by_csv, const char *bytes, size_t length)
{
	struct told told = tell(reading, way);

	if (told.length != by_csv->length || memcmp(told.text, by_csv->text, told.length) != 0)
		fail_msg("%.*s\nis read as\n%s\nnot as\n%s", length > 2000 ? 2000 : (int)length,
			 bytes, told.text, by_csv->text);
	free(told.text);
}

/* By libcsv, and by this one. */
static void expect_way(const struct reading *reading, enum reader_way way, const char *bytes,
		       size_t length)
{
	struct told by_csv;

	fixture_write_bytes(&reading->fixture, "p.1", "kernels.csv", bytes, length);
	by_csv = tell(reading, READER_CSV);
	expect_told(reading, way, &by_csv, bytes, length);
	free(by_csv.text);
}

/* By libcsv, and by both others. */
static void expect_both_ways(const struct reading *reading, const char *bytes, size_t length)
{
	struct told by_csv;

	fixture_write_bytes(&reading->fixture, "p.1", "kernels.csv", bytes, length);
	by_csv = tell(reading, READER_CSV);
	expect_told(reading, READER_SHORT, &by_csv, bytes, length);
	expect_told(reading, READER_SMALL_CHUNKS, &by_csv, bytes, length);
	free(by_csv.text);
}

static const char whole_numbers[] = "start_ns,end_ns,signature,more,device,correlation\n"
				    "1760000000000000001,1760000000000000099,7,-12,0,4294967295\n"
				    "-5,9223372036854775807,18,0,1,12\r\n"
				    "9223372036854775808,3,4294967296,0,0,0\n"
				    "\n"
				    "10,20,,99999999999999999999999,0,1\n"
				    "30, 40 ,\"5\",6,-0,8\n"
				    "30,40,5,6,7,8,9\n"
				    "50,60,7,8,9,10\n"
				    "1,2,3,4,5,6\r\"7\n"
				    "8,9,10,11,12,13\n"
				    "12345678,123456789,1234567,12345678,87654321,0\n"
				    "1234567890123456,12345678901234567,99999999,0,0,4294967296\n"
				    "14\",15,16,17,18,19\n"
				    "70,80,9,10";

/* Sanitizers look at the code that runs, which damage of each third byte has, too. */
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

/* Each byte in turn is another one, is gone, or stands behind another one. */
static void test_damaged_both_ways(void **state)
{
	static const char others[] = "\0\"\n\r,- 0/:x\xff";
	char bytes[sizeof(whole_numbers) + 1];
	size_t length = sizeof(whole_numbers) - 1;

	for (size_t at = 0; at < length; at += STEP) {
		memcpy(bytes, whole_numbers, at);
		memcpy(bytes + at, whole_numbers + at + 1, length - at - 1);
		expect_both_ways(*state, bytes, length - 1);
		for (size_t i = 0; i < sizeof(others) - 1; i++) {
			memcpy(bytes, whole_numbers, length);
			bytes[at] = others[i];
			expect_both_ways(*state, bytes, length);
			memcpy(bytes + at + 1, whole_numbers + at, length - at);
			expect_both_ways(*state, bytes, length + 1);
		}
	}
}

/* What is read at a time ends at each byte of a line and of a broken one. */
static void test_cut_both_ways(void **state)
{
	static const char lines[] = "1,2,3,4\n5,\"6\",7,8\n9,10,11\n";
	const size_t size = 66000;
	char *bytes = malloc(size + 2 * sizeof(lines));

	for (size_t shift = 0; shift < sizeof(lines); shift++) {
		size_t length = (size_t)sprintf(bytes, "start_ns,end_ns,%0*d,signature\n",
						(int)shift + 1, 0);

		while (length < size) {
			memcpy(bytes + length, lines, sizeof(lines) - 1);
			length += sizeof(lines) - 1;
		}
		expect_way(*state, READER_SHORT, bytes, length);
		expect_way(*state, READER_SMALL_CHUNKS, bytes, 2000);
	}
	free(bytes);
}

/* Lines of which one is longer than what is looked at behind a chunk for its end. */
static void test_long_line_both_ways(void **state)
{
	char *bytes = malloc(20000);
	size_t length = (size_t)sprintf(bytes, "start_ns,end_ns\n");

	for (int i = 0; i < 100; i++)
		length += (size_t)sprintf(bytes + length, i == 50 ? "%010000d,2\n" : "%d,2\n", i);
	expect_both_ways(*state, bytes, length);
	expect_both_ways(*state, bytes, length - 1);
	free(bytes);
}

/* Of several chunks of the usual size, in which a quote, a damaged row and a zero byte are. */
static void test_large(void **state)
{
	const size_t count = 200000;
	char *bytes = malloc(count * 24);
	size_t length = (size_t)sprintf(bytes, "start_ns,end_ns,unknown\n");

	for (size_t i = 0; i < count; i++)
		length += (size_t)sprintf(bytes + length,
					  i == 60000	? "%zu,2,\"a\n1,2,3\nb\"\n"
					  : i == 90000	? "%zu,x,3\n"
					  : i == 120000 ? "%zu,2,3\r\n"
							: "%zu,2000000,3\n",
					  i);
	bytes[length - 1000] = '\0';
	expect_way(*state, READER_SHORT, bytes, length);
	free(bytes);
}

static void test_stop(void **state)
{
	struct reading *reading = *state;
	unsigned rows = 0;

	fixture_write(&reading->fixture, "p.1", "kernels.csv", "start_ns\n1\n2\n3\n");
	assert_int_equal(read_with(reading, TRACE_TABLE_kernels, refuse_row, &rows), -ECANCELED);
	assert_int_equal(rows, 1);
}

static int refuse_late_row(const union trace_row *row, const struct reader_place *place,
			   void *context)
{
	(void)row;
	*(uint64_t *)context = place->line;
	return place->line == 100000 ? -ECANCELED : 0;
}

/* While other threads read on. */
static void test_stop_in_chunk(void **state)
{
	const size_t count = 200000;
	struct reading *reading = *state;
	char *bytes = malloc(count * 20);
	size_t length = (size_t)sprintf(bytes, "start_ns\n");
	uint64_t line = 0;

	for (size_t i = 0; i < count; i++)
		length += (size_t)sprintf(bytes + length, "%zu\n", 10000000000 + i);
	fixture_write_bytes(&reading->fixture, "p.1", "kernels.csv", bytes, length);
	free(bytes);
	assert_int_equal(read_with(reading, TRACE_TABLE_kernels, refuse_late_row, &line),
			 -ECANCELED);
	assert_int_equal(line, 100000);
}

static void test_merge(void **state)
{
	struct reader_losses sum = {.count = {1}, .first = {"here"}};
	const struct reader_losses more = {.count = {2, 3}, .first = {"there", "elsewhere"}};

	(void)state;
	reader_merge_losses(&sum, &more);
	assert_int_equal(sum.count[0], 3);
	assert_string_equal(sum.first[0], "here");
	assert_int_equal(sum.count[1], 3);
	assert_string_equal(sum.first[1], "elsewhere");
}

#define TEST(name, function)                            \
	{                                               \
		name, function, set_up, tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("columns are found by name, unknown ones are skipped", test_order),
		TEST("a text column that the file lacks reads as nothing", test_missing_text),
		TEST("the largest and smallest numbers are read", test_limits),
		TEST("a row with an unusable number is counted with its line", test_bad_numbers),
		TEST("all unusable rows are counted and the first is told", test_first_place),
		TEST("quotes are read as RFC 4180 says", test_quotes),
		TEST("newlines inside quotes count as lines", test_quoted_lines_count),
		TEST("lines may end with CR LF", test_cr_lf),
		TEST("a row cut off in the middle is counted and skipped", test_cut_off),
		TEST("a row cut off inside quotes is counted and skipped", test_cut_off_quote),
		TEST("zero bytes are counted and shown in texts", test_nul),
		TEST("a file of a first line alone has no rows and no problem", test_empty),
		TEST("a file without a first line is a table that is missing", test_no_header),
		TEST("a missing table is told apart from a damaged one", test_absent),
		TEST("a table that cannot be read is an error with its path", test_folder),
		TEST("a file of something else is one unreadable row", test_foreign),
		TEST("two hundred unknown columns do no harm", test_many_columns),
		TEST("a lost closing quote does not swallow the file", test_lost_quote),
		TEST("a hundred thousand rows are read to the last", test_long_file),
		TEST("a damaged line of numbers is read as libcsv reads it",
		     test_damaged_both_ways),
		TEST("so is one of which only a part was read at a time", test_cut_both_ways),
		TEST("so is a line longer than the end of a chunk is looked for",
		     test_long_line_both_ways),
		TEST("a large table is read in chunks as libcsv reads it", test_large),
		TEST("a failing callback stops the reading", test_stop),
		TEST("it stops the threads that read other chunks as well", test_stop_in_chunk),
		TEST("losses add up and the first description stays", test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
