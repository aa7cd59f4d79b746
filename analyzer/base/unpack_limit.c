#include "base/unpack_limit.h"

#include <errno.h>
#include <sys/statvfs.h>

#include "base/format.h"

#define LOOK_EVERY_BYTES ((uint64_t)16 << 20)

bool unpack_limit_allows(uint64_t bytes, uint64_t packed_bytes)
{
	return bytes <= UNPACK_ANYWAY_BYTES || bytes / UNPACK_MOST_TIMES <= packed_bytes;
}

int unpack_limit_refuse(const char *path, struct err *err)
{
	return err_set(
		err, -EFBIG,
		"%s: becomes more than %d times as large, as no honest file does; if you trust "
		"it, unpack it with its own tool (zstd, gzip, tar) and name what comes of it",
		path, UNPACK_MOST_TIMES);
}

int unpack_limit_add(struct unpack_limit *limit, uint64_t count, uint64_t packed_bytes,
		     const char *path, struct err *err)
{
	limit->bytes += count;
	return unpack_limit_allows(limit->bytes, packed_bytes) ? 0 : unpack_limit_refuse(path, err);
}

int unpack_limit_add_file(struct unpack_limit *limit, size_t name_bytes, unsigned new_folders,
			  uint64_t packed_bytes, const char *path, struct err *err)
{
	limit->files++;
	limit->name_bytes += name_bytes;
	if (limit->files > UNPACK_MOST_FILES || limit->name_bytes > UNPACK_MOST_NAME_BYTES)
		return err_set(err, -EFBIG,
			       "%s: has more files, or longer names, than any recording; if you "
			       "trust it, unpack it with zstd and tar and name what comes of it",
			       path);
	return unpack_limit_add(limit, (uint64_t)UNPACK_FILE_BYTES * (1 + new_folders),
				packed_bytes, path, err);
}

int unpack_limit_look(struct unpack_limit *limit, int fd, const char *target, const char *remedy,
		      struct err *err)
{
	struct statvfs disk;
	uint64_t least;

	if (limit->bytes - limit->looked_at_bytes < LOOK_EVERY_BYTES)
		return 0;
	limit->looked_at_bytes = limit->bytes;
	if (fstatvfs(fd, &disk) < 0 || !disk.f_blocks)
		return 0;
	least = (uint64_t)disk.f_blocks * disk.f_frsize / 20;
	if (least > UNPACK_LEAST_FREE_BYTES)
		least = UNPACK_LEAST_FREE_BYTES;
	if ((uint64_t)disk.f_bavail * disk.f_frsize >= least + LOOK_EVERY_BYTES)
		return 0;
	return err_set(err, -ENOSPC, "%s: no more is unpacked, as only %s of the disk are left%s",
		       target, format_bytes((double)disk.f_bavail * (double)disk.f_frsize).text,
		       remedy);
}
