/* verify.c - rooflinectl verify: the speedup that was measured against the one that was predicted. */
#include "cmd/commands.h"
#include "analysis/time/occurrence.h"
#include "cmd/progress.h"
#include "cmd/report_ceilings.h"
#include "cmd/source.h"
#include "cmd/usage.h"
#include "cmd/verify_repeats.h"

#include "advice/advice.h"
#include "whatif/subtract_recording.h"
#include "analysis/compare/comparison.h"
#include "output/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WHO "rooflinectl verify"

struct verify_arguments {
	const char *before, *after;
	const char *range;	   /* NULL: the whole run */
	const char *strategy;	   /* id or strategy of a recommendation, or NULL */
	const char *ceilings_path; /* NULL: those that fit the GPU */
	verify_writer write;
	bool is_forced, is_gated;
};

/* What a comparison needs, to be given back in one place. */
struct verification {
	struct verify_side before_side, after_side;
	struct report *before, *after;
	struct advice *advice;
	struct comparison *comparison;
};

enum { KEY_RANGE = 256, KEY_STRATEGY, KEY_GATE, KEY_FORCE, KEY_CEILINGS };

static const struct argp_option option_table[] = {
	{"range", KEY_RANGE, "NAME", 0,
	 "compare the NVTX range of that name, the mean of its occurrences, not the whole run", 0},
	{"strategy", KEY_STRATEGY, "ID", 0,
	 "id of the advice that was followed, or of its technique; without it the first with a prediction, or the change that this is a part of unless AFTER still needs it",
	 0},
	{"gate", KEY_GATE, NULL, 0,
	 "exit code 3 unless both did the same work and the measured speedup lies inside the predicted interval",
	 0},
	{"force", KEY_FORCE, NULL, 0, "with --gate: judge also what is not the same work", 0},
	OPTION_FORMAT("for people (the default), or for programs"),
	{"ceilings", KEY_CEILINGS, "FILE", 0,
	 "roofs that 'rooflinectl ceilings' measured; without it those stored for the GPU of "
	 "BEFORE, else its datasheet's",
	 0},
	{0},
};

static const verify_writer writers[] = {
#define WRITER(name, summary) verify_write_##name,
	OUTPUTS(WRITER)
#undef WRITER
};

static void set_path(struct verify_arguments *arguments, const char *path, struct argp_state *state)
{
	if (state->arg_num > 1)
		usage_fail(state, "two recordings are compared, not also '%s'", path);
	*(state->arg_num ? &arguments->after : &arguments->before) = path;
}

