/* chart_roofline.c - FLOP/s by FLOP/byte, under the roofs of memory and arithmetic. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/paths.h"
#include "base/shell.h"
#include "charts/chart_colors.h"
#include "charts/chart_plane.h"
#include "output/points.h"

#define MOST_POINTS 24	/* kernels and graphs with most time; the others are counted in a note */
#define MOST_LEVELS 4	/* of them so many are shown at L2 and L1, too */
#define LEAST_APART 8.0 /* pixels: a mark at L2 nearer than that to the one at DRAM is left out */
#define LARGEST_RADIUS 15.0
#define LEAST_RADIUS 4.0
#define LABEL_SIZE (POINT_LABEL_SIZE + 32)
#define NOTE_LIMIT 140 /* of a line below the title */

/* What is drawn: the points that have a place, most time first. */
struct scene {
	const struct report *report;
	const struct roofline *roofline;
	const struct roofline_point *shown[MOST_POINTS];
	size_t shown_count, placeable_count;
	bool has_application, has_levels;
	double longest_ns;
};

static const enum plane_line level_lines[ROOF_MEMORY_END] = {
	[ROOF_dram] = PLANE_SOLID, [ROOF_l2] = PLANE_DASHED, [ROOF_l1] = PLANE_DOTTED};

/* Tensor types that often occur together have colors far apart. */
static int precision_color(int roof)
{
	static const int colors[ROOF_COMPUTE_END] = {
		[ROOF_fp64] = COLOR_KERNEL,
		[ROOF_fp32] = COLOR_KERNEL + 5,
		[ROOF_fp16] = COLOR_KERNEL + 2,
		[ROOF_tensor_fp64] = COLOR_KERNEL + 4,
		[ROOF_tensor_tf32] = COLOR_KERNEL + 1,
		[ROOF_tensor_bf16] = COLOR_KERNEL + 3,
		[ROOF_tensor_fp16] = COLOR_HTOD,
		[ROOF_tensor_fp8] = COLOR_GRAPH,
		[ROOF_tensor_int8] = COLOR_OTHER_COPY,
	};

	return roof < ROOF_COMPUTE_END ? colors[roof] : COLOR_OTHER_KERNEL;
}

/* The precision with most operations. */
static int dominant(const struct roofline_point *point)
{
	int best = ROOF_NONE;

	for (int i = ROOF_MEMORY_END; i < ROOF_COMPUTE_END; i++)
		if (point->quantities[i].total > 0 &&
		    (best == ROOF_NONE ||
		     point->quantities[i].total > point->quantities[best].total))
			best = i;
	return best;
}

static bool has_place(const struct roofline_point *point)
{
	return point->flop_per_s > 0 && point->intensity[ROOF_dram] > 0;
}

/* Kernels and graphs in one list, most time first. */
static const struct roofline_point *next_point(const struct roofline *roofline, size_t *kernel,
					       size_t *graph)
{
	const struct roofline_point *a =
		*kernel < roofline->kernel_count ? &roofline->kernels[*kernel] : NULL;
	const struct roofline_point *b =
		*graph < roofline->graph_count ? &roofline->graphs[*graph] : NULL;

	if (a && (!b || a->time_ns >= b->time_ns)) {
		++*kernel;
		return a;
	}
	*graph += b != NULL;
	return b;
}

static void collect(struct scene *scene, const struct report *report)
{
	const struct roofline_point *point;
	size_t kernel = 0, graph = 0;

	*scene = (struct scene){.report = report, .roofline = report->roofline};
	while ((point = next_point(report->roofline, &kernel, &graph))) {
		if (!has_place(point))
			continue;
		scene->placeable_count++;
		if (scene->shown_count < MOST_POINTS)
			scene->shown[scene->shown_count++] = point;
	}
	scene->has_application = has_place(&report->roofline->application);
	scene->longest_ns = scene->shown_count ? scene->shown[0]->time_ns : 0;
}

