/*
 * record_output.c - the folder of a recording, and whether it is free for this run.
 *
 * Several processes may share a folder: those that one record starts, and the ranks of one job, each under a
 * record of its own (mpirun -n 4 rooflinectl record -o DIR).  A rank is there once in a job, so a folder that
 * holds this rank already, or a job of another size, is that of another run.
 */
#define _GNU_SOURCE
#include "cmd/record_output.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/live_target.h"
#include "cmd/record_options.h"
#include "roofline/ranks.h"

#define VALUE_BYTES 64 /* longer ones are none of ours */

/* Of a record above this one. */
static char *outer_folder; /* or NULL */
static char *outer_dumps;  /* its -o, where it keeps the last only, or NULL */

void record_output_note(void)
{
	const char *folder = record_variable(ENV_OUTPUT), *id = record_variable(ENV_RECORD);
	char dumps[PATH_MAX];

	if (!folder || !*folder || !id || !*id)
		return;
	outer_folder = strdup(folder);
	if (record_variable(ENV_LAST) && live_dumps_of(dumps, sizeof(dumps), folder) == 0)
		outer_dumps = strdup(dumps);
}

/* What would be written among the folders of a recording of everything is part of no report. */
static int check_last(const char *who)
{
	if (outer_dumps || !record_variable(ENV_LAST))
		return 0;
	fprintf(stderr,
		"%s: --last: the record above this one keeps everything, in %s: choose another folder with "
		"-o\n",
		who, outer_folder);
	return EXIT_USAGE;
}

/* The folder is that of a record above this one: its processes are recorded as if this one were not there. */
static bool join_outer(struct record_output *output)
{
	if (!outer_folder || (strcmp(outer_folder, output->folder) != 0 &&
			      (!outer_dumps || strcmp(outer_dumps, output->folder) != 0)))
		return false;
	snprintf(output->folder, sizeof(output->folder), "%s", outer_folder);
	return true;
}

/* ---- who has written into a folder ---- */

/* The rows of process.csv that tell whose it is; "" where there is none. */
struct writer {
	char schema[VALUE_BYTES];
	char record[VALUE_BYTES], rank[VALUE_BYTES], world_size[VALUE_BYTES];
};

static void note_value(char *value, const char *key, const char *line)
{
	size_t length = strlen(key);

	if (!strncmp(line, key, length) && line[length] == ',')
		snprintf(value, VALUE_BYTES, "%.*s", (int)strcspn(line + length + 1, "\r\n"),
			 line + length + 1);
}

/* Returns false when there is no such file. */
static bool read_writer(const char *path, struct writer *writer)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return false;
	*writer = (struct writer){0};
	while (getline(&line, &room, file) > 0) {
		note_value(writer->schema, "schema", line);
		note_value(writer->record, "record", line);
		note_value(writer->rank, "rank", line);
		note_value(writer->world_size, "world_size", line);
	}
	free(line);
	fclose(file);
	return true;
}

static bool is_same_run(const struct writer *writer, const char *id)
{
	const char *rank = ranks_rank(), *world_size = ranks_world_size();

	if (!*writer->schema || !strcmp(writer->record, id))
		return true; /* one that has not written yet is just starting */
	return rank && *writer->rank && strcmp(rank, writer->rank) &&
	       !strcmp(world_size ? world_size : "", writer->world_size);
}

/* Finds a process folder of another run; its name is written. */
static bool find_other_run(const char *folder, const char *id, char *name, size_t size)
{
	char path[4 * PATH_MAX];
	DIR *directory = opendir(folder);
	struct dirent *entry;
	struct writer writer;
	bool is_found = false;

	while (directory && !is_found && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/process.csv", folder, entry->d_name);
		is_found = read_writer(path, &writer) && !is_same_run(&writer, id);
		if (is_found)
			snprintf(name, size, "%s", entry->d_name);
	}
	if (directory)
		closedir(directory);
	return is_found;
}

/* ---- choosing ---- */

/* The folder has to be the same for every process that the program starts. */
int record_output_folder(char *folder, size_t size, const char *who)
{
	const char *wanted = record_variable(ENV_OUTPUT);
	char cwd[PATH_MAX] = "", when[32];
	time_t now = time(NULL);
	struct tm local;

	if (!(wanted && *wanted == '/') && !getcwd(cwd, sizeof(cwd))) {
		fprintf(stderr, "%s: the current folder is gone: %s\n", who, strerror(errno));
		return EXIT_FAILED;
	}
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	if (!wanted || !*wanted)
		snprintf(folder, size, "%s/roofline.%s.%d", cwd, when, (int)getpid());
	else
		snprintf(folder, size, "%s%s%s", *wanted == '/' ? "" : cwd,
			 *wanted == '/' ? "" : "/", wanted);
	return 0;
}

static void choose_id(char *id, size_t size)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = ((uint64_t)time(NULL) << 32) + (uint64_t)getpid();
	snprintf(id, size, "%016llx", (unsigned long long)number);
}

/* ---- runs at the same time ---- */

/* A run writes into its folder when its program first uses CUDA, which may be late.  Until it ends it holds a name that only
 * one socket of this machine can have; the kernel gives the name back however the run ends. */
static int claim = -1;

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return hash;
}

/* Returns false when a run that goes on has it; where there are no such sockets it is ours. */
static bool claim_folder(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *rank = ranks_rank();
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "rooflinectl.%u.%016" PRIx64 ".%.32s", (unsigned)getuid(),
			      hash_of(folder), rank ? rank : "");

	if (claim >= 0)
		close(claim);
	claim = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return claim < 0 ||
	       !bind(claim, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) ||
	       errno != EADDRINUSE;
}

int record_output_choose(struct record_output *output, const char *who)
{
	char id[32], name[NAME_MAX + 1];
	int rc = record_output_folder(output->folder, sizeof(output->folder), who);

	if (rc)
		return rc;
	output->is_nested = join_outer(output);
	record_set_variable(ENV_OUTPUT, output->folder);
	if (output->is_nested)
		return check_last(who);
	if (!claim_folder(output->folder)) {
		fprintf(stderr,
			"%s: another run that has not ended records into %s: choose another folder with "
			"-o, or wait for its end\n",
			who, output->folder);
		return EXIT_USAGE;
	}
	choose_id(id, sizeof(id));
	record_set_variable(ENV_RECORD, id);
	if (!find_other_run(output->folder, id, name, sizeof(name)))
		return 0;
	fprintf(stderr,
		"%s: %s already holds a recording of another run (%s): choose another folder with -o, "
		"or remove this one\n",
		who, output->folder, name);
	return EXIT_USAGE;
}
