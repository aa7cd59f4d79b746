/* text_scale.c - what several GPUs would bring, for people. */
#include "output/scale.h"

#include <string.h>

#include "output/page.h"

#define NAME_WIDTH 60
#define NAMES_SHOWN 3
#define INTERVAL_WIDTH 16
#define TEXT_SIZE 1024

static void add(char *text, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, TEXT_SIZE - used, "%s", more);
}

static void put_iteration(struct page *page, const struct data_parallel *found)
{
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%s on one GPU, the mean of %s%s",
		 format_ns(found->iteration_ns).text, format_count(found->iteration_count).text,
		 found->ends_with_kept ? "" : " iterations of the steady state");
	page_wrap(page, "  step       ", text, 13);
}

/* Of each number of GPUs once: rows of samples that are divided come first. */
static void put_gradients(struct page *page, const struct data_parallel *found)
{
	char text[TEXT_SIZE], one[96];

	if (!(found->bytes > 0)) {
		page_wrap(page, "  gradients  ", "none: GPUs have nothing to add up", 13);
		return;
	}
	snprintf(text, sizeof(text),
		 "%s, which all GPUs add up in every step: ", format_bytes(found->bytes).text);
	for (size_t i = 0; i < found->row_count && !found->rows[i].is_weak; i++) {
		snprintf(one, sizeof(one), "%s%s of %s", i ? ", " : "",
			 format_ns(found->rows[i].reduce_ns).text,
			 format_count(found->rows[i].gpus).text);
		add(text, one);
	}
	page_wrap(page, "  gradients  ", text, 13);
}

static bool has_source(const struct data_parallel *found, enum reduce_source source)
{
	for (size_t i = 0; i < found->row_count; i++)
		if (found->rows[i].source == source)
			return true;
	return false;
}

static void put_links(struct page *page, const struct data_parallel *found)
{
	char text[TEXT_SIZE];

	if (!(found->bytes > 0))
		return;
	if (has_source(found, REDUCE_RATE))
		snprintf(
			text, sizeof(text),
			"what adding up takes follows from the rate of copies between two GPUs, "
			"without what each step of it takes: rooflinectl ceilings --links measures "
			"it");
	else
		snprintf(text, sizeof(text), "measured of %s GPUs%s",
			 format_count(found->measured_gpus).text,
			 has_source(found, REDUCE_FORMULA)
				 ? "; of other numbers by bus bandwidth, as if joined by the same "
				   "links"
				 : "");
	page_wrap(page, "  links      ", text, 13);
}

static void put_kernels(struct page *page, const struct data_parallel *found)
{
	double all_ns = found->divided_ns + found->kept_ns;
	char text[TEXT_SIZE], name[4 * NAME_WIDTH + 1];

	if (!found->kept_count) {
		page_wrap(page, "  kernels    ",
			  "all go with the samples; --fixed names those that go with the weights",
			  13);
		return;
	}
	snprintf(text, sizeof(text),
		 "%s of their time goes with the samples; as long on each GPU: ",
		 format_percent(found->divided_ns, all_ns).text);
	for (size_t i = 0; i < found->kept_count && i < NAMES_SHOWN; i++) {
		format_text(name, sizeof(name), found->kept[i], NAME_WIDTH);
		add(text, i ? ", " : "");
		add(text, name);
	}
	if (found->kept_count > NAMES_SHOWN)
		add(text, ", ...");
	page_wrap(page, "  kernels    ", text, 13);
}

static void put_gain(struct page *page, const struct data_parallel_gain *gain, int width)
{
	char interval[80];

	snprintf(interval, sizeof(interval), "%s to %s", format_speedup(gain->low).text,
		 format_speedup(gain->high).text);
	fprintf(page->out, "  %9s  %-*s", format_speedup(gain->speedup).text, width, interval);
}

static void put_rows(struct page *page, const struct data_parallel *found, bool is_weak)
{
	fprintf(page->out, "  %s\n",
		is_weak ? "as many samples on each GPU" : "the samples divided");
	for (size_t i = 0; i < found->row_count; i++) {
		const struct data_parallel_row *row = &found->rows[i];

		if (row->is_weak != is_weak)
			continue;
		fprintf(page->out, "    %5s %8s", format_count(row->gpus).text,
			format_speedup(row->linear).text);
		put_gain(page, &row->in_turn, INTERVAL_WIDTH);
		put_gain(page, &row->overlapped, 0);
		fputc('\n', page->out);
	}
}

static void put_table(struct page *page, const struct data_parallel *found)
{
	char note[96], heads[96];

	if (found->parts > 1)
		snprintf(note, sizeof(note),
			 "samples a second against one GPU; overlap: in %s parts",
			 format_count(found->parts).text);
	else
		snprintf(note, sizeof(note), "samples a second against one GPU");
	page_title(page, "Speedup", note);
	snprintf(heads, sizeof(heads), "    %5s %8s  %9s  %-*s  %9s  %s", "GPUs", "linear",
		 "in turn", INTERVAL_WIDTH, "low to high", "overlap", "low to high");
	page_heads(page, heads);
	put_rows(page, found, false);
	put_rows(page, found, true);
}

static const char assumes[] =
	"all GPUs do the same in the same time, and hosts give each its own work as fast as the one; "
	"gradients are ready bit by bit while the last kernels before them run; at the low end kernels "
	"with fewer samples run as many waves as their blocks are, at the high end each takes its "
	"share of the time (--divide says which)";

int scale_write_text(const struct data_parallel *found, FILE *out,
		     const struct output_options *options, struct err *err)
{
	struct page page = {.out = out, .options = options};
	char note[256];

	page_begin(&page);
	snprintf(note, sizeof(note), "predicted from GPU %zu, %s", found->device,
		 found->profile->devices[found->device].name);
	page_title(&page, "Several GPUs", note);
	put_iteration(&page, found);
	put_gradients(&page, found);
	put_links(&page, found);
	put_kernels(&page, found);
	page_wrap(&page, "  assumes    ", assumes, 13);
	put_table(&page, found);
	return page_finish(&page, "the prediction", err);
}
