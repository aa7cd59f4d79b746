#include "html/html_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"

/* A stream or thread, and what it has. */
struct candidate {
	uint32_t index;
	uint64_t weight;
};

static int by_weight(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int by_index(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return a->index < b->index ? -1 : a->index > b->index;
}

/* The most of them, in their own order; returns how many. */
static size_t choose(struct candidate *items, size_t count, size_t most)
{
	qsort(items, count, sizeof(*items), by_weight);
	count = count < most ? count : most;
	qsort(items, count, sizeof(*items), by_index);
	return count;
}

static struct html_row *add_row(struct html_rows *rows, enum html_row_kind kind, uint32_t *place)
{
	struct html_row *row = ARRAY_NEXT(rows->items, rows->capacity, rows->count);

	if (!row)
		return NULL;
	*row = (struct html_row){.kind = kind, .thread = PROFILE_NONE, .device = PROFILE_NONE};
	if (place)
		*place = (uint32_t)rows->count;
	rows->count++;
	return row;
}

/* ---- host ---- */

static uint32_t range_level(const struct profile_range *range)
{
	if (!range->is_push_pop)
		return HTML_RANGE_LEVELS - 1;
	return range->depth < HTML_RANGE_LEVELS - 1 ? range->depth : HTML_RANGE_LEVELS;
}

uint32_t html_row_of_range(const struct html_rows *rows, const struct profile_range *range)
{
	uint32_t level = range_level(range);

	if (level == HTML_RANGE_LEVELS || range->thread == PROFILE_NONE)
		return PROFILE_NONE;
	return rows->of_ranges[(size_t)range->thread * HTML_RANGE_LEVELS + level];
}

static void label_thread(struct html_row *row, const struct profile *profile, uint32_t index,
			 const char *what)
{
	const struct profile_thread *thread = &profile->threads[index];
	const struct profile_process *process = &profile->processes[thread->process];
	char of[32] = "", name[20] = "";

	if (profile->process_count > 1 && process->rank >= 0)
		snprintf(of, sizeof(of), "rank %lld ", (long long)process->rank);
	else if (profile->process_count > 1)
		snprintf(of, sizeof(of), "%llu ", (unsigned long long)process->pid);
	if (thread->name)
		format_text(name, sizeof(name), thread->name, 16);
	else
		snprintf(name, sizeof(name), "%u", thread->thread);
	row->thread = index;
	snprintf(row->label, sizeof(row->label), "%s%s %s", of, what, name);
}

static int add_range_rows(struct html_rows *rows, const struct profile *profile, uint32_t index)
{
	const struct profile_thread *thread = &profile->threads[index];
	bool has_level[HTML_RANGE_LEVELS + 1] = {false}, is_first = true;

	for (size_t i = 0; i < thread->range_count; i++) {
		uint32_t level = range_level(&profile->ranges[thread->first_range + i]);

		has_level[level] = true;
		rows->hidden_range_count += level == HTML_RANGE_LEVELS;
	}
	for (uint32_t level = 0; level < HTML_RANGE_LEVELS; level++) {
		size_t at = (size_t)index * HTML_RANGE_LEVELS + level;
		struct html_row *row;

		if (!has_level[level])
			continue;
		row = add_row(rows, HTML_ROW_RANGES, &rows->of_ranges[at]);
		if (!row)
			return -ENOMEM;
		label_thread(row, profile, index, "NVTX");
		if (!is_first)
			row->label[0] = '\0';
		is_first = false;
	}
	return 0;
}

static int add_thread_rows(struct html_rows *rows, const struct profile *profile, uint32_t index)
{
	struct html_row *row;
	int rc = add_range_rows(rows, profile, index);

	if (rc < 0 || !profile->threads[index].call_count)
		return rc;
	row = add_row(rows, HTML_ROW_CALLS, &rows->of_calls[index]);
	if (!row)
		return -ENOMEM;
	label_thread(row, profile, index, "API");
	return 0;
}

static int add_host_rows(struct html_rows *rows, const struct profile *profile)
{
	struct candidate *threads = calloc(profile->thread_count + 1, sizeof(*threads));
	size_t count = 0, shown;
	int rc = threads ? 0 : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		if (thread->call_count + thread->range_count)
			threads[count++] =
				(struct candidate){i, thread->call_count + thread->range_count};
	}
	shown = rc == 0 ? choose(threads, count, HTML_THREAD_MOST) : 0;
	rows->hidden_thread_count = count - shown;
	for (size_t i = 0; rc == 0 && i < shown; i++)
		rc = add_thread_rows(rows, profile, threads[i].index);
	free(threads);
	return rc;
}

/* ---- GPUs ---- */

static void label_device(struct html_row *row, const struct profile *profile, uint32_t device,
			 const char *what)
{
	row->device = device;
	if (profile->device_count > 1)
		snprintf(row->label, sizeof(row->label), "GPU %u %s", device, what);
	else
		snprintf(row->label, sizeof(row->label), "%s", what);
}

static void label_stream(struct html_row *row, const struct profile *profile, uint32_t index)
{
	const struct profile_stream *stream = &profile->streams[index];
	char what[48];

	if (profile->process_count > 1)
		snprintf(what, sizeof(what), "%llu stream %u",
			 (unsigned long long)profile->processes[stream->process].pid,
			 stream->stream);
	else if (stream->is_null)
		snprintf(what, sizeof(what), "default stream");
	else
		snprintf(what, sizeof(what), "stream %u", stream->stream);
	label_device(row, profile, stream->device, what);
}

