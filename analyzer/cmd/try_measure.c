/* try_measure.c - runs a program bare and with a strategy, in turn, and keeps what each run wrote. */
#include "cmd/try_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/paths.h"
#include "base/temporary.h"
#include "cmd/record_run.h"
#include "cmd/try_memory.h"

/* Longer than that a program with a strategy is taken to hang. */
#define MOST_TIMES 3
#define MOST_MORE_S 60

#define VARIABLE_NAME(constant, name, meaning) [constant] = name,
static const char *const variable_names[] = {TRY_VARIABLES(VARIABLE_NAME)};
#undef VARIABLE_NAME

/* ---- opening ---- */

static int find_library(struct try_bench *bench, struct err *err)
{
	if (path_resource(bench->library, sizeof(bench->library), "lib/" TRY_LIBRARY) < 0)
		return err_set(
			err, -ENOENT,
			"%s is missing: build it with `make`, which needs the CUDA toolkit's "
			"headers",
			bench->library);
	if (strpbrk(bench->library, ": \t\n"))
		return err_set(
			err, -EINVAL,
			"%s cannot be preloaded: move it to a path without a space or a colon",
			bench->library);
	return 0;
}

static int add_channels(struct try_bench *bench)
{
	const struct try_options *options = bench->options;
	struct trial *trial = bench->trial;
	bool is_added;
	int rc = trial_open(trial, options->repeats);

	is_added =
		rc == 0 &&
		trial_add_channel(trial, "stdout", !options->is_output_ignored, options->repeats) &&
		trial_add_channel(trial, "stderr", false, options->repeats);
	for (size_t i = 0; is_added && i < options->file_count; i++)
		is_added = trial_add_channel(trial, options->files[i], true, options->repeats);
	if (is_added && options->is_memory_checked)
		is_added = try_memory_add(trial);
	return is_added ? 0 : -ENOMEM;
}

int try_bench_open(struct try_bench *bench, const struct try_options *options, struct trial *trial,
		   struct err *err)
{
	int rc;

	*bench = (struct try_bench){.options = options, .trial = trial};
	rc = find_library(bench, err);
	if (rc == 0)
		rc = temporary_make_work_folder(bench->folder, sizeof(bench->folder), err);
	if (rc == 0 && add_channels(bench) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	return rc;
}

void try_bench_close(struct try_bench *bench)
{
	temporary_remove(bench->folder);
	*bench->folder = '\0';
}

/* ---- one run ---- */

/* In the program's process. */
static void set_environment(const void *context)
{
	const struct try_bench *bench = context;

	for (int i = 0; i < TRY_VARIABLE_COUNT; i++)
		unsetenv(variable_names[i]);
	if (!bench->is_tried && !bench->is_watched)
		return;
	if (bench->is_tried)
		setenv(variable_names[TRY_ENV_STRATEGIES], bench->options->strategies, 1);
	else
		setenv(variable_names[TRY_ENV_WATCH], "1", 1);
	setenv(variable_names[TRY_ENV_OUTPUT], bench->reached, 1);
	if (*bench->memory)
		setenv(variable_names[TRY_ENV_MEMORY], bench->memory, 1);
	(void)record_preload(bench->library);
}

static double limit_of(const struct try_bench *bench, int side)
{
	const struct trial_side *bare = &bench->trial->sides[TRIAL_BARE];
	double longest_s = 0;

	if (bench->options->timeout_s > 0 || (side == TRIAL_BARE && !bench->is_watched))
		return bench->options->timeout_s;
	for (size_t i = 0; i < bare->count; i++)
		if (bare->times_ns[i] * 1e-9 > longest_s)
			longest_s = bare->times_ns[i] * 1e-9;
	return MOST_TIMES * longest_s + MOST_MORE_S;
}

static int run_program(struct try_bench *bench, int side, struct quiet_run *run, struct err *err)
{
	int rc;

	*run = (struct quiet_run){.command = bench->options->command,
				  .input = bench->options->input,
				  .timeout_s = limit_of(bench, side),
				  .prepare = set_environment,
				  .context = bench};
	bench->is_tried = side == TRIAL_TRIED;
	bench->run_count++;
	snprintf(bench->reached, sizeof(bench->reached), "%s/%zu", bench->folder, bench->run_count);
	rc = quiet_run(run, err);
	bench->interrupted_by = run->interrupted_by;
	return rc == 0 && run->interrupted_by ? err_set(err, -EINTR, "interrupted") : rc;
}

/* ---- what it wrote ---- */

static int read_text(const struct try_bench *bench, struct trial_text *text, int file)
{
	return trial_text_read(text, file, bench->options->masks, bench->options->mask_count,
			       TRIAL_MOST_KEPT_BYTES);
}

/* The last line with something in it. */
static void tell_last_line(const struct quiet_run *run, char *line, size_t size)
{
	struct trial_text text = {0};
	size_t end, begin;

	*line = '\0';
	if (trial_text_read(&text, run->errors, NULL, 0, TRIAL_MOST_KEPT_BYTES) == 0 &&
	    text.bytes) {
		end = text.length;
		while (end && strchr(" \t\r\n", text.bytes[end - 1]))
			end--;
		begin = end;
		while (begin && text.bytes[begin - 1] != '\n')
			begin--;
		text.bytes[end] = '\0';
		if (end > begin)
			(void)format_text(line, size, text.bytes + begin, size / 4);
	}
	trial_text_free(&text);
}

static struct try_end end_of(const struct quiet_run *run)
{
	char how[64], last[320];
	struct try_end end = {""};