/* ---- ranges ---- */

/* Roofs of arithmetic that some work of the application is measured by; without work FP64 and FP32. */
static bool is_roof_shown(const struct scene *scene, int roof)
{
	bool is_used = scene->roofline->application.quantities[roof].total > 0;

	if (scene->roofline->roofs[roof] <= 0)
		return false;
	return is_used || (scene->roofline->application.flops <= 0 &&
			   (roof == ROOF_fp64 || roof == ROOF_fp32));
}

static double highest_roof(const struct scene *scene)
{
	double highest = 0;

	for (int i = ROOF_MEMORY_END; i < ROOF_COMPUTE_END; i++)
		if (is_roof_shown(scene, i))
			highest = fmax(highest, scene->roofline->roofs[i]);
	return highest;
}

static void widen(const struct roofline_point *point, double range[4])
{
	if (!has_place(point))
		return;
	range[0] = fmin(range[0], point->intensity[ROOF_dram]);
	range[1] = fmax(range[1], point->intensity[ROOF_dram]);
	range[2] = fmin(range[2], point->flop_per_s);
	range[3] = fmax(range[3], point->flop_per_s);
}

/* At most six decades either way: what does less arithmetic than that is drawn at the edge. */
static void fit(struct scene *scene, struct plane *plane)
{
	double roof = highest_roof(scene), bandwidth = scene->roofline->roofs[ROOF_dram];
	double range[4] = {0.5, 10, 1e12, 2e12};

	if (bandwidth > 0 && roof > 0) {
		range[1] = fmax(range[1], 4 * roof / bandwidth);
		range[3] = 2 * roof;
	}
	for (size_t i = 0; i < scene->shown_count; i++)
		widen(scene->shown[i], range);
	widen(&scene->roofline->application, range);
	plane_fit_log(&plane->x, fmax(range[0] / 1.5, range[1] / 1e6), 2 * range[1], 3);
	plane_fit_log(&plane->y, fmax(range[2] / 1.5, range[3] / 1e6), range[3] * 1.5, 3);
	plane->x.tick = plane_tick_number;
	plane->y.tick = plane_tick_flops;
	plane->angle = atan2(plane->y.length / log10(plane->y.high / plane->y.low),
			     plane->x.length / log10(plane->x.high / plane->x.low)) *
		       180 / M_PI;
}

/* ---- roofs ---- */

/* The part of a memory roof in the plot and below the roof of arithmetic; false when there is none. */
static bool find_memory_roof(const struct plane *plane, const struct scene *scene, int level,
			     double *x1, double *x2)
{
	double bandwidth = scene->roofline->roofs[level], roof = highest_roof(scene);

	if (bandwidth <= 0)
		return false;
	*x1 = fmax(plane->x.low, plane->y.low / bandwidth);
	*x2 = fmin(plane->x.high, (roof > 0 ? roof : plane->y.high) / bandwidth);
	return *x1 < *x2;
}

/* A roof of arithmetic begins where the fastest memory reaches it. */
static double compute_roof_start(const struct plane *plane, const struct scene *scene, int roof)
{
	double bandwidth = 0;

	for (int i = 0; i <= ROOF_l1; i++)
		bandwidth = fmax(bandwidth, scene->roofline->roofs[i]);
	return bandwidth > 0 ? fmax(plane->x.low, scene->roofline->roofs[roof] / bandwidth)
			     : plane->x.low;
}

static void put_roofs(struct plane *plane, const struct scene *scene)
{
	double x1, x2;

	for (int i = 0; i <= ROOF_l1; i++)
		if (find_memory_roof(plane, scene, i, &x1, &x2))
			plane_put_line(plane, x1, scene->roofline->roofs[i] * x1, x2,
				       scene->roofline->roofs[i] * x2, level_lines[i], 0);
	for (int i = ROOF_MEMORY_END; i < ROOF_COMPUTE_END; i++)
		if (is_roof_shown(scene, i))
			plane_put_line(plane, compute_roof_start(plane, scene, i),
				       scene->roofline->roofs[i], plane->x.high,
				       scene->roofline->roofs[i], PLANE_SOLID, precision_color(i));
}

