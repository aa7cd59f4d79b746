/* counters.c - hardware counters: SMs and stalls by kernel, and every value. */
#include "output/page.h"
#include "output/sections/why_empty.h"

#include <inttypes.h>
#include <string.h>

#define TOP_STALLS 3

static const char *const role_keys[] = {
#define ROLE_KEY(role, set, meaning) #role,
	METRICS(ROLE_KEY)
#undef ROLE_KEY
};

/* ---- columns ---- */

/* NULL of a graph. */
FINDER(signature_of, struct profile_counter, counter,
       counter->is_graph ? NULL : &row->report->profile->signatures[counter->subject]);

/* NULL of a kernel. */
FINDER(graph_of, struct profile_counter, counter,
       counter->is_graph ? &row->report->profile->counted_graphs[counter->subject] : NULL);
FINDER(metric_of, struct profile_counter, counter, &row->report->profile->metrics[counter->metric]);
GETTER(get_process, struct profile_counted_graph, graph,
       value_text(row->report->profile->processes[graph->process].folder));
GETTER(get_role, struct profile_metric, metric,
       value_text(metric->role < METRIC_ROLE_COUNT ? role_keys[metric->role] : NULL));

static const struct column name_columns[] = {FIELD(struct profile_signature, name), {0}};

static const struct column graph_columns[] = {COMPUTED("process", get_process),
					      FIELD(struct profile_counted_graph, graph),
					      {0}};

static const struct column shape_columns[] = {FIELD(struct profile_signature, grid),
					      FIELD(struct profile_signature, block),
					      {0}};

static const struct column metric_columns[] = {COMPUTED("role", get_role),
					       {FIELD_AS("metric", struct profile_metric, name)},
					       {0}};

static const struct column cluster_columns[] = {FIELD(struct profile_signature, cluster), {0}};

static const struct column columns[] = {
	INLINE_FOUND(signature_of, name_columns),    INLINE_FOUND(graph_of, graph_columns),
	INLINE_FOUND(signature_of, shape_columns),   INLINE_FOUND(metric_of, metric_columns),
	FIELD(struct profile_counter, sample_count), FIELD(struct profile_counter, mean),
	FIELD(struct profile_counter, min),	     FIELD(struct profile_counter, max),
	INLINE_FOUND(signature_of, cluster_columns), {0}};

ARRAY(counter_at, profile, counters, counter_count);

/* ---- SMs and stalls, by kernel ---- */

/* Per launch; negative when it was not counted. */
static double mean_of(const struct counted_work *work, enum metric_role role)
{
	if (!work->roles[role].sample_count || !work->launch_count)
		return -1;
	return work->roles[role].total / (double)work->launch_count;
}

static double clock_hz(const struct counted_work *work, enum metric_role cycles)
{
	double ns = mean_of(work, METRIC_range_ns), count = mean_of(work, cycles);

	return ns > 0 && count > 0 ? count / ns * 1e9 : 0;
}

/* SM cycles that passed while the kernel ran.  In a rotation range_ns holds idle time around the kernel
 * too, so the kernel has only the share of its own duration; no SM is active for longer than that. */
static double passed_cycles(const struct counted_work *work, double most_active)
{
	double passed = mean_of(work, METRIC_sm_elapsed_cycles);
	double range_ns = mean_of(work, METRIC_range_ns);
	double ns = work->launch_count ? work->time_ns / (double)work->launch_count : 0;

	if (ns > 0 && ns < range_ns)
		passed *= ns / range_ns;
	return passed > 0 && passed < most_active ? most_active : passed;
}

