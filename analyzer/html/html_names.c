#include "html/html_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "charts/chart_colors.h"
#include "html/html_blocks.h"

#define DETAIL_SIZE 256

struct html_range_name {
	const char *text; /* interned: equal texts are one */
	uint32_t index;
	UT_hash_handle hh;
};

/* ---- NVTX ---- */

static int add_range_name(struct html_names *names, const char *text)
{
	struct html_range_name *name;

	HASH_FIND_PTR(names->range_names, &text, name);
	if (name || names->range_name_count == HTML_RANGE_NAME_MOST)
		return 0;
	name = malloc(sizeof(*name));
	if (!name)
		return -ENOMEM;
	*name = (struct html_range_name){.text = text,
					 .index = (uint32_t)names->range_name_count++};
	HASH_ADD_PTR(names->range_names, text, name);
	return 0;
}

uint32_t html_name_of_range(const struct html_names *names, const struct profile_range *range)
{
	struct html_range_name *name;

	HASH_FIND_PTR(names->range_names, &range->name, name);
	return names->ranges + (name ? name->index : (uint32_t)names->range_name_count);
}

/* ---- which number ---- */

int html_names_open(struct html_names *names, const struct report *report,
		    struct json_builder *json)
{
	const struct profile *profile = report->profile;
	size_t kernels, copies, memsets;
	int rc = 0;

	*names = (struct html_names){.report = report,
				     .json = json,
				     .kernel_colors = chart_kernel_colors(report)};
	names->has_shapes = profile->signature_count <= HTML_SHAPE_MOST;
	names->has_sizes =
		profile->copy_count <= HTML_SHAPE_MOST && profile->memset_count <= HTML_SHAPE_MOST;
	kernels = names->has_shapes ? profile->signature_count : profile->kernel_name_count;
	copies = names->has_sizes ? profile->copy_count : HTML_CLASS_MEMSET - HTML_CLASS_HTOD;
	memsets = names->has_sizes ? profile->memset_count : 1;
	names->copies = (uint32_t)kernels;
	names->memsets = names->copies + (uint32_t)copies;
	names->graphs = names->memsets + (uint32_t)memsets;
	names->calls = names->graphs + 1;
	names->ranges = names->calls + (uint32_t)profile->call_name_count;
	for (size_t i = 0; i < profile->range_count && rc == 0; i++)
		rc = add_range_name(names, profile->ranges[i].name);
	return names->kernel_colors ? rc : -ENOMEM;
}

void html_names_free(struct html_names *names)
{
	struct html_range_name *name, *next;

	HASH_ITER(hh, names->range_names, name, next)
	{
		HASH_DEL(names->range_names, name);
		free(name);
	}
	free(names->kernel_colors);
	*names = (struct html_names){0};
}

static unsigned class_of_copy(const struct profile_copy *copy)
{
	switch (copy->kind) {
	case COPY_TO_DEVICE:
		return HTML_CLASS_HTOD;
	case COPY_TO_HOST:
		return HTML_CLASS_DTOH;
	case COPY_ON_DEVICE:
		return HTML_CLASS_DTOD;
	default:
		return HTML_CLASS_COPY;
	}
}

unsigned html_class_of_op(const struct html_names *names, const struct profile_op *op)
{
	const struct profile *profile = names->report->profile;

	switch ((enum profile_op_kind)op->kind) {
	case OP_KERNEL:
		return names->kernel_colors[profile->signatures[op->detail].kernel] - COLOR_KERNEL;
	case OP_COPY:
		return class_of_copy(&profile->copies[op->detail]);
	case OP_MEMSET:
		return HTML_CLASS_MEMSET;
	default:
		return HTML_CLASS_GRAPH;
	}
}

uint32_t html_name_of_op(const struct html_names *names, const struct profile_op *op)
{
	const struct profile *profile = names->report->profile;

	switch ((enum profile_op_kind)op->kind) {
	case OP_KERNEL:
		return names->has_shapes ? op->detail : profile->signatures[op->detail].kernel;
	case OP_COPY:
		return names->copies +
		       (names->has_sizes
				? op->detail
				: class_of_copy(&profile->copies[op->detail]) - HTML_CLASS_HTOD);
	case OP_MEMSET:
		return names->memsets + (names->has_sizes ? op->detail : 0);
	default:
		return names->graphs;
	}
}

