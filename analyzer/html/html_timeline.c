#include "html/html_timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "html/html_levels.h"
#include "html/html_samples.h"

/* Columns of the levels, the coarsest first: a screen is never wider than the first, and each next one is reached before
 * a screen has more than eight of its columns a pixel. */
static const int level_columns[] = {4096, 32768, 262144, 2097152};
enum { LEVEL_MOST = sizeof(level_columns) / sizeof(level_columns[0]) + 1 };

/* What is not more than this needs no levels: a browser draws all of it at once. */
#define DRAWN_AT_ONCE 20000

/* Items and entries that a page may have: it is less than 20 MB then, at 5 bytes of an item and 10 of a run.  A level that
 * has more than so many of the items is not worth its room: each by itself is drawn as fast. */
#define ITEM_MOST 3100000
#define ENTRY_MOST 1500000
#define RUNS_WORTH_RATIO 0.0625

struct timeline_page {
	struct html_feed feed;
	struct html_rows rows;
	struct html_window window; /* the whole recording */
	struct html_windows windows;
	uint64_t item_count;
	json_t *meta, *levels;
	int block_count;
	FILE *out, *later;
};

static void put(const struct timeline_page *page, json_t *object, const char *key, json_t *value)
{
	json_builder_put(page->feed.names->json, object, key, value);
}

static void append(const struct timeline_page *page, json_t *array, json_t *value)
{
	json_builder_append(page->feed.names->json, array, value);
}

/* ---- the whole recording ---- */

static void widen(struct html_window *window, int64_t start_ns, int64_t end_ns)
{
	window->from_ns = min_ns(window->from_ns, start_ns);
	window->to_ns = max_ns(window->to_ns, end_ns);
}

/* From the first moment of anything to the last, of a part of a recording as far as that reaches. */
static struct html_window whole_of(const struct profile *profile)
{
	struct html_window all = {INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < profile->op_count; i++)
		widen(&all, profile->ops[i].start_ns, profile->ops[i].end_ns);
	for (size_t i = 0; i < profile->call_count; i++)
		widen(&all, profile->calls[i].start_ns, profile->calls[i].end_ns);
	for (size_t i = 0; i < profile->range_count; i++)
		widen(&all, profile->ranges[i].start_ns, profile->ranges[i].end_ns);
	if (profile->window.is_part) {
		all.from_ns = max_ns(all.from_ns, profile->window.from_ns);
		all.to_ns = min_ns(all.to_ns, profile->window.to_ns);
	}
	return all.from_ns < all.to_ns ? all : (struct html_window){0, 1};
}

/* ---- levels ---- */

static int write_lane(struct timeline_page *page, const struct html_lane *lane, json_t *list)
{
	struct html_bytes all = {0}, packed;
	json_t *sizes = json_array(), *entry = json_object();
	char name[16];
	int rc = 0;

	snprintf(name, sizeof(name), "l%d", page->block_count++);
	for (int i = 0; i < HTML_COLUMN_COUNT; i++) {
		append(page, sizes, json_integer((json_int_t)lane->columns[i].count));
		if (rc == 0)
			rc = html_put_bytes(&all, &lane->columns[i]);
	}
	put(page, entry, "block", json_string(name));
	put(page, entry, "count", json_integer((json_int_t)lane->count));
	put(page, entry, "columns", sizes);
	append(page, list, entry);
	if (rc == 0)
		rc = html_compress(&packed, &all);
	html_bytes_free(&all);
	if (rc < 0)
		return rc;
	html_write_block(json_array_size(page->levels) == 1 ? page->out : page->later, name,
			 &packed);
	html_bytes_free(&packed);
	return 0;
}

static json_t *windows_of(const struct timeline_page *page)
{
	json_t *list = json_array();

	for (size_t i = 0; i < page->windows.count; i++) {
		const struct html_window *window = &page->windows.items[i];
		json_t *pair = json_array();

		append(page, pair, json_integer(window->from_ns - page->window.from_ns));
		append(page, pair, json_integer(window->to_ns - page->window.from_ns));
		append(page, list, pair);
	}
	return list;
}

