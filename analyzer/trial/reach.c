/* reach.c - what a strategy reached in a program, and why not more. */
#define _GNU_SOURCE
#include "trial/reach.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define COUNT_NAME(constant, name, meaning) [constant] = name,
static const char *const count_names[] = {TRY_COUNTS(COUNT_NAME)};
#undef COUNT_NAME

static const char *reason_meaning(const char *name)
{
#define REASON_ROW(constant, key, meaning) {key, meaning},
	static const struct {
		const char *name, *meaning;
	} reasons[] = {TRY_REASONS(REASON_ROW)};
#undef REASON_ROW

	for (size_t i = 0; i < TRY_REASON_COUNT; i++)
		if (!strcmp(name, reasons[i].name))
			return reasons[i].meaning;
	return NULL;
}

/* ---- adding up ---- */

static struct trial_cause *find_cause(struct trial_causes *causes, const char *name)
{
	struct trial_cause *cause;

	for (size_t i = 0; i < causes->count; i++)
		if (!strcmp(causes->items[i].name, name))
			return &causes->items[i];
	cause = ARRAY_NEXT(causes->items, causes->capacity, causes->count);
	if (!cause)
		return NULL;
	*cause = (struct trial_cause){.name = strdup(name), .meaning = reason_meaning(name)};
	if (!cause->name)
		return NULL;
	causes->count++;
	return cause;
}

static int add_cause(struct trial_causes *causes, const char *name, uint64_t count)
{
	struct trial_cause *cause = count ? find_cause(causes, name) : NULL;

	if (cause)
		cause->count += count;
	return count && !cause ? -ENOMEM : 0;
}

static int add_row(struct trial_reach *reach, const char *name, uint64_t count)
{
	if (!strncmp(name, TRY_PASSED, strlen(TRY_PASSED)))
		return add_cause(&reach->passed, name + strlen(TRY_PASSED), count);
	if (!strncmp(name, TRY_FLUSH, strlen(TRY_FLUSH)))
		return add_cause(&reach->flushes, name + strlen(TRY_FLUSH), count);
	for (size_t i = 0; i < TRY_COUNT_COUNT; i++)
		if (!strcmp(name, count_names[i]))
			reach->counts[i] += count;
	return 0;
}

/* ---- reading ---- */

/* Returns 0 or -ENOMEM. */
static int add_line(struct trial_reach *reach, char *line)
{
	char *comma = strrchr(line, ','), *end;
	uint64_t count;

	if (!comma || comma[1] < '0' || comma[1] > '9')
		return 0;
	count = strtoull(comma + 1, &end, 10);
	if (*end && *end != '\n' && *end != '\r')
		return 0;
	*comma = '\0';
	return add_row(reach, line, count);
}

static int add_file(struct trial_reach *reach, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int rc = 0;

	if (!file)
		return -errno;
	reach->process_count++;
	while (rc == 0 && getline(&line, &room, file) > 0)
		rc = add_line(reach, line);
	free(line);
	fclose(file);
	return rc;
}

static int by_count(const void *one, const void *other)
{
	const struct trial_cause *a = one, *b = other;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void sort(struct trial_causes *causes)
{
	if (causes->count)
		qsort(causes->items, causes->count, sizeof(*causes->items), by_count);
}

static bool is_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '.';
}

static int add_files(struct trial_reach *reach, DIR *directory, const char *folder,
		     const char *name)
{
	char path[2 * PATH_MAX];
	struct dirent *entry;
	int rc = 0;

	while (rc == 0 && (entry = readdir(directory))) {
		if (!is_of(entry->d_name, name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		rc = add_file(reach, path);
	}
	return rc;
}

int trial_reach_read(struct trial_reach *reach, const char *folder, const char *name,
		     struct err *err)
{
	DIR *directory = opendir(folder);
	int rc = directory ? add_files(reach, directory, folder, name) : -errno;

	if (directory)
		closedir(directory);
	sort(&reach->passed);
	sort(&reach->flushes);
	return rc < 0 ? err_set(err, rc, "%s: cannot read what was reached: %s", folder,
				strerror(-rc))
		      : 0;
}

static void free_causes(struct trial_causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		free(causes->items[i].name);
	free(causes->items);
}

void trial_reach_free(struct trial_reach *reach)
{
	free_causes(&reach->passed);
	free_causes(&reach->flushes);
	*reach = (struct trial_reach){0};
}
