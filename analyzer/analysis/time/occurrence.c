#include "analysis/time/occurrence.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/iteration.h"
#include "base/format.h"
#include "base/paths.h"
#include "base/shell.h"

#define NAME_WIDTH 60		       /* of a name in a message */
#define NAME_SIZE (4 * NAME_WIDTH + 1) /* UTF-8 */
#define PRINTED_WIDTH 400	       /* of names to choose from, which are copied from there */
#define PRINTED_SIZE (4 * PRINTED_WIDTH + 1)

/* What is looked for, and the names that fit: one, or more than one. */
struct search {
	const struct profile *profile;
	char *name; /* owned; without :N */
	uint64_t number;
	bool has_number;
	const char *found, *other; /* of a range or kernel; other differs from found */
	const char *domain;	   /* of the range, where it was named; NULL: any */
	bool is_range;
	uint32_t kernel; /* kernel_names[] of found */
};

enum how { WHOLE, PART };

/* Part of the array that is sorted by start: a device's operations or a thread's ranges. */
struct slice {
	size_t next, end;
};

/* ---- the name ---- */

static bool is_word(char c)
{
	return c == '_' || isalnum((unsigned char)c);
}

/* Digits alone are a number: 7 is no part of 17, nor of int32x7. */
static bool is_part(const char *name, const char *wanted)
{
	bool is_number = *wanted && strspn(wanted, "0123456789") == strlen(wanted);

	for (const char *at = strstr(name, wanted); at; at = strstr(at + 1, wanted))
		if (!is_number ||
		    ((at == name || !is_word(at[-1])) && !is_word(at[strlen(wanted)])))
			return true;
	return false;
}

/* "domain: name", as reports print it. */
static bool is_called_in_domain(const struct profile_range *range, const char *wanted)
{
	size_t length = strlen(range->domain);

	return length && !strncmp(wanted, range->domain, length) &&
	       !strncmp(wanted + length, ": ", 2) && !strcmp(wanted + length + 2, range->name);
}

bool occurrence_is_kernel_called(const struct profile *profile, const char *name,
				 const char *wanted)
{
	bool is_called = !strcmp(name, wanted);

	for (int width = 0; width < LABEL_COUNT && !is_called; width++)
		is_called = !strcmp(kernel_label(profile->kernel_labels, name,
						 (enum kernel_label)width),
				    wanted);
	return is_called;
}

static bool kernel_fits(const struct profile *profile, const char *name, const char *wanted,
			enum how how)
{
	return how == WHOLE ? occurrence_is_kernel_called(profile, name, wanted)
			    : is_part(name, wanted);
}

static void take_range(struct search *search, const struct profile_range *range, bool of_domain)
{
	if (!search->found) {
		search->found = range->name;
		search->domain = of_domain ? range->domain : NULL;
	} else if (strcmp(search->found, range->name)) {
		search->other = range->name;
	}
}

static bool find_range_name(struct search *search, enum how how)
{
	const struct profile *profile = search->profile;

	for (size_t i = 0; i < profile->range_count; i++) {
		const struct profile_range *range = &profile->ranges[i];

		if (how == WHOLE && is_called_in_domain(range, search->name))
			take_range(search, range, true);
		else if (how == WHOLE ? !strcmp(range->name, search->name)
				      : is_part(range->name, search->name))
			take_range(search, range, false);
	}
	search->is_range = search->found != NULL;
	return search->is_range;
}

static bool find_kernel_name(struct search *search, enum how how)
{
	const struct profile *profile = search->profile;

	for (uint32_t i = 0; i < profile->kernel_name_count; i++) {
		if (!kernel_fits(profile, profile->kernel_names[i], search->name, how))
			continue;
		if (search->found)
			search->other = profile->kernel_names[i];
		else
			search->found = profile->kernel_names[search->kernel = i];
	}
	return search->found != NULL;
}

