/* chart_message_sizes.c - how fast collectives and copies between GPUs are by their size, under what links do. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/collective_sizes.h"
#include "analysis/job/communication.h"
#include "charts/chart_colors.h"
#include "charts/chart_plane.h"
#include "whatif/all_reduce.h"

#define MOST_POINTS 24
#define LARGEST_RADIUS 14.0
#define LEAST_RADIUS 4.0
#define LABEL_SIZE 96
#define PEER_COPY "copies"

/* Messages of one size. */
struct point {
	const char *what;    /* an operation of NCCL, or PEER_COPY */
	uint32_t rank_count; /* of a collective */
	double bytes;	     /* as the call counts them */
	struct figure size;  /* the same as text, told apart from those of other points */
	double rate;	     /* of the bus, bytes/s */
	double roof;	     /* likewise, where links are measured; 0: not known */
	double time_ns;	     /* of all */
	int roof_id;	     /* enum ceiling_id; -1: none is measured for such */
};

struct scene {
	const struct report *report;
	const struct ceilings *ceilings;
	struct point points[MOST_POINTS]; /* most time first */
	size_t count;
	size_t left_out_count;
	uint32_t measured_gpus;
	uint32_t rank_count; /* of all collectives; 0: there are none, or they differ */
};

/* ---- what is shown ---- */

static const enum ceiling_id roofs[] = {CEILING_nccl_all_reduce, CEILING_nccl_all_gather,
					CEILING_nccl_reduce_scatter, CEILING_nccl_send_recv,
					CEILING_peer_out};

#define ROOF_COUNT (sizeof(roofs) / sizeof(roofs[0]))

/* What the ceiling was measured of, as NCCL names it. */
static const char *const operations[ROOF_COUNT] = {"AllReduce", "AllGather", "ReduceScatter",
						   "Send", NULL};

static int roof_index(int id)
{
	for (size_t i = 0; i < ROOF_COUNT; i++)
		if ((int)roofs[i] == id)
			return (int)i;
	return -1;
}

/* The rate of the bus by that ceiling at so many bytes of a call, among as many ranks as the collectives are of, or else as it
 * was measured with. */
static double roof_at(const struct scene *scene, int index, double bytes)
{
	uint32_t ranks = scene->rank_count ? scene->rank_count : scene->measured_gpus;
	struct collective_size size = {.operation = operations[index],
				       .bytes = (uint64_t)fmax(bytes, 1),
				       .rank_count = ranks};
	double ns;

	if (!operations[index])
		return ceilings_at(scene->ceilings, roofs[index], size.bytes);
	ns = collective_size_ceiling_ns(&size, scene->ceilings, scene->measured_gpus);
	size.median_ns = (int64_t)1e9;
	return ns > 0 ? collective_size_bandwidth(&size) / ns * 1e9 * bytes / (double)size.bytes
		      : 0;
}

/* Keeps those with most time. */
static void add(struct scene *scene, const struct point *point)
{
	size_t at = scene->count;

	if (at == MOST_POINTS && scene->points[at - 1].time_ns >= point->time_ns) {
		scene->left_out_count++;
		return;
	}
	scene->left_out_count += at == MOST_POINTS;
	at = at == MOST_POINTS ? at - 1 : at;
	while (at && scene->points[at - 1].time_ns < point->time_ns) {
		scene->points[at] = scene->points[at - 1];
		at--;
	}
	scene->points[at] = *point;
	scene->count += scene->count < MOST_POINTS;
}

static void add_collective(struct scene *scene, const struct collective_size *size)
{
	struct point point = {.what = size->operation,
			      .rank_count = size->rank_count,
			      .bytes = (double)size->bytes,
			      .size = collective_size_bytes(scene->report->collective_sizes, size),
			      .rate = collective_size_bandwidth(size),
			      .time_ns = (double)size->time_ns,
			      .roof_id = -1};
	enum ceiling_id id;
	uint64_t bytes;

	if (!(point.rate > 0) || !size->bytes)
		return;
	if (collective_size_ceiling(size, &id, &bytes))
		point.roof_id = (int)id;
	add(scene, &point);
}

struct peer_copy {
	uint64_t bytes;
	int64_t length_ns;
};

static int compare_copies(const void *left, const void *right)
{
	const struct peer_copy *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return (a->length_ns > b->length_ns) - (a->length_ns < b->length_ns);
}

