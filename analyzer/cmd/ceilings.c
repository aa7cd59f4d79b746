/* ceilings.c - measures this GPU's roofs and launch costs, or shows a stored file of them. */
#define _GNU_SOURCE /* asprintf */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/format.h"
#include "cmd/ceilings_choice.h"
#include "cmd/ceilings_file.h"
#include "cmd/ceilings_run.h"
#include "cmd/ceilings_text.h"
#include "cmd/commands.h"
#include "cmd/doctor_probe.h"
#include "cmd/usage.h"

struct options {
	const char *output_path, *shown_path;
	bool is_show, is_json, is_quick, is_part;
	bool is_chosen[CEILING_PROGRAM_COUNT];
	char command[512]; /* as it was typed, for the file */
};

enum { KEY_ONLY = 256, KEY_QUICK, KEY_SHOW, KEY_LINKS };

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0, "store in FILE instead of the file of this GPU and driver", 0},
	{"quick", KEY_QUICK, NULL, 0, "fewer and shorter samples: within 20 s", 0},
	{"only", KEY_ONLY, "NAME,...", 0,
	 "run only these programs: memory, caches, arithmetic, tensor, transfer, atomics, "
	 "orchestration, device_launches, links, nvshmem; without -o stored beside what is known of the others",
	 0},
	{"links", KEY_LINKS, NULL, 0,
	 "as --only=links,nvshmem: copies, signals, collectives and puts between GPUs", 0},
	{"show", KEY_SHOW, NULL, 0,
	 "measure nothing: print FILE, or without one what a report of this GPU would use", 0},
	{"format", 'f', "text|json", 0, "a table (default), or the JSON that the file holds", 0},
	{0},
};

/* The programs' names for a complaint: "memory, caches, ...". */
static const char *program_names(void)
{
#define PROGRAM_NAME(name, what) ", " #name
	return &CEILING_PROGRAMS(PROGRAM_NAME)[2];
#undef PROGRAM_NAME
}

static void begin_part(struct options *options)
{
	if (!options->is_part)
		memset(options->is_chosen, 0, sizeof(options->is_chosen));
	options->is_part = true;
}

static void parse_only(struct options *options, char *names, struct argp_state *state)
{
	char *name;

	begin_part(options);
	while ((name = strsep(&names, ","))) {
		int program = ceiling_program_find(name);

		if (program < 0)
			usage_fail(state, "--only: no program '%s'; there are %s", name,
				   program_names());
		options->is_chosen[program] = true;
	}
}

static void check_options(const struct options *options, struct argp_state *state)
{
	if (options->is_show && (options->output_path || options->is_quick || options->is_part))
		usage_fail(state,
			   "-o, --quick, --only and --links are for measuring, not for showing");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'o':
		options->output_path = argument;
		return 0;
	case 'f':
		options->is_json = usage_is_json(state, argument);
		return 0;
	case KEY_QUICK:
		options->is_quick = true;
		return 0;
	case KEY_ONLY:
		parse_only(options, argument, state);
		return 0;
	case KEY_LINKS:
		begin_part(options);
		options->is_chosen[CEILING_PROGRAM_links] = true;
		options->is_chosen[CEILING_PROGRAM_nvshmem] = true;
		return 0;
	case KEY_SHOW:
		options->is_show = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->shown_path)
			usage_fail(state, "one file at a time, not also '%s'", argument);
		options->shown_path = argument;
		options->is_show = true;
		return 0;
	case ARGP_KEY_END:
		check_options(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Measure the roofs of the first GPU here: memory, caches, arithmetic, copies, atomics, "
	       "what launching and waiting cost, and the links to other GPUs.\n\nWith FILE, print what was stored there.",
};

/* ---- the GPU ---- */

