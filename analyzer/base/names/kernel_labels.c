#include "base/names/kernel_labels.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/names/kernel_fold.h"
#include "base/names/kernel_types.h"
#include "base/stable_sort.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(node) ((node)->is_lost = true)
#include <uthash.h>

#define WHOLE_SIZE 1024	   /* of a name without namespaces; what follows is not looked at */
#define BEGINNING 6	   /* bytes of a name that are shown before what tells it apart */
#define WORDS_MOST 2	   /* that tell names apart */
#define WORD_LENGTH_MOST 8 /* of each */
#define DIGITS 6	   /* of a hash, more where that is not enough */

struct label {
	const char *name;
	char *text[LABEL_COUNT];
};

struct kernel_labels {
	unsigned sharer_count; /* that free it, beside the first */
	struct label *labels;  /* by name */
	size_t count;
};

/* A name that has no label of this width yet, or one that is another's, too. */
struct item {
	char *text; /* the last that was tried */
	size_t label;
};

struct taken {
	const char *text;
	bool is_lost; /* uthash found no memory for it */
	UT_hash_handle hh;
};

struct labeling {
	struct kernel_labels *labels;
	enum kernel_label which;
	size_t width;
	struct item *items;
	size_t item_count;
	struct taken *taken, *nodes; /* labels that are some kernel's own; a node for each */
	size_t taken_count;
};

/* Names that were alike so far. */
struct group {
	const struct labeling *labeling;
	const struct item *items;
	size_t count;
	uint32_t arguments;	  /* bit i: they differ in template argument i */
	bool has_parameters;	  /* what follows counts the parameters, too */
	size_t common;		  /* bytes at the beginning that are the same */
	size_t words[WORDS_MOST]; /* they differ in these words of their names, SIZE_MAX: in none */
};

static const char *name_of(const struct group *group, size_t index)
{
	return group->labeling->labels->labels[group->items[index].label].name;
}

/* ---- in what names differ ---- */

static bool differ(struct slice a, struct slice b)
{
	return a.length != b.length || memcmp(a.at, b.at, a.length) != 0;
}

static uint32_t differing_arguments(const struct kernel_parts *a, const struct kernel_parts *b)
{
	uint32_t differing = 0;

	for (size_t i = 0; i < a->argument_count || i < b->argument_count; i++)
		if (i >= a->argument_count || i >= b->argument_count ||
		    differ(a->arguments[i], b->arguments[i]))
			differing |= UINT32_C(1) << i;
	return differing;
}

static void find_arguments(struct group *group)
{
	struct kernel_parts first, other;

	kernel_parts_find(&first, name_of(group, 0));
	for (size_t i = 1; i < group->count; i++) {
		kernel_parts_find(&other, name_of(group, i));
		if (differ(first.base, other.base)) {
			group->arguments = 0;
			return;
		}
		group->arguments |= differing_arguments(&first, &other);
	}
}

/* The next word at or behind *at: letters and digits; empty at the end. */
static struct slice next_word(const char **at)
{
	struct slice word;

	while (**at && !isalnum((unsigned char)**at))
		(*at)++;
	word = (struct slice){*at, 0};
	while (isalnum((unsigned char)**at)) {
		(*at)++;
		word.length++;
	}
	return word;
}

/* The first word behind the first skipped ones in which two names differ. */
static size_t differing_word(const char *a, const char *b, size_t skipped)
{
	for (size_t i = 0;; i++) {
		struct slice word = next_word(&a), other = next_word(&b);

		if (i >= skipped && differ(word, other))
			return i;
		if (!word.length && !other.length)
			return SIZE_MAX;
	}
}

static void find_words(struct group *group)
{
	for (size_t i = 0; i < WORDS_MOST; i++) {
		size_t skipped = i ? group->words[i - 1] + 1 : 0;

		group->words[i] = SIZE_MAX;
		for (size_t other = 1; other < group->count && (i == 0 || skipped); other++) {
			size_t word =
				differing_word(name_of(group, 0), name_of(group, other), skipped);

			if (word < group->words[i])
				group->words[i] = word;
		}
	}
}

/* ---- what tells them apart ---- */

/* Of the name with that index in the group. */
typedef void (*writer)(char text[KERNEL_FOLD_SIZE], const struct group *group,
		       const struct kernel_parts *parts, size_t index);

static void write_folded(char text[KERNEL_FOLD_SIZE], const struct group *group,
			 const struct kernel_parts *parts, size_t index)
{
	(void)index;
	kernel_fold(text, parts, group->arguments, group->labeling->width);
}