/* A loop has no name of its own: this one is taken where no range and no kernel has it. */
static bool is_iteration(const struct search *search)
{
	return search->has_number && !strcmp(search->name, ITERATION_NAME);
}

/* Whether anything has that name; then :N at its end has been removed where needed. */
static bool find_name(struct search *search)
{
	char *colon = strrchr(search->name, ':'), *end;

	search->number = 1;
	if (find_range_name(search, WHOLE) || find_kernel_name(search, WHOLE))
		return true;
	if (colon && colon > search->name && colon[1] >= '0' && colon[1] <= '9') {
		uint64_t number = strtoull(colon + 1, &end, 10);

		if (!*end) {
			search->number = number;
			search->has_number = true;
			*colon = '\0';
		}
	}
	return find_range_name(search, WHOLE) || find_kernel_name(search, WHOLE) ||
	       is_iteration(search) || find_range_name(search, PART) ||
	       find_kernel_name(search, PART);
}

/* ---- its occurrences ---- */
static bool is_occurrence(const struct search *search, size_t index)
{
	const struct profile *profile = search->profile;
	const struct profile_op *op;

	if (search->is_range)
		return !strcmp(profile->ranges[index].name, search->found) &&
		       (!search->domain || !strcmp(profile->ranges[index].domain, search->domain));
	op = &profile->ops[index];
	return op->kind == OP_KERNEL && profile->signatures[op->detail].kernel == search->kernel;
}

static int64_t start_of(const struct search *search, size_t index)
{
	return search->is_range ? search->profile->ranges[index].start_ns
				: search->profile->ops[index].start_ns;
}

static bool is_next_slice(const struct search *search, size_t index)
{
	const struct profile *profile = search->profile;

	if (index == 0)
		return true;
	return search->is_range ? profile->ranges[index].thread != profile->ranges[index - 1].thread
				: profile_op_device(profile, &profile->ops[index]) !=
					  profile_op_device(profile, &profile->ops[index - 1]);
}

/* Counts the occurrences; slices, if not NULL, get the parts of the array that have some. */
static uint64_t count_occurrences(const struct search *search, struct slice *slices,
				  size_t *slice_count)
{
	const struct profile *profile = search->profile;
	size_t size = search->is_range ? profile->range_count : profile->op_count;
	bool is_open = false;
	uint64_t count = 0;

	*slice_count = 0;
	for (size_t i = 0; i < size; i++) {
		is_open &= !is_next_slice(search, i);
		if (!is_occurrence(search, i))
			continue;
		count++;
		if (slices && !is_open)
			slices[*slice_count].next = i;
		*slice_count += !is_open;
		is_open = true;
		if (slices)
			slices[*slice_count - 1].end = i + 1;
	}
	return count;
}

static void go_on(const struct search *search, struct slice *slice)
{
	do
		slice->next++;
	while (slice->next < slice->end && !is_occurrence(search, slice->next));
}

/* The number-th by start: merges the slices, each of which begins with an occurrence. */
static size_t merge(const struct search *search, struct slice *slices, size_t slice_count)
{
	for (uint64_t number = 1;; number++) {
		struct slice *first = NULL;

		for (size_t i = 0; i < slice_count; i++)
			if (slices[i].next < slices[i].end &&
			    (!first ||
			     start_of(search, slices[i].next) < start_of(search, first->next)))
				first = &slices[i];
		if (!first || number == search->number)
			return first ? first->next : 0;
		go_on(search, first);
	}
}

/* ---- its time ---- */
static void get_range_time(struct occurrence *out, const struct profile *profile,
			   const struct profile_range *range)
{
	out->start_ns = range->start_ns;
	out->end_ns = range->end_ns;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		const struct profile_call *call =
			op->call == PROFILE_NONE ? NULL : &profile->calls[op->call];

		if (call && call->thread == range->thread && call->start_ns >= range->start_ns &&
		    call->start_ns < range->end_ns && op->end_ns > out->end_ns)
			out->end_ns = op->end_ns;
	}
}

