#define _GNU_SOURCE
#include "output/check_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_file.h"
#include "base/paths.h"
#include "base/shell.h"

char *check_command(const struct report *report, const struct recommendation *item,
		    const char *range)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);

	if (!out)
		return NULL;
	fputs("rooflinectl verify ", out);
	if (range) {
		fputs("--range ", out);
		shell_put_word(out, range);
		fputc(' ', out);
	}
	shell_put_path(out, path_named(report->profile->path));
	fprintf(out, " AFTER --strategy %s", item->id);
	return memory_file_close(&file);
}

static const char *tried_by(const struct recommendation *item)
{
	for (size_t i = 0; i < TECHNIQUE_COUNT; i++)
		if (!strcmp(techniques[i]->id, item->strategy))
			return techniques[i]->tried_by;
	return NULL;
}

bool can_be_tried(const struct report *report, const struct recommendation *item)
{
	const struct profile *profile = report->profile;

	return tried_by(item) && profile->process_count == 1 && *profile->processes[0].command &&
	       *profile->processes[0].command != '-'; /* would be an option */
}

char *try_command(const struct report *report, const struct recommendation *item)
{
	char *words = shell_words(report->profile->processes[0].command), *command = NULL;

	if (words && asprintf(&command, "rooflinectl try --%s -- %s", tried_by(item), words) < 0)
		command = NULL;
	free(words);
	return command;
}

char *picture_command(const struct scenario *scenario)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);

	if (!out)
		return NULL;
	fputs("rooflinectl plot whatif", out);
	for (size_t i = 0; i < scenario->part_count; i++) {
		fprintf(out, " --%s", techniques[scenario->parts[i].technique]->option);
		if (scenario->parts[i].range) {
			fputc('=', out);
			shell_put_word(out, scenario->parts[i].range);
		}
		if (techniques[scenario->parts[i].technique]->argument == ARGUMENT_NUMBER)
			fprintf(out, " %" PRIu64, scenario->numbers[scenario->parts[i].technique]);
	}
	if (scenario->range) {
		fputs(" --range ", out);
		shell_put_word(out, scenario->range);
	}
	fputc(' ', out);
	shell_put_path(out, path_named(scenario->profile->path));
	return memory_file_close(&file);
}