/* Names the first GPU and its driver. */
static int find_gpu(struct doctor_system *machine, struct err *err)
{
	const struct doctor_driver *driver = &machine->driver;
	const char *why = driver->end == PROBE_HUNG	 ? "the driver hangs"
			  : driver->end == PROBE_CRASHED ? "the driver crashes"
			  : driver->load_error[0]	 ? "libcuda.so.1 cannot be loaded"
			  : driver->init_text[0]	 ? driver->init_text
			  : driver->gpu_count < 1	 ? "the driver finds none"
							 : NULL;

	if (why)
		return err_set(err, -ENODEV,
			       "no GPU to measure (%s): see rooflinectl doctor, or name a stored "
			       "FILE to show",
			       why);
	if (!machine->kernel_driver[0])
		strcpy(machine->kernel_driver, "unknown");
	return 0;
}

static int probe_gpu(struct doctor_system *machine, struct err *err)
{
	memset(machine, 0, sizeof(*machine));
	doctor_probe_files(machine, "/proc");
	doctor_probe_driver(&machine->driver);
	return find_gpu(machine, err);
}

/* ---- printing ---- */

static bool is_color_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

static int print(const struct ceilings *ceilings, const char *note, const struct options *options,
		 struct err *err)
{
	if (options->is_json)
		return ceilings_file_print(ceilings, stdout, err);
	ceilings_text(ceilings, note, is_color_wanted(), stdout);
	return 0;
}

static void complain(const char *text)
{
	fprintf(stderr, "rooflinectl ceilings: %s\n", text);
}

/* ---- showing ---- */

static int show_file(const struct options *options, struct err *err)
{
	struct ceilings *ceilings = NULL;
	int rc = ceilings_file_read(&ceilings, options->shown_path, err);

	if (rc == 0)
		rc = print(ceilings, NULL, options, err);
	ceilings_free(ceilings);
	return rc;
}

static int show_chosen(const struct options *options, struct err *err)
{
	struct ceilings_choice choice = {0};
	struct doctor_system machine;
	int rc = probe_gpu(&machine, err);

	if (rc == 0)
		rc = ceilings_for_gpu(&choice, machine.driver.gpus[0].name, machine.kernel_driver,
				      0, 0, NULL, err);
	if (rc == 0 && choice.passed_over.text[0])
		complain(choice.passed_over.text);
	if (rc == 0 && !choice.ceilings)
		rc = err_set(err, -ENOENT, "%s", choice.note);
	if (rc == 0)
		rc = print(choice.ceilings, choice.note, options, err);
	ceilings_choice_close(&choice);
	return rc;
}

/* ---- measuring ---- */

static char *safe_copy(const char *text)
{
	char safe[512];

	format_text(safe, sizeof(safe), text, sizeof(safe));
	return strdup(safe);
}

static char *now_text(void)
{
	char text[32];
	time_t now = time(NULL);
	struct tm utc;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	return strdup(text);
}

/* Empty ceilings that say what they are of. */
static struct ceilings *new_ceilings(const struct options *options,
				     const struct doctor_system *machine)
{
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));

	if (!ceilings)
		return NULL;
	ceilings->gpu = safe_copy(machine->driver.gpus[0].name);
	ceilings->driver = safe_copy(machine->kernel_driver);
	ceilings->cuda = strdup(format_cuda_version((uint64_t)machine->driver.cuda_version).text);
	ceilings->command = safe_copy(options->command);
	ceilings->date = now_text();
	ceilings->is_quick = options->is_quick;
	if (ceilings->gpu && ceilings->driver && ceilings->cuda && ceilings->command &&
	    ceilings->date)
		return ceilings;
	ceilings_free(ceilings);
	return NULL;
}

/* Fails when not one of the chosen programs was built, which is said once and not for each. */
static int check_built(const struct options *options, struct err *err)
{
	char path[PATH_MAX];

	for (int i = 0; i < CEILING_PROGRAM_COUNT; i++)
		if (options->is_chosen[i] &&
		    ceilings_run_find(path, sizeof(path), (enum ceiling_program)i, err) == 0) {
			err->text[0] = '\0';
			return 0;
		}
	return -ENOENT;
}