static void check_paths(const struct verify_arguments *arguments, struct argp_state *state)
{
	if (!arguments->after)
		usage_fail(state, "two recordings are compared: %s missing",
			   arguments->before ? "AFTER is" : "BEFORE and AFTER are");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct verify_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case KEY_RANGE:
		arguments->range = selection_parse_range(arguments->range, argument, state);
		return 0;
	case KEY_STRATEGY:
		arguments->strategy = argument;
		return 0;
	case KEY_GATE:
		arguments->is_gated = true;
		return 0;
	case KEY_FORCE:
		arguments->is_forced = true;
		return 0;
	case 'f':
		arguments->write = writers[usage_format(state, argument)];
		return 0;
	case KEY_CEILINGS:
		arguments->ceilings_path = argument;
		return 0;
	case ARGP_KEY_ARG:
		set_path(arguments, argument, state);
		return 0;
	case ARGP_KEY_END:
		check_paths(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "BEFORE AFTER",
	.doc = "Compare the speedup that a change brought with the one that was predicted.\n\n"
	       "BEFORE and AFTER are recordings of the same work, before and after the change, or "
	       "folders of several that repeat it: then the one with the median time is compared.",
};

/* The whole name that is meant, of the first that has it: comparing tells where the other lacks it. */
static int find_range(struct verify_arguments *arguments, const struct verification *verification,
		      struct err *err)
{
	const struct profile *const profiles[] = {verification->before->profile,
						  verification->after->profile};
	const char *found = NULL;
	int rc = 0;

	for (int i = 0; arguments->range && i < 2 && rc == 0 && !found; i++)
		rc = occurrence_range(&found, profiles[i], arguments->range, err);
	if (found)
		arguments->range = found;
	return rc;
}

static int load(struct verification *verification, struct err *err)
{
	struct progress progress;
	int rc;

	progress_begin(&progress, "reading and analyzing both recordings");
	rc = report_build(&verification->before, verification->before_side.path, err);
	if (rc == 0)
		rc = report_build(&verification->after, verification->after_side.path, err);
	progress_end(&progress);
	return rc == -ENOENT ? -EIO : rc; /* no file; -ENOENT is of a name */
}

static int find_prediction(struct verification *verification,
			   const struct verify_arguments *arguments, struct err *err)
{
	int rc = report_choose_ceilings(verification->before, arguments->ceilings_path, WHO, err);

	if (rc == 0)
		rc = source_find_advice(&verification->advice, verification->before,
					arguments->range, err);
	return rc == -ENOENT ? -EIO : rc;
}

/* ---- the prediction ---- */

static const struct predicted_speedup *prediction_of(const struct recommendation *item,
						     const char *range)
{
	return range ? &item->gain.place : &item->gain.program;
}

/* The first of that id or technique, of all without one; one with a prediction goes before. */
static const struct recommendation *choose(const struct advice *advice,
					   const struct verify_arguments *arguments)
{
	const char *wanted = arguments->strategy;
	const struct recommendation *first = NULL;

	for (size_t i = 0; i < advice->count; i++) {
		const struct recommendation *item = &advice->items[i];

		if (wanted && strcmp(wanted, item->id) && strcmp(wanted, item->strategy))
			continue;
		if (prediction_of(item, arguments->range)->speedup > 0)
			return item;
		if (wanted && !first)
			first = item;
	}
	return first;
}

static const struct recommendation *whole_of(const struct advice *advice,
					     const struct recommendation *item)
{
	for (size_t i = 0; item && item->part_of && i < advice->count; i++)
		if (!strcmp(advice->items[i].id, item->part_of) &&
		    advice->items[i].device == item->device)
			return &advice->items[i];
	return item;
}

/* What is advised after the change as well was not what was changed. */
static int is_advised_after(bool *is_advised, const struct verification *verification,
			    const struct verify_arguments *arguments,
			    const struct recommendation *item, struct err *err)
{
	struct advice *advice = NULL;
	int rc = report_choose_ceilings(verification->after, arguments->ceilings_path, WHO, err);

	if (rc == 0)
		rc = advice_find(&advice, verification->after, arguments->range, err);
	*is_advised = false;
	for (size_t i = 0; rc == 0 && i < advice->count; i++)
		*is_advised |= !strcmp(advice->items[i].id, item->id);
	advice_free(advice);
	return rc;
}

/* What was done when nobody says what: the change that the first advice is a part of, unless that is still to be done. */
static int choose_whole(const struct recommendation **item, const struct verification *verification,
			const struct verify_arguments *arguments, struct err *err)
{
	const struct recommendation *whole = whole_of(verification->advice, *item);
	bool is_advised = false;
	int rc = whole == *item
			 ? 0
			 : is_advised_after(&is_advised, verification, arguments, whole, err);

	if (!is_advised)
		*item = whole;
	return rc;
}

static int fail_strategy(const struct advice *advice, const struct verify_arguments *arguments,
			 struct err *err)
{
	char list[512] = "";

	for (size_t i = 0; i < advice->count; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
			 advice->items[i].id);
	}
	if (!*list)
		return err_set(err, -ENOENT, "no advice '%s' for %s, nor any other",
			       arguments->strategy, arguments->before);
	return err_set(err, -ENOENT, "no advice '%s' for %s; there is: %s", arguments->strategy,
		       arguments->before, list);
}

static int predict(struct verification *verification, const struct verify_arguments *arguments,
		   struct err *err)
{
	const struct recommendation *item = choose(verification->advice, arguments);
	struct comparison *comparison = verification->comparison;
	const struct predicted_speedup *predicted;

	if (!arguments->strategy) {
		int rc = choose_whole(&item, verification, arguments, err);

		if (rc < 0)
			return rc;
	}
	if (!item)
		return arguments->strategy ? fail_strategy(verification->advice, arguments, err)
					   : 0;
	predicted = prediction_of(item, arguments->range);
	comparison->is_up_to = item->gain.is_up_to;
	comparison->is_about_steady =
		gain_part_of(&item->gain, arguments->range != NULL) == GAIN_STEADY;
	comparison_predict(comparison, item->id, item->strategy, predicted->speedup, predicted->low,
			   predicted->high);
	if (!arguments->range)
		comparison_predict_steady(comparison, item->gain.steady.speedup,
					  item->gain.steady.low, item->gain.steady.high);
	return 0;
}

