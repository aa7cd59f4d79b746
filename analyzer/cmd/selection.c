#define _GNU_SOURCE /* asprintf */

#include "cmd/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/occurrence.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "base/ns.h"
#include "cmd/usage.h"
#include "roofline/duration.h"
#include "trace/profile_select.h"
#include "trace/samples.h"

#define NAME_WIDTH 60 /* of an NVTX range in the sentence */

enum { KEY_RANGE = 512, KEY_FROM, KEY_TO, KEY_SKIP, KEY_KERNELS, KEY_STREAM, KEY_RANK };

static const struct argp_option time_options[] = {
	{"range", KEY_RANGE, "NAME", 0,
	 "the time of an NVTX range or else a kernel of that name; NAME:N is the N-th of them", 20},
	{"from", KEY_FROM, "TIME", 0,
	 "from so long after the first operation of the whole run on, as in 12ms; a number is of milliseconds",
	 20},
	{"to", KEY_TO, "TIME", 0, "until so long after that", 20},
	{0},
};

static const struct argp_option choice_options[] = {
	{NULL, 0, NULL, 0, "Of a part of the recording:", 20},
	{"skip-first", KEY_SKIP, "N|TIME", 0, "without the first N operations, or the first TIME",
	 20},
	{"kernels", KEY_KERNELS, "REGEX", 0, "only kernels whose demangled name matches", 20},
	{"stream", KEY_STREAM, "S", 0, "only operations of the streams with that number", 20},
	{"rank", KEY_RANK, "R", 0, "only processes of that rank", 20},
	{0},
};

/* ---- the command line ---- */

int64_t selection_parse_time(const char *option, const char *text, const struct argp_state *state)
{
	char *end;
	double ms = strtod(text, &end);

	if (!strcmp(text, "0ns")) /* as reports print the beginning of the run */
		return 0;
	if (duration_ns(text, NULL) >= 0)
		return duration_ns(text, NULL);
	if (end == text || *end || !(ms >= 0) || ms > 1e12)
		usage_fail(state,
			   "--%s wants a time such as 12ms or 1.5s, or a number of milliseconds, "
			   "not '%s'",
			   option, text);
	return llround(ms * 1e6);
}

const char *selection_parse_range(const char *given, const char *argument,
				  const struct argp_state *state)
{
	if (given)
		usage_fail(state, "--range is given twice, '%s' and '%s': one part at a time",
			   given, argument);
	return argument;
}

static struct selection_moment parse_time(const char *option, const char *text,
					  const struct argp_state *state)
{
	return (struct selection_moment){.is_given = true,
					 .ns = selection_parse_time(option, text, state)};
}

static struct selection_moment parse_skip(const char *text, const struct argp_state *state)
{
	struct selection_moment moment = {.is_given = true, .is_count = true};
	char *end;

	errno = 0;
	moment.count = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return moment;
	moment = (struct selection_moment){.is_given = true, .ns = duration_ns(text, NULL)};
	if (moment.ns < 0)
		usage_fail(
			state,
			"--skip-first wants a number of operations or a time such as 12ms, not '%s'",
			text);
	return moment;
}

static const char *parse_number(const char *option, const char *text,
				const struct argp_state *state)
{
	if (!*text || strspn(text, "0123456789") != strlen(text))
		usage_fail(state, "--%s wants a number, not '%s'", option, text);
	return text;
}

static const char *check_regex(const char *pattern, const struct argp_state *state)
{
	regex_t regex;
	char why[128];
	int code = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (code) {
		regerror(code, &regex, why, sizeof(why));
		usage_fail(state, "--kernels '%s': %s", pattern, why);
	}
	regfree(&regex);
	return pattern;
}

