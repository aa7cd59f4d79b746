#include "summary/summary_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/paths.h"

#define MOST_BYTES ((size_t)1 << 30) /* 10,000 ranks have a tenth of it */
/* Text of a byte of the file: 4 to 12 in real ones. */
#define MOST_RATIO 256
#define MOST_SMALL ((size_t)1 << 20)
#define MOST_WINDOW 27 /* bits: what zstd takes at its usual levels */

struct bytes {
	char *items; /* owned */
	size_t count, capacity;
};

/* ---- the file as it is ---- */

static int read_all(struct bytes *bytes, int fd)
{
	for (;;) {
		char *items =
			array_reserve(bytes->items, &bytes->capacity, bytes->count + 65536, 1);
		ssize_t count;

		if (!items)
			return -ENOMEM;
		bytes->items = items;
		count = read(fd, items + bytes->count, bytes->capacity - bytes->count - 1);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			return 0;
		bytes->count += (size_t)count;
		if (bytes->count > MOST_BYTES)
			return -EFBIG;
	}
}

static int read_file(struct bytes *bytes, const char *path, struct err *err)
{
	int fd = -1, rc = path_open_file(&fd, path);
	struct stat status;

	if (rc == 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size > (off_t)MOST_BYTES)
		rc = -EFBIG;
	if (rc == 0)
		rc = read_all(bytes, fd);
	if (fd >= 0)
		close(fd);
	return rc < 0 ? err_set(err, rc, "%s: %s", path, path_problem(rc)) : 0;
}

/* ---- what it holds ---- */

#define SUMMARY_REMEDY "rooflinectl summarize DIR -o FILE makes one"

static size_t most_text(size_t file_bytes)
{
	size_t most = MOST_SMALL + MOST_RATIO * file_bytes;

	return most < MOST_BYTES ? most : MOST_BYTES;
}

/* Returns 0, -ENOMEM, or -EINVAL with why. */
static int decompress_all(struct bytes *text, const struct bytes *file, ZSTD_DCtx *zstd,
			  const char **why)
{
	ZSTD_inBuffer in = {file->items, file->count, 0};
	size_t left = 1;

	while (left) {
		char *items = array_reserve(text->items, &text->capacity, text->count + 65536, 1);
		ZSTD_outBuffer out;
		size_t read = in.pos;

		if (!items)
			return -ENOMEM;
		text->items = items;
		out = (ZSTD_outBuffer){items, text->capacity - 1, text->count};
		left = ZSTD_decompressStream(zstd, &out, &in);
		*why = ZSTD_isError(left)				  ? ZSTD_getErrorName(left)
		       : left && out.pos == text->count && in.pos == read ? "it is cut off"
		       : out.pos > most_text(file->count) ? "it holds more than a summary could"
		       : !left && in.pos < in.size	  ? "something follows its end"
							  : NULL;
		if (*why)
			return -EINVAL;
		text->count = out.pos;
	}
	return 0;
}

static int decompress(struct bytes *text, const struct bytes *file, const char *path,
		      struct err *err)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	const char *why = NULL;
	int rc = -ENOMEM;

	if (zstd) {
		ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, MOST_WINDOW);
		rc = decompress_all(text, file, zstd, &why);
	}
	ZSTD_freeDCtx(zstd);
	if (why)
		return err_set(err, rc, "%s: no summary, or damaged: %s; " SUMMARY_REMEDY, path,
			       why);
	return rc < 0 ? err_set(err, rc, "%s: out of memory", path) : 0;
}

static bool is_plain(const struct bytes *file)
{
	return file->count >= sizeof(SUMMARY_MAGIC) - 1 &&
	       memcmp(file->items, SUMMARY_MAGIC, sizeof(SUMMARY_MAGIC) - 1) == 0;
}

int summary_text_read(char **out, const char *path, struct err *err)
{
	struct bytes file = {0}, text = {0};
	int rc = read_file(&file, path, err);

	if (rc == 0 && !file.count)
		rc = err_set(err, -EINVAL, "%s: the file is empty; " SUMMARY_REMEDY, path);
	if (rc == 0 && !is_plain(&file))
		rc = decompress(&text, &file, path, err);
	if (rc == 0 && !is_plain(&file)) {
		free(file.items);
		file = text;
		text = (struct bytes){0};
	}
	if (rc == 0 && (!file.items || !is_plain(&file) || memchr(file.items, '\0', file.count)))
		rc = err_set(err, -EINVAL,
			     "%s: no summary: it does not begin with \"" SUMMARY_MAGIC
			     "\", or is damaged; " SUMMARY_REMEDY,
			     path);
	free(text.items);
	if (rc < 0 || !file.items) {
		free(file.items);
		return rc;
	}
	file.items[file.count] = '\0';
	*out = file.items;
	return 0;
}
