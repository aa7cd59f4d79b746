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
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/live_target.h"
#include "cmd/record_options.h"
#include "roofline/ranks.h"

#define VALUE_BYTES 64 /* longer ones are none of ours */
#define TEXT_MOST \
	(1 << 20) /* bytes of process.csv: the rows that are looked for stand at its beginning */

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

/* The text of a file of the user's own, without waiting for a pipe's writer, and no more than a recording has there. */
static char *read_own_file(int folder, const char *name)
{
	int process = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = process < 0 ? -1
			     : openat(process, "process.csv",
				      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status, parent;
	char *text = NULL;
	size_t used = 0;
	ssize_t length;

	if (fd >= 0 && fstat(fd, &status) == 0 && fstat(folder, &parent) == 0 &&
	    S_ISREG(status.st_mode) &&
	    (status.st_uid == geteuid() || status.st_uid == parent.st_uid))
		text = malloc(TEXT_MOST + 1);
	while (text && used < TEXT_MOST && (length = read(fd, text + used, TEXT_MOST - used)) > 0)
		used += (size_t)length;
	if (text)
		text[used] = '\0';
	if (fd >= 0)
		close(fd);
	if (process >= 0)
		close(process);
	return text;
}

/* Returns false when there is no such file. */
static bool read_writer(int folder, const char *name, struct writer *writer)
{
	char *text = read_own_file(folder, name), *rest = text, *line;

	if (!text)
		return false;
	*writer = (struct writer){0};
	while ((line = strsep(&rest, "\n"))) {
		note_value(writer->schema, "schema", line);
		note_value(writer->record, "record", line);
		note_value(writer->rank, "rank", line);
		note_value(writer->world_size, "world_size", line);
	}
	free(text);
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
	DIR *directory = opendir(folder);
	struct dirent *entry;
	struct writer writer;
	bool is_found = false;

	while (directory && !is_found && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		is_found = read_writer(dirfd(directory), entry->d_name, &writer) &&
			   !is_same_run(&writer, id);
		if (is_found)
			snprintf(name, size, "%s", entry->d_name);
	}
	if (directory)
		closedir(directory);
	return is_found;
}

/* ---- choosing ---- */

static uint64_t random_number(void)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = ((uint64_t)time(NULL) << 32) + (uint64_t)getpid();
	return number;
}

static bool may_others_write(const char *folder)
{
	struct stat status;

	return stat(folder, &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH));
}

/* The folder has to be the same for every process that the program starts.  Where others could make it first, no one can guess
 * its name. */
int record_output_folder(char *folder, size_t size, const char *who)
{
	const char *wanted = record_variable(ENV_OUTPUT);
	char cwd[PATH_MAX] = "", when[32], ending[16] = "";
	time_t now = time(NULL);
	struct tm local;

	if (!(wanted && *wanted == '/') && !getcwd(cwd, sizeof(cwd))) {
		fprintf(stderr, "%s: the current folder is gone: %s\n", who, strerror(errno));
		return EXIT_FAILED;
	}
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	if (may_others_write(cwd))
		snprintf(ending, sizeof(ending), ".%08x", (unsigned)random_number());
	if (!wanted || !*wanted)
		snprintf(folder, size, "%s/roofline.%s.%d%s", cwd, when, (int)getpid(), ending);
	else
		snprintf(folder, size, "%s%s%s", *wanted == '/' ? "" : cwd,
			 *wanted == '/' ? "" : "/", wanted);
	for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/'; length--)
		folder[length - 1] = '\0'; /* behind a slash a link would be followed */
	return 0;
}

static void choose_id(char *id, size_t size)
{
	snprintf(id, size, "%016llx", (unsigned long long)random_number());
}

/* ---- whose it is ---- */

static char
	reserved[2 * PATH_MAX]; /* a folder that was made for the program, which may not need it */

static void give_back(void)
{
	if (*reserved)
		rmdir(reserved);
	*reserved = '\0';
}

/* In a folder that others may write to, the name is taken at once; the program may come to it late. */
static void reserve(const char *folder)
{
	char parent[2 * PATH_MAX], *slash;

	snprintf(parent, sizeof(parent), "%s", folder);
	slash = strrchr(parent, '/');
	if (!slash || slash == parent)
		return;
	*slash = '\0';
	if (!may_others_write(parent) || mkdir(folder, 0700))
		return;
	snprintf(reserved, sizeof(reserved), "%s", folder);
	atexit(give_back);
}