static void describe_sms(const struct counted_work *work, char *buffer, size_t size)
{
	double least = mean_of(work, METRIC_sm_active_cycles_min);
	double mean = mean_of(work, METRIC_sm_active_cycles_mean);
	double most = mean_of(work, METRIC_sm_active_cycles_max);
	double passed = passed_cycles(work, most);
	double warps = mean_of(work, METRIC_warps_active_percent);
	size_t used = 0;

	buffer[0] = '\0';
	if (passed > 0 && least >= 0 && mean >= 0 && most >= 0)
		used = (size_t)snprintf(buffer, size, "SMs active: least %s, mean %s, most %s",
					format_percent(least, passed).text,
					format_percent(mean, passed).text,
					format_percent(most, passed).text);
	if (warps >= 0)
		snprintf(buffer + used, size - used, "%soccupancy %.1f%%", used ? "; " : "", warps);
}

static const char *const role_meanings[] = {
#define ROLE_MEANING(role, set, meaning) meaning,
	METRICS(ROLE_MEANING)
#undef ROLE_MEANING
};

/* The largest stall below the one before, or METRIC_NONE. */
static enum metric_role next_stall(const struct counted_work *work, enum metric_role last)
{
	enum metric_role next = METRIC_NONE;

	for (int i = METRIC_stall_barrier; i <= METRIC_stall_wait; i++) {
		enum metric_role role = (enum metric_role)i;
		double value = mean_of(work, role);

		if (value <= 0 || role == last)
			continue;
		if (last != METRIC_NONE &&
		    (value > mean_of(work, last) || (value == mean_of(work, last) && role < last)))
			continue;
		if (next == METRIC_NONE || value > mean_of(work, next))
			next = role;
	}
	return next;
}

static void describe_stalls(const struct counted_work *work, char *buffer, size_t size)
{
	enum metric_role stall = METRIC_NONE;
	size_t used = 0;

	buffer[0] = '\0';
	for (int i = 0; i < TOP_STALLS && used < size - 1; i++) {
		stall = next_stall(work, stall);
		if (stall == METRIC_NONE)
			return;
		used += (size_t)snprintf(buffer + used, size - used, "%s%s (%.1f)",
					 used ? "; " : "", role_meanings[stall],
					 mean_of(work, stall));
	}
}

static void put_kernel_summary(struct page *page, const struct roofline_point *point)
{
	const struct counted_work *work = &page->report->counted->kernels[point->subject];
	char sms[192], stalls[512];

	describe_sms(work, sms, sizeof(sms));
	describe_stalls(work, stalls, sizeof(stalls));
	if (!*sms && !*stalls)
		return;
	page_kernel_line(page, point->name);
	if (*sms)
		page_wrap(page, "      ", sms, 6);
	if (*stalls)
		page_wrap(page, "      ", stalls, 6);
}

static bool has_summary(const struct report *report)
{
	for (int i = METRIC_sm_active_cycles_min; i <= METRIC_stall_wait; i++)
		if (report->counted->application.roles[i].sample_count)
			return true;
	return false;
}

static void put_clocks(struct page *page)
{
	const struct counted_work *all = &page->report->counted->application;
	double sm = clock_hz(all, METRIC_sm_elapsed_cycles), l2 = clock_hz(all, METRIC_l2_cycles);

	if (sm > 0)
		fprintf(page->out, "  SM clock %s\n", format_per_s(sm, "Hz").text);
	if (l2 > 0)
		fprintf(page->out, "  L2 clock %s\n", format_per_s(l2, "Hz").text);
}

static void put_summaries(struct page *page)
{
	const struct roofline *roofline = page->report->roofline;
	size_t rows = page_rows(page, roofline->counted_kernel_count, PAGE_TOP), shown = 0;

	for (size_t i = 0; i < roofline->kernel_count && shown < rows; i++) {
		const struct roofline_point *point = &roofline->kernels[i];
		const struct counted_work *work = &page->report->counted->kernels[point->subject];
		char text[512];

		describe_sms(work, text, sizeof(text));
		if (!*text)
			describe_stalls(work, text, sizeof(text));
		shown += *text != '\0';
		put_kernel_summary(page, point);
	}
	page_wrap(page, "  ",
		  "in parentheses: warps stalled for that reason, per instruction issued", 2);
}

