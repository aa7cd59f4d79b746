#define _GNU_SOURCE /* vasprintf */

#include "exchange/export/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "exchange/export/events_walk.h"
#include "trace/samples.h"

/* ---- what all parts use ---- */

int events_add_track(struct events_walk *walk, struct event_track *track, const char *format, ...)
{
	char *name = NULL;
	va_list arguments;
	int rc;

	va_start(arguments, format);
	rc = vasprintf(&name, format, arguments);
	va_end(arguments);
	if (rc < 0)
		return -ENOMEM;
	track->id = ++walk->track_count;
	track->name = name;
	rc = walk->sink->track ? walk->sink->track(walk->sink->context, track) : 0;
	free(name);
	track->name = NULL;
	return rc;
}

static struct event_field *next_field(struct events_walk *walk)
{
	if (walk->field_count == EVENT_FIELD_LIMIT)
		walk->field_count--;
	return &walk->fields[walk->field_count++];
}

void events_add_number(struct events_walk *walk, const char *name, uint64_t number)
{
	*next_field(walk) =
		(struct event_field){.name = name, .kind = FIELD_NUMBER, .number = number};
}

void events_add_fraction(struct events_walk *walk, const char *name, double fraction)
{
	*next_field(walk) =
		(struct event_field){.name = name, .kind = FIELD_FRACTION, .fraction = fraction};
}

void events_add_text(struct events_walk *walk, const char *name, const char *text)
{
	*next_field(walk) = (struct event_field){.name = name, .kind = FIELD_TEXT, .text = text};
}

int events_give(struct events_walk *walk, struct event_slice *slice)
{
	int rc = 0;

	slice->fields = walk->fields;
	slice->field_count = walk->field_count;
	if (walk->sink->slice)
		rc = walk->sink->slice(walk->sink->context, slice);
	walk->field_count = 0;
	return rc;
}

/* ---- calls ---- */

static int give_call(struct events_walk *walk, size_t index, uint32_t track)
{
	const struct profile_call *call = &walk->profile->calls[index];
	struct event_slice slice = {
		.track = track,
		.start_ns = call->start_ns,
		.end_ns = call->end_ns,
		.category = "call",
		.name = walk->profile->call_names[call->name].text,
		.flow_from = walk->launches[index] ? walk->first_flow + index : 0,
	};

	events_add_number(walk, "correlation", call->correlation);
	if (call->result)
		events_add_number(walk, "result", call->result);
	return events_give(walk, &slice);
}

/* Calls of threads that take turns are one thread's, and may touch. */
static int walk_calls(struct events_walk *walk, const struct profile_thread *thread,
		      struct event_track *track)
{
	struct lanes lanes = {.count = 0};
	uint32_t tracks[LANE_LIMIT] = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < thread->call_count; i++) {
		size_t index = thread->first_call + i;
		int64_t end_ns = walk->profile->calls[index].end_ns;
		int lane = lanes_place(&lanes, walk->profile->calls[index].start_ns, &end_ns, true);

		if (lane < 0)
			rc = lane;
		if (rc == 0 && !tracks[lane]) {
			rc = events_add_track(walk, track, "CUDA calls of thread %" PRIu32 "%s%s%s",
					      thread->thread, thread->name ? " " : "",
					      thread->name ? thread->name : "",
					      lane ? " (overlapping)" : "");
			tracks[lane] = track->id;
		}
		if (rc == 0)
			rc = give_call(walk, index, tracks[lane]);
	}
	lanes_clear(&lanes);
	return rc;
}

/* ---- ranges ---- */

static int give_range(struct events_walk *walk, const struct profile_range *range, uint32_t track,
		      int64_t end_ns)
{
	struct event_slice slice = {
		.track = track,
		.start_ns = range->start_ns,
		.end_ns = end_ns,
		.category = "range",
		.name = range->recorded_name ? range->recorded_name : range->name,
	};

	if (*range->domain)
		events_add_text(walk, "domain", range->domain);
	if (range->is_open)
		events_add_text(walk, "end", "it did not end");
	return events_give(walk, &slice);
}

