#include "charts/timelines/chart_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "charts/chart_colors.h"

/* Something that wants a row, and how much time it would show. */
struct candidate {
	uint32_t index; /* stream or thread */
	int64_t time_ns;
};

/* What choosing needs to know of a profile, one pass over it: of the time that is shown. */
struct wanted {
	int64_t *stream_ns; /* kernels and graphs */
	int64_t *range_ns;  /* by thread and level */
	bool *has_copies;   /* by device and kind */
};

static uint32_t copy_kind(const struct profile *profile, const struct profile_op *op)
{
	static const char *const names[] = {"HtoD", "DtoH", "DtoD"};
	uint32_t kind = 0;

	if (op->kind == OP_MEMSET)
		return CHART_COPY_KINDS - 1;
	while (kind < 3 &&
	       strcmp(profile_copy_kind_name(profile->copies[op->detail].kind), names[kind]))
		kind++;
	return kind;
}

static bool runs_kernels(const struct profile_op *op)
{
	return op->kind == OP_KERNEL || op->kind == OP_GRAPH;
}

/* CHART_RANGE_LEVELS: too deep to be shown. */
static uint32_t range_level(const struct profile_range *range)
{
	if (!range->is_push_pop)
		return CHART_RANGE_LEVELS - 1;
	return range->depth < CHART_RANGE_LEVELS - 1 ? range->depth : CHART_RANGE_LEVELS;
}

uint32_t chart_row_of_op(const struct chart_rows *rows, const struct profile *profile,
			 const struct profile_op *op)
{
	if (runs_kernels(op))
		return rows->of_stream[op->stream];
	return rows->of_copies[(size_t)profile_op_device(profile, op) * CHART_COPY_KINDS +
			       copy_kind(profile, op)];
}

uint32_t chart_row_of_range(const struct chart_rows *rows, const struct profile_range *range)
{
	uint32_t level = range_level(range);

	if (level == CHART_RANGE_LEVELS || range->thread == PROFILE_NONE)
		return PROFILE_NONE;
	return rows->of_ranges[(size_t)range->thread * CHART_RANGE_LEVELS + level];
}

/* How much of it the window shows; 1 ns more: what has no length wants a row too. */
static int64_t shown_ns(struct chart_window window, int64_t start_ns, int64_t end_ns)
{
	if (!chart_window_shows(window, start_ns, end_ns))
		return 0;
	return (end_ns < window.to_ns ? end_ns : window.to_ns) -
	       (start_ns > window.from_ns ? start_ns : window.from_ns) + 1;
}

static void want_op(struct wanted *wanted, const struct profile *profile,
		    const struct profile_op *op, struct chart_window window)
{
	int64_t ns = shown_ns(window, op->start_ns, op->end_ns);

	if (runs_kernels(op))
		sum_add_ns(&wanted->stream_ns[op->stream], ns);
	else if (ns)
		wanted->has_copies[profile_op_device(profile, op) * CHART_COPY_KINDS +
				   copy_kind(profile, op)] = true;
}

static void want_range(struct wanted *wanted, const struct profile_range *range,
		       struct chart_window window)
{
	uint32_t level = range_level(range);

	if (level < CHART_RANGE_LEVELS && range->thread != PROFILE_NONE)
		sum_add_ns(&wanted->range_ns[(size_t)range->thread * CHART_RANGE_LEVELS + level],
			   shown_ns(window, range->start_ns, range->end_ns));
}

static int wanted_collect(struct wanted *wanted, const struct profile *profile,
			  struct chart_window window)
{
	wanted->stream_ns = calloc(profile->stream_count + 1, sizeof(int64_t));
	wanted->range_ns = calloc(profile->thread_count * CHART_RANGE_LEVELS + 1, sizeof(int64_t));
	wanted->has_copies = calloc(profile->device_count * CHART_COPY_KINDS + 1, sizeof(bool));
	if (!wanted->stream_ns || !wanted->range_ns || !wanted->has_copies)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		want_op(wanted, profile, &profile->ops[i], window);
	for (size_t i = 0; i < profile->range_count; i++)
		want_range(wanted, &profile->ranges[i], window);
	return 0;
}

