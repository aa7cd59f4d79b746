/* memory.c - memory that the program allocated: by device and kind of memory, and by where it did. */
#include "output/page.h"
#include "output/sections/why_empty.h"

/* ---- of all ---- */

static const struct column use_columns[] = {
	FIELD(struct memory_use, allocation_count),
	FIELD(struct memory_use, free_count),
	FIELD(struct memory_use, allocated_bytes),
	FIELD(struct memory_use, peak_bytes),
	FIELD_ABOVE_ZERO(struct memory_use, peak_ns),
	RELATIVE_AS("peak", struct memory_use, peak_ns),
	{FIELD_AS("live_at_end_count", struct memory_use, live_count)},
	{FIELD_AS("live_at_end_bytes", struct memory_use, live_bytes)},
	FIELD(struct memory_use, unseen_free_count),
	{0}};

/* ---- by device and kind: columns ---- */

GETTER(get_device, struct memory_kind, kind,
       kind->device == PROFILE_NONE ? value_none() : value_count(kind->device));
GETTER(get_memory, struct memory_kind, kind, value_text(profile_memory_kind_name(kind->memory)));
GETTER(get_process, struct memory_kind, kind,
       kind->pool ? value_text(row->report->profile->processes[kind->process].folder)
		  : value_none());

static bool part_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct memory_kind *kind = from;

	(void)row;
	if (index < MEMORY_PARTS)
		entry->value = value_count(kind->parts_bytes[index]);
	return index < MEMORY_PARTS;
}

static const struct column kind_columns[] = {COMPUTED("device", get_device),
					     COMPUTED("memory", get_memory),
					     COMPUTED("pool_process", get_process),
					     FIELD_ABOVE_ZERO(struct memory_kind, pool_number),
					     INLINE(struct memory_kind, use, use_columns),
					     FIELD(struct memory_kind, unseen_allocation_count),
					     FIELD(struct memory_kind, call_ns),
					     LIST("live_over_time_bytes", part_at),
					     {0}};

ARRAY(kind_at, memory, kinds, kind_count);

FINDER(known_memory, struct report, report, report->memory->kind_count ? report->memory : NULL);

static const struct column time_columns[] = {MOMENT(struct memory, first),
					     MOMENT(struct memory, last),
					     {0}};
static const struct column object[] = {INLINE_FOUND(known_memory, time_columns),
				       ROWS("kinds", kind_columns, kind_at),
				       {0}};

/* ---- by device and kind: text ---- */

/* "GPU 0 device", "GPU 0 pool 1" */
static struct value get_title(struct row *row, const void *from)
{
	const struct memory_kind *kind = from;
	char *text = row->scratch.bytes;
	size_t size = sizeof(row->scratch.bytes);
	int used = kind->device == PROFILE_NONE ? snprintf(text, size, "GPU ? ")
						: snprintf(text, size, "GPU %u ", kind->device);

	if (kind->pool_number)
		snprintf(text + used, size - (size_t)used, "pool %u", kind->pool_number);
	else
		snprintf(text + used, size - (size_t)used, "%s",
			 profile_memory_kind_name(kind->memory));
	return value_text(text);
}

/* Most programs allocate before they begin. */
static struct value get_peak_time(struct row *row, const void *from)
{
	const struct memory_kind *kind = from;
	int64_t first_ns = row->report->profile->window.first_ns;

	if (kind->use.peak_ns && kind->use.peak_ns < first_ns)
		return value_text("start");
	if (!kind->use.peak_ns)
		return value_text("-");
	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%s",
		 format_ns((double)(kind->use.peak_ns - first_ns)).text);
	return value_text(row->scratch.bytes);
}

/* What a column "at end" does not tell, and what the recording lacks. */
static void put_notes(struct page *page)
{
	const struct memory *memory = page->report->memory;
	uint64_t live = 0, unseen_allocations = 0, unseen_frees = 0;

	for (size_t i = 0; i < memory->kind_count; i++) {
		live += memory->kinds[i].use.live_count;
		unseen_allocations += memory->kinds[i].unseen_allocation_count;
		unseen_frees += memory->kinds[i].use.unseen_free_count;
	}
	if (live)
		fprintf(page->out, "  at end: %s still allocated when the recording ended\n",
			format_count(live).text);
	if (unseen_allocations)
		fprintf(page->out, "  %s freed whose allocation is not in the recording\n",
			format_count(unseen_allocations).text);
	if (unseen_frees)
		fprintf(page->out, "  %s replaced at their address: the free is not recorded\n",
			format_count(unseen_frees).text);
}

static void print_memory(struct page *page)
{
	static const struct text_column text_columns[] = {
		{"memory", -20, .get = get_title},	 {"allocs", 8, .key = "allocation_count"},
		{"in all", 9, .key = "allocated_bytes"}, {"peak", 9, .key = "peak_bytes"},
		{"at", 9, .get = get_peak_time},	 {"at end", 9, .key = "live_at_end_bytes"},
		{"in calls", 8, .key = "call_ns"},	 {0}};

	if (!page->report->memory->kind_count)
		return;
	page_table(page, &section_memory, "peak: most bytes live at once", text_columns);
	put_notes(page);
}

const struct section section_memory = {.key = "memory",
				       .title = "Memory",
				       .columns = kind_columns,
				       .at = kind_at,
				       .object = object,
				       .takes_order = true,
				       .print = print_memory,
				       .why_empty = why_no_allocations};

/* ---- by range or call ---- */

static const struct column site_columns[] = {FIELD(struct memory_site, domain),
					     FIELD(struct memory_site, range),
					     FIELD(struct memory_site, call),
					     INLINE(struct memory_site, use, use_columns),
					     {0}};

ARRAY(site_at, memory, sites, site_count);

/* "domain: range", "cudaMalloc" */
static struct value get_site_title(struct row *row, const void *from)
{
	const struct memory_site *site = from;

	if (!site->range)
		return value_text(site->call ? site->call : "unknown call");
	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%s%s%s", site->domain,
		 *site->domain ? ": " : "", site->range);
	return value_text(row->scratch.bytes);
}

static void print_allocations(struct page *page)
{
	static const struct text_column text_columns[] = {
		{"range or call", -30, .get = get_site_title},
		{"allocs", 9, .key = "allocation_count"},
		{"in all", 10, .key = "allocated_bytes"},
		{"peak", 10, .key = "peak_bytes"},
		{"at end", 10, .key = "live_at_end_bytes"},
		{0}};

	page_table(page, &section_allocations, "by NVTX range, outside of all by call",
		   text_columns);
}

const struct section section_allocations = {.key = "allocations",
					    .title = "Allocations",
					    .columns = site_columns,
					    .at = site_at,
					    .takes_order = true,
					    .print = print_allocations,
					    .why_empty = why_no_allocations};
