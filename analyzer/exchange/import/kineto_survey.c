#include "exchange/import/kineto_survey.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

/* More are no honest trace. */
#define PARTS_MOST 4096
#define UNKNOWN_MOST 256

/* ---- times ---- */

/* Sums of a few of them stay within 64 bits; the reader of a row refuses larger ones. */
#define FARTHEST_NS (INT64_MAX / 4)

static int64_t bound_ns(int64_t ns)
{
	return ns > FARTHEST_NS ? FARTHEST_NS : ns < -FARTHEST_NS ? -FARTHEST_NS : ns;
}

static int64_t odd_ns(const char *text)
{
	double us = strtod(text, NULL);

	if (isnan(us))
		return 0;
	return fabs(us) > (double)FARTHEST_NS / 1000 ? (us < 0 ? -FARTHEST_NS : FARTHEST_NS)
						     : (int64_t)(us * 1000);
}

/* Up to nine digits behind the point: a double has a resolution of a quarter microsecond for times since 1970.  Text of
 * another form by strtod. */
int64_t kineto_ns(const char *text)
{
	bool is_negative = *text == '-';
	const char *next = text + is_negative;
	int64_t ns = 0, unit = 100;

	for (; *next >= '0' && *next <= '9' && ns < INT64_MAX / 10000; next++)
		ns = ns * 10 + (*next - '0');
	ns *= 1000;
	if (*next == '.')
		for (next++; *next >= '0' && *next <= '9'; next++, unit /= 10)
			ns += (*next - '0') * unit;
	if (*next)
		return odd_ns(text);
	return bound_ns(is_negative ? -ns : ns);
}

/* ---- categories ---- */

/* PyTorch 1.8 to 1.11 writes them with a capital.  Arrows, and events that repeat others, are on neither side. */
enum kineto_side kineto_side(const char *category)
{
	static const struct {
		const char *name;
		enum kineto_side side;
	} sides[] = {
		{"cuda_runtime", KINETO_CALL}, {"cuda_driver", KINETO_CALL},
		{"Runtime", KINETO_CALL},      {"cpu_op", KINETO_HOST},
		{"Operator", KINETO_HOST},     {"user_annotation", KINETO_HOST},
		{"scope", KINETO_HOST},	       {"python_function", KINETO_HOST},
		{"kernel", KINETO_GPU},	       {"Kernel", KINETO_GPU},
		{"gpu_memcpy", KINETO_GPU},    {"Memcpy", KINETO_GPU},
		{"gpu_memset", KINETO_GPU},    {"Memset", KINETO_GPU},
		{"cuda_sync", KINETO_GPU},     {"overhead", KINETO_NEITHER},
		{"Trace", KINETO_NEITHER},     {"gpu_user_annotation", KINETO_NEITHER},
		{"ac2g", KINETO_NEITHER},      {"fwdbwd", KINETO_NEITHER},
		{"metric", KINETO_NEITHER},
	};

	for (size_t i = 0; category && i < sizeof(sides) / sizeof(sides[0]); i++)
		if (!strcmp(sides[i].name, category))
			return sides[i].side;
	return KINETO_UNKNOWN;
}

/* ---- process ids ---- */

/* "[TP00] 3000" is 3000 of "[TP00]". */
static void split_pid(const char *text, char *prefix, size_t size, uint64_t *number)
{
	size_t length = strlen(text), end = length;

	while (end > 0 && isdigit((unsigned char)text[end - 1]))
		end--;
	*number = end < length ? strtoull(text + end, NULL, 10) : 0;
	while (end > 0 && strchr(" -_:/.", text[end - 1]))
		end--;
	snprintf(prefix, size, "%.*s", (int)(end < size ? end : size - 1), text);
}

/* Return true if GPU rows with this text belong to a process with that one: "rank0 GPU" to "rank0". */
static bool is_prefix_of(const char *part, const char *lane)
{
	size_t length = strlen(part);

	return !strcmp(part, lane) ||
	       (length && !strncmp(part, lane, length) && !isalnum((unsigned char)lane[length]));
}

static const char *pid_text(const struct json_record *event)
{
	const char *text = json_record_text(event, "pid", 0);

	return text ? text : "";
}

