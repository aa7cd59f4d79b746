/* api.c - API calls by total time. */
#include "output/once_text.h"
#include "output/page.h"
#include "output/sections/why_empty.h"

GETTER(get_name, struct call_statistics, call,
       value_text(row->report->profile->call_names[call->name].text));

static const struct column columns[] = {COMPUTED("name", get_name),
					INLINE(struct call_statistics, time, distribution_columns),
					FIELD(struct call_statistics, failed_count),
					INLINE(struct call_statistics, split, split_columns),
					{0}};

ARRAY(call_at, statistics, calls, call_count);

static bool has_failed_calls(const struct statistics *statistics)
{
	for (size_t i = 0; i < statistics->call_count; i++)
		if (statistics->calls[i].failed_count)
			return true;
	return false;
}

static const struct text_column text_columns[] = {{"call", -28, .key = "name"},
						  {"time", 9, .key = "total_ns"},
						  {"count", 9, .key = "count"},
						  {"mean", 9, .key = "mean_ns"},
						  {"p99", 9, .key = "p99_ns"},
						  {"max", 9, .key = "max_ns"},
						  {0}};

static const struct text_column failed_columns[] = {{"call", -28, .key = "name"},
						    {"time", 9, .key = "total_ns"},
						    {"count", 9, .key = "count"},
						    {"mean", 9, .key = "mean_ns"},
						    {"max", 9, .key = "max_ns"},
						    {"failed", 9, .key = "failed_count"},
						    {0}};

static const struct steady_split *split_of(const struct page *page, size_t index, char *name,
					   size_t size)
{
	const struct statistics *statistics = page->report->statistics;

	if (index >= statistics->call_count)
		return NULL;
	snprintf(name, size, "%s",
		 page->report->profile->call_names[statistics->calls[index].name].text);
	return &statistics->calls[index].split;
}

static void print_api(struct page *page)
{
	page_table(page, &section_api, NULL,
		   has_failed_calls(page->report->statistics) ? failed_columns : text_columns);
	once_put(page, split_of);
}

const struct section section_api = {.key = "api",
				    .needs = {TABLES_STEADY, NEED_statistics},
				    .title = "API calls",
				    .columns = columns,
				    .at = call_at,
				    .takes_order = true,
				    .print = print_api,
				    .why_empty = why_no_calls};
