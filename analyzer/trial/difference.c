/* difference.c - whether runs with a strategy wrote the same as those without one. */
#include "trial/difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trial/mask.h"

#define SHOWN_BYTES 400 /* of a line */

const char *trial_match_key(enum trial_match match)
{
#define MATCH_KEY(constant, key) key,
	static const char *const keys[] = {TRIAL_MATCHES(MATCH_KEY)};
#undef MATCH_KEY

	return keys[match];
}

/* ---- pieces of texts ---- */

struct piece {
	const char *bytes; /* NULL: there is no further one */
	size_t length;
};

static bool is_same(struct piece one, struct piece other)
{
	if (!one.bytes || !other.bytes)
		return !one.bytes && !other.bytes;
	return one.length == other.length && !memcmp(one.bytes, other.bytes, one.length);
}

/* Where reading has come to. */
struct reader {
	const char *at;
	size_t left;
};

static struct reader reader_of(const struct trial_text *text)
{
	return (struct reader){text->bytes, text->bytes ? text->length : 0};
}

static struct piece take(struct reader *reader, size_t length)
{
	struct piece piece = {reader->at, length};

	reader->at += length;
	reader->left -= length;
	return piece;
}

/* With its newline, which the last one may lack. */
static struct piece next_line(struct reader *reader)
{
	const char *end;

	if (!reader->left)
		return (struct piece){0};
	end = memchr(reader->at, '\n', reader->left);
	return take(reader, end ? (size_t)(end + 1 - reader->at) : reader->left);
}

static bool is_space(char character)
{
	return character == ' ' || character == '\t' || character == '\r';
}

static struct piece next_word(struct reader *reader)
{
	size_t length = 0;

	while (reader->left && is_space(*reader->at))
		(void)take(reader, 1);
	if (!reader->left)
		return (struct piece){0};
	while (length < reader->left && !is_space(reader->at[length]))
		length++;
	return take(reader, length);
}

/* Owned, without its newline; NULL: the text has ended, or there is no memory, which is told. */
static char *copy_piece(struct piece piece, int *rc)
{
	size_t length = piece.length < SHOWN_BYTES ? piece.length : SHOWN_BYTES;
	char *copy;

	if (!piece.bytes)
		return NULL;
	if (length && piece.bytes[length - 1] == '\n')
		length--;
	copy = strndup(piece.bytes, length);
	if (!copy)
		*rc = -ENOMEM;
	return copy;
}

static int keep_lines(struct trial_lines *lines, uint64_t number, struct piece one,
		      struct piece other)
{
	int rc = 0;

	if (lines->number)
		return 0;
	lines->number = number;
	lines->one = copy_piece(one, &rc);
	lines->other = copy_piece(other, &rc);
	return rc;
}

/* ---- comparing ---- */

/* All texts, line by line: those of bare runs, then the others. */
struct comparing {
	struct trial_difference *out;
	struct reader *texts; /* owned, as the next ones */
	struct piece *lines;  /* of this number */
	struct reader *in_lines;
	struct piece *words;
	size_t bare_count, count;
	uint64_t number;
};

/* The first of the pieces [from, end) that is not as the first of all; end: none. */
static size_t find_other(const struct piece *pieces, size_t from, size_t end)
{
	while (from < end && is_same(pieces[0], pieces[from]))
		from++;
	return from;
}

/* How many of the pieces [from, end) there are. */
static size_t count_pieces(const struct piece *pieces, size_t from, size_t end)
{
	size_t count = 0;

	for (size_t i = from; i < end; i++)
		count += pieces[i].bytes != NULL;
	return count;
}

/* The next word of each line.  Returns the first of the others that differs where bare runs agree; the number of all:
 * none.  is_over: a line has ended, so that words behind are not those of the same place. */
static size_t compare_words(struct comparing *comparing, bool *is_over)
{
	const struct piece *words = comparing->words;
	size_t bare_count = comparing->bare_count, count = comparing->count;

	for (size_t i = 0; i < count; i++)
		comparing->words[i] = next_word(&comparing->in_lines[i]);
	*is_over = count_pieces(words, 0, bare_count) < bare_count;
	if (find_other(words, 1, bare_count) == bare_count)
		return find_other(words, bare_count, count);
	for (size_t i = bare_count; !*is_over && i < count; i++)
		if (!words[i].bytes)
			return i;
	return count;
}

/* The same of a line in which bare runs differ. */
static size_t find_other_words(struct comparing *comparing)
{
	size_t found = comparing->count;
	bool is_over = false;

	for (size_t i = 0; i < comparing->count; i++)
		comparing->in_lines[i] =
			(struct reader){comparing->lines[i].bytes, comparing->lines[i].length};
	while (!is_over && found == comparing->count)
		found = compare_words(comparing, &is_over);
	return found;
}

