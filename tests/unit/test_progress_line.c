/* What takes long says so on a terminal until it is done, and nowhere else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/progress.h"

#define SOON_MS 5
#define NEVER_MS 3600000

/* stderr, while it is something else. */
struct other_end {
	int reader, stderr_before;
};

static struct other_end lead_to(int reader, int writer)
{
	struct other_end end = {reader, dup(STDERR_FILENO)};

	fflush(stderr);
	assert_true(end.stderr_before >= 0);
	assert_true(dup2(writer, STDERR_FILENO) >= 0);
	close(writer);
	assert_int_equal(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
	return end;
}

static struct other_end lead_to_terminal(void)
{
	int reader, writer;

	assert_int_equal(openpty(&reader, &writer, NULL, NULL, NULL), 0);
	return lead_to(reader, writer);
}

/* Until all of that text has come, 30 s at most. */
static void wait_for(const struct other_end *end, const char *text)
{
	struct pollfd more = {end->reader, POLLIN, 0};
	char said[4096] = "";
	size_t length = 0;

	while (!strstr(said, text)) {
		ssize_t count;

		assert_int_equal(poll(&more, 1, 30000), 1);
		count = read(end->reader, said + length, sizeof(said) - 1 - length);
		assert_true(count > 0);
		length += (size_t)count;
		said[length] = '\0';
	}
}

static bool has_said(const struct other_end *end)
{
	struct pollfd more = {end->reader, POLLIN, 0};

	return poll(&more, 1, 0) > 0 && more.revents & POLLIN;
}

static void lead_back(const struct other_end *end)
{
	dup2(end->stderr_before, STDERR_FILENO);
	close(end->stderr_before);
	close(end->reader);
}

static void test_long(void **state)
{
	struct other_end end = lead_to_terminal();
	struct progress progress;

	(void)state;
	progress_after_ms = SOON_MS;
	progress_begin(&progress, "reading the recording");
	wait_for(&end, "\rreading the recording: 0 s\033[K");
	progress_end(&progress);
	wait_for(&end, "\r\033[K");
	lead_back(&end);
}

static void test_short(void **state)
{
	struct other_end end = lead_to_terminal();
	struct progress progress;

	(void)state;
	progress_after_ms = NEVER_MS;
	progress_begin(&progress, "reading the recording");
	progress_end(&progress);
	assert_false(has_said(&end));
	lead_back(&end);
}

static void test_pipe(void **state)
{
	struct other_end end;
	struct progress progress;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	end = lead_to(ends[0], ends[1]);
	progress_after_ms = 0;
	progress_begin(&progress, "reading the recording");
	assert_false(progress.is_running);
	progress_end(&progress);
	assert_false(has_said(&end));
	lead_back(&end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"what takes long says so on a terminal, and takes it back when it is done",
		 test_long, NULL, NULL, NULL},
		{"what is soon done says nothing", test_short, NULL, NULL, NULL},
		{"nothing is said into a pipe", test_pipe, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
