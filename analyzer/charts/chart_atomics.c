/* chart_atomics.c - the time of kernels by their atomics, and what one address or many would take. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/counters/atomics.h"
#include "charts/chart_colors.h"
#include "charts/chart_plane.h"
#include "output/points.h"

#define MOST_POINTS 24
#define LARGEST_RADIUS 16.0
#define LEAST_RADIUS 4.0
#define LABEL_SIZE (POINT_LABEL_SIZE + 64)

struct scene {
	const struct report *report;
	const struct atomics_kernel *shown[MOST_POINTS];
	size_t shown_count;
	size_t shared_count; /* kernels whose atomics stay in shared memory: they never reach L2 */
	double longest_ns;
};

/* Patterns whose rate was measured.  The lanes of a warp had neighboring addresses of 4 bytes where there
 * are enough: 8 of them lie in a sector, which the atomic unit takes in one cycle. */
static const struct pattern {
	uint64_t addresses;
	double ops_per_cycle;
	enum plane_line line;
	const char *name;
} patterns[] = {
	{1, 1, PLANE_SOLID, "one address"},
	{1024, 8, PLANE_DASHED, "1,024 neighboring addresses"},
	{1 << 20, 8, PLANE_DOTTED, "addresses far apart"},
};

#define PATTERN_COUNT (sizeof(patterns) / sizeof(patterns[0]))

static bool has_place(const struct atomics_kernel *kernel)
{
	return kernel->unit_cycles > 0 && kernel->duration_ns > 0;
}

static void collect(struct scene *scene, const struct report *report)
{
	const struct atomics *atomics = report->atomics;

	*scene = (struct scene){.report = report};
	for (size_t i = 0; i < atomics->kernel_count; i++) {
		const struct atomics_kernel *kernel = &atomics->kernels[i];

		scene->shared_count += kernel->unit_cycles <= 0 && kernel->shared_instructions > 0;
		if (!has_place(kernel) || scene->shown_count == MOST_POINTS)
			continue;
		scene->shown[scene->shown_count++] = kernel;
		scene->longest_ns = fmax(scene->longest_ns, kernel->time_ns);
	}
}

/* Nanoseconds that a cycle's work takes in this pattern at least; 0 when that was not measured. */
static double cycle_ns(const struct scene *scene, const struct pattern *pattern)
{
	const struct ceiling *row = scene->report->ceilings
					    ? ceilings_get(scene->report->ceilings,
							   CEILING_atomic_add, pattern->addresses)
					    : NULL;

	return row && row->value > 0 ? 1e9 * pattern->ops_per_cycle / row->value : 0;
}

static void fit(const struct scene *scene, struct plane *plane)
{
	double low = 1e5, high = 1e6, low_ns = 1e4, high_ns = 1e6;

	for (size_t i = 0; i < scene->shown_count; i++) {
		low = fmin(low, scene->shown[i]->unit_cycles);
		high = fmax(high, scene->shown[i]->unit_cycles);
		low_ns = fmin(low_ns, scene->shown[i]->duration_ns);
		high_ns = fmax(high_ns, scene->shown[i]->duration_ns);
	}
	plane_fit_log(&plane->x, low / 1.3, high * 1.3, 3);
	plane_fit_log(&plane->y, low_ns / 2, high_ns * 1.5, 3);
	plane->x.tick = plane_tick_count;
	plane->y.tick = plane_tick_ns;
	plane->angle = atan2(plane->y.length / log10(plane->y.high / plane->y.low),
			     plane->x.length / log10(plane->x.high / plane->x.low)) *
		       180 / M_PI;
}

/* Lines are drawn before the marks, and named after them. */
static void put_pattern(struct plane *plane, const struct scene *scene,
			const struct pattern *pattern, bool is_name)
{
	double each_ns = cycle_ns(scene, pattern), x1, x2;

	if (each_ns <= 0)
		return;
	x1 = fmax(plane->x.low, plane->y.low / each_ns);
	x2 = fmin(plane->x.high, plane->y.high / each_ns);
	if (x1 >= x2)
		return;
	if (is_name)
		plane_put_rising_label(plane, x1, x1 * each_ns, x2, x2 * each_ns, pattern->name, 0);
	else
		plane_put_line(plane, x1, x1 * each_ns, x2, x2 * each_ns, pattern->line, 0);
}

static double radius_of(const struct scene *scene, const struct atomics_kernel *kernel)
{
	return fmax(LEAST_RADIUS, LARGEST_RADIUS * sqrt(kernel->time_ns / scene->longest_ns));
}

static void put_points(struct plane *plane, const struct scene *scene)
{
	for (size_t i = 0; i < scene->shown_count; i++) {
		const struct atomics_kernel *kernel = scene->shown[i];
		double radius = radius_of(scene, kernel);

		plane_put_mark(plane, kernel->unit_cycles, kernel->duration_ns, radius,
			       PLANE_CIRCLE,
			       kernel->is_bottleneck ? COLOR_KERNEL + 5 : COLOR_KERNEL,
			       (char)('A' + (int)i));
		if (kernel->is_bottleneck && !plane->is_text)
			plane_put_mark(plane, kernel->unit_cycles, kernel->duration_ns, radius + 4,
				       PLANE_RING, 0, '.');
		plane_take_mark(plane, kernel->unit_cycles, kernel->duration_ns, radius + 4);
	}
}