/* Some disks give what a user makes an owner of their choice (root on NFS): then the folder has the same. */
static bool has_owner_of_new_files(const char *folder, uid_t owner)
{
	char probe[2 * PATH_MAX + 16];
	struct stat status;
	bool is_same;

	snprintf(probe, sizeof(probe), "%s/.owner.XXXXXX", folder);
	if (!mkdtemp(probe))
		return false;
	is_same = lstat(probe, &status) == 0 && status.st_uid == owner;
	rmdir(probe);
	return is_same;
}

/* The collector looks once more, and then never follows the path again. */
static const char *find_problem(const char *folder)
{
	struct stat status;

	if (lstat(folder, &status))
		return NULL; /* it is made, or the collector says why not */
	if (S_ISLNK(status.st_mode))
		return "is a link: name the folder that it leads to";
	if (!S_ISDIR(status.st_mode))
		return NULL;
	if (status.st_uid != geteuid() && !has_owner_of_new_files(folder, status.st_uid))
		return "belongs to another user: choose another folder with -o, or a name in it";
	return status.st_mode & S_IWOTH
		       ? "may be written to by all users: choose another folder with -o, or a name in it"
		       : NULL;
}

/* ---- runs at the same time ---- */

/* A run writes into its folder when its program first uses CUDA, which may be late.  Until it ends it holds a lock in a folder
 * of the user's alone on this machine; the kernel gives the lock back however the run ends. */
static int claim = -1;
static char claim_path[PATH_MAX];

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return hash;
}

/* Writes the path of that folder, and makes it.  Returns its descriptor, or -1 where there can be none. */
static int open_claims(char *path, size_t size)
{
	static const char *const places[] = {"/run/user/%u", "/tmp/rooflinectl.%u"};
	struct stat status;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int fd;

		snprintf(path, size, places[i], (unsigned)geteuid());
		if (i > 0)
			(void)mkdir(path, 0700);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
		    !(status.st_mode & (S_IWGRP | S_IWOTH)))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* A file that the run before has removed meanwhile is no claim. */
static bool is_named(int fd, int folder, const char *name)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static void end_claim(void)
{
	if (claim < 0)
		return;
	unlink(claim_path);
	*strrchr(claim_path, '/') = '\0';
	if (!strncmp(claim_path, "/tmp/", 5))
		rmdir(claim_path); /* another run's claim may be in it */
	close(claim);
	claim = -1;
}

/* Returns false when a run that has not ended has it; where no lock can be had it is ours. */
static bool claim_folder(const char *path)
{
	char claims[64], name[96];
	const char *rank = ranks_rank();
	int folder, rc = -1, problem;

	end_claim();
	folder = open_claims(claims, sizeof(claims));
	if (folder < 0)
		return true;
	snprintf(name, sizeof(name), "rooflinectl.%016" PRIx64 ".%.32s", hash_of(path),
		 rank ? rank : "");
	for (char *slash = name; (slash = strchr(slash, '/'));)
		*slash = '_';
	do {
		if (claim >= 0)
			close(claim);
		claim = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		rc = claim < 0 ? -1 : flock(claim, LOCK_EX | LOCK_NB);
	} while (rc == 0 && !is_named(claim, folder, name));
	problem = errno;
	close(folder);
	if (rc == 0) {
		static bool is_registered;

		snprintf(claim_path, sizeof(claim_path), "%s/%s", claims, name);
		if (!is_registered)
			atexit(end_claim);
		is_registered = true;
		return true;
	}
	if (claim >= 0)
		close(claim);
	claim = -1;
	return problem != EWOULDBLOCK;
}

int record_output_choose(struct record_output *output, const char *who)
{
	char id[32], name[NAME_MAX + 1];
	const char *problem;
	int rc = record_output_folder(output->folder, sizeof(output->folder), who);

	if (rc)
		return rc;
	output->is_nested = join_outer(output);
	record_set_variable(ENV_OUTPUT, output->folder);
	if (output->is_nested)
		return check_last(who);
	problem = find_problem(output->folder);
	if (problem) {
		fprintf(stderr, "%s: %s %s\n", who, output->folder, problem);
		return EXIT_USAGE;
	}
	if (!claim_folder(output->folder)) {
		fprintf(stderr,
			"%s: another run that has not ended records into %s: choose another folder with "
			"-o, or wait for its end\n",
			who, output->folder);
		return EXIT_USAGE;
	}
	choose_id(id, sizeof(id));
	record_set_variable(ENV_RECORD, id);
	if (!find_other_run(output->folder, id, name, sizeof(name))) {
		reserve(output->folder);
		return 0;
	}
	fprintf(stderr,
		"%s: %s already holds a recording of another run (%s): choose another folder with -o, "
		"or remove this one\n",
		who, output->folder, name);
	return EXIT_USAGE;
}
