/* speedscope.c - speedscope's JSON: one profile of opened and closed frames for each track; it has no counters, arrows or
 * fields. */
#define _GNU_SOURCE /* asprintf */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "exchange/export/events.h"
#include "exchange/export/exports.h"
#include "exchange/export/text_file.h"
#include "trace/samples.h"

/* The format wants each track in one piece, and they come side by side: until then 24 bytes a slice. */
struct kept_slice {
	int64_t start_ns, end_ns;
	uint32_t frame;
};

struct kept_track {
	char *name; /* owned */
	struct kept_slice *slices;
	size_t capacity, count;
};

struct speedscope {
	FILE *file;
	int64_t first_ns;
	struct kept_track *tracks; /* by id - 1 */
	size_t track_capacity, track_count;
	char *group; /* name of the last group, owned */
	struct strings *names;
	const char **frames; /* by number */
	size_t frame_capacity, frame_count;
};

/* ---- collecting ---- */

static int keep_track(void *context, const struct event_track *track)
{
	struct speedscope *speedscope = context;
	struct kept_track *kept =
		ARRAY_NEXT(speedscope->tracks, speedscope->track_capacity, speedscope->track_count);
	char *name = NULL;

	if (!kept)
		return -ENOMEM;
	if (asprintf(&name, "%s%s%s", track->parent ? speedscope->group : "",
		     track->parent ? ": " : "", track->name) < 0)
		return -ENOMEM;
	*kept = (struct kept_track){.name = name};
	speedscope->track_count++;
	if (!track->parent) {
		free(speedscope->group);
		speedscope->group = strdup(track->name);
	}
	return track->parent || speedscope->group ? 0 : -ENOMEM;
}

static int find_frame(struct speedscope *speedscope, const char *name, uint32_t *frame)
{
	const char **place;

	*frame = strings_number(speedscope->names, name);
	if (*frame == UINT32_MAX)
		return -ENOMEM;
	if (*frame < speedscope->frame_count)
		return 0;
	place = ARRAY_NEXT(speedscope->frames, speedscope->frame_capacity, speedscope->frame_count);
	if (!place || !(*place = strings_intern(speedscope->names, name)))
		return -ENOMEM;
	speedscope->frame_count++;
	return 0;
}

static int keep_slice(void *context, const struct event_slice *slice)
{
	struct speedscope *speedscope = context;
	struct kept_track *track = &speedscope->tracks[slice->track - 1];
	struct kept_slice *kept = ARRAY_NEXT(track->slices, track->capacity, track->count);

	if (!kept)
		return -ENOMEM;
	*kept = (struct kept_slice){.start_ns = slice->start_ns, .end_ns = slice->end_ns};
	track->count++;
	return find_frame(speedscope, slice->name, &kept->frame);
}

/* ---- writing ---- */

struct open_frame {
	int64_t end_ns;
	uint32_t frame;
};

struct stack {
	struct open_frame *items;
	size_t capacity, count;
};

static void put_event(struct speedscope *speedscope, const char *type, uint32_t frame,
		      int64_t time_ns, bool is_first)
{
	fprintf(speedscope->file, "%s\n{\"type\":\"%s\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}",
		is_first ? "" : ",", type, frame, time_ns - speedscope->first_ns);
}

static void put_ends(struct speedscope *speedscope, struct stack *open, int64_t now_ns)
{
	while (open->count && open->items[open->count - 1].end_ns <= now_ns) {
		const struct open_frame *frame = &open->items[--open->count];

		put_event(speedscope, "C", frame->frame, frame->end_ns, false);
	}
}

static int put_events(struct speedscope *speedscope, const struct kept_track *track)
{
	struct stack open = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < track->count; i++) {
		struct open_frame *place;

		put_ends(speedscope, &open, track->slices[i].start_ns);
		place = ARRAY_NEXT(open.items, open.capacity, open.count);
		if (!place) {
			rc = -ENOMEM;
			break;
		}
		*place = (struct open_frame){track->slices[i].end_ns, track->slices[i].frame};
		open.count++;
		put_event(speedscope, "O", track->slices[i].frame, track->slices[i].start_ns,
			  i == 0);
	}
	put_ends(speedscope, &open, INT64_MAX);
	free(open.items);
	return rc;
}

static int64_t end_of(const struct kept_track *track)
{
	int64_t end_ns = 0;

	for (size_t i = 0; i < track->count; i++)
		if (track->slices[i].end_ns > end_ns)
			end_ns = track->slices[i].end_ns;
	return end_ns;
}

static int put_profiles(struct speedscope *speedscope)
{
	bool is_first = true;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < speedscope->track_count; i++) {
		const struct kept_track *track = &speedscope->tracks[i];

		if (!track->count)
			continue;
		fprintf(speedscope->file,
			"%s\n{\"type\":\"evented\",\"name\":", is_first ? "" : ",");
		text_put_json(speedscope->file, track->name);
		fprintf(speedscope->file,
			",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRId64
			",\"events\":[",
			end_of(track) - speedscope->first_ns);
		rc = put_events(speedscope, track);
		fputs("]}", speedscope->file);
		is_first = false;
	}
	return rc;
}

static void put_frames(struct speedscope *speedscope)
{
	for (size_t i = 0; i < speedscope->frame_count; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", speedscope->file);
		text_put_json(speedscope->file, speedscope->frames[i]);
		putc('}', speedscope->file);
	}
}

static int put_all(struct speedscope *speedscope, const struct report *report)
{
	int rc;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
	      "\"rooflinectl\",\"name\":",
	      speedscope->file);
	text_put_json(speedscope->file, report->profile->path);
	fputs(",\"profiles\":[", speedscope->file);
	rc = put_profiles(speedscope);
	fputs("],\"shared\":{\"frames\":[", speedscope->file);
	put_frames(speedscope);
	fputs("]}}\n", speedscope->file);
	return rc;
}

static void clear(struct speedscope *speedscope)
{
	for (size_t i = 0; i < speedscope->track_count; i++) {
		free(speedscope->tracks[i].name);
		free(speedscope->tracks[i].slices);
	}
	free(speedscope->tracks);
	free(speedscope->group);
	free(speedscope->frames);
	strings_free(speedscope->names);
}

int export_speedscope(const struct report *report, const struct export_target *target,
		      struct err *err)
{
	struct speedscope speedscope = {.first_ns = events_first_ns(report),
					.names = strings_create()};
	const struct event_sink sink = {keep_track, keep_slice, NULL, &speedscope};
	int rc = text_file_open(&speedscope.file, target, err);

	if (rc == 0) {
		rc = speedscope.names ? events_walk(report, &sink) : -ENOMEM;
		if (rc == 0)
			rc = put_all(&speedscope, report);
		if (rc == -ENOMEM || rc == -ENODATA)
			err_set(err, rc, "%s: %s", target->name, samples_why(rc));
		rc = text_file_close(speedscope.file, target, rc, err);
	}
	clear(&speedscope);
	return rc;
}