static int write_level(struct timeline_page *page, const struct html_level *level)
{
	json_t *meta = json_object(), *rows = json_array();
	int rc = 0;

	put(page, meta, "column_ns", json_integer(level->column_ns));
	if (level->kind == HTML_LEVEL_WINDOWS)
		put(page, meta, "windows", windows_of(page));
	put(page, meta, "rows", rows);
	append(page, page->levels, meta);
	for (size_t i = 0; rc == 0 && i < level->lane_count; i++) {
		if (level->lanes[i].count)
			rc = write_lane(page, &level->lanes[i], rows);
		else
			append(page, rows, json_null());
	}
	return rc;
}

/* Coarser ones only where there is more than they show; then every item, or those of the windows. */
static int open_levels(struct timeline_page *page, struct html_level *levels, size_t *count)
{
	bool is_all = page->item_count <= ITEM_MOST;
	uint64_t least = page->item_count > DRAWN_AT_ONCE ? page->item_count : 0;
	int rc = 0;

	for (*count = 0; rc == 0 && *count + 1 < LEVEL_MOST; (*count)++) {
		int columns = level_columns[*count];

		if ((uint64_t)columns > least)
			break;
		rc = html_level_open(&levels[*count], HTML_LEVEL_RUNS, page->rows.count,
				     page->window, columns);
	}
	if (rc == 0)
		rc = html_level_open(&levels[*count], is_all ? HTML_LEVEL_ALL : HTML_LEVEL_WINDOWS,
				     page->rows.count, page->window, 0);
	levels[(*count)++].windows = &page->windows;
	return rc;
}

static bool is_worth(const struct timeline_page *page, const struct html_level *level)
{
	if (level->kind != HTML_LEVEL_RUNS)
		return true;
	if (page->item_count > ITEM_MOST)
		return level->entry_count <= ENTRY_MOST;
	return (double)level->entry_count <= RUNS_WORTH_RATIO * (double)page->item_count;
}

static int write_levels(struct timeline_page *page, const struct html_level *levels, size_t count)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		if (i == 0 || is_worth(page, &levels[i]))
			rc = write_level(page, &levels[i]);
	return rc;
}

static int add_levels(struct timeline_page *page)
{
	struct html_level levels[LEVEL_MOST] = {0};
	size_t count;
	int rc;

	html_windows_choose(&page->windows, page->feed.report, page->window, page->item_count);
	rc = open_levels(page, levels, &count);
	if (rc == 0)
		rc = html_levels_fill(levels, count, &page->feed);
	if (rc == 0)
		rc = write_levels(page, levels, count);
	for (size_t i = 0; i < LEVEL_MOST; i++)
		html_level_free(&levels[i]);
	return rc;
}

/* ---- rows ---- */

static json_t *row_of(const struct timeline_page *page, const struct html_row *row)
{
	static const char *const kinds[] = {
#define KIND_KEY(constant, key) key,
		HTML_ROW_KINDS(KIND_KEY)
#undef KIND_KEY
	};
	const struct profile *profile = page->feed.report->profile;
	json_t *object = json_object();

	put(page, object, "kind", json_string(kinds[row->kind]));
	put(page, object, "label", html_text(row->label));
	if (row->device != PROFILE_NONE)
		put(page, object, "device", json_integer(row->device));
	if (row->kind == HTML_ROW_CALLS)
		put(page, object, "first_call",
		    json_integer((json_int_t)profile->threads[row->thread].first_call));
	return object;
}

static int add_rows(struct timeline_page *page)
{
	json_t *rows = json_array();
	int rc = 0, sample_count = 0;

	for (size_t i = 0; rc == 0 && i < page->rows.count; i++) {
		const struct html_row *row = &page->rows.items[i];
		json_t *object = row_of(page, row);

		append(page, rows, object);
		if (row->kind == HTML_ROW_SAMPLES)
			rc = html_write_samples(page->feed.names, row, page->window, sample_count++,
						object, page->later);
	}
	put(page, page->meta, "rows", rows);
	return rc;
}

/* ---- the rest ---- */

static json_t *causes(const struct timeline_page *page)
{
	json_t *list = json_array();

	for (int i = 0; i < GAP_CAUSE_COUNT; i++) {
		json_t *cause = json_object();

		put(page, cause, "key", json_string(gap_cause_key(i)));
		put(page, cause, "title", json_string(gap_cause_title(i)));
		put(page, cause, "meaning", json_string(gap_cause_meaning(i)));
		append(page, list, cause);
	}
	return list;
}