/* Copies of one size, the fastest first: their median. */
static void add_copies(struct scene *scene, const struct peer_copy *copies, size_t count)
{
	const struct peer_copy *middle = &copies[(count - 1) / 2];
	double median_ns = (double)middle->length_ns;
	struct point point = {.what = PEER_COPY,
			      .bytes = (double)copies->bytes,
			      .size = format_bytes((double)copies->bytes),
			      .roof_id = (int)CEILING_peer_out};

	for (size_t i = 0; i < count; i++)
		point.time_ns += (double)copies[i].length_ns;
	if (!copies->bytes || !(median_ns > 0))
		return;
	point.rate = point.bytes / median_ns * 1e9;
	add(scene, &point);
}

static int add_all_copies(struct scene *scene, const struct profile *profile)
{
	struct peer_copy *copies = calloc(profile->op_count + 1, sizeof(*copies));
	size_t count = 0;

	if (!copies)
		return -ENOMEM;
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind == OP_COPY && communication_is_peer_copy(&profile->copies[op->detail]))
			copies[count++] = (struct peer_copy){profile->copies[op->detail].bytes,
							     op->end_ns - op->start_ns};
	}
	qsort(copies, count, sizeof(*copies), compare_copies);
	for (size_t first = 0, next; first < count; first = next) {
		next = first + 1;
		while (next < count && copies[next].bytes == copies[first].bytes)
			next++;
		add_copies(scene, copies + first, next - first);
	}
	free(copies);
	return 0;
}

static uint32_t common_rank_count(const struct scene *scene)
{
	uint32_t common = 0;

	for (size_t i = 0; i < scene->count; i++) {
		uint32_t count = scene->points[i].rank_count;

		if (common && count && count != common)
			return 0;
		common = count ? count : common;
	}
	return common;
}

static int collect(struct scene *scene, const struct report *report)
{
	const struct collective_sizes *sizes = report->collective_sizes;
	uint64_t gpus = report->ceilings ? reduce_measured_gpus(report->ceilings) : 0;
	int rc;

	*scene = (struct scene){.report = report,
				.ceilings = report->ceilings,
				.measured_gpus = (uint32_t)gpus};
	for (size_t i = 0; i < sizes->count; i++)
		add_collective(scene, &sizes->items[i]);
	rc = add_all_copies(scene, report->profile);
	scene->rank_count = common_rank_count(scene);
	for (size_t i = 0; rc == 0 && scene->ceilings && i < scene->count; i++) {
		struct point *point = &scene->points[i];
		int index = roof_index(point->roof_id);

		point->roof = index >= 0 ? roof_at(scene, index, point->bytes) : 0;
	}
	return rc;
}

/* ---- the plane ---- */

static bool is_drawn(const struct scene *scene, size_t index)
{
	for (size_t i = 0; i < scene->count; i++)
		if (scene->points[i].roof_id == (int)roofs[index] && scene->points[i].roof > 0)
			return true;
	return false;
}

static void fit(struct plane *plane, const struct scene *scene)
{
	double low = 1e6, high = 1e6, low_rate = 1e11, high_rate = 1e10;

	for (size_t i = 0; i < scene->count; i++) {
		const struct point *point = &scene->points[i];

		low = fmin(low, point->bytes);
		high = fmax(high, point->bytes);
		low_rate = fmin(low_rate, point->rate);
		high_rate = fmax(high_rate, fmax(point->rate, point->roof));
	}
	plane_fit_log(&plane->x, low / 1.3, high * 1.5, 3);
	for (size_t i = 0; i < ROOF_COUNT; i++)
		if (is_drawn(scene, i))
			high_rate = fmax(high_rate, roof_at(scene, (int)i, plane->x.high));
	plane_fit_log(&plane->y, low_rate / 1.5, high_rate * 1.5, 2);
	plane->x.tick = plane_tick_bytes;
	plane->y.tick = plane_tick_rate;
}

static int color_of(int index)
{
	return operations[index] ? COLOR_KERNEL + index : COLOR_DTOD;
}

