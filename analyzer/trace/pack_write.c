#define _GNU_SOURCE
#include "trace/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/new_file.h"
#include "trace/packed.h"
#include "trace/reader.h"
#include "trace/recording.h"

#define BLOCK_BYTES 65536

struct packer {
	struct recording recording;
	struct archive *archive;
	ZSTD_CCtx *zstd; /* our own: libarchive's writes no checksum */
	int fd;
	const char *target;
	struct err *err;
	struct timespec newest; /* process.csv of the recording */
	char block[BLOCK_BYTES], compressed[BLOCK_BYTES];
};

/* ---- from the tar to the file ---- */

static int compress(struct packer *packer, const void *bytes, size_t count, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {bytes, count, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {packer->compressed, BLOCK_BYTES, 0};
		int rc;

		left = ZSTD_compressStream2(packer->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return err_set(packer->err, -EIO, "%s: %s", packer->target,
				       ZSTD_getErrorName(left));
		rc = write_all(packer->fd, packer->compressed, out.pos);
		if (rc < 0)
			return err_set(packer->err, rc, "%s: cannot be written: %s", packer->target,
				       strerror(-rc));
	} while (in.pos < in.size || (end == ZSTD_e_end && left));
	return 0;
}

/* libarchive calls this for each block of the tar. */
static la_ssize_t write_block(struct archive *archive, void *context, const void *bytes,
			      size_t count)
{
	(void)archive;
	return compress(context, bytes, count, ZSTD_e_continue) < 0 ? -1 : (la_ssize_t)count;
}

static int archive_failed(const struct packer *packer)
{
	const char *why = archive_error_string(packer->archive);

	return err_set(packer->err, -EIO, "%s: %s", packer->target, why ? why : "out of memory");
}

static int packer_begin(struct packer *packer, int level)
{
	packer->zstd = ZSTD_createCCtx();
	packer->archive = archive_write_new();
	if (!packer->zstd || !packer->archive)
		return err_set(packer->err, -ENOMEM, "%s: out of memory", packer->target);
	ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1);
	if (archive_write_set_format_pax_restricted(packer->archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(packer->archive, BLOCK_BYTES) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(packer->archive, 1) != ARCHIVE_OK ||
	    archive_write_open(packer->archive, packer, NULL, write_block, NULL) != ARCHIVE_OK)
		return archive_failed(packer);
	return 0;
}

static int packer_end(struct packer *packer)
{
	if (archive_write_close(packer->archive) != ARCHIVE_OK)
		return archive_failed(packer);
	return compress(packer, NULL, 0, ZSTD_e_end);
}

/* ---- what is packed ---- */

static int stop_at_row(const union trace_row *row, const struct reader_place *place, void *context)
{
	(void)row;
	(void)place;
	(void)context;
	return -ECANCELED;
}

/* Whether reading a table tells as much as its absence. */
static bool is_without_rows(const struct recording_process *process, enum trace_table table)
{
	struct reader_losses losses = {0};

	if (reader_read_table(process, table, stop_at_row, NULL, &losses, NULL) < 0)
		return false;
	for (int kind = 0; kind < READER_LOSS_COUNT; kind++)
		if (losses.count[kind])
			return false;
	return true;
}

/* process.csv stays, and where there is none the others: a folder without any table is no process. */
static bool is_left_out(const struct recording *recording, const char *path)
{
	int table = reader_find_table(strrchr(path, '/') + 1);
	size_t folder_length = (size_t)(strrchr(path, '/') - path);

	for (size_t i = 0; i < recording->process_count; i++) {
		const struct recording_process *process = &recording->processes[i];
		struct recording_table properties;

		if (strlen(process->path) != folder_length ||
		    strncmp(process->path, path, folder_length) != 0)
			continue;
		if (table == TRACE_TABLE_COUNT || table == TRACE_TABLE_process ||
		    recording_open_table(&properties, process, TRACE_TABLE_process) < 0)
			return false;
		recording_close_table(&properties);
		return is_without_rows(process, table);
	}
	return false;
}

static int add_header(struct packer *packer, const char *name, off_t size_bytes)
{
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		return err_set(packer->err, -ENOMEM, "%s: out of memory", packer->target);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, size_bytes);
	archive_entry_set_mtime(entry, 0, 0);
	rc = archive_write_header(packer->archive, entry);
	archive_entry_free(entry);
	return rc < ARCHIVE_WARN ? archive_failed(packer) : 0;
}