static void wanted_free(struct wanted *wanted)
{
	free(wanted->stream_ns);
	free(wanted->range_ns);
	free(wanted->has_copies);
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static uint32_t add_row(struct chart_rows *rows, enum chart_row_kind kind, int color,
			const char *prefix, const char *label)
{
	struct chart_row *row = &rows->rows[rows->count];

	row->kind = kind;
	row->color = color;
	snprintf(row->label, sizeof(row->label), "%s%s", prefix, label);
	return (uint32_t)rows->count++;
}

/* ---- NVTX ranges ---- */
static void add_thread_ranges(struct chart_rows *rows, const struct profile *profile,
			      const int64_t *range_ns, uint32_t thread, bool is_only_one)
{
	const struct profile_thread *info = &profile->threads[thread];
	char label[32];
	bool is_first = true;

	for (uint32_t level = 0; level < CHART_RANGE_LEVELS; level++) {
		size_t at = (size_t)thread * CHART_RANGE_LEVELS + level;
		size_t used = rows->count;

		if (!range_ns[at] || used >= CHART_RANGE_ROWS)
			continue;
		if (is_only_one)
			snprintf(label, sizeof(label), "NVTX");
		else if (info->name)
			snprintf(label, sizeof(label), "NVTX %.20s", info->name);
		else
			snprintf(label, sizeof(label), "NVTX thread %u", info->thread);
		rows->of_ranges[at] =
			add_row(rows, ROW_RANGES, COLOR_RANGE, "", is_first ? label : "");
		is_first = false;
	}
}

static int add_range_rows(struct chart_rows *rows, const struct profile *profile,
			  const struct wanted *wanted)
{
	struct candidate *threads = calloc(profile->thread_count + 1, sizeof(*threads));
	size_t count = 0;

	if (!threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->thread_count; i++) {
		const int64_t *ns = &wanted->range_ns[(size_t)i * CHART_RANGE_LEVELS];

		if (ns[0] || ns[CHART_RANGE_LEVELS - 1])
			threads[count++] =
				(struct candidate){i, ns[0] + ns[CHART_RANGE_LEVELS - 1]};
	}
	qsort(threads, count, sizeof(*threads), compare_candidates);
	for (size_t i = 0; i < count && rows->count < CHART_RANGE_ROWS; i++)
		add_thread_ranges(rows, profile, wanted->range_ns, threads[i].index, count == 1);
	free(threads);
	return 0;
}

/* ---- streams ---- */
static int compare_indexes(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return a->index < b->index ? -1 : a->index > b->index;
}

static void stream_label(char *label, size_t size, const struct profile *profile, uint32_t stream)
{
	const struct profile_stream *info = &profile->streams[stream];

	if (info->is_null)
		snprintf(label, size, "default stream");
	else if (profile->process_count > 1)
		snprintf(label, size, "%llu stream %u",
			 (unsigned long long)profile->processes[info->process].pid, info->stream);
	else
		snprintf(label, size, "stream %u", info->stream);
}

/* The busiest in order of their numbers, then one row for the others. */
static int add_stream_rows(struct chart_rows *rows, const struct profile *profile,
			   const struct wanted *wanted, uint32_t device, const char *prefix)
{
	struct candidate *streams = calloc(profile->stream_count + 1, sizeof(*streams));
	size_t limit = CHART_STREAM_ROWS / profile->device_count, count = 0, own;
	uint32_t row = PROFILE_NONE;
	char label[40];

	if (!streams)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->stream_count; i++)
		if (profile->streams[i].device == device && wanted->stream_ns[i])
			streams[count++] = (struct candidate){i, wanted->stream_ns[i]};
	qsort(streams, count, sizeof(*streams), compare_candidates);
	limit = limit < 2 ? 2 : limit;
	own = count > limit ? limit - 1 : count;
	qsort(streams, own, sizeof(*streams), compare_indexes);
	for (size_t i = 0; i < count; i++) {
		stream_label(label, sizeof(label), profile, streams[i].index);
		if (i == own)
			snprintf(label, sizeof(label), "%zu other streams", count - own);
		if (i <= own)
			row = add_row(rows, ROW_STREAM, COLOR_KERNEL, prefix, label);
		rows->of_stream[streams[i].index] = row;
	}
	free(streams);
	return 0;
}

static void add_copy_rows(struct chart_rows *rows, const struct wanted *wanted, uint32_t device,
			  const char *prefix)
{
	static const char *const labels[CHART_COPY_KINDS] = {"copy HtoD", "copy DtoH", "copy DtoD",
							     "other copies", "memset"};

	for (int kind = 0; kind < CHART_COPY_KINDS; kind++) {
		size_t at = (size_t)device * CHART_COPY_KINDS + (size_t)kind;

		if (wanted->has_copies[at])
			rows->of_copies[at] =
				add_row(rows, ROW_COPIES, COLOR_HTOD + kind, prefix, labels[kind]);
	}
}