/* "b::kernel" */
static void write_qualified(char text[KERNEL_FOLD_SIZE], const struct group *group,
			    const struct kernel_parts *parts, size_t index)
{
	struct slice before, qualifier = name_last(parts->qualifier, &before);
	char folded[KERNEL_FOLD_SIZE], whole[2 * KERNEL_FOLD_SIZE];

	write_folded(text, group, parts, index);
	if (!qualifier.length || qualifier.length + 2 + strlen(text) > group->labeling->width)
		return;
	memcpy(folded, text, sizeof(folded));
	snprintf(whole, sizeof(whole), "%.*s::%s", (int)qualifier.length, qualifier.at, folded);
	(void)format_text(text, KERNEL_FOLD_SIZE, whole, group->labeling->width);
}

/* "kernel(float*, int)" */
static void write_parameters(char text[KERNEL_FOLD_SIZE], const struct group *group,
			     const struct kernel_parts *parts, size_t index)
{
	char types[KERNEL_FOLD_SIZE / 2], whole[2 * KERNEL_FOLD_SIZE];

	write_folded(text, group, parts, index);
	if (!parts->has_parameters || !type_put_list(types, sizeof(types), parts->parameters) ||
	    strlen(text) + 2 + strlen(types) > group->labeling->width)
		return;
	snprintf(whole, sizeof(whole), "%s(%s)", text, types);
	(void)format_text(text, KERNEL_FOLD_SIZE, whole, group->labeling->width);
}

/* All of a name but its namespaces, and its parameters where they are not asked for. */
static void write_all(char *text, size_t size, const struct kernel_parts *parts,
		      bool has_parameters)
{
	size_t used;

	(void)kernel_fold_whole(text, size, parts);
	used = strlen(text);
	if (!has_parameters || !parts->has_parameters || used + 3 > size)
		return;
	text[used++] = '(';
	(void)type_put_list(text + used, size - used - 1, parts->parameters);
	strcat(text, ")");
}

/* How many bytes at the beginning are the same in all names of a group; false where two are the same as a whole. */
static bool count_common(struct group *group)
{
	char first[WHOLE_SIZE], other[WHOLE_SIZE];
	struct kernel_parts parts;

	kernel_parts_find(&parts, name_of(group, 0));
	write_all(first, sizeof(first), &parts, group->has_parameters);
	group->common = strlen(first);
	for (size_t i = 1; i < group->count; i++) {
		size_t at = 0;

		kernel_parts_find(&parts, name_of(group, i));
		write_all(other, sizeof(other), &parts, group->has_parameters);
		while (at < group->common && first[at] == other[at])
			at++;
		if (!first[at] && !other[at])
			return false;
		group->common = at;
	}
	return true;
}

/* Parameters only where names differ in nothing else. */
static void find_common(struct group *group)
{
	group->has_parameters = !count_common(group);
	if (group->has_parameters)
		(void)count_common(group);
}

/* "nvjet...112x128_64x7_1x2": the beginning, and what follows what all have in common. */
static void write_difference(char text[KERNEL_FOLD_SIZE], const struct group *group,
			     const struct kernel_parts *parts, size_t index)
{
	char all[WHOLE_SIZE], whole[2 * KERNEL_FOLD_SIZE];
	size_t start = group->common, width = group->labeling->width, length;
	struct slice rest;

	(void)index;
	write_all(all, sizeof(all), parts, group->has_parameters);
	length = strlen(all);
	while (start > 0 && isalnum((unsigned char)all[start - 1]))
		start--;
	if (start + width > length + BEGINNING + 3)
		start = length + BEGINNING + 3 > width ? length + BEGINNING + 3 - width : 0;
	if (start < BEGINNING + 3)
		start = 0;
	rest = slice_from((struct slice){all, length}, start);
	if (start)
		width -= BEGINNING + 3;
	snprintf(whole, sizeof(whole), "%.*s%s%.*s%s", start ? BEGINNING : 0, all,
		 start ? "..." : "",
		 (int)(rest.length <= width ? rest.length : slice_head(rest, width - 3).length),
		 rest.at, rest.length <= width ? "" : "...");
	(void)format_text(text, KERNEL_FOLD_SIZE, whole, group->labeling->width);
}

/* The folded name and then suffix, within the width. */
static void write_with_suffix(char text[KERNEL_FOLD_SIZE], const struct group *group,
			      const struct kernel_parts *parts, const char *suffix)
{
	char whole[2 * KERNEL_FOLD_SIZE];

	kernel_fold(text, parts, 0, group->labeling->width - strlen(suffix));
	snprintf(whole, sizeof(whole), "%s%s", text, suffix);
	(void)format_text(text, KERNEL_FOLD_SIZE, whole, group->labeling->width);
}

