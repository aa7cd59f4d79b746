#include "html/html_levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "base/sums.h"
#include "charts/timelines/raster.h"

_Static_assert(GAP_CAUSE_COUNT == RASTER_CLASSES, "a run's classes are all that a gap can have");

/* One entry, whether it is an item or a run of several. */
struct entry {
	int64_t start_ns, end_ns, busy_ns;
	uint64_t count;
	unsigned class_index;
	const int64_t *class_ns; /* NULL: all of it is of class_index */
	uint32_t name;
	int64_t call;
};

static unsigned share_byte(int64_t part_ns, int64_t whole_ns)
{
	double share = whole_ns > 0 ? (double)part_ns / (double)whole_ns : 1;

	return share >= 1 ? 255 : share <= 1.0 / 255 ? 1 : (unsigned)(255 * share + 0.5);
}

/* What a class weighs beside the others: of a gap its time, of a run its share, where that can be seen. */
static uint64_t weight_of(const struct entry *entry, unsigned which, int64_t sum_ns)
{
	int64_t part_ns = entry->class_ns[which];

	if (part_ns <= 0)
		return 0;
	return entry->count == 1
		       ? (uint64_t)part_ns
		       : (uint64_t)(HTML_SHARES * ((double)part_ns / (double)sum_ns) + 0.5);
}

/* The largest first, which has the rest, then each other one with its weight. */
static int put_mix(struct html_bytes *to, const uint64_t weights[RASTER_CLASSES], unsigned count,
		   unsigned largest)
{
	int rc = html_put_byte(to, HTML_CLASS_LIST + count);

	if (rc == 0)
		rc = html_put_byte(to, largest);
	for (unsigned i = 0; rc == 0 && i < RASTER_CLASSES; i++) {
		if (!weights[i] || i == largest)
			continue;
		rc = html_put_byte(to, i);
		if (rc == 0)
			rc = html_put_number(to, weights[i]);
	}
	return rc;
}

static int put_classes(struct html_bytes *to, const struct entry *entry)
{
	uint64_t weights[RASTER_CLASSES] = {0};
	int64_t sum_ns = 0;
	unsigned count = 0, largest = entry->class_index;

	for (unsigned i = 0; entry->class_ns && i < RASTER_CLASSES; i++)
		sum_add_ns(&sum_ns, max_ns(entry->class_ns[i], 0));
	for (unsigned i = 0; entry->class_ns && i < RASTER_CLASSES; i++) {
		weights[i] = weight_of(entry, i, sum_ns);
		count += weights[i] > 0;
		largest = weights[i] > weights[largest] ? i : largest;
	}
	return count < 2 ? html_put_byte(to, largest) : put_mix(to, weights, count, largest);
}

static int put_entry(struct html_lane *lane, const struct entry *entry)
{
	struct html_bytes *to = lane->columns;
	int64_t length_ns = entry->end_ns - entry->start_ns;
	int rc = html_put_number(&to[HTML_COLUMN_starts],
				 (uint64_t)entry->start_ns - (uint64_t)lane->last_ns);

	if (rc == 0)
		rc = html_put_number(&to[HTML_COLUMN_lengths], (uint64_t)length_ns);
	if (rc == 0)
		rc = html_put_number(&to[HTML_COLUMN_counts], entry->count - 1);
	if (rc == 0)
		rc = html_put_byte(&to[HTML_COLUMN_busy], share_byte(entry->busy_ns, length_ns));
	if (rc == 0)
		rc = put_classes(&to[HTML_COLUMN_classes], entry);
	if (rc == 0)
		rc = html_put_number(&to[HTML_COLUMN_names],
				     entry->name == HTML_NO_NAME ? 0 : (uint64_t)entry->name + 1);
	if (rc == 0)
		rc = html_put_signed(&to[HTML_COLUMN_calls], entry->call - lane->last_call);
	lane->last_ns = entry->start_ns;
	lane->last_call = entry->call;
	lane->count++;
	return rc;
}

/* ---- every item by itself ---- */

