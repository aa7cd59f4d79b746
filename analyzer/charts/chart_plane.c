#include "charts/chart_plane.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "charts/text_width.h"

/* The plot without its margins, which plots/plane.gp knows. */
#define PICTURE_WIDTH 1036
#define PICTURE_HEIGHT 470
#define TEXT_LEFT 13
#define TEXT_HEIGHT 20
#define PICTURE_NOTE_WIDTH 1152
#define NOTE_SPACE "   " /* between two notes of a line */

/* ---- axes ---- */

void plane_fit_log(struct plane_axis *axis, double low, double high, int least_decades)
{
	double first = floor(log10(low) + 1e-9), last = log10(high);

	axis->is_log = true;
	axis->low = pow(10, first);
	axis->high = pow(10, fmax(last, first + least_decades));
}

double plane_at(const struct plane_axis *axis, double value)
{
	double share;

	if (axis->is_log)
		share = value > 0 ? log(value / axis->low) / log(axis->high / axis->low) : 0;
	else
		share = (value - axis->low) / (axis->high - axis->low);
	return axis->is_cells ? round(share * axis->length) : share * axis->length;
}

static double within(double position, double length)
{
	return fmax(0, fmin(position, length));
}

static void put_tic(const struct plane_axis *axis, FILE *out, double value)
{
	fprintf(out, "%.9g\t%s\n", plane_at(axis, value), axis->tick(value).text);
}

#define MOST_DECADES 640 /* that doubles have; a quotient of two may be infinite */

/* Decades, of a long axis every second or third; of a linear one every fifth. */
static void put_axis(const struct plane_axis *axis, FILE *out, double room)
{
	double decades =
		axis->is_log ? fmin(floor(log10(axis->high / axis->low) + 1e-9), MOST_DECADES) : 5;
	int step = 1;

	while (decades / step * room > axis->length)
		step++;
	fputs("# position\tlabel\n", out);
	for (int i = 0; i <= (int)decades; i += step)
		put_tic(axis, out,
			axis->is_log ? axis->low * pow(10, i)
				     : axis->low + i * (axis->high - axis->low) / decades);
}

void plane_put_tics(struct plane *plane)
{
	put_axis(&plane->x, plane->xtics.stream, plane->is_text ? 9 : 70);
	put_axis(&plane->y, plane->ytics.stream, plane->is_text ? 2 : 30);
}

static struct figure tick(double value, const char *const *prefixes, size_t prefix_count,
			  const char *unit)
{
	struct figure figure;
	size_t i = 0;

	for (; i + 1 < prefix_count && value >= 999.5; i++)
		value /= 1000;
	snprintf(figure.text, sizeof(figure.text), "%.3g %s%s", value, prefixes[i], unit);
	return figure;
}

struct figure plane_tick_ns(double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};

	return tick(ns, units, 4, "");
}

struct figure plane_tick_flops(double flop_per_s)
{
	static const char *const prefixes[] = {"", "K", "M", "G", "T", "P"};

	return tick(flop_per_s, prefixes, 6, "FLOP/s");
}

struct figure plane_tick_number(double number)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.6g", number);
	return figure;
}

struct figure plane_tick_count(double count)
{
	static const char *const prefixes[] = {"", "thousand", "million", "billion", "trillion"};

	return tick(count, prefixes, 5, "");
}

struct figure plane_tick_percent(double share)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.0f%%", 100 * share);
	return figure;
}

static const char *const byte_prefixes[] = {"", "K", "M", "G", "T"};

struct figure plane_tick_bytes(double bytes)
{
	return tick(bytes, byte_prefixes, 5, "B");
}

struct figure plane_tick_rate(double byte_per_s)
{
	return tick(byte_per_s, byte_prefixes, 5, "B/s");
}

/* ---- files ---- */

int plane_open(struct plane *plane, const struct chart_options *options, const char *folder,
	       struct err *err)
{
	const struct {
		struct chart_file *file;
		const char *name, *heads;
	} files[] = {
		{&plane->xtics, "xtics.dat", ""},
		{&plane->ytics, "ytics.dat", ""},
		{&plane->lines, "lines.dat", "# x\ty\tline\tcolor\n"},
		{&plane->marks, "marks.dat", "# x\ty\tradius\tmark\tcolor\tletter\n"},
		{&plane->labels, "labels.dat", "# x\ty\tcolor\ttext\n"},
		{&plane->rising, "rising.dat", "# x\ty\tcolor\ttext\n"},
	};
	int rc = 0;

	memset(plane, 0, sizeof(*plane));
	plane->is_text = options->text_columns > 0;
	plane->x.length = plane->is_text ? options->text_columns - TEXT_LEFT - 2 : PICTURE_WIDTH;
	plane->x.is_cells = plane->y.is_cells = plane->is_text;
	plane->y.length = plane->is_text ? TEXT_HEIGHT : PICTURE_HEIGHT;
	plane->note_room = plane->is_text ? options->text_columns - 1 : PICTURE_NOTE_WIDTH;
	label_layout_init(&plane->layout, plane->x.length, plane->y.length);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && rc == 0; i++) {
		rc = chart_file_open(files[i].file, folder, files[i].name, err);
		if (rc == 0)
			fputs(files[i].heads, files[i].file->stream);
	}
	return rc;
}

