/* selection_options.c - a selection as the options that choose it again, and as a part of a file's name. */
#define _GNU_SOURCE /* open_memstream */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/shell.h"
#include "cmd/selection.h"

#define WORDS_MOST 64 /* of a file's name; longer ones get digits instead */

static void put_option(FILE *out, const char *option, const char *text)
{
	if (!text)
		return;
	fprintf(out, "--%s ", option);
	shell_put_word(out, text);
	fputc(' ', out);
}

static void put_moment(FILE *out, const char *option, const struct selection_moment *moment)
{
	if (moment->is_given && moment->is_count)
		fprintf(out, "--%s %" PRIu64 " ", option, moment->count);
	else if (moment->is_given)
		fprintf(out, "--%s %" PRId64 "ns ", option, moment->ns);
}

char *selection_options(const struct selection *selection)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_option(out, "range", selection->range);
	put_moment(out, "from", &selection->from);
	put_moment(out, "to", &selection->to);
	put_moment(out, "skip-first", &selection->skip);
	put_option(out, "kernels", selection->kernels);
	put_option(out, "stream", selection->stream);
	put_option(out, "rank", selection->rank);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- as a part of a file's name ---- */

/* Letters, digits, _ and - stand for themselves, and a dot for the colon of NAME:N; all else changes the name. */
static char file_character(char c, bool *is_changed)
{
	if (isalnum((unsigned char)c) || c == '_' || c == '-')
		return c;
	*is_changed |= c != ':';
	return c == ':' ? '.' : '_';
}

static void put_name(FILE *out, const char *option, const char *value, bool *is_changed)
{
	if (!value)
		return;
	fprintf(out, "%s%s-", ftell(out) > 0 ? "+" : "", option);
	while (*value)
		putc(file_character(*value++, is_changed), out);
}

/* "2.5ms", of digits alone and their point. */
static void put_moment_name(FILE *out, const char *option, const struct selection_moment *moment)
{
	if (!moment->is_given)
		return;
	fprintf(out, "%s%s-", ftell(out) > 0 ? "+" : "", option);
	if (moment->is_count)
		fprintf(out, "%" PRIu64, moment->count);
	else
		fputs(format_moment(moment->ns).text, out);
}

/* FNV-1a: tells apart what the characters of a file's name cannot. */
static uint32_t hash(const char *text)
{
	uint32_t value = 2166136261u;

	while (*text)
		value = (value ^ (unsigned char)*text++) * 16777619u;
	return value;
}

static char *name_of_words(const struct selection *selection, bool *is_changed)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_name(out, "range", selection->range, is_changed);
	put_moment_name(out, "from", &selection->from);
	put_moment_name(out, "to", &selection->to);
	put_moment_name(out, "skip-first", &selection->skip);
	put_name(out, "kernels", selection->kernels, is_changed);
	put_name(out, "stream", selection->stream, is_changed);
	put_name(out, "rank", selection->rank, is_changed);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

bool selection_file_name(char *name, size_t size, const struct selection *selection)
{
	bool is_changed = false;
	char *words = name_of_words(selection, &is_changed),
	     *options = selection_options(selection);
	bool is_whole = words && options;

	if (is_whole && (is_changed || strlen(words) > WORDS_MOST))
		snprintf(name, size, "%.*s-%08" PRIx32, WORDS_MOST, words, hash(options));
	else if (is_whole)
		snprintf(name, size, "%s", words);
	free(words);
	free(options);
	return is_whole;
}
