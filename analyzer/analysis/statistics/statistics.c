#include "analysis/statistics/statistics.h"

#include "analysis/statistics/statistics_parts.h"

#include "base/ns.h"

#include <errno.h>
#include <stdlib.h>

/* ---- streams ---- */

static int compare_streams(const void *left, const void *right)
{
	const struct stream_statistics *a = left, *b = right;
	int order = statistics_longer_first(a->busy_ns, b->busy_ns);

	return order ? order : (int)(a->stream > b->stream) - (a->stream < b->stream);
}

/* until_ns: the end of what came before in the stream. */
static void add_op(struct stream_statistics *stream, const struct profile_window *window,
		   const struct profile_op *op, int64_t *until_ns)
{
	int64_t from_ns = op->start_ns, end_ns = op->end_ns;

	if (window->is_part) {
		from_ns = max_ns(from_ns, window->from_ns);
		end_ns = min_ns(end_ns, window->to_ns);
	}
	if (stream->op_count++ && *until_ns > from_ns)
		from_ns = *until_ns;
	if (end_ns > from_ns)
		stream->busy_ns += end_ns - from_ns;
	if (stream->op_count == 1 || end_ns > *until_ns)
		*until_ns = end_ns;
}

/* Branches of a graph overlap within one stream, so busy time is a union here as on the device.
 * Operations come by device and start, and a stream has one device: one look at each is enough. */
static int collect_streams(struct statistics *statistics, const struct profile *profile)
{
	int64_t *busy_until_ns = calloc(profile->stream_count + 1, sizeof(*busy_until_ns));
	size_t count = 0;

	statistics->streams = calloc(profile->stream_count + 1, sizeof(*statistics->streams));
	if (!busy_until_ns || !statistics->streams) {
		free(busy_until_ns);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		add_op(&statistics->streams[op->stream], &profile->window, op,
		       &busy_until_ns[op->stream]);
	}
	for (size_t i = 0; i < profile->stream_count; i++) {
		struct stream_statistics stream = statistics->streams[i];

		stream.stream = (uint32_t)i;
		if (stream.op_count)
			statistics->streams[count++] = stream;
	}
	statistics->stream_count = count;
	qsort(statistics->streams, count, sizeof(*statistics->streams), compare_streams);
	free(busy_until_ns);
	return 0;
}

/* ---- all of it ---- */

typedef int (*part_function)(struct statistics *statistics, const struct profile *profile);

static const part_function parts[] = {
	statistics_collect_kernels,
	statistics_collect_copies,
	statistics_collect_memsets,
	statistics_collect_calls,
	statistics_collect_ranges,
	statistics_collect_graphs,
	collect_streams,
};

int statistics_collect(struct statistics **out, const struct profile *profile, struct err *err)
{
	struct statistics *statistics = calloc(1, sizeof(*statistics));
	int rc = statistics ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = parts[i](statistics, profile);
	if (rc < 0) {
		statistics_free(statistics);
		return err_set(err, rc, "out of memory for the statistics");
	}
	*out = statistics;
	return 0;
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