static error_t parse_choice(int key, char *argument, struct argp_state *state)
{
	struct selection *selection = state->input;

	switch (key) {
	case KEY_SKIP:
		selection->skip = parse_skip(argument, state);
		return 0;
	case KEY_KERNELS:
		selection->kernels = check_regex(argument, state);
		return 0;
	case KEY_STREAM:
		selection->stream = parse_number("stream", argument, state);
		return 0;
	case KEY_RANK:
		selection->rank = parse_number("rank", argument, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp selection_choice_argp = {.options = choice_options, .parser = parse_choice};

static error_t parse_time_option(int key, char *argument, struct argp_state *state)
{
	struct selection *selection = state->input;

	switch (key) {
	case KEY_RANGE:
		selection->range = selection_parse_range(selection->range, argument, state);
		return 0;
	case KEY_FROM:
		selection->from = parse_time("from", argument, state);
		return 0;
	case KEY_TO:
		selection->to = parse_time("to", argument, state);
		return 0;
	case ARGP_KEY_END:
		if (selection->from.is_given && selection->to.is_given &&
		    selection->from.ns >= selection->to.ns)
			usage_fail(state, "--from must lie before --to");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp selection_time_argp = {.options = time_options, .parser = parse_time_option};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = state->input;
	return parse_time_option(key, argument, state);
}

static const struct argp_child children[] = {{&selection_choice_argp, 0, NULL, 20}, {0}};

const struct argp selection_argp = {.options = time_options,
				    .parser = parse_option,
				    .children = children};

bool selection_is_any(const struct selection *selection)
{
	return selection->range || selection->from.is_given || selection->to.is_given ||
	       selection->skip.is_given || selection->rank || selection_has_holes(selection);
}

bool selection_has_holes(const struct selection *selection)
{
	return selection->kernels || selection->stream;
}

/* ---- the time ---- */

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* When the operation with so many before it started, on any device; after the last one INT64_MAX. */
static int nth_start_ns(int64_t *out, const struct profile *profile, uint64_t number)
{
	int64_t *starts_ns = calloc(profile->op_count + 1, sizeof(*starts_ns));

	if (!starts_ns)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++)
		starts_ns[i] = profile->ops[i].start_ns;
	qsort(starts_ns, profile->op_count, sizeof(*starts_ns), compare_ns);
	*out = number < profile->op_count ? starts_ns[number] : INT64_MAX;
	free(starts_ns);
	return 0;
}

static int find_time(struct profile_part *part, struct occurrence *occurrence,
		     const struct selection *selection, const struct profile *profile,
		     struct err *err)
{
	const struct profile_window *window = &profile->window;
	int64_t first_ns = window->first_ns, skip_ns = INT64_MIN;
	int rc;

	if (selection->skip.is_count && nth_start_ns(&skip_ns, profile, selection->skip.count) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	*part = (struct profile_part){.from_ns = skip_ns,
				      .to_ns = window->is_part ? window->to_ns : INT64_MAX,
				      .first_ns = first_ns,
				      .is_from_start = selection->skip.is_count};
	if (window->is_part)
		part->from_ns = max_ns(part->from_ns, window->from_ns);
	if (first_ns == INT64_MAX) /* no operation, from which times are told */
		return 0;
	if (selection->skip.is_given && !selection->skip.is_count)
		part->from_ns = first_ns + selection->skip.ns;
	if (selection->from.is_given)
		part->from_ns = max_ns(part->from_ns, first_ns + selection->from.ns);
	if (selection->to.is_given)
		part->to_ns = min_ns(part->to_ns, first_ns + selection->to.ns);
	if (!selection->range)
		return 0;
	rc = occurrence_find(occurrence, profile, selection->range, err);
	if (rc < 0)
		return rc == -ENOMEM ? rc : -EDOM;
	part->from_ns = max_ns(part->from_ns, occurrence->start_ns);
	part->to_ns = min_ns(part->to_ns, occurrence->end_ns);
	return 0;
}

/* ---- operations ---- */

struct choice {
	const struct selection *selection;
	const struct profile *profile;
	const struct profile_part *part;
	struct occurrence occurrence;	 /* what --range names; else without a name */
	bool *is_wanted_kernel;		 /* by kernel_names[]; NULL: all */
	struct profile_outside *outside; /* by devices[] */
	uint64_t stream;
	int64_t rank;
};

/* Whatever its time. */
static bool is_wanted(const struct choice *choice, const struct profile_op *op)
{
	const struct profile *profile = choice->profile;
	const struct profile_stream *stream = &profile->streams[op->stream];

	if (choice->selection->stream && stream->stream != choice->stream)
		return false;
	if (choice->selection->rank && profile->processes[stream->process].rank != choice->rank)
		return false;
	return !choice->is_wanted_kernel ||
	       (op->kind == OP_KERNEL &&
		choice->is_wanted_kernel[profile->signatures[op->detail].kernel]);
}

/* Demangled, or as reports print it. */
static bool is_kernel_wanted(const regex_t *regex, const char *pattern,
			     const struct profile *profile, const char *name)
{
	bool is_wanted = regexec(regex, name, 0, NULL, 0) == 0 ||
			 occurrence_is_kernel_called(profile, name, pattern);

	for (int width = 0; width < LABEL_COUNT && !is_wanted; width++)
		is_wanted = regexec(regex,
				    kernel_label(profile->kernel_labels, name,
						 (enum kernel_label)width),
				    0, NULL, 0) == 0;
	return is_wanted;
}

static int match_kernels(struct choice *choice, struct err *err)
{
	const struct profile *profile = choice->profile;
	const char *pattern = choice->selection->kernels;
	regex_t regex;

	if (!pattern)
		return 0;
	choice->is_wanted_kernel =
		calloc(profile->kernel_name_count + 1, sizeof(*choice->is_wanted_kernel));
	if (!choice->is_wanted_kernel)
		return err_set(err, -ENOMEM, "out of memory");
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB)) /* it was when it was parsed */
		return err_set(err, -ENOMEM, "out of memory for --kernels '%s'", pattern);
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		choice->is_wanted_kernel[i] =
			is_kernel_wanted(&regex, pattern, profile, profile->kernel_names[i]);
	regfree(&regex);
	return 0;
}

/* "--kernels foo, --stream 7": what was asked for, as it is told. */
static void describe(const struct selection *selection, char *text, size_t size)
{
	const struct {
		const char *option, *value;
	} parts[] = {{"--range", selection->range},
		     {"--kernels", selection->kernels},
		     {"--stream", selection->stream},
		     {"--rank", selection->rank},
		     {"--from", selection->from.is_given ? "" : NULL},
		     {"--to", selection->to.is_given ? "" : NULL},
		     {"--skip-first", selection->skip.is_given ? "" : NULL}};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && used < size; i++)
		if (parts[i].value)
			used += (size_t)snprintf(text + used, size - used, "%s%s%s%s",
						 used ? ", " : "", parts[i].option,
						 *parts[i].value ? " " : "", parts[i].value);
}

/* " (iteration 7 of 198, in NVTX range 'warm-up')": numbers of iterations run across ranges. */
static void describe_iteration(const struct occurrence *occurrence, char *text, size_t size)
{
	char name[4 * NAME_WIDTH + 1];

	text[0] = '\0';
	if (!occurrence->is_iteration)
		return;
	format_text(name, sizeof(name), occurrence->within ? occurrence->within : "", NAME_WIDTH);
	snprintf(text, size, " (%s %s of %s%s%s%s)", occurrence->name,
		 format_count(occurrence->number).text, format_count(occurrence->count).text,
		 occurrence->within ? ", in NVTX range '" : "", name,
		 occurrence->within ? "'" : "");
}

static char *sentence_of(const struct choice *choice, size_t kept)
{
	const struct profile_part *part = choice->part;
	char asked[512], window[112] = "", iteration[4 * NAME_WIDTH + 112], *sentence = NULL;
	int64_t first_ns = part->first_ns, from_ns = max_ns(part->from_ns, first_ns) - first_ns;

	describe(choice->selection, asked, sizeof(asked));
	describe_iteration(&choice->occurrence, iteration, sizeof(iteration));
	if (part->to_ns != INT64_MAX)
		snprintf(window, sizeof(window), ", from %s to %s after the first",
			 format_moment(from_ns).text, format_moment(part->to_ns - first_ns).text);
	else if (part->from_ns != INT64_MIN)
		snprintf(window, sizeof(window), ", from %s after the first to the end",
			 format_moment(from_ns).text);
	if (asprintf(&sentence, "%s of %s operations, by %s%s%s", format_count(kept).text,
		     format_count(choice->profile->op_count).text, asked, iteration, window) < 0)
		return NULL;
	return sentence;
}

static size_t choose(bool *keeps_op, struct choice *choice)
{
	const struct profile *profile = choice->profile;
	size_t kept = 0;

	for (size_t i = 0; i < profile->device_count; i++)
		choice->outside[i] = profile->window.is_part
					     ? profile->devices[i].outside
					     : (struct profile_outside){PROFILE_NONE, PROFILE_NONE};
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		keeps_op[i] = is_wanted(choice, op) &&
			      profile_part_takes(choice->part, profile, (uint32_t)i,
						 &choice->outside[profile_op_device(profile, op)]);
		kept += keeps_op[i];
	}
	return kept;
}

