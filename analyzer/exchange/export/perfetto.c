/* perfetto.c - Perfetto's protobuf: packets of track descriptors and track events. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "exchange/export/events.h"
#include "exchange/export/exports.h"
#include "exchange/export/protobuf.h"
#include "exchange/export/text_file.h"
#include "trace/samples.h"

/* Field numbers, by message: protos/perfetto/trace/ of Perfetto, which keeps them for ever. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS_FACTS, TRACK_PARENT = 5 };
enum { TRACK_COUNTER_FACTS = 8, TRACK_CHILD_ORDER = 11, TRACK_RANK = 12 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT_NAME = 6 };
enum {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_COUNT = 44,
	EVENT_FLOWS = 47,
	EVENT_ENDING_FLOWS = 48,
};
enum { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_DOUBLE = 5 };
enum { ANNOTATION_TEXT_IID = 17 };
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_FIELDS = 3, INTERNED_TEXTS = 29 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };

enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER_VALUE = 4 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { SEQUENCE_BEGINS = 1, SEQUENCE_CONTINUES = 2, ORDER_EXPLICIT = 3 };

#define SEQUENCE 1	/* all packets are of one */
#define TEXT_SIZE 16384 /* what is longer is cut */

/* What is named often is told once, and then by its number. */
struct interned {
	struct strings *strings;
	uint32_t known;
	uint32_t field; /* of InternedData */
};

/* Slices of a track whose ends have not been written: by time, the outermost first. */
struct open_slices {
	int64_t *ends_ns;
	size_t capacity, count;
};

struct perfetto {
	FILE *file;
	int64_t first_ns;
	struct protobuf packet, news; /* news: InternedData of the packet */
	struct interned names, categories, fields, texts;
	struct open_slices *open; /* by track */
	size_t open_capacity, track_count;
};

/* ---- packets ---- */