/* In bytes of a call. */
static double smallest_measured(const struct scene *scene, int index)
{
	struct collective_size size = {.operation = operations[index],
				       .bytes = 1,
				       .rank_count = scene->rank_count ? scene->rank_count
								       : scene->measured_gpus};
	enum ceiling_id id = roofs[index];
	uint64_t counted = 1; /* by the ceiling, of a byte of a call */

	if (operations[index])
		(void)collective_size_ceiling(&size, &id, &counted);
	for (size_t i = 0; i < scene->ceilings->count; i++)
		if (scene->ceilings->rows[i].id == id)
			return (double)scene->ceilings->rows[i].parameter / (double)counted;
	return 0;
}

#define CHORDS 64

/* From the smallest message that was measured: of smaller ones nobody knows. */
static void put_roof(struct plane *plane, const struct scene *scene, int index)
{
	double from = fmax(plane->x.low, smallest_measured(scene, index));
	double last_x = 0, last_y = 0;

	for (int i = 0; i <= CHORDS; i++) {
		double x = from * pow(plane->x.high / from, (double)i / CHORDS);
		double y = roof_at(scene, index, x);

		if (y < plane->y.low)
			continue;
		plane_put_curve(plane, x, y, PLANE_SOLID, color_of(index));
		if (last_x > 0)
			label_cross(&plane->layout,
				    (struct label_segment){plane_at(&plane->x, last_x),
							   plane_at(&plane->y, last_y),
							   plane_at(&plane->x, x),
							   plane_at(&plane->y, y)});
		last_x = x;
		last_y = y;
	}
	plane_end_curve(plane);
}

static double radius_of(const struct scene *scene, const struct point *point)
{
	return fmax(LEAST_RADIUS, LARGEST_RADIUS * sqrt(point->time_ns / scene->points[0].time_ns));
}

static void put_points(struct plane *plane, const struct scene *scene)
{
	for (size_t i = 0; i < scene->count; i++) {
		const struct point *point = &scene->points[i];
		int index = roof_index(point->roof_id);

		plane_put_mark(plane, point->bytes, point->rate, radius_of(scene, point),
			       PLANE_CIRCLE, index >= 0 ? color_of(index) : COLOR_OTHER_KERNEL,
			       (char)('A' + (int)i));
		plane_take_mark(plane, point->bytes, point->rate, radius_of(scene, point));
	}
}

/* "AllReduce of 1.00 MiB, 4 ranks", before what more is told of it; of how many ranks only where that differs */
static void describe(char text[LABEL_SIZE], const struct scene *scene, const struct point *point,
		     const char *more)
{
	char ranks[32] = "";

	if (point->rank_count && !scene->rank_count)
		snprintf(ranks, sizeof(ranks), ", %u ranks", point->rank_count);
	snprintf(text, LABEL_SIZE, "%.24s of %s%s%s%s", point->what, point->size.text,
		 strchr(point->size.text, ' ') ? "" : " B", ranks, more);
}

static struct figure share_of_roof(const struct point *point)
{
	return format_percent(point->rate, point->roof);
}

static void put_label(struct plane *plane, const struct scene *scene, size_t i)
{
	const struct point *point = &scene->points[i];
	double radius = radius_of(scene, point);
	char text[LABEL_SIZE], note[LABEL_SIZE + 32], share[40] = "";

	if (point->roof > 0)
		snprintf(share, sizeof(share), ": %s", share_of_roof(point).text);
	describe(text, scene, point, share);
	if (!plane->is_text && plane_put_beside(plane, point->bytes, point->rate, radius + 2, text))
		return;
	if (plane->is_text) {
		snprintf(note, sizeof(note), "%c %s", (char)('A' + (int)i), text);
	} else {
		plane_put_number(plane, point->bytes, point->rate, radius + 2, i + 1);
		snprintf(note, sizeof(note), "%zu: %s", i + 1, text);
	}
	plane_note(plane, plane->note_count == 0, note);
}

static const char *roof_name(const struct scene *scene, size_t index, char *text, size_t size)
{
	if (operations[index])
		snprintf(text, size, "%s of %u GPUs", operations[index], scene->measured_gpus);
	else
		snprintf(text, size, "copies between two GPUs");
	return text;
}

/* Faster than the line, which was not measured at every size. */
static bool is_above(const struct point *point)
{
	return point->roof > 0 && point->rate > point->roof;
}