static size_t find_part(const struct kineto_survey *survey, const char *pid)
{
	for (size_t i = 0; i < survey->part_count; i++)
		if (!strcmp(survey->parts[i].pid, pid))
			return i;
	return KINETO_NO_PART;
}

static int add_part(struct kineto_survey *survey, const char *pid, bool has_calls)
{
	struct kineto_part *part;

	if (find_part(survey, pid) != KINETO_NO_PART)
		return 0;
	if (survey->part_count == PARTS_MOST)
		return -E2BIG;
	part = ARRAY_NEXT(survey->parts, survey->part_capacity, survey->part_count);
	if (!part)
		return -ENOMEM;
	*part = (struct kineto_part){.has_calls = has_calls, .first_event = survey->event_count};
	snprintf(part->pid, sizeof(part->pid), "%s", pid);
	split_pid(part->pid, part->prefix, sizeof(part->prefix), &part->number);
	survey->part_count++;
	return 0;
}

static struct kineto_lane *find_lane(const struct kineto_survey *survey, const char *pid)
{
	for (size_t i = 0; i < survey->lane_count; i++)
		if (!strcmp(survey->lanes[i].pid, pid))
			return &survey->lanes[i];
	return NULL;
}

static int add_lane(struct kineto_survey *survey, const char *pid)
{
	struct kineto_lane *lane = find_lane(survey, pid);
	uint64_t number;

	if (lane) {
		lane->last_event = survey->event_count;
		return 0;
	}
	if (survey->lane_count == PARTS_MOST)
		return -E2BIG;
	lane = ARRAY_NEXT(survey->lanes, survey->lane_capacity, survey->lane_count);
	if (!lane)
		return -ENOMEM;
	*lane = (struct kineto_lane){.part = KINETO_NO_PART,
				     .first_event = survey->event_count,
				     .last_event = survey->event_count};
	snprintf(lane->pid, sizeof(lane->pid), "%s", pid);
	split_pid(lane->pid, lane->prefix, sizeof(lane->prefix), &number);
	survey->lane_count++;
	return 0;
}

/* ---- the first reading ---- */

static int add_unknown(struct kineto_survey *survey, const char *category)
{
	struct kineto_unknown *unknown;

	for (size_t i = 0; i < survey->unknown_count; i++)
		if (!strncmp(survey->unknown[i].name, category, sizeof(unknown->name) - 1)) {
			survey->unknown[i].count++;
			return 0;
		}
	if (survey->unknown_count == UNKNOWN_MOST)
		return 0;
	unknown = ARRAY_NEXT(survey->unknown, survey->unknown_capacity, survey->unknown_count);
	if (!unknown)
		return -ENOMEM;
	snprintf(unknown->name, sizeof(unknown->name), "%s", category);
	unknown->count = 1;
	survey->unknown_count++;
	return 0;
}

/* "GPU Stream 7", and "Graph: Stream 7" of scopes of graphs. */
static int note_stream(struct kineto_survey *survey, const struct json_record *event)
{
	const char *given = json_record_text(event, "args.name", 0);
	bool is_graph = given && !strncmp(given, "Graph: Stream ", 14);
	struct kineto_stream *stream;

	if (!is_graph && (!given || strncmp(given, "GPU Stream ", 11) != 0))
		return 0;
	stream = ARRAY_NEXT(survey->streams, survey->stream_capacity, survey->stream_count);
	if (!stream)
		return -ENOMEM;
	*stream = (struct kineto_stream){json_record_number(event, "tid", 0),
					 (uint32_t)strtoul(strrchr(given, ' ') + 1, NULL, 10),
					 is_graph};
	survey->stream_count++;
	return 0;
}

