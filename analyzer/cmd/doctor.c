/* doctor.c - what works on this machine, what does not, and the exact fix. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json_builder.h"
#include "cmd/commands.h"
#include "cmd/usage.h"
#include "cmd/doctor_checks.h"

#define DOCTOR_SCHEMA 1 /* of the JSON answer */

static const struct check {
	const char *name, *title;
	enum doctor_need need;
	doctor_check run;
} checks[] = {
#define CHECK_ROW(name, need, title) {#name, title, need, doctor_check_##name},
	DOCTOR_CHECKS(CHECK_ROW)
#undef CHECK_ROW
};

enum { CHECK_COUNT = sizeof(checks) / sizeof(checks[0]) };

static const struct {
	const char *name, *color; /* of the status, on a terminal */
} statuses[] = {
	[DOCTOR_OK] = {"ok", "\033[32m"},
	[DOCTOR_LIMITED] = {"limited", "\033[33m"},
	[DOCTOR_MISSING] = {"missing", "\033[31m"},
};

struct options {
	bool is_json;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'f':
		options->is_json = usage_is_json(state, argument);
		return 0;
	case ARGP_KEY_ARG:
		usage_fail(state, "no argument is expected, got '%s'", argument);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option option_table[] = {
	{"format", 'f', "text|json", 0, "for people (the default), or for programs", 0},
	{0},
};

static const struct argp parser = {
	.options = option_table,
	.parser = parse_option,
	.doc = "What works on this machine, what does not, and the exact fix.\v"
	       "The exit code is 0 when everything that this machine can do works, and 1 when"
	       " something is broken.  A missing GPU is not broken: reports and charts need none.",
};

/* Whether a missing thing is one that this machine should have. */
static bool is_broken(const struct check *check, const struct doctor_finding *finding, bool has_gpu)
{
	return finding->status == DOCTOR_MISSING &&
	       (check->need == NEED_ALWAYS || (check->need == NEED_WITH_GPU && has_gpu));
}

static void print_finding(const struct check *check, const struct doctor_finding *finding,
			  bool is_colored)
{
	printf("%-10s %s%-8s%s %s\n", check->title,
	       is_colored ? statuses[finding->status].color : "", statuses[finding->status].name,
	       is_colored ? "\033[0m" : "", finding->found);
	if (finding->fix[0])
		printf("           fix: %s\n", finding->fix);
}

static void print_summary(bool can_record, bool has_gpu)
{
	if (can_record)
		puts("\nRecording works: rooflinectl record -- your-program");
	else if (has_gpu)
		puts("\nRecording does not work yet, see the fixes above.");
	else
		puts("\nNo GPU here, so nothing can be recorded on this machine.");
	puts("report, plot and demo need no GPU; they read recordings from any machine.");
}

static void print_text(const struct doctor_finding findings[CHECK_COUNT], bool can_record,
		       bool has_gpu)
{
	const char *no_color = getenv("NO_COLOR");
	bool is_colored = isatty(STDOUT_FILENO) && !(no_color && *no_color);

	for (int i = 0; i < CHECK_COUNT; i++)
		print_finding(&checks[i], &findings[i], is_colored);
	print_summary(can_record, has_gpu);
}

static json_t *json_gpus(struct json_builder *json, const struct doctor_driver *driver)
{
	json_t *gpus = json_array();

	for (int i = 0; i < driver->gpu_count && i < DOCTOR_MAX_GPUS; i++)
		json_builder_append(json, gpus,
				    json_pack("{s:o, s:i, s:i}", "name",
					      json_builder_text(driver->gpus[i].name),
					      "compute_major", driver->gpus[i].compute_major,
					      "compute_minor", driver->gpus[i].compute_minor));
	return gpus;
}

static int print_json(const struct doctor_finding findings[CHECK_COUNT],
		      const struct doctor_driver *driver, bool can_record, bool is_healthy,
		      struct err *err)
{
	struct json_builder json = {0};
	json_t *list = json_array(), *answer;

	for (int i = 0; i < CHECK_COUNT; i++)
		json_builder_append(&json, list,
				    json_pack("{s:s, s:s, s:o, s:o}", "name", checks[i].name,
					      "status", statuses[findings[i].status].name, "found",
					      json_builder_text(findings[i].found), "fix",
					      json_builder_text(findings[i].fix)));
	answer = json_pack("{s:i, s:b, s:b, s:o, s:o}", "schema", DOCTOR_SCHEMA, "healthy",
			   is_healthy, "can_record", can_record, "gpus", json_gpus(&json, driver),
			   "checks", list);
	return json_builder_write(&json, answer, stdout, JSON_INDENT(2), "the answer", err);
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_finding findings[CHECK_COUNT];
	struct doctor_system machine;
	struct options options = {0};
	struct err err = {""};
	bool is_healthy = true, can_record = true, has_gpu;

	if (usage_parse(&parser, argc, argv, 0, &options))
		return EXIT_USAGE;
	doctor_probe(&machine, "/proc");
	has_gpu = doctor_has_gpu(&machine);
	for (int i = 0; i < CHECK_COUNT; i++) {
		checks[i].run(&machine, &findings[i]);
		is_healthy = is_healthy && !is_broken(&checks[i], &findings[i], has_gpu);
		can_record = can_record && !(checks[i].need == NEED_WITH_GPU &&
					     findings[i].status == DOCTOR_MISSING);
	}
	if (!options.is_json)
		print_text(findings, can_record, has_gpu);
	else if (print_json(findings, &machine.driver, can_record, is_healthy, &err) < 0) {
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
		return EXIT_FAILED;
	}
	return is_healthy ? EXIT_OK : EXIT_FAILED;
}