/* Whether a device was idle for all of the time, between operations before and behind it. */
static bool is_in_gap(const struct choice *choice)
{
	for (size_t i = 0; i < choice->profile->device_count; i++)
		if (choice->outside[i].before != PROFILE_NONE &&
		    choice->outside[i].after != PROFILE_NONE)
			return true;
	return false;
}

/* ---- what there is instead ---- */

/* "; its streams are 7, 13", as far as there is room. */
static void add_to_list(char *list, size_t size, const char *title, const char *item)
{
	size_t used = strlen(list);

	if (used + strlen(title) + strlen(item) + sizeof("; , , ...") > size) {
		if (used < 3 || strcmp(list + used - 3, "...") != 0)
			snprintf(list + used, size - used, ", ...");
		return;
	}
	snprintf(list + used, size - used, "%s%s%s", *list ? ", " : "; ", *list ? "" : title, item);
}

/* One that an operation ran in, and no stream before it has its number. */
static bool is_to_be_told(const struct profile *profile, const bool *is_used, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_used[i] && profile->streams[i].stream == profile->streams[index].stream)
			return false;
	return is_used[index];
}

static void list_streams(const struct profile *profile, char *list, size_t size)
{
	bool *is_used = calloc(profile->stream_count + 1, sizeof(*is_used));

	for (size_t i = 0; is_used && i < profile->op_count; i++)
		is_used[profile->ops[i].stream] = true;
	for (size_t i = 0; is_used && i < profile->stream_count; i++) {
		char number[16];

		snprintf(number, sizeof(number), "%" PRIu32, profile->streams[i].stream);
		if (is_to_be_told(profile, is_used, i))
			add_to_list(list, size, "its streams are ", number);
	}
	free(is_used);
}

