/* mask.c - what is not compared. */
#define _GNU_SOURCE
#include "trial/mask.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_file.h"

#define MASK '*'

/* The rest of a line, whose newline is not its own. */
struct rest {
	const char *at;
	size_t left;
	bool is_begun; /* the line's begin is behind */
};

static void put(FILE *out, struct rest *rest, size_t length)
{
	fwrite(rest->at, 1, length, out);
	rest->at += length;
	rest->left -= length;
	rest->is_begun |= length > 0;
}

/* Writes up to the next match and the mask for it.  Returns false where there is none. */
static bool put_masked(FILE *out, struct rest *rest, const regex_t *regex)
{
	regmatch_t match = {.rm_so = 0, .rm_eo = (regoff_t)rest->left};
	size_t length;

	if (regexec(regex, rest->at, 1, &match, REG_STARTEND | (rest->is_begun ? REG_NOTBOL : 0)))
		return false;
	length = (size_t)(match.rm_eo - match.rm_so);
	put(out, rest, (size_t)match.rm_so);
	if (length)
		fputc(MASK, out);
	else if (rest->left) /* it matches nothing: the next character is behind it */
		put(out, rest, 1);
	rest->at += length;
	rest->left -= length;
	rest->is_begun = true;
	return rest->left > 0;
}

static void put_line(FILE *out, const char *line, size_t length, const regex_t *regex)
{
	struct rest rest = {.at = line, .left = length};

	while (put_masked(out, &rest, regex))
		;
	put(out, &rest, rest.left);
}

static void put_text(FILE *out, const struct trial_text *text, const regex_t *regex)
{
	for (size_t at = 0; at < text->length;) {
		const char *line = text->bytes + at;
		const char *end = memchr(line, '\n', text->length - at);
		size_t length = end ? (size_t)(end - line) : text->length - at;

		put_line(out, line, length, regex);
		if (end)
			fputc('\n', out);
		at += length + (end != NULL);
	}
}

int trial_mask(struct trial_text *text, const regex_t *regex)
{
	struct memory_file file;
	FILE *out;
	char *masked;

	if (!text->bytes)
		return 0;
	out = memory_file_open(&file);
	if (!out)
		return -ENOMEM;
	put_text(out, text, regex);
	masked = memory_file_close(&file);
	if (!masked)
		return -ENOMEM;
	free(text->bytes);
	*text = (struct trial_text){.bytes = masked, .length = file.length};
	return 0;
}

/* ---- suggesting one ---- */

/* Characters of the number that text begins with: 12, 1.5, 3e-05. */
static size_t number_length(const char *text)
{
	size_t length = strspn(text, "0123456789."), exponent;

	if (!isdigit((unsigned char)*text))
		return 0;
	if (text[length] != 'e' && text[length] != 'E')
		return length;
	exponent = length + 1 + strspn(text + length + 1, "+-");
	return isdigit((unsigned char)text[exponent])
		       ? exponent + strspn(text + exponent, "0123456789")
		       : length;
}

/* Where the first number in which the lines differ begins in the first one; NULL where they differ otherwise or not. */
static const char *find_number(const char *one, const char *other)
{
	const char *found = NULL;

	while (*one && *other) {
		size_t length = number_length(one), other_length = number_length(other);

		if (!length && *one != *other)
			return NULL;
		if (!length != !other_length)
			return NULL;
		if (!found && (length != other_length || strncmp(one, other, length) != 0))
			found = one;
		one += length ? length : 1;
		other += length ? other_length : 1;
	}
	return *one || *other ? NULL : found;
}

/* A quote, which would end the word of a shell, as any character. */
static void put_literal(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (strchr("\\.[](){}*+?^$|", text[i]))
			fputc('\\', out);
		fputc(text[i] == '\'' ? '.' : text[i], out);
	}
}

/* The word before a place, with what stands between. */
static const char *word_before(const char *line, const char *place)
{
	while (place > line && !isalpha((unsigned char)place[-1]))
		place--;
	while (place > line && isalpha((unsigned char)place[-1]))
		place--;
	return place;
}

/* Whether one of the words, with spaces around them, is these characters. */
static bool is_one_of(const char *words, const char *text, size_t length)
{
	char word[32];

	if (!length || length > sizeof(word) - 3)
		return false;
	snprintf(word, sizeof(word), " %.*s ", (int)length, text);
	return strcasestr(words, word);
}

/* The unit behind a number: its characters, with the space before it; 0 where it is none of time or of how much a second. */
static size_t unit_length(const char *after)
{
	size_t space = *after == ' ', length = 0;

	while (isalpha((unsigned char)after[space + length]) ||
	       (after[space + length] == '/' && after[space + length + 1] == 's'))
		length++;
	if (!is_one_of(" s ms us ns sec secs msec usec second seconds milliseconds microseconds ",
		       after + space, length) &&
	    !(length > 2 && !strncmp(after + space + length - 2, "/s", 2)) &&
	    !is_one_of(" flops mflops gflops tflops fps ", after + space, length))
		return 0;
	return space + length;
}

static bool is_word_of_time(const char *word)
{
	return is_one_of(" time elapsed took duration seconds speed rate throughput bandwidth ",
			 word,
			 strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"));
}

static bool put_mask(FILE *out, const char *line, const char *number)
{
	const char *after = number + number_length(number), *before = word_before(line, number);
	size_t unit = unit_length(after);

	if (!unit && !is_word_of_time(before))
		return false;
	if (!unit)
		put_literal(out, before, (size_t)(number - before));
	fputs("[0-9.e+-]+", out);
	put_literal(out, after, unit);
	return true;
}

int trial_suggest_mask(char **out, const char *one, const char *other)
{
	const char *number = find_number(one, other);
	struct memory_file file;
	bool is_time;
	FILE *text;

	*out = NULL;
	if (!number)
		return 0;
	text = memory_file_open(&file);
	if (!text)
		return -ENOMEM;
	is_time = put_mask(text, one, number);
	*out = memory_file_close(&file);
	if (!*out)
		return -ENOMEM;
	if (!is_time) {
		free(*out);
		*out = NULL;
	}
	return 0;
}