/* Bare runs differ in this line.  Returns 0, 1 where they do not have it all, or -ENOMEM. */
static int note_varying(struct comparing *comparing, size_t varying)
{
	struct trial_difference *out = comparing->out;
	const struct piece *lines = comparing->lines;
	size_t bare_count = comparing->bare_count;
	int rc = keep_lines(&out->varying, comparing->number, lines[0], lines[varying]);

	out->match = TRIAL_AGREES;
	out->varying_count++;
	if (rc == 0 && count_pieces(lines, 0, bare_count) < bare_count) {
		out->match = TRIAL_UNKNOWN;
		rc = 1;
	}
	return rc;
}

/* One line of each text.  Returns 0, 1 where there is nothing more to compare, or -ENOMEM. */
static int compare_line(struct comparing *comparing)
{
	struct trial_difference *out = comparing->out;
	const struct piece *lines = comparing->lines;
	size_t bare_count = comparing->bare_count, count = comparing->count;
	size_t varying = find_other(lines, 1, bare_count), other;
	int rc = varying < bare_count ? note_varying(comparing, varying) : 0;

	if (rc)
		return rc;
	other = varying < bare_count ? find_other_words(comparing)
				     : find_other(lines, bare_count, count);
	out->line_count += lines[0].bytes != NULL;
	if (other == count)
		return !lines[0].bytes;
	out->match = TRIAL_DIFFERENT;
	rc = keep_lines(&out->first, comparing->number, lines[0], lines[other]);
	return rc < 0 ? rc : 1;
}

static int compare_lines(struct comparing *comparing)
{
	int rc = 0;

	while (rc == 0) {
		comparing->number++;
		for (size_t i = 0; i < comparing->count; i++)
			comparing->lines[i] = next_line(&comparing->texts[i]);
		rc = compare_line(comparing);
	}
	return rc < 0 ? rc : 0;
}

static int open_comparing(struct comparing *comparing, struct trial_difference *out,
			  size_t bare_count, size_t count)
{
	*comparing = (struct comparing){.out = out,
					.texts = calloc(count + 1, sizeof(*comparing->texts)),
					.lines = calloc(count + 1, sizeof(*comparing->lines)),
					.in_lines = calloc(count + 1, sizeof(*comparing->in_lines)),
					.words = calloc(count + 1, sizeof(*comparing->words)),
					.bare_count = bare_count,
					.count = count};
	return comparing->texts && comparing->lines && comparing->in_lines && comparing->words
		       ? 0
		       : -ENOMEM;
}

static void close_comparing(struct comparing *comparing)
{
	free(comparing->texts);
	free(comparing->lines);
	free(comparing->in_lines);
	free(comparing->words);
}

static bool is_any_hashed(const struct trial_text *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (texts[i].is_hashed)
			return true;
	return false;
}

static bool are_same(const struct trial_text *first, const struct trial_text *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!trial_text_is_same(first, &texts[i]))
			return false;
	return true;
}

static void compare_whole(struct trial_difference *out, const struct trial_text *bare,
			  size_t bare_count, const struct trial_text *tried, size_t tried_count)
{
	out->is_whole = true;
	if (!are_same(bare, bare, bare_count))
		out->match = TRIAL_UNKNOWN;
	else if (!are_same(bare, tried, tried_count))
		out->match = TRIAL_DIFFERENT;
}

static int suggest_mask(struct trial_difference *out)
{
	if (out->match == TRIAL_DIFFERENT && out->first.one && out->first.other)
		return trial_suggest_mask(&out->suggested_mask, out->first.one, out->first.other);
	return 0;
}

int trial_compare(struct trial_difference *out, const struct trial_text *bare, size_t bare_count,
		  const struct trial_text *tried, size_t tried_count)
{
	struct comparing comparing;
	int rc;

	*out = (struct trial_difference){0};
	if (is_any_hashed(bare, bare_count) || is_any_hashed(tried, tried_count)) {
		compare_whole(out, bare, bare_count, tried, tried_count);
		return 0;
	}
	rc = open_comparing(&comparing, out, bare_count, bare_count + tried_count);
	for (size_t i = 0; rc == 0 && i < bare_count + tried_count; i++)
		comparing.texts[i] = reader_of(i < bare_count ? &bare[i] : &tried[i - bare_count]);
	if (rc == 0)
		rc = compare_lines(&comparing);
	if (rc == 0)
		rc = suggest_mask(out);
	close_comparing(&comparing);
	return rc;
}

static void free_lines(struct trial_lines *lines)
{
	free(lines->one);
	free(lines->other);
}

void trial_difference_free(struct trial_difference *difference)
{
	free_lines(&difference->first);
	free_lines(&difference->varying);
	free(difference->suggested_mask);
	*difference = (struct trial_difference){0};
}
