/* tune_run.c - one run of the program that is tuned. */
#define _GNU_SOURCE
#include "cmd/tune_run.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory_file.h"

#define MOST_OUTPUT (16 << 20)

/* ---- the command ---- */

/* The parameter whose {NAME} stands at the front, or the number of parameters. */
static size_t parameter_at(const struct tune_space *space, const char *text)
{
	for (size_t i = 0; i < space->parameter_count; i++) {
		size_t length = strlen(space->parameters[i].name);

		if (*text == '{' && !strncmp(text + 1, space->parameters[i].name, length) &&
		    text[length + 1] == '}')
			return i;
	}
	return space->parameter_count;
}

static char *fill_word(const char *word, const struct tune_space *space, size_t point)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);

	if (!out)
		return NULL;
	while (*word) {
		size_t parameter = parameter_at(space, word);

		if (parameter == space->parameter_count) {
			putc(*word++, out);
			continue;
		}
		fputs(tune_space_value(space, point, parameter), out);
		word += strlen(space->parameters[parameter].name) + 2;
	}
	return memory_file_close(&file);
}

char **tune_command_of(char **command, const struct tune_space *space, size_t point)
{
	size_t count = 0;
	char **filled;

	while (command[count])
		count++;
	filled = calloc(count + 1, sizeof(*filled));
	for (size_t i = 0; filled && i < count; i++) {
		filled[i] = fill_word(command[i], space, point);
		if (!filled[i]) {
			tune_command_free(filled);
			return NULL;
		}
	}
	return filled;
}

void tune_command_free(char **command)
{
	for (size_t i = 0; command && command[i]; i++)
		free(command[i]);
	free(command);
}

const char *tune_command_lacks(char **command, const struct tune_space *space)
{
	for (size_t i = 0; i < space->parameter_count; i++) {
		bool is_found = false;

		for (char **word = command; *word && !is_found; word++)
			for (const char *at = *word; *at && !is_found; at++)
				is_found = parameter_at(space, at) == i;
		if (!is_found)
			return space->parameters[i].name;
	}
	return NULL;
}

/* Of a parameter: of letters, digits and _.  A number is none: "[0-9]{3}" is a regular expression. */
static size_t name_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return isdigit((unsigned char)*text) ? 0 : length;
}

/* ${NAME} is a shell's; a {NAME} that an awk or Python script means can have a space in it. */
const char *tune_command_unknown(char **command, const struct tune_space *space, int *length)
{
	for (char **word = command; *word; word++)
		for (const char *at = strchr(*word, '{'); at; at = strchr(at + 1, '{')) {
			*length = (int)name_length(at + 1);
			if (*length && at[1 + *length] == '}' && (at == *word || at[-1] != '$') &&
			    parameter_at(space, at) == space->parameter_count)
				return at + 1;
		}
	return NULL;
}

/* ---- what it printed ---- */

static char *read_back(int descriptor)
{
	struct stat status;
	size_t size = fstat(descriptor, &status) == 0 ? (size_t)status.st_size : 0;
	size_t from = size > MOST_OUTPUT ? size - MOST_OUTPUT : 0;
	char *text = calloc(size - from + 1, 1);

	if (text && pread(descriptor, text, size - from, (off_t)from) < 0)
		*text = '\0';
	for (size_t i = 0; text && i < size - from; i++)
		if (!text[i])
			text[i] = ' ';
	return text;
}

/* The last line with something in it, alone. */
static void keep_last_line(char *text)
{
	size_t end = strlen(text), begin;

	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	text[end] = '\0';
	begin = end;
	while (begin && text[begin - 1] != '\n')
		begin--;
	memmove(text, text + begin, end - begin + 1);
}

static int keep_output(struct tune_run *run)
{
	run->output = read_back(run->process.output);
	run->complaint = read_back(run->process.errors);
	if (!run->output || !run->complaint)
		return -ENOMEM;
	if (run->is_shown)
		fprintf(stderr, "%s%s", run->output, run->complaint);
	keep_last_line(run->complaint);
	return 0;
}

int tune_run(struct tune_run *run, struct err *err)
{
	int rc = quiet_run(&run->process, err);

	if (rc == 0 && keep_output(run) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	quiet_run_close(&run->process);
	return rc;
}

void tune_run_free(struct tune_run *run)
{
	free(run->output);
	free(run->complaint);
	run->output = run->complaint = NULL;
}