/* As long as it was when it was opened: a recording in progress grows. */
static int add_bytes(struct packer *packer, const char *path, int fd, off_t left)
{
	while (left > 0) {
		ssize_t count =
			read(fd, packer->block, left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return err_set(packer->err, count ? -errno : -EIO, "%s: %s", path,
				       count ? strerror(errno) : "became shorter meanwhile");
		if (archive_write_data(packer->archive, packer->block, (size_t)count) != count)
			return archive_failed(packer);
		left -= count;
	}
	return 0;
}

static void note_time(struct packer *packer, const char *path, const struct stat *status)
{
	if (reader_find_table(strrchr(path, '/') + 1) == TRACE_TABLE_process &&
	    status->st_mtim.tv_sec > packer->newest.tv_sec)
		packer->newest = status->st_mtim;
}

/* The file is as old as the recording, for who looks for the newest. */
static void set_time(const struct packer *packer)
{
	struct timespec times[2] = {packer->newest, packer->newest};

	if (packer->newest.tv_sec)
		(void)!futimens(packer->fd, times);
}

/* Whether it is what is being written, somewhere in the folder. */
static bool is_target(const struct packer *packer, const struct stat *status)
{
	struct stat target;

	return fstat(packer->fd, &target) == 0 && target.st_dev == status->st_dev &&
	       target.st_ino == status->st_ino;
}

static int add_file(struct packer *packer, const char *path, const char *name)
{
	struct stat status;
	int fd, rc;

	if (!packed_allows_name(name))
		return err_set(packer->err, -EINVAL,
			       "%s: deeper than a process's folder, as no file of a recording is; "
			       "move it elsewhere",
			       path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &status) < 0)
		rc = err_set(packer->err, -errno, "%s: %s", path, strerror(errno));
	else if (is_target(packer, &status))
		rc = 0;
	else if ((rc = add_header(packer, name, status.st_size)) == 0)
		rc = add_bytes(packer, path, fd, status.st_size);
	if (rc == 0)
		note_time(packer, path, &status);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int compare_entries(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int add_folder(struct packer *packer, const char *path, const char *root);

/* A name begins behind the recording's folder, or with that of the process folder that was named by itself. */
static int add_entry(struct packer *packer, const char *path, const char *root)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		return err_set(packer->err, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return add_folder(packer, path, root);
	if (!S_ISREG(status.st_mode))
		return err_set(packer->err, -EINVAL,
			       "%s: neither a file nor a folder; only those can be packed: remove "
			       "it, or replace it by a copy",
			       path);
	return is_left_out(&packer->recording, path)
		       ? 0
		       : add_file(packer, path, path + strlen(root) + 1);
}

/* path: of what is packed; root: of the folder where names begin. */
static int add_folder(struct packer *packer, const char *path, const char *root)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_entry, compare_entries), rc = 0;

	if (count < 0)
		return err_set(packer->err, -errno, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		char *entry = NULL;

		if (rc == 0 && asprintf(&entry, "%s/%s", path, entries[i]->d_name) < 0) {
			entry = NULL;
			rc = err_set(packer->err, -ENOMEM, "%s: out of memory", packer->target);
		} else if (rc == 0) {
			rc = add_entry(packer, entry, root);
		}
		free(entry);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int add_recording(struct packer *packer, const char *folder)
{
	char *real = realpath(folder, NULL), *root = real ? strdup(real) : NULL;
	int rc;

	if (!root)
		rc = err_set(packer->err, -errno, "%s: %s", folder, strerror(errno));
	else {
		if (packer->recording.is_process)
			*strrchr(root, '/') = '\0';
		rc = add_folder(packer, real, root);
	}
	free(root);
	free(real);
	return rc;
}

static int check_recording(const struct recording *recording, const char *folder, struct err *err)
{
	if (recording->unpacked_fd >= 0)
		return err_set(err, -EINVAL, "%s: is packed already", folder);
	if (!recording->process_count)
		return err_set(err, -ENOENT,
			       "%s: no recording there: neither it nor a folder in it holds "
			       "process.csv",
			       folder);
	return 0;
}

int pack_write(const char *folder, int fd, const char *target, int level, struct err *err)
{
	struct packer *packer = calloc(1, sizeof(*packer));
	int rc;

	if (!packer)
		return err_set(err, -ENOMEM, "%s: out of memory", folder);
	packer->fd = fd;
	packer->target = target;
	packer->err = err;
	rc = recording_open(&packer->recording, folder, err);
	if (rc == 0)
		rc = check_recording(&packer->recording, folder, err);
	if (rc == 0)
		rc = packer_begin(packer, level);
	if (rc == 0)
		rc = add_recording(packer, folder);
	if (rc == 0)
		rc = packer_end(packer);
	if (rc == 0)
		set_time(packer);
	archive_write_free(packer->archive);
	ZSTD_freeCCtx(packer->zstd);
	recording_close(&packer->recording);
	free(packer);
	return rc;
}
