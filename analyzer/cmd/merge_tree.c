#include "cmd/merge_tree.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/new_file.h"
#include "roofline/ranks.h"

#define LOOK_NS 20000000 /* every 20 ms */

/* ---- which process this is ---- */

/* What launchers call a job, where they do. */
static const char *const job_names[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID",
					"SLURM_STEP_ID", "TORCHELASTIC_RUN_ID"};

static bool read_number(uint64_t *number, const char *text)
{
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	*number = strtoull(text, &end, 10);
	return !*end && *number < INT32_MAX;
}

/* Letters and digits of a name that the launcher gives, to be part of a file's. */
static void add_name(char *buffer, size_t size, const char *text)
{
	size_t length = strlen(buffer);

	for (; text && *text && length + 2 < size; text++)
		if (isalnum((unsigned char)*text))
			buffer[length++] = *text;
	buffer[length] = '\0';
}

int merge_tree_find(struct merge_tree *tree, struct err *err)
{
	if (!read_number(&tree->process, ranks_rank()) ||
	    !read_number(&tree->count, ranks_world_size()))
		return err_set(
			err, -EDOM,
			"--mpi: no launcher says which process of how many this is; start it "
			"with mpirun, srun or torchrun");
	if (tree->process >= tree->count)
		return err_set(
			err, -EDOM,
			"--mpi: the environment says that this is rank %" PRIu64 " of %" PRIu64
			", which cannot be: ranks count from 0; unset what is "
			"left of another launcher, such as OMPI_COMM_WORLD_RANK, or start it "
			"with mpirun, srun or torchrun",
			tree->process, tree->count);
	for (size_t i = 0; i < sizeof(job_names) / sizeof(*job_names); i++)
		add_name(tree->job, sizeof(tree->job), getenv(job_names[i]));
	return 0;
}

/* ---- files between processes ---- */

struct handed {
	char path[PATH_MAX], failed[PATH_MAX];
};

static int name_files(struct handed *files, const struct merge_tree *tree, uint64_t process,
		      struct err *err)
{
	int length = snprintf(files->path, sizeof(files->path), "%s.%s.%" PRIu64 ".part",
			      tree->path, *tree->job ? tree->job : "job", process);

	if (length >= (int)sizeof(files->path) ||
	    snprintf(files->failed, sizeof(files->failed), "%s.failed", files->path) >=
		    (int)sizeof(files->failed))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", tree->path);
	return 0;
}

static int hand_on(const char *path, const struct summary *summary, const char *why,
		   struct err *err)
{
	struct new_file file;
	int rc = new_file_open(&file, path, err);

	if (rc < 0)
		return rc;
	if (why)
		rc = write_all(file.fd, why, strlen(why));
	else
		rc = summary_write(summary, file.fd, path, err);
	return new_file_close(&file, rc, err);
}

/* What another process could not do, in its words. */
static int tell_failure(const struct handed *files, uint64_t process, struct err *err)
{
	FILE *file = fopen(files->failed, "r");
	char why[512] = "";

	if (file) {
		if (!fgets(why, sizeof(why), file))
			*why = '\0';
		fclose(file);
	}
	unlink(files->failed);
	return err_set(err, -EIO, "process %" PRIu64 " failed: %s", process, why);
}

static int wait_for(const struct handed *files, const struct merge_tree *tree, uint64_t process,
		    struct err *err)
{
	const struct timespec pause = {0, LOOK_NS};
	struct timespec now, begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (now = begin; now.tv_sec - begin.tv_sec <= (time_t)tree->wait_seconds;
	     clock_gettime(CLOCK_MONOTONIC, &now)) {
		if (access(files->path, F_OK) == 0)
			return 0;
		if (access(files->failed, F_OK) == 0)
			return tell_failure(files, process, err);
		nanosleep(&pause, NULL);
	}
	return err_set(err, -ETIMEDOUT,
		       "%s: process %" PRIu64 " has not handed its part on after %u s; do all "
		       "processes see this folder?",
		       files->path, process, tree->wait_seconds);
}

static int take(const struct merge_tree *tree, uint64_t process, struct summary *summary, int rc,
		struct err *err)
{
	struct handed files = {.path = ""};
	struct err other = {""};
	int other_rc = name_files(&files, tree, process, &other);

	if (other_rc == 0)
		other_rc = wait_for(&files, tree, process, &other);
	if (other_rc == 0 && rc == 0)
		other_rc = summary_read(summary, files.path, &other);
	if (other_rc == 0 || other_rc == -EEXIST || rc < 0)
		unlink(files.path);
	if (rc == 0 && other_rc < 0)
		rc = err_set(err, other_rc, "%s", other.text);
	return rc;
}

int merge_tree_join(const struct merge_tree *tree, struct summary *summary, int rc, struct err *err)
{
	struct handed files = {.path = ""};
	uint64_t step = 1;
	int handed_rc;

	for (; step < tree->count && tree->process % (2 * step) == 0; step *= 2)
		if (tree->process + step < tree->count)
			rc = take(tree, tree->process + step, summary, rc, err);
	if (tree->process == 0)
		return rc;
	handed_rc = name_files(&files, tree, tree->process, err);
	if (handed_rc < 0)
		return handed_rc;
	if (rc == 0)
		return hand_on(files.path, summary, NULL, err);
	(void)hand_on(files.failed, NULL, err->text, NULL);
	return rc;
}
