#include "writer/intern.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The collector never ends the program: when memory is out an entry is not remembered. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct text_entry {
	UT_hash_handle hh;
	uint32_t id;
	char text[];
};

struct signature_entry {
	UT_hash_handle hh;
	struct trace_signatures_row row; /* the key, with id 0 */
	uint32_t id;
};

/* CUPTI hands out the same pointer for the same kernel, so the pointer finds the entry without
 * hashing; the text is compared all the same, since a module may be unloaded and its memory reused. */
#define POINTER_SLOTS 1024
static struct {
	const char *pointer;
	struct text_entry *entry;
} pointers[POINTER_SLOTS];

static struct text_entry *texts;
static size_t text_bytes;
static struct signature_entry *signatures;
static struct signature_entry *last_signature; /* programs repeat themselves */
static uint32_t last_text_id, last_signature_id;

static void forget_texts(void)
{
	struct text_entry *entry, *next;

	memset(pointers, 0, sizeof(pointers));
	text_bytes = 0;
	HASH_ITER(hh, texts, entry, next)
	{
		HASH_DEL(texts, entry);
		free(entry);
	}
}

static void forget_signatures(void)
{
	struct signature_entry *entry, *next;

	last_signature = NULL;
	HASH_ITER(hh, signatures, entry, next)
	{
		HASH_DEL(signatures, entry);
		free(entry);
	}
}

static struct text_entry *add_text(const char *text, size_t length)
{
	struct text_entry *entry;

	if (HASH_COUNT(texts) >= INTERN_LIMIT || text_bytes + length > INTERN_BYTES)
		forget_texts();
	entry = calloc(1, sizeof(*entry) + length + 1);
	if (!entry)
		return NULL;
	memcpy(entry->text, text, length + 1);
	entry->id = ++last_text_id;
	text_bytes += length;
	HASH_ADD_KEYPTR(hh, texts, entry->text, length, entry);
	return entry;
}

uint32_t intern_text(const char *text, bool *is_new)
{
	size_t slot = ((uintptr_t)text >> 3) % POINTER_SLOTS;
	struct text_entry *entry = pointers[slot].entry;
	size_t length;

	*is_new = false;
	if (entry && pointers[slot].pointer == text && !strcmp(entry->text, text))
		return entry->id;
	length = strlen(text);
	HASH_FIND(hh, texts, text, length, entry);
	if (!entry) {
		*is_new = true;
		entry = add_text(text, length);
		if (!entry)
			return ++last_text_id;
	}
	pointers[slot].pointer = text;
	pointers[slot].entry = entry;
	return entry->id;
}

static struct signature_entry *add_signature(const struct trace_signatures_row *row)
{
	struct signature_entry *entry;

	if (HASH_COUNT(signatures) >= INTERN_LIMIT)
		forget_signatures();
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->row = *row;
	entry->id = ++last_signature_id;
	HASH_ADD(hh, signatures, row, sizeof(entry->row), entry);
	return entry;
}

uint32_t intern_signature(const struct trace_signatures_row *row, bool *is_new)
{
	struct signature_entry *entry = last_signature;

	*is_new = false;
	if (entry && !memcmp(&entry->row, row, sizeof(*row)))
		return entry->id;
	HASH_FIND(hh, signatures, row, sizeof(*row), entry);
	if (!entry) {
		*is_new = true;
		entry = add_signature(row);
		if (!entry)
			return ++last_signature_id;
	}
	last_signature = entry;
	return entry->id;
}

uint32_t intern_signature_drop(const struct trace_signatures_row *row)
{
	struct trace_signatures_row key = *row;
	struct signature_entry *entry;

	key.id = 0;
	HASH_FIND(hh, signatures, &key, sizeof(key), entry);
	if (entry)
		entry->id = 0;
	return 0;
}