static void put_roof_labels(struct plane *plane, const struct scene *scene)
{
	double x1, x2;

	for (int i = 0; i < ROOF_COMPUTE_END; i++) {
		enum roofline_roof roof = (enum roofline_roof)i;
		double value = scene->roofline->roofs[i];
		char text[80];

		snprintf(text, sizeof(text), "%s %s", roofline_roof_title(roof),
			 point_rate(roof, value).text);
		if (i <= ROOF_l1 && find_memory_roof(plane, scene, i, &x1, &x2))
			plane_put_rising_label(plane, x1, value * x1, x2, value * x2, text, 0);
		else if (i >= ROOF_MEMORY_END && is_roof_shown(scene, i))
			plane_put_level_label(plane, value, text, precision_color(i));
	}
}

/* ---- points ---- */

static double radius_of(const struct scene *scene, const struct roofline_point *point)
{
	return fmax(LEAST_RADIUS, LARGEST_RADIUS * sqrt(point->time_ns / scene->longest_ns));
}

static char letter_of(size_t index)
{
	return index < PLANE_LETTERS ? (char)('A' + index) : '.';
}

static bool is_level_shown(const struct plane *plane, const struct roofline_point *point, int level)
{
	double x = point->intensity[level];

	return x > 0 && !plane->is_text &&
	       fabs(plane_at(&plane->x, x) - plane_at(&plane->x, point->intensity[ROOF_dram])) >=
		       LEAST_APART;
}

/* The same work seen by the bytes of L2 and L1, on a thin line with the mark at DRAM. */
static void put_levels(struct plane *plane, struct scene *scene, const struct roofline_point *point)
{
	static const enum plane_mark marks[] = {
		[ROOF_l2] = PLANE_SQUARE, [ROOF_l1] = PLANE_TRIANGLE};

	for (int i = ROOF_l2; i <= ROOF_l1; i++) {
		if (!is_level_shown(plane, point, i))
			continue;
		plane_put_line(plane, point->intensity[ROOF_dram], point->flop_per_s,
			       point->intensity[i], point->flop_per_s, PLANE_THIN,
			       precision_color(dominant(point)));
		plane_put_mark(plane, point->intensity[i], point->flop_per_s, 4, marks[i],
			       precision_color(dominant(point)), '.');
		plane_take_mark(plane, point->intensity[i], point->flop_per_s, 5);
		scene->has_levels = true;
	}
}

static void put_points(struct plane *plane, struct scene *scene)
{
	const struct roofline_point *all = &scene->roofline->application;

	for (size_t i = 0; i < scene->shown_count && i < MOST_LEVELS; i++)
		put_levels(plane, scene, scene->shown[i]);
	for (size_t i = 0; i < scene->shown_count; i++) {
		const struct roofline_point *point = scene->shown[i];
		double x = point->intensity[ROOF_dram], radius = radius_of(scene, point);

		plane_put_mark(plane, x, point->flop_per_s, radius,
			       point->is_wrong ? PLANE_CROSS : PLANE_CIRCLE,
			       precision_color(dominant(point)), letter_of(i));
		plane_take_mark(plane, x, point->flop_per_s, radius);
	}
	if (!scene->has_application)
		return;
	plane_put_mark(plane, all->intensity[ROOF_dram], all->flop_per_s, PLANE_DIAMOND_RADIUS,
		       PLANE_DIAMOND, 0, '*');
	plane_take_mark(plane, all->intensity[ROOF_dram], all->flop_per_s, PLANE_DIAMOND_RADIUS);
}

/* ---- labels and notes ---- */

