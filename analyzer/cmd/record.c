/* record.c - runs a program with the collector in it. */
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "base/paths.h"
#include "base/shell.h"
#include "cmd/commands.h"
#include "cmd/record_live.h"
#include "cmd/record_options.h"
#include "cmd/record_output.h"
#include "cmd/record_ring.h"
#include "cmd/record_run.h"
#include "cmd/record_signals.h"
#include "cmd/record_untraced.h"
#include "roofline/control.h"

/* ---- --graphs=both ---- */

static bool is_both(void)
{
	const char *graphs = record_variable(ENV_GRAPHS);

	return graphs && !strcmp(graphs, "both");
}

/* The second run records graph launches alone: the first one had the counters. */
static void run_again(const struct record_run *first)
{
	struct record_run again = *first;
	char end[64];

	fputs("rooflinectl record: the program runs a second time, to record what its device launches\n",
	      stderr);
	record_set_run(RUN_GRAPHS);
	record_set_variable(ENV_GRAPHS, "graph");
	record_unset_variable(ENV_COUNTERS);
	if (record_run(&again) < 0 || !again.status)
		return;
	record_describe_end(again.status, end, sizeof(end));
	fprintf(stderr, "rooflinectl record: the second run ended with %s\n", end);
}

/* The exit code is the first run's, however the second ends.  Where stdin can be rewound, both
 * runs read the same. */
static int run_both(struct record_run *run)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);

	record_set_run(RUN_TRACE);
	record_set_variable(ENV_GRAPHS, "node");
	if (record_run(run) < 0)
		return -1;
	if (!record_is_worth_repeating(run)) /* when nothing was recorded, print_result says why */
		return 0;
	if (input >= 0)
		lseek(STDIN_FILENO, input, SEEK_SET);
	run_again(run);
	return 0;
}

static void print_result(const char *folder)
{
	char found[PATH_MAX];

	if (path_newest_recording(found, sizeof(found), folder) == 0)
		fprintf(stderr, "rooflinectl record: %s\nrooflinectl report %s\n",
			format_path(folder).text, shell_path_text(folder).text);
	else
		fprintf(stderr,
			"rooflinectl record: nothing was recorded: the program did not use CUDA, or "
			"it could not be recorded, for the reason above\n");
}

/* ---- while it runs ---- */

struct watched {
	struct record_ring ring;
	struct record_live live;
};

static void on_tick(void *user, bool is_asked)
{
	struct watched *watched = user;

	record_ring_tick(&watched->ring, is_asked);
	record_live_tick(&watched->live);
}

/* Without a ring and a line to show nothing is done while the program runs. */
static void watch(struct record_run *run, struct watched *watched, bool is_live)
{
	bool has_ring = *watched->ring.folder;

	record_live_start(&watched->live, has_ring ? watched->ring.folder : run->folder, is_live);
	if (has_ring || watched->live.is_on)
		run->watch = (struct signals_watch){.taken_signal = has_ring ? SIGUSR2 : 0,
						    .period_ms = CONTROL_POLL_MS,
						    .tick = on_tick,
						    .user = watched};
}

/* ---- recordings ---- */

/* Makes one.  Returns 0 where run has how the program ended; or the exit code after one line. */
static int make_recording(struct record_run *run, const struct record_choices *choices,
			  struct record_output *output)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	struct watched watched;
	int rc = record_output_choose(output, run->who);

	watched.ring = (struct record_ring){.who = run->who};
	if (rc == 0 && !output->is_nested)
		rc = record_ring_open(&watched.ring, output->folder, choices->ring, run->who);
	if (rc)
		return rc;
	run->folder = output->folder;
	if (record_inject(run->who) < 0)
		return EXIT_FAILED;
	watch(run, &watched, choices->is_live);
	signals_hold();
	if ((is_both() ? run_both(run) : record_run(run)) < 0)
		return EXIT_FAILED;
	record_live_end(&watched.live);
	if (choices->untraced_count && !output->is_nested && record_is_worth_repeating(run))
		(void)record_untraced(run, choices->untraced_count, input);
	if (*watched.ring.folder)
		record_ring_close(&watched.ring, run->is_started, run->status);
	else if (!choices->repeat_count && run->is_started && !output->is_nested)
		print_result(output->folder);
	return 0;
}

static void print_repeats(const char *folder, unsigned count)
{
	fprintf(stderr,
		"rooflinectl record: %s: %u recording%s of one program; compare takes them as repeats: "
		"rooflinectl compare %s OTHER\n",
		format_path(folder).text, count, count == 1 ? "" : "s",
		shell_path_text(folder).text);
}

/* Each in a folder of its own, which compare takes for a repeat; where stdin can be rewound, all runs read the same. */
static int make_repeats(struct record_run *run, const struct record_choices *choices)
{
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	struct record_output output;
	char base[2 * PATH_MAX];
	unsigned count = 0;
	int rc = record_output_folder(base, sizeof(base), run->who);

	run->next = "further run";
	while (rc == 0 && count < choices->repeat_count) {
		char folder[sizeof(base) + 16];

		if (count && input >= 0)
			lseek(STDIN_FILENO, input, SEEK_SET);
		fprintf(stderr, "rooflinectl record: run %u of %u\n", ++count,
			choices->repeat_count);
		snprintf(folder, sizeof(folder), "%s/%u", base, count);
		record_set_variable(ENV_OUTPUT, folder);
		rc = make_recording(run, choices, &output);
		if (rc == 0 && count < choices->repeat_count && !record_is_worth_repeating(run))
			break;
	}
	if (rc == 0 && count == choices->repeat_count)
		print_repeats(base, count);
	else if (rc == 0 && run->is_started)
		print_result(output.folder);
	run->folder = NULL; /* it was that of output */
	return rc;
}

int cmd_record(int argc, char **argv)
{
	struct record_run run = {.who = "rooflinectl record",
				 .is_started = true,
				 .next = "second run"};
	struct record_choices choices;
	struct record_output output;
	int rc;

	record_output_note();
	if (!record_options_parse(argc, argv, &choices))
		return EXIT_USAGE;
	run.program = choices.program;
	record_set_variable(ENV_CONTROL, "1");
	rc = choices.repeat_count ? make_repeats(&run, &choices)
				  : make_recording(&run, &choices, &output);
	return rc ? rc : record_end_as_program(run.status);
}