static int look_at_event(struct kineto_survey *survey, const struct json_record *event)
{
	const char *phase = json_record_text(event, "ph", 0);
	const char *category = json_record_text(event, "cat", 0);
	const char *ts = json_record_text(event, "ts", 0);
	enum kineto_side side = kineto_side(category);
	int64_t ns;

	survey->is_trace = true;
	survey->event_count++;
	if (!phase)
		return 0;
	if (!strcmp(phase, "M"))
		return note_stream(survey, event);
	if (strcmp(phase, "X") != 0)
		return 0;
	ns = ts ? kineto_ns(ts) : INT64_MAX;
	if (side <= KINETO_GPU && ns < survey->first_ns)
		survey->first_ns = ns;
	if (side == KINETO_UNKNOWN)
		return category ? add_unknown(survey, category) : 0;
	if (side == KINETO_GPU && json_record_text(event, "args.call_stack", 0) &&
	    !json_record_text(event, "args.correlation", 0))
		survey->is_proton = true;
	if (side == KINETO_CALL)
		return add_part(survey, pid_text(event), true);
	return side == KINETO_GPU ? add_lane(survey, pid_text(event)) : 0;
}

static bool is_event(const char *section, const struct json_record *record)
{
	return !strcmp(section, "traceEvents") || json_record_text(record, "ph", 0);
}

static int look(const char *section, const struct json_record *record, void *context)
{
	struct kineto_survey *survey = context;
	const char *base;

	if (is_event(section, record))
		return look_at_event(survey, record);
	base = *section ? NULL : json_record_text(record, "baseTimeNanoseconds", 0);
	if (base) {
		survey->base_ns = bound_ns(strtoll(base, NULL, 10));
		survey->has_base = survey->base_ns != 0;
	}
	return 0;
}

/* ---- whose rows of GPUs are ---- */

static size_t count_candidates(const struct kineto_survey *survey, const struct kineto_lane *lane,
			       size_t *last)
{
	size_t count = 0, plain_count = 0, plain = 0;

	for (size_t i = 0; i < survey->part_count; i++) {
		const char *prefix = survey->parts[i].prefix;

		if (!*lane->prefix || is_prefix_of(prefix, lane->prefix)) {
			*last = i;
			count++;
		} else if (!*prefix) {
			plain = i;
			plain_count++;
		}
	}
	if (count)
		return count;
	*last = plain;
	return plain_count;
}

/* A rank whose trace has no calls is only known by the text in front of the GPU's number. */
static int settle_lanes(struct kineto_survey *survey, bool *is_open)
{
	int rc = 0;

	*is_open = false;
	for (size_t i = 0; rc == 0 && i < survey->lane_count; i++) {
		struct kineto_lane *lane = &survey->lanes[i];
		size_t part = 0, count = count_candidates(survey, lane, &part);

		if (!count) {
			rc = add_part(survey, lane->prefix, false);
			part = survey->part_count - 1;
			if (rc == 0) {
				snprintf(survey->parts[part].prefix,
					 sizeof(survey->parts[part].prefix), "%s", lane->prefix);
				survey->parts[part].number = 0;
			}
		}
		if (count <= 1)
			lane->part = part;
		*is_open |= count > 1;
	}
	return rc;
}

/* ---- the second reading: which process made the launch ---- */

static int note_call(struct kineto_survey *survey, const struct json_record *event)
{
	struct kineto_call *call =
		ARRAY_NEXT(survey->calls, survey->call_capacity, survey->call_count);
	const char *ts = json_record_text(event, "ts", 0);

	if (!call)
		return -ENOMEM;
	*call = (struct kineto_call){json_record_u32(event, "args.correlation", 0),
				     (uint32_t)find_part(survey, pid_text(event)),
				     ts ? kineto_ns(ts) : 0};
	survey->call_count++;
	return 0;
}

