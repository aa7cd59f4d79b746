/* text_try.c - what running a program with and without a strategy found, for people. */
#include "output/try.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "output/page.h"

#define MOST_CAUSES 6

static void put_label(const struct page *page, const char *label)
{
	fprintf(page->out, "  %-10s ", label);
}

/* ---- times ---- */

static void put_side(const struct page *page, const char *label, const struct trial_side *side)
{
	if (!side->count)
		return;
	put_label(page, label);
	fprintf(page->out, "%9s  %s to %s\n", format_ns(side->median_ns).text,
		format_ns(side->min_ns).text, format_ns(side->max_ns).text);
}

static void put_speedup(struct page *page, const struct trial *trial)
{
	const struct trial_ratio *measured = &trial->measured;

	put_label(page, "speedup");
	fprintf(page->out, "%9s", format_speedup(measured->speedup).text);
	if (!(measured->speedup > 0))
		fputs("  the runs cannot be compared\n", page->out);
	else
		fprintf(page->out, "  %s to %s of single runs%s\n",
			format_speedup(measured->low).text, format_speedup(measured->high).text,
			trial->is_noise ? ": no difference beyond noise" : "");
}

/* From the first launch to the last wait: what start-up hides. */
static void put_run(struct page *page, const struct trial *trial)
{
	const struct trial_ratio *run = &trial->run;
	char text[160];

	if (!(run->speedup > 0))
		return;
	put_label(page, "run");
	fprintf(page->out, "%9s  %s to %s of single runs\n", format_speedup(run->speedup).text,
		format_speedup(run->low).text, format_speedup(run->high).text);
	snprintf(text, sizeof(text), "from the first launch to the last wait: %s instead of %s",
		 format_ns(trial->runs[TRIAL_TRIED].median_ns).text,
		 format_ns(trial->runs[TRIAL_BARE].median_ns).text);
	page_wrap(page, "                        ", text, 24);
}

static void put_times(struct page *page, const struct trial *trial)
{
	char note[128];

	snprintf(note, sizeof(note), "%s; medians, least and most of %zu and %zu runs in turn",
		 trial->strategies, (size_t)trial->sides[TRIAL_BARE].count,
		 (size_t)trial->sides[TRIAL_TRIED].count);
	page_title(page, "Tried", note);
	page_line(page, "  ", trial->command);
	put_side(page, "bare", &trial->sides[TRIAL_BARE]);
	put_side(page, "tried", &trial->sides[TRIAL_TRIED]);
	put_speedup(page, trial);
	put_run(page, trial);
}

/* ---- results ---- */

static const char *results_text(enum trial_match results)
{
	static const char *const texts[] = {
		[TRIAL_EQUAL] = "equal",
		[TRIAL_AGREES] = "equal, but for words in which bare runs differ",
		[TRIAL_UNKNOWN] = "not known",
		[TRIAL_DIFFERENT] = "different",
	};

	return texts[results];
}

static void put_ends(struct page *page, const struct trial *trial)
{
	const struct trial_side *bare = &trial->sides[TRIAL_BARE];
	const struct trial_side *tried = &trial->sides[TRIAL_TRIED];

	put_label(page, "end");
	if (WIFSIGNALED(bare->status))
		fprintf(page->out, "signal %d", WTERMSIG(bare->status));
	else
		fprintf(page->out, "exit code %d", WEXITSTATUS(bare->status));
	fputs(trial->has_equal_ends ? " of all runs\n" : " bare; with the strategy:\n", page->out);
	if (!trial->has_equal_ends)
		page_wrap(page, "      ", tried->end, 6);
}

static void put_line(struct page *page, const char *label, const char *line)
{
	char text[256];

	if (line)
		(void)format_text(text, sizeof(text), line, page_width(page) - 13);
	fprintf(page->out, "      %-5s  %s\n", label, line ? text : "(ends before)");
}

/* Two lines that differ, one above the other. */
static void put_lines(struct page *page, const struct trial_lines *lines, const char *one,
		      const char *other)
{
	if (!lines->number)
		return;
	put_line(page, one, lines->one);
	put_line(page, other, lines->other);
}

