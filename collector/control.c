#define _GNU_SOURCE
#include "control.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"
#include "roofline/control.h"
#include "slow_ranges.h"
#include "window.h"
#include "writer/own_descriptor.h"
#include "writer/table_files.h"
#include "writer/trace_writer.h"

#define TEXT_MOST 8192

#define COMMAND_NAME(name) #name,
static const char *const command_names[] = {CONTROL_COMMANDS(COMMAND_NAME)};

static bool is_on, is_stopped;
static int64_t served_ns, poll_ns;

void control_start(const struct options *options)
{
	unsigned int ms = options->flush_period_ms;

	is_on = options->has_control;
	poll_ns = INT64_C(1000000) * (ms < CONTROL_POLL_MS ? ms : CONTROL_POLL_MS);
	slow_ranges_init(options->when_slower);
}

int64_t control_wait_until(int64_t until_ns)
{
	int64_t next_ns = clock_ns(CLOCK_MONOTONIC) + poll_ns;

	return is_on && next_ns < until_ns ? next_ns : until_ns;
}

/* Lines of "name value". */
struct lines {
	size_t used;
	char text[TEXT_MOST];
};

__attribute__((format(printf, 2, 3))) static void add_line(struct lines *lines, const char *format,
							   ...)
{
	size_t room = sizeof(lines->text) - lines->used;
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(lines->text + lines->used, room, format, values);
	va_end(values);
	if (length > 0 && (size_t)length < room)
		lines->used += (size_t)length;
}

struct replacing {
	const char *name;
	const struct lines *lines;
};

static void do_replace(void *data)
{
	static const char new_name[] = ".answer";
	const struct replacing *replacing = data;
	const struct lines *lines = replacing->lines;
	int folder = table_files_descriptor(), file;
	bool is_written;

	if (folder < 0)
		return;
	file = own_descriptor_open(folder, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
				   0600);
	if (file < 0)
		return;
	is_written = write(file, lines->text, lines->used) == (ssize_t)lines->used;
	close(file);
	if (!is_written || renameat(folder, new_name, folder, replacing->name))
		unlinkat(folder, new_name, 0);
}

/* A reader finds the old one or the new one, whole.  What cannot be written is asked for again. */
static void replace_file(const char *name, const struct lines *lines)
{
	struct replacing replacing = {name, lines};

	own_descriptors_do(do_replace, &replacing);
}

/* ---- requests ---- */

/* A file that is not there is looked for without taking a descriptor. */
static void do_take_request(void *data)
{
	char *line = data;
	int folder = table_files_descriptor(), file;
	struct stat status;
	ssize_t length = -1;

	*line = '\0';
	if (folder < 0 || fstatat(folder, CONTROL_REQUEST, &status, AT_SYMLINK_NOFOLLOW))
		return;
	file = own_descriptor_open(folder, CONTROL_REQUEST, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
		length = read(file, line, CONTROL_LINE_MOST - 1);
	if (file >= 0)
		close(file);
	unlinkat(folder, CONTROL_REQUEST, 0);
	line[length > 0 ? length : 0] = '\0';
}

static bool take_request(char line[CONTROL_LINE_MOST])
{
	own_descriptors_do(do_take_request, line);
	return *line;
}

static void do_find_slow(void *is_found)
{
	int folder = table_files_descriptor();
	struct stat status;

	*(bool *)is_found =
		folder >= 0 && fstatat(folder, CONTROL_SLOW, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static void do_end(void *unused)
{
	int folder = table_files_descriptor();

	(void)unused;
	if (folder < 0)
		return;
	unlinkat(folder, CONTROL_STATUS, 0);
	unlinkat(folder, CONTROL_REQUEST, 0);
}

static uint64_t lost_count(void)
{
	return trace_loss_count(LOSS_dropped_records) + trace_loss_count(LOSS_unwritten_rows) +
	       trace_loss_count(LOSS_invalid_times) + trace_loss_count(LOSS_undecoded_bytes);
}

static void answer(uint64_t id)
{
	static struct lines lines;
	struct progress progress = progress_read();

	lines.used = 0;
	add_line(&lines, "answer %llu\n", (unsigned long long)id);
	add_line(&lines, "time_ns %lld\n", (long long)clock_ns(CLOCK_REALTIME));
	add_line(&lines, "is_stopped %d\n", is_stopped);
	add_line(&lines, "has_ended %d\n", trace_writer_has_ended());
	add_line(&lines, "launches %llu\n", (unsigned long long)progress.launches);
	add_line(&lines, "kernels %llu\n", (unsigned long long)progress.kernels);
	add_line(&lines, "copies %llu\n", (unsigned long long)progress.copies);
	add_line(&lines, "calls %llu\n", (unsigned long long)progress.calls);
	add_line(&lines, "written_bytes %llu\n", (unsigned long long)trace_writer_bytes());
	add_line(&lines, "lost %llu\n", (unsigned long long)lost_count());
	for (int device = 0; device < CONTROL_DEVICES; device++)
		if (progress.busy_ns[device])
			add_line(&lines, "busy_ns.%d %llu\n", device,
				 (unsigned long long)progress.busy_ns[device]);
	replace_file(CONTROL_STATUS, &lines);
}

static enum control_command find_command(const char *word)
{
	for (int i = 0; i < CONTROL_COMMAND_COUNT; i++)
		if (!strcmp(word, command_names[i]))
			return (enum control_command)i;
	return CONTROL_COMMAND_COUNT;
}

static void serve_request(void (*flush)(void))
{
	char line[CONTROL_LINE_MOST], *end;
	enum control_command command;
	uint64_t id;

	if (!take_request(line))
		return;
	line[strcspn(line, "\n")] = '\0';
	id = strtoull(line, &end, 10);
	command = find_command(*end == ' ' ? end + 1 : "");
	if (command == CONTROL_start || command == CONTROL_stop) {
		is_stopped = command == CONTROL_stop;
		window_pause(clock_ns(CLOCK_REALTIME), is_stopped);
	} else if (command == CONTROL_flush) {
		flush();
	}
	if (command != CONTROL_COMMAND_COUNT)
		answer(id);
}

/* ---- ranges that were slow ---- */

/* Told when record has taken the one before away; until then others are only counted. */
static void tell_slow_range(void (*flush)(void))
{
	static struct lines lines;
	struct slow_range range;
	bool is_told = false;

	own_descriptors_do(do_find_slow, &is_told);
	if (is_told || !slow_ranges_take(&range))
		return;
	flush();
	lines.used = 0;
	add_line(&lines, "start_ns %lld\nend_ns %lld\nlimit_ns %lld\nother_count %llu\n",
		 (long long)range.start_ns, (long long)range.end_ns, (long long)range.limit_ns,
		 (unsigned long long)range.other_count);
	replace_file(CONTROL_SLOW, &lines);
}

void control_serve(void (*flush)(void))
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!is_on || now_ns - served_ns < poll_ns)
		return;
	served_ns = now_ns;
	serve_request(flush);
	tell_slow_range(flush);
}

void control_end(void)
{
	if (is_on)
		own_descriptors_do(do_end, NULL);
}