static int compare_calls(const void *left, const void *right)
{
	const struct kineto_call *a = left, *b = right;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

struct call_search {
	const struct kineto_call *calls;
	uint32_t correlation;
};

static bool is_reached(size_t index, const void *context)
{
	const struct call_search *search = context;

	return search->calls[index].correlation >= search->correlation;
}

/* The part whose call it is, of several the one whose call came last before it.  is_only: whether there is no other.
 * fits: where not NULL, each of them is counted there. */
static size_t part_by_call(const struct kineto_survey *survey, const struct kineto_lane *lane,
			   const struct json_record *event, bool *is_only, uint64_t *fits)
{
	uint32_t correlation = json_record_u32(event, "args.correlation", 0);
	const struct call_search search = {survey->calls, correlation};
	const char *ts = json_record_text(event, "ts", 0);
	int64_t start_ns = ts ? kineto_ns(ts) : 0;
	size_t first = search_first(0, survey->call_count, is_reached, &search);
	size_t found = KINETO_NO_PART;

	*is_only = true;
	if (!correlation)
		return lane->part;
	for (size_t i = first;
	     i < survey->call_count && survey->calls[i].correlation == correlation; i++) {
		const struct kineto_call *call = &survey->calls[i];

		if (*lane->prefix && *survey->parts[call->part].prefix &&
		    !is_prefix_of(survey->parts[call->part].prefix, lane->prefix))
			continue;
		if (found != KINETO_NO_PART && found != call->part)
			*is_only = false;
		if (found == KINETO_NO_PART || call->start_ns <= start_ns)
			found = call->part;
		if (fits && call->start_ns <= start_ns)
			fits[call->part]++;
	}
	return found;
}

static int note(const char *section, const struct json_record *record, void *context)
{
	const char *phase = json_record_text(record, "ph", 0);

	if (!is_event(section, record) || !phase || strcmp(phase, "X") != 0)
		return 0;
	return kineto_side(json_record_text(record, "cat", 0)) == KINETO_CALL
		       ? note_call(context, record)
		       : 0;
}

static int vote(const char *section, const struct json_record *record, void *context)
{
	struct kineto_survey *survey = context;
	const char *phase = json_record_text(record, "ph", 0);
	struct kineto_lane *lane;
	bool is_only;
	size_t part;

	if (!is_event(section, record) || !phase || strcmp(phase, "X") != 0 ||
	    kineto_side(json_record_text(record, "cat", 0)) != KINETO_GPU)
		return 0;
	lane = find_lane(survey, pid_text(record));
	if (!lane || lane->part != KINETO_NO_PART)
		return 0;
	part = part_by_call(survey, lane, record, &is_only, lane->fits);
	if (part != KINETO_NO_PART && is_only)
		lane->votes[part]++;
	lane->event_count++;
	return 0;
}

static bool may_be_of(const struct kineto_lane *lane, size_t part)
{
	return lane->event_count && lane->fits[part] >= lane->event_count - lane->event_count / 10;
}

/* Traces that were merged as they are follow each other: calls and kernels of one stand before the first call of the
 * next.  KINETO_NO_PART: these do not. */
static size_t part_by_place(const struct kineto_survey *survey, const struct kineto_lane *lane)
{
	size_t found = KINETO_NO_PART;

	for (size_t i = 0; i < survey->part_count; i++) {
		uint64_t first = survey->parts[i].first_event;

		if (!survey->parts[i].has_calls || first > lane->last_event)
			continue;
		if (first > lane->first_event)
			return KINETO_NO_PART;
		if (found == KINETO_NO_PART || first > survey->parts[found].first_event)
			found = i;
	}
	return found != KINETO_NO_PART && may_be_of(lane, found) ? found : KINETO_NO_PART;
}

static size_t only_fit(const struct kineto_survey *survey, const struct kineto_lane *lane)
{
	size_t found = KINETO_NO_PART;

	for (size_t i = 0; i < survey->part_count; i++)
		if (may_be_of(lane, i)) {
			if (found != KINETO_NO_PART)
				return KINETO_NO_PART;
			found = i;
		}
	return found;
}

/* A row of one process as a rule; where launches of several lead to it each event is looked at again. */
static void settle_lane(const struct kineto_survey *survey, struct kineto_lane *lane)
{
	size_t voters = 0, voter = 0;

	for (size_t part = 0; part < survey->part_count; part++)
		if (lane->votes[part]) {
			voters++;
			voter = part;
		}
	if (voters == 1)
		lane->part = voter;
	if (!voters)
		lane->part = part_by_place(survey, lane);
	if (!voters && lane->part == KINETO_NO_PART)
		lane->part = only_fit(survey, lane);
}

static int ask_launches(struct kineto_survey *survey, const char *path, struct err *err)
{
	int rc = json_records_read(path, note, survey, err);

	if (rc == 0 && survey->call_count)
		qsort(survey->calls, survey->call_count, sizeof(*survey->calls), compare_calls);
	for (size_t i = 0; rc == 0 && i < survey->lane_count; i++) {
		struct kineto_lane *lane = &survey->lanes[i];

		lane->votes = calloc(survey->part_count + 1, sizeof(*lane->votes));
		lane->fits = calloc(survey->part_count + 1, sizeof(*lane->fits));
		if (!lane->votes || !lane->fits)
			return err_set(err, -ENOMEM, "%s: out of memory", path);
	}
	if (rc == 0)
		rc = json_records_read(path, vote, survey, err);
	for (size_t i = 0; rc == 0 && i < survey->lane_count; i++)
		if (survey->lanes[i].part == KINETO_NO_PART)
			settle_lane(survey, &survey->lanes[i]);
	return rc;
}

static int refuse_mixture(const struct kineto_survey *survey, const char *path, struct err *err)
{
	for (size_t i = 0; i < survey->lane_count; i++) {
		const struct kineto_lane *lane = &survey->lanes[i];
		uint64_t count = 0;

		for (size_t part = 0; lane->votes && part < survey->part_count; part++)
			count += lane->votes[part];
		if (lane->part == KINETO_NO_PART && !count)
			return err_set(
				err, -EINVAL,
				"%s: a mixture of %zu processes, and nothing in it shows whose "
				"the operations of GPU '%.40s' are; give the files of the ranks "
				"instead",
				path, survey->part_count, lane->pid);
	}
	return 0;
}

/* ---- from outside ---- */

static int settle(struct kineto_survey *survey, const char *path, struct err *err)
{
	bool is_open;
	int rc = settle_lanes(survey, &is_open);

	if (rc < 0)
		return err_set(err, rc, "%s: %s", path, strerror(-rc));
	if (is_open)
		rc = ask_launches(survey, path, err);
	if (rc == 0 && is_open)
		rc = refuse_mixture(survey, path, err);
	if (rc == 0 && !survey->part_count)
		rc = add_part(survey, "", false);
	/* times that count from the first event would be none, as 0 is none */
	if (!survey->has_base && survey->first_ns <= 0)
		survey->base_ns = 1000000000 - survey->first_ns;
	return rc;
}

int kineto_survey_read(struct kineto_survey *survey, const char *path, struct err *err)
{
	int rc;

	*survey = (struct kineto_survey){.first_ns = INT64_MAX};
	rc = json_records_read(path, look, survey, err);
	return rc < 0 ? rc : settle(survey, path, err);
}

void kineto_survey_free(struct kineto_survey *survey)
{
	for (size_t i = 0; i < survey->lane_count; i++) {
		free(survey->lanes[i].votes);
		free(survey->lanes[i].fits);
	}
	free(survey->parts);
	free(survey->lanes);
	free(survey->calls);
	free(survey->streams);
	free(survey->unknown);
}

static size_t part_of_host(const struct kineto_survey *survey, const char *pid)
{
	size_t part = find_part(survey, pid), found = KINETO_NO_PART;
	char prefix[96];
	uint64_t number;

	if (part != KINETO_NO_PART)
		return part;
	split_pid(pid, prefix, sizeof(prefix), &number);
	for (size_t i = 0; i < survey->part_count; i++)
		if (!strcmp(survey->parts[i].prefix, prefix)) {
			if (found != KINETO_NO_PART)
				return KINETO_NO_PART;
			found = i;
		}
	return found;
}

size_t kineto_survey_part(const struct kineto_survey *survey, const struct json_record *event,
			  enum kineto_side side)
{
	const struct kineto_lane *lane;
	bool is_only;
	size_t part;

	if (survey->part_count == 1)
		return 0;
	if (side != KINETO_GPU)
		return part_of_host(survey, pid_text(event));
	lane = find_lane(survey, pid_text(event));
	if (!lane || lane->part != KINETO_NO_PART)
		return lane ? lane->part : KINETO_NO_PART;
	part = part_by_call(survey, lane, event, &is_only, NULL);
	for (size_t i = 0; part == KINETO_NO_PART && i < survey->part_count; i++)
		if (lane->votes[i])
			part = i;
	return part;
}

const struct kineto_stream *kineto_survey_stream(const struct kineto_survey *survey,
						 const struct json_record *event)
{
	int64_t tid = json_record_number(event, "tid", 0);

	for (size_t i = 0; i < survey->stream_count; i++)
		if (survey->streams[i].tid == tid)
			return &survey->streams[i];
	return NULL;
}