int plane_close(struct plane *plane, int rc, struct err *err)
{
	rc = chart_file_close(&plane->xtics, rc, err);
	rc = chart_file_close(&plane->ytics, rc, err);
	rc = chart_file_close(&plane->lines, rc, err);
	rc = chart_file_close(&plane->marks, rc, err);
	rc = chart_file_close(&plane->labels, rc, err);
	return chart_file_close(&plane->rising, rc, err);
}

/* ---- lines and marks ---- */

void plane_put_curve(struct plane *plane, double x, double y, enum plane_line line, int color)
{
	fprintf(plane->lines.stream, "%.9g\t%.9g\t%d\t%d\n", plane_at(&plane->x, x),
		plane_at(&plane->y, y), (int)line, color);
}

void plane_end_curve(struct plane *plane)
{
	fputc('\n', plane->lines.stream);
}

void plane_put_line(struct plane *plane, double x1, double y1, double x2, double y2,
		    enum plane_line line, int color)
{
	plane_put_curve(plane, x1, y1, line, color);
	plane_put_curve(plane, x2, y2, line, color);
	plane_end_curve(plane);
	label_cross(&plane->layout,
		    (struct label_segment){plane_at(&plane->x, x1), plane_at(&plane->y, y1),
					   plane_at(&plane->x, x2), plane_at(&plane->y, y2)});
}

void plane_put_mark(struct plane *plane, double x, double y, double radius, enum plane_mark mark,
		    int color, char letter)
{
	fprintf(plane->marks.stream, "%.9g\t%.9g\t%.3g\t%d\t%d\t%c\n",
		within(plane_at(&plane->x, x), plane->x.length),
		within(plane_at(&plane->y, y), plane->y.length), radius, (int)mark, color, letter);
}

void plane_take_mark(struct plane *plane, double x, double y, double radius)
{
	if (plane->is_text)
		radius = 0.5; /* a letter */
	label_take_mark(&plane->layout,
			label_around(within(plane_at(&plane->x, x), plane->x.length),
				     within(plane_at(&plane->y, y), plane->y.length), radius,
				     radius));
}

/* ---- labels ---- */

/* Two files, because gnuplot 5.4 may crash on labels of which it has to leave out all. */
static void put_label(struct chart_file *file, double x, double y, int color, const char *text)
{
	fprintf(file->stream, "%.9g\t%.9g\t%d\t", x, y, color);
	chart_put_text(file, text);
	fputc('\n', file->stream);
}

static double width_of(const struct plane *plane, const char *text)
{
	return text_extent(text, plane->is_text);
}

static double text_height(const struct plane *plane)
{
	return plane->is_text ? 1 : PLANE_TEXT_HEIGHT;
}

static void put_in_box(struct plane *plane, struct label_box box, int color, const char *text)
{
	put_label(&plane->labels, box.left, (box.bottom + box.top) / 2, color, text);
}

bool plane_put_beside(struct plane *plane, double x, double y, double radius, const char *text)
{
	struct label_box box;

	if (!label_beside(&plane->layout, within(plane_at(&plane->x, x), plane->x.length),
			  within(plane_at(&plane->y, y), plane->y.length), radius,
			  width_of(plane, text), text_height(plane), &box))
		return false;
	put_in_box(plane, box, 0, text);
	return true;
}

/* The label's white ground covers its end. */
static void put_leader(struct plane *plane, double x, double y, struct label_box box)
{
	fprintf(plane->lines.stream, "%.9g\t%.9g\t%d\t0\n%.9g\t%.9g\t%d\t0\n\n", x, y,
		(int)PLANE_LEADER, (box.left + box.right) / 2, (box.bottom + box.top) / 2,
		(int)PLANE_LEADER);
}

void plane_put_number(struct plane *plane, double x, double y, double radius, size_t number)
{
	double at_x = within(plane_at(&plane->x, x), plane->x.length);
	double at_y = within(plane_at(&plane->y, y), plane->y.length);
	double margin = plane->is_text ? 0 : 3; /* or 7 and 14 read as 714 */
	struct label_box box;
	bool is_beside;
	char text[24];

	snprintf(text, sizeof(text), "%zu", number);
	box = label_near(&plane->layout, at_x, at_y, radius, width_of(plane, text) + 2 * margin,
			 text_height(plane), &is_beside);
	box.left += margin;
	if (!is_beside && !plane->is_text)
		put_leader(plane, at_x, at_y, box);
	put_in_box(plane, box, 0, text);
}

