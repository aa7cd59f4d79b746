/* top.c - rooflinectl top: what a program that is being recorded does now, once a second. */
#include "cmd/commands.h"
#include "cmd/live_line.h"
#include "cmd/live_target.h"
#include "cmd/usage.h"

#include "base/format.h"
#include "live/busy_kernels.h"
#include "roofline/duration.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define INTERVAL_NS_MIN (CONTROL_POLL_MS * INT64_C(1000000))

struct top_arguments {
	const char *target;
	int64_t interval_ns;
	bool is_once, is_json;
	size_t top; /* kernels; 0: as many as fit where it is shown */
};

#define KERNELS_SHOWN 5 /* on a terminal */

enum { KEY_ONCE = 256 };

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct top_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'i':
		arguments->interval_ns = duration_ns(argument, NULL);
		if (arguments->interval_ns < INTERVAL_NS_MIN)
			usage_fail(state, "--interval takes a time of at least %d ms, not '%s'",
				   CONTROL_POLL_MS, argument);
		return 0;
	case 'n':
		arguments->top = usage_rows(state, argument);
		if (arguments->top > BUSY_KERNELS_MOST)
			arguments->top = BUSY_KERNELS_MOST;
		return 0;
	case 'f':
		arguments->is_json = usage_is_json(state, argument);
		return 0;
	case KEY_ONCE:
		arguments->is_once = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->target)
			usage_fail(state, "one recording at a time, not also '%s'", argument);
		arguments->target = argument;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->target)
			usage_fail(state, "which process?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{"interval", 'i', "TIME", 0, "how often (1s)", 0},
	OPTION_TOP("kernels with most time of the interval: 5 on a terminal, else none"),
	{"format", 'f', "text|json", 0,
	 "for people (the default), or an object a line for programs", 0},
	{"once", KEY_ONCE, NULL, 0, "one line of one interval, for scripts", 0},
	{0},
};

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "PID|DIR",
	.doc = "Show what a program that is being recorded does now, until it ends or a key is "
	       "pressed: launches, kernels, how busy each GPU is, what is written, and which kernels "
	       "take the time.\n\n"
	       "PID is a process that is recorded, or of rooflinectl record; DIR the folder of the "
	       "recording.",
};

/* Keys come one by one, and are not shown; Ctrl-C is one of them, so that the terminal is put back. */
static bool terminal_open(struct termios *before)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, before))
		return false;
	raw = *before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

/* Returns true when a key was pressed; without a terminal it only waits. */
static bool wait_for_key(int64_t ns, bool has_terminal)
{
	struct pollfd keys = {.fd = has_terminal ? STDIN_FILENO : -1, .events = POLLIN};

	return poll(&keys, 1, (int)(ns / 1000000)) > 0;
}

/* Below the line, which the cursor goes back to. */
static int show_kernels(struct busy_kernels *kernels, const char *folder, size_t most,
			bool has_terminal)
{
	struct busy_kernel busy[BUSY_KERNELS_MOST];
	int count = busy_kernels_read(kernels, folder, busy, most);

	for (int i = 0; i < count; i++) {
		if (has_terminal)
			fputs("\n\033[K", stdout);
		printf("  %9s  %9s  %s", format_ns((double)busy[i].time_ns).text,
		       format_count(busy[i].launch_count).text, busy[i].label);
		if (!has_terminal)
			putchar('\n');
	}
	if (has_terminal)
		fputs("\033[J", stdout);
	if (has_terminal && count > 0)
		printf("\033[%dA", count);
	return count;
}

/* An object on a line of its own. */
static int show_object(const struct live_figures *before, const struct live_figures *now,
		       struct busy_kernels *kernels, const char *folder, size_t most)
{
	struct busy_kernel busy[BUSY_KERNELS_MOST];
	int count = most ? busy_kernels_read(kernels, folder, busy, most) : 0;
	json_t *list = json_array(), *object = live_object(before, now);
	int rc = count < 0 ? count : object && list ? 0 : -ENOMEM;

	for (int i = 0; rc == 0 && i < count; i++)
		rc = json_array_append_new(list,
					   json_pack("{s:s, s:I, s:I}", "name", busy[i].label,
						     "time_ns", (json_int_t)busy[i].time_ns,
						     "count", (json_int_t)busy[i].launch_count));
	if (rc == 0 && most)
		rc = json_object_set(object, "kernels", list);
	if (rc == 0)
		rc = json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(list);
	json_decref(object);
	return rc < 0 ? rc : count;
}

static int show(const struct top_arguments *arguments, const char *folder, bool has_terminal,
		struct busy_kernels *kernels, struct err *err)
{
	size_t most = arguments->top ? arguments->top : has_terminal ? KERNELS_SHOWN : 0;
	int shown = 0;
	struct live_figures before, now;
	char text[512];
	int rc = live_figures_ask(&before, folder, err);

	if (rc < 0)
		return rc;
	(void)busy_kernels_read(kernels, folder, NULL, 0);
	while (!wait_for_key(arguments->interval_ns, has_terminal)) {
		rc = live_figures_ask(&now, folder, err);
		if (rc < 0)
			break;
		live_line_format(text, sizeof(text), &before, &now);
		if (arguments->is_json) {
			shown = show_object(&before, &now, kernels, folder, most);
		} else {
			printf(has_terminal ? "\r\033[K%s" : "%s\n", text);
			shown = most ? show_kernels(kernels, folder, most, has_terminal) : 0;
		}
		fflush(stdout);
		if (shown < 0)
			rc = err_set(err, shown, "out of memory");
		if (arguments->is_once || rc < 0)
			break;
		before = now;
	}
	for (int i = 0; has_terminal && i <= shown; i++)
		putchar('\n');
	return rc == -ESRCH && !arguments->is_once
		       ? 0
		       : rc; /* it has ended: that is what we waited for */
}

int cmd_top(int argc, char **argv)
{
	struct top_arguments arguments = {.interval_ns = 1000000000};
	struct live_target target;
	struct busy_kernels *kernels;
	struct termios before;
	struct err err = {""};
	bool has_terminal;
	int rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	rc = live_target_find(&target, arguments.target, &err);
	kernels = busy_kernels_open();
	if (rc == 0 && !kernels)
		rc = err_set(&err, -ENOMEM, "out of memory");
	if (rc == 0) {
		has_terminal = !arguments.is_once && !arguments.is_json && terminal_open(&before);
		rc = show(&arguments, target.one ? target.one->path : target.folder, has_terminal,
			  kernels, &err);
		if (has_terminal)
			(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	busy_kernels_close(kernels);
	live_target_close(&target);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}
