/* copies.c - copies by direction, and memsets. */
#include "output/once_text.h"
#include "output/page.h"

/* ---- copies ---- */

GETTER(get_kind, struct copy_statistics, copy, value_text(profile_copy_kind_name(copy->kind)));
GETTER(get_src_memory, struct copy_statistics, copy,
       value_text(profile_memory_kind_name(copy->src_memory)));
GETTER(get_dst_memory, struct copy_statistics, copy,
       value_text(profile_memory_kind_name(copy->dst_memory)));

static const struct column copy_columns[] = {COMPUTED("kind", get_kind),
					     COMPUTED("src_memory", get_src_memory),
					     COMPUTED("dst_memory", get_dst_memory),
					     FIELD(struct copy_statistics, is_async),
					     INLINE(struct copy_statistics, time,
						    distribution_columns),
					     FIELD(struct copy_statistics, bytes),
					     FIELD(struct copy_statistics, byte_per_s),
					     INLINE(struct copy_statistics, split, split_columns),
					     {0}};

ARRAY(copy_at, statistics, copies, copy_count);

/* "pageable to device" */
static struct value get_memories(struct row *row, const void *from)
{
	const struct copy_statistics *copy = from;

	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%s to %s",
		 profile_memory_kind_name(copy->src_memory),
		 profile_memory_kind_name(copy->dst_memory));
	return value_text(row->scratch.bytes);
}

GETTER(get_call, struct copy_statistics, copy, value_text(copy->is_async ? "async" : "sync"));

static const struct steady_split *split_of(const struct page *page, size_t index, char *name,
					   size_t size)
{
	const struct statistics *statistics = page->report->statistics;
	const struct copy_statistics *copy = &statistics->copies[index];

	if (index >= statistics->copy_count)
		return NULL;
	snprintf(name, size, "%s %s to %s%s", profile_copy_kind_name(copy->kind),
		 profile_memory_kind_name(copy->src_memory),
		 profile_memory_kind_name(copy->dst_memory), copy->is_async ? " async" : "");
	return &copy->split;
}

static void print_copies(struct page *page)
{
	static const struct text_column text_columns[] = {{"what", -4, .key = "kind"},
							  {"memory", -18, .get = get_memories},
							  {"call", -5, .get = get_call},
							  {"time", 9, .key = "total_ns"},
							  {"count", 8, .key = "count"},
							  {"mean", 9, .key = "mean_ns"},
							  {"bytes", 9, .key = "bytes"},
							  {"rate", 9, .key = "byte_per_s"},
							  {0}};

	page_table(page, &section_copies, NULL, text_columns);
	once_put(page, split_of);
}

const struct section section_copies = {.key = "copies",
				       .needs = {TABLES_STEADY, NEED_statistics},
				       .title = "Copies",
				       .columns = copy_columns,
				       .at = copy_at,
				       .takes_order = true,
				       .print = print_copies,
				       .empty = "nothing was copied"};

/* ---- memsets ---- */

GETTER(get_memory, struct memset_statistics, memset,
       value_text(profile_memory_kind_name(memset->memory)));

static const struct column memset_columns[] = {COMPUTED("memory", get_memory),
					       INLINE(struct memset_statistics, time,
						      distribution_columns),
					       FIELD(struct memset_statistics, bytes),
					       INLINE(struct memset_statistics, split,
						      split_columns),
					       {0}};

ARRAY(memset_at, statistics, memsets, memset_count);

static void print_memsets(struct page *page)
{
	static const struct text_column text_columns[] = {{"memory", -25, .key = "memory"},
							  {"time", 9, .key = "total_ns"},
							  {"count", 11, .key = "count"},
							  {"mean", 9, .key = "mean_ns"},
							  {"bytes", 9, .key = "bytes"},
							  {0}};

	page_table(page, &section_memsets, NULL, text_columns);
}

const struct section section_memsets = {.key = "memsets",
					.needs = {TABLES_STEADY, NEED_statistics},
					.title = "Memsets",
					.columns = memset_columns,
					.at = memset_at,
					.takes_order = true,
					.print = print_memsets,
					.empty = "no memory was set"};
