/* merge.c - rooflinectl merge: summaries of any number of ranks as one, and what it tells. */
#include "cmd/commands.h"
#include "cmd/merge_tree.h"
#include "cmd/progress.h"
#include "cmd/source.h"
#include "cmd/summary_output.h"
#include "cmd/usage.h"

#include "base/array.h"
#include "base/worker.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHO "rooflinectl merge"
#define MOST_WORKERS 4
#define FILES_OF_A_WORKER 16 /* fewer are read faster than a thread is worth */
#define WAIT_SECONDS 600

struct files {
	char **paths;
	size_t count, capacity;
};

struct merge_arguments {
	struct files files;
	struct summary_output output;
	bool is_tree;
	struct merge_tree tree;
	struct err err; /* of the first argument that is no file */
	int rc;
};

enum { KEY_MPI = 256, KEY_WAIT };

static const struct argp_option option_table[] = {
	{"mpi", KEY_MPI, NULL, 0,
	 "share the work with the other processes that mpirun, srun or torchrun started with the "
	 "same arguments",
	 0},
	{"wait", KEY_WAIT, "SECONDS", 0,
	 "--mpi: how long to wait for another process, 600 by default", 0},
	{0},
};

/* ---- files ---- */

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int add_file(struct files *files, const char *path)
{
	char **next = ARRAY_NEXT(files->paths, files->capacity, files->count);

	if (!next)
		return -ENOMEM;
	*next = strdup(path);
	files->count += *next != NULL;
	return *next ? 0 : -ENOMEM;
}

static int is_summary(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(SUMMARY_SUFFIX);

	return length > suffix && !strcmp(entry->d_name + length - suffix, SUMMARY_SUFFIX);
}

static int compare_entries(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

/* Those of a folder, by name. */
static int add_folder(struct files *files, const char *folder, struct err *err)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_summary, compare_entries), rc = 0;

	if (count < 0)
		return err_set(err, -errno, "%s: %s", folder, strerror(errno));
	if (count == 0)
		rc = err_set(err, -ENOENT, "%s: no file there ends in " SUMMARY_SUFFIX, folder);
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		if (rc == 0 && (size_t)snprintf(path, sizeof(path), "%s/%s", folder,
						entries[i]->d_name) < sizeof(path))
			rc = is_folder(path) ? err_set(err, -EISDIR,
						       "%s: a folder that is called as summaries "
						       "are; rename it, or name the files to merge",
						       path)
					     : add_file(files, path);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int add_path(struct files *files, const char *path, struct err *err)
{
	int rc;

	if (is_folder(path))
		rc = add_folder(files, path, err);
	else
		rc = add_file(files, path);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory") : rc;
}

static void free_files(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
}

/* ---- the command line ---- */

static unsigned parse_wait(const char *text, struct argp_state *state)
{
	char *end;
	long seconds = strtol(text, &end, 10);

	if (*end || *text < '0' || *text > '9' || seconds > 86400)
		usage_fail(state, "--wait wants seconds up to 86400, not '%s'", text);
	return (unsigned)seconds;
}

static void check(const struct merge_arguments *arguments, struct argp_state *state)
{
	if (!arguments->files.count && arguments->rc == 0)
		usage_fail(state, "which summaries? 'rooflinectl summarize DIR -o FILE' makes one");
	if (arguments->is_tree && !arguments->output.path)
		usage_fail(state,
			   "--mpi wants -o FILE, beside which the processes hand on their parts");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct merge_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		state->child_inputs[0] = &arguments->output;
		return 0;
	case KEY_MPI:
		arguments->is_tree = true;
		return 0;
	case KEY_WAIT:
		arguments->tree.wait_seconds = parse_wait(argument, state);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->rc == 0)
			arguments->rc = add_path(&arguments->files, argument, &arguments->err);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&summary_output_argp, 0, NULL, 0}, {0}};

static const struct argp parser = {
	.children = children,
	.options = option_table,
	.parser = parse_option,
	.args_doc = "FILE... [-o FILE]",
	.doc = "Combine summaries of ranks, in any order to the same bytes, and show what they tell.\n\n"
	       "Each FILE is what 'rooflinectl summarize' or 'rooflinectl merge' wrote, or a folder with "
	       "such files, whose names end in " SUMMARY_SUFFIX
	       ".\n\nWithout -o the result is shown.",
};

/* ---- merging ---- */

/* Every step-th file from first on. */
struct share {
	const struct files *files;
	size_t first, step, end;
	struct summary summary;
	struct err err;
};

static int merge_share(void *context)
{
	struct share *share = context;
	int rc = 0;

	for (size_t i = share->first; i < share->end && rc == 0; i += share->step)
		rc = summary_read(&share->summary, share->files->paths[i], &share->err);
	return rc;
}

static size_t count_workers(size_t file_count)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = cores < MOST_WORKERS ? (size_t)(cores < 1 ? 1 : cores) : MOST_WORKERS;
	size_t wanted = file_count / FILES_OF_A_WORKER + 1;

	return wanted < most ? wanted : most;
}

/* Those of this process, by several threads. */
static int merge_files(struct summary *summary, const struct files *files, size_t first,
		       size_t step, struct err *err)
{
	struct share shares[MOST_WORKERS] = {{0}};
	struct worker workers[MOST_WORKERS];
	size_t count = count_workers(files->count / step);
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		shares[i] = (struct share){.files = files,
					   .first = first + i * step,
					   .step = step * count,
					   .end = files->count};
		worker_start(&workers[i], WORKER_ALWAYS, merge_share, &shares[i]);
	}
	for (size_t i = 0; i < count; i++) {
		int share_rc = worker_join(&workers[i]);

		if (rc == 0 && share_rc < 0)
			rc = err_set(err, share_rc, "%s", shares[i].err.text);
		if (rc == 0)
			rc = summary_merge(summary, &shares[i].summary, "the files", err);
		summary_free(&shares[i].summary);
	}
	return rc;
}

static int run(struct merge_arguments *arguments, struct err *err)
{
	struct merge_tree *tree = &arguments->tree;
	struct summary summary = {0};
	struct progress progress;
	int rc = 0;

	if (arguments->is_tree)
		rc = merge_tree_find(tree, err);
	if (rc < 0)
		return rc;
	progress_begin(&progress, "merging");
	rc = arguments->rc;
	if (rc < 0)
		*err = arguments->err;
	else
		rc = merge_files(&summary, &arguments->files, tree->process, tree->count, err);
	if (arguments->is_tree)
		rc = merge_tree_join(tree, &summary, rc, err);
	progress_end(&progress);
	if (rc == 0 && tree->process == 0)
		rc = summary_output(&arguments->output, &summary, err);
	summary_free(&summary);
	return rc;
}

int cmd_merge(int argc, char **argv)
{
	struct merge_arguments arguments = {.output.format = USAGE_FORMAT_text,
					    .tree = {.count = 1, .wait_seconds = WAIT_SECONDS}};
	struct err err = {""};
	int code = EXIT_USAGE, rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments) == 0) {
		arguments.tree.path = arguments.output.path;
		rc = run(&arguments, &err);
		if (rc < 0)
			fprintf(stderr, WHO ": %s\n", err.text);
		code = source_exit_code(rc);
	}
	free_files(&arguments.files);
	return code;
}
