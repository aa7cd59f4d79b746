#define _GNU_SOURCE /* strverscmp, versionsort */

#include "trace/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/groups.h"
#include "base/paths.h"
#include "base/temporary.h"
#include "trace/packed.h"
#include "trace/reader.h"

/* ---- processes ---- */

static struct recording_process *add_process(struct recording *recording, const char *name,
					     const char *path)
{
	struct recording_process *process =
		ARRAY_NEXT(recording->processes, recording->process_capacity,
			   recording->process_count);

	if (!process)
		return NULL;
	*process = (struct recording_process){.name = strdup(name),
					      .path = strdup(path),
					      .unpacked_fd = recording->unpacked_fd};
	recording->process_count++;
	return process->name && process->path ? process : NULL;
}

static int compare_names(const void *left, const void *right)
{
	const struct recording_process *a = left, *b = right;

	return strverscmp(a->name, b->name);
}

static void free_process(struct recording_process *process)
{
	free(process->name);
	free(process->path);
	free(process->copy_name);
}

/* ---- a folder ---- */

/* A process folder holds at least one table: one killed early may have no process.csv yet. */
static bool is_process_folder(const char *path)
{
	char file[PATH_MAX];

	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		if ((size_t)snprintf(file, sizeof(file), "%s/%s.csv", path,
				     reader_table_name(table)) < sizeof(file) &&
		    access(file, F_OK) == 0)
			return true;
	return false;
}

static int compare_folders(const void *left, const void *right)
{
	const struct recording_process *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->is_link != b->is_link)
		return a->is_link ? 1 : -1;
	return strverscmp(a->name, b->name);
}

/* A folder that is there under several names, as by a link, is one process. */
static void keep_each_once(struct recording *recording)
{
	struct recording_process *all = recording->processes;
	size_t count = recording->process_count, kept = 0;

	if (count)
		qsort(all, count, sizeof(*all), compare_folders);
	for (size_t i = 0; i < count; i++)
		if (kept && all[kept - 1].device == all[i].device &&
		    all[kept - 1].inode == all[i].inode)
			free_process(&all[i]);
		else
			all[kept++] = all[i];
	recording->process_count = kept;
}

static int add_folder(struct recording *recording, const char *parent, const char *name)
{
	struct recording_process *process;
	char path[PATH_MAX];
	struct stat status, link;

	if (name[0] == '.' ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", parent, name) >= sizeof(path) ||
	    lstat(path, &link) < 0 || stat(path, &status) < 0 || !is_process_folder(path))
		return 0;
	process = add_process(recording, name, path);
	if (!process)
		return -ENOMEM;
	process->device = status.st_dev;
	process->inode = status.st_ino;
	process->is_link = S_ISLNK(link.st_mode);
	return 0;
}

static int add_folders(struct recording *recording, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (rc == 0 && (entry = readdir(dir)))
		rc = add_folder(recording, path, entry->d_name);
	closedir(dir);
	if (rc == 0)
		keep_each_once(recording);
	return rc;
}