static void put_time(const struct timeline_page *page, json_t *object, const char *key,
		     int64_t time_ns, int64_t origin_ns)
{
	put(page, object, key, json_integer(time_ns - origin_ns));
}

/* Times are from the origin on, the first moment that is shown. */
static void add_times(struct timeline_page *page)
{
	const struct report *report = page->feed.report;
	int64_t origin_ns = page->window.from_ns, first_ns = report->profile->window.first_ns;
	int64_t last_ns = INT64_MIN;
	char text[32];

	for (size_t i = 0; i < report->profile->device_count; i++)
		if (report->timeline->devices[i].wall_ns)
			last_ns = max_ns(last_ns, report->timeline->devices[i].last_ns);
	if (first_ns > last_ns) {
		first_ns = origin_ns;
		last_ns = page->window.to_ns;
	}
	snprintf(text, sizeof(text), "%lld", (long long)origin_ns);
	put(page, page->meta, "origin_ns", json_string(text));
	put_time(page, page->meta, "end_ns", page->window.to_ns, origin_ns);
	put_time(page, page->meta, "first_ns", first_ns, origin_ns);
	put_time(page, page->meta, "last_ns", last_ns, origin_ns);
}

/* An iteration in the middle of a device's loop, as the host submitted it: NULL where it has none. */
static json_t *iteration_of(const struct timeline_page *page, const struct steady_device *steady)
{
	const struct profile *profile = page->feed.report->profile;
	const struct loops *loops = &page->feed.report->steady_state->repeated;
	const struct loop *longest = NULL;
	json_t *pair;

	for (size_t i = 0; steady->is_found && i < steady->loop.member_count; i++) {
		const struct loop *loop = &loops->items[steady->loop.members[i]];

		if (!longest || loop->iteration_count > longest->iteration_count)
			longest = loop;
	}
	if (!longest || !longest->iteration_count)
		return NULL;
	pair = json_array();
	for (size_t i = 0; i < 2; i++) {
		uint32_t call = longest->iterations[longest->iteration_count / 2 + i];
		int64_t time_ns = call < longest->first_call + longest->call_count
					  ? profile->calls[call].start_ns
					  : profile->calls[call - 1].end_ns;

		append(page, pair, json_integer(time_ns - page->window.from_ns));
	}
	return pair;
}

static void add_iteration(struct timeline_page *page)
{
	const struct steady_state *steady = page->feed.report->steady_state;
	json_t *iteration = NULL;

	for (size_t i = 0; !iteration && i < steady->device_count; i++)
		iteration = iteration_of(page, &steady->devices[i]);
	if (iteration)
		put(page, page->meta, "iteration", iteration);
}

static void add_counts(struct timeline_page *page)
{
	put(page, page->meta, "op_count",
	    json_integer((json_int_t)page->feed.report->profile->op_count));
	put(page, page->meta, "item_count", json_integer((json_int_t)page->item_count));
	put(page, page->meta, "hidden_thread_count",
	    json_integer((json_int_t)page->rows.hidden_thread_count));
	put(page, page->meta, "hidden_range_count",
	    json_integer((json_int_t)page->rows.hidden_range_count));
}

static int write_all_of(struct timeline_page *page)
{
	int rc;

	page->window = whole_of(page->feed.report->profile);
	page->item_count = html_feed_count(&page->feed);
	add_times(page);
	add_counts(page);
	add_iteration(page);
	put(page, page->meta, "causes", causes(page));
	html_names_put(page->feed.names, page->meta);
	rc = add_rows(page);
	if (rc == 0)
		rc = add_levels(page);
	put(page, page->meta, "levels", json_incref(page->levels));
	if (rc == 0)
		rc = html_write_packed_json(page->out, "timeline", page->feed.names->json,
					    json_incref(page->meta));
	return rc;
}

int html_write_timeline(const struct report *report, const struct html_names *names, FILE *out,
			FILE *later)
{
	struct timeline_page page = {.meta = json_object(),
				     .levels = json_array(),
				     .out = out,
				     .later = later};
	int rc = html_rows_choose(&page.rows, report);

	page.feed = (struct html_feed){.report = report, .rows = &page.rows, .names = names};
	if (rc == 0)
		rc = write_all_of(&page);
	json_decref(page.meta);
	json_decref(page.levels);
	html_rows_free(&page.rows);
	return rc;
}
