/* text_whatif.c - several techniques at once, for people. */
#include "output/whatif.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/check_command.h"
#include "output/page.h"

#define LABEL_WIDTH 18
#define INDENT 4
#define RANGE_WIDTH 40
#define RANGE_SIZE (4 * RANGE_WIDTH + 1) /* UTF-8 */

static struct figure speedup_figure(double speedup)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.*fx", speedup < 100 ? 2 : 0, speedup);
	return figure;
}

/* Where nobody knows what operations need of each other the low end stands before what it may be. */
static void put_up_to(struct page *page, const char *label, const struct predicted_ratio *ratio,
		      int64_t before_ns)
{
	double after_ns = ratio->low > 0 ? (double)before_ns / ratio->low : 0;

	fprintf(page->out, "  %-*s %9s %9s %9s  up to %s\n", LABEL_WIDTH, label,
		format_ns((double)before_ns).text, format_ns(after_ns).text,
		speedup_figure(ratio->low).text, speedup_figure(ratio->speedup).text);
}

static void put_row(struct page *page, const char *label, const struct predicted_ratio *ratio,
		    int64_t before_ns, int64_t after_ns)
{
	fprintf(page->out, "  %-*s %9s %9s %9s  %s to %s\n", LABEL_WIDTH, label,
		format_ns((double)before_ns).text, format_ns((double)after_ns).text,
		speedup_figure(ratio->speedup).text, speedup_figure(ratio->low).text,
		speedup_figure(ratio->high).text);
}

static void put_rows(struct page *page, const char *run, const char *place, const char *steady,
		     const struct prediction *prediction, bool is_up_to)
{
	if (is_up_to) {
		put_up_to(page, run, &prediction->program, prediction->program_before_ns);
		if (prediction->place_before_ns > 0)
			put_up_to(page, place, &prediction->place, prediction->place_before_ns);
		if (prediction->steady_before_ns > 0)
			put_up_to(page, steady, &prediction->steady, prediction->steady_before_ns);
		return;
	}
	put_row(page, run, &prediction->program, prediction->program_before_ns,
		prediction->program_after_ns);
	if (prediction->place_before_ns > 0)
		put_row(page, place, &prediction->place, prediction->place_before_ns,
			prediction->place_after_ns);
	if (prediction->steady_before_ns > 0)
		put_row(page, steady, &prediction->steady, prediction->steady_before_ns,
			prediction->steady_after_ns);
}

static void put_heads(struct page *page)
{
	char heads[80];

	snprintf(heads, sizeof(heads), "  %-*s %9s %9s %9s  %s", LABEL_WIDTH, "", "before", "after",
		 "speedup", "low to high");
	page_heads(page, heads);
}

static const char *place_of(const struct scenario *scenario)
{
	return scenario->range ? "the range" : "what changes";
}

static void put_unrecorded(struct page *page, const struct scenario *scenario)
{
	char text[160];

	if (!(scenario->unrecorded_share > UNTIMED_MOST))
		return;
	snprintf(
		text, sizeof(text),
		"%.0f%% of all launches were counted by instrumented code, which leaves no times: each is "
		"taken to be as long as others of its kernel",
		100 * scenario->unrecorded_share);
	page_wrap(page, "  ", text, 2);
}

/* A thread that waits there for messages, say. */
static void put_empty_range(struct page *page, const struct scenario *scenario)
{
	if (scenario->range && scenario->prediction.place_before_ns <= 0)
		page_wrap(page, "  the range: ",
			  "nothing repeats there, as its threads make no calls in it", 2);
}

static void put_whole(struct page *page, const struct scenario *scenario)
{
	char note[512], range[128] = "";

	if (scenario->range)
		format_text(range, sizeof(range), scenario->range, 40);
	snprintf(note, sizeof(note), "GPU %zu, %s%s%s", scenario->device,
		 scenario->profile->devices[scenario->device].name,
		 scenario->range ? "; NVTX range " : "", range);
	page_title(page, "What if, all together", note);
	if (!scenario->is_changed) {
		page_wrap(page, "  ", "nothing would change; each technique says below why", 2);
		return;
	}
	put_heads(page);
	put_rows(page, "the whole run", place_of(scenario), "a steady iteration",
		 &scenario->prediction, scenario->is_up_to);
	put_empty_range(page, scenario);
	put_unrecorded(page, scenario);
}

