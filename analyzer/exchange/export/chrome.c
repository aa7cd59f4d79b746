/* chrome.c - the JSON of Chrome's trace viewer: an object with the list traceEvents. */
#define _GNU_SOURCE /* asprintf */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "exchange/export/events.h"
#include "exchange/export/exports.h"
#include "exchange/export/text_file.h"
#include "trace/samples.h"

/* The format has two levels: a number of a "process", which is a group here, and one of a "thread", which is a track.
 * They are numbered anew, because a GPU has no process id and a thread has several tracks. */
struct chrome {
	FILE *file;
	int64_t first_ns;
	uint32_t *groups; /* by track: the group's number */
	char **counters;  /* by track: names of counter tracks, with their units */
	size_t group_capacity, counter_capacity, track_count;
	bool has_event;
};

static void begin_event(struct chrome *chrome, const char *phase, uint32_t track)
{
	fprintf(chrome->file, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		chrome->has_event ? "," : "", phase, chrome->groups[track], track);
	chrome->has_event = true;
}

static void put_time(struct chrome *chrome, const char *key, int64_t ns)
{
	fprintf(chrome->file, ",\"%s\":", key);
	text_put_us(chrome->file, ns);
}

/* ---- tracks ---- */

static int remember(struct chrome *chrome, const struct event_track *track)
{
	uint32_t *groups = array_reserve(chrome->groups, &chrome->group_capacity, track->id + 1,
					 sizeof(*groups));
	char **counters = array_reserve(chrome->counters, &chrome->counter_capacity, track->id + 1,
					sizeof(*counters));

	chrome->groups = groups ? groups : chrome->groups;
	chrome->counters = counters ? counters : chrome->counters;
	if (!groups || !counters)
		return -ENOMEM;
	groups[track->id] = track->parent ? track->parent : track->id;
	counters[track->id] = NULL;
	chrome->track_count = track->id;
	if (track->kind == TRACK_COUNTER &&
	    asprintf(&counters[track->id], "%s (%s)", track->name, track->unit) < 0) {
		counters[track->id] = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void name_track(struct chrome *chrome, const struct event_track *track, const char *what)
{
	begin_event(chrome, "M", track->id);
	fprintf(chrome->file, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
	text_put_json(chrome->file, track->name);
	fprintf(chrome->file, "}}");
	begin_event(chrome, "M", track->id);
	fprintf(chrome->file, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
		what, track->order);
}

static int put_track(void *context, const struct event_track *track)
{
	struct chrome *chrome = context;
	int rc = remember(chrome, track);

	if (rc == 0 && track->kind != TRACK_COUNTER)
		name_track(chrome, track, track->parent ? "thread" : "process");
	return rc;
}

/* ---- slices, arrows, counters ---- */

static void put_field(FILE *file, const struct event_field *field)
{
	text_put_json(file, field->name);
	putc(':', file);
	switch (field->kind) {
	case FIELD_NUMBER:
		/* Readers keep numbers as doubles: one beyond them is text. */
		fprintf(file, field->number >> 53 ? "\"%" PRIu64 "\"" : "%" PRIu64, field->number);
		break;
	case FIELD_FRACTION:
		text_put_number(file, field->fraction);
		break;
	case FIELD_TEXT:
		text_put_json(file, field->text);
		break;
	}
}

static void put_fields(FILE *file, const struct event_slice *slice)
{
	fputs(",\"args\":{", file);
	for (size_t i = 0; i < slice->field_count; i++) {
		if (i)
			putc(',', file);
		put_field(file, &slice->fields[i]);
	}
	fputs("}}", file);
}

/* s: leaves the slice; f with bp e: arrives at the slice around it. */
static void put_arrow(struct chrome *chrome, const struct event_slice *slice, const char *phase,
		      uint64_t flow)
{
	begin_event(chrome, phase, slice->track);
	put_time(chrome, "ts", slice->start_ns - chrome->first_ns);
	fprintf(chrome->file, ",\"id\":%" PRIu64 ",\"cat\":\"launch\",\"name\":\"launch\"%s}", flow,
		*phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static int put_slice(void *context, const struct event_slice *slice)
{
	struct chrome *chrome = context;

	begin_event(chrome, "X", slice->track);
	put_time(chrome, "ts", slice->start_ns - chrome->first_ns);
	put_time(chrome, "dur", slice->end_ns - slice->start_ns);
	fprintf(chrome->file, ",\"cat\":\"%s\",\"name\":", slice->category);
	text_put_json(chrome->file, slice->name);
	put_fields(chrome->file, slice);
	if (slice->flow_from)
		put_arrow(chrome, slice, "s", slice->flow_from);
	if (slice->flow_to)
		put_arrow(chrome, slice, "f", slice->flow_to);
	return ferror(chrome->file) ? -EIO : 0;
}

static int put_count(void *context, uint32_t track, int64_t time_ns, double value)
{
	struct chrome *chrome = context;

	begin_event(chrome, "C", track);
	put_time(chrome, "ts", time_ns - chrome->first_ns);
	fputs(",\"name\":", chrome->file);
	text_put_json(chrome->file, chrome->counters[track]);
	fputs(",\"args\":{\"value\":", chrome->file);
	text_put_number(chrome->file, value);
	fputs("}}", chrome->file);
	return ferror(chrome->file) ? -EIO : 0;
}

/* ---- the file ---- */

static void put_head(struct chrome *chrome, const struct report *report)
{
	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"recording\":", chrome->file);
	text_put_json(chrome->file, report->profile->path);
	fprintf(chrome->file, ",\"first_ns\":\"%" PRId64 "\"},\n\"traceEvents\":[",
		chrome->first_ns);
}

int export_chrome(const struct report *report, const struct export_target *target, struct err *err)
{
	struct chrome chrome = {.first_ns = events_first_ns(report)};
	const struct event_sink sink = {put_track, put_slice, put_count, &chrome};
	int rc = text_file_open(&chrome.file, target, err);

	if (rc < 0)
		return rc;
	put_head(&chrome, report);
	rc = events_walk(report, &sink);
	fputs("\n]}\n", chrome.file);
	if (rc == -ENOMEM || rc == -ENODATA)
		err_set(err, rc, "%s: %s", target->name, samples_why(rc));
	rc = text_file_close(chrome.file, target, rc == -EIO ? 0 : rc, err);
	for (size_t i = 1; i <= chrome.track_count; i++)
		free(chrome.counters[i]);
	free(chrome.groups);
	free(chrome.counters);
	return rc;
}
