#include "analysis/compare/command_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What runs a script; versions such as python3.12 as well. */
static const char *const interpreters[] = {"python", "pypy", "perl", "ruby", "julia",
					   "node",   "lua",  "bash", "sh"};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_interpreter(const char *program)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		size_t length = strlen(interpreters[i]);

		if (!strncmp(program, interpreters[i], length) &&
		    program[length + strspn(program + length, "0123456789.")] == '\0')
			return true;
	}
	return false;
}

bool command_is_number(const char *value)
{
	value += *value == '-' || *value == '+';
	value += *value == '.';
	return isdigit((unsigned char)*value);
}

bool command_is_same_number(const char *a, const char *b)
{
	char *a_rest, *b_rest;
	double a_value = strtod(a, &a_rest), b_value = strtod(b, &b_rest);

	return !strcmp(a, b) || (a_value == b_value && !strcmp(a_rest, b_rest));
}

static bool is_option(const char *word)
{
	return word[0] == '-' && !command_is_number(word);
}

/* The next word, cut off from the rest; NULL at the end. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " "), *end = word + strcspn(word, " ");

	if (!*word)
		return NULL;
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/* Up to the script or module that an interpreter runs; it stays the program where there is none. */
static const char *find_script(char **rest, const char *interpreter)
{
	char *word;

	while ((word = next_word(rest))) {
		if (!strcmp(word, "-c"))
			return interpreter;
		if (!strcmp(word, "-m"))
			continue; /* the next word is the module */
		if (!is_option(word))
			return base_name(word);
		if (!strcmp(word, "-X") || !strcmp(word, "-W"))
			(void)next_word(rest);
	}
	return interpreter;
}

/* An option's word, which may contain its value. */
static struct command_argument parse_option(const char *word)
{
	const char *equals = strchr(word, '=');

	if (equals)
		return (struct command_argument){word, (size_t)(equals - word), equals + 1};
	if (isalpha((unsigned char)word[1]) && command_is_number(word + 2))
		return (struct command_argument){word, 2, word + 2};
	return (struct command_argument){word, strlen(word), NULL};
}

static struct command_argument next_argument(const char *word, char **rest)
{
	struct command_argument argument = {NULL, 0, word};
	const char *next = *rest + strspn(*rest, " ");

	if (!is_option(word))
		return argument;
	argument = parse_option(word);
	if (!argument.value && *next && !is_option(next))
		argument.value = next_word(rest);
	return argument;
}

int command_line_parse(struct command_line *out, const char *command)
{
	size_t word_count = 1;
	char *rest, *word;

	*out = (struct command_line){.program = ""};
	for (const char *space = command; (space = strchr(space, ' ')); space++)
		word_count++;
	out->arguments = calloc(word_count, sizeof(*out->arguments));
	out->text = strdup(command);
	if (!out->arguments || !out->text)
		return -ENOMEM;
	rest = out->text;
	word = next_word(&rest);
	if (word)
		out->program = base_name(word);
	if (word && is_interpreter(out->program))
		out->program = find_script(&rest, out->program);
	while ((word = next_word(&rest)))
		out->arguments[out->count++] = next_argument(word, &rest);
	return 0;
}

void command_line_free(struct command_line *command)
{
	free(command->text);
	free(command->arguments);
	*command = (struct command_line){0};
}

static bool has_same_name(const struct command_argument *a, const struct command_argument *b)
{
	return a->name_length == b->name_length &&
	       (!a->name_length || !memcmp(a->name, b->name, a->name_length));
}

const struct command_argument *command_line_counterpart(const struct command_line *command,
							size_t index,
							const struct command_line *other)
{
	const struct command_argument *wanted = &command->arguments[index];
	size_t before = 0;

	for (size_t i = 0; i < index; i++)
		before += has_same_name(&command->arguments[i], wanted);
	for (size_t i = 0; i < other->count; i++)
		if (has_same_name(&other->arguments[i], wanted) && before-- == 0)
			return &other->arguments[i];
	return NULL;
}
