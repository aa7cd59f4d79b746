#include "charts/timelines/chart_lanes.h"

#include <errno.h>
#include <stdlib.h>

#define LEAST_HEIGHT_RATIO 0.125 /* of a row: what is drawn lower cannot be seen */
#define LABEL_LEAST_RATIO 0.015	 /* of the width: no text fits into narrower bars */
#define LABEL_LIMIT 60
#define LABEL_SIZE (4 * LABEL_LIMIT + 1) /* UTF-8 */
#define RUNS_PER_CELL 8			 /* of characters: runs are cut to cells */

int chart_columns(int text_columns, double label_width)
{
	int columns = text_columns > 0 ? text_columns - CHART_TERM_FRAME_COLUMNS - (int)label_width
				       : CHART_PICTURE_COLUMNS;

	return columns < CHART_LEAST_COLUMNS ? CHART_LEAST_COLUMNS : columns;
}

double chart_axis(const struct chart_lanes *lanes, int64_t time_ns)
{
	return (double)(time_ns - lanes->origin_ns) / lanes->unit->ns;
}

double chart_lane_y(const struct chart_lane *lane, double ratio)
{
	return lane->top + lane->height - 0.1 - (lane->height - 0.2) * ratio;
}

/* ---- pictures: one bar per run and class, stacked by their shares ---- */

static void put_bar(struct chart_lanes *lanes, const struct chart_lane *lane,
		    const struct raster_run *run, const double height[2], int color,
		    const char *label)
{
	fprintf(lanes->spans.stream, "%.9g\t%.9g\t%.4g\t%.4g\t%d\t",
		chart_axis(lanes, run->start_ns), chart_axis(lanes, run->end_ns),
		chart_lane_y(lane, height[0]), chart_lane_y(lane, height[1]), color);
	chart_put_text(&lanes->spans, label);
	putc('\n', lanes->spans.stream);
}

static void run_label(char *label, size_t size, const struct chart_lane *lane,
		      const struct raster_run *run)
{
	double width = (double)(run->end_ns - run->start_ns);
	double window = (double)(lane->lanes->to_ns - lane->lanes->from_ns);

	const char *text = run->label;

	label[0] = '\0';
	if (text && lane->kind == ROW_STREAM)
		text = kernel_label(lane->lanes->kernel_labels, text, LABEL_WIDE);
	if (run->is_exact && run->interval_count == 1 && text &&
	    width >= LABEL_LEAST_RATIO * window)
		format_text(label, size, text, LABEL_LIMIT);
}

static int64_t sum_classes(const struct raster_run *run)
{
	int64_t sum = 0;

	for (int i = 0; i < RASTER_CLASSES; i++)
		sum += run->class_ns[i];
	return sum;
}

static int draw_run(const struct raster_run *run, void *context)
{
	struct chart_lane *lane = context;
	struct chart_lanes *lanes = lane->lanes;
	double full = (double)run->busy_ns / (double)(run->end_ns - run->start_ns);
	double height[2] = {0, 0}, sum = (double)sum_classes(run);
	char label[LABEL_SIZE];

	lanes->has_partial |= full < 0.99;
	full = full < LEAST_HEIGHT_RATIO ? LEAST_HEIGHT_RATIO : full;
	run_label(label, sizeof(label), lane, run);
	for (int i = 0; i < RASTER_CLASSES; i++) {
		int color = lane->color + i;

		if (!run->class_ns[i])
			continue;
		height[1] = height[0] + full * (double)run->class_ns[i] / sum;
		put_bar(lanes, lane, run, height, color, label);
		lanes->colors_seen[color] = true;
		height[0] = height[1];
	}
	return 0;
}

/* ---- characters: each cell adds up what runs in it ---- */
static void put_range_label(struct chart_lanes *lanes, const struct chart_lane *lane,
			    const struct raster_run *run)
{
	double cell_ns = (double)(lanes->to_ns - lanes->from_ns) / lanes->columns;
	char label[LABEL_SIZE];

	run_label(label, sizeof(label), lane, run);
	if (lane->kind != ROW_RANGES || !label[0])
		return;
	fprintf(lanes->labels.stream, "%.9g\t%zu\t%.9g\t",
		(double)(run->start_ns - lanes->from_ns) / cell_ns, lane->row,
		(double)(run->end_ns - lanes->from_ns) / cell_ns);
	chart_put_text(&lanes->labels, label);
	putc('\n', lanes->labels.stream);
}

static int64_t cell_edge(const struct chart_lanes *lanes, int cell)
{
	double width = (double)(lanes->to_ns - lanes->from_ns) / lanes->columns;

	return lanes->from_ns + (int64_t)(width * cell);
}

