#define _GNU_SOURCE
#include "cmd/record_ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/format.h"
#include "base/new_file.h"
#include "base/paths.h"
#include "base/shell.h"
#include "base/temporary.h"
#include "cmd/commands.h"
#include "cmd/live_target.h"
#include "cmd/record_options.h"
#include "cmd/record_run.h"
#include "live/control.h"
#include "live/dump.h"

/* A dump may be as large as the ring: what is slow each time must not fill the disk with them. */
#define SLOW_PERIOD_NS INT64_C(10000000000)

static int64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- making it ---- */

static int make_folder(struct record_ring *ring, const char *parent)
{
	char dumps[PATH_MAX];
	struct stat status;

	if ((size_t)snprintf(ring->folder, sizeof(ring->folder), "%s/" LIVE_RING "XXXXXX",
			     parent) >= sizeof(ring->folder))
		return -ENAMETOOLONG;
	if ((size_t)snprintf(dumps, sizeof(dumps), "%s", ring->dumps) >= sizeof(dumps))
		return -ENAMETOOLONG;
	ring->is_dumps_new = access(dumps, F_OK) < 0;
	if (path_make_parents(dumps, 1) < 0)
		return -errno;
	if (mkdir(dumps, 0700) < 0 && errno != EEXIST) /* as the collector makes its folders */
		return -errno;
	if (lstat(dumps, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & S_IWOTH))
		return -EPERM; /* another user has been faster than this */
	return mkdtemp(ring->folder) ? 0 : -errno;
}

/* By which ctl finds it when nobody is left who knows; a file system may have no links. */
static void link_from_dumps(struct record_ring *ring)
{
	const char *name = strrchr(ring->folder, '/');

	if (asprintf(&ring->link, "%s%s", ring->dumps, name) < 0) {
		ring->link = NULL;
	} else if (symlink(ring->folder, ring->link) < 0) {
		free(ring->link);
		ring->link = NULL;
	}
}

static int note_dumps(const struct record_ring *ring)
{
	char path[PATH_MAX + 32];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/" LIVE_DUMPS, ring->folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, ring->dumps, strlen(ring->dumps));
	close(fd);
	return rc;
}

int record_ring_open(struct record_ring *ring, const char *dumps, const char *parent,
		     const char *who)
{
	char absolute[PATH_MAX];
	int rc;

	*ring = (struct record_ring){.who = who, .dumps = dumps};
	if (!record_variable(ENV_LAST))
		return 0;
	if (parent && !realpath(parent, absolute)) {
		fprintf(stderr, "%s: --ring %s: %s\n", who, parent, strerror(errno));
		return EXIT_FAILED;
	}
	rc = make_folder(ring, parent ? absolute : dumps);
	if (rc == 0)
		rc = note_dumps(ring);
	if (rc < 0) {
		fprintf(stderr, "%s: cannot write into %s: %s\n", who, parent ? absolute : dumps,
			strerror(-rc));
		return EXIT_FAILED;
	}
	if (parent)
		link_from_dumps(ring);
	record_set_variable(ENV_OUTPUT, ring->folder);
	return 0;
}

/* ---- dumps ---- */

static bool has_folders(const char *path)
{
	char found[PATH_MAX];

	return path_newest_recording(found, sizeof(found), path) == 0;
}

static int make_dump(struct record_ring *ring, const char *reason)
{
	const struct dump_request request = {.source = ring->folder,
					     .reason = reason,
					     .undumped_count = ring->undumped_count};
	struct err err = {""};
	char path[PATH_MAX];
	int rc = dump_write_next(&request, ring->dumps, path, sizeof(path), &err);

	if (rc < 0)
		fprintf(stderr, "%s: no dump: %s\n", ring->who, err.text);
	else
		fprintf(stderr, "%s: %s: rooflinectl report %s\n", ring->who, reason,
			shell_path_text(path).text);
	if (rc == 0)
		ring->undumped_count = 0;
	return rc;
}

/* A range that is slow while its dump has to wait is only counted. */
static void dump_slow_range(struct record_ring *ring, const struct control_slow *slow)
{
	const char *wanted = record_variable(ENV_WHEN_SLOWER);
	int length = wanted ? (int)(strrchr(wanted, '=') - wanted) : 0;
	char reason[512], name[256];
	int64_t now_ns = clock_now_ns();

	ring->undumped_count += slow->other_count;
	if (now_ns < ring->next_slow_ns) {
		ring->undumped_count++;
		return;
	}
	snprintf(name, sizeof(name), "%.*s", length, wanted ? wanted : "");
	snprintf(reason, sizeof(reason), "the range %s took %s, more than %s", name,
		 format_ns((double)(slow->end_ns - slow->start_ns)).text,
		 format_ns((double)slow->limit_ns).text);
	(void)make_dump(ring, reason);
	ring->next_slow_ns = now_ns + SLOW_PERIOD_NS;
}

static void take_slow_ranges(struct record_ring *ring)
{
	char path[PATH_MAX + 256];
	DIR *folder = opendir(ring->folder);
	struct dirent *entry;
	struct control_slow slow;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", ring->folder, entry->d_name);
		if (control_take_slow(path, &slow))
			dump_slow_range(ring, &slow);
	}
	if (folder)
		closedir(folder);
}

void record_ring_tick(struct record_ring *ring, bool is_asked)
{
	if (!*ring->folder)
		return;
	if (record_variable(ENV_WHEN_SLOWER))
		take_slow_ranges(ring);
	if (is_asked)
		(void)make_dump(ring, "SIGUSR2");
}

/* Returns false when what is there has to stay. */
static bool make_last_dump(struct record_ring *ring, bool is_started, int status)
{
	char end[64], reason[128];

	record_describe_end(status, end, sizeof(end));
	snprintf(reason, sizeof(reason), "the program ended with %s", end);
	if (has_folders(ring->folder) && make_dump(ring, reason) < 0) {
		fprintf(stderr, "%s: what was recorded is still in %s: rooflinectl ctl %s dump\n",
			ring->who, format_path(ring->folder).text,
			shell_path_text(ring->folder).text);
		return false;
	}
	if (is_started && !has_folders(ring->folder))
		fprintf(stderr,
			"%s: nothing was recorded: the program did not use CUDA, or it could not be "
			"recorded, for the reason above\n",
			ring->who);
	return true;
}

void record_ring_close(struct record_ring *ring, bool is_started, int status)
{
	if (!*ring->folder || !make_last_dump(ring, is_started, status))
		return;
	temporary_remove(ring->folder);
	if (ring->link)
		unlink(ring->link);
	free(ring->link);
	if (ring->is_dumps_new)
		rmdir(ring->dumps);
}