static void list_ranks(const struct profile *profile, char *list, size_t size)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		char number[24];

		snprintf(number, sizeof(number), "%" PRId64, profile->processes[i].rank);
		if (profile->processes[i].rank >= 0)
			add_to_list(list, size, "its ranks are ", number);
	}
	if (!*list)
		add_to_list(list, size, "none of its processes tells a rank", "");
}

static void list_kernels(const struct profile *profile, char *list, size_t size)
{
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		add_to_list(list, size, "its kernels are ",
			    kernel_label(profile->kernel_labels, profile->kernel_names[i],
					 kernel_label_within(NAME_WIDTH)));
	if (!*list)
		add_to_list(list, size, "it has no kernel", "");
}

/* Of one choice that leaves nothing: of several each may have left something. */
static void list_what_there_is(const struct selection *selection, const struct profile *profile,
			       char *list, size_t size)
{
	int count = !!selection->stream + !!selection->rank + !!selection->kernels;

	list[0] = '\0';
	if (count != 1)
		return;
	if (selection->stream)
		list_streams(profile, list, size);
	else if (selection->rank)
		list_ranks(profile, list, size);
	else
		list_kernels(profile, list, size);
}

static int fail_empty(const struct selection *selection, const struct profile *profile,
		      struct err *err)
{
	char asked[512], there[512];

	describe(selection, asked, sizeof(asked));
	list_what_there_is(selection, profile, there, sizeof(there));
	return err_set(err, -EDOM, "%s: none of its %s operations is left by %s%s", profile->path,
		       format_count(profile->op_count).text, asked, there);
}

static int reduce(struct choice *choice, struct profile *profile, struct profile_part *part,
		  bool *keeps_op, bool *keeps_process, char **sentence, struct err *err)
{
	size_t kept = choose(keeps_op, choice);
	int rc;

	if (!kept && !is_in_gap(choice))
		return fail_empty(choice->selection, profile, err);
	for (size_t i = 0; i < profile->process_count; i++)
		keeps_process[i] =
			!choice->selection->rank || profile->processes[i].rank == choice->rank;
	part->keeps_op = keeps_op;
	part->keeps_process = keeps_process;
	part->outside = choice->outside;
	*sentence = sentence_of(choice, kept);
	rc = *sentence ? profile_select(profile, part) : -ENOMEM;
	return rc < 0 ? err_set(err, rc, "%s", samples_why(rc)) : 0;
}

int selection_apply(const struct selection *selection, struct profile *profile, char **sentence,
		    struct err *err)
{
	struct profile_part part = {0};
	struct choice choice = {.selection = selection,
				.profile = profile,
				.part = &part,
				.stream = selection->stream ? strtoull(selection->stream, NULL, 10)
							    : 0,
				.rank = selection->rank ? strtoll(selection->rank, NULL, 10) : 0};
	bool *keeps_op, *keeps_process;
	int rc;

	*sentence = NULL;
	if (!selection_is_any(selection))
		return 0;
	keeps_op = calloc(profile->op_count + 1, sizeof(*keeps_op));
	keeps_process = calloc(profile->process_count + 1, sizeof(*keeps_process));
	choice.outside = calloc(profile->device_count + 1, sizeof(*choice.outside));
	if (keeps_op && keeps_process && choice.outside) {
		rc = find_time(&part, &choice.occurrence, selection, profile, err);
	} else {
		err_set(err, -ENOMEM, "out of memory");
		rc = -ENOMEM;
	}
	if (rc == 0)
		rc = match_kernels(&choice, err);
	if (rc == 0)
		rc = reduce(&choice, profile, &part, keeps_op, keeps_process, sentence, err);
	free(choice.is_wanted_kernel);
	free(choice.outside);
	free(keeps_op);
	free(keeps_process);
	return rc;
}
