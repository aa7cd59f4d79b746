#define _GNU_SOURCE
#include "size_limit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "clock.h"

#define AUTO_BYTES (INT64_C(1) << 30)
#define AUTO_PART 20
#define FILES_KEPT_MOST 1024 /* that can still be made, where a twentieth of all is more */
#define RESERVE_BYTES_MAX (INT64_C(1) << 18) /* for the rows in hand when a limit is reached */
#define RESERVE_PART 8
#define SEAL_BYTES 4096 /* of that, for what tells how the recording ended */
/* Asking costs a microsecond on a local disk, and may be a message on another: others fill the disk too, so it is
 * asked this often all the same. */
#define ASK_PERIOD_NS 100000000

static int64_t max_bytes, min_free_bytes;
static int64_t written_bytes;
/* Written since the disk was asked; what was free then, and of that what is to stay free. */
static int64_t unasked_bytes, room_bytes, floor_bytes, asked_ns;

void size_limit_set(int64_t wanted_max_bytes, int64_t wanted_min_free_bytes)
{
	max_bytes = wanted_max_bytes;
	min_free_bytes = wanted_min_free_bytes;
}

void size_limit_add(size_t bytes)
{
	written_bytes += (int64_t)bytes;
	unasked_bytes += (int64_t)bytes;
}

void size_limit_ask_again(void)
{
	asked_ns = 0;
}

int64_t size_limit_written(void)
{
	return written_bytes;
}

/* Of the folder, or of the first above it that exists. */
static int find_disk(const char *folder, struct statvfs *disk)
{
	char path[PATH_MAX];
	char *slash;

	snprintf(path, sizeof(path), "%s", folder);
	while (statvfs(path, disk)) {
		slash = strrchr(path, '/');
		if ((errno != ENOENT && errno != ENOTDIR) || !slash || slash == path)
			return statvfs("/", disk);
		*slash = '\0';
	}
	return 0;
}

int64_t size_limit_min_free(const char *folder, int64_t *free_bytes)
{
	struct statvfs disk;
	int64_t part_bytes;

	if (!min_free_bytes || find_disk(folder, &disk) || !disk.f_blocks)
		return 0;
	*free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
	if (min_free_bytes != SIZE_MIN_FREE_AUTO)
		return min_free_bytes;
	part_bytes = (int64_t)disk.f_blocks / AUTO_PART * (int64_t)disk.f_frsize;
	return part_bytes < AUTO_BYTES ? part_bytes : AUTO_BYTES;
}

bool size_limit_has_files(const char *folder, int count)
{
	struct statvfs disk;
	int64_t kept;

	if (!min_free_bytes || find_disk(folder, &disk) || !disk.f_files)
		return true;
	kept = (int64_t)(disk.f_files / AUTO_PART);
	if (kept > FILES_KEPT_MOST)
		kept = FILES_KEPT_MOST;
	return (int64_t)disk.f_favail >= kept + count;
}

/* Bytes that may be written until the floor; asked anew when an eighth of them is used up. */
static int64_t disk_room(const char *folder)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC), free_bytes = 0;

	if (asked_ns && unasked_bytes <= room_bytes / RESERVE_PART &&
	    now_ns - asked_ns < ASK_PERIOD_NS)
		return room_bytes - unasked_bytes;
	floor_bytes = size_limit_min_free(folder, &free_bytes);
	room_bytes = floor_bytes ? free_bytes - floor_bytes : INT64_MAX;
	unasked_bytes = 0;
	asked_ns = now_ns;
	return room_bytes;
}

/* What is kept back of a limit. */
static int64_t reserve_bytes(int64_t limit_bytes, bool is_last)
{
	int64_t part_bytes = is_last ? SEAL_BYTES : limit_bytes / RESERVE_PART;

	return part_bytes < RESERVE_BYTES_MAX ? part_bytes : RESERVE_BYTES_MAX;
}

enum size_limit size_limit_check(const char *folder, size_t bytes, bool is_last)
{
	int64_t room;

	if (max_bytes &&
	    max_bytes - written_bytes - reserve_bytes(max_bytes, is_last) < (int64_t)bytes)
		return SIZE_LIMIT_RECORDING;
	if (!min_free_bytes)
		return SIZE_LIMIT_NONE;
	room = disk_room(folder);
	return room - reserve_bytes(floor_bytes, is_last) < (int64_t)bytes ? SIZE_LIMIT_DISK
									   : SIZE_LIMIT_NONE;
}
