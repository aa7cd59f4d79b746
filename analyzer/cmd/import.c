/* import.c - rooflinectl import: a recording of what other tools recorded. */
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/usage.h"

#include "base/array.h"
#include "base/format.h"
#include "base/sentences.h"
#include "base/shell.h"
#include "exchange/import/imports.h"
#include "trace/profile.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct import_arguments {
	char **paths;
	size_t capacity, count;
	const char *folder;
};

enum { KEY_NCU_METRICS = 256 };

/* For ncu --metrics, separated by commas; each once. */
static void print_ncu_metrics(void)
{
	char *metrics = imports_ncu_metrics();

	if (metrics)
		puts(metrics);
	free(metrics);
}

/* What argp is told of memory it tells as a wrong argument. */
static void add_path(struct import_arguments *arguments, char *path, const struct argp_state *state)
{
	char **place = ARRAY_NEXT(arguments->paths, arguments->capacity, arguments->count);

	if (!place) {
		fprintf(stderr, "%s: out of memory\n", state->name);
		exit(EXIT_FAILED);
	}
	*place = path;
	arguments->count++;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct import_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case KEY_NCU_METRICS:
		print_ncu_metrics();
		exit(EXIT_OK);
	case 'o':
		if (!*argument)
			usage_fail(state, "-o wants a name, not ''");
		arguments->folder = argument;
		return 0;
	case ARGP_KEY_ARG:
		add_path(arguments, argument, state);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->count)
			usage_fail(state, "which file?");
		if (!arguments->folder)
			usage_fail(state, "-o wants the folder of the recording to make");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0, "the recording to make: a folder that is not there yet", 0},
	{"ncu-metrics", KEY_NCU_METRICS, NULL, 0,
	 "print what 'ncu --metrics' has to count for a report, and end", 0},
	{0},
};

/* "  Nsight Systems: nsys export --type sqlite" on a line each. */
#define IMPORT_LINE(name, title) "\n  " title

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "FILE... -o DIR",
	.doc = "Make a recording of what other tools recorded, which every command reads.\n\n"
	       "Several files are several processes of one run. FILE is of:" IMPORTS(IMPORT_LINE),
};

/* ---- what was understood ---- */

#define LABEL "  %-9s"
#define WIDTH 1000 /* of what files say: a line stays one */