/* "triad 78%": of the roof that binds. */
static void describe(char buffer[LABEL_SIZE], const struct scene *scene,
		     const struct roofline_point *point, enum kernel_label width)
{
	const size_t size = LABEL_SIZE;
	char name[POINT_LABEL_SIZE];

	point_label(name, scene->report, point, width);
	if (point->is_wrong)
		snprintf(buffer, size, "%s: WRONG DATA", name);
	else if (point->binding != ROOF_NONE && point->binding_share < 0.01)
		snprintf(buffer, size, "%s <1%%", name);
	else if (point->binding != ROOF_NONE)
		snprintf(buffer, size, "%s %.0f%%", name, 100 * point->binding_share);
	else
		snprintf(buffer, size, "%s", name);
}

/* In as many columns as there is room for. */
static bool put_beside(struct plane *plane, const struct scene *scene,
		       const struct roofline_point *point)
{
	char text[LABEL_SIZE];

	for (enum kernel_label width = LABEL_COUNT; width-- > 0;) {
		describe(text, scene, point, width);
		if (plane_put_beside(plane, point->intensity[ROOF_dram], point->flop_per_s,
				     radius_of(scene, point), text))
			return true;
	}
	return false;
}

static void put_label(struct plane *plane, const struct scene *scene,
		      const struct roofline_point *point, size_t number)
{
	double x = point->intensity[ROOF_dram], radius = radius_of(scene, point);
	char text[LABEL_SIZE], note[LABEL_SIZE + 32];

	if (!plane->is_text && put_beside(plane, scene, point))
		return;
	describe(text, scene, point, plane->is_text ? LABEL_NARROW : LABEL_WIDE);
	if (plane->is_text) {
		snprintf(note, sizeof(note), "%c %s", letter_of(number - 1), text);
	} else {
		plane_put_number(plane, x, point->flop_per_s, radius, number);
		snprintf(note, sizeof(note), "%zu: %s", number, text);
	}
	plane_note(plane, plane->note_count == 0, note);
}

static void put_labels(struct plane *plane, const struct scene *scene)
{
	const struct roofline_point *all = &scene->roofline->application;

	if (scene->has_application && !plane->is_text)
		(void)plane_put_beside(plane, all->intensity[ROOF_dram], all->flop_per_s,
				       PLANE_DIAMOND_RADIUS, "application");
	for (size_t i = 0; i < scene->shown_count; i++)
		put_label(plane, scene, scene->shown[i], i + 1);
}

static void note_marks(struct plane *plane, const struct scene *scene)
{
	if (plane->is_text) {
		plane_note(plane, true, "* application");
		return;
	}
	plane_note(plane, true,
		   "Circle: a kernel or graph by its bytes of DRAM, area: its time, color: the "
		   "precision with most operations.  Diamond: application.");
	plane_note(plane, true,
		   "Percent: of the nearest roof, also those of shared memory and of the L2 atomic "
		   "unit.  A mark at an edge lies beyond it.");
	if (scene->has_levels)
		plane_note(plane, true,
			   "Square, triangle: the same by its bytes of L2 (roof dashed) and L1 "
			   "(roof dotted).");
}

/* What cannot be placed: no FLOPs, or not counted. */
static void note_absent(struct plane *plane, const struct scene *scene)
{
	const struct roofline *roofline = scene->roofline;
	size_t uncounted_count = 0, noted = 0;
	char text[LABEL_SIZE + 160], name[POINT_LABEL_SIZE];

	for (size_t i = 0; i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];
		const struct roofline_quantity *dram = &point->quantities[ROOF_dram];

		uncounted_count += !point->has_flops && dram->state != ROOFLINE_KNOWN;
		if (!point->has_flops || point->flops > 0 || dram->state != ROOFLINE_KNOWN ||
		    noted == 6)
			continue;
		point_label(name, scene->report, point, plane->is_text ? LABEL_NARROW : LABEL_WIDE);
		snprintf(text, sizeof(text), "%s%s %s%s%s", noted ? "" : "No FLOPs: ", name,
			 format_rate(dram->per_s).text, dram->share > 0 ? ", of DRAM's roof " : "",
			 dram->share > 0 ? format_percent(dram->share, 1).text : "");
		plane_note(plane, noted++ == 0, text);
	}
	snprintf(text, sizeof(text), "Not counted: %zu of %zu kernels.", uncounted_count,
		 roofline->kernel_count);
	if (uncounted_count)
		plane_note(plane, true, text);
	snprintf(text, sizeof(text), "Not shown: %zu kernels with less time.",
		 scene->placeable_count - scene->shown_count);
	if (scene->placeable_count > scene->shown_count)
		plane_note(plane, !uncounted_count, text);
}

