/* mask.c - what is not compared. */
#include "trial/mask.h"

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
	*text = (struct trial_text){masked, file.length};
	return 0;
}