/* "sm80_xmma_gemm_f32f32... [nt]" */
static void write_words(char text[KERNEL_FOLD_SIZE], const struct group *group,
			const struct kernel_parts *parts, size_t index)
{
	char buffer[WORDS_MOST * (WORD_LENGTH_MOST + 1) + 4];
	struct slice_text suffix = {.at = buffer, .size = sizeof(buffer)};
	const char *at = name_of(group, index);
	size_t found = 0;

	for (size_t i = 0; found < WORDS_MOST && group->words[found] != SIZE_MAX; i++) {
		struct slice word = next_word(&at);

		if (!word.length)
			break;
		if (i < group->words[found])
			continue;
		slice_text_puts(&suffix, found ? " " : " [");
		slice_text_put(&suffix, slice_head(word, WORD_LENGTH_MOST));
		found++;
	}
	if (found)
		slice_text_puts(&suffix, "]");
	write_with_suffix(text, group, parts, found ? buffer : "");
}

/* FNV-1a, by which a kernel has the same digits in two recordings. */
static uint64_t hash_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

static void write_hash(char text[KERNEL_FOLD_SIZE], const struct group *group,
		       const struct kernel_parts *parts, size_t index)
{
	char suffix[32];

	snprintf(suffix, sizeof(suffix), " #%0*" PRIx64, DIGITS,
		 hash_of(name_of(group, index)) & ((UINT64_C(1) << 4 * DIGITS) - 1));
	write_with_suffix(text, group, parts, suffix);
}

/* ---- labels that are some kernel's own ---- */

static bool is_taken(const struct labeling *labeling, const char *text)
{
	const struct taken *found;

	HASH_FIND_STR(labeling->taken, text, found);
	return found != NULL;
}

static int take(struct labeling *labeling, struct item *item)
{
	struct taken *node = &labeling->nodes[labeling->taken_count++];

	node->text = item->text;
	HASH_ADD_KEYPTR(hh, labeling->taken, node->text, strlen(node->text), node);
	labeling->labels->labels[item->label].text[labeling->which] = item->text;
	item->text = NULL;
	return node->is_lost ? -1 : 0;
}

/* What hashes to the same digits is told apart by its place among all names. */
static void write_place(char text[KERNEL_FOLD_SIZE], const struct group *group,
			const struct kernel_parts *parts, size_t index)
{
	size_t place = group->items[index].label;
	char suffix[32];

	do {
		snprintf(suffix, sizeof(suffix), " @%zu", place);
		write_with_suffix(text, group, parts, suffix);
		place += group->labeling->labels->count;
	} while (is_taken(group->labeling, text));
}

/* ---- step by step ---- */

struct step {
	void (*find)(struct group *group); /* in what they differ; NULL: nothing of it is needed */
	writer write;
};

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = strcmp(a->text, b->text);

	return order ? order : (a->label > b->label) - (a->label < b->label);
}

/* Another text for each name of a group. */
static int rewrite(struct item *items, const struct group *group, writer write)
{
	for (size_t i = 0; i < group->count; i++) {
		struct kernel_parts parts;
		char text[KERNEL_FOLD_SIZE], *copy;

		kernel_parts_find(&parts, name_of(group, i));
		write(text, group, &parts, i);
		copy = strdup(text);
		if (!copy)
			return -1;
		free(items[i].text);
		items[i].text = copy;
	}
	return 0;
}

/* How many items from first on have one text. */
static size_t count_alike(const struct labeling *labeling, size_t first)
{
	const struct item *items = labeling->items;
	size_t end = first + 1;

	while (end < labeling->item_count && !strcmp(items[end].text, items[first].text))
		end++;
	return end - first;
}

static int rewrite_groups(struct labeling *labeling, const struct step *step)
{
	int rc = 0;

	for (size_t i = 0, count; i < labeling->item_count && rc == 0; i += count) {
		struct group group = {.labeling = labeling, .items = labeling->items + i};

		count = group.count = count_alike(labeling, i);
		if (step->find)
			step->find(&group);
		rc = rewrite(labeling->items + i, &group, step->write);
	}
	return rc;
}

