#include "trace/packed.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "base/paths.h"
#include "base/shell.h"
#include "base/unpack_limit.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
#define MOST_ZERO_BYTES ((size_t)64 * 1024 * 1024)

struct packed {
	char *path;
	int fd;
	struct archive *archive;
	struct archive_entry *entry; /* libarchive's own might be missing: it does not look */
	bool has_begun;		     /* at least one file was found */
	char block[BLOCK_BYTES];
	char read[BLOCK_BYTES]; /* what libarchive is given */
	size_t zero_bytes;	/* in a row */
	uint64_t read_bytes;
	bool is_too_large;	   /* as a tar, with what no file of it holds */
	char folder[NAME_MAX + 1]; /* of the last file; "": none */
	struct unpack_limit limit;
};

bool packed_find(char *buffer, size_t size, const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return access(path, F_OK) < 0 &&
	       (size_t)snprintf(buffer, size, "%.*s" PATH_PACKED_SUFFIX, (int)length, path) <
		       size &&
	       access(buffer, F_OK) == 0;
}

static int check_source(int fd, const char *path, struct err *err)
{
	struct stat status;

	if (isatty(fd))
		return err_set(
			err, -EINVAL,
			"%s: no recording, but a terminal; name a recording, or send a packed one there",
			path);
	if (fstat(fd, &status) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
		return err_set(err, -EINVAL,
			       "%s: is no packed recording, but a device; name a file, or send one "
			       "through a pipe",
			       path);
	if (S_ISDIR(status.st_mode))
		return err_set(
			err, -EISDIR,
			"%s: is a folder, and no packed recording; make one with: rooflinectl pack DIR",
			path);
	return 0;
}

static int open_path(const char *path, struct err *err)
{
	bool is_stdin = !strcmp(path, "-") || !strcmp(path, "/dev/stdin");
	int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = check_source(fd, path, err);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Zeros end a tar, and libarchive looks behind any number of them for more: a device has no end of them. */
static bool is_endless(struct packed *packed, size_t length)
{
	bool is_zero =
		length && !packed->read[0] && !memcmp(packed->read, packed->read + 1, length - 1);

	packed->zero_bytes = is_zero ? packed->zero_bytes + length : 0;
	return packed->zero_bytes > MOST_ZERO_BYTES;
}

/* Names, zeros and files that are passed over are in the tar, too, and libarchive may look at any number of them before
 * it returns. */
static bool is_too_large(struct packed *packed)
{
	int64_t tar_bytes = archive_filter_bytes(packed->archive, 0);

	packed->is_too_large =
		tar_bytes > 0 && !unpack_limit_allows((uint64_t)tar_bytes, packed->read_bytes);
	return packed->is_too_large;
}

static la_ssize_t read_block(struct archive *archive, void *context, const void **block)
{
	struct packed *packed = context;
	ssize_t length;

	do {
		length = read(packed->fd, packed->read, BLOCK_BYTES);
	} while (length < 0 && errno == EINTR);
	*block = packed->read;
	if (length < 0)
		archive_set_error(archive, errno, "%s", strerror(errno));
	else if (is_endless(packed, (size_t)length))
		archive_set_error(archive, EILSEQ, "nothing but zeros");
	else if (is_too_large(packed))
		archive_set_error(archive, EFBIG, "too large");
	else {
		packed->read_bytes += (uint64_t)length;
		return length;
	}
	return -1;
}

/* archive_read_open_fd does not look whether there is memory for the callbacks' data. */
static bool open_blocks(struct packed *packed)
{
	return archive_read_set_read_callback(packed->archive, read_block) == ARCHIVE_OK &&
	       archive_read_set_callback_data(packed->archive, packed) == ARCHIVE_OK &&
	       archive_read_open1(packed->archive) == ARCHIVE_OK;
}

static bool archive_prepare(struct packed *packed)
{
	struct archive *archive = packed->archive;

	/* ARCHIVE_WARN: it would start a program for zstd, as nothing of a recording may.  The option makes it read up to
	 * the checksum, behind the end of the tar. */
	return archive_read_support_filter_zstd(archive) == ARCHIVE_OK &&
	       archive_read_support_format_tar(archive) >= ARCHIVE_WARN &&
	       archive_read_set_options(archive, "tar:read_concatenated_archives") == ARCHIVE_OK &&
	       open_blocks(packed);
}

static int fail(const struct packed *packed, struct err *err)
{
	static const char *const foreign[] = {".sqlite", ".db", ".json", ".json.gz", ".csv"};
	const char *why = archive_error_string(packed->archive);
	int code = archive_errno(packed->archive); /* EILSEQ: it knows no such format */

	if (packed->is_too_large)
		return unpack_limit_refuse(packed->path, err);
	if (packed->has_begun || (code && code != EILSEQ))
		return err_set(err, -EBADMSG,
			       "%s: is damaged (%s); copy it again, or make it anew with: "
			       "rooflinectl pack DIR",
			       packed->path, why ? why : "unreadable");
	if (path_has_suffix(packed->path, ".nsys-rep") || path_has_suffix(packed->path, ".qdrep"))
		return err_set(err, -EBADMSG,
			       "%s: is of Nsight Systems; read it with: nsys export --type sqlite "
			       "%s, then rooflinectl import on what that wrote",
			       packed->path, shell_path_text(packed->path).text);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (path_has_suffix(packed->path, foreign[i]))
			return err_set(err, -EBADMSG,
				       "%s: is no packed recording; make one of another tool's "
				       "file with: rooflinectl import %s -o DIR",
				       packed->path, shell_path_text(packed->path).text);
	return err_set(err, -EBADMSG,
		       "%s: is no packed recording (%s); make one with: rooflinectl pack DIR",
		       packed->path, why ? why : "empty");
}

int packed_open(struct packed **out, const char *path, struct err *err)
{
	struct packed *packed = calloc(1, sizeof(*packed));

	*out = packed;
	if (!packed)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	packed->fd = -1;
	packed->path = strdup(path);
	packed->archive = archive_read_new();
	packed->entry = archive_entry_new();
	if (!packed->path || !packed->archive || !packed->entry)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	packed->fd = open_path(path, err);
	if (packed->fd < 0)
		return packed->fd;
	return archive_prepare(packed) ? 0 : fail(packed, err);
}

/* Whether each part of the name is one of a file below: none is empty, "." or "..". */
static bool is_below(const char *name)
{
	for (;;) {
		size_t length = strcspn(name, "/");

		if (length == 0 || (length <= 2 && !strncmp(name, "..", length)))
			return false;
		name += length;
		if (!*name++)
			return true;
	}
}

bool packed_allows_name(const char *name)
{
	const char *slash = strchr(name, '/');

	return is_below(name) && (!slash || !strchr(slash + 1, '/'));
}

static int judge(const struct packed *packed, struct archive_entry *entry, const char *name,
		 struct err *err)
{
	const char *what = NULL;

	if (!is_below(name))
		what = "a name that leads elsewhere";
	else if (!packed_allows_name(name))
		what = "a name of more than two parts";
	else if (archive_entry_hardlink(entry) || archive_entry_filetype(entry) == AE_IFLNK)
		what = "a link";
	else if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_sparse_count(entry))
		what = "no plain file";
	if (!what)
		return 0;
	return err_set(err, -EBADMSG,
		       "%s: is no packed recording: '%.100s' in it is %s; make one with: "
		       "rooflinectl pack DIR",
		       packed->path, name, what);
}

/* Files of one process follow each other: a folder counts again where others came between. */
static int count_file(struct packed *packed, const char *name, struct err *err)
{
	size_t length = strchr(name, '/') ? strcspn(name, "/") : 0;
	bool is_new = length && (strncmp(packed->folder, name, length) != 0 ||
				 packed->folder[length] != '\0');

	if (length)
		snprintf(packed->folder, sizeof(packed->folder), "%.*s", (int)length, name);
	return unpack_limit_add_file(&packed->limit, strlen(name), is_new, packed->read_bytes,
				     packed->path, err);
}

/* tar -C DIR . writes ./ before every name; an entry may have none. */
static const char *without_dot(const char *name)
{
	if (!name)
		return "";
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	return name;
}

int packed_next(struct packed *packed, const char **name, struct err *err)
{
	struct archive_entry *entry = packed->entry;
	int rc;

	for (;;) {
		rc = archive_read_next_header2(packed->archive, entry);
		if (rc == ARCHIVE_EOF && packed->has_begun)
			return 0;
		if (rc < ARCHIVE_WARN || rc == ARCHIVE_EOF)
			return fail(packed, err);
		packed->has_begun = true;
		*name = without_dot(archive_entry_pathname(entry));
		if (archive_entry_filetype(entry) != AE_IFDIR)
			break;
		rc = count_file(packed, *name, err);
		if (rc < 0)
			return rc;
	}
	rc = judge(packed, entry, *name, err);
	if (rc == 0)
		rc = count_file(packed, *name, err);
	return rc < 0 ? rc : 1;
}

/* Writes the block that was read last. */
static int write_block(struct packed *packed, size_t count, int fd, const char *target,
		       const char *remedy, struct err *err)
{
	int rc = unpack_limit_add(&packed->limit, count, packed->read_bytes, packed->path, err);

	if (rc == 0)
		rc = unpack_limit_look(&packed->limit, fd, target, remedy, err);
	if (rc < 0)
		return rc;
	rc = write_all(fd, packed->block, count);
	return rc < 0 ? err_set(err, rc, "%s: cannot be written: %s%s", target, strerror(-rc),
				remedy)
		      : 0;
}

long long packed_copy(struct packed *packed, int fd, const char *target, const char *remedy,
		      struct err *err)
{
	long long copied_bytes = 0;
	la_ssize_t count;

	while ((count = archive_read_data(packed->archive, packed->block, BLOCK_BYTES)) > 0) {
		int rc = write_block(packed, (size_t)count, fd, target, remedy, err);

		if (rc < 0)
			return rc;
		copied_bytes += count;
	}
	return count < 0 ? fail(packed, err) : copied_bytes;
}

bool packed_time(const struct packed *packed, struct timespec *time)
{
	struct stat status;

	if (fstat(packed->fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	*time = status.st_mtim;
	return true;
}

void packed_close(struct packed *packed)
{
	if (!packed)
		return;
	archive_read_free(packed->archive);
	archive_entry_free(packed->entry);
	if (packed->fd >= 0)
		close(packed->fd);
	free(packed->path);
	free(packed);
}