/* Of texts that are too large to be kept. */
static const char *whole_text(enum trial_match match)
{
	if (match == TRIAL_EQUAL)
		return "equal, by a hash of all of it";
	if (match == TRIAL_DIFFERENT)
		return "different, by a hash of all of it: it is too large to tell where";
	return "bare runs differ themselves, and it is too large to tell where";
}

static void describe(const struct trial_channel *channel, char *text, size_t size)
{
	const struct trial_difference *difference = &channel->difference;
	const char *lines = difference->line_count == 1 ? "line" : "lines";

	if (channel->is_missing)
		snprintf(text, size, "different: not written with the strategy");
	else if (difference->is_whole)
		snprintf(text, size, "%s", whole_text(difference->match));
	else if (difference->match == TRIAL_DIFFERENT)
		snprintf(text, size, "different, first in line %s",
			 format_count(difference->first.number).text);
	else if (difference->match == TRIAL_UNKNOWN)
		snprintf(text, size,
			 "bare runs have not as many lines themselves, they differ from line %s on",
			 format_count(difference->varying.number).text);
	else if (difference->match == TRIAL_AGREES)
		snprintf(
			text, size,
			"equal, but for words in %s of %s %s in which bare runs differ, first in line "
			"%s",
			format_count(difference->varying_count).text,
			format_count(difference->line_count).text, lines,
			format_count(difference->varying.number).text);
	else if (difference->line_count)
		snprintf(text, size, "equal, %s %s", format_count(difference->line_count).text,
			 lines);
	else
		snprintf(text, size, "nothing was written");
}

static void put_suggestion(struct page *page, const char *mask)
{
	char text[768];

	snprintf(
		text, sizeof(text),
		"these lines differ only in numbers, first in one that looks like a time; if it is "
		"one, leave it out: --ignore '%s'",
		mask);
	page_wrap(page, "      ", text, 6);
}

static void put_channel(struct page *page, const struct trial_channel *channel)
{
	const struct trial_difference *difference = &channel->difference;
	char name[128], label[160], text[256];

	describe(channel, text, sizeof(text));
	(void)format_text(name, sizeof(name), channel->name, 30);
	snprintf(label, sizeof(label), "  %-10s ", name);
	if (!channel->is_judged)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (not judged)");
	page_wrap(page, label, text, 13);
	if (difference->match == TRIAL_DIFFERENT)
		put_lines(page, &difference->first, "bare", "tried");
	else
		put_lines(page, &difference->varying, "bare", "bare");
	if (difference->suggested_mask)
		put_suggestion(page, difference->suggested_mask);
}

/* Where nothing differs on stderr, or nothing is there, that is of no interest. */
static bool is_of_interest(const struct trial_channel *channel)
{
	return channel->is_judged || channel->difference.match > TRIAL_AGREES;
}

static void put_results(struct page *page, const struct trial *trial)
{
	page_title(page, "Results", results_text(trial->results));
	put_ends(page, trial);
	for (size_t i = 0; i < trial->channel_count; i++)
		if (is_of_interest(&trial->channels[i]))
			put_channel(page, &trial->channels[i]);
	if (trial->results == TRIAL_UNKNOWN)
		page_wrap(
			page, "  ",
			"not known, as bare runs differ from each other, or nothing is compared: name files "
			"that the program writes with --compare, mask what always differs with --ignore",
			2);
}

/* ---- what was reached ---- */