	if (run->is_timed_out)
		snprintf(how, sizeof(how), "no end within %g s", run->timeout_s);
	else
		record_describe_end(run->status, how, sizeof(how));
	if (!run->status && !run->is_timed_out)
		return end;
	tell_last_line(run, last, sizeof(last));
	snprintf(end.text, sizeof(end.text), "%s%s%s", how, *last ? ": " : "", last);
	return end;
}

static void show_file(int file)
{
	char block[4096];
	ssize_t length;

	for (off_t at = 0; (length = pread(file, block, sizeof(block), at)) > 0; at += length)
		fwrite(block, 1, (size_t)length, stderr);
}

static void show(const struct quiet_run *run)
{
	show_file(run->output);
	show_file(run->errors);
}

/* Of a file before and after a run: whether the run wrote it. */
static bool is_written(const struct stat *before, const struct stat *after)
{
	return before->st_ino != after->st_ino || before->st_size != after->st_size ||
	       before->st_ctim.tv_sec != after->st_ctim.tv_sec ||
	       before->st_ctim.tv_nsec != after->st_ctim.tv_nsec;
}

static int read_file(struct try_bench *bench, struct trial_text *text, const char *path,
		     const struct stat *before, struct err *err)
{
	struct stat after;
	int file, rc;

	*text = (struct trial_text){0};
	if (stat(path, &after) < 0 || !is_written(before, &after))
		return 0;
	rc = path_open_file(&file, path);
	if (rc < 0)
		return err_set(err, rc, "--compare %s: %s", path, path_problem(rc));
	rc = read_text(bench, text, file);
	close(file);
	return rc < 0 ? err_set(err, rc, "--compare %s: cannot read: %s", path, strerror(-rc)) : 0;
}

static void keep_text(struct trial_channel *channel, int side, struct trial_text *text)
{
	if (!trial_text_is_there(text) && side == TRIAL_TRIED)
		channel->is_missing = true;
	trial_add_text(channel, side, text);
}

/* What the file was like before is of no account where the run did not write it. */
static int keep_file(struct try_bench *bench, struct trial_channel *channel, int side,
		     const struct stat *before, struct err *err)
{
	struct trial_text text;
	int rc = read_file(bench, &text, channel->name, before, err);

	if (rc == 0 && !trial_text_is_there(&text) && side == TRIAL_BARE)
		rc = err_set(err, -ENOENT, "--compare %s: the program does not write it",
			     channel->name);
	if (rc == 0)
		keep_text(channel, side, &text);
	else
		trial_text_free(&text);
	return rc;
}

static int keep_stream(struct try_bench *bench, struct trial_channel *channel, int side, int file,
		       struct err *err)
{
	struct trial_text text = {0};
	int rc = read_text(bench, &text, file);

