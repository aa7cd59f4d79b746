/* collectives.c - collectives of several ranks: how often, how long, and how far apart the ranks came to them. */
#include "output/page.h"

#include <inttypes.h>

/* ---- collectives by kernel ---- */

GETTER(get_kernel, struct job_collective, item,
       value_text(row->report->profile->kernel_names[item->kernel]));

static struct value get_late(struct row *row, const void *from)
{
	const struct job_collective *item = from;

	job_name_rank(row->scratch.bytes, sizeof(row->scratch.bytes), row->report->profile,
		      &row->report->job->ranks[item->most_late]);
	return value_text(row->scratch.bytes);
}

static const struct column columns[] = {COMPUTED("kernel", get_kernel),
					FIELD(struct job_collective, group),
					FIELD(struct job_collective, rank_count),
					FIELD(struct job_collective, count),
					FIELD(struct job_collective, time_ns),
					FIELD(struct job_collective, wait_ns),
					FIELD(struct job_collective, median_skew_ns),
					FIELD(struct job_collective, most_skew_ns),
					COMPUTED("most_skew_last_rank", get_late),
					{0}};

ARRAY(collective_at, job, collectives, collective_count);

static struct value get_short_kernel(struct row *row, const void *from)
{
	const struct job_collective *item = from;

	return value_text(kernel_label(row->report->profile->kernel_labels,
				       row->report->profile->kernel_names[item->kernel],
				       LABEL_NARROW));
}

static void print_collectives(struct page *page)
{
	static const struct text_column text_columns[] = {{"kernel", -26, .get = get_short_kernel},
							  {"ranks", 5, .key = "rank_count"},
							  {"count", 7, .key = "count"},
							  {"time", 8, .key = "time_ns"},
							  {"waiting", 8, .key = "wait_ns"},
							  {"skew", 8, .key = "median_skew_ns"},
							  {"largest", 8, .key = "most_skew_ns"},
							  {0}};

	page_table(page, &section_collectives,
		   "all ranks' times; skew: from the first start to the last, median",
		   text_columns);
}

const struct section section_collectives = {
	.key = "collectives",
	.title = "Collectives",
	.columns = columns,
	.at = collective_at,
	.print = print_collectives,
	.empty =
		"no collective of two ranks of one host, or of hosts whose clocks could be compared"};

/* ---- who sends to whom ---- */

static struct value name_of(struct row *row, uint32_t rank)
{
	if (rank == PROFILE_NONE)
		return value_none();
	job_name_rank(row->scratch.bytes, sizeof(row->scratch.bytes), row->report->profile,
		      &row->report->job->ranks[rank]);
	return value_text(row->scratch.bytes);
}

GETTER(get_from, struct job_transfer, item, name_of(row, item->from));
GETTER(get_to, struct job_transfer, item, name_of(row, item->to));
GETTER(get_way, struct job_transfer, item,
       value_text(item->is_through_host ? "through_host" : "peer"));

static const struct column transfer_columns[] = {COMPUTED("from", get_from),
						 COMPUTED("to", get_to),
						 COMPUTED("way", get_way),
						 FIELD(struct job_transfer, count),
						 FIELD(struct job_transfer, bytes),
						 FIELD(struct job_transfer, time_ns),
						 {0}};

ARRAY(transfer_at, job, transfers, transfer_count);

GETTER(get_way_title, struct job_transfer, item,
       value_text(item->is_through_host ? "through the host" : "peer copies"));

static void print_transfers(struct page *page)
{
	static const struct text_column text_columns[] = {{"from", -17, .key = "from"},
							  {"to", -17, .key = "to"},
							  {"", -17, .get = get_way_title},
							  {"count", 8, .key = "count"},
							  {"in all", 9, .key = "bytes"},
							  {"time", 8, .key = "time_ns"},
							  {0}};

	uint64_t unknown_count = page->report->job->unknown_transfer_count;
	char text[192];

	page_table(page, &section_transfers, "copies between ranks", text_columns);
	if (!unknown_count)
		return;
	snprintf(
		text, sizeof(text),
		"of %s copies through the host it is not known who sent to whom: copies of several "
		"ranks fit as the other half",
		format_count(unknown_count).text);
	page_wrap(page, "  unknown    ", text, 13);
}

const struct section section_transfers = {
	.key = "transfers",
	.title = "Transfers",
	.columns = transfer_columns,
	.at = transfer_at,
	.print = print_transfers,
	.empty = "nothing was copied between GPUs, neither directly nor through the host"};