static void add_strip_row(struct chart_rows *rows, enum chart_strip_kind kind, uint32_t device,
			  const char *prefix)
{
	const struct chart_strip_style *style = chart_strip_style(kind);
	uint32_t row = add_row(rows, ROW_STRIP, style->rest_color, prefix, style->label);

	rows->rows[row].device = device;
	rows->rows[row].strip = kind;
}

/* Strips of memory and SMs go under the kernels, those of links under the copies. */
static void add_strip_rows(struct chart_rows *rows, const struct profile *profile, uint32_t device,
			   const char *prefix, enum chart_strip_kind first,
			   enum chart_strip_kind last)
{
	for (int kind = (int)first; kind <= (int)last; kind++)
		if (chart_strip_is_sampled(&profile->devices[device], kind))
			add_strip_row(rows, kind, device, prefix);
}

/* A device on which nothing was recorded may still have been busy for others. */
static bool has_rows(const struct profile_device *device)
{
	return device->op_count || device->sample_count;
}

static int add_device_rows(struct chart_rows *rows, const struct profile *profile,
			   const struct wanted *wanted, uint32_t device, bool has_bursts)
{
	char prefix[16] = "";
	int rc;

	if (!has_rows(&profile->devices[device]))
		return 0;
	if (profile->device_count > 1)
		snprintf(prefix, sizeof(prefix), "GPU %u ", device);
	rc = add_stream_rows(rows, profile, wanted, device, prefix);
	if (has_bursts)
		rows->of_bursts[device] =
			add_row(rows, ROW_BURSTS, COLOR_BURST, prefix, "device-launched");
	add_strip_rows(rows, profile, device, prefix, STRIP_GPU, STRIP_L2);
	add_copy_rows(rows, wanted, device, prefix);
	add_strip_rows(rows, profile, device, prefix, STRIP_PCIE_IN, STRIP_NVLINK_OUT);
	if (profile->devices[device].op_count)
		rows->of_gaps[device] = add_row(rows, ROW_GAPS, COLOR_CAUSE, prefix, "idle");
	return rc;
}

static uint32_t *no_rows(size_t count)
{
	uint32_t *rows = malloc((count + 1) * sizeof(*rows));

	if (rows)
		memset(rows, 0xff, (count + 1) * sizeof(*rows)); /* PROFILE_NONE */
	return rows;
}

static int allocate(struct chart_rows *rows, const struct profile *profile)
{
	size_t most = CHART_RANGE_ROWS + CHART_STREAM_ROWS +
		      profile->device_count * (2 + CHART_COPY_KINDS + 2 + STRIP_KIND_COUNT);

	rows->rows = calloc(most, sizeof(*rows->rows));
	rows->of_stream = no_rows(profile->stream_count);
	rows->of_copies = no_rows(profile->device_count * CHART_COPY_KINDS);
	rows->of_gaps = no_rows(profile->device_count);
	rows->of_bursts = no_rows(profile->device_count);
	rows->of_ranges = no_rows(profile->thread_count * CHART_RANGE_LEVELS);
	if (!rows->rows || !rows->of_stream || !rows->of_copies || !rows->of_gaps ||
	    !rows->of_bursts || !rows->of_ranges)
		return -ENOMEM;
	return 0;
}

int chart_rows_choose(struct chart_rows *rows, const struct profile *profile,
		      struct chart_window window, const bool *has_bursts)
{
	struct wanted wanted = {0};
	int rc;

	memset(rows, 0, sizeof(*rows));
	rc = allocate(rows, profile);
	if (rc == 0)
		rc = wanted_collect(&wanted, profile, window);
	if (rc == 0)
		rc = add_range_rows(rows, profile, &wanted);
	for (uint32_t i = 0; i < profile->device_count && rc == 0; i++)
		rc = add_device_rows(rows, profile, &wanted, i, has_bursts && has_bursts[i]);
	wanted_free(&wanted);
	return rc;
}

void chart_rows_free(struct chart_rows *rows)
{
	free(rows->rows);
	free(rows->of_stream);
	free(rows->of_copies);
	free(rows->of_gaps);
	free(rows->of_bursts);
	free(rows->of_ranges);
	memset(rows, 0, sizeof(*rows));
}