/* ---- titles ---- */

static void set_titles(struct chart_file *file, const struct scene *scene)
{
	const struct roofline_point *all = &scene->roofline->application;
	const char *note = scene->report->ceilings_note;
	char title[256];

	if (all->is_wrong)
		snprintf(title, sizeof(title), "WRONG DATA: %s above its roof",
			 roofline_roof_title(all->binding));
	else if (all->binding != ROOF_NONE)
		snprintf(title, sizeof(title), "%s: %s and %s, %s of the %s roof",
			 roofline_regime_title(all->regime),
			 format_per_s(all->flop_per_s, "FLOP/s").text,
			 format_rate(all->quantities[ROOF_dram].per_s).text,
			 format_percent(all->binding_share, 1).text,
			 roofline_roof_title(all->binding));
	else
		snprintf(title, sizeof(title), "%s and %s",
			 format_per_s(all->flop_per_s, "FLOP/s").text,
			 format_rate(all->quantities[ROOF_dram].per_s).text);
	chart_set_text(file, "chart_title", title);
	snprintf(title, sizeof(title), "%sroofs: %.*s",
		 scene->shown_count ? "rates while kernels run; " : "", NOTE_LIMIT,
		 note ? note : "none");
	chart_set_text(file, "chart_subtitle", title);
}

static int write_settings(struct plane *plane, const struct scene *scene, const char *folder,
			  struct err *err)
{
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "roofline.gp", err);

	if (rc < 0)
		return rc;
	set_titles(&file, scene);
	plane_settings(plane, &file, folder, "FLOP/byte of memory traffic",
		       "operations per second");
	return chart_file_close(&file, 0, err);
}

/* A roofline without a point says nothing. */
static int tell_missing(const struct scene *scene, struct err *err)
{
	const struct profile *profile = scene->report->profile;
	const char *options = scene->report->part.options;

	if (!profile->counter_count && !profile_is_nvidias(profile))
		return err_set(err, -ENODATA,
			       "%s has no counters, which are of NVIDIA's GPUs alone",
			       profile->path);
	if (!profile->counter_count)
		return err_set(
			err, -ENODATA,
			"%s has no counters; record them with: rooflinectl record --counters "
			"-- PROGRAM",
			profile->path);
	return err_set(
		err, -ENODATA,
		"no kernel that was counted has FLOPs; its bytes are in: rooflinectl report %s%s "
		"--section roofline",
		options ? options : "", shell_path_text(path_named(profile->path)).text);
}

int chart_roofline(const struct report *report, const struct chart_options *options,
		   const char *folder, struct err *err)
{
	struct scene scene;
	struct plane plane;
	int rc;

	collect(&scene, report);
	if (!scene.shown_count && !scene.has_application)
		return tell_missing(&scene, err);
	rc = plane_open(&plane, options, folder, err);
	if (rc == 0) {
		fit(&scene, &plane);
		plane_put_tics(&plane);
		put_roofs(&plane, &scene);
		put_points(&plane, &scene);
		put_roof_labels(&plane, &scene);
		put_labels(&plane, &scene);
		note_marks(&plane, &scene);
		note_absent(&plane, &scene);
	}
	rc = plane_close(&plane, rc, err);
	return rc < 0 ? rc : write_settings(&plane, &scene, folder, err);
}
