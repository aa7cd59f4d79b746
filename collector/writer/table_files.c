#define _GNU_SOURCE
#include "writer/table_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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

static char folder[PATH_MAX]; /* for people, and to ask about its disk */
static struct table_file folder_file;
static struct table_file files[TRACE_TABLE_COUNT];
static bool has_ring, is_private;
static struct ring ring;

/* Within the folder of this process. */
#define NAME_ROOM 96

static void segment_name(char name[NAME_ROOM], uint32_t number)
{
	snprintf(name, NAME_ROOM, CONTROL_SEGMENT "%u", number);
}

static void table_name(char name[NAME_ROOM], enum trace_table table, uint32_t segment)
{
	if (has_ring && !is_kept_whole[table])
		snprintf(name, NAME_ROOM, CONTROL_SEGMENT "%u/%s.csv", segment, table_names[table]);
	else
		snprintf(name, NAME_ROOM, "%s.csv", table_names[table]);
}

/* False when the application closed the descriptor, and perhaps opened something else on its number. */
static bool is_own(const struct table_file *file, struct stat *status)
{
	return file->inode && file->descriptor >= 0 && fstat(file->descriptor, status) == 0 &&
	       status->st_dev == file->device && status->st_ino == file->inode;
}

/* The folder of this process, opened again where the application closed it.  Whatever its path names by now, nothing is
 * written into another one. */
static int folder_descriptor(void)
{
	struct stat status;
	int descriptor;

	if (is_own(&folder_file, &status))
		return folder_file.descriptor;
	descriptor = own_descriptor_open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (descriptor < 0)
		return descriptor;
	folder_file.descriptor = descriptor;
	if (is_own(&folder_file, &status))
		return descriptor;
	close(descriptor);
	folder_file.descriptor = -1;
	return -ENOENT;
}

static bool drop_oldest(void);

/* Where all numbers of our own table are taken: another table is opened again when it is needed. */
static bool close_another(enum trace_table table)
{
	static int last;
	struct stat status;

	for (int i = 0; i < TRACE_TABLE_COUNT; i++) {
		last = (last + 1) % TRACE_TABLE_COUNT;
		if (last != (int)table && is_own(&files[last], &status)) {
			close(files[last].descriptor);
			files[last].descriptor = -1;
			return true;
		}
	}
	return false;
}

/* A file that was there is not made again. */
static int open_file(enum trace_table table, bool is_new)
{
	int descriptor, parent;
	char name[NAME_ROOM];

	table_name(name, table, ring.newest);
	do {
		parent = folder_descriptor();
		descriptor = parent < 0 ? parent
					: own_descriptor_open(parent, name,
							      O_WRONLY | O_APPEND | O_NOFOLLOW |
								      (is_new ? O_CREAT : 0),
							      FILE_MODE);
	} while ((descriptor == -ENOSPC && drop_oldest()) ||
		 (descriptor == -EMFILE && is_private && close_another(table)));
	return descriptor;
}

/* Opens a table for appending.  Returns 0 or a negative errno. */
static int table_open(enum trace_table table)
{
	struct table_file *file = &files[table];
	bool is_new = !file->inode;
	int descriptor = open_file(table, is_new);
	struct stat status;

	if (descriptor < 0)
		return descriptor;
	if (fstat(descriptor, &status) || !S_ISREG(status.st_mode)) {
		close(descriptor);
		return -EIO;
	}
	if (!is_new && (status.st_dev != file->device || status.st_ino != file->inode)) {
		close(descriptor);
		return -ENOENT;
	}
	*file = (struct table_file){descriptor, status.st_dev, status.st_ino};
	return 0;
}

