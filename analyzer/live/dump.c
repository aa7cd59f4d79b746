#define _GNU_SOURCE
#include "live/dump.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/new_file.h"
#include "base/new_folder.h"
#include "base/paths.h"
#include "live/control.h"
#include "roofline/control.h"
#include "trace/reader.h"
#include "trace/recording.h"

#define PATH_ROOM (PATH_MAX + 96)
#define SEGMENTS_MOST 64
#define PARTS_MOST (SEGMENTS_MOST + 1)
#define COPY_BYTES 262144
#define DUMPS_MOST 1000000

/* A table as it lies in segments; what is open is read, whatever becomes of its name. */
struct part {
	int fd; /* -1: there is none */
	off_t size;
};

struct dump_process {
	const struct recording_process *source;
	const struct dump_request *request;
	uint64_t answer_id;
	bool is_asked, is_flushed, is_sealed;
	uint32_t segments[SEGMENTS_MOST]; /* numbers, in their order */
	size_t segment_count;
	struct part parts[TRACE_TABLE_COUNT][PARTS_MOST]; /* the last: what is kept whole */
};

/* ---- what there is ---- */

static int compare_numbers(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int list_segments(struct dump_process *process, struct err *err)
{
	size_t length = strlen(CONTROL_SEGMENT);
	DIR *folder = opendir(process->source->path);
	struct dirent *entry;

	if (!folder)
		return err_set(err, -errno, "%s: %s", process->source->path, strerror(errno));
	process->segment_count = 0;
	while ((entry = readdir(folder)) && process->segment_count < SEGMENTS_MOST) {
		uint32_t number = 0;

		if (!strncmp(entry->d_name, CONTROL_SEGMENT, length))
			number = (uint32_t)strtoul(entry->d_name + length, NULL, 10);
		if (number)
			process->segments[process->segment_count++] = number;
	}
	closedir(folder);
	qsort(process->segments, process->segment_count, sizeof(*process->segments),
	      compare_numbers);
	return 0;
}

static void close_part(struct part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	*part = (struct part){-1, 0};
}

static int open_part(struct part *part, const char *folder, enum trace_table table, struct err *err)
{
	char path[PATH_ROOM];
	struct stat status;
	int rc;

	snprintf(path, sizeof(path), "%s/%s.csv", folder, reader_table_name(table));
	rc = path_open_file(&part->fd, path);
	if (rc < 0) {
		*part = (struct part){-1, 0};
		return rc == -ENOENT ? 0 : err_set(err, rc, "%s: %s", path, path_problem(rc));
	}
	if (fstat(part->fd, &status) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	part->size = status.st_size;
	return 0;
}

static void segment_path(char path[PATH_ROOM], const struct dump_process *process, size_t index)
{
	snprintf(path, PATH_ROOM, "%s/" CONTROL_SEGMENT "%" PRIu32, process->source->path,
		 process->segments[index]);
}

/* One that is removed loses its name before its first file. */
static int open_segment(struct dump_process *process, size_t index, struct err *err)
{
	char path[PATH_ROOM];
	int rc = 0;

	segment_path(path, process, index);
	for (int table = 0; rc == 0 && table < TRACE_TABLE_COUNT; table++)
		rc = open_part(&process->parts[table][index], path, (enum trace_table)table, err);
	if (rc == 0 && access(path, F_OK) < 0)
		for (int table = 0; table < TRACE_TABLE_COUNT; table++)
			close_part(&process->parts[table][index]);
	return rc;
}

static void close_parts(struct dump_process *process)
{
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		for (size_t i = 0; i < PARTS_MOST; i++)
			close_part(&process->parts[table][i]);
}

/* What rows refer to was written before them, so it is opened after them. */
static int open_parts(struct dump_process *process, struct err *err)
{
	int rc = list_segments(process, err);

	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		for (size_t i = 0; i < PARTS_MOST; i++)
			process->parts[table][i] = (struct part){-1, 0};
	for (size_t i = 0; rc == 0 && i < process->segment_count; i++)
		rc = open_segment(process, i, err);
	for (int table = TRACE_TABLE_COUNT; rc == 0 && table-- > 0;)
		rc = open_part(&process->parts[table][PARTS_MOST - 1], process->source->path,
			       (enum trace_table)table, err);
	return rc;
}

/* ---- copying ---- */

/* Behind the last line break before end, or begin. */
static off_t whole_lines_end(int fd, off_t begin, off_t end)
{
	char bytes[4096];

	while (end > begin) {
		off_t first =
			end - begin > (off_t)sizeof(bytes) ? end - (off_t)sizeof(bytes) : begin;
		ssize_t length = pread(fd, bytes, (size_t)(end - first), first);
		const char *found = length > 0 ? memrchr(bytes, '\n', (size_t)length) : NULL;

		if (found)
			return first + (found - bytes) + 1;
		end = first;
	}
	return begin;
}

static off_t header_end(int fd, off_t size)
{
	char bytes[4096];
	ssize_t length = pread(fd, bytes, sizeof(bytes), 0);
	const char *found = length > 0 ? memchr(bytes, '\n', (size_t)length) : NULL;

	return found ? found - bytes + 1 : size;
}

static int copy_bytes(int from, off_t begin, off_t end, int to)
{
	static char bytes[COPY_BYTES];
	int rc = 0;

	while (rc == 0 && begin < end) {
		size_t wanted = end - begin < COPY_BYTES ? (size_t)(end - begin) : COPY_BYTES;
		ssize_t length = pread(from, bytes, wanted, begin);

		if (length <= 0)
			return length < 0 ? -errno : 0; /* cut back meanwhile: the disk was full */
		rc = write_all(to, bytes, (size_t)length);
		begin += length;
	}
	return rc;
}

/* All parts of a table but for the headers of all but the first. */
static int copy_parts(const struct part *parts, int to)
{
	bool has_header = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < PARTS_MOST; i++) {
		const struct part *part = &parts[(i + PARTS_MOST - 1) % PARTS_MOST];
		off_t begin, end;

		if (part->fd < 0 || !part->size)
			continue;
		begin = has_header ? header_end(part->fd, part->size) : 0;
		end = whole_lines_end(part->fd, begin, part->size);
		rc = copy_bytes(part->fd, begin, end, to);
		has_header |= end > begin;
	}
	return rc;
}

/* In quotes, as RFC 4180 says. */
static void put_quoted(char *out, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + 3 < size; text++) {
		if (*text == '"')
			out[used++] = '"';
		out[used++] = *text == '\n' || *text == '\r' ? ' ' : *text;
	}
	out[used] = '\0';
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* That a process goes on does not make a dump of it one that was cut off. */
static int add_facts(const struct dump_process *process, int to)
{
	char reason[512], text[1024];
	int64_t time_ns = now_ns();
	int length;

	put_quoted(reason, sizeof(reason), process->request->reason);
	length = snprintf(text, sizeof(text), "dump_reason,\"%s\"\ndumped_ns,%" PRId64 "\n", reason,
			  time_ns);
	if (process->is_flushed && !process->is_sealed)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   "sealed_ns,%" PRId64 "\n", time_ns);
	return write_all(to, text, (size_t)length);
}

