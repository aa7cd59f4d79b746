#define _GNU_SOURCE
#include "writer/table_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "roofline/control.h"
#include "size_limit.h"
#include "writer/own_descriptor.h"
#include "writer/ring.h"

#define FOLDER_MODE 0700 /* names, commands and paths are the owner's */
#define FILE_MODE 0600
#define DESCRIPTORS_NEEDED 128 /* that a program has, where the tables take a few of these */
#define FOLDERS 3	       /* that a recording makes beside its tables, a segment among them */

struct table_file {
	int descriptor;
	dev_t device; /* to see whether the application closed it and opened something else */
	ino_t inode;
};

#define TABLE_NAME(table, columns) #table,
static const char *const table_names[] = {TRACE_TABLES(TABLE_NAME)};
#define HEADER_COLUMN(type, name, meaning) "," #name
#define TABLE_HEADER(table, columns) columns(HEADER_COLUMN) "\n",
static const char *const table_headers[] = {TRACE_TABLES(TABLE_HEADER)}; /* with a leading comma */

/* Of a flight recorder these are kept whole: others refer to them, and they grow with what there is, not with what
 * happens. */
static const bool is_kept_whole[TRACE_TABLE_COUNT] = {
	[TRACE_TABLE_process] = true,	      [TRACE_TABLE_names] = true,
	[TRACE_TABLE_devices] = true,	      [TRACE_TABLE_contexts] = true,
	[TRACE_TABLE_streams] = true,	      [TRACE_TABLE_signatures] = true,
	[TRACE_TABLE_machine_code] = true,    [TRACE_TABLE_modules] = true,
	[TRACE_TABLE_graph_nodes] = true,     [TRACE_TABLE_graph_edges] = true,
	[TRACE_TABLE_threads] = true,	      [TRACE_TABLE_metrics] = true,
	[TRACE_TABLE_sampled_metrics] = true, [TRACE_TABLE_losses] = true,
};

static char folder[PATH_MAX];
static struct table_file files[TRACE_TABLE_COUNT];
static bool has_ring;
static struct ring ring;

static void segment_path(char *path, size_t size, uint32_t number)
{
	snprintf(path, size, "%s/" CONTROL_SEGMENT "%u", folder, number);
}

static void table_path(char *path, size_t size, enum trace_table table, uint32_t segment)
{
	char parent[PATH_MAX + 32];

	if (has_ring && !is_kept_whole[table])
		segment_path(parent, sizeof(parent), segment);
	else
		snprintf(parent, sizeof(parent), "%s", folder);
	snprintf(path, size, "%s/%s.csv", parent, table_names[table]);
}

/* Opens a table for appending.  Returns 0 or a negative errno. */
static int table_open(enum trace_table table)
{
	struct table_file *file = &files[table];
	char path[PATH_MAX + 96];
	struct stat status;
	int descriptor;

	table_path(path, sizeof(path), table, ring.newest);
	do {
		descriptor = own_descriptor_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW,
						 FILE_MODE);
	} while (descriptor == -ENOSPC && table_files_drop_oldest());
	if (descriptor < 0)
		return descriptor;
	if (fstat(descriptor, &status)) {
		close(descriptor);
		return -EIO;
	}
	*file = (struct table_file){descriptor, status.st_dev, status.st_ino};
	return 0;
}

/* False when the application closed the descriptor, and perhaps opened something else on its number. */
static bool table_is_own(const struct table_file *file, struct stat *status)
{
	return fstat(file->descriptor, status) == 0 && status->st_dev == file->device &&
	       status->st_ino == file->inode;
}

/* The table's own descriptor, opened anew when the application closed or replaced it. */
static int table_descriptor(enum trace_table table, struct stat *status)
{
	struct table_file *file = &files[table];
	int rc;

	if (table_is_own(file, status))
		return status->st_nlink ? file->descriptor : -ENOENT;
	rc = table_open(table);
	if (rc < 0)
		return rc;
	return fstat(file->descriptor, status) == 0 ? file->descriptor : -errno;
}