static int open_folder(struct recording *recording, const char *path, struct err *err)
{
	char *real = realpath(path, NULL); /* "." has no name to show */
	int rc;

	if (!real)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	recording->is_process = is_process_folder(real);
	if (recording->is_process)
		rc = add_process(recording, strrchr(real, '/') + 1, real) ? 0 : -ENOMEM;
	else
		rc = add_folders(recording, real);
	free(real);
	return rc < 0 ? err_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

/* ---- a packed one ---- */

static int open_nameless(struct err *err)
{
	int fd = temporary_make_nameless(temporary_parent());

	if (fd < 0)
		return err_set(err, fd,
			       "%s: cannot make a file: %s; set TMPDIR to a folder with space",
			       temporary_parent(), strerror(-fd));
	return fd;
}

/* While a packed recording is read. */
struct unpacking {
	struct recording *recording;
	struct packed *packed;
	const char *path;
	struct groups names; /* of processes: their indexes */
};

static struct recording_process *find_or_add(struct unpacking *unpacking, const char *name)
{
	struct recording *recording = unpacking->recording;
	char path[PATH_MAX];
	uint32_t index;

	if (groups_find(&unpacking->names, name, strlen(name), &index) < 0)
		return NULL;
	if (index < recording->process_count)
		return &recording->processes[index];
	snprintf(path, sizeof(path), "%s/%s", unpacking->path, name);
	return add_process(recording, name, path);
}

/* Takes one file of it where it is a table: name is PROCESS/TABLE.csv. */
static int unpack_table(struct unpacking *unpacking, const char *name, struct err *err)
{
	struct recording *recording = unpacking->recording;
	const char *slash = strchr(name, '/');
	int table = slash && name[0] != '.' ? reader_find_table(slash + 1) : TRACE_TABLE_COUNT;
	struct recording_process *process;
	struct recording_slice *slice;
	char folder[NAME_MAX + 1];
	long long count;

	if (table == TRACE_TABLE_COUNT || slash - name > NAME_MAX)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
	process = find_or_add(unpacking, folder);
	if (!process)
		return err_set(err, -ENOMEM, "%s: out of memory", unpacking->path);
	slice = &process->slices[table];
	if (slice->is_there)
		return err_set(err, -EBADMSG,
			       "%s: is no packed recording: '%s' is in it twice; make one with: "
			       "rooflinectl pack DIR",
			       unpacking->path, name);
	count = packed_copy(unpacking->packed, recording->unpacked_fd, temporary_parent(),
			    "; set TMPDIR to a folder with space", err);
	if (count < 0)
		return (int)count;
	slice->is_there = true;
	slice->end_byte = lseek(recording->unpacked_fd, 0, SEEK_CUR);
	slice->begin_byte = slice->end_byte - count;
	return 0;
}

static int open_packed(struct recording *recording, const char *path, struct err *err)
{
	struct unpacking unpacking = {.recording = recording, .path = path};
	const char *name;
	int rc = packed_open(&unpacking.packed, path, err);

	if (rc == 0)
		rc = recording->unpacked_fd = open_nameless(err);
	while (rc >= 0 && (rc = packed_next(unpacking.packed, &name, err)) > 0)
		rc = unpack_table(&unpacking, name, err);
	packed_close(unpacking.packed);
	groups_free(&unpacking.names);
	return rc < 0 ? rc : 0;
}

/* ---- either ---- */

bool recording_is_there(const char *path)
{
	char packed_path[PATH_MAX];

	return !strcmp(path, "-") || access(path, F_OK) == 0 ||
	       packed_find(packed_path, sizeof(packed_path), path);
}

bool recording_is_folder(const char *path)
{
	struct recording recording;
	struct stat status;
	struct err err;
	bool is_recorded;
	int rc;

	if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
		return false;
	rc = recording_open(&recording, path, &err);
	is_recorded = rc == -ENOMEM || (rc == 0 && recording.process_count > 0);
	recording_close(&recording);
	return is_recorded;
}

int recording_open(struct recording *recording, const char *path, struct err *err)
{
	char packed_path[PATH_MAX];
	struct stat status;
	int rc;

	*recording = (struct recording){.unpacked_fd = -1};
	if (!strcmp(path, "-"))
		rc = open_packed(recording, path, err);
	else if (stat(path, &status) == 0)
		rc = S_ISDIR(status.st_mode) ? open_folder(recording, path, err)
					     : open_packed(recording, path, err);
	else if (packed_find(packed_path, sizeof(packed_path), path))
		rc = open_packed(recording, packed_path, err);
	else
		rc = open_folder(recording, path, err);
	if (rc == 0 && recording->process_count) /* else one may have no name */
		qsort(recording->processes, recording->process_count, sizeof(*recording->processes),
		      compare_names);
	return rc;
}

void recording_remove_process(struct recording *recording, size_t index)
{
	struct recording_process *process = &recording->processes[index];

	free_process(process);
	recording->process_count--;
	memmove(process, process + 1, (recording->process_count - index) * sizeof(*process));
}

void recording_close(struct recording *recording)
{
	for (size_t i = 0; i < recording->process_count; i++)
		free_process(&recording->processes[i]);
	free(recording->processes);
	if (recording->unpacked_fd >= 0)
		close(recording->unpacked_fd);
	*recording = (struct recording){.unpacked_fd = -1};
}

/* ---- one table ---- */

int recording_open_table(struct recording_table *out, const struct recording_process *process,
			 enum trace_table table)
{
	char path[PATH_MAX];

	*out = (struct recording_table){process->unpacked_fd, process->slices[table]};
	if (process->unpacked_fd >= 0)
		return out->slice.is_there ? 0 : -ENOENT;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.csv", process->path,
			     reader_table_name(table)) >= sizeof(path))
		return -ENAMETOOLONG;
	return path_open_file(&out->fd, path);
}

size_t recording_table_bytes(const struct recording_process *process, enum trace_table table)
{
	const struct recording_slice *slice = &process->slices[table];
	char path[PATH_MAX];
	struct stat status;

	if (process->unpacked_fd >= 0)
		return (size_t)(slice->end_byte - slice->begin_byte);
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.csv", process->path,
			     reader_table_name(table)) >= sizeof(path) ||
	    stat(path, &status) < 0)
		return 0;
	return (size_t)status.st_size;
}

ssize_t recording_read_table(struct recording_table *table, void *buffer, size_t size)
{
	int64_t left = table->slice.end_byte - table->slice.begin_byte;
	ssize_t count;

	if (!table->slice.is_there)
		return read(table->fd, buffer, size);
	count = pread(table->fd, buffer, (int64_t)size < left ? size : (size_t)left,
		      table->slice.begin_byte);
	if (count > 0)
		table->slice.begin_byte += count;
	return count;
}

bool recording_find_rest(const struct recording_table *table, int64_t *begin_byte,
			 int64_t *end_byte)
{
	struct stat status;

	*begin_byte = table->slice.begin_byte;
	*end_byte = table->slice.end_byte;
	if (table->slice.is_there)
		return true;
	if (fstat(table->fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	*begin_byte = lseek(table->fd, 0, SEEK_CUR);
	*end_byte = status.st_size;
	return *begin_byte >= 0;
}

int recording_seek_table(struct recording_table *table, int64_t byte)
{
	if (table->slice.is_there)
		table->slice.begin_byte = byte;
	else if (lseek(table->fd, byte, SEEK_SET) < 0)
		return -errno;
	return 0;
}

void recording_close_table(struct recording_table *table)
{
	if (!table->slice.is_there)
		close(table->fd);
}
