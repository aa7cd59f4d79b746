/* ctl.c - rooflinectl ctl: has a recording under way start, stop, tell how it is, or dump what it holds. */
#include "cmd/commands.h"
#include "cmd/live_target.h"
#include "cmd/usage.h"

#include "base/format.h"
#include "base/shell.h"
#include "live/control.h"
#include "live/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct ctl_arguments {
	const char *target, *command, *output;
};

static const char command_words[] = "start stop status dump";

static bool is_command(const char *word)
{
	return !strcmp(word, "start") || !strcmp(word, "stop") || !strcmp(word, "status") ||
	       !strcmp(word, "dump");
}

static void set_argument(struct ctl_arguments *arguments, const char *word,
			 const struct argp_state *state)
{
	if (!arguments->target)
		arguments->target = word;
	else if (arguments->command)
		usage_fail(state, "one command at a time, not also '%s'", word);
	else if (is_command(word))
		arguments->command = word;
	else
		usage_fail(state, "there is no '%s': start, stop, status or dump%s", word,
			   usage_suggest(word, command_words).text);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct ctl_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'o':
		if (!*argument)
			usage_fail(state, "-o wants a name, not ''");
		arguments->output = argument;
		return 0;
	case ARGP_KEY_ARG:
		set_argument(arguments, argument, state);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->command)
			usage_fail(state, "which process, and start, stop, status or dump?");
		if (arguments->output && strcmp(arguments->command, "dump") != 0)
			usage_fail(state, "-o is for dump");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{"output", 'o', "DIR", 0, "the recording that dump makes: a folder that is not there yet",
	 0},
	{0},
};

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "PID|DIR start|stop|status|dump",
	.doc = "Reach a recording under way: stop recording and start again, tell how it is, or "
	       "make a recording of what it holds now.\n\n"
	       "PID is a process that is recorded, or of rooflinectl record; DIR the folder of the "
	       "recording, also after the program's end.",
};

/* ---- start, stop, status ---- */

static const char *state_of(const struct control_status *status)
{
	if (status->has_ended)
		return "ended by a limit";
	return status->is_stopped ? "stopped" : "recording";
}

static void print_status(const char *name, const struct control_status *status)
{
	printf("%s: %s, %s written, %s lost; since it was first asked %s launches, %s kernels, %s "
	       "copies, %s calls\n",
	       name, state_of(status), format_bytes((double)status->written_bytes).text,
	       format_count(status->lost).text, format_count(status->launches).text,
	       format_count(status->kernels).text, format_count(status->copies).text,
	       format_count(status->calls).text);
}

/* Of several processes those that have ended do not matter, unless all have. */
static int ask_all(const struct live_target *target, enum control_command command, struct err *err)
{
	const struct recording_process *process;
	struct err first = {""};
	size_t answered = 0;
	int rc = 0;

	for (size_t i = 0; (process = live_target_process(target, i)); i++) {
		struct control_status status;
		int asked = control_ask(process->path, command, &status, &first);

		if (asked == 0) {
			answered++;
			print_status(process->name, &status);
		} else if (asked != -ESRCH || target->one) {
			rc = asked;
		}
	}
	if (rc < 0 || !answered)
		return err_set(err, rc < 0 ? rc : -ESRCH, "%s", first.text);
	return 0;
}

/* ---- dump ---- */

static int dump(const struct live_target *target, const char *output, struct err *err)
{
	const struct dump_request request = {.source = target->folder,
					     .process = target->one ? target->one->name : NULL,
					     .reason = "rooflinectl ctl"};
	char path[PATH_MAX];
	int rc;

	if (output)
		rc = dump_write(&request, output, err);
	else if (!*target->dumps)
		rc = err_set(err, -EINVAL,
			     "%s: keeps all that it records; name the copy to make with -o DIR",
			     target->folder);
	else
		rc = dump_write_next(&request, target->dumps, path, sizeof(path), err);
	if (rc == 0)
		printf("rooflinectl report %s\n", shell_path_text(output ? output : path).text);
	return rc;
}

static int run(const struct live_target *target, const struct ctl_arguments *arguments,
	       struct err *err)
{
	if (!strcmp(arguments->command, "dump"))
		return dump(target, arguments->output, err);
	if (!strcmp(arguments->command, "start"))
		return ask_all(target, CONTROL_start, err);
	if (!strcmp(arguments->command, "stop"))
		return ask_all(target, CONTROL_stop, err);
	return ask_all(target, CONTROL_status, err);
}

int cmd_ctl(int argc, char **argv)
{
	struct ctl_arguments arguments = {0};
	struct live_target target;
	struct err err = {""};
	int rc;

	if (usage_parse(&parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	rc = live_target_find(&target, arguments.target, &err);
	if (rc == 0)
		rc = run(&target, &arguments, &err);
	live_target_close(&target);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}
