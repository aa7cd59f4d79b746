/* text_whatif.c - several strategies at once, for people. */
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

#define STRATEGY_CHANGED(constant, name, option, argument, help, changed) \
	[STRATEGY_##constant] = (changed),

static const char *const changed_what[] = {STRATEGIES(STRATEGY_CHANGED)};

static const char supposed_of_fusing[] =
	"what a kernel reads is what the one before it wrote, and nobody else reads it; at the "
	"low end it is still written";

static const char supposed_of_narrowing[] =
	"all bytes are of values that narrower types hold; at the low end half of what would vanish "
	"stays";

/* What a strategy rests on that no recording tells, where it says so of itself. */
static const char *const supposed_what[STRATEGY_COUNT] = {
	[STRATEGY_FUSE] = supposed_of_fusing,
	[STRATEGY_NARROW] = supposed_of_narrowing,
};

static struct figure speedup_figure(double speedup)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.*fx", speedup < 100 ? 2 : 0, speedup);
	return figure;
}

static void put_row(struct page *page, const char *label, const struct predicted_ratio *ratio,
		    int64_t before_ns, int64_t after_ns)
{
	fprintf(page->out, "  %-*s %9s %9s %9s  %s to %s\n", LABEL_WIDTH, label,
		format_ns((double)before_ns).text, format_ns((double)after_ns).text,
		speedup_figure(ratio->speedup).text, speedup_figure(ratio->low).text,
		speedup_figure(ratio->high).text);
}

static void put_rows(struct page *page, const char *run, const char *place,
		     const struct prediction *prediction)
{
	put_row(page, run, &prediction->program, prediction->program_before_ns,
		prediction->program_after_ns);
	if (prediction->place_before_ns > 0)
		put_row(page, place, &prediction->place, prediction->place_before_ns,
			prediction->place_after_ns);
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
		page_wrap(page, "  ", "nothing would change", 2);
		return;
	}
	put_heads(page);
	put_rows(page, "the whole run", place_of(scenario), &scenario->prediction);
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
	const struct what_if *together = &part->together;

	text[0] = '\0';
	if (together->iteration_count) {
		add_count(text, size, together->loop_count, "loop", "s");
		add_count(text, size, together->iteration_count, "iteration", "s");
	}
	if (part->strategy == STRATEGY_GRAPH)
		add_count(text, size, together->most_nodes, "operation", "s in the largest graph");
	if (*changed_what[part->strategy] && together->changed_count)
		add_count(text, size, together->changed_count, changed_what[part->strategy], "");
	if (part->strategy == STRATEGY_BATCH || part->strategy == STRATEGY_AGGREGATE)
		add_count(text, size, scenario->numbers[part->strategy], "in one", "");
	if (part->strategy == STRATEGY_NARROW)
		add_count(text, size, scenario->numbers[STRATEGY_NARROW], "times fewer bytes", "");
	if (together->vanished_bytes > 0)
		add_bytes(text, size, together->vanished_bytes, "of DRAM vanish");
}

/* "cuda_graph  (in NVTX range 'run')" */
static void put_name(struct page *page, const struct scenario_part *part)
{
	char range[RANGE_SIZE];

	fprintf(page->out, "  %s", strategy_name(part->strategy));
	if (part->range) {
		format_text(range, sizeof(range), part->range, RANGE_WIDTH);
		fprintf(page->out, "  (in NVTX range '%s')", range);
	}
	fputc('\n', page->out);
}

static void put_part(struct page *page, const struct scenario *scenario,
		     const struct scenario_part *part)
{
	char text[512];

	put_name(page, part);
	if (part->together.refusal == REFUSED_NONE) {
		describe(scenario, part, text, sizeof(text));
		page_wrap(page, "    changed: ", text, INDENT);
		if (part->together.is_supposed && supposed_what[part->strategy])
			page_wrap(page, "    supposed: ", supposed_what[part->strategy], INDENT);
	} else {
		page_wrap(page, "    refused: ", refusal_text(part->together.refusal), INDENT);
	}
	if (part->alone.refusal == REFUSED_NONE)
		put_rows(page, "  alone: whole run",
			 scenario->range ? "  alone: the range" : "  alone: its part",
			 &part->alone.prediction);
}

/* On one line, to be copied. */
static int put_picture(struct page *page, const struct scenario *scenario, struct err *err)
{
	char *command = scenario->is_changed ? picture_command(scenario) : NULL;

	if (scenario->is_changed && !command)
		return err_set(err, -ENOMEM, "out of memory for the prediction");
	if (command)
		fprintf(page->out, "\nAs a picture: %s\n", command);
	free(command);
	return 0;
}

int whatif_write_text(const struct scenario *scenario, FILE *out,
		      const struct output_options *options, struct err *err)
{
	struct page page = {.out = out, .options = options};
	int rc;

	put_whole(&page, scenario);
	page_title(&page, "Strategies", "in the order in which they are applied");
	for (size_t i = 0; i < scenario->part_count; i++)
		put_part(&page, scenario, &scenario->parts[i]);
	rc = put_picture(&page, scenario, err);
	if (rc < 0)
		return rc;
	if (ferror(out) || fflush(out))
		return err_set(err, -EIO, "the prediction could not be written: %s",
			       strerror(errno));
	return 0;
}
