#include "html/html_feed.h"

#include "base/ns.h"

/* Of a part of a recording what lies within. */
static int visit(const struct html_feed *feed, struct html_item *item)
{
	const struct profile_window *window = &feed->report->profile->window;

	if (window->is_part) {
		if (item->end_ns < window->from_ns || item->start_ns > window->to_ns)
			return 0;
		item->start_ns = max_ns(item->start_ns, window->from_ns);
		item->end_ns = min_ns(item->end_ns, window->to_ns);
	}
	return feed->visit(item, feed->context);
}

static int feed_range(const struct html_feed *feed, const struct profile_range *range)
{
	struct html_item item = {
		.row = html_row_of_range(feed->rows, range),
		.start_ns = range->start_ns,
		.end_ns = range->end_ns,
		.name = html_name_of_range(feed->names, range),
		.call = PROFILE_NONE,
	};

	/* Two colors: those beside each other mostly differ in name. */
	item.class_index = item.name & 1;
	return item.row == PROFILE_NONE ? 0 : visit(feed, &item);
}

static int feed_call(const struct html_feed *feed, const struct profile_call *call)
{
	const struct profile *profile = feed->report->profile;
	struct html_item item = {
		.row = feed->rows->of_calls[call->thread],
		.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.class_index = profile->call_names[call->name].call_class,
		.name = html_name_of_call(feed->names, call),
		.call = PROFILE_NONE,
	};

	return item.row == PROFILE_NONE ? 0 : visit(feed, &item);
}

static int feed_op(const struct html_feed *feed, const struct profile_op *op)
{
	struct html_item item = {
		.row = feed->rows->of_stream[op->stream],
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.class_index = html_class_of_op(feed->names, op),
		.name = html_name_of_op(feed->names, op),
		.call = op->call,
	};

	return item.row == PROFILE_NONE ? 0 : visit(feed, &item);
}

struct gap_context {
	const struct html_feed *feed;
	uint32_t row;
};

static int feed_gap(const struct gap *gap, void *context)
{
	const struct gap_context *of = context;
	struct html_item item = {
		.row = of->row,
		.start_ns = gap->start_ns,
		.end_ns = gap->end_ns,
		.class_index = gap->cause,
		.class_ns = gap->by_cause_ns,
		.name = HTML_NO_NAME,
		.call = PROFILE_NONE,
	};

	return of->feed->visit(&item, of->feed->context);
}

static int feed_gaps(const struct html_feed *feed, uint32_t device)
{
	uint32_t row = feed->rows->of_idle[device];

	if (row == PROFILE_NONE)
		return 0;
	return gaps_visit(feed->report->gaps, device, feed_gap, &(struct gap_context){feed, row});
}

static int feed_burst(const struct html_feed *feed, const struct burst *burst)
{
	struct html_item item = {
		.row = feed->rows->of_bursts[burst->device],
		.start_ns = burst->start_ns,
		.end_ns = burst->end_ns,
		.name = HTML_NO_NAME,
		.call = PROFILE_NONE,
	};

	return item.row == PROFILE_NONE ? 0 : visit(feed, &item);
}

int html_feed_all(const struct html_feed *feed)
{
	const struct profile *profile = feed->report->profile;
	const struct device_work *work = feed->report->device_work;
	int rc = 0;

	for (size_t i = 0; i < profile->range_count && rc == 0; i++)
		rc = feed_range(feed, &profile->ranges[i]);
	for (size_t i = 0; i < profile->call_count && rc == 0; i++)
		rc = feed_call(feed, &profile->calls[i]);
	for (uint32_t i = 0; i < profile->device_count && rc == 0; i++)
		rc = feed_gaps(feed, i);
	for (size_t i = 0; i < profile->op_count && rc == 0; i++)
		rc = feed_op(feed, &profile->ops[i]);
	for (size_t i = 0; i < work->burst_count && rc == 0; i++)
		rc = feed_burst(feed, &work->bursts[i]);
	return rc;
}

uint64_t html_feed_count(const struct html_feed *feed)
{
	const struct profile *profile = feed->report->profile;
	uint64_t count = profile->range_count + profile->call_count + profile->op_count +
			 feed->report->device_work->burst_count;

	for (size_t i = 0; i < feed->report->gaps->device_count; i++)
		count += feed->report->gaps->devices[i].gap_count;
	return count;
}