/* Writes all of it, or returns an errno; *done tells how far it came. */
static int write_fully(int descriptor, const char *bytes, size_t length, size_t *done)
{
	for (*done = 0; *done < length;) {
		ssize_t written = write(descriptor, bytes + *done, length - *done);

		if (written == 0)
			return EIO; /* a file system of its own making; trying again could last for ever */
		if (written > 0)
			*done += (size_t)written;
		else if (errno != EINTR)
			return errno;
	}
	return 0;
}

static void note_written(enum trace_table table, size_t bytes)
{
	size_limit_add(bytes);
	if (has_ring && !is_kept_whole[table])
		ring_add(&ring, (int64_t)bytes);
}

size_t table_append(enum trace_table table, const char *bytes, size_t length)
{
	const char *header = table_headers[table] + 1;
	size_t done = 0, header_done = 0;
	struct stat status;
	int descriptor = table_descriptor(table, &status);
	int problem = descriptor < 0 ? -descriptor : 0;

	if (!problem && status.st_size == 0) {
		problem = write_fully(descriptor, header, strlen(header), &header_done);
		if (problem)
			header_done = 0;
	}
	if (!problem)
		problem = write_fully(descriptor, bytes, length, &done);
	if (!problem) {
		note_written(table, header_done + length);
		return length;
	}
	while (done > 0 && bytes[done - 1] != '\n')
		done--;
	if (descriptor >= 0 && ftruncate(descriptor, status.st_size + (off_t)(header_done + done)))
		problem = errno;
	note_written(table, header_done + done);
	log_warn_once("cannot write %s/%s.csv: %s; rows are lost and counted", folder,
		      table_names[table], strerror(problem));
	return done;
}

enum size_limit table_files_limit(size_t bytes, bool is_last)
{
	return size_limit_check(folder, bytes, is_last);
}

const char *table_files_folder(void)
{
	return folder;
}

/* ---- opening and closing ---- */