static void describe(char text[LABEL_SIZE], const struct scene *scene,
		     const struct atomics_kernel *kernel, enum kernel_label width)
{
	const char *name = kernel_label(scene->report->profile->kernel_labels, kernel->name, width);

	if (kernel->hottest_share >= 0)
		snprintf(text, LABEL_SIZE, "%s %.0f%%%s", name, 100 * kernel->hottest_share,
			 kernel->is_bottleneck ? ": bottleneck" : "");
	else
		snprintf(text, LABEL_SIZE, "%s", name);
}

/* In as many columns as there is room for. */
static bool put_beside(struct plane *plane, const struct scene *scene,
		       const struct atomics_kernel *kernel)
{
	char text[LABEL_SIZE];

	for (enum kernel_label width = LABEL_COUNT; width-- > 0;) {
		describe(text, scene, kernel, width);
		if (plane_put_beside(plane, kernel->unit_cycles, kernel->duration_ns,
				     radius_of(scene, kernel) + 4, text))
			return true;
	}
	return false;
}

static void put_label(struct plane *plane, const struct scene *scene,
		      const struct atomics_kernel *kernel, size_t number)
{
	char text[LABEL_SIZE], note[LABEL_SIZE + 32];

	if (!plane->is_text && put_beside(plane, scene, kernel))
		return;
	describe(text, scene, kernel, plane->is_text ? LABEL_NARROW : LABEL_WIDE);
	if (plane->is_text) {
		snprintf(note, sizeof(note), "%c %s", (char)('A' + (int)number - 1), text);
	} else {
		plane_put_number(plane, kernel->unit_cycles, kernel->duration_ns,
				 radius_of(scene, kernel) + 4, number);
		snprintf(note, sizeof(note), "%zu: %s", number, text);
	}
	plane_note(plane, plane->note_count == 0, note);
}

static bool has_patterns(const struct scene *scene)
{
	for (size_t i = 0; i < PATTERN_COUNT; i++)
		if (cycle_ns(scene, &patterns[i]) > 0)
			return true;
	return false;
}

static void put_notes(struct plane *plane, const struct scene *scene)
{
	char text[128];

	if (!plane->is_text)
		plane_note(
			plane, true,
			"Circle: a kernel, area: its time in all launches.  Percent: how busy the hottest "
			"slice of the L2 atomic unit was.  Ring: it is the bottleneck.");
	if (has_patterns(scene))
		plane_note(plane, true,
			   plane->is_text ? "lines: least time of the atomics, by address pattern"
					  : "Lines: least time of that many cycles on this GPU, as "
					    "measured for each pattern of addresses.");
	snprintf(text, sizeof(text), "Not shown: %zu kernel%s with atomics in shared memory only.",
		 scene->shared_count, scene->shared_count == 1 ? "" : "s");
	if (scene->shared_count)
		plane_note(plane, true, text);
}

static void set_titles(struct chart_file *file, const struct scene *scene)
{
	size_t bottleneck_count = 0;
	char text[320];

	for (size_t i = 0; i < scene->shown_count; i++)
		bottleneck_count += scene->shown[i]->is_bottleneck;
	snprintf(text, sizeof(text), "%zu kernel%s with atomics, the bottleneck of %zu",
		 scene->shown_count, scene->shown_count == 1 ? "" : "s", bottleneck_count);
	chart_set_text(file, "chart_title", text);
	snprintf(text, sizeof(text), "%s%.240s", has_patterns(scene) ? "" : "no rates to compare: ",
		 scene->report->ceilings_note ? scene->report->ceilings_note : "no ceilings");
	chart_set_text(file, "chart_subtitle", text);
}

static int tell_missing(const struct scene *scene, struct err *err)
{
	if (!scene->report->atomics->is_asked)
		return err_set(
			err, -ENODATA,
			"%s has no counters of atomics; record them with: rooflinectl record "
			"--counters=atomics -- PROGRAM",
			scene->report->profile->path);
	if (scene->shared_count)
		return err_set(
			err, -ENODATA,
			"no kernel that was counted has atomics in global memory; %zu %s some in "
			"shared memory only",
			scene->shared_count, scene->shared_count == 1 ? "has" : "have");
	return err_set(err, -ENODATA, "no kernel that was counted has atomics");
}

int chart_atomics(const struct report *report, const struct chart_options *options,
		  const char *folder, struct err *err)
{
	struct chart_file file;
	struct scene scene;
	struct plane plane;
	int rc;

	collect(&scene, report);
	if (!scene.shown_count)
		return tell_missing(&scene, err);
	rc = plane_open(&plane, options, folder, err);
	if (rc == 0) {
		fit(&scene, &plane);
		plane_put_tics(&plane);
		for (size_t i = 0; i < PATTERN_COUNT; i++)
			put_pattern(&plane, &scene, &patterns[i], false);
		put_points(&plane, &scene);
		for (size_t i = 0; i < PATTERN_COUNT; i++)
			put_pattern(&plane, &scene, &patterns[i], true);
		for (size_t i = 0; i < scene.shown_count; i++)
			put_label(&plane, &scene, scene.shown[i], i + 1);
		put_notes(&plane, &scene);
	}
	rc = plane_close(&plane, rc, err);
	if (rc == 0)
		rc = chart_file_open(&file, folder, "atomics.gp", err);
	if (rc < 0)
		return rc;
	set_titles(&file, &scene);
	plane_settings(&plane, &file, folder,
		       "busy cycles of L2's atomic units by launch, one for each sector",
		       "duration of a launch");
	return chart_file_close(&file, 0, err);
}
