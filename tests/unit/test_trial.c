/* Tests for trial/: what running a program with and without a strategy found. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "trial/mask.h"
#include "trial/trial.h"

static struct trial_text text_of(const char *string)
{
	struct trial_text text = {.bytes = string ? strdup(string) : NULL,
				  .length = string ? strlen(string) : 0};

	return text;
}

/* ---- whether texts are equal ---- */

/* Two bare texts and one tried. */
static struct trial_difference compare(const char *bare, const char *other, const char *tried)
{
	struct trial_text bares[] = {text_of(bare), text_of(other)}, tries[] = {text_of(tried)};
	struct trial_difference difference;

	assert_int_equal(trial_compare(&difference, bares, 2, tries, 1), 0);
	for (int i = 0; i < 2; i++)
		trial_text_free(&bares[i]);
	trial_text_free(&tries[0]);
	return difference;
}

static void expect_match(const char *bare, const char *other, const char *tried,
			 enum trial_match match)
{
	struct trial_difference difference = compare(bare, other, tried);

	assert_int_equal(difference.match, match);
	trial_difference_free(&difference);
}

static void test_matches(void **state)
{
	(void)state;
	expect_match("a\nb\n", "a\nb\n", "a\nb\n", TRIAL_EQUAL);
	expect_match("a\nb", "a\nb", "a\nb\n", TRIAL_DIFFERENT);
	expect_match("a\nb\n", "a\nb\n", "a\n", TRIAL_DIFFERENT);
	expect_match("", "", "", TRIAL_EQUAL);
	expect_match("t 1 s\n", "t 2 s\n", "t 3 s\n", TRIAL_AGREES);
	expect_match("t 1 s\n", "t 2 s\n", "u 3 s\n", TRIAL_DIFFERENT);
	expect_match("t 1 s\n", "t 2 s\n", "t 3\n", TRIAL_DIFFERENT);
	expect_match("a\n", "a\nb\n", "a\n", TRIAL_UNKNOWN);
	expect_match(NULL, NULL, "a\n", TRIAL_DIFFERENT);
}

static void test_lines_that_differ(void **state)
{
	struct trial_difference difference = compare("same\n1 a\n", "same\n2 a\n", "same\n3 b\n");

	(void)state;
	assert_int_equal(difference.first.number, 2);
	assert_string_equal(difference.first.one, "1 a");
	assert_string_equal(difference.first.other, "3 b");
	assert_int_equal(difference.varying.number, 2);
	assert_int_equal(difference.varying_count, 1);
	assert_null(difference.suggested_mask);
	trial_difference_free(&difference);
}

/* ---- masks ---- */

static void expect_masked(const char *expression, const char *before, const char *after)
{
	struct trial_text text = text_of(before);
	regex_t regex;

	assert_int_equal(regcomp(&regex, expression, REG_EXTENDED), 0);
	assert_int_equal(trial_mask(&text, &regex), 0);
	assert_string_equal(text.bytes, after);
	assert_int_equal(text.length, strlen(after));
	trial_text_free(&text);
	regfree(&regex);
}

static void test_masks(void **state)
{
	(void)state;
	expect_masked("[0-9]+ ms", "in 12 ms\nand 3 ms, 4 ms", "in *\nand *, *");
	expect_masked("^x", "xx\nx\n", "*x\n*\n");
	expect_masked("x*", "axb\n", "a*b\n");
	expect_masked("$", "a\n\n", "a\n\n");
	expect_masked("a.b", "a\nb\n", "a\nb\n");
}

static void expect_suggestion(const char *one, const char *other, const char *expected)
{
	struct trial_difference difference = compare(one, one, other);

	if (expected && difference.suggested_mask)
		assert_string_equal(difference.suggested_mask, expected);
	assert_int_equal(!expected, !difference.suggested_mask);
	if (expected)
		expect_masked(expected, one, "*");
	trial_difference_free(&difference);
}

static void test_suggestions(void **state)
{
	(void)state;
	expect_suggestion("7 ms", "8 ms", "[0-9.e+-]+ ms");
	expect_suggestion("1.5e-3s", "1.25s", "[0-9.e+-]+s");
	expect_suggestion("time: 12", "time: 130", "time: [0-9.e+-]+");
	expect_suggestion("time 12 (x)", "time 12 (y)", NULL);
	expect_suggestion("sum 12", "sum 13", NULL);
	expect_suggestion("12 items", "13 items", NULL);
	expect_suggestion("80.1 GB/s", "90.1 GB/s", "[0-9.e+-]+ GB/s");
	expect_suggestion("12", "a", NULL);
	expect_suggestion("1", "1 2", NULL);
}

/* ---- texts that are too large to be kept ---- */

