/*
 * workloads.c - `rooflinectl workloads`: lists the bundled workloads and starts them.
 *
 * A workload is a program of its own, lib/rooflinectl/workloads/NAME beside us; this command
 * becomes that program, so its output and exit code are those of the workload.
 */
#include "cmd/commands.h"
#include "cmd/usage.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
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

static json_t *describe_workload(const struct workload *row)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", row->name, "id", row->id, "technique",
			 row->technique, "is_control", row->control, "summary", row->summary);
}

static int list_as_json(void)
{
	json_t *list = json_array(),
	       *object = json_pack("{s:i, s:o}", "schema", 1, "workloads", list);
	int rc = object ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < workload_count; i++)
		rc = json_array_append_new(list, describe_workload(&workloads[i]));
	if (rc == 0)
		rc = json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
	return rc;
}

/* No row has a quote in it. */
static void list_as_csv(void)
{
	puts("name,id,technique,is_control,summary");
	for (size_t i = 0; i < workload_count; i++)
		printf("%s,%s,\"%s\",%d,\"%s\"\n", workloads[i].name, workloads[i].id,
		       workloads[i].technique, workloads[i].control, workloads[i].summary);
}

static int list_in(enum usage_format format)
{
	int rc = 0;

	if (format == USAGE_FORMAT_json)
		rc = list_as_json();
	else if (format == USAGE_FORMAT_csv)
		list_as_csv();
	else
		list_workloads();
	if (rc < 0 && !ferror(stdout)) { /* a list that cannot be written is told of at the end */
		fputs("rooflinectl workloads: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	return EXIT_OK;
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
	OPTION_FORMAT("of that list: for people (the default), or for programs"),
	{0},
};

struct chosen {
	int name_index; /* 0: none */
	enum usage_format format;
	bool has_format;
};

/* Stops at NAME: what follows belongs to the workload. */
static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct chosen *chosen = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'l':
		return 0;
	case 'f':
		chosen->format = usage_format(state, text);
		chosen->has_format = true;
		return 0;
	case ARGP_KEY_ARG:
		if (chosen->has_format)
			usage_fail(state,
				   "--format is of the list; a workload takes --json: "
				   "rooflinectl workloads %s --json",
				   text);
		chosen->name_index = state->next - 1;
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
	struct chosen chosen = {.format = USAGE_FORMAT_text};

	if (usage_parse(&parser, argc, argv, ARGP_IN_ORDER, &chosen))
		return EXIT_USAGE;
	if (!chosen.name_index)
		return list_in(chosen.format);
	workload = find_workload(argv[chosen.name_index]);
	if (!workload)
		return complain_unknown(argv[chosen.name_index]);
	return start_workload(workload, argv + chosen.name_index);
}