static int fill_cells(const struct raster_run *run, void *context)
{
	struct chart_lane *lane = context;
	struct chart_lanes *lanes = lane->lanes;
	double window = (double)(lanes->to_ns - lanes->from_ns);
	double length = (double)(run->end_ns - run->start_ns), sum = (double)sum_classes(run);
	int cell = (int)((double)(run->start_ns - lanes->from_ns) / window * lanes->columns);

	put_range_label(lanes, lane, run);
	for (; cell < lanes->columns && cell_edge(lanes, cell) < run->end_ns; cell++) {
		int64_t start = cell_edge(lanes, cell), end = cell_edge(lanes, cell + 1);

		start = start > run->start_ns ? start : run->start_ns;
		end = end < run->end_ns ? end : run->end_ns;
		if (end <= start)
			continue;
		for (int i = 0; i < RASTER_CLASSES; i++) /* rounded up: what ran is never 0 */
			lane->cells[cell][i] +=
				(int64_t)((double)run->class_ns[i] / sum * (double)run->busy_ns *
						  (double)(end - start) / length +
					  (run->class_ns[i] > 0));
	}
	return 0;
}

/* Capital letters where the cell is busy for at least half of its time. */
static void put_cell(struct chart_lanes *lanes, const struct chart_lane *lane, int cell)
{
	int64_t sum = 0, length_ns = cell_edge(lanes, cell + 1) - cell_edge(lanes, cell);
	int largest = 0, color;
	char letter;

	for (int i = 0; i < RASTER_CLASSES; i++) {
		sum += lane->cells[cell][i];
		if (lane->cells[cell][i] > lane->cells[cell][largest])
			largest = i;
	}
	if (!sum)
		return;
	color = lane->color + largest;
	letter = chart_color_letter(color);
	if (letter >= 'A' && letter <= 'Z' && 2 * sum < length_ns) {
		letter = (char)(letter - 'A' + 'a');
		lanes->has_partial = true;
	}
	lanes->colors_seen[color] = true;
	fprintf(lanes->spans.stream, "%.9g\t%zu\t%d\t%c\n", cell + 0.5, lane->row, color, letter);
}

static void put_cells(struct chart_lanes *lanes)
{
	for (size_t i = 0; i < lanes->count; i++)
		for (int cell = 0; cell < lanes->columns; cell++)
			put_cell(lanes, &lanes->items[i], cell);
}

/* ---- all lanes ---- */

int chart_lanes_allocate(struct chart_lanes *lanes, size_t count)
{
	lanes->count = count;
	lanes->items = calloc(count + 1, sizeof(*lanes->items));
	return lanes->items ? 0 : -ENOMEM;
}

int chart_lanes_begin(struct chart_lanes *lanes)
{
	int columns = lanes->is_text ? lanes->columns * RUNS_PER_CELL : lanes->columns;

	for (size_t i = 0; i < lanes->count; i++) {
		struct chart_lane *lane = &lanes->items[i];

		lane->lanes = lanes;
		raster_init(&lane->raster, lanes->from_ns, lanes->to_ns, columns,
			    lanes->is_text ? fill_cells : draw_run, lane);
		if (!lanes->is_text)
			continue;
		lane->cells = calloc((size_t)lanes->columns, sizeof(*lane->cells));
		if (!lane->cells)
			return -ENOMEM;
	}
	return 0;
}

void chart_lanes_free(struct chart_lanes *lanes)
{
	for (size_t i = 0; lanes->items && i < lanes->count; i++)
		free(lanes->items[i].cells);
	free(lanes->items);
	lanes->items = NULL;
}

int chart_lanes_open(struct chart_lanes *lanes, const char *folder, struct err *err)
{
	int rc = chart_file_open(&lanes->spans, folder, "spans.dat", err);

	if (rc == 0) {
		fputs(lanes->is_text ? "# cell\trow\tcolor\tletter\n"
				     : "# start\tend\tlow\thigh\tcolor\tlabel\n",
		      lanes->spans.stream);
		rc = chart_file_open(&lanes->labels, folder, "labels.dat", err);
	}
	if (rc == 0)
		fputs("# first cell\trow\tlast cell\tlabel\n", lanes->labels.stream);
	return rc;
}

int chart_lanes_finish(struct chart_lanes *lanes)
{
	int rc = 0;

	for (size_t i = 0; i < lanes->count && rc == 0; i++)
		rc = raster_finish(&lanes->items[i].raster);
	if (rc == 0 && lanes->is_text)
		put_cells(lanes);
	return rc;
}

int chart_lanes_close(struct chart_lanes *lanes, int rc, struct err *err)
{
	rc = chart_file_close(&lanes->labels, rc, err);
	return chart_file_close(&lanes->spans, rc, err);
}