	if (rc < 0) {
		trial_text_free(&text);
		return err_set(err, rc, "cannot read what the program printed: %s", strerror(-rc));
	}
	keep_text(channel, side, &text);
	return 0;
}

static int keep_all(struct try_bench *bench, const struct quiet_run *run, int side,
		    const struct stat *before, struct err *err)
{
	struct trial_channel *channels = bench->trial->channels;
	int rc = keep_stream(bench, &channels[0], side, run->output, err);

	if (rc == 0)
		rc = keep_stream(bench, &channels[1], side, run->errors, err);
	for (size_t i = 0; rc == 0 && i < bench->options->file_count; i++)
		rc = keep_file(bench, &channels[2 + i], side, &before[i], err);
	return rc;
}

/* ---- what the library told ---- */

/* Of the run before; that of an earlier one is forgotten. */
static int read_reach(struct try_bench *bench, struct trial_reach *reach, struct err *err)
{
	trial_reach_free(reach);
	return trial_reach_read(reach, bench->folder, strrchr(bench->reached, '/') + 1, err);
}

static int keep_reach(struct try_bench *bench, struct err *err)
{
	struct trial_reach *reach = &bench->trial->reach;
	int rc = read_reach(bench, reach, err);

	if (rc == 0)
		trial_add_run(bench->trial, TRIAL_TRIED, (double)reach->counts[TRY_RUN_NS]);
	return rc;
}

/* ---- runs ---- */

static void tell(const struct try_bench *bench, int side, const struct quiet_run *run,
		 const struct try_end *end)
{
	const struct trial_side *of = &bench->trial->sides[side];

	if (bench->options->is_quiet)
		return;
	fprintf(stderr, "%9s %zu/%zu  %s%s%s\n", side == TRIAL_BARE ? "bare" : "tried",
		(size_t)of->count + 1, bench->options->repeats, format_ns(run->seconds * 1e9).text,
		*end->text ? "  " : "", end->text);
}

/* A program that fails without us is not ours to try. */
static int check_end(struct try_bench *bench, int side, const struct quiet_run *run,
		     const struct try_end *end, struct err *err)
{
	if (side == TRIAL_TRIED || (!run->is_timed_out && bench->options->is_failure_ignored) ||
	    !*end->text)
		return 0;
	return err_set(err, -ECHILD, "the program fails without a strategy, with %s%s", end->text,
		       run->is_timed_out ? "" : " (--ignore-failure tries it all the same)");
}

static void note_end(struct trial *trial, int side, const struct quiet_run *run,
		     const struct try_end *end)
{
	struct trial_side *of = &trial->sides[side];
	bool is_first = !of->count;

	of->times_ns[of->count++] = run->seconds * 1e9;
	if (is_first || run->status != trial->sides[TRIAL_BARE].status)
		of->status = run->status;
	of->is_timed_out |= run->is_timed_out;
	if (side == TRIAL_TRIED &&
	    (run->is_timed_out || run->status != trial->sides[TRIAL_BARE].status))
		snprintf(of->end, sizeof(of->end), "%s", *end->text ? end->text : "exit code 0");
}

static int measure(struct try_bench *bench, int side, struct err *err)
{
	const struct try_options *options = bench->options;
	struct stat before[TRY_MOST_FILES] = {{0}};
	struct quiet_run run;
	struct try_end end = {""};
	int rc;

	for (size_t i = 0; i < options->file_count; i++)
		if (stat(options->files[i], &before[i]) < 0)
			before[i] = (struct stat){0};
	rc = run_program(bench, side, &run, err);
	if (rc == 0) {
		end = end_of(&run);
		tell(bench, side, &run, &end);
		if (options->is_shown)
			show(&run);
		rc = check_end(bench, side, &run, &end, err);
	}
	if (rc == 0) {
		note_end(bench->trial, side, &run, &end);
		rc = keep_all(bench, &run, side, before, err);
	}
	if (rc == 0 && side == TRIAL_TRIED)
		rc = keep_reach(bench, err);
	quiet_run_close(&run);
	return rc;
}

int try_bench_run_once(struct try_bench *bench, int side, struct try_end *end, struct err *err)
{
	struct quiet_run run;
	int rc = run_program(bench, side, &run, err);

	if (rc == 0)
		*end = end_of(&run);
	quiet_run_close(&run);
	return rc;
}

/* A program's first run reads its files and compiles its kernels into caches: that is not to count against either side. */
static int warm_up(struct try_bench *bench, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < bench->options->warm_ups; i++) {
		struct quiet_run run;
		struct try_end end;

		rc = run_program(bench, TRIAL_BARE, &run, err);
		if (rc == 0) {
			end = end_of(&run);
			rc = check_end(bench, TRIAL_BARE, &run, &end, err);
		}
		quiet_run_close(&run);
	}
	return rc;
}

bool try_bench_has_ended_otherwise(const struct try_bench *bench)
{
	return *bench->trial->sides[TRIAL_TRIED].end;
}

/* A bare run but for the library, which changes nothing and takes the time from the first launch to the last wait. */
static int watch(struct try_bench *bench, struct err *err)
{
	struct trial_reach reach = {0};
	struct try_end end;
	int rc;

	bench->is_watched = true;
	rc = try_bench_run_once(bench, TRIAL_BARE, &end, err);
	bench->is_watched = false;
	if (rc == 0)
		rc = read_reach(bench, &reach, err);
	if (rc == 0)
		trial_add_run(bench->trial, TRIAL_BARE, (double)reach.counts[TRY_RUN_NS]);
	trial_reach_free(&reach);
	return rc;
}

/* In turn, and the one that comes first changes with each turn: what drifts, such as a clock, is in both. */
int try_bench_run(struct try_bench *bench, struct err *err)
{
	const struct try_options *options = bench->options;
	int rc = warm_up(bench, err);

	for (size_t i = 0; rc == 0 && i < TRIAL_SIDES * options->repeats; i++) {
		int side = (i + i / TRIAL_SIDES) % TRIAL_SIDES == 0 ? TRIAL_BARE : TRIAL_TRIED;

		rc = measure(bench, side, err);
		if (try_bench_has_ended_otherwise(bench))
			break;
	}
	for (size_t i = 0; rc == 0 && i < bench->trial->runs[TRIAL_TRIED].count; i++)
		rc = watch(bench, err);
	return rc;
}