static int add_shared_row(struct html_rows *rows, const struct profile *profile, uint32_t device,
			  const struct candidate *streams, size_t shown, size_t count)
{
	uint32_t at = PROFILE_NONE;
	struct html_row *row;
	char what[40];

	if (shown == count)
		return 0;
	row = add_row(rows, HTML_ROW_STREAM, &at);
	if (!row)
		return -ENOMEM;
	snprintf(what, sizeof(what), "%zu other streams", count - shown);
	label_device(row, profile, device, what);
	for (size_t i = 0; i < count; i++)
		if (rows->of_stream[streams[i].index] == PROFILE_NONE)
			rows->of_stream[streams[i].index] = at;
	return 0;
}

static int add_chosen_streams(struct html_rows *rows, const struct profile *profile,
			      uint32_t device, struct candidate *streams, size_t count)
{
	size_t most = HTML_STREAM_MOST / profile->device_count;
	size_t shown = choose(streams, count, most < 2 ? 2 : most);

	for (size_t i = 0; i < shown; i++) {
		uint32_t index = streams[i].index;
		struct html_row *row = add_row(rows, HTML_ROW_STREAM, &rows->of_stream[index]);

		if (!row)
			return -ENOMEM;
		label_stream(row, profile, index);
	}
	return add_shared_row(rows, profile, device, streams, shown, count);
}

/* weights: operations of each stream */
static int add_stream_rows(struct html_rows *rows, const struct profile *profile, uint32_t device,
			   const uint64_t *weights)
{
	struct candidate *streams = calloc(profile->stream_count + 1, sizeof(*streams));
	size_t count = 0;
	int rc = streams ? 0 : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < profile->stream_count; i++)
		if (profile->streams[i].device == device && weights[i])
			streams[count++] = (struct candidate){i, weights[i]};
	if (rc == 0)
		rc = add_chosen_streams(rows, profile, device, streams, count);
	free(streams);
	return rc;
}

static int add_device_row(struct html_rows *rows, const struct profile *profile, uint32_t device,
			  enum html_row_kind kind, uint32_t *place, const char *what)
{
	struct html_row *row = add_row(rows, kind, place);

	if (!row)
		return -ENOMEM;
	label_device(row, profile, device, what);
	return 0;
}

static int add_sample_rows(struct html_rows *rows, const struct profile *profile, uint32_t device)
{
	int rc = 0;

	for (int kind = 0; rc == 0 && kind < STRIP_KIND_COUNT; kind++) {
		if (!chart_strip_is_sampled(&profile->devices[device], kind))
			continue;
		rc = add_device_row(rows, profile, device, HTML_ROW_SAMPLES, NULL,
				    chart_strip_style(kind)->label);
		if (rc == 0)
			rows->items[rows->count - 1].strip = kind;
	}
	return rc;
}

static int add_gpu_rows(struct html_rows *rows, const struct report *report, uint32_t device,
			const uint64_t *weights)
{
	const struct profile *profile = report->profile;
	bool has_bursts = false;
	int rc = 0;

	for (size_t i = 0; i < report->device_work->burst_count; i++)
		has_bursts |= report->device_work->bursts[i].device == device;
	if (profile->devices[device].op_count)
		rc = add_device_row(rows, profile, device, HTML_ROW_IDLE, &rows->of_idle[device],
				    "idle, by cause");
	if (rc == 0)
		rc = add_stream_rows(rows, profile, device, weights);
	if (rc == 0 && has_bursts)
		rc = add_device_row(rows, profile, device, HTML_ROW_BURSTS,
				    &rows->of_bursts[device], "device-launched");
	return rc == 0 ? add_sample_rows(rows, profile, device) : rc;
}

/* ---- all ---- */

static uint32_t *no_rows(size_t count)
{
	uint32_t *rows = malloc((count + 1) * sizeof(*rows));

	if (rows)
		memset(rows, 0xff, (count + 1) * sizeof(*rows)); /* PROFILE_NONE */
	return rows;
}

static int allocate(struct html_rows *rows, const struct profile *profile)
{
	*rows = (struct html_rows){
		.of_stream = no_rows(profile->stream_count),
		.of_calls = no_rows(profile->thread_count),
		.of_ranges = no_rows(profile->thread_count * HTML_RANGE_LEVELS),
		.of_idle = no_rows(profile->device_count),
		.of_bursts = no_rows(profile->device_count),
	};
	return rows->of_stream && rows->of_calls && rows->of_ranges && rows->of_idle &&
			       rows->of_bursts
		       ? 0
		       : -ENOMEM;
}

int html_rows_choose(struct html_rows *rows, const struct report *report)
{
	const struct profile *profile = report->profile;
	uint64_t *weights = calloc(profile->stream_count + 1, sizeof(*weights));
	int rc = allocate(rows, profile);

	if (!weights)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < profile->op_count; i++)
		weights[profile->ops[i].stream]++;
	if (rc == 0)
		rc = add_host_rows(rows, profile);
	for (uint32_t i = 0; rc == 0 && i < profile->device_count; i++)
		rc = add_gpu_rows(rows, report, i, weights);
	free(weights);
	return rc;
}

void html_rows_free(struct html_rows *rows)
{
	free(rows->items);
	free(rows->of_stream);
	free(rows->of_calls);
	free(rows->of_ranges);
	free(rows->of_idle);
	free(rows->of_bursts);
	*rows = (struct html_rows){0};
}