static int put_item(struct html_level *level, const struct html_item *item)
{
	struct entry entry = {
		.start_ns = item->start_ns,
		.end_ns = item->end_ns,
		.busy_ns = item->end_ns - item->start_ns,
		.count = 1,
		.class_index = item->class_index,
		.class_ns = item->class_ns,
		.name = item->name,
		.call = item->call == PROFILE_NONE ? -1 : (int64_t)item->call,
	};

	if (level->kind == HTML_LEVEL_WINDOWS &&
	    !html_windows_show(level->windows, item->start_ns, item->end_ns))
		return 0;
	return put_entry(&level->lanes[item->row], &entry);
}

/* ---- runs ---- */

/* A name's number travels through the raster in place of a text, which only comes out of it again. */
static const char *label_of_name(uint32_t name)
{
	return name == HTML_NO_NAME ? NULL : (const char *)((uintptr_t)name + 1);
}

static uint32_t name_of_label(const char *label)
{
	return label ? (uint32_t)((uintptr_t)label - 1) : HTML_NO_NAME;
}

static int put_run(const struct raster_run *run, void *context)
{
	struct entry entry = {
		.start_ns = run->start_ns,
		.end_ns = run->end_ns,
		.busy_ns = run->busy_ns,
		.count = run->interval_count,
		.class_ns = run->class_ns,
		.name = run->interval_count == 1 ? name_of_label(run->label) : HTML_NO_NAME,
		.call = -1,
	};

	return put_entry(context, &entry);
}

static int add_item(struct html_level *level, const struct html_item *item)
{
	struct raster *raster = &level->rasters[item->row];
	int64_t class_ns[RASTER_CLASSES] = {0};

	if (!item->class_ns)
		return raster_add(raster, item->start_ns, item->end_ns, item->class_index,
				  label_of_name(item->name));
	memcpy(class_ns, item->class_ns, sizeof(int64_t) * GAP_CAUSE_COUNT);
	return raster_add_mixed(raster, item->start_ns, item->end_ns, class_ns);
}

/* ---- all levels ---- */

int html_level_open(struct html_level *level, enum html_level_kind kind, size_t row_count,
		    struct html_window all, int columns)
{
	bool has_runs = kind == HTML_LEVEL_RUNS;

	*level = (struct html_level){
		.kind = kind,
		.lane_count = row_count,
		.lanes = calloc(row_count + 1, sizeof(*level->lanes)),
		.rasters = has_runs ? calloc(row_count + 1, sizeof(*level->rasters)) : NULL,
		.column_ns = has_runs ? max_ns((all.to_ns - all.from_ns) / columns, 1) : 0,
	};
	if (!level->lanes || (has_runs && !level->rasters))
		return -ENOMEM;
	for (size_t i = 0; i < row_count; i++) {
		level->lanes[i].last_ns = all.from_ns;
		if (has_runs)
			raster_init(&level->rasters[i], all.from_ns, all.to_ns, columns, put_run,
				    &level->lanes[i]);
	}
	return 0;
}

static int finish(struct html_level *level)
{
	int rc = 0;

	for (size_t i = 0; i < level->lane_count && rc == 0; i++) {
		if (level->rasters)
			rc = raster_finish(&level->rasters[i]);
		level->entry_count += level->lanes[i].count;
	}
	return rc;
}

struct levels {
	struct html_level *items;
	size_t count;
};

static int put_into_all(const struct html_item *item, void *context)
{
	const struct levels *levels = context;
	int rc = 0;

	for (size_t i = 0; i < levels->count && rc == 0; i++)
		rc = levels->items[i].kind == HTML_LEVEL_RUNS ? add_item(&levels->items[i], item)
							      : put_item(&levels->items[i], item);
	return rc;
}

int html_levels_fill(struct html_level *levels, size_t count, const struct html_feed *feed)
{
	struct html_feed to = *feed;
	int rc;

	to.visit = put_into_all;
	to.context = &(struct levels){levels, count};
	rc = html_feed_all(&to);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = finish(&levels[i]);
	return rc;
}

void html_level_free(struct html_level *level)
{
	for (size_t i = 0; level->lanes && i < level->lane_count; i++)
		for (int column = 0; column < HTML_COLUMN_COUNT; column++)
			html_bytes_free(&level->lanes[i].columns[column]);
	free(level->lanes);
	free(level->rasters);
	*level = (struct html_level){0};
}
