/* kernel_memory.c - what each kernel was given to read and write: allocations by size and by where they were made. */
#include "output/page.h"
#include "output/sections/why_empty.h"

/* ---- columns ---- */

static const struct memory_site *site_of(const struct report *report,
					 const struct access_total *total)
{
	return total->site == PROFILE_NONE ? NULL : &report->memory->sites[total->site];
}

/* Where it was allocated; NULL: not known. */
FINDER(find_site, struct access_total, total, site_of(row->report, total));

static const struct column site_columns[] = {FIELD(struct memory_site, domain),
					     FIELD(struct memory_site, range),
					     FIELD(struct memory_site, call),
					     {0}};

GETTER(get_name, struct access_total, total,
       value_text(row->report->profile->kernel_names[total->kernel]));
GETTER(get_access, struct access_total, total, value_text(access_kind_key(total->kind)));
GETTER(get_memory, struct access_total, total, value_text(profile_memory_kind_name(total->memory)));

static const struct column columns[] = {COMPUTED("kernel", get_name),
					COMPUTED("access", get_access),
					COMPUTED("memory", get_memory),
					FIELD(struct access_total, bytes),
					FIELD(struct access_total, allocation_count),
					GROUP_FOUND("allocated", find_site, site_columns),
					FIELD(struct access_total, launch_count),
					{0}};

ARRAY(total_at, accesses, totals, total_count);

GETTER(get_is_recorded, struct report, report, value_bool(report->accesses->of_op != NULL));
GETTER(get_launches, struct report, report, value_count(report->accesses->kernel_count));
GETTER(get_known, struct report, report, value_count(report->accesses->known_count));

static const struct column object[] = {COMPUTED("is_recorded", get_is_recorded),
				       COMPUTED("launch_count", get_launches),
				       COMPUTED("known_launch_count", get_known),
				       ROWS("accesses", columns, total_at),
				       {0}};

/* ---- text ---- */

/* "setup", "cudaMalloc" */
static const char *place_of(const struct page *page, const struct access_total *total)
{
	const struct memory_site *site = site_of(page->report, total);

	if (!site)
		return "unknown call";
	return site->range ? site->range : site->call ? site->call : "unknown call";
}

static void put_total(struct page *page, const struct access_total *total)
{
	char what[64], place[256];
	int used = snprintf(place, sizeof(place), "%.200s", place_of(page, total));

	snprintf(what, sizeof(what), "%s %s", format_bytes((double)total->bytes).text,
		 profile_memory_kind_name(total->memory));
	if (total->allocation_count > 1)
		snprintf(place + used, sizeof(place) - (size_t)used, ", %s of them",
			 format_count(total->allocation_count).text);
	fprintf(page->out, "    %-17s %-19s %8s  %.*s\n", access_kind_title(total->kind), what,
		format_count(total->launch_count).text,
		page->options->wide ? (int)sizeof(place) : PAGE_WIDTH - 52, place);
}

/* Whose memory not all is known of may depend on others all the same. */
static void put_unknown(struct page *page)
{
	const struct accesses *accesses = page->report->accesses;
	char text[256];

	if (accesses->known_count == accesses->kernel_count)
		return;
	snprintf(
		text, sizeof(text),
		"of %s of %s launches not all is known: memory that no allocation tells, pointers to "
		"pointers, or parameters that could not be read",
		format_count(accesses->kernel_count - accesses->known_count).text,
		format_count(accesses->kernel_count).text);
	page_wrap(page, "  ", text, 2);
}

static void print_kernel_memory(struct page *page)
{
	const struct accesses *accesses = page->report->accesses;
	size_t rows = page_rows(page, accesses->total_count, 2 * PAGE_TOP);

	if (!accesses->of_op)
		return;
	page_list_title(page, "Memory of kernels", "what each was given", rows,
			accesses->total_count);
	if (rows)
		page_heads(page,
			   "    access            allocation          launches  allocated in");
	for (size_t i = 0; i < rows; i++) {
		const struct access_total *total = &accesses->totals[i];

		if (!i || total[-1].kernel != total->kernel)
			page_kernel_line(page, page->report->profile->kernel_names[total->kernel]);
		put_total(page, total);
	}
	put_unknown(page);
}

static struct sentence why_not_given(const struct report *report)
{
	const char *problem = why_property(report, "args_problem");

	if (problem)
		return why("what kernels are given was asked for and could not be read: %s",
			   problem);
	if (why_property(report, "args"))
		return why("no kernel was launched whose parameters could be read");
	return why("what kernels are given was not recorded: record with --args");
}

const struct section section_kernel_memory = {.key = "kernel_memory",
					      .title = "Memory of kernels",
					      .columns = columns,
					      .at = total_at,
					      .object = object,
					      .print = print_kernel_memory,
					      .why_empty = why_not_given};