/* Runs the programs one after another; each failure is shown at once.  Returns the number of
 * failures, or -EINTR. */
static int run_programs(struct ceilings_run *run, const struct options *options)
{
	int failures = 0, rc = 0;

	for (int i = 0; i < CEILING_PROGRAM_COUNT && rc != -EINTR; i++) {
		struct err err = {""};

		if (!options->is_chosen[i])
			continue;
		rc = ceilings_run_program(run, (enum ceiling_program)i, &err);
		ceilings_run_clear_progress();
		if (rc < 0 && rc != -EINTR) {
			complain(err.text);
			failures++;
		}
	}
	return rc == -EINTR ? rc : failures;
}

static size_t chosen_count(const struct options *options)
{
	size_t count = 0;

	for (int i = 0; i < CEILING_PROGRAM_COUNT; i++)
		count += options->is_chosen[i];
	return count;
}

/* Ends us as the signal would have, so that the caller sees an interrupted command. */
static void end_by(int signal_number)
{
	complain("interrupted; nothing was stored");
	fflush(NULL);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Fills in ceilings.  Returns the number of programs that failed, or a negative errno. */
static int measure(struct ceilings *ceilings, const struct options *options, struct err *err)
{
	struct ceilings_run run;
	int failures, signal_number;

	ceilings_run_open(&run, ceilings, options->is_quick, chosen_count(options));
	failures = run_programs(&run, options);
	if (failures >= 0 && ceilings_add_samples(ceilings, run.samples, run.sample_count) < 0)
		failures = err_set(err, -ENOMEM, "out of memory");
	signal_number = ceilings_run_close(&run);
	if (signal_number) {
		end_by(signal_number);
		return err_set(err, -EINTR, "interrupted");
	}
	(void)ceilings_sort(ceilings);
	if (failures >= 0 && ceilings->count == 0 && ceilings->skip_count == 0)
		return err_set(err, -EIO, "nothing could be measured, and nothing was stored");
	return failures;
}

static int store(const struct ceilings *ceilings, const char *path, int failures, struct err *err)
{
	int rc;

	if (!path) {
		complain("not stored, because only a part was measured; -o FILE stores it");
		return 0;
	}
	rc = ceilings_file_write(ceilings, path, err);
	fflush(stdout); /* where both go to one file the table stays whole */
	if (rc == 0)
		fprintf(stderr, "rooflinectl ceilings: stored in %s%s\n", path,
			failures ? ", without what failed" : "");
	return rc;
}

/* ---- a part beside the whole ---- */

static int add_row(struct ceilings *ceilings, const struct ceiling *row,
		   const struct options *options)
{
	return options->is_chosen[ceiling_kind(row->id)->program] ? 0 : ceilings_add(ceilings, row);
}

static int add_skip(struct ceilings *ceilings, const struct ceiling_skip *skip,
		    const struct options *options)
{
	return options->is_chosen[ceiling_kind(skip->id)->program]
		       ? 0
		       : ceilings_add_skip(ceilings, skip->id, skip->parameter, skip->reason);
}

/* All rows of the other programs, and how both were measured. */
static int add_whole(struct ceilings *part, const struct ceilings *whole,
		     const struct options *options)
{
	char *command = NULL, *date = strdup(whole->date ? whole->date : "");
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < whole->count; i++)
		rc = add_row(part, &whole->rows[i], options);
	for (size_t i = 0; rc == 0 && i < whole->skip_count; i++)
		rc = add_skip(part, &whole->skips[i], options);
	if (asprintf(&command, "%.800s; %s on %.10s", whole->command ? whole->command : "",
		     part->command, part->date) < 0)
		command = NULL;
	if (!command || !date || rc < 0) {
		free(command);
		free(date);
		return -ENOMEM;
	}
	free(part->command);
	free(part->date);
	part->command = command;
	part->date = date;
	(void)ceilings_sort(part);
	return 0;
}

