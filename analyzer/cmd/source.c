#define _GNU_SOURCE /* asprintf */
#include "cmd/source.h"

#include "analysis/time/host_clocks.h"

#include "advice/advice.h"
#include "analysis/compare/comparison.h"
#include "analysis/time/occurrence.h"
#include "base/format.h"
#include "base/paths.h"
#include "cmd/commands.h"
#include "cmd/pager.h"
#include "cmd/progress.h"
#include "cmd/report_ceilings.h"
#include "cmd/technique_options.h"
#include "cmd/usage.h"
#include "trace/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_WIDTH 80
#define NAME_SIZE (4 * NAME_WIDTH + 1)

enum { KEY_CEILINGS = 256, KEY_RANGE };

static const struct argp_option option_table[] = {
	{"ceilings", KEY_CEILINGS, "FILE", 0,
	 "roofs that 'rooflinectl ceilings' measured; without it those stored for this GPU, else its "
	 "datasheet's",
	 0},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct source *source = state->input;

	switch (key) {
	case KEY_CEILINGS:
		source->ceilings_path = argument;
		return 0;
	case ARGP_KEY_ARG:
		if (source->path)
			usage_fail(state, "one recording at a time, not also '%s'%s", argument,
				   technique_options_remedy(state, source->path, argument).text);
		source->path = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp source_argp = {.options = option_table, .parser = parse_option};

/* ---- the range ---- */

static const struct argp_option range_option_table[] = {
	{"range", KEY_RANGE, "NAME", 0, "predict the NVTX range of that name, beside the whole run",
	 0},
	{0},
};

static error_t parse_range(int key, char *argument, struct argp_state *state)
{
	struct source *source = state->input;

	if (key != KEY_RANGE)
		return ARGP_ERR_UNKNOWN;
	source->range = selection_parse_range(source->range, argument, state);
	return 0;
}

const struct argp source_range_argp = {.options = range_option_table, .parser = parse_range};

/* Whether an earlier range has the same name. */
static bool is_told(const struct profile *profile, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(profile->ranges[i].name, profile->ranges[index].name))
			return true;
	return false;
}

/* Each name once; "..." for those that do not fit. */
static void list_ranges(char *list, size_t size, const struct profile *profile)
{
	size_t used = 0;

	list[0] = '\0';
	for (size_t i = 0; i < profile->range_count; i++) {
		char name[NAME_SIZE];

		if (is_told(profile, i))
			continue;
		format_text(name, sizeof(name), profile->ranges[i].name, NAME_WIDTH);
		if (used + strlen(name) + sizeof(", , ...") > size) {
			snprintf(list + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
	}
}

/* NAME:N and iteration:N are parts of a recording, which other commands take by the same option. */
static const char *hint_for(const char *range)
{
	return strchr(range, ':')
		       ? " (all occurrences are meant here; for the advice of one occurrence: "
			 "rooflinectl report --section advice --range NAME:N)"
		       : "";
}

static int refuse_range(const char *range, const struct profile *profile, struct err *err)
{
	char name[NAME_SIZE], list[NAME_SIZE + 512];

	format_text(name, sizeof(name), range, NAME_WIDTH);
	list_ranges(list, sizeof(list), profile);
	if (!*list)
		return err_set(err, -ENOENT, "%s has no NVTX range '%s', nor any other%s",
			       profile->path, name, hint_for(range));
	return err_set(err, -ENOENT, "%s has no NVTX range '%s'%s; it has: %s", profile->path, name,
		       hint_for(range), list);
}

int source_find_range(const char **range, const struct profile *profile, struct err *err)
{
	const char *found;
	int rc;

	if (!*range)
		return 0;
	rc = occurrence_range(&found, profile, *range, err);
	if (rc == 0 && !found)
		return refuse_range(*range, profile, err);
	if (rc == 0)
		*range = found;
	return rc;
}

static int find_ranges(struct source *source, const struct profile *profile, struct err *err)
{
	int rc = source_find_range(&source->range, profile, err);

	for (size_t i = 0; rc == 0 && i < source->range_count; i++)
		rc = source_find_range(&source->ranges[i], profile, err);
	return rc;
}

/* ---- loading ---- */

/* What the report is of: "301 of 604 operations, by --range run".  told: of the recording itself, or NULL. */
static char *describe_part(const char *told, const char *chosen)
{
	char *text;

	if (asprintf(&text, "%s%s%s%s", told ? "packed as a part: " : "", told ? told : "",
		     told && chosen ? "; of this " : "", chosen ? chosen : "") < 0)
		return NULL;
	return text;
}

static char *describe_rest(const char *part, bool has_holes)
{
	char *text;

	if (asprintf(&text, "%s; all else is left out of what follows%s", part,
		     has_holes ? ": time in which only other operations ran counts as idle, and no "
				 "advice is given"
			       : "") < 0)
		return NULL;
	return text;
}

/* NULL: nothing was chosen. */
static int tell_part(struct report *report, const char *chosen, bool has_holes, struct err *err)
{
	const char *told = report->profile->window.told;

	if (!told && !chosen)
		return 0;
	report->part.head = describe_part(told, chosen);
	report->part.sentence =
		report->part.head ? describe_rest(report->part.head, has_holes) : NULL;
	return report->part.sentence ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* How the part is chosen again. */
static int tell_options(struct report *report, const struct selection *selection, struct err *err)
{
	struct selection others = *selection, choice = *selection;

	others.range = NULL;
	choice.range = NULL;
	choice.from = choice.to = (struct selection_moment){0};
	report->part.options = selection_options(selection);
	report->part.choice_options = selection_options(&choice);
	if (selection->range && !selection_is_any(&others))
		report->part.range = strdup(selection->range);
	return report->part.options && report->part.choice_options &&
			       (report->part.range || !selection->range ||
				selection_is_any(&others))
		       ? 0
		       : err_set(err, -ENOMEM, "out of memory");
}

static int build_part(struct report **out, const char *path, const struct selection *selection,
		      const struct report_needs *needs, struct err *err)
{
	struct profile *profile;
	char *sentence;
	int rc = host_clocks_load(&profile, path, TABLES_ALL, err);

	if (rc < 0)
		return rc;
	rc = selection_apply(selection, profile, &sentence, err);
	if (rc < 0)
		profile_free(profile);
	else
		rc = report_of_profile_with(out, profile, needs->analyses & ANALYSES_ON_REQUEST,
					    err);
	if (rc == 0)
		rc = tell_part(*out, sentence, selection_has_holes(selection), err);
	if (rc == 0)
		rc = tell_options(*out, selection, err);
	free(sentence);
	return rc;
}

/* Of a folder that is no recording but holds some the newest. */
static const char *recording_in(char *buffer, size_t size, const char *path, const char *who)
{
	struct stat status;

	if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode) || recording_is_folder(path) ||
	    path_newest_recording(buffer, size, path) < 0)
		return path;
	fprintf(stderr, "%s: note: this is of %s, the newest recording in %s\n", who, buffer, path);
	return buffer;
}

int source_build(struct report **out, const char *named, const struct selection *selection,
		 const struct report_needs *needs, const char *ceilings_path, const char *who,
		 struct err *err)
{
	char newest[PATH_MAX];
	const char *path = recording_in(newest, sizeof(newest), named, who);
	struct progress progress;
	int rc;

	progress_begin(&progress, "reading and analyzing the recording");
	if (selection_is_any(selection))
		rc = build_part(out, path, selection, needs, err);
	else if ((rc = report_build_for(out, path, needs, err)) == 0)
		rc = tell_part(*out, NULL, false, err);
	progress_end(&progress);
	return rc < 0 ? rc : report_choose_ceilings(*out, ceilings_path, who, err);
}

int source_exit_code(int rc)
{
	return rc == 0 ? EXIT_OK : rc == -EDOM ? EXIT_USAGE : EXIT_FAILED;
}

int source_load_for(struct report **out, const struct source *source,
		    const struct report_needs *needs, const char *who, struct err *err)
{
	const char *path = source->path;
	char newest[PATH_MAX];

	*out = NULL;
	if (!path) {
		if (path_newest_recording(newest, sizeof(newest), ".") < 0) {
			err_set(err, -ENOENT,
				"no recording under the current folder; name one, or make one with "
				"'rooflinectl record -- PROGRAM'");
			return -ENOENT;
		}
		path = newest;
	}
	return source_build(out, path, &source->selection, needs, source->ceilings_path, who, err);
}

int source_find_advice(struct advice **out, const struct report *report, const char *range,
		       struct err *err)
{
	struct progress progress;
	int rc;

	progress_begin(&progress, "predicting what changes would gain");
	rc = advice_find(out, report, range, err);
	progress_end(&progress);
	return rc;
}

int source_load(struct report **out, const struct source *source, const char *who, struct err *err)
{
	static const struct report_needs everything = {0};

	return source_load_for(out, source, &everything, who, err);
}

/* What it is shown on. */
static int screen_of(FILE *out)
{
	return out == stdout ? pager_terminal() : fileno(out);
}

size_t terminal_width(FILE *out)
{
	struct winsize size;

	return ioctl(screen_of(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool is_color_wanted(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(screen_of(out)) && !(no_color && *no_color);
}

/* On stderr: what is said then stands on less than the run. */
static void warn_of_missing(const char *command, const struct profile *profile)
{
	struct sentences warnings = {0};

	if (comparison_warn_of_missing(&warnings, profile) == 0)
		for (size_t i = 0; i < warnings.count; i++)
			fprintf(stderr, "%s: warning: %s\n", command, warnings.items[i]);
	sentences_free(&warnings);
}

static int answer_with(struct source *source, const char *command,
		       int (*answer)(const void *, struct report *, struct err *),
		       const void *arguments, struct report **report, struct err *err)
{
	int rc = source_load(report, source, command, err);

	if (rc < 0)
		return source_exit_code(rc);
	rc = find_ranges(source, (*report)->profile, err);
	if (rc < 0)
		return rc == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
	warn_of_missing(command, (*report)->profile);
	return answer(arguments, *report, err) < 0 ? EXIT_FAILED : EXIT_OK;
}

int source_answer(struct source *source, const char *command,
		  int (*answer)(const void *, struct report *, struct err *), const void *arguments)
{
	struct report *report = NULL;
	struct err err = {""};
	int code = answer_with(source, command, answer, arguments, &report, &err);

	if (code != EXIT_OK)
		fprintf(stderr, "%s: %s\n", command, err.text);
	report_free(report);
	return code;
}