uint32_t html_name_of_call(const struct html_names *names, const struct profile_call *call)
{
	return names->calls + call->name;
}

/* ---- the table ---- */

static void put_name(const struct html_names *names, json_t *table, json_t *text,
		     const char *detail)
{
	json_t *entry = json_array();

	json_builder_append(names->json, entry, text);
	json_builder_append(names->json, entry, html_text(detail));
	json_builder_append(names->json, table, entry);
}

static void put_kernels(const struct html_names *names, json_t *object)
{
	const struct profile *profile = names->report->profile;
	json_t *kernels = json_array();

	for (size_t i = 0; i < profile->kernel_name_count; i++) {
		json_t *entry = json_array();

		json_builder_append(names->json, entry, html_text(profile->kernel_names[i]));
		json_builder_append(names->json, entry,
				    html_text(kernel_label(profile->kernel_labels,
							   profile->kernel_names[i], LABEL_WIDE)));
		json_builder_append(names->json, entry,
				    json_integer(names->kernel_colors[i] - COLOR_KERNEL));
		json_builder_append(names->json, kernels, entry);
	}
	json_builder_put(names->json, object, "kernels", kernels);
}

static void put_shapes(const struct html_names *names, json_t *table)
{
	const struct profile *profile = names->report->profile;
	char detail[DETAIL_SIZE];

	for (uint32_t i = 0; i < names->copies; i++) {
		const struct profile_signature *shape = &profile->signatures[i];

		if (names->has_shapes)
			snprintf(detail, sizeof(detail),
				 "grid %u x %u x %u, block %u x %u x %u, %u registers, %s shared",
				 shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
				 shape->block[1], shape->block[2], shape->registers_per_thread,
				 format_bytes(shape->static_shared_bytes +
					      (double)shape->dynamic_shared_bytes)
					 .text);
		put_name(names, table, json_integer(names->has_shapes ? shape->kernel : i),
			 names->has_shapes ? detail : "");
	}
}

static void put_copies(const struct html_names *names, json_t *table)
{
	static const char *const directions[] = {"copy HtoD", "copy DtoH", "copy DtoD", "copy"};
	const struct profile *profile = names->report->profile;
	char text[64], detail[DETAIL_SIZE];

	for (uint32_t i = 0; i < names->memsets - names->copies; i++) {
		const struct profile_copy *copy = &profile->copies[i];

		if (!names->has_sizes) {
			put_name(names, table, html_text(directions[i]), "");
			continue;
		}
		snprintf(text, sizeof(text), "copy %s %s", profile_copy_kind_name(copy->kind),
			 format_bytes((double)copy->bytes).text);
		snprintf(detail, sizeof(detail), "%llu bytes, %s to %s%s",
			 (unsigned long long)copy->bytes,
			 profile_memory_kind_name(copy->src_memory),
			 profile_memory_kind_name(copy->dst_memory),
			 copy->is_async ? ", asynchronous" : "");
		put_name(names, table, html_text(text), detail);
	}
}

static void put_memsets(const struct html_names *names, json_t *table)
{
	const struct profile *profile = names->report->profile;
	char text[64];

	for (uint32_t i = 0; i < names->graphs - names->memsets; i++) {
		snprintf(text, sizeof(text), "memset%s%s", names->has_sizes ? " " : "",
			 names->has_sizes ? format_bytes((double)profile->memsets[i].bytes).text
					  : "");
		put_name(names, table, html_text(text), "");
	}
}

static void put_calls_and_ranges(const struct html_names *names, json_t *table)
{
	const struct profile *profile = names->report->profile;

	put_name(names, table, html_text("graph"), "");
	for (size_t i = 0; i < profile->call_name_count; i++)
		put_name(names, table, html_text(profile->call_names[i].text), "");
	/* In the order in which they were added, which is that of their numbers. */
	for (struct html_range_name *name = names->range_names; name; name = name->hh.next)
		put_name(names, table, html_text(name->text), "");
	put_name(names, table, html_text("(other ranges)"), "");
}

void html_names_put(const struct html_names *names, json_t *object)
{
	json_t *table = json_array();

	put_kernels(names, object);
	put_shapes(names, table);
	put_copies(names, table);
	put_memsets(names, table);
	put_calls_and_ranges(names, table);
	json_builder_put(names->json, object, "names", table);
}