/* "3 loops" */
static void add_count(char *text, size_t size, uint64_t count, const char *what, const char *plural)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s %s%s", used ? ", " : "", format_count(count).text,
		 what, count == 1 ? "" : plural);
}

static void add_bytes(char *text, size_t size, double bytes, const char *what)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", format_bytes(bytes).text,
		 what);
}

static void describe(const struct scenario *scenario, const struct scenario_part *part, char *text,
		     size_t size)
{
	const struct technique *technique = techniques[part->technique];
	const struct effect *effect = &part->together.effect;

	text[0] = '\0';
	if (effect->iteration_count) {
		add_count(text, size, effect->loop_count, "loop", "s");
		add_count(text, size, effect->iteration_count, "iteration", "s");
	}
	if (effect->most_nodes)
		add_count(text, size, effect->most_nodes, "operation", "s in the largest graph");
	if (technique->changed && effect->changed_count)
		add_count(text, size, effect->changed_count, technique->changed, "");
	if (technique->argument == ARGUMENT_NUMBER)
		add_count(text, size, scenario->numbers[part->technique], technique->number_does,
			  "");
	if (effect->vanished_bytes > 0)
		add_bytes(text, size, effect->vanished_bytes, "of DRAM vanish");
}

/* "cuda_graph  (in NVTX range 'run')" */
static void put_name(struct page *page, const struct scenario_part *part)
{
	char range[RANGE_SIZE];

	fprintf(page->out, "  %s", techniques[part->technique]->id);
	if (part->range) {
		format_text(range, sizeof(range), part->range, RANGE_WIDTH);
		fprintf(page->out, "  (in NVTX range '%s')", range);
	}
	fputc('\n', page->out);
}

static void put_part(struct page *page, const struct scenario *scenario,
		     const struct scenario_part *part)
{
	const struct technique *technique = techniques[part->technique];
	char text[512], cuts[CUTS_TEXT_SIZE];

	put_name(page, part);
	if (!part->together.effect.refusal) {
		describe(scenario, part, text, sizeof(text));
		page_wrap(page, "    changed: ", text, INDENT);
		cuts_text(cuts, &part->together.effect.cuts, scenario->profile);
		if (*cuts)
			page_wrap(page, "    cut: ", cuts, INDENT);
		if (part->together.effect.is_assuming && technique->assumes)
			page_wrap(page, "    assumes: ", technique->assumes, INDENT);
	} else {
		page_wrap(page, "    refused: ", part->together.effect.refusal, INDENT);
	}
	if (!part->alone.effect.refusal)
		put_rows(page, "  alone: whole run",
			 scenario->range ? "  alone: the range" : "  alone: its part",
			 "  alone: iteration", &part->alone.prediction,
			 technique->is_up_to && !part->alone.effect.is_proven);
}

static void put_picture(struct page *page, const struct scenario *scenario)
{
	char *command = picture_command(scenario);

	page_line(page, "\nAs a picture: ", command);
	free(command);
}

static void put_technique(struct page *page, const struct technique *technique)
{
	static const char *const arguments[] = {
		[ARGUMENT_NONE] = "", [ARGUMENT_RANGE] = "[=RANGE]", [ARGUMENT_NUMBER] = " N"};

	fprintf(page->out, "  --%s%s  (%s)\n", technique->option, arguments[technique->argument],
		technique->id);
	page_wrap(page, "    ", technique->effect, INDENT);
	if (technique->assumes)
		page_wrap(page, "    assumes: ", technique->assumes, INDENT);
	page_wrap(page, "    refused: ", technique->refusal, INDENT);
}

int whatif_write_list(FILE *out, const struct output_options *options, struct err *err)
{
	struct page page = {.out = out, .options = options};

	page_begin(&page);
	page_title(&page, "Techniques", "what each changes in a replay");
	for (int i = 0; i < TECHNIQUE_COUNT; i++)
		put_technique(&page, techniques[i]);
	return page_finish(&page, "the list", err);
}

int whatif_write_text(const struct scenario *scenario, FILE *out,
		      const struct output_options *options, struct err *err)
{
	struct page page = {.out = out, .options = options};

	page_begin(&page);
	put_whole(&page, scenario);
	page_title(&page, "Techniques", "in the order in which they are applied");
	for (size_t i = 0; i < scenario->part_count; i++)
		put_part(&page, scenario, &scenario->parts[i]);
	if (scenario->is_changed && !scenario->is_of_job)
		put_picture(&page, scenario);
	return page_finish(&page, "the prediction", err);
}