/* The table's own descriptor, opened anew when the application closed or replaced it. */
static int table_descriptor(enum trace_table table, struct stat *status)
{
	struct table_file *file = &files[table];
	int rc;

	if (is_own(file, status))
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

static size_t append(enum trace_table table, const char *bytes, size_t length)
{
	const char *header = table_headers[table] + 1;
	size_t done = 0, header_done = 0;
	struct stat status = {.st_size = 0};
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

/* ---- on the thread with descriptors of its own ---- */

struct appending {
	enum trace_table table;
	const char *bytes;
	size_t length, done;
};

static void do_append(void *data)
{
	struct appending *appending = data;

	appending->done = append(appending->table, appending->bytes, appending->length);
}

size_t table_append(enum trace_table table, const char *bytes, size_t length)
{
	struct appending appending = {table, bytes, length, 0};

	own_descriptors_do(do_append, &appending);
	return appending.done;
}

enum size_limit table_files_limit(size_t bytes, bool is_last)
{
	return size_limit_check(folder, bytes, is_last);
}

const char *table_files_folder(void)
{
	return folder;
}

int table_files_descriptor(void)
{
	return folder_descriptor();
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

/* A slash at the end would follow a link. */
static int open_output(const char *output)
{
	char path[PATH_MAX];
	size_t length;
	int rc;

	snprintf(path, sizeof(path), "%s", output);
	for (length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = '\0';
	rc = make_folders(path);
	return rc < 0 ? rc
		      : own_descriptor_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

/* Another user's folder may lead anywhere, and what others may write to is theirs as well.  On some disks what we make has an
 * owner of the disk's choice: then the folder has the same. */
static bool is_users_own(int output, int made)
{
	struct stat whole, ours;

	return fstat(output, &whole) == 0 && fstat(made, &ours) == 0 &&
	       (whole.st_uid == geteuid() || whole.st_uid == ours.st_uid) &&
	       !(whole.st_mode & S_IWOTH);
}

/* Makes host.pid in the folder; a process id can come again (exec, or a long job), then host.pid.2 and so on. */
static int make_in(int output, const char *output_path)
{
	char host[256] = "localhost", *name = folder + strlen(output_path) + 1;
	struct stat status;
	int rc;

	gethostname(host, sizeof(host) - 1);
	for (char *slash = host; (slash = strchr(slash, '/'));)
		*slash = '_'; /* Linux takes any name */
	for (int attempt = 1; attempt < 1000; attempt++) {
		char suffix[16] = "";

		if (attempt > 1)
			snprintf(suffix, sizeof(suffix), ".%d", attempt);
		if ((size_t)snprintf(folder, sizeof(folder), "%s/%s.%d%s", output_path, host,
				     (int)getpid(), suffix) >= sizeof(folder))
			return -ENAMETOOLONG;
		if (mkdirat(output, name, FOLDER_MODE) == 0)
			break;
		if (errno != EEXIST)
			return -errno;
		if (attempt == 999)
			return -EEXIST;
	}
	rc = own_descriptor_open(output, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (rc < 0)
		return rc;
	if (fstat(rc, &status) || !is_users_own(output, rc)) {
		close(rc);
		unlinkat(output, name, AT_REMOVEDIR);
		return -EPERM;
	}
	folder_file = (struct table_file){rc, status.st_dev, status.st_ino};
	return 0;
}

static int make_process_folder(const char *output)
{
	int rc, descriptor = open_output(output);

	snprintf(folder, sizeof(folder), "%s", output);
	if (descriptor < 0)
		return descriptor;
	rc = make_in(descriptor, output);
	close(descriptor);
	if (rc < 0)
		snprintf(folder, sizeof(folder), "%s", output);
	return rc;
}

/* ---- segments ---- */

void table_files_keep_last(int64_t span_ns, int64_t bytes)
{
	has_ring = span_ns || bytes;
	ring_init(&ring, span_ns, bytes, clock_ns(CLOCK_MONOTONIC));
}

static int make_segment(uint32_t number)
{
	char name[NAME_ROOM];
	int parent = folder_descriptor();

	segment_name(name, number);
	if (parent < 0)
		return parent;
	return mkdirat(parent, name, FOLDER_MODE) && errno != EEXIST ? -errno : 0;
}

/* Its tables are opened again, in the newest segment, by the next rows. */
static void close_segment(void)
{
	struct stat status;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		if (is_kept_whole[table])
			continue;
		if (is_own(&files[table], &status))
			close(files[table].descriptor);
		files[table] = (struct table_file){.descriptor = -1};
	}
}

/* Whoever is reading it sees that it has lost its name, and that what was read of it is not whole. */
static void remove_segment(uint32_t number)
{
	char name[NAME_ROOM], old[NAME_ROOM] = ".removed", file[2 * NAME_ROOM];
	int parent = folder_descriptor();

	segment_name(name, number);
	if (parent < 0)
		return;
	if (renameat(parent, name, parent, old))
		memcpy(old, name, sizeof(old));
	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		if (is_kept_whole[table])
			continue;
		snprintf(file, sizeof(file), "%s/%s.csv", old, table_names[table]);
		unlinkat(parent, file, 0);
	}
	unlinkat(parent, old, AT_REMOVEDIR);
}

static bool drop_oldest(void)
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
		if (!drop_oldest())
			return false;
	return true;
}

static bool turn(void)
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

static void do_drop_oldest(void *is_dropped)
{
	*(bool *)is_dropped = drop_oldest();
}

bool table_files_drop_oldest(void)
{
	bool is_dropped = false;

	if (has_ring)
		own_descriptors_do(do_drop_oldest, &is_dropped);
	return is_dropped;
}

static void do_turn(void *has_room)
{
	*(bool *)has_room = turn();
}

bool table_files_turn(void)
{
	bool has_room = true;

	if (has_ring)
		own_descriptors_do(do_turn, &has_room);
	return has_room;
}

/* A program that may have only few descriptors, and not more, keeps them all: it might need those that we would use. */
static int check_descriptors(void)
{
	struct rlimit limit;

	if (is_private || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS_NEEDED)
		return 0;
	log_warn("only %d files may be open (ulimit -n), a recording has %d of its own, and this "
		 "system allows no thread its own table of them; nothing is recorded. Allow %d",
		 (int)limit.rlim_cur, TRACE_TABLE_COUNT, DESCRIPTORS_NEEDED);
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

static void close_files(void)
{
	struct stat status;

	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		if (is_own(&files[table], &status))
			close(files[table].descriptor);
	if (is_own(&folder_file, &status))
		close(folder_file.descriptor);
	memset(files, 0, sizeof(files));
	memset(&folder_file, 0, sizeof(folder_file));
}

/* What could not be opened as a whole is no recording: the files, and their number, are the program's again. */
static void remove_tables(void)
{
	char name[NAME_ROOM];
	int parent = folder_descriptor();

	for (int table = 0; parent >= 0 && table < TRACE_TABLE_COUNT; table++) {
		table_name(name, (enum trace_table)table, ring.newest);
		unlinkat(parent, name, 0);
	}
	if (parent >= 0 && has_ring) {
		segment_name(name, ring.newest);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close_files();
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
			append(table, "", 0);
	}
	if (rc < 0)
		remove_tables();
	return rc;
}

static int open_recording(const char *output)
{
	int rc = check_descriptors();

	if (rc == 0)
		rc = check_disk(output);
	if (rc < 0)
		return rc;
	rc = open_tables(output);
	if (rc == -EPERM || rc == -ELOOP || rc == -ENOTDIR)
		log_warn(
			"cannot record into %s: it is no folder, a link, another user's, or one that "
			"others may write to; nothing is recorded. Set ROOFLINE_OUTPUT to a folder "
			"of your own, or to a name in it",
			folder);
	else if (rc < 0)
		log_warn("cannot record into %s: %s; nothing is recorded. Set ROOFLINE_OUTPUT to a "
			 "folder that can be written",
			 folder, strerror(-rc));
	return rc;
}

struct opening {
	const char *output;
	int rc;
};

static void do_open(void *data)
{
	struct opening *opening = data;

	opening->rc = open_recording(opening->output);
}

int table_files_open(const char *output)
{
	struct opening opening = {output, 0};

	is_private = own_descriptors_start();
	own_descriptors_do(do_open, &opening);
	return opening.rc;
}

void table_files_forget(void)
{
	if (own_descriptors_forget())
		close_files();
}