/* The figures that a strategy has, in the order of roofline/try.h; a second one is a share of the first. */
static const struct reach_row {
	enum try_count count, whole; /* whole: TRY_COUNT_COUNT where it is none */
	const char *label, *meaning;
} reach_rows[] = {
	{TRY_LAUNCHES_DEFERRED, TRY_LAUNCHES_SEEN, "put off", "launches of kernels were put off"},
	{TRY_MEMORY_DEFERRED, TRY_MEMORY_SEEN, "memory",
	 "memsets and copies on the GPU were put off"},
	{TRY_EVENTS_DEFERRED, TRY_COUNT_COUNT, "events",
	 "records of events, and waits of streams for them, were put off"},
	{TRY_GRAPH_NODES, TRY_COUNT_COUNT, "in graphs",
	 "kernels, memsets and copies went to the GPU in graphs"},
	{TRY_GRAPH_LAUNCHES, TRY_COUNT_COUNT, "graphs", "launches of graphs"},
	{TRY_INSTANTIATED, TRY_COUNT_COUNT, "made", "graphs were made"},
	{TRY_NODES_SET, TRY_GRAPH_NODES, "updated",
	 "nodes of graphs had other parameters than before"},
	{TRY_FREES_KEPT, TRY_FREES_SEEN, "kept", "times memory was kept when it was freed"},
	{TRY_ALLOCATIONS_REUSED, TRY_ALLOCATIONS_SEEN, "reused",
	 "allocations got memory that was kept"},
	{TRY_BLOCKS_RETURNED, TRY_COUNT_COUNT, "given back",
	 "blocks of memory that was kept were given back to the driver"},
	{TRY_WAITS_LEFT_OUT, TRY_WAITS_SEEN, "left out", "waits were left out"},
	{TRY_WAITS_OVER, TRY_WAITS_SEEN, "over", "waits were for what was done already"},
	{TRY_WAITS_MADE, TRY_COUNT_COUNT, "made later",
	 "times such a wait was made later, before a call that could tell"},
	{TRY_COPIES_STAGED, TRY_COPIES_SEEN, "pinned",
	 "copies between the host and the GPU went through pinned memory"},
	{TRY_STAGED_BYTES, TRY_COUNT_COUNT, "bytes", "bytes went through it"},
	{TRY_COPIES_REGISTERED, TRY_COPIES_SEEN, "registered",
	 "copies between the host and the GPU were of memory that was registered for it"},
	{TRY_REGISTERED_BYTES, TRY_COUNT_COUNT, "bytes", "bytes were copied so"},
	{TRY_RANGES_REGISTERED, TRY_COUNT_COUNT, "registered",
	 "times memory of the program was registered"},
	{TRY_RANGES_RELEASED, TRY_COUNT_COUNT, "released",
	 "times it was released again, before the end"},
	{TRY_TIMER_FLUSHES, TRY_COUNT_COUNT, "timer",
	 "times nothing was called for a while, and all was given to the GPU"},
};

static void put_reach_row(struct page *page, const uint64_t *counts, const struct reach_row *row)
{
	uint64_t count = counts[row->count];
	uint64_t whole = row->whole < TRY_COUNT_COUNT ? counts[row->whole] : 0;
	char text[256], label[32];

	if (!count && !whole)
		return;
	snprintf(label, sizeof(label), "  %-10s ", row->label);
	if (whole)
		snprintf(text, sizeof(text), "%s of %s (%s) %s", format_count(count).text,
			 format_count(whole).text,
			 format_percent((double)count, (double)whole).text, row->meaning);
	else
		snprintf(text, sizeof(text), "%s %s", format_count(count).text, row->meaning);
	page_wrap(page, label, text, 13);
}

static void put_causes(struct page *page, const struct trial_causes *causes, const char *what)
{
	size_t shown = causes->count < MOST_CAUSES ? causes->count : MOST_CAUSES;
	char label[64], text[256];

	if (!causes->count)
		return;
	fprintf(page->out, "  %s\n", what);
	for (size_t i = 0; i < shown; i++) {
		const struct trial_cause *cause = &causes->items[i];

		snprintf(label, sizeof(label), "  %10s  ", format_count(cause->count).text);
		snprintf(text, sizeof(text), "%s%s%s", cause->name, cause->meaning ? ": " : "",
			 cause->meaning ? cause->meaning : "");
		page_wrap(page, label, text, 14);
	}
	if (shown < causes->count)
		fprintf(page->out, "              and %zu more\n", causes->count - shown);
}