/* ---- the gate ---- */

static void put_joined(const struct sentences *sentences)
{
	for (size_t i = 0; i < sentences->count; i++)
		fprintf(stderr, "%s; ", sentences->items[i]);
}

/* One line: all that stands against the comparison, and the remedy. */
static void put_refusal(const struct comparison *comparison)
{
	const struct sentences *differences = &comparison->differences;
	const struct sentences *obstacles = &comparison->obstacles;

	fputs("rooflinectl verify: gate not met: ", stderr);
	if (differences->count)
		fputs("not the same work: ", stderr);
	put_joined(differences);
	put_joined(obstacles);
	if (differences->count)
		fputs("record the same program with the same sizes on the same GPU", stderr);
	if (obstacles->count)
		fprintf(stderr, "%srecord without --counters", differences->count ? " and " : "");
	fputs(", or have it judged with --force\n", stderr);
}

/* A prediction that was asked for and is not there is no gate that was met, nor is one for other work. */
static bool is_gate_met(const struct comparison *comparison, bool is_forced)
{
	if (!comparison_is_sound(comparison) && !is_forced) {
		put_refusal(comparison);
		return false;
	}
	if (comparison_is_met(comparison))
		return true;
	fprintf(stderr, "rooflinectl verify: gate not met: %s\n",
		comparison_can_judge(comparison)
			? "the measured speedup lies outside the predicted interval"
			: "there is no prediction to compare the measured speedup with");
	return false;
}

/* Which code a failure has: -ENOENT is a name that the user gave and no recording has, -ENODATA a recording that can be read
 * and has nothing to compare, for which a gate stays closed. */
static int fail(int rc, const struct verify_arguments *arguments, const struct err *err)
{
	bool is_closed = arguments->is_gated && rc == -ENODATA;

	fprintf(stderr, "rooflinectl verify: %s%s\n", is_closed ? "gate not met: " : "", err->text);
	return is_closed ? EXIT_GATE : rc == -ENOENT ? EXIT_USAGE : EXIT_FAILED;
}

static int verify(struct verification *verification, struct verify_arguments *arguments)
{
	struct output_options options = {.color = is_color_wanted(stdout),
					 .width = terminal_width(stdout)};
	struct err err = {""};
	const struct comparison *comparison;
	int rc = verify_side_choose(&verification->before_side, arguments->before, arguments->range,
				    &err);

	if (rc == 0)
		rc = verify_side_choose(&verification->after_side, arguments->after,
					arguments->range, &err);
	if (rc < 0)
		return fail(rc, arguments, &err);
	rc = load(verification, &err);
	if (rc == 0)
		rc = find_range(arguments, verification, &err);
	if (rc == 0)
		rc = find_prediction(verification, arguments, &err);
	if (rc < 0)
		return fail(rc, arguments, &err);
	rc = comparison_make(&verification->comparison, verification->before->profile,
			     verification->after->profile, arguments->range, &err);
	if (rc == 0)
		comparison_set_repeats(verification->comparison, &verification->before_side.repeats,
				       &verification->after_side.repeats);
	if (rc == 0)
		rc = what_if_subtract_recording(verification->comparison, verification->before,
						verification->after, &err);
	if (rc == 0)
		rc = predict(verification, arguments, &err);
	if (rc == 0)
		verification->comparison->jit =
			jit_return_of(verification->before->profile, verification->before->jit,
				      verification->after->profile, verification->after->jit);
	if (rc == 0 &&
	    traffic_change_of(&verification->comparison->traffic, verification->before->profile,
			      verification->after->profile, arguments->range) < 0)
		rc = err_set(&err, -ENOMEM, "out of memory");
	if (rc < 0)
		return fail(rc, arguments, &err);
	comparison = verification->comparison;
	rc = arguments->write(comparison, stdout, &options, &err);
	if (rc < 0)
		return fail(rc, arguments, &err);
	return arguments->is_gated && !is_gate_met(comparison, arguments->is_forced) ? EXIT_GATE
										     : EXIT_OK;
}

int cmd_verify(int argc, char **argv)
{
	struct verify_arguments arguments = {.write = verify_write_text};
	struct verification verification = {0};
	int code;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	code = verify(&verification, &arguments);
	comparison_free(verification.comparison);
	advice_free(verification.advice);
	report_free(verification.after);
	report_free(verification.before);
	verify_side_free(&verification.after_side);
	verify_side_free(&verification.before_side);
	return code;
}