static void put_line(const char *label, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Names are from the files: nothing in them may move a cursor. */
static void put_line(const char *label, const char *format, ...)
{
	char text[1024], shown[4 * sizeof(text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	format_text(shown, sizeof(shown), text, WIDTH);
	printf(LABEL "%s\n", label, shown);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

struct understood {
	uint64_t process_count, rank_count;
	uint64_t kernel_count, copy_count, memset_count, graph_count;
	uint64_t without_launch_count;
	uint64_t launch_count, lost_count, early_count, impossible_count;
	int64_t early_ns;
	const char *source, *rounded;
};

static void count_ops(struct understood *all, const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		all->kernel_count += op->kind == OP_KERNEL;
		all->copy_count += op->kind == OP_COPY;
		all->memset_count += op->kind == OP_MEMSET;
		all->graph_count += op->kind == OP_GRAPH;
		all->without_launch_count +=
			op->call == PROFILE_NONE && !profile_op_node(profile, op);
	}
}

static struct understood understand(const struct profile *profile)
{
	struct understood all = {.source = "", .rounded = ""};

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		all.process_count++;
		all.rank_count += process->rank >= 0;
		all.launch_count += process->launch_count;
		all.lost_count += process->lost_launch_count;
		all.early_count += process->early_count;
		all.impossible_count += process->impossible_count;
		all.early_ns = process->early_ns > all.early_ns ? process->early_ns : all.early_ns;
		all.source = profile_property(process, "imported_from", all.source);
		all.rounded = profile_property(process, "imported_resolution_ns", all.rounded);
	}
	count_ops(&all, profile);
	return all;
}

/* "2 processes (pid 3000, 3001), ranks 0, 1" */
static void put_processes(const struct profile *profile, const struct understood *all)
{
	char pids[256] = "", ranks[256] = "";

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		if (process->pid && strlen(pids) < 200)
			snprintf(pids + strlen(pids), sizeof(pids) - strlen(pids), "%s%" PRIu64,
				 *pids ? ", " : " (pid ", process->pid);
		if (process->rank >= 0 && strlen(ranks) < 200)
			snprintf(ranks + strlen(ranks), sizeof(ranks) - strlen(ranks), "%s%" PRId64,
				 *ranks ? ", " : "; rank ", process->rank);
	}
	put_line("read", "%s: %" PRIu64 " process%s%s%s%s", all->source, all->process_count,
		 all->process_count == 1 ? "" : "es", pids, *pids ? ")" : "", ranks);
}

static void put_records(const struct profile *profile, const struct understood *all)
{
	size_t device_count = 0;
	char graphs[64] = "";

	for (size_t i = 0; i < profile->device_count; i++)
		device_count += profile->devices[i].op_count > 0;
	if (all->graph_count)
		snprintf(graphs, sizeof(graphs), ", %s whole graph%s",
			 format_count(all->graph_count).text, plural(all->graph_count));
	put_line(
		"",
		"%s kernel%s, %s cop%s, %s memset%s%s on %zu GPU%s; %s call%s, %s of them launches",
		format_count(all->kernel_count).text, plural(all->kernel_count),
		format_count(all->copy_count).text, all->copy_count == 1 ? "y" : "ies",
		format_count(all->memset_count).text, plural(all->memset_count), graphs,
		device_count, plural(device_count), format_count(profile->call_count).text,
		plural(profile->call_count), format_count(all->launch_count).text);
}

static void put_doubts(const struct profile *profile, const struct understood *all)
{
	if (!profile->call_count)
		put_line("lacks", "calls of the host: idle time has no causes");
	else if (all->without_launch_count)
		put_line("lacks",
			 "the launch of %s operation%s: idle time before them has no cause",
			 format_count(all->without_launch_count).text,
			 plural(all->without_launch_count));
	if (all->lost_count)
		put_line("lost", "%s of %s launch%s have no operation in the file",
			 format_count(all->lost_count).text, format_count(all->launch_count).text,
			 all->launch_count == 1 ? "" : "es");
	if (all->early_ns)
		put_line(
			"clocks",
			"%s operations begin before their launch, by up to %s: the clocks of host and "
			"GPU differ",
			format_count(all->early_count).text, format_ns((double)all->early_ns).text);
	if (*all->rounded)
		put_line("clocks", "times are whole microseconds");
}

/* Print each kind of loss with its first example; put_doubts() prints lost launches. */
static void put_losses(const struct profile *profile)
{
	for (size_t i = 0; i < profile->loss_sum_count; i++) {
		const struct profile_loss_sum *sum = &profile->loss_sums[i];
		const char *detail = profile->losses[sum->first].detail;

		if (strcmp(sum->kind, "lost_operations") != 0)
			put_line("left out", "%s %s: %s", format_count(sum->count).text, sum->kind,
				 detail ? detail : "");
	}
}

static void put_what_is_there(const struct profile *profile, const struct sentences *notes)
{
	struct understood all = understand(profile);

	put_processes(profile, &all);
	put_records(profile, &all);
	put_doubts(profile, &all);
	put_losses(profile);
	for (size_t i = 0; i < notes->count; i++)
		put_line(strncmp(notes->items[i], "the file says", 13) ? "left out" : "note", "%s",
			 notes->items[i]);
}

static void put_next(const struct import_arguments *arguments)
{
	printf("%s: a recording of %zu file%s; read it with: rooflinectl report ",
	       format_path(arguments->folder).text, arguments->count,
	       arguments->count == 1 ? "" : "s");
	shell_put_path(stdout, arguments->folder);
	putchar('\n');
}

int cmd_import(int argc, char **argv)
{
	struct import_arguments arguments = {0};
	struct sentences notes = {0};
	struct profile *profile = NULL;
	struct progress progress;
	struct err err = {""};
	int rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is a failure to tell of */
	progress_begin(&progress, "importing");
	rc = imports_make(arguments.folder, arguments.paths, arguments.count, &notes, &err);
	progress_end(&progress);
	if (rc == 0)
		rc = profile_load_tables(&profile, arguments.folder, TABLES_STEADY | TABLE(losses),
					 &err);
	if (rc == 0 && profile) {
		put_next(&arguments);
		put_what_is_there(profile, &notes);
	} else {
		fprintf(stderr, "rooflinectl import: %s\n", err.text);
	}
	profile_free(profile);
	sentences_free(&notes);
	free(arguments.paths);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}
