#include "analysis/statistics/statistics.h"

#include "analysis/statistics/statistics_parts.h"

#include "base/ns.h"
#include "base/worker.h"

#include <errno.h>
#include <stdlib.h>

/* ---- streams ---- */

static int compare_streams(const void *left, const void *right)
{
	const struct stream_statistics *a = left, *b = right;
	int order = statistics_longer_first(a->busy_ns, b->busy_ns);

	return order ? order : (int)(a->stream > b->stream) - (a->stream < b->stream);
}

/* How far a stream's operations have been looked at. */
struct stream_walk {
	int64_t until_ns; /* the end of what came before */
	struct steady_cursor cursor;
};

static void add_busy(struct stream_statistics *stream, struct stream_walk *walk, uint32_t device,
		     int64_t from_ns, int64_t end_ns)
{
	if (stream->op_count++ && walk->until_ns > from_ns)
		from_ns = walk->until_ns;
	if (end_ns > from_ns)
		stream->busy_ns += end_ns - from_ns;
	steady_split_device(&stream->split, &walk->cursor, device, from_ns,
			    max_ns(from_ns, end_ns));
	if (stream->op_count == 1 || end_ns > walk->until_ns)
		walk->until_ns = end_ns;
}

static void add_op(struct stream_statistics *stream, const struct profile *profile,
		   const struct profile_op *op, struct stream_walk *walk)
{
	const struct profile_window *window = &profile->window;
	int64_t from_ns = op->start_ns, end_ns = op->end_ns;

	if (window->is_part) {
		from_ns = max_ns(from_ns, window->from_ns);
		end_ns = min_ns(end_ns, window->to_ns);
	}
	add_busy(stream, walk, profile_op_device(profile, op), from_ns, end_ns);
}

/* Branches of a graph overlap within one stream, so busy time is a union here as on the device.
 * Operations come by device and start, and a stream has one device: one look at each is enough. */
static int collect_streams(struct statistics *statistics, const struct profile *profile,
			   const struct steady_state *steady_state)
{
	struct stream_walk *walks = calloc(profile->stream_count + 1, sizeof(*walks));
	size_t count = 0;

	statistics->streams = calloc(profile->stream_count + 1, sizeof(*statistics->streams));
	if (!walks || !statistics->streams) {
		free(walks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		walks[op->stream].cursor.state = steady_state;
		add_op(&statistics->streams[op->stream], profile, op, &walks[op->stream]);
	}
	for (size_t i = 0; i < profile->stream_count; i++) {
		struct stream_statistics stream = statistics->streams[i];

		stream.stream = (uint32_t)i;
		if (stream.op_count)
			statistics->streams[count++] = stream;
	}
	statistics->stream_count = count;
	qsort(statistics->streams, count, sizeof(*statistics->streams), compare_streams);
	free(walks);
	return 0;
}

/* ---- all of it ---- */

typedef int (*part_function)(struct statistics *statistics, const struct profile *profile,
			     const struct steady_state *steady_state);

static const part_function of_kernels[] = {statistics_collect_kernels,
					   statistics_collect_operators, /* of these kernels */
					   NULL};
static const part_function of_others[] = {statistics_collect_copies,
					  statistics_collect_memsets,
					  statistics_collect_calls,
					  statistics_collect_ranges,
					  statistics_collect_graphs,
					  collect_streams,
					  NULL};
/* What one of two threads collects. */
struct collecting {
	const part_function *parts;
	struct statistics *statistics;
	const struct profile *profile;
	const struct steady_state *steady_state;
};

static int collect(void *context)
{
	const struct collecting *it = context;
	int rc = 0;

	for (const part_function *part = it->parts; rc == 0 && *part; part++)
		rc = (*part)(it->statistics, it->profile, it->steady_state);
	return rc;
}

static int finish(struct statistics **out, struct statistics *statistics, int rc, struct err *err)
{
	if (rc < 0) {
		statistics_free(statistics);
		return err_set(err, rc, "out of memory for the statistics");
	}
	*out = statistics;
	return 0;
}

int statistics_of_kernels(struct statistics **out, const struct profile *profile,
			  const struct steady_state *steady_state, struct err *err)
{
	struct statistics *statistics = calloc(1, sizeof(*statistics));
	struct collecting kernels = {of_kernels, statistics, profile, steady_state};

	return finish(out, statistics, statistics ? collect(&kernels) : -ENOMEM, err);
}

int statistics_collect(struct statistics **out, const struct profile *profile,
		       const struct steady_state *steady_state, struct err *err)
{
	struct statistics *statistics = calloc(1, sizeof(*statistics));
	struct collecting kernels = {of_kernels, statistics, profile, steady_state};
	struct collecting others = {of_others, statistics, profile, steady_state};
	struct worker worker;
	int rc, kernels_rc;

	if (!statistics)
		return finish(out, statistics, -ENOMEM, err);
	worker_start(&worker, profile_item_count(profile), collect, &kernels);
	rc = collect(&others);
	kernels_rc = worker_join(&worker);
	return finish(out, statistics, kernels_rc < 0 ? kernels_rc : rc, err);
}

void statistics_free(struct statistics *statistics)
{
	if (!statistics)
		return;
	free(statistics->kernels);
	free(statistics->copies);
	free(statistics->memsets);
	free(statistics->calls);
	free(statistics->ranges);
	free(statistics->graphs);
	free(statistics->streams);
	free(statistics);
}
