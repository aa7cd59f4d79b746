/* chart_launch_roofline.c - how much of the time kernels of a length keep the GPU busy. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "charts/chart_colors.h"
#include "charts/chart_plane.h"
#include "output/points.h"

#define MOST_POINTS 24
#define CURVE_POINTS 200
#define CURVE_CHORDS 12
#define LEAST_LOST_SHARE \
	0.02 /* of the most idle time after a kernel: those below go without a name */
#define LARGEST_RADIUS 18.0
#define LEAST_RADIUS 4.0
#define LABEL_SIZE (POINT_LABEL_SIZE + 64)

struct scene {
	const struct report *report;
	const struct roofline *roofline;
	const struct roofline_point *shown[MOST_POINTS]; /* most time lost first */
	size_t shown_count;
	bool has_graph_nodes;
};

static bool has_place(const struct roofline_point *point)
{
	return point->launch.launch_count && point->launch.duration_ns > 0;
}

/* Keeps the list in order and drops what falls off its end. */
static void insert(struct scene *scene, const struct roofline_point *point)
{
	size_t i = scene->shown_count < MOST_POINTS ? scene->shown_count++ : MOST_POINTS;

	for (; i > 0 && point->launch.lost_ns > scene->shown[i - 1]->launch.lost_ns; i--)
		if (i < MOST_POINTS)
			scene->shown[i] = scene->shown[i - 1];
	if (i < MOST_POINTS)
		scene->shown[i] = point;
}

static void collect(struct scene *scene, const struct report *report)
{
	const struct roofline_point *point;

	*scene = (struct scene){.report = report, .roofline = report->roofline};
	for (size_t i = 1; (point = point_at(report, i)); i++) {
		if (!has_place(point))
			continue;
		insert(scene, point);
		if (point_kind(report, point) == POINT_KERNEL &&
		    point->launch.roof_period_ns < 0.99 * report->roofline->launch_period_ns)
			scene->has_graph_nodes = report->roofline->graph_node_ns > 0;
	}
}

static void fit(const struct scene *scene, struct plane *plane)
{
	double low = 1e3, high = 1e5;

	if (scene->roofline->launch_period_ns > 0)
		low = fmin(low, scene->roofline->launch_period_ns / 4);
	for (size_t i = 0; i < scene->shown_count; i++) {
		low = fmin(low, scene->shown[i]->launch.duration_ns);
		high = fmax(high, scene->shown[i]->launch.duration_ns);
	}
	plane_fit_log(&plane->x, low / 1.2, high * 1.2, 2);
	plane->x.tick = plane_tick_ns;
	plane->y.low = 0;
	plane->y.high = 1.08;
	plane->y.tick = plane_tick_percent;
}

/* 0% to 100% in steps of 20: the axis ends above so that the roof has air. */
static void put_tics(struct plane *plane)
{
	double high = plane->y.high, length = plane->y.length;

	plane->y.high = 1;
	plane->y.length = length / high;
	plane_put_tics(plane);
	plane->y.high = high;
	plane->y.length = length;
}

/* The curve as an obstacle for labels: chords up to where it bends, then the level part. */
static void cross_curve(struct plane *plane, double period_ns)
{
	for (int i = 0; i < CURVE_CHORDS; i++) {
		double x1 = plane->x.low * pow(period_ns / plane->x.low, (double)i / CURVE_CHORDS);
		double x2 = plane->x.low * pow(period_ns / plane->x.low, (i + 1.0) / CURVE_CHORDS);

		label_cross(&plane->layout,
			    (struct label_segment){plane_at(&plane->x, x1),
						   plane_at(&plane->y, x1 / period_ns),
						   plane_at(&plane->x, x2),
						   plane_at(&plane->y, x2 / period_ns)});
	}
	label_cross(&plane->layout,
		    (struct label_segment){plane_at(&plane->x, period_ns), plane_at(&plane->y, 1),
					   plane->x.length, plane_at(&plane->y, 1)});
}