static int get_occurrence(struct occurrence *out, const struct search *search)
{
	const struct profile *profile = search->profile;
	struct slice *slices;
	size_t slice_count, index;

	*out = (struct occurrence){.name = search->found,
				   .is_range = search->is_range,
				   .number = search->number,
				   .count = count_occurrences(search, NULL, &slice_count)};
	if (search->number < 1 || search->number > out->count)
		return -ENOENT;
	slices = calloc(slice_count + 1, sizeof(*slices));
	if (!slices)
		return -ENOMEM;
	(void)count_occurrences(search, slices, &slice_count);
	index = merge(search, slices, slice_count);
	free(slices);
	if (search->is_range) {
		get_range_time(out, profile, &profile->ranges[index]);
	} else {
		out->start_ns = profile->ops[index].start_ns;
		out->end_ns = profile->ops[index].end_ns;
	}
	return 0;
}

/* ---- errors ---- */
static int fail_unknown(const struct search *search, struct err *err)
{
	char name[NAME_SIZE];

	format_text(name, sizeof(name), search->name, NAME_WIDTH);
	return err_set(err, -ENOENT,
		       "no NVTX range and no kernel of %s is called '%s'; they are listed by: "
		       "rooflinectl report %s --section ranges, and --section kernels",
		       search->profile->path, name,
		       shell_path_text(path_named(search->profile->path)).text);
}

/* In full: it is to be told from the other. */
static void print_found(char *text, const char *name)
{
	format_text(text, PRINTED_SIZE, name, PRINTED_WIDTH);
}

static int fail_ambiguous(const struct search *search, struct err *err)
{
	char name[NAME_SIZE], found[PRINTED_SIZE], other[PRINTED_SIZE];

	format_text(name, sizeof(name), search->name, NAME_WIDTH);
	print_found(found, search->found);
	print_found(other, search->other);
	return err_set(err, -ENOENT,
		       "'%s' matches several %s, such as '%s' and '%s'; give more of the name",
		       name, search->is_range ? "NVTX ranges" : "kernels", found, other);
}

static int fail_number(const struct search *search, uint64_t count, struct err *err)
{
	const char *what = search->is_range ? "NVTX range" : "kernel";
	char name[NAME_SIZE];

	format_text(name, sizeof(name), search->found, NAME_WIDTH);
	if (!count)
		return err_set(err, -ENOENT, "no launch of the %s '%s' was recorded", what, name);
	return err_set(err, -ENOENT,
		       "the %s '%s' occurs %" PRIu64 " times: N in NAME:N is 1 to %" PRIu64
		       ", not %" PRIu64,
		       what, name, count, count, search->number);
}

int occurrence_find(struct occurrence *out, const struct profile *profile, const char *what,
		    struct err *err)
{
	struct search search = {.profile = profile, .name = strdup(what)};
	int rc;

	if (!search.name)
		return err_set(err, -ENOMEM, "out of memory");
	if (!find_name(&search)) {
		rc = fail_unknown(&search, err);
	} else if (!search.found) {
		rc = iteration_find(out, profile, search.number, err);
	} else if (search.other) {
		rc = fail_ambiguous(&search, err);
	} else {
		rc = get_occurrence(out, &search);
		if (rc == -ENOENT)
			rc = fail_number(&search, out->count, err);
		else if (rc < 0)
			rc = err_set(err, rc, "out of memory");
	}
	free(search.name);
	return rc;
}

int occurrence_range(const char **name, const struct profile *profile, const char *wanted,
		     struct err *err)
{
	struct search search = {.profile = profile, .name = strdup(wanted)};
	int rc = 0;

	*name = NULL;
	if (!search.name)
		return err_set(err, -ENOMEM, "out of memory");
	if (find_range_name(&search, WHOLE) || (*wanted && find_range_name(&search, PART)))
		rc = search.other ? fail_ambiguous(&search, err) : 0;
	if (rc == 0)
		*name = search.found;
	free(search.name);
	return rc;
}
