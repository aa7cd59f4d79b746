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
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/progress.h"
#include "fixture.h"

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

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until all of that text has come, 30 s at most. */
static void wait_for(const struct other_end *end, const char *text)
{
	struct pollfd more = {end->reader, POLLIN, 0};
	long begin_ms = now_ms();
	char said[4096] = "";
	size_t length = 0;

	while (!strstr(said, text)) {
		ssize_t count;

		assert_int_equal(poll(&more, 1, 30000), 1);
		assert_true(now_ms() - begin_ms < 30000);
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
	wait_for(&end, "\rreading the recording: ");
	progress_end(&progress);
	wait_for(&end, "\r\033[K");
	lead_back(&end);
}

/* Shortly before the clock's next second. */
static void wait_for_late_second(void)
{
	while (now_ms() % 1000 < 950)
		usleep(5000);
}

/* Of four that are told after the clock's next second one is told within its first, however busy the machine is. */
static void test_first_second(void **state)
{
	bool is_told = false;

	(void)state;
	progress_after_ms = 1000; /* a tenth of it, once so much of the first step has gone */
	for (int i = 0; i < 4 && !is_told; i++) {
		struct other_end end = lead_to_terminal();
		struct progress progress;
		char said[64] = "";
		struct pollfd more = {end.reader, POLLIN, 0};

		wait_for_late_second();
		progress_begin(&progress, "reading");
		assert_int_equal(poll(&more, 1, 30000), 1);
		assert_true(read(end.reader, said, sizeof(said) - 1) > 0);
		progress_end(&progress);
		is_told = strstr(said, ": 0 s") != NULL;
		lead_back(&end);
	}
	assert_true(is_told);
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

/* The first takes as long as nothing is said, so the second is told at once, not after as long again. */
static void test_two_steps(void **state)
{
	struct other_end end = lead_to_terminal();
	struct progress progress;
	long begin_ms;

	(void)state;
	progress_after_ms = 4000;
	progress_begin(&progress, "reading the recording");
	usleep(3950 * 1000);
	progress_end(&progress);
	begin_ms = now_ms();
	progress_begin(&progress, "writing the file");
	wait_for(&end, "\rwriting the file: ");
	assert_true(now_ms() - begin_ms < 3900);
	progress_end(&progress);
	lead_back(&end);
}

/* ---- commands ---- */

typedef int (*command)(int argc, char **argv);

/* In a process of its own, whose stderr is a terminal and whose every step is told. */
static pid_t start(command run, char **argv, int *terminal)
{
	int argc = 0;
	pid_t child = forkpty(terminal, NULL, NULL, NULL);

	assert_true(child >= 0);
	if (child > 0)
		return child;
	if (!freopen("/dev/null", "w", stdout))
		_exit(99);
	progress_after_ms = 0;
	while (argv[argc])
		argc++;
	_exit(run(argc, argv));
}

/* Until it has ended. */
static void read_all(int terminal, char *said, size_t size)
{
	size_t length = 0;
	ssize_t count;

	while ((count = read(terminal, said + length, size - 1 - length)) > 0)
		length += (size_t)count;
	said[length] = '\0';
	close(terminal);
}

static void assert_told(command run, const char *what, char **argv)
{
	char said[16384], line[64];
	int terminal, status;
	pid_t child = start(run, argv, &terminal);

	read_all(terminal, said, sizeof(said));
	assert_int_equal(waitpid(child, &status, 0), child);
	snprintf(line, sizeof(line), "\r%s: ", what);
	if (!strstr(said, line))
		fail_msg("not '%s': %s", what, said);
}

#define TOLD(run, what, ...) assert_told(run, what, (char *[]){"rooflinectl", __VA_ARGS__, NULL})

static int make_recording(void **state)
{
	static struct fixture fixture;

	fixture_small(&fixture);
	*state = fixture.path;
	return chdir(fixture.path);
}

static int remove_recording(void **state)
{
	struct fixture fixture;

	snprintf(fixture.path, sizeof(fixture.path), "%s", (char *)*state);
	fixture_remove(&fixture);
	return chdir("/");
}

static void test_export(void **state)
{
	TOLD(cmd_export, "reading and analyzing the recording", *state, "-o", "x.json");
	TOLD(cmd_export, "writing the file", *state, "-o", "x.json");
	TOLD(cmd_export, "writing the file", *state, "-o", "x.sqlite");
}

static void test_import(void **state)
{
	FILE *file = fopen("torch.json", "w");

	(void)state;
	assert_non_null(file);
	fputs("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", "
	      "\"ts\": 1, \"dur\": 2}]}",
	      file);
	assert_int_equal(fclose(file), 0);
	TOLD(cmd_import, "importing", "torch.json", "-o", "imported");
}

static void test_pack(void **state)
{
	TOLD(cmd_pack, "packing", *state, "-o", "x.roofline");
	TOLD(cmd_unpack, "unpacking", "x.roofline", "-o", "unpacked");
}

static void test_report(void **state)
{
	TOLD(cmd_report, "writing the report", *state, "-o", "x.txt");
	TOLD(cmd_report, "writing the page", *state, "--html", "x.html");
}

static void test_compare(void **state)
{
	TOLD(cmd_compare, "reading and analyzing the recording", *state, *state);
	TOLD(cmd_compare, "writing the page", *state, *state, "--html", "x.html");
}

static void test_summaries(void **state)
{
	TOLD(cmd_summarize, "summarizing", *state, "-o", "x.summary");
	TOLD(cmd_merge, "merging", "x.summary");
}

int main(void)
{
	int ends[2];
	const struct CMUnitTest tests[] = {
		{"what takes long says so on a terminal, and takes it back when it is done",
		 test_long, NULL, NULL, NULL},
		{"what has begun is at 0 s, whatever the clock's second", test_first_second, NULL,
		 NULL, NULL},
		{"what is soon done says nothing", test_short, NULL, NULL, NULL},
		{"nothing is said into a pipe", test_pipe, NULL, NULL, NULL},
		{"two steps count together", test_two_steps, NULL, NULL, NULL},
		{"the writing of an export says so", test_export, make_recording, remove_recording,
		 NULL},
		{"import says so", test_import, make_recording, remove_recording, NULL},
		{"pack and unpack say so", test_pack, make_recording, remove_recording, NULL},
		{"the writing of a report and of its page says so", test_report, make_recording,
		 remove_recording, NULL},
		{"reading to compare and the writing of the page say so", test_compare,
		 make_recording, remove_recording, NULL},
		{"summarize and merge say so", test_summaries, make_recording, remove_recording,
		 NULL},
	};

	if (openpty(&ends[0], &ends[1], NULL, NULL, NULL) < 0) {
		puts("1..0 # SKIP needs a terminal (/dev/pts)");
		return 0;
	}
	close(ends[0]);
	close(ends[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