static size_t begin_packet(struct perfetto *perfetto, int64_t time_ns)
{
	size_t begin = protobuf_begin(&perfetto->packet, TRACE_PACKET);

	if (time_ns >= perfetto->first_ns)
		protobuf_add_number(&perfetto->packet, PACKET_TIMESTAMP,
				    (uint64_t)(time_ns - perfetto->first_ns));
	protobuf_add_number(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
	protobuf_add_number(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CONTINUES);
	return begin;
}

static int write_packet(struct perfetto *perfetto, size_t begin)
{
	bool is_whole;

	if (perfetto->news.count) { /* any place in the packet will do */
		size_t news = protobuf_begin(&perfetto->packet, PACKET_INTERNED_DATA);

		protobuf_add_raw(&perfetto->packet, perfetto->news.bytes, perfetto->news.count);
		protobuf_end(&perfetto->packet, news);
		protobuf_clear(&perfetto->news);
	}
	protobuf_end(&perfetto->packet, begin);
	if (perfetto->packet.has_failed || perfetto->news.has_failed)
		return -ENOMEM;
	is_whole = fwrite(perfetto->packet.bytes, 1, perfetto->packet.count, perfetto->file) ==
		   perfetto->packet.count;
	protobuf_clear(&perfetto->packet);
	return is_whole ? 0 : -EIO;
}

/* The number of a text, from 1; one that is new goes into the packet's news. */
static uint64_t intern(struct perfetto *perfetto, struct interned *interned, const char *text)
{
	char clean[TEXT_SIZE];
	uint32_t number;
	size_t begin;

	text_clean(clean, sizeof(clean), text);
	number = strings_number(interned->strings, clean);
	if (number == UINT32_MAX)
		perfetto->news.has_failed = true;
	if (number != interned->known || number == UINT32_MAX)
		return (uint64_t)number + 1;
	interned->known++;
	begin = protobuf_begin(&perfetto->news, interned->field);
	protobuf_add_number(&perfetto->news, INTERNED_IID, (uint64_t)number + 1);
	protobuf_add_text(&perfetto->news, INTERNED_TEXT, clean);
	protobuf_end(&perfetto->news, begin);
	return (uint64_t)number + 1;
}

/* ---- tracks ---- */

static void add_clean_text(struct protobuf *packet, uint32_t field, const char *text)
{
	char clean[TEXT_SIZE];

	text_clean(clean, sizeof(clean), text);
	protobuf_add_text(packet, field, clean);
}

/* Processes and threads are known to Perfetto as such; it takes the names of their tracks from these facts. */
static void add_process_facts(struct protobuf *packet, const struct event_track *track)
{
	size_t facts = protobuf_begin(packet, TRACK_PROCESS_FACTS);

	protobuf_add_number(packet, PROCESS_PID, track->pid & INT32_MAX);
	add_clean_text(packet, PROCESS_NAME, track->name);
	protobuf_end(packet, facts);
}

static void add_counter_facts(struct protobuf *packet, const struct event_track *track)
{
	size_t facts = protobuf_begin(packet, TRACK_COUNTER_FACTS);

	protobuf_add_text(packet, COUNTER_UNIT_NAME, track->unit);
	protobuf_end(packet, facts);
}

static int remember_track(struct perfetto *perfetto, const struct event_track *track)
{
	struct open_slices *open = array_reserve(perfetto->open, &perfetto->open_capacity,
						 track->id + 1, sizeof(*open));

	if (!open)
		return -ENOMEM;
	perfetto->open = open;
	open[track->id] = (struct open_slices){0};
	perfetto->track_count = track->id;
	return 0;
}

static int put_track(void *context, const struct event_track *track)
{
	struct perfetto *perfetto = context;
	struct protobuf *packet = &perfetto->packet;
	size_t begin = begin_packet(perfetto, -1);
	size_t descriptor = protobuf_begin(packet, PACKET_TRACK_DESCRIPTOR);

	protobuf_add_number(packet, TRACK_UUID, track->id);
	if (track->parent)
		protobuf_add_number(packet, TRACK_PARENT, track->parent);
	else
		protobuf_add_number(packet, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
	protobuf_add_number(packet, TRACK_RANK, track->order);
	if (track->kind == TRACK_PROCESS)
		add_process_facts(packet, track);
	else
		add_clean_text(packet, TRACK_NAME, track->name);
	if (track->kind == TRACK_COUNTER)
		add_counter_facts(packet, track);
	protobuf_end(packet, descriptor);
	if (remember_track(perfetto, track) < 0)
		return -ENOMEM;
	return write_packet(perfetto, begin);
}

/* ---- slices ---- */

static int put_end(struct perfetto *perfetto, uint32_t track)
{
	struct open_slices *open = &perfetto->open[track];
	size_t packet = begin_packet(perfetto, open->ends_ns[--open->count]);
	size_t event = protobuf_begin(&perfetto->packet, PACKET_TRACK_EVENT);

	protobuf_add_number(&perfetto->packet, EVENT_TYPE, SLICE_END);
	protobuf_add_number(&perfetto->packet, EVENT_TRACK_UUID, track);
	protobuf_end(&perfetto->packet, event);
	return write_packet(perfetto, packet);
}

/* Ends what ended by then: of one moment, the end of one slice comes before the beginning of the next. */
static int put_ends(struct perfetto *perfetto, uint32_t track, int64_t now_ns)
{
	struct open_slices *open = &perfetto->open[track];
	int rc = 0;

	while (rc == 0 && open->count && open->ends_ns[open->count - 1] <= now_ns)
		rc = put_end(perfetto, track);
	return rc;
}

static void add_field(struct perfetto *perfetto, const struct event_field *field)
{
	struct protobuf *packet = &perfetto->packet;
	uint64_t name = intern(perfetto, &perfetto->fields, field->name);
	size_t begin = protobuf_begin(packet, EVENT_ANNOTATIONS);

	protobuf_add_number(packet, ANNOTATION_NAME_IID, name);
	switch (field->kind) {
	case FIELD_NUMBER:
		protobuf_add_number(packet, ANNOTATION_UINT, field->number);
		break;
	case FIELD_FRACTION:
		protobuf_add_double(packet, ANNOTATION_DOUBLE, field->fraction);
		break;
	case FIELD_TEXT:
		protobuf_add_number(packet, ANNOTATION_TEXT_IID,
				    intern(perfetto, &perfetto->texts, field->text));
		break;
	}
	protobuf_end(packet, begin);
}

static int put_beginning(struct perfetto *perfetto, const struct event_slice *slice)
{
	struct protobuf *packet = &perfetto->packet;
	size_t begin = begin_packet(perfetto, slice->start_ns);
	size_t event = protobuf_begin(packet, PACKET_TRACK_EVENT);

	protobuf_add_number(packet, EVENT_TYPE, SLICE_BEGIN);
	protobuf_add_number(packet, EVENT_TRACK_UUID, slice->track);
	protobuf_add_number(packet, EVENT_CATEGORY_IIDS,
			    intern(perfetto, &perfetto->categories, slice->category));
	protobuf_add_number(packet, EVENT_NAME_IID,
			    intern(perfetto, &perfetto->names, slice->name));
	for (size_t i = 0; i < slice->field_count; i++)
		add_field(perfetto, &slice->fields[i]);
	if (slice->flow_from)
		protobuf_add_fixed64(packet, EVENT_FLOWS, slice->flow_from);
	if (slice->flow_to)
		protobuf_add_fixed64(packet, EVENT_ENDING_FLOWS, slice->flow_to);
	protobuf_end(packet, event);
	return write_packet(perfetto, begin);
}

static int put_slice(void *context, const struct event_slice *slice)
{
	struct perfetto *perfetto = context;
	struct open_slices *open = &perfetto->open[slice->track];
	int rc = put_ends(perfetto, slice->track, slice->start_ns);
	int64_t *end_ns;

	if (rc == 0)
		rc = put_beginning(perfetto, slice);
	end_ns = ARRAY_NEXT(open->ends_ns, open->capacity, open->count);
	if (!end_ns)
		return -ENOMEM;
	*end_ns = slice->end_ns;
	open->count++;
	return rc;
}

static int put_count(void *context, uint32_t track, int64_t time_ns, double value)
{
	struct perfetto *perfetto = context;
	size_t packet = begin_packet(perfetto, time_ns);
	size_t event = protobuf_begin(&perfetto->packet, PACKET_TRACK_EVENT);

	protobuf_add_number(&perfetto->packet, EVENT_TYPE, COUNTER_VALUE);
	protobuf_add_number(&perfetto->packet, EVENT_TRACK_UUID, track);
	protobuf_add_double(&perfetto->packet, EVENT_COUNT, value);
	protobuf_end(&perfetto->packet, event);
	return write_packet(perfetto, packet);
}

/* ---- the file ---- */

static void add_clock(struct protobuf *packet, uint32_t id, int64_t time_ns)
{
	size_t clock = protobuf_begin(packet, SNAPSHOT_CLOCKS);

	protobuf_add_number(packet, CLOCK_ID, id);
	protobuf_add_number(packet, CLOCK_TIMESTAMP, (uint64_t)time_ns);
	protobuf_end(packet, clock);
}

/* Times in the file count from the first event, so that they are short; this says which moment that was. */
static int put_head(struct perfetto *perfetto)
{
	struct protobuf *packet = &perfetto->packet;
	size_t begin = protobuf_begin(packet, TRACE_PACKET), snapshot;

	protobuf_add_number(packet, PACKET_SEQUENCE, SEQUENCE);
	protobuf_add_number(packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_BEGINS);
	snapshot = protobuf_begin(packet, PACKET_CLOCK_SNAPSHOT);
	add_clock(packet, CLOCK_BOOTTIME_ID, 0);
	add_clock(packet, CLOCK_REALTIME_ID, perfetto->first_ns);
	protobuf_add_number(packet, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME_ID);
	protobuf_end(packet, snapshot);
	return write_packet(perfetto, begin);
}

static int put_all(struct perfetto *perfetto, const struct report *report)
{
	const struct event_sink sink = {put_track, put_slice, put_count, perfetto};
	int rc = put_head(perfetto);

	if (rc == 0)
		rc = events_walk(report, &sink);
	for (uint32_t i = 1; rc == 0 && i <= perfetto->track_count; i++)
		rc = put_ends(perfetto, i, INT64_MAX);
	return rc;
}

static int open_interned(struct interned *interned, uint32_t field)
{
	*interned = (struct interned){.strings = strings_create(), .field = field};
	return interned->strings ? 0 : -ENOMEM;
}

static int open_all(struct perfetto *perfetto)
{
	int rc = open_interned(&perfetto->names, INTERNED_NAMES);

	if (rc == 0)
		rc = open_interned(&perfetto->categories, INTERNED_CATEGORIES);
	if (rc == 0)
		rc = open_interned(&perfetto->fields, INTERNED_FIELDS);
	return rc < 0 ? rc : open_interned(&perfetto->texts, INTERNED_TEXTS);
}

static void close_all(struct perfetto *perfetto)
{
	for (size_t i = 1; i <= perfetto->track_count; i++)
		free(perfetto->open[i].ends_ns);
	free(perfetto->open);
	strings_free(perfetto->names.strings);
	strings_free(perfetto->categories.strings);
	strings_free(perfetto->fields.strings);
	strings_free(perfetto->texts.strings);
	protobuf_free(&perfetto->packet);
	protobuf_free(&perfetto->news);
}

int export_perfetto(const struct report *report, const struct export_target *target,
		    struct err *err)
{
	struct perfetto perfetto = {.first_ns = events_first_ns(report)};
	int rc = text_file_open(&perfetto.file, target, err);

	if (rc < 0)
		return rc;
	rc = open_all(&perfetto);
	if (rc == 0)
		rc = put_all(&perfetto, report);
	if (rc == -ENOMEM || rc == -ENODATA)
		err_set(err, rc, "%s: %s", target->name, samples_why(rc));
	rc = text_file_close(perfetto.file, target, rc == -EIO ? 0 : rc, err);
	close_all(&perfetto);
	return rc;
}
