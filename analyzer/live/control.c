#define _GNU_SOURCE
#include "live/control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/new_file.h"
#include "base/paths.h"

#define PATH_ROOM (PATH_MAX + 64)
#define ANSWER_TIMEOUT_MS 5000 /* a look is due after CONTROL_POLL_MS, behind what is decoded */
#define ASK_AGAIN_MS 10
#define TEXT_MOST 16384

#define COMMAND_NAME(name) #name,
static const char *const command_names[] = {CONTROL_COMMANDS(COMMAND_NAME)};

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static bool path_of(char path[PATH_ROOM], const char *folder, const char *name)
{
	return (size_t)snprintf(path, PATH_ROOM, "%s/%s", folder, name) < PATH_ROOM;
}

/* The beginning of a small file as a string.  Returns false when there is none. */
static bool read_text(const char *folder, const char *name, char text[TEXT_MOST])
{
	char path[PATH_ROOM];
	ssize_t length;
	int fd;

	if (!path_of(path, folder, name) || path_open_file(&fd, path) < 0)
		return false;
	length = read(fd, text, TEXT_MOST - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* What stands behind "KEY" and the separator at the beginning of a line, or NULL. */
static const char *value_of(const char *text, const char *key, char separator)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && line[length] == separator)
			return line + length + 1;
	}
	return NULL;
}

static uint64_t number_of(const char *text, const char *key, char separator)
{
	const char *value = value_of(text, key, separator);

	return value ? strtoull(value, NULL, 10) : 0;
}

struct control_process control_process(const char *folder)
{
	struct control_process process = {0};
	char text[TEXT_MOST];

	if (!read_text(folder, "process.csv", text))
		return process;
	process.pid = (pid_t)number_of(text, "pid", ',');
	process.has_control = number_of(text, "control", ',') == 1;
	process.is_sealed = value_of(text, "sealed_ns", ',') != NULL;
	process.is_alive = process.pid > 0 && !process.is_sealed &&
			   (kill(process.pid, 0) == 0 || errno == EPERM);
	return process;
}

static int check_process(const char *folder, struct err *err)
{
	struct control_process process = control_process(folder);

	if (!process.pid)
		return err_set(err, -ENOENT, "%s: no process is recorded there", folder);
	if (!process.is_alive)
		return err_set(err, -ESRCH, "process %d has ended", (int)process.pid);
	if (!process.has_control)
		return err_set(err, -ENOTSUP,
			       "process %d cannot be asked: it was not started by 'rooflinectl "
			       "record', nor with ROOFLINE_CONTROL=1",
			       (int)process.pid);
	return 0;
}

/* ---- requests ---- */

/* A link fails where another request waits to be taken. */
static int place_request(const char *folder, const char *line, struct err *err)
{
	char path[PATH_ROOM], temporary[PATH_ROOM];
	int fd, rc;

	if (!path_of(path, folder, CONTROL_REQUEST) ||
	    !path_of(temporary, folder, ".request.XXXXXX"))
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", folder);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "%s: cannot be asked: %s", folder, strerror(errno));
	rc = write_all(fd, line, strlen(line));
	close(fd);
	for (int ms = 0; rc == 0 && link(temporary, path) < 0; ms += ASK_AGAIN_MS) {
		rc = errno == EEXIST && ms < ANSWER_TIMEOUT_MS ? 0 : -errno;
		if (rc == 0)
			sleep_ms(ASK_AGAIN_MS);
	}
	unlink(temporary);
	if (rc == -EEXIST) {
		unlink(path); /* nobody will take it any more, and the next one asked must not wait for it */
		return err_set(err, -ETIMEDOUT, "%s: does not answer: is the program stopped?",
			       folder);
	}
	return rc < 0 ? err_set(err, rc, "%s: cannot be asked: %s", folder, strerror(-rc)) : 0;
}

int control_send(const char *folder, enum control_command command, uint64_t *id, struct err *err)
{
	char line[CONTROL_LINE_MOST];
	struct timespec now;
	int rc = check_process(folder, err);

	if (rc < 0)
		return rc;
	clock_gettime(CLOCK_MONOTONIC, &now);
	*id = ((uint64_t)getpid() << 40) ^ ((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec;
	snprintf(line, sizeof(line), "%" PRIu64 " %s\n", *id, command_names[command]);
	return place_request(folder, line, err);
}

static void parse_status(const char *text, struct control_status *status)
{
	char key[32];

	memset(status, 0, sizeof(*status));
#define PARSE(name, meaning) status->name = number_of(text, #name, ' ');
	CONTROL_VALUES(PARSE)
#undef PARSE
	for (int device = 0; device < CONTROL_DEVICES; device++) {
		snprintf(key, sizeof(key), "busy_ns.%d", device);
		status->busy_ns[device] = number_of(text, key, ' ');
	}
}

int control_wait(const char *folder, uint64_t id, struct control_status *status, struct err *err)
{
	char text[TEXT_MOST];
	int rc = 0;

	for (int ms = 0; rc == 0; ms += ASK_AGAIN_MS) {
		if (read_text(folder, CONTROL_STATUS, text) &&
		    number_of(text, "answer", ' ') == id) {
			parse_status(text, status);
			return 0;
		}
		if (ms >= ANSWER_TIMEOUT_MS)
			return err_set(err, -ETIMEDOUT,
				       "%s: does not answer: is the program stopped?", folder);
		if (ms % 200 == 0)
			rc = check_process(folder, err);
		sleep_ms(ASK_AGAIN_MS);
	}
	return rc;
}

int control_ask(const char *folder, enum control_command command, struct control_status *status,
		struct err *err)
{
	uint64_t id;
	int rc = control_send(folder, command, &id, err);

	return rc < 0 ? rc : control_wait(folder, id, status, err);
}

bool control_take_slow(const char *folder, struct control_slow *slow)
{
	char text[TEXT_MOST], path[PATH_ROOM];

	if (!read_text(folder, CONTROL_SLOW, text) || !path_of(path, folder, CONTROL_SLOW))
		return false;
	unlink(path);
	*slow = (struct control_slow){number_of(text, "start_ns", ' '),
				      number_of(text, "end_ns", ' '),
				      number_of(text, "limit_ns", ' '),
				      number_of(text, "other_count", ' ')};
	return true;
}