/* Takes those that are alone with their texts away from the items. */
static int take_different(struct labeling *labeling)
{
	size_t kept = 0;
	int rc = stable_sort(labeling->items, labeling->item_count, sizeof(*labeling->items),
			     compare_items);

	for (size_t i = 0, count; i < labeling->item_count && rc == 0; i += count) {
		count = count_alike(labeling, i);
		if (count == 1 && !is_taken(labeling, labeling->items[i].text))
			rc = take(labeling, &labeling->items[i]);
	}
	for (size_t i = 0; i < labeling->item_count; i++)
		if (labeling->items[i].text)
			labeling->items[kept++] = labeling->items[i];
	labeling->item_count = kept;
	return rc;
}

/* What tells names apart, one after the other for those that are still alike. */
static int label_all(struct labeling *labeling)
{
	static const struct step steps[] = {
		{NULL, write_folded}, /* each is its own group yet */
		{find_arguments, write_folded},
		{find_arguments, write_qualified},
		{find_arguments, write_parameters},
		{find_common, write_difference},
		{find_common, write_difference}, /* those that the first one left alike */
		{find_words, write_words},
		{NULL, write_hash},
		{NULL, write_place},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && rc == 0; i++) {
		rc = rewrite_groups(labeling, &steps[i]);
		if (rc == 0)
			rc = take_different(labeling);
	}
	return rc;
}

static int fill_items(struct labeling *labeling)
{
	const struct kernel_labels *labels = labeling->labels;

	for (size_t i = 0; i < labels->count; i++) {
		struct item *item = &labeling->items[labeling->item_count];

		*item = (struct item){.text = strdup(labels->labels[i].name), .label = i};
		if (!item->text)
			return -1;
		labeling->item_count++;
	}
	return 0;
}

static int label_width(struct kernel_labels *labels, enum kernel_label which, size_t width)
{
	struct labeling labeling = {.labels = labels, .which = which, .width = width};
	int rc = -1;

	labeling.items = calloc(labels->count + 1, sizeof(*labeling.items));
	labeling.nodes = calloc(labels->count + 1, sizeof(*labeling.nodes));
	if (labeling.items && labeling.nodes && fill_items(&labeling) == 0)
		rc = label_all(&labeling);
	HASH_CLEAR(hh, labeling.taken);
	for (size_t i = 0; i < labeling.item_count; i++)
		free(labeling.items[i].text);
	free(labeling.items);
	free(labeling.nodes);
	return rc;
}

/* ---- all of them ---- */

static int compare_labels(const void *left, const void *right)
{
	const struct label *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static const size_t widths[LABEL_COUNT] = {
#define LABEL_WIDTH(name, width) [name] = (width),
	KERNEL_LABEL_WIDTHS(LABEL_WIDTH)
#undef LABEL_WIDTH
};

size_t kernel_label_columns(enum kernel_label width)
{
	return widths[width];
}

enum kernel_label kernel_label_within(size_t columns)
{
	enum kernel_label width = LABEL_COUNT - 1;

	while (width > 0 && widths[width] > columns)
		width--;
	return width;
}

struct kernel_labels *kernel_labels_create(const char *const *names, size_t count)
{
	struct kernel_labels *labels = calloc(1, sizeof(*labels));
	int rc;

	if (!labels)
		return NULL;
	labels->labels = calloc(count + 1, sizeof(*labels->labels));
	rc = labels->labels ? 0 : -1;
	for (size_t i = 0; i < count && rc == 0; i++)
		labels->labels[i].name = names[i];
	if (rc == 0)
		rc = stable_sort(labels->labels, count, sizeof(*labels->labels), compare_labels);
	for (size_t i = 0; i < count && rc == 0; i++)
		if (i == 0 ||
		    strcmp(labels->labels[i].name, labels->labels[labels->count - 1].name) != 0)
			labels->labels[labels->count++].name = labels->labels[i].name;
	for (int i = 0; i < LABEL_COUNT && rc == 0; i++)
		rc = label_width(labels, (enum kernel_label)i, widths[i]);
	if (rc == 0)
		return labels;
	kernel_labels_free(labels);
	return NULL;
}

struct kernel_labels *kernel_labels_share(struct kernel_labels *labels)
{
	labels->sharer_count++;
	return labels;
}

void kernel_labels_free(struct kernel_labels *labels)
{
	if (!labels || labels->sharer_count-- > 0)
		return;
	for (size_t i = 0; i < labels->count; i++)
		for (int which = 0; which < LABEL_COUNT; which++)
			free(labels->labels[i].text[which]);
	free(labels->labels);
	free(labels);
}

const char *kernel_label(const struct kernel_labels *labels, const char *name,
			 enum kernel_label width)
{
	const struct label key = {.name = name}, *found = NULL;

	if (labels && labels->count)
		found = bsearch(&key, labels->labels, labels->count, sizeof(key), compare_labels);
	return found ? found->text[width] : name;
}