/* d / max(d, p), and where it bends. */
static void put_roof(struct plane *plane, double period_ns, enum plane_line line)
{
	if (period_ns <= 0)
		return;
	for (int i = 0; i <= CURVE_POINTS; i++) {
		double d = plane->x.low * pow(period_ns / plane->x.low, (double)i / CURVE_POINTS);

		plane_put_curve(plane, d, d / period_ns, line, 0);
	}
	plane_put_curve(plane, plane->x.high, 1, line, 0);
	plane_end_curve(plane);
	cross_curve(plane, period_ns);
	plane_put_line(plane, period_ns, 0, period_ns, plane->y.high, PLANE_GUIDE, 0);
}

static void put_roof_label(struct plane *plane, double period_ns, const char *what)
{
	char text[96];

	if (period_ns <= 0)
		return;
	snprintf(text, sizeof(text), "%s %s", what, format_ns(period_ns).text);
	plane_put_upright_label(plane, period_ns, text, 0);
}

/* Labels come last: they keep off every line. */
static void put_roofs(struct plane *plane, const struct scene *scene)
{
	double node_ns = scene->has_graph_nodes ? scene->roofline->graph_node_ns : 0;

	put_roof(plane, scene->roofline->launch_period_ns, PLANE_SOLID);
	put_roof(plane, node_ns, PLANE_DASHED);
	put_roof_label(plane, scene->roofline->launch_period_ns, "empty kernel every");
	put_roof_label(plane, node_ns, "in graphs every");
}

static double radius_of(const struct scene *scene, const struct roofline_point *point)
{
	double most_ns = scene->shown[0]->launch.lost_ns;

	return fmax(LEAST_RADIUS,
		    most_ns > 0 ? LARGEST_RADIUS * sqrt(point->launch.lost_ns / most_ns) : 0);
}

static void put_points(struct plane *plane, const struct scene *scene)
{
	const struct roofline_launch *all = &scene->roofline->application.launch;

	for (size_t i = 0; i < scene->shown_count; i++) {
		const struct roofline_point *point = scene->shown[i];
		bool is_graph = point_kind(scene->report, point) == POINT_GRAPH;
		double radius = radius_of(scene, point);

		plane_put_mark(plane, point->launch.duration_ns, point->launch.busy_share, radius,
			       is_graph ? PLANE_RING : PLANE_CIRCLE,
			       is_graph ? COLOR_GRAPH : COLOR_KERNEL, (char)('A' + (int)i));
		plane_take_mark(plane, point->launch.duration_ns, point->launch.busy_share, radius);
	}
	if (!has_place(&scene->roofline->application))
		return;
	plane_put_mark(plane, all->duration_ns, all->busy_share, PLANE_DIAMOND_RADIUS,
		       PLANE_DIAMOND, 0, '*');
	plane_take_mark(plane, all->duration_ns, all->busy_share, PLANE_DIAMOND_RADIUS);
}

static void describe(char text[LABEL_SIZE], const struct scene *scene,
		     const struct roofline_point *point, enum kernel_label width)
{
	char name[POINT_LABEL_SIZE];

	point_label(name, scene->report, point, width);
	snprintf(text, LABEL_SIZE, "%s, %s idle", name, format_ns(point->launch.lost_ns).text);
}

/* In as many columns as there is room for. */
static bool put_beside(struct plane *plane, const struct scene *scene,
		       const struct roofline_point *point)
{
	char text[LABEL_SIZE];

	for (enum kernel_label width = LABEL_COUNT; width-- > 0;) {
		describe(text, scene, point, width);
		if (plane_put_beside(plane, point->launch.duration_ns, point->launch.busy_share,
				     radius_of(scene, point), text))
			return true;
	}
	return false;
}

