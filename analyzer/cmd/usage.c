#include "cmd/usage.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "cmd/commands.h"
#include "cmd/pager.h"

#define WORD_SIZE 64

void usage_init(struct argp_state *state)
{
	state->err_stream = NULL;
}

void usage_fail(const struct argp_state *state, const char *format, ...)
{
	char text[4096], safe[sizeof(text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)format_text(safe, sizeof(safe), text, sizeof(safe));
	fprintf(stderr, "%s: %s; see %s --help\n", state->name, safe, state->name);
	exit(EXIT_USAGE);
}

/* ---- what was probably meant ---- */

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, delete or replace until a is b. */
static size_t distance(const char *a, const char *b, size_t b_length)
{
	size_t row[WORD_SIZE + 1];

	for (size_t i = 0; i <= b_length; i++)
		row[i] = i;
	for (size_t k = 1; *a; a++, k++) {
		size_t diagonal = row[0];

		row[0] = k;
		for (size_t i = 1; i <= b_length; i++) {
			size_t above = row[i];

			row[i] = least(row[i] + 1, row[i - 1] + 1, diagonal + (*a != b[i - 1]));
			diagonal = above;
		}
	}
	return row[b_length];
}

struct suggestion usage_suggest(const char *word, const char *words)
{
	size_t nearest = strlen(word + strspn(word, "-")) / 3 + 2, length;
	struct suggestion suggestion = {""};

	for (words += strspn(words, " "); *words; words += length, words += strspn(words, " ")) {
		size_t far;

		length = strcspn(words, " ");
		if (length > WORD_SIZE)
			continue;
		far = distance(word, words, length);
		if (far >= nearest || far >= length)
			continue;
		nearest = far;
		snprintf(suggestion.text, sizeof(suggestion.text), ", did you mean '%.*s'?",
			 (int)length, words);
	}
	return suggestion;
}

/* ---- all options of a command ---- */

static bool is_shown(const struct argp_option *option)
{
	return !(option->flags & (OPTION_HIDDEN | OPTION_DOC)) &&
	       (option->name || (option->key > ' ' && option->key < 127));
}

static void visit_options(const struct argp *argp, usage_visitor visit, void *context)
{
	for (const struct argp_option *option = argp->options;
	     option && (option->name || option->key || option->doc); option++) {
		bool has_letter = option->key > ' ' && option->key < 127;
		const struct usage_option shown = {.name = option->name,
						   .letter = has_letter ? (char)option->key : '\0',
						   .argument = option->arg,
						   .is_optional =
							   option->flags & OPTION_ARG_OPTIONAL,
						   .meaning = option->doc};

		if (is_shown(option))
			visit(context, &shown);
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		visit_options(child->argp, visit, context);
}

static usage_visitor list_visitor;
static void *list_context;

void usage_list(usage_visitor visit, void *context)
{
	list_visitor = visit;
	list_context = context;
}

/* ---- an option that is wrong ---- */

/* What getopt did not take, and the options that it may have been. */
struct wrong_option {
	const char *text; /* --formt=x, -Zx */
	size_t length;	  /* of a long name, without what follows = */
	char names[2048];
	size_t count; /* names that begin so */
	bool is_known, takes_argument;
};

static void look_at_long(void *context, const struct usage_option *option)
{
	struct wrong_option *wrong = context;
	size_t used = strlen(wrong->names);

	if (!option->name)
		return;
	snprintf(wrong->names + used, sizeof(wrong->names) - used, "--%s ", option->name);
	if (strncmp(option->name, wrong->text + 2, wrong->length))
		return;
	if (!wrong->is_known)
		wrong->takes_argument = option->argument && !option->is_optional;
	wrong->is_known |= !option->name[wrong->length];
	wrong->count++;
}

static void fail_long(const struct argp_state *state, struct wrong_option *wrong)
{
	char name[WORD_SIZE];

	wrong->length = strcspn(wrong->text + 2, "=");
	visit_options(state->root_argp, look_at_long, wrong);
	snprintf(name, sizeof(name), "--%.*s", (int)wrong->length, wrong->text + 2);
	if (!wrong->count)
		usage_fail(state, "unrecognized option '%s'%s", name,
			   usage_suggest(name, wrong->names).text);
	if (!wrong->is_known && wrong->count > 1)
		usage_fail(state, "option '%s' is ambiguous", name);
	usage_fail(state,
		   wrong->takes_argument ? "option '%s' requires an argument"
					 : "option '%s' doesn't allow an argument",
		   name);
}

static void look_at_letter(void *context, const struct usage_option *option)
{
	struct wrong_option *wrong = context;

	if (!option->letter || option->letter != *wrong->text)
		return;
	wrong->is_known = true;
	wrong->takes_argument = option->argument != NULL;
}

static void fail_short(const struct argp_state *state, struct wrong_option *wrong)
{
	for (wrong->text++; *wrong->text; wrong->text++) {
		wrong->is_known = wrong->takes_argument = false;
		visit_options(state->root_argp, look_at_letter, wrong);
		if (!wrong->is_known)
			usage_fail(state, "invalid option -- '%c'", *wrong->text);
		if (wrong->takes_argument)
			usage_fail(state, "option requires an argument -- '%c'", *wrong->text);
	}
}

/* getopt has gone past a long option, but not past a cluster of letters of which one is wrong. */
static const char *wrong_argument(const struct argp_state *state)
{
	const char *before = state->next > 0 ? state->argv[state->next - 1] : "";

	return *before == '-' && before[1] ? before
	       : state->next < state->argc ? state->argv[state->next]
					   : "";
}

static void fail_option(const struct argp_state *state)
{
	struct wrong_option wrong = {.text = wrong_argument(state)};

	if (!strncmp(wrong.text, "--", 2))
		fail_long(state, &wrong);
	else if (*wrong.text == '-')
		fail_short(state, &wrong);
	usage_fail(state, "wrong arguments");
}

/* ---- parsing ---- */

enum { KEY_USAGE = 4096, KEY_NO_PAGER };

static const struct argp_option common_options[] = {
	{"help", 'h', NULL, 0, "Give this help list", -1},
	{NULL, '?', NULL, OPTION_HIDDEN, NULL, -1},
	{"usage", KEY_USAGE, NULL, 0, "Give a short usage message", -1},
	{"no-pager", KEY_NO_PAGER, NULL, OPTION_HIDDEN, NULL, -1},
	{0},
};

/* argp says nothing on any stream as long as it is told to be silent. */
__attribute__((noreturn)) static void give_help(struct argp_state *state, unsigned flags)
{
	state->flags &= ~(unsigned)ARGP_NO_ERRS;
	argp_state_help(state, stdout, flags & ~(unsigned)(ARGP_HELP_EXIT_OK | ARGP_HELP_EXIT_ERR));
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write to stdout: %s\n", state->name, strerror(errno));
		exit(EXIT_FAILED);
	}
	exit(EXIT_OK);
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
	(void)argument;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case 'h':
	case '?':
		give_help(state, ARGP_HELP_STD_HELP);
	case KEY_NO_PAGER:
		pager_cancel();
		return 0;
	case KEY_USAGE:
		give_help(state, ARGP_HELP_USAGE);
	case ARGP_KEY_ERROR:
		fail_option(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int usage_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	struct argp inner = *argp;
	const struct argp_child children[] = {{&inner, 0, NULL, 0}, {0}};
	const struct argp outer = {.options = common_options,
				   .parser = parse_common,
				   .args_doc = argp->args_doc,
				   .doc = argp->doc,
				   .help_filter = argp->help_filter,
				   .children = children};
	error_t rc;

	inner.args_doc = inner.doc = NULL;
	inner.help_filter = NULL;
	if (list_visitor) {
		visit_options(&outer, list_visitor, list_context);
		return EINVAL;
	}
	/* Silent: getopt's lines and argp's own are said here. */
	rc = argp_parse(&outer, argc, argv, flags | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, input);
	if (rc == ENOMEM) {
		fprintf(stderr, "%s: out of memory\n", argv[0]);
		exit(EXIT_FAILED);
	}
	return rc;
}

/* ---- options that several commands have ---- */

enum usage_format usage_format(const struct argp_state *state, const char *name)
{
	static const char *const names[] = {
#define FORMAT_NAME(format, summary) #format,
		OUTPUTS(FORMAT_NAME)
#undef FORMAT_NAME
	};

	for (int i = 0; i < USAGE_FORMAT_COUNT; i++)
		if (!strcmp(names[i], name)) {
			if (i !=
			    USAGE_FORMAT_text) /* who writes it asks whether it goes to a terminal */
				pager_cancel();
			return (enum usage_format)i;
		}
	usage_fail(state, "no format '%s'; there are:" OUTPUT_NAMES, name);
}

bool usage_is_json(const struct argp_state *state, const char *name)
{
	bool is_json = !strcmp(name, "json");

	if (!is_json && strcmp(name, "text"))
		usage_fail(state, "no format '%s'; there are: text json", name);
	return is_json;
}

size_t usage_rows(const struct argp_state *state, const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || value == 0)
		usage_fail(state, "--top wants a number of rows, not '%s'", text);
	return value;
}

double usage_number(const struct argp_state *state, const char *option, const char *text,
		    double least, double most)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end || !(number >= least) || number > most)
		usage_fail(state, "--%s takes a number from %g to %g, not '%s'", option, least,
			   most, text);
	return number;
}

size_t usage_count(const struct argp_state *state, const char *option, const char *text,
		   double least, double most)
{
	double number = usage_number(state, option, text, least, most);

	if (number != floor(number))
		usage_fail(state, "--%s takes a whole number, not '%s'", option, text);
	return (size_t)number;
}