static int add_loss(int to, const char *kind, uint64_t count, const char *detail)
{
	char text[256];
	int length = snprintf(text, sizeof(text), "%" PRId64 ",%s,%" PRIu64 ",%s\n", now_ns(), kind,
			      count, detail);

	return count ? write_all(to, text, (size_t)length) : 0;
}

static int add_losses(const struct dump_process *process, int to)
{
	uint32_t first = process->segment_count ? process->segments[0] : 1;
	int rc = add_loss(to, "older_segments", first - 1,
			  "\"segments: of a dump, older than what --last keeps\"");

	return rc < 0 ? rc
		      : add_loss(to, "undumped_ranges", process->request->undumped_count,
				 "ranges: slower than --when-slower allows and without a dump");
}

static int write_table(const struct dump_process *process, enum trace_table table,
		       const char *folder, struct err *err)
{
	char path[PATH_ROOM];
	int to, rc;

	snprintf(path, sizeof(path), "%s/%s.csv", folder, reader_table_name(table));
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = copy_parts(process->parts[table], to);
	if (rc == 0 && table == TRACE_TABLE_process)
		rc = add_facts(process, to);
	if (rc == 0 && table == TRACE_TABLE_losses)
		rc = add_losses(process, to);
	if (close(to) < 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? err_set(err, rc, "%s: cannot be written: %s", path, strerror(-rc)) : 0;
}

/* ---- processes ---- */

static int write_process(struct dump_process *process, const char *folder, struct err *err)
{
	char path[PATH_ROOM];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", folder, process->source->name);
	if (mkdir(path, 0700) < 0)
		return err_set(err, -errno, "%s: cannot be made: %s", path, strerror(errno));
	rc = open_parts(process, err);
	for (int table = 0; rc == 0 && table < TRACE_TABLE_COUNT; table++)
		rc = write_table(process, (enum trace_table)table, path, err);
	close_parts(process);
	return rc;
}

/* All at once, then each is waited for: the dump is of one moment.  Of one that does not answer there is what it has
 * written. */
static void flush_processes(struct dump_process *processes, size_t count)
{
	struct control_status status;

	for (size_t i = 0; i < count; i++) {
		struct dump_process *process = &processes[i];

		process->is_sealed = control_process(process->source->path).is_sealed;
		process->is_asked = control_send(process->source->path, CONTROL_flush,
						 &process->answer_id, NULL) == 0;
	}
	for (size_t i = 0; i < count; i++)
		if (processes[i].is_asked)
			processes[i].is_flushed =
				control_wait(processes[i].source->path, processes[i].answer_id,
					     &status, NULL) == 0;
}

static int write_processes(const struct recording *recording, const struct dump_request *request,
			   const char *folder, struct err *err)
{
	struct dump_process *processes = calloc(recording->process_count, sizeof(*processes));
	size_t count = 0;
	int rc = 0;

	if (!processes)
		return err_set(err, -ENOMEM, "%s: out of memory", request->source);
	for (size_t i = 0; i < recording->process_count; i++)
		if (!request->process || !strcmp(recording->processes[i].name, request->process)) {
			processes[count].source = &recording->processes[i];
			processes[count++].request = request;
		}
	flush_processes(processes, count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = write_process(&processes[i], folder, err);
	free(processes);
	return rc;
}

int dump_write(const struct dump_request *request, const char *path, struct err *err)
{
	struct recording recording;
	struct new_folder folder;
	int rc = recording_open(&recording, request->source, err);

	if (rc == 0 && !recording.process_count)
		rc = err_set(err, -ENODATA, "%s: no process has used CUDA yet", request->source);
	if (rc == 0)
		rc = new_folder_open(&folder, path, err);
	if (rc == 0) {
		if (chmod(folder.temporary, 0700) < 0) /* as the collector makes it */
			rc = err_set(err, -errno, "%s: %s", folder.temporary, strerror(errno));
		if (rc == 0)
			rc = write_processes(&recording, request, folder.temporary, err);
		rc = new_folder_close(&folder, rc, err);
	}
	recording_close(&recording);
	return rc;
}

int dump_write_next(const struct dump_request *request, const char *folder, char *path, size_t size,
		    struct err *err)
{
	for (int number = 1; number < DUMPS_MOST; number++) {
		if ((size_t)snprintf(path, size, "%s/dump.%d", folder, number) >= size)
			return err_set(err, -ENAMETOOLONG, "%s: the name is too long", folder);
		if (access(path, F_OK) < 0)
			return dump_write(request, path, err);
	}
	return err_set(err, -EEXIST, "%s: holds too many dumps", folder);
}