static int walk_ranges(struct events_walk *walk, const struct profile_thread *thread,
		       struct event_track *track)
{
	struct lanes lanes = {.count = 0};
	uint32_t tracks[LANE_LIMIT] = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < thread->range_count; i++) {
		const struct profile_range *range = &walk->profile->ranges[thread->first_range + i];
		int64_t end_ns = range->end_ns;
		int lane = lanes_place(&lanes, range->start_ns, &end_ns, true);

		if (lane < 0)
			rc = lane;
		if (rc == 0 && !tracks[lane]) {
			rc = events_add_track(walk, track, "NVTX ranges of thread %" PRIu32 "%s",
					      thread->thread, lane ? " (overlapping)" : "");
			tracks[lane] = track->id;
		}
		if (rc == 0)
			rc = give_range(walk, range, tracks[lane], end_ns);
	}
	lanes_clear(&lanes);
	return rc;
}

/* ---- processes ---- */

static int walk_thread(struct events_walk *walk, const struct profile_thread *thread,
		       uint32_t parent, uint64_t pid)
{
	struct event_track ranges = {.parent = parent,
				     .kind = TRACK_RANGES,
				     .pid = pid,
				     .thread = thread->thread,
				     .order = 0};
	struct event_track calls = ranges;
	int rc = walk_ranges(walk, thread, &ranges);

	calls.kind = TRACK_CALLS;
	calls.order = 1;
	return rc < 0 ? rc : walk_calls(walk, thread, &calls);
}

static int walk_process(struct events_walk *walk, uint32_t index)
{
	const struct profile *profile = walk->profile;
	const struct profile_process *process = &profile->processes[index];
	struct event_track group = {.kind = TRACK_PROCESS, .pid = process->pid, .order = index};
	char rank[32] = "";
	int rc;

	if (process->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %" PRId64 " ", process->rank);
	rc = events_add_track(walk, &group, "%s%s%s", walk->prefix, rank,
			      *process->command ? process->command : process->folder);
	for (size_t i = 0; rc == 0 && i < profile->thread_count; i++)
		if (profile->threads[i].process == index)
			rc = walk_thread(walk, &profile->threads[i], group.id, process->pid);
	return rc;
}

/* ---- one run, and all ---- */

/* Which calls launched something: arrows leave these alone. */
static int mark_launches(struct events_walk *walk)
{
	const struct profile *profile = walk->profile;

	walk->launches = calloc(profile->call_count + 1, sizeof(*walk->launches));
	if (!walk->launches)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call != PROFILE_NONE)
			walk->launches[profile->ops[i].call] = 1;
	return 0;
}

static int walk_run(struct events_walk *walk, const struct report *report)
{
	int rc;

	walk->report = report;
	walk->profile = report->profile;
	rc = mark_launches(walk);
	for (uint32_t i = 0; rc == 0 && i < walk->profile->process_count; i++)
		rc = walk_process(walk, i);
	for (uint32_t i = 0; rc == 0 && i < walk->profile->device_count; i++)
		rc = events_walk_device(walk, i);
	walk->first_flow += walk->profile->call_count;
	free(walk->launches);
	walk->launches = NULL;
	return rc;
}

int events_walk(const struct report *report, const struct event_sink *sink)
{
	struct events_walk walk = {.sink = sink, .prefix = "", .first_flow = 1};
	int rc = walk_run(&walk, report);

	walk.prefix = "run with samples: ";
	return rc == 0 && report->sampled ? walk_run(&walk, report->sampled) : rc;
}

/* Of the first device with samples.  One that cannot be read is told by events_walk(), which reads it as well. */
static int64_t first_sample_ns(const struct profile *profile)
{
	struct sample_cursor cursor = sample_cursor_open(profile);
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < profile->device_count && first_ns == INT64_MAX; i++)
		if (profile->devices[i].sample_count)
			first_ns = sample_at(&cursor, profile->devices[i].first_sample)->start_ns;
	return sample_cursor_close(&cursor) < 0 ? INT64_MAX : first_ns;
}

int64_t events_first_ns(const struct report *report)
{
	const struct profile *profile = report->profile;
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].first_ns && profile->processes[i].first_ns < first_ns)
			first_ns = profile->processes[i].first_ns;
	first_ns = min_ns(first_ns, first_sample_ns(profile));
	if (profile->power_count && profile->powers[0].time_ns < first_ns)
		first_ns = profile->powers[0].time_ns;
	return first_ns == INT64_MAX ? 0 : first_ns;
}