/* ---- every value ---- */

static bool is_by_name(const struct report *report, const struct profile_counter *counter)
{
	return report->profile->metrics[counter->metric].role == METRIC_NONE;
}

static const char *metric_name(const struct profile_metric *metric)
{
	return metric->role < METRIC_ROLE_COUNT ? role_keys[metric->role] : metric->name;
}

/* Cycles and bytes as whole numbers, ratios with their digits. */
static struct figure value_of(double value)
{
	struct figure figure;

	if (value >= 1e6 || value <= -1e6)
		return format_per_s(value, "");
	snprintf(figure.text, sizeof(figure.text), "%.6g", value);
	return figure;
}

static void put_subject(struct page *page, const struct profile_counter *counter)
{
	const struct profile *profile = page->report->profile;
	char text[96];

	fputs("  ", page->out);
	if (counter->is_graph) {
		const struct profile_counted_graph *graph =
			&profile->counted_graphs[counter->subject];

		snprintf(text, sizeof(text), "graph %" PRIu32 " of %.64s", graph->graph,
			 profile->processes[graph->process].folder);
		page_text(page, text, PAGE_WIDTH - 2);
	} else {
		const struct profile_signature *signature = &profile->signatures[counter->subject];

		snprintf(text, sizeof(text), "grid %ux%ux%u block %ux%ux%u", signature->grid[0],
			 signature->grid[1], signature->grid[2], signature->block[0],
			 signature->block[1], signature->block[2]);
		page_kernel(page, signature->name, PAGE_WIDTH - 4 - strlen(text));
		fprintf(page->out, "  %s", text);
	}
	fputc('\n', page->out);
}

static bool is_new_subject(const struct profile_counter *last,
			   const struct profile_counter *counter)
{
	return !last || last->is_graph != counter->is_graph || last->subject != counter->subject;
}

/* All of them when the section was asked for, else those that were asked for by name. */
static void put_values(struct page *page, bool is_asked)
{
	const struct profile *profile = page->report->profile;
	const struct profile_counter *last = NULL;
	size_t rows =
		page_rows(page, profile->counter_count, is_asked ? profile->counter_count : 20);

	for (size_t i = 0, shown = 0; i < profile->counter_count && shown < rows; i++) {
		const struct profile_counter *counter = &profile->counters[i];

		if (!is_asked && !is_by_name(page->report, counter))
			continue;
		if (!last)
			page_heads(page,
				   "      metric                               mean        min"
				   "        max counted");
		if (is_new_subject(last, counter))
			put_subject(page, counter);
		fputs("      ", page->out);
		page_text(page, metric_name(&profile->metrics[counter->metric]), 30);
		fprintf(page->out, " %10s %10s %10s %7" PRIu64 "\n", value_of(counter->mean).text,
			value_of(counter->min).text, value_of(counter->max).text,
			counter->sample_count);
		last = counter;
		shown++;
	}
}

static bool has_named(const struct report *report)
{
	for (size_t i = 0; i < report->profile->counter_count; i++)
		if (is_by_name(report, &report->profile->counters[i]))
			return true;
	return false;
}

static void print_counters(struct page *page)
{
	const struct report *report = page->report;
	bool is_asked = section_is_asked(&section_counters, page->options);

	if (!report->profile->counter_count ||
	    (!is_asked && !has_summary(report) && !has_named(report)))
		return;
	page_title(page, "Counters", NULL);
	put_clocks(page);
	if (has_summary(report))
		put_summaries(page);
	put_values(page, is_asked);
}

static struct sentence why_without_counters(const struct report *report)
{
	return why_no_counters(report, "--counters");
}

const struct section section_counters = {.key = "counters",
					 .title = "Counters",
					 .columns = columns,
					 .at = counter_at,
					 .print = print_counters,
					 .why_empty = why_without_counters};
