/*
 * workloads.c - `rooflinectl workloads`: lists the bundled workloads and starts them.
 *
 * A workload is a program of its own, lib/rooflinectl/workloads/NAME beside us; this command
 * becomes that program, so its output and exit code are those of the workload.
 */
#include "cmd/commands.h"
#include "cmd/usage.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "workloads/workloads.h"

struct workload {
	const char *name, *id, *technique;
	int control;
	const char *summary;
};

#define WORKLOAD_TABLE_ROW(name, id, technique, control, summary) \
	{#name, id, technique, control, summary},
static const struct workload workloads[] = {WORKLOADS(WORKLOAD_TABLE_ROW)};
#undef WORKLOAD_TABLE_ROW

static const size_t workload_count = sizeof(workloads) / sizeof(workloads[0]);

static void list_workloads(void)
{
	const char *technique = "";

	for (size_t i = 0; i < workload_count; i++) {
		const struct workload *row = &workloads[i];

		if (strcmp(technique, row->technique))
			printf("%s%s\n", i ? "\n" : "", row->technique);
		technique = row->technique;
		printf("  %-21s %-3s %s%s\n", row->name, row->id, row->summary,
		       row->control ? " (control)" : "");
	}
}

static const struct workload *find_workload(const char *name)
{
	for (size_t i = 0; i < workload_count; i++)
		if (!strcmp(name, workloads[i].name))
			return &workloads[i];
	return NULL;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to insert, delete or replace to make a out of b: Levenshtein's distance, one row of its
 * table at a time.  b longer than 63 letters is compared by its first 63. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], length = smaller(strlen(b), 63);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= length; j++) {
			size_t replaced = diagonal + (a[i] != b[j - 1]);

			diagonal = row[j];
			row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
		}
	}
	return row[length];
}

/* The name most like the one asked for, or NULL when none comes near. */
static const char *nearest_name(const char *name)
{
	const char *nearest = NULL;
	size_t least = strlen(name) / 2 + 1;

	for (size_t i = 0; i < workload_count; i++) {
		size_t distance = edit_distance(workloads[i].name, name);

		if (distance < least) {
			least = distance;
			nearest = workloads[i].name;
		}
	}
	return nearest;
}

static int complain_unknown(const char *name)
{
	const char *nearest = nearest_name(name);

	fprintf(stderr, "rooflinectl workloads: no workload '%s'", name);
	if (nearest)
		fprintf(stderr, "; did you mean '%s'?\n", nearest);
	else
		fputs("; rooflinectl workloads lists them\n", stderr);
	return EXIT_USAGE;
}

/* Becomes the program of workload; argv[0] is its name.  Returns only when that fails. */
static int start_workload(const struct workload *workload, char **argv)
{
	char relative[NAME_MAX], path[PATH_MAX];
	int rc;

	snprintf(relative, sizeof(relative), "lib/rooflinectl/workloads/%s", workload->name);
	rc = path_resource(path, sizeof(path), relative);
	if (rc == 0) {
		execv(path, argv);
		rc = -errno;
	}
	if (rc == -ENOENT)
		fprintf(stderr,
			"rooflinectl workloads: %s was not built, %s is missing: install the CUDA "
			"toolkit (nvcc) and run make again\n",
			workload->name, path);
	else
		fprintf(stderr, "rooflinectl workloads: cannot start %s: %s\n", path,
			strerror(-rc));
	return EXIT_FAILED;
}

static const struct argp_option options[] = {
	{"list", 'l', NULL, 0, "list the workloads by technique (also when no NAME is given)", 0},
	{0},
};

/* Stops at NAME: what follows belongs to the workload. */
static error_t parse_option(int key, char *text, struct argp_state *state)
{
	int *name_index = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'l':
		return 0;
	case ARGP_KEY_ARG:
		*name_index = state->next - 1;
		state->next = state->argc;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int cmd_workloads(int argc, char **argv)
{
	static const struct argp parser = {
		options,
		parse_option,
		"[NAME [VARIANT] [WORKLOAD-OPTION...]]",
		"List the bundled workloads, or run one of them.\v"
		"NAME --list lists its variants, NAME --help its options.  Without VARIANT all of "
		"them run, each checked against the scalar reference before its time is shown.",
		NULL,
		NULL,
		NULL,
	};
	const struct workload *workload;
	int name_index = 0;

	if (usage_parse(&parser, argc, argv, ARGP_IN_ORDER, &name_index))
		return EXIT_USAGE;
	if (!name_index) {
		list_workloads();
		return EXIT_OK;
	}
	workload = find_workload(argv[name_index]);
	if (!workload)
		return complain_unknown(argv[name_index]);
	return start_workload(workload, argv + name_index);
}
