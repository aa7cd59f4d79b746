/* events.c - operations and calls as they followed each other. */
#include "output/page.h"

#include "analysis/time/host_range.h"
#include "output/op_columns.h"
#include "output/order.h"

#include <inttypes.h>

#define EVENTS_TOP 40

/* ---- columns ---- */

FINDER(call_at, struct event, event,
       event->is_call ? &row->report->profile->calls[event->index] : NULL);
FINDER(op_at, struct event, event,
       event->is_call ? NULL : &row->report->profile->ops[event->index]);

/* The call itself, and of an operation the one that launched it; NULL: not recorded. */
static const void *call_of(struct row *row, const void *from)
{
	const struct profile *profile = row->report->profile;
	const struct profile_op *op = op_at(row, from);

	if (!op)
		return call_at(row, from);
	return op->call == PROFILE_NONE ? NULL : &profile->calls[op->call];
}

static struct value get_kind(struct row *row, const void *from)
{
	const struct profile_op *op = op_at(row, from);

	return op ? op_get_kind(row, op) : value_text("call");
}

static struct value get_name(struct row *row, const void *from)
{
	const struct profile_call *call = call_at(row, from);

	return call ? value_text(row->report->profile->call_names[call->name].text)
		    : op_get_name(row, op_at(row, from));
}

static int64_t end_of(struct row *row, const void *from)
{
	const struct profile_call *call = call_at(row, from);
	const struct profile_op *op = op_at(row, from);

	return call ? call->end_ns : op->end_ns;
}

GETTER(get_end_ns, struct event, event, value_integer(end_of(row, event)));
GETTER(get_end_relative_ns, struct event, event,
       value_integer(end_of(row, event) - row->report->profile->window.first_ns));
GETTER(get_duration_ns, struct event, event, value_integer(end_of(row, event) - event->start_ns));

/* Of a copy and of a memset. */
static struct value get_bytes(struct row *row, const void *from)
{
	const struct profile *profile = row->report->profile;
	const struct profile_op *op = from;

	if (op->kind == OP_COPY)
		return value_count(profile->copies[op->detail].bytes);
	return op->kind == OP_MEMSET ? value_count(profile->memsets[op->detail].bytes)
				     : value_none();
}

GETTER(get_device, struct profile_op, op,
       value_integer(profile_op_device(row->report->profile, op)));

/* Of those outside graphs there is none. */
static struct value count_above_zero(uint64_t count)
{
	return count ? value_count(count) : value_none();
}

GETTER(get_graph, struct profile_op, op,
       count_above_zero(profile_op_graph(row->report->profile, op)));
GETTER(get_graph_node, struct profile_op, op,
       count_above_zero(profile_op_node(row->report->profile, op)));

static const struct column op_only_columns[] = {COMPUTED("device", get_device),
						COMPUTED("stream", op_get_stream),
						COMPUTED("bytes", get_bytes),
						COMPUTED("graph", get_graph),
						COMPUTED("graph_node", get_graph_node),
						{0}};

GETTER(get_process, struct profile_call, call,
       value_count(row->report->profile
			   ->processes[row->report->profile->threads[call->thread].process]
			   .pid));
GETTER(get_thread, struct profile_call, call,
       value_integer(row->report->profile->threads[call->thread].thread));

/* "name" of the range that the thread was in when it called. */
static struct value get_range(struct row *row, const void *from)
{
	const struct profile_call *call = from;
	const struct profile_range *range =
		host_range_at(row->report->profile, call->thread, call->start_ns);

	return value_text(range ? range->name : NULL);
}

static const struct column of_call_columns[] = {COMPUTED("process", get_process),
						COMPUTED("thread", get_thread),
						COMPUTED("range", get_range),
						FIELD(struct profile_call, correlation),
						{0}};
GETTER(get_result, struct profile_call, call, value_count(call->result));

static const struct column call_only_columns[] = {COMPUTED("result", get_result), {0}};

static const struct column columns[] = {COMPUTED("kind", get_kind),
					COMPUTED("name", get_name),
					MOMENT(struct event, start),
					COMPUTED("end_ns", get_end_ns),
					COMPUTED("end_relative_ns", get_end_relative_ns),
					COMPUTED("duration_ns", get_duration_ns),
					INLINE_FOUND(op_at, op_only_columns),
					INLINE_FOUND(call_of, of_call_columns),
					INLINE_FOUND(call_at, call_only_columns),
					{0}};