static int file_of(const char *content)
{
	int file = memfd_create("text", MFD_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(write(file, content, strlen(content)), (ssize_t)strlen(content));
	return file;
}

static struct trial_text read_text(const char *content, const char *expression, size_t most)
{
	int file = file_of(content);
	struct trial_text text;
	regex_t regex;

	assert_int_equal(regcomp(&regex, expression ? expression : "x", REG_EXTENDED), 0);
	assert_int_equal(trial_text_read(&text, file, &regex, expression ? 1 : 0, most), 0);
	regfree(&regex);
	close(file);
	return text;
}

static void test_large_texts(void **state)
{
	struct trial_text kept = read_text("a 1\nb 2", "[0-9]", 100);
	struct trial_text hashed = read_text("a 3\nb 4", "[0-9]", 3);
	struct trial_text blocks = read_text("a *\nb *", NULL, 3);
	struct trial_text other = read_text("a 3\nc 4", "[0-9]", 3);
	struct trial_text none = {0};
	struct trial_difference difference;

	(void)state;
	assert_string_equal(kept.bytes, "a *\nb *");
	assert_null(hashed.bytes);
	assert_true(hashed.is_hashed && trial_text_is_there(&hashed));
	assert_int_equal(hashed.length, kept.length);
	assert_true(trial_text_is_same(&kept, &hashed) && trial_text_is_same(&blocks, &hashed));
	assert_false(trial_text_is_same(&other, &hashed) || trial_text_is_same(&none, &hashed));
	assert_int_equal(trial_compare(&difference, &kept, 1, &hashed, 1), 0);
	assert_int_equal(difference.match, TRIAL_EQUAL);
	assert_int_equal(trial_compare(&difference, &kept, 1, &other, 1), 0);
	assert_int_equal(difference.match, TRIAL_DIFFERENT);
	assert_true(difference.is_whole);
	assert_int_equal(trial_compare(&difference, (struct trial_text[]){hashed, other}, 2, &kept,
				       1),
			 0);
	assert_int_equal(difference.match, TRIAL_UNKNOWN);
	trial_text_free(&kept);
}

/* ---- what was reached ---- */

static void test_reach(void **state)
{
	static const char *const files[] = {
		"name,value\nlaunches_seen,10\npassed:capture,2\nflush:cuMemFree,1\n",
		"name,value\nlaunches_seen,5\npassed:new,7\npassed:capture,1\nnonsense\nbad,x\n"};
	struct trial_reach reach = {0};
	struct fixture fixture;
	struct err err = {""};
	char folder[128];

	(void)state;
	fixture_create(&fixture);
	fixture_write(&fixture, "reached", "3.100", files[0]);
	fixture_write(&fixture, "reached", "3.101", files[1]);
	fixture_write(&fixture, "reached", "31.100", files[0]);
	snprintf(folder, sizeof(folder), "%s/reached", fixture.path);
	assert_int_equal(trial_reach_read(&reach, folder, "3", &err), 0);
	assert_int_equal(reach.process_count, 2);
	assert_int_equal(reach.counts[TRY_LAUNCHES_SEEN], 15);
	assert_int_equal(reach.passed.count, 2);
	assert_string_equal(reach.passed.items[0].name, "new");
	assert_null(reach.passed.items[0].meaning);
	assert_int_equal(reach.passed.items[1].count, 3);
	assert_non_null(reach.passed.items[1].meaning);
	trial_reach_free(&reach);
	assert_int_equal(trial_reach_read(&reach, "/nowhere", "3", &err), -ENOENT);
	fixture_remove(&fixture);
}

/* ---- the verdict ---- */

static struct trial trial_of(const double *times_ns, size_t repeats, const char *bare,
			     const char *tried)
{
	struct trial trial = {0};
	struct trial_channel *channel;

	assert_int_equal(trial_open(&trial, repeats), 0);
	channel = trial_add_channel(&trial, "stdout", true, repeats);
	assert_non_null(channel);
	for (size_t i = 0; i < repeats; i++)
		for (int side = 0; side < TRIAL_SIDES; side++) {
			struct trial_text text = text_of(side == TRIAL_BARE ? bare : tried);

			trial.sides[side].times_ns[trial.sides[side].count++] =
				times_ns[(size_t)side * repeats + i];
			trial_add_text(channel, side, &text);
		}
	assert_int_equal(trial_judge(&trial), 0);
	return trial;
}

static void test_speedup(void **state)
{
	struct trial trial = trial_of((double[]){10, 30, 20, 4, 6, 5}, 3, "a", "a");

	(void)state;
	assert_float_equal(trial.measured.speedup, 4, 1e-9);
	assert_float_equal(trial.measured.low, 10.0 / 6, 1e-9);
	assert_float_equal(trial.measured.high, 7.5, 1e-9);
	assert_false(trial.is_noise);
	assert_int_equal(trial.results, TRIAL_EQUAL);
	assert_ptr_equal(trial.channels[0].texts[0][0].bytes, trial.channels[0].texts[1][2].bytes);
	trial_free(&trial);
	trial = trial_of((double[]){10, 20, 9, 21}, 2, "a", "b");
	assert_true(trial.is_noise);
	assert_int_equal(trial.results, TRIAL_DIFFERENT);
	trial_free(&trial);
}

static void test_nothing_written(void **state)
{
	struct trial trial = trial_of((double[]){1, 1}, 1, "", "");

	(void)state;
	assert_int_equal(trial.results, TRIAL_UNKNOWN);
	trial_free(&trial);
}

static void test_other_ends(void **state)
{
	struct trial trial = trial_of((double[]){1, 1}, 1, "a", "a");

	(void)state;
	trial.sides[TRIAL_TRIED].status = 139;
	trial_difference_free(&trial.channels[0].difference);
	assert_int_equal(trial_judge(&trial), 0);
	assert_int_equal(trial.results, TRIAL_DIFFERENT);
	assert_false(trial.has_equal_ends);
	trial_free(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),	    cmocka_unit_test(test_lines_that_differ),
		cmocka_unit_test(test_masks),	    cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_large_texts), cmocka_unit_test(test_reach),
		cmocka_unit_test(test_speedup),	    cmocka_unit_test(test_nothing_written),
		cmocka_unit_test(test_other_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
