#include "exchange/import/plain_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/unpack_limit.h"

struct plain_file {
	struct archive *archive;
	struct archive_entry *entry; /* libarchive's own might be missing: it does not look */
	const char *path;	     /* borrowed */
	bool is_empty, is_begun;
	struct unpack_limit limit;
	char block[PLAIN_FILE_BLOCK_BYTES];
};

static int describe(const struct plain_file *file, struct err *err)
{
	int code = archive_errno(file->archive);
	const char *text = archive_error_string(file->archive);

	return err_set(err, code == ENOENT || code == EACCES || code == EISDIR ? -code : -EINVAL,
		       "%s: cannot be read: %s", file->path,
		       code == ENOENT || code == EACCES || code == EISDIR ? strerror(code)
		       : text						  ? text
									  : "damaged");
}

/* Those that libarchive has itself: for others, and where it was built without one (ARCHIVE_WARN), it would start a program
 * and give it the file, as nothing that we read may. */
static bool support_filters(struct archive *archive)
{
	return archive_read_support_filter_gzip(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_bzip2(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_xz(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_zstd(archive) == ARCHIVE_OK;
}

int plain_file_open(struct plain_file **out, const char *path, struct err *err)
{
	struct plain_file *file = *out = calloc(1, sizeof(*file));

	if (!file || !(file->archive = archive_read_new()) || !(file->entry = archive_entry_new()))
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	file->path = path;
	if (!support_filters(file->archive))
		return err_set(err, -ENOSYS, "%s: this libarchive lacks gzip, bzip2, xz or zstd",
			       path);
	archive_read_support_format_raw(file->archive);
	archive_read_support_format_empty(file->archive);
	if (archive_read_open_filename(file->archive, path, PLAIN_FILE_BLOCK_BYTES) != ARCHIVE_OK)
		return describe(file, err);
	switch (archive_read_next_header2(file->archive, file->entry)) {
	case ARCHIVE_OK:
		return 0;
	case ARCHIVE_EOF:
		file->is_empty = true;
		return 0;
	default:
		return describe(file, err);
	}
}

int plain_file_next(struct plain_file *file, const void **bytes, size_t *size, struct err *err)
{
	la_ssize_t count =
		file->is_empty ? 0
			       : archive_read_data(file->archive, file->block, sizeof(file->block));
	int rc;

	if (count < 0)
		return describe(file, err);
	*bytes = file->block;
	*size = (size_t)count;
	if (count == 0)
		return 0;
	if (!file->is_begun && count >= 3 && !memcmp(file->block, "\xef\xbb\xbf", 3)) {
		*bytes = file->block + 3;
		*size -= 3;
	}
	file->is_begun = true;
	rc = unpack_limit_add(&file->limit, (uint64_t)count,
			      (uint64_t)archive_filter_bytes(file->archive, -1), file->path, err);
	return rc < 0 ? rc : 1;
}

void plain_file_close(struct plain_file *file)
{
	if (file && file->archive)
		archive_read_free(file->archive);
	if (file)
		archive_entry_free(file->entry);
	free(file);
}