static bool is_any_above(const struct scene *scene)
{
	for (size_t i = 0; i < scene->count; i++)
		if (is_above(&scene->points[i]))
			return true;
	return false;
}

static void put_notes(struct plane *plane, const struct scene *scene)
{
	char text[256] = "", name[64];

	for (size_t i = 0; i < ROOF_COUNT; i++)
		if (is_drawn(scene, i)) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof(text) - used, "%s%s",
				 used ? ", " : "Lines: measured, of ",
				 roof_name(scene, i, name, sizeof(name)));
		}
	if (*text)
		plane_note(plane, true, text);
	if (!plane->is_text)
		plane_note(
			plane, true,
			"Circle: messages of one size, the median without waits; area: the time of all "
			"of them.  Percent: of the line of its color.");
	if (is_any_above(scene))
		plane_note(plane, true,
			   "Above 100%: lines are straight between a few sizes that were measured, "
			   "with the gap to the next kernel.");
	snprintf(text, sizeof(text), "All collectives are of %u ranks.", scene->rank_count);
	if (scene->rank_count)
		plane_note(plane, false, text);
	snprintf(text, sizeof(text), "Not shown: %zu sizes with less time.", scene->left_out_count);
	if (scene->left_out_count)
		plane_note(plane, true, text);
}

/* ---- all ---- */

/* "41.2 GB/s (25.0% of what these links do)" */
static void put_share(char *text, size_t size, const struct point *point)
{
	if (is_above(point))
		snprintf(text, size, " (as fast as these links were measured)");
	else if (point->roof > 0)
		snprintf(text, size, " (%s of what these links do)", share_of_roof(point).text);
}

/* Without the day of the file: its rows of links may be of another one. */
static void put_source(char *text, size_t size, const struct scene *scene)
{
	const char *note = scene->report->ceilings_note, *date = scene->ceilings->date;
	char day[16], *found;

	snprintf(text, size, "%.300s", note ? note : "");
	snprintf(day, sizeof(day), " on %.10s", date ? date : "");
	found = date && *date ? strstr(text, day) : NULL;
	if (found)
		memmove(found, found + strlen(day), strlen(found + strlen(day)) + 1);
}

static void set_titles(struct chart_file *file, const struct scene *scene)
{
	const struct point *first = &scene->points[0];
	char text[400], what[LABEL_SIZE], share[80] = "";

	describe(what, scene, first, "");
	put_share(share, sizeof(share), first);
	snprintf(text, sizeof(text), "most time: %s, %s%s", what, format_rate(first->rate).text,
		 share);
	chart_set_text(file, "chart_title", text);
	if (first->roof > 0)
		put_source(text, sizeof(text), scene);
	else
		snprintf(text, sizeof(text),
			 "what these links do nobody measured: rooflinectl ceilings --links");
	chart_set_text(file, "chart_subtitle", text);
}

static int draw(struct plane *plane, const struct scene *scene, const struct chart_options *options,
		const char *folder, struct err *err)
{
	int rc = plane_open(plane, options, folder, err);

	if (rc == 0) {
		fit(plane, scene);
		plane_put_tics(plane);
		for (size_t i = 0; i < ROOF_COUNT; i++)
			if (is_drawn(scene, i))
				put_roof(plane, scene, (int)i);
		put_points(plane, scene);
		for (size_t i = 0; i < scene->count; i++)
			put_label(plane, scene, i);
		put_notes(plane, scene);
	}
	return plane_close(plane, rc, err);
}

int chart_message_sizes(const struct report *report, const struct chart_options *options,
			const char *folder, struct err *err)
{
	struct chart_file file;
	struct scene scene;
	struct plane plane;
	int rc = collect(&scene, report);

	if (rc < 0)
		return err_set(err, rc, "out of memory");
	if (!scene.count)
		return err_set(
			err, -ENODATA,
			"%s has no copies between GPUs, and NCCL told no sizes: it does from "
			"2.18 on, where NVTX is recorded",
			report->profile->path);
	rc = draw(&plane, &scene, options, folder, err);
	if (rc == 0)
		rc = chart_file_open(&file, folder, "message_sizes.gp", err);
	if (rc < 0)
		return rc;
	set_titles(&file, &scene);
	plane_settings(&plane, &file, folder, "bytes of a message", "bus bandwidth");
	return chart_file_close(&file, 0, err);
}
