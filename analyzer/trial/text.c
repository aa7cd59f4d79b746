/* text.c - what one run wrote. */
#include "trial/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trial/mask.h"

/* FNV-1a */
#define HASH_START 1469598103934665603u
#define HASH_FACTOR 1099511628211u

static uint64_t hash_more(uint64_t hash, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * HASH_FACTOR;
	return hash;
}

static uint64_t hash_of(const struct trial_text *text)
{
	return text->is_hashed ? text->hash : hash_more(HASH_START, text->bytes, text->length);
}

bool trial_text_is_there(const struct trial_text *text)
{
	return text->bytes || text->is_hashed;
}

bool trial_text_is_same(const struct trial_text *one, const struct trial_text *other)
{
	if (!trial_text_is_there(one) || !trial_text_is_there(other))
		return !trial_text_is_there(one) && !trial_text_is_there(other);
	if (one->length != other->length)
		return false;
	if (one->bytes && other->bytes)
		return !memcmp(one->bytes, other->bytes, one->length);
	return hash_of(one) == hash_of(other);
}

void trial_text_free(struct trial_text *text)
{
	free(text->bytes);
	*text = (struct trial_text){0};
}

/* ---- reading ---- */

static int mask_all(struct trial_text *text, const regex_t *masks, size_t mask_count)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < mask_count; i++)
		rc = trial_mask(text, &masks[i]);
	return rc;
}

static int read_whole(struct trial_text *text, int file, size_t size)
{
	ssize_t length = 0;

	*text = (struct trial_text){.bytes = malloc(size + 1)};
	if (!text->bytes)
		return -ENOMEM;
	while (text->length < size &&
	       (length = pread(file, text->bytes + text->length, size - text->length,
			       (off_t)text->length)) > 0)
		text->length += (size_t)length;
	text->bytes[text->length] = '\0';
	return length < 0 ? -EIO : 0;
}

/* Masks do not go beyond a line. */
static int hash_line(struct trial_text *text, const char *line, size_t length, const regex_t *masks,
		     size_t mask_count)
{
	struct trial_text masked = {.bytes = malloc(length + 1), .length = length};
	int rc = masked.bytes ? 0 : -ENOMEM;

	if (rc == 0) {
		memcpy(masked.bytes, line, length);
		masked.bytes[length] = '\0';
		rc = mask_all(&masked, masks, mask_count);
	}
	if (rc == 0) {
		text->hash = hash_more(text->hash, masked.bytes, masked.length);
		text->length += masked.length;
	}
	trial_text_free(&masked);
	return rc;
}

static int hash_lines(struct trial_text *text, FILE *in, const regex_t *masks, size_t mask_count)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int rc = 0;

	while (rc == 0 && (length = getline(&line, &room, in)) > 0)
		rc = hash_line(text, line, (size_t)length, masks, mask_count);
	free(line);
	return rc;
}

static int hash_blocks(struct trial_text *text, FILE *in)
{
	static const size_t block_bytes = 1 << 16;
	char *block = malloc(block_bytes);
	size_t length;

	if (!block)
		return -ENOMEM;
	while ((length = fread(block, 1, block_bytes, in)) > 0) {
		text->hash = hash_more(text->hash, block, length);
		text->length += length;
	}
	free(block);
	return 0;
}

static int read_hash(struct trial_text *text, int file, const regex_t *masks, size_t mask_count)
{
	int copy = dup(file);
	FILE *in = copy < 0 ? NULL : fdopen(copy, "r");
	int rc = in ? 0 : -EIO;

	*text = (struct trial_text){.is_hashed = true, .hash = HASH_START};
	if (!in && copy >= 0)
		close(copy);
	if (rc == 0 && fseeko(in, 0, SEEK_SET) < 0)
		rc = -EIO;
	if (rc == 0)
		rc = mask_count ? hash_lines(text, in, masks, mask_count) : hash_blocks(text, in);
	if (rc == 0 && ferror(in))
		rc = -EIO;
	if (in)
		fclose(in);
	return rc;
}

int trial_text_read(struct trial_text *text, int file, const regex_t *masks, size_t mask_count,
		    size_t most_bytes)
{
	struct stat status;
	int rc;

	*text = (struct trial_text){0};
	if (fstat(file, &status) < 0)
		return -EIO;
	if ((size_t)status.st_size > most_bytes)
		return read_hash(text, file, masks, mask_count);
	rc = read_whole(text, file, (size_t)status.st_size);
	return rc == 0 ? mask_all(text, masks, mask_count) : rc;
}