/* Whether what is stored, or came with rooflinectl, was measured on this GPU with this driver, and no less well. */
static bool fits(const struct ceilings *whole, const struct ceilings *part)
{
	return whole && !whole->is_datasheet && whole->gpu && whole->driver &&
	       !strcmp(whole->gpu, part->gpu) && !strcmp(whole->driver, part->driver) &&
	       (whole->is_quick || !part->is_quick);
}

/* What only a part was measured of is put beside what is known of the rest: *path is then where to store both, and NULL
 * where nothing is known, as a part alone must not stand for the whole. */
static int put_beside(struct ceilings *part, const char **path, char *buffer, size_t size,
		      const struct options *options, struct err *err)
{
	struct ceilings_choice choice = {0};
	int rc = ceilings_for_gpu(&choice, part->gpu, part->driver, 0, 0, NULL, err);

	*path = NULL;
	if (rc == 0 && fits(choice.ceilings, part)) {
		part->is_quick = choice.ceilings->is_quick;
		rc = add_whole(part, choice.ceilings, options);
		if (rc < 0)
			err_set(err, rc, "out of memory");
		if (rc == 0)
			rc = ceilings_user_path(buffer, size, part->gpu, part->driver, err);
		*path = buffer;
	}
	ceilings_choice_close(&choice);
	return rc;
}

/* Where to store: *path is NULL for a part without -o, which must not replace a whole. */
static int storing_path(const char **path, char *buffer, size_t size, const struct options *options,
			const struct doctor_system *machine, struct err *err)
{
	*path = options->output_path;
	if (*path || options->is_part)
		return 0;
	*path = buffer;
	return ceilings_user_path(buffer, size, machine->driver.gpus[0].name,
				  machine->kernel_driver, err);
}

/* Returns the number of programs that failed, or a negative errno. */
static int measure_and_store(const struct options *options, struct err *err)
{
	struct doctor_system machine;
	struct ceilings *ceilings = NULL;
	char buffer[PATH_MAX];
	const char *path;
	int failures, rc = probe_gpu(&machine, err);

	if (rc < 0 || (rc = check_built(options, err)) < 0 ||
	    (rc = storing_path(&path, buffer, sizeof(buffer), options, &machine, err)) < 0)
		return rc;
	ceilings = new_ceilings(options, &machine);
	if (!ceilings)
		return err_set(err, -ENOMEM, "out of memory");
	failures = measure(ceilings, options, err);
	rc = failures < 0 ? failures : print(ceilings, NULL, options, err);
	if (rc == 0 && !path && !failures)
		rc = put_beside(ceilings, &path, buffer, sizeof(buffer), options, err);
	if (rc == 0)
		rc = store(ceilings, path, failures, err);
	ceilings_free(ceilings);
	return rc < 0 ? rc : failures;
}

static void note_command(struct options *options, int argc, char **argv)
{
	size_t length = 0;

	for (int i = 0; i < argc && length < sizeof(options->command); i++)
		length += (size_t)snprintf(options->command + length,
					   sizeof(options->command) - length, "%s%s", i ? " " : "",
					   argv[i]);
}

int cmd_ceilings(int argc, char **argv)
{
	struct options options = {0};
	struct err err = {""};
	int rc;

	note_command(&options, argc, argv);
	memset(options.is_chosen, true, sizeof(options.is_chosen));
	if (usage_parse(&parser, argc, argv, 0, &options))
		return EXIT_USAGE;
	if (options.shown_path)
		rc = show_file(&options, &err);
	else if (options.is_show)
		rc = show_chosen(&options, &err);
	else
		rc = measure_and_store(&options, &err);
	if (rc < 0)
		complain(err.text);
	return rc == 0 ? EXIT_OK : EXIT_FAILED;
}
