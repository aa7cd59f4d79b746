/* try.c - rooflinectl try: a strategy on a program as it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory_file.h"
#include "base/shell.h"
#include "cmd/commands.h"
#include "cmd/record_output.h"
#include "cmd/record_run.h"
#include "cmd/record_signals.h"
#include "cmd/source.h"
#include "cmd/try_measure.h"
#include "cmd/try_memory.h"
#include "cmd/try_options.h"
#include "cmd/try_predict.h"

/* ---- command lines ---- */

static void put_words(FILE *out, char **words)
{
	for (const char *space = ""; *words; words++, space = " ") {
		fputs(space, out);
		shell_put_word(out, *words);
	}
}

/* The command as a shell takes it, with what comes before it: what the user preloads stays.  NULL without memory. */
static char *command_line(const struct try_options *options, const char *library)
{
	struct memory_file file;
	char *preloaded = library ? record_preload_list(library) : NULL;
	FILE *out = library && !preloaded ? NULL : memory_file_open(&file);

	if (out && preloaded) {
		fputs("LD_PRELOAD=", out);
		shell_put_word(out, preloaded);
		fprintf(out, " ROOFLINE_TRY=%s ", options->strategies);
	}
	if (out)
		put_words(out, options->command);
	free(preloaded);
	return out ? memory_file_close(&file) : NULL;
}

/* ---- the verdict ---- */

static bool is_keepable(const struct trial *trial)
{
	return trial->results < TRIAL_UNKNOWN && trial->measured.speedup > 1 && !trial->is_noise;
}

static bool tell_gate(const struct trial *trial, const struct try_options *options)
{
	const char *const who = TRY_WHO ": gate not met: ";

	if (trial->results == TRIAL_DIFFERENT)
		fprintf(stderr, "%sthe results differ\n", who);
	else if (trial->results == TRIAL_UNKNOWN)
		fprintf(stderr, "%swhether the results are equal is not known\n", who);
	else if (trial->measured.speedup < options->least_speedup)
		fprintf(stderr, "%sthe measured speedup is %.4gx, and %.4gx was asked for\n", who,
			trial->measured.speedup, options->least_speedup);
	else
		return true;
	return false;
}

static int exit_code_of(const struct trial *trial, const struct try_options *options)
{
	return options->is_gated && !tell_gate(trial, options) ? EXIT_GATE : EXIT_OK;
}

/* ---- the command ---- */

struct attempt {
	struct trial trial;
	struct try_bench bench;
	struct try_recordings recordings;
	char *command, *keep; /* owned */
};

static int measure(struct attempt *attempt, const struct try_options *options, struct err *err)
{
	struct trial *trial = &attempt->trial;
	int rc = try_bench_run(&attempt->bench, err);

	if (rc == 0)
		rc = try_memory_check(&attempt->bench, err);
	if (rc == 0 && trial_judge(trial) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (rc == 0 && trial->has_equal_ends)
		rc = try_record(&attempt->recordings, &attempt->bench, err);
	if (rc == 0)
		rc = try_predict(trial, &attempt->recordings, options, err);
	return rc;
}

static int tell(struct attempt *attempt, const struct try_options *options, struct err *err)
{
	const struct output_options output = {.color = is_color_wanted(stdout),
					      .width = terminal_width(stdout)};

	if (options->is_kept && is_keepable(&attempt->trial))
		attempt->trial.keep = attempt->keep;
	else if (options->is_kept)
		fputs(TRY_WHO
		      ": nothing to keep: it is not faster with results that are known to be "
		      "equal\n",
		      stderr);
	return options->write(&attempt->trial, stdout, &output, err);
}

static int open_attempt(struct attempt *attempt, const struct try_options *options, struct err *err)
{
	int rc = try_read_trace(&attempt->recordings, options, err);

	if (rc == 0)
		rc = try_make_folders(options, err);
	if (rc == 0)
		rc = try_bench_open(&attempt->bench, options, &attempt->trial, err);
	if (rc < 0)
		return rc;
	attempt->command = command_line(options, NULL);
	attempt->keep = command_line(options, attempt->bench.library);
	attempt->trial.command = attempt->command;
	attempt->trial.strategies = options->strategies;
	return attempt->command && attempt->keep ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static void close_attempt(struct attempt *attempt)
{
	try_bench_close(&attempt->bench);
	try_recordings_free(&attempt->recordings);
	trial_free(&attempt->trial);
	free(attempt->command);
	free(attempt->keep);
}

static int try(const struct try_options *options)
{
	struct attempt attempt = {0};
	struct err err = {""};
	int rc = open_attempt(&attempt, options, &err), code = EXIT_FAILED, interrupted_by;

	if (rc == 0)
		rc = measure(&attempt, options, &err);
	if (rc == 0)
		rc = tell(&attempt, options, &err);
	if (rc == 0)
		code = exit_code_of(&attempt.trial, options);
	else if (*err.text)
		fprintf(stderr, TRY_WHO ": %s\n", err.text);
	interrupted_by = attempt.bench.interrupted_by;
	close_attempt(&attempt);
	if (interrupted_by)
		signals_die_of(interrupted_by);
	return code;
}

int cmd_try(int argc, char **argv)
{
	struct try_options options;
	int code = EXIT_USAGE;

	record_output_note();
	if (try_options_parse(&options, argc, argv))
		code = try(&options);
	try_options_free(&options);
	return code;
}