static int make_folders(const char *path)
{
	char partial[PATH_MAX];

	snprintf(partial, sizeof(partial), "%s", path);
	for (char *slash = strchr(partial + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(partial, FOLDER_MODE) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(partial, FOLDER_MODE) && errno != EEXIST ? -errno : 0;
}

/* output/host.pid; a process id can come again (exec, or a long job), then host.pid.2 and so on. */
static int make_process_folder(const char *output)
{
	char host[256] = "localhost";
	int rc = make_folders(output);

	if (rc < 0) {
		snprintf(folder, sizeof(folder), "%s", output);
		return rc;
	}
	gethostname(host, sizeof(host) - 1);
	for (char *slash = host; (slash = strchr(slash, '/'));)
		*slash = '_'; /* Linux takes any name */
	for (int attempt = 1; attempt < 1000; attempt++) {
		char suffix[16] = "";

		if (attempt > 1)
			snprintf(suffix, sizeof(suffix), ".%d", attempt);
		if ((size_t)snprintf(folder, sizeof(folder), "%s/%s.%d%s", output, host,
				     (int)getpid(), suffix) >= sizeof(folder))
			return -ENAMETOOLONG;
		if (mkdir(folder, FOLDER_MODE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* ---- segments ---- */

void table_files_keep_last(int64_t span_ns, int64_t bytes)
{
	has_ring = span_ns || bytes;
	ring_init(&ring, span_ns, bytes, clock_ns(CLOCK_MONOTONIC));
}

static int make_segment(uint32_t number)
{
	char path[PATH_MAX + 32];

	segment_path(path, sizeof(path), number);
	return mkdir(path, FOLDER_MODE) && errno != EEXIST ? -errno : 0;
}

/* Its tables are opened again, in the newest segment, by the next rows. */
static void close_segment(void)
{
	struct stat status;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		if (is_kept_whole[table])
			continue;
		if (files[table].inode && table_is_own(&files[table], &status))
			close(files[table].descriptor);
		files[table] = (struct table_file){.descriptor = -1};
	}
}

/* Whoever is reading it sees that it has lost its name, and that what was read of it is not whole. */
static void remove_segment(uint32_t number)
{
	char path[PATH_MAX + 32], old[PATH_MAX + 32], file[PATH_MAX + 96];

	segment_path(path, sizeof(path), number);
	snprintf(old, sizeof(old), "%s/.removed", folder);
	if (rename(path, old))
		snprintf(old, sizeof(old), "%s", path);
	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		if (is_kept_whole[table])
			continue;
		snprintf(file, sizeof(file), "%s/%s.csv", old, table_names[table]);
		unlink(file);
	}
	rmdir(old);
}

bool table_files_drop_oldest(void)
{
	if (!has_ring || ring.oldest == ring.newest)
		return false;
	log_warn_once("%s keeps less than was asked for: its disk has only the space, or the "
		      "number of files, left that is to stay free (ROOFLINE_MIN_FREE)",
		      folder);
	remove_segment(ring.oldest);
	ring_drop(&ring);
	size_limit_ask_again();
	return true;
}

/* The folder and a file for each table at most. */
static int segment_files(void)
{
	int count = 1;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		count += !is_kept_whole[table];
	return count;
}

/* The oldest give theirs back where the disk can hold no more. */
static bool has_files_for_segment(void)
{
	while (!size_limit_has_files(folder, segment_files()))
		if (!table_files_drop_oldest())
			return false;
	return true;
}

bool table_files_turn(void)
{
	int64_t now_ns;

	if (!has_ring)
		return true;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (ring_is_due(&ring, now_ns) && !has_files_for_segment())
		return false;
	if (ring_is_due(&ring, now_ns) && make_segment(ring.newest + 1) == 0) {
		close_segment();
		ring_turn(&ring, now_ns);
	}
	while (ring_has_old(&ring, now_ns)) {
		remove_segment(ring.oldest);
		ring_drop(&ring);
	}
	return true;
}

/* A program that may have only few descriptors, and not more, keeps them all: it might need those that we would use. */
static int check_descriptors(void)
{
	int limit;

	if (own_descriptors_are_extra(&limit) || limit >= DESCRIPTORS_NEEDED)
		return 0;
	log_warn(
		"only %d files may be open (ulimit -n) and a recording has %d of its own; nothing is "
		"recorded. Allow %d",
		limit, TRACE_TABLE_COUNT, DESCRIPTORS_NEEDED);
	return -EMFILE;
}

/* A disk that is nearly full is left to the program. */
static int check_disk(const char *output)
{
	int64_t free_bytes = 0, floor_bytes = size_limit_min_free(output, &free_bytes);

	if (!size_limit_has_files(output, TRACE_TABLE_COUNT + FOLDERS)) {
		log_warn("the disk of %s has room for few more files (df -i), and some are to stay "
			 "free (ROOFLINE_MIN_FREE); nothing is recorded",
			 output);
		return -ENOSPC;
	}
	if (free_bytes >= floor_bytes)
		return 0;
	log_warn("only %lld MB are free on the disk of %s, and %lld MB are to stay free "
		 "(ROOFLINE_MIN_FREE); nothing is recorded",
		 (long long)(free_bytes >> 20), output, (long long)(floor_bytes >> 20));
	return -ENOSPC;
}

/* What could not be opened as a whole is no recording: the files, and their number, are the program's again. */
static void remove_tables(void)
{
	char path[PATH_MAX + 96];

	table_files_close();
	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		table_path(path, sizeof(path), (enum trace_table)table, ring.newest);
		unlink(path);
	}
	if (has_ring) {
		segment_path(path, sizeof(path), ring.newest);
		rmdir(path);
	}
	rmdir(folder);
}

static int open_tables(const char *output)
{
	int rc = make_process_folder(output);

	if (rc < 0)
		return rc;
	if (has_ring)
		rc = make_segment(ring.newest);
	for (int table = 0; rc == 0 && table < TRACE_TABLE_COUNT; table++) {
		rc = table_open(table);
		if (rc == 0)
			table_append(table, "", 0);
	}
	if (rc < 0)
		remove_tables();
	return rc;
}

int table_files_open(const char *output)
{
	int rc = check_descriptors();

	if (rc == 0)
		rc = check_disk(output);
	if (rc < 0)
		return rc;
	rc = open_tables(output);
	if (rc < 0)
		log_warn("cannot record into %s: %s; nothing is recorded. Set ROOFLINE_OUTPUT to a "
			 "folder that can be written",
			 folder, strerror(-rc));
	return rc;
}

void table_files_close(void)
{
	struct stat status;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		if (files[table].inode && table_is_own(&files[table], &status))
			close(files[table].descriptor);
	memset(files, 0, sizeof(files));
}
