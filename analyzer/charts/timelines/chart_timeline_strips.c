/* chart_timeline_strips.c - the strips of samples of a timeline, as areas and lines or as characters. */
#include <errno.h>

#include "charts/timelines/chart_timeline.h"

#define STRIP_COLUMNS 1000 /* a line that goes up and down within a pixel is a blot */

static void put_area(struct timeline_chart *chart, const struct strip *strip,
		     const struct strip_place *place, bool is_part, int color)
{
	if (chart->area_count)
		fputs("\n\n", chart->areas.stream);
	fputs("# time\ty\n", chart->areas.stream);
	strip_put_area(&chart->areas, strip, place, is_part);
	chart->area_colors[chart->area_count++] = color;
}

static void draw_strip(struct timeline_chart *chart, const struct chart_lane *lane,
		       const struct strip *strip)
{
	const struct chart_row *row = &chart->rows.rows[lane->row];
	const struct chart_strip_style *style = chart_strip_style(row->strip);
	const struct strip_place place = {.zero_y = chart_lane_y(lane, 0),
					  .full_y = chart_lane_y(lane, 1),
					  .full = chart->scales.full[row->strip],
					  .origin_ns = chart->picture.origin_ns,
					  .unit_ns = chart->picture.unit->ns};

	chart->unsampled_count += strip_put_unsampled(&chart->unsampled, strip, &place);
	put_area(chart, strip, &place, false, style->rest_color);
	if (chart_strip_has_part(&chart->report->profile->devices[row->device], row->strip)) {
		put_area(chart, strip, &place, true, style->part_color);
		chart->picture.colors_seen[style->part_color] = true;
	}
	strip_put_peaks(&chart->peaks, strip, &place, style->part_color);
}

static void put_strip_cells(struct timeline_chart *chart, const struct chart_lane *lane,
			    const struct strip *strip)
{
	const struct chart_row *row = &chart->rows.rows[lane->row];

	for (int i = 0; i < strip->column_count; i++) {
		const struct strip_column *column = &strip->columns[i];
		const char *character = strip_character(column, chart->scales.full[row->strip]);

		chart->unsampled_count += !column->sampled_ns;
		if (*character)
			fprintf(chart->picture.spans.stream, "%.9g\t%zu\t%d\t%s\n",
				(i + 0.5) * chart->picture.columns / strip->column_count, lane->row,
				column->sampled_ns ? row->color : COLOR_OTHER_KERNEL, character);
	}
}

static int add_strip(struct timeline_chart *chart, const struct chart_lane *lane)
{
	const struct chart_row *row = &chart->rows.rows[lane->row];
	struct strip strip;
	int rc;

	if (strip_open(&strip, chart->picture.from_ns, chart->picture.to_ns,
		       chart->picture.is_text ? chart->picture.columns : STRIP_COLUMNS) < 0)
		return -ENOMEM;
	rc = chart_strip_fill(&strip, chart->report->profile, &chart->scales, row->device,
			      row->strip);
	if (chart->picture.is_text)
		put_strip_cells(chart, lane, &strip);
	else
		draw_strip(chart, lane, &strip);
	strip_close(&strip);
	return rc;
}

int chart_timeline_add_strips(struct timeline_chart *chart)
{
	int rc = 0;

	for (size_t i = 0; i < chart->rows.count && rc == 0; i++)
		if (chart->rows.rows[i].kind == ROW_STRIP)
			rc = add_strip(chart, &chart->picture.items[i]);
	return rc;
}