static void put_reach(struct page *page, const struct trial *trial)
{
	const struct trial_reach *reach = &trial->reach;
	char note[96];

	snprintf(note, sizeof(note), "by the last run with the strategy, in %zu process%s",
		 reach->process_count, reach->process_count == 1 ? "" : "es");
	page_title(page, "Reached", note);
	if (!reach->process_count)
		page_wrap(
			page, "  ",
			"nothing is known: the program uses no CUDA, was killed, or does not preload "
			"libraries",
			2);
	for (size_t i = 0; i < sizeof(reach_rows) / sizeof(reach_rows[0]); i++)
		put_reach_row(page, reach->counts, &reach_rows[i]);
	put_causes(page, &reach->passed, "passed on at once, as");
	put_causes(page, &reach->flushes, "what was put off was given to the GPU before");
	if (reach->counts[TRY_STEPPED_ASIDE])
		page_wrap(
			page, "  ",
			"the library stepped aside: the strategy cost the program more than it saved",
			2);
	if (reach->counts[TRY_UNWATCHED])
		page_wrap(page, "  ",
			  "no memory was registered: this kernel does not tell when it is "
			  "unmapped (userfaultfd)",
			  2);
	if (reach->counts[TRY_LATE_ERRORS])
		page_wrap(page, "  ",
			  "errors of launches came from a later call than without the strategy", 2);
}

/* ---- the prediction ---- */

static void put_prediction_row(const struct page *page, const char *label,
			       const struct trial_ratio *predicted, double measured, bool is_up_to)
{
	double expected = is_up_to ? predicted->low : predicted->speedup;
	char error[32] = "-";

	if (!(predicted->speedup > 0))
		return;
	if (measured > 0)
		snprintf(error, sizeof(error), "%+.1f%%", 100 * (expected - measured) / measured);
	fprintf(page->out, "  %-22s %9s %9s %9s  %s to %s\n", label, format_speedup(expected).text,
		format_speedup(measured).text, error, format_speedup(predicted->low).text,
		format_speedup(predicted->high).text);
}

static void put_prediction_heads(struct page *page)
{
	char heads[80];

	snprintf(heads, sizeof(heads), "  %-22s %9s %9s %9s  %s", "", "predicted", "measured",
		 "error", "low to high");
	page_heads(page, heads);
}

static void put_prediction(struct page *page, const struct trial *trial)
{
	const struct trial_prediction *prediction = &trial->prediction;
	char note[512], path[256];

	if (!prediction->recording)
		return;
	(void)format_text(path, sizeof(path), prediction->recording, 60);
	snprintf(note, sizeof(note), "%s%sfrom %s",
		 prediction->techniques ? prediction->techniques : "",
		 prediction->techniques ? ", " : "", path);
	page_title(page, "Predicted", note);
	if (prediction->why_not) {
		page_wrap(page, "  ", prediction->why_not, 2);
		return;
	}
	put_prediction_heads(page);
	put_prediction_row(page, "the process", &prediction->process, trial->measured.speedup,
			   prediction->is_up_to);
	put_prediction_row(page, "first to last operation", &prediction->run,
			   trial->run.speedup > 0 ? trial->run.speedup : prediction->run_measured,
			   prediction->is_up_to);
	put_prediction_row(page, "a steady iteration", &prediction->steady,
			   prediction->steady_measured, prediction->is_up_to);
}

int try_write_text(const struct trial *trial, FILE *out, const struct output_options *options,
		   struct err *err)
{
	struct page page = {.out = out, .options = options};

	page_begin(&page);
	put_times(&page, trial);
	put_results(&page, trial);
	put_reach(&page, trial);
	put_prediction(&page, trial);
	for (size_t i = 0; i < trial->notes.count; i++)
		page_wrap(&page, "warning: ", trial->notes.items[i], 2);
	if (trial->keep) {
		page_title(&page, "To keep it", NULL);
		page_line(&page, "  ", trial->keep);
	}
	return page_finish(&page, "the trial", err);
}