ARRAY(event_at, events, events, event_count);

/* ---- text ---- */

/* "GPU 1 stream 7", "thread 483 (main)" */
static void describe_place(const struct page *page, const struct event *event, char *buffer,
			   size_t size)
{
	const struct profile *profile = page->report->profile;
	const struct profile_thread *thread;
	const struct profile_op *op;

	if (event->is_call) {
		thread = &profile->threads[profile->calls[event->index].thread];
		snprintf(buffer, size, "thread %" PRIu32, thread->thread);
		return;
	}
	op = &profile->ops[event->index];
	if (profile->device_count > 1)
		snprintf(buffer, size, "GPU %u stream %" PRIu32, profile_op_device(profile, op),
			 profile->streams[op->stream].stream);
	else
		snprintf(buffer, size, "stream %" PRIu32, profile->streams[op->stream].stream);
}

/* A call by its name, and where it failed by its error. */
static void put_call(struct page *page, const struct profile_call *call)
{
	page_put(page, page->report->profile->call_names[call->name].text);
	if (call->result)
		fprintf(page->out, ", error %" PRIu32, call->result);
}

#define PLACE_WIDTH 18
#define NAME_AT (2 + 14 + 1 + 9 + 2 + PLACE_WIDTH + 1)
#define NAME_SIZE 16384 /* of templates, with --wide */

static void put_event(struct page *page, const struct event *event)
{
	const struct profile *profile = page->report->profile;
	char place[64], name[NAME_SIZE];
	struct row row = {.report = page->report};

	describe_place(page, event, place, sizeof(place));
	fprintf(page->out, "  %14s %9s  ",
		format_moment(event->start_ns - page->report->profile->window.first_ns).text,
		format_ns((double)(end_of(&row, event) - event->start_ns)).text);
	page_text(page, place, PLACE_WIDTH);
	fputc(' ', page->out);
	if (event->is_call) {
		put_call(page, &profile->calls[event->index]);
	} else {
		page_describe_op(page, &profile->ops[event->index], name, sizeof(name),
				 page_width(page) - NAME_AT);
		page_put(page, name);
	}
	fputc('\n', page->out);
}

/* How to read on, where not all are shown in the order in which they began. */
static void print_rest(struct page *page, size_t shown)
{
	const struct events *events = page->report->events;
	int64_t from_ns;
	char next[64] = "", text[160];

	if (shown == events->event_count ||
	    (page->options->order && page->options->order->section == &section_events))
		return;
	from_ns = events->events[shown].start_ns - page->report->profile->window.first_ns;
	if (from_ns >= 0) /* --from takes no time before the first operation */
		snprintf(next, sizeof(next), " goes on with --from %s,",
			 format_moment(from_ns).text);
	snprintf(text, sizeof(text), "%s more: the list%s is whole with --top %zu",
		 format_count(events->event_count - shown).text, next, events->event_count);
	page_wrap(page, "  ", text, 2);
}

static void print_events(struct page *page)
{
	const struct events *events = page->report->events;
	size_t rows = page_rows(page, events->event_count, EVENTS_TOP);
	const struct row root = {.report = page->report, .options = page->options};
	char note[96];

	if (!rows)
		return;
	snprintf(note, sizeof(note), "%s operation%s, %s calls",
		 format_count(events->op_count).text, events->op_count == 1 ? "" : "s",
		 format_count(events->event_count - events->op_count).text);
	page_list_title(page, section_events.title, note, rows, events->event_count);
	page_heads(page, "            from      time  where              what");
	for (size_t i = 0; i < rows; i++)
		put_event(page, section_row(&section_events, &root, i));
	print_rest(page, rows);
}

const struct section section_events = {
	.key = "events",
	.title = "Events",
	.needs = {TABLES_OPERATIONS | TABLE(api) | TABLE(markers) | TABLE(threads), NEED_events},
	.columns = columns,
	.at = event_at,
	.is_on_request = true,
	.takes_order = true,
	.print = print_events,
	.empty = "nothing ran on a GPU in that time, and no call of CUDA was recorded"};