void plane_put_level_label(struct plane *plane, double y, const char *text, int color)
{
	double width = width_of(plane, text), height = text_height(plane);
	double level = plane_at(&plane->y, y), step = width + (plane->is_text ? 2 : 16);
	struct label_box places[8];

	for (int i = 0; i < 8; i++) {
		int column = i / 2; /* from the right */
		double right = plane->x.length - column * step;
		double away = plane->is_text ? 0.5 : 2;
		double bottom = i % 2 ? level - height - away : level + away;

		places[i] = (struct label_box){right - width, bottom, right, bottom + height};
	}
	put_in_box(plane, label_first(&plane->layout, places, 8), color, text);
}

/* A slanting text as a row of small boxes; returns how many obstacles lie under it. */
static size_t visit_rising(struct plane *plane, double middle_x, double middle_y, double half,
			   bool is_taking)
{
	double turn = plane->is_text ? 0 : plane->angle * M_PI / 180;
	double size = plane->is_text ? 0.5 : 8;
	int count = (int)(half / size) + 1;
	size_t overlaps = 0;

	for (int i = 0; i < count; i++) {
		double along = -half + (i + 0.5) * 2 * half / count;
		struct label_box box = label_around(middle_x + along * cos(turn),
						    middle_y + along * sin(turn), size, size);

		overlaps += label_overlaps(&plane->layout, &box);
		if (is_taking)
			label_take(&plane->layout, box);
	}
	return overlaps;
}

void plane_put_rising_label(struct plane *plane, double x1, double y1, double x2, double y2,
			    const char *text, int color)
{
	static const double shares[] = {0.3, 0.45, 0.6, 0.2, 0.75};
	double turn = plane->angle * M_PI / 180, half = width_of(plane, text) / 2;
	double away = plane->is_text ? 0 : 11, best_x = 0, best_y = 0;
	size_t least = (size_t)-1;

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		double x = plane_at(&plane->x, x1) +
			   shares[i] * (plane_at(&plane->x, x2) - plane_at(&plane->x, x1)) -
			   away * sin(turn);
		double row = plane_at(&plane->y, y1) +
			     shares[i] * (plane_at(&plane->y, y2) - plane_at(&plane->y, y1)) +
			     away * cos(turn);
		double y = plane->is_text ? round(row) : row;
		size_t overlaps;

		x = fmax(half + plane->is_text, fmin(x, plane->x.length - half));
		overlaps = visit_rising(plane, x, y, half, false);
		if (overlaps >= least)
			continue;
		least = overlaps;
		best_x = x;
		best_y = y;
	}
	(void)visit_rising(plane, best_x, best_y, half, true);
	if (plane->is_text)
		put_label(&plane->labels, best_x - half, best_y, color, text);
	else
		put_label(&plane->rising, best_x, best_y, color, text);
}

void plane_put_upright_label(struct plane *plane, double x, const char *text, int color)
{
	double at = plane_at(&plane->x, x), away = plane->is_text ? 1 : 5;
	double width = width_of(plane, text), height = text_height(plane);
	double right = at + away + width > plane->x.length ? plane->x.length - width : at + away;
	struct label_box places[8];

	for (int i = 0; i < 8; i++) {
		int line = i / 2; /* from the top, right and left of it */
		double top = plane->y.length - (plane->is_text ? 0.5 : 2) - line * (height + 2);
		double from = i % 2 ? at - away - width : right;

		places[i] = (struct label_box){from, top - height, from + width, top};
	}
	put_in_box(plane, label_first(&plane->layout, places, 8), color, text);
}

/* ---- notes and settings ---- */

/* Of a line of notes for another. */
static bool has_room(const struct plane *plane, const char *line, const char *text)
{
	return width_of(plane, line) + width_of(plane, NOTE_SPACE) + width_of(plane, text) <=
		       plane->note_room &&
	       strlen(line) + strlen(NOTE_SPACE) + strlen(text) < sizeof(plane->notes[0]);
}

void plane_note(struct plane *plane, bool is_new_line, const char *text)
{
	char *last = plane->note_count ? plane->notes[plane->note_count - 1] : NULL;
	size_t used = last ? strlen(last) : 0;

	if (last && !is_new_line && has_room(plane, last, text)) {
		snprintf(last + used, sizeof(plane->notes[0]) - used, NOTE_SPACE "%s", text);
		return;
	}
	if (plane->note_count < PLANE_NOTES)
		snprintf(plane->notes[plane->note_count++], sizeof(plane->notes[0]), "%s", text);
}

void plane_settings(struct plane *plane, struct chart_file *file, const char *folder,
		    const char *x_title, const char *y_title)
{
	static const char *const data[] = {"xtics", "ytics", "lines", "marks", "labels", "rising"};

	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
		chart_set_data(file, data[i], folder);
	chart_set_text(file, "x_title", x_title);
	chart_set_text(file, "y_title", y_title);
	chart_set_number(file, "plot_width", plane->x.length);
	chart_set_number(file, "plot_height", plane->y.length);
	chart_set_number(file, "rising_angle", plane->angle);
	chart_set_number(file, "note_count", (double)plane->note_count);
	fprintf(file->stream, "array note_text[%d]\n", PLANE_NOTES);
	for (size_t i = 0; i < plane->note_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "note_text[%zu]", i + 1);
		chart_set_text(file, name, plane->notes[i]);
	}
}
