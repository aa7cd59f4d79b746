/* Blocks, levels and windows of a page: what is reduced keeps what it stands for.  tests/cli/html.bats reads whole pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "html/html_levels.h"

#define RECORDING "tests/recordings/nvtx_ranges"

/* ---- bytes ---- */

static uint64_t next_number(const struct html_bytes *bytes, size_t *at)
{
	uint64_t number = 0;

	for (int shift = 0;; shift += 7) {
		uint8_t byte = bytes->bytes[(*at)++];

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
}

static void numbers_take_few_bytes_and_come_back(void **state)
{
	static const uint64_t numbers[] = {0, 127, 128, 300, UINT32_MAX, UINT64_MAX};
	static const int64_t signs[] = {0, -1, 1, -64, INT64_MIN, INT64_MAX};
	struct html_bytes bytes = {0};
	size_t at = 0;

	(void)state;
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(html_put_number(&bytes, numbers[i]), 0);
	assert_int_equal(bytes.count, 1 + 1 + 2 + 2 + 5 + 10);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(html_put_signed(&bytes, signs[i]), 0);
	for (size_t i = 0; i < 6; i++)
		assert_true(next_number(&bytes, &at) == numbers[i]);
	for (size_t i = 0; i < 6; i++) {
		uint64_t number = next_number(&bytes, &at);

		assert_true((int64_t)(number & 1 ? ~(number >> 1) : number >> 1) == signs[i]);
	}
	html_bytes_free(&bytes);
}

static void no_text_in_json_ends_its_element(void **state)
{
	char *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	(void)state;
	html_write_json(out, "report", "{\"name\": \"</script><!--&\"}");
	fclose(out);
	assert_string_equal(written,
			    "<script type=\"application/json\" id=\"report\">"
			    "{\"name\": \"\\u003c/script\\u003e\\u003c!--\\u0026\"}</script>\n");
	free(written);
}

/* ---- levels ---- */

struct made {
	struct report *report;
	struct json_builder json;
	struct html_rows rows;
	struct html_names names;
	struct html_feed feed;
	struct html_window all;
};

static int widen(const struct html_item *item, void *context)
{
	struct html_window *all = context;

	all->from_ns = item->start_ns < all->from_ns ? item->start_ns : all->from_ns;
	all->to_ns = item->end_ns > all->to_ns ? item->end_ns : all->to_ns;
	return 0;
}

static int set_up(void **state)
{
	struct made *made = calloc(1, sizeof(*made));
	struct err err = {""};

	if (!made || report_build(&made->report, RECORDING, &err) < 0)
		return -1;
	if (html_rows_choose(&made->rows, made->report) < 0 ||
	    html_names_open(&made->names, made->report, &made->json) < 0)
		return -1;
	made->all = (struct html_window){INT64_MAX, INT64_MIN};
	made->feed = (struct html_feed){made->report, &made->rows, &made->names, widen, &made->all};
	*state = made;
	return html_feed_all(&made->feed);
}

static int tear_down(void **state)
{
	struct made *made = *state;

	html_names_free(&made->names);
	html_rows_free(&made->rows);
	report_free(made->report);
	free(made);
	return 0;
}

static uint64_t items_of(const struct html_lane *lane)
{
	const struct html_bytes *counts = &lane->columns[HTML_COLUMN_counts];
	uint64_t items = lane->count;

	for (size_t at = 0; at < counts->count;)
		items += next_number(counts, &at);
	return items;
}

static void open_two(struct html_level levels[2], const struct made *made, int columns)
{
	assert_int_equal(html_level_open(&levels[0], HTML_LEVEL_RUNS, made->rows.count, made->all,
					 columns),
			 0);
	assert_int_equal(html_level_open(&levels[1], HTML_LEVEL_ALL, made->rows.count, made->all,
					 0),
			 0);
}

static void runs_stand_for_as_many_items_as_there_are(void **state)
{
	const struct made *made = *state;
	struct html_level levels[2] = {0};

	open_two(levels, made, 50);
	assert_int_equal(html_levels_fill(levels, 2, &made->feed), 0);
	assert_true(levels[0].entry_count < levels[1].entry_count / 2);
	assert_true(levels[1].entry_count == html_feed_count(&made->feed));
	for (size_t i = 0; i < made->rows.count; i++) {
		assert_true(levels[0].lanes[i].count <= 52);
		assert_true(items_of(&levels[0].lanes[i]) == levels[1].lanes[i].count);
	}
	html_level_free(&levels[0]);
	html_level_free(&levels[1]);
}

/* ---- windows ---- */

struct shown {
	const struct html_windows *windows;
	uint64_t count;
};

static int count_shown(const struct html_item *item, void *context)
{
	struct shown *shown = context;
	bool is_shown = false;

	for (size_t i = 0; i < shown->windows->count; i++)
		is_shown |= item->start_ns <= shown->windows->items[i].to_ns &&
			    item->end_ns >= shown->windows->items[i].from_ns;
	shown->count += is_shown;
	return 0;
}

static void windows_lie_apart_and_hold_what_touches_them(void **state)
{
	const struct made *made = *state;
	struct html_windows windows;
	struct html_level level = {0};
	struct html_feed feed = made->feed;
	struct shown shown = {&windows, 0};

	/* as of a recording with a million times as many items */
	html_windows_choose(&windows, made->report, made->all, UINT64_C(1) << 40);
	assert_in_range(windows.count, HTML_WINDOW_PLACES, 60);
	for (size_t i = 0; i < windows.count; i++) {
		assert_true(windows.items[i].from_ns < windows.items[i].to_ns);
		assert_true(windows.items[i].from_ns >= made->all.from_ns);
		assert_true(windows.items[i].to_ns <= made->all.to_ns);
		assert_true(i == 0 || windows.items[i].from_ns > windows.items[i - 1].to_ns);
	}
	html_level_open(&level, HTML_LEVEL_WINDOWS, made->rows.count, made->all, 0);
	level.windows = &windows;
	assert_int_equal(html_levels_fill(&level, 1, &made->feed), 0);
	feed.visit = count_shown;
	feed.context = &shown;
	html_feed_all(&feed);
	assert_true(level.entry_count == shown.count);
	assert_true(shown.count > 0 && shown.count < html_feed_count(&made->feed));
	html_level_free(&level);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_take_few_bytes_and_come_back),
		cmocka_unit_test(no_text_in_json_ends_its_element),
		cmocka_unit_test_setup_teardown(runs_stand_for_as_many_items_as_there_are, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(windows_lie_apart_and_hold_what_touches_them,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