static void put_label(struct plane *plane, const struct scene *scene,
		      const struct roofline_point *point, size_t number)
{
	const struct roofline_launch *launch = &point->launch;
	char text[LABEL_SIZE], note[LABEL_SIZE + 32];

	if (!plane->is_text && put_beside(plane, scene, point))
		return;
	describe(text, scene, point, plane->is_text ? LABEL_NARROW : LABEL_WIDE);
	if (plane->is_text) {
		snprintf(note, sizeof(note), "%c %s", (char)('A' + (int)number - 1), text);
	} else {
		plane_put_number(plane, launch->duration_ns, launch->busy_share,
				 radius_of(scene, point), number);
		snprintf(note, sizeof(note), "%zu: %s", number, text);
	}
	plane_note(plane, plane->note_count == 0, note);
}

static void put_labels(struct plane *plane, const struct scene *scene)
{
	const struct roofline_launch *all = &scene->roofline->application.launch;
	char text[64];

	if (has_place(&scene->roofline->application) && !plane->is_text)
		(void)plane_put_beside(plane, all->duration_ns, all->busy_share,
				       PLANE_DIAMOND_RADIUS, "application");
	for (size_t i = 0; i < scene->shown_count; i++) {
		if (scene->shown[i]->launch.lost_ns <
		    LEAST_LOST_SHARE * scene->shown[0]->launch.lost_ns) {
			snprintf(text, sizeof(text), "Without a name: %zu with less idle time.",
				 scene->shown_count - i);
			plane_note(plane, plane->note_count == 0, text);
			return;
		}
		put_label(plane, scene, scene->shown[i], i + 1);
	}
}

static void note_marks(struct plane *plane, const struct scene *scene)
{
	plane_note(plane, true,
		   plane->is_text ? "* application"
				  : "Circle: a kernel, ring: a whole graph, area: idle time after "
				    "all of its launches.  Diamond: application.");
	if (scene->roofline->launch_period_ns > 0 && !plane->is_text)
		plane_note(plane, true,
			   "Line: the most that launches one after another allow.  Points above "
			   "it ran beside other kernels or as nodes of graphs.");
}

static void set_titles(struct chart_file *file, const struct scene *scene)
{
	const struct roofline_launch *all = &scene->roofline->application.launch;
	const char *note = scene->report->ceilings_note;
	const char *unknown =
		profile_is_nvidias(scene->report->profile)
			? "what launch overhead allows is not measured: rooflinectl ceilings"
			: "what launch overhead allows is not measured";
	char text[640], name[POINT_LABEL_SIZE];

	snprintf(text, sizeof(text), "kernels of %s run for %s of the time",
		 format_ns(all->duration_ns).text, format_percent(all->busy_share, 1).text);
	if (all->roof_share > 0)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 ", launch overhead allows %s", format_percent(all->roof_share, 1).text);
	chart_set_text(file, "chart_title", text);
	point_label(name, scene->report, scene->shown[0], LABEL_WIDE);
	snprintf(text, sizeof(text), "most idle time after %s, %s; %s", name,
		 format_ns(scene->shown[0]->launch.lost_ns).text,
		 scene->roofline->launch_period_ns > 0 ? (note ? note : "") : unknown);
	chart_set_text(file, "chart_subtitle", text);
}

int chart_launch_roofline(const struct report *report, const struct chart_options *options,
			  const char *folder, struct err *err)
{
	struct chart_file file;
	struct scene scene;
	struct plane plane;
	int rc;

	collect(&scene, report);
	if (!scene.shown_count)
		return err_set(err, -ENODATA, "%s has no launch of a kernel",
			       report->profile->path);
	rc = plane_open(&plane, options, folder, err);
	if (rc == 0) {
		fit(&scene, &plane);
		put_tics(&plane);
		put_roofs(&plane, &scene);
		put_points(&plane, &scene);
		put_labels(&plane, &scene);
		note_marks(&plane, &scene);
	}
	rc = plane_close(&plane, rc, err);
	if (rc == 0)
		rc = chart_file_open(&file, folder, "launch_roofline.gp", err);
	if (rc < 0)
		return rc;
	set_titles(&file, &scene);
	plane_settings(&plane, &file, folder, "duration of a kernel",
		       "share of the time that the GPU was busy");
	return chart_file_close(&file, 0, err);
}
