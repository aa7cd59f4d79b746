#include "charts/chart_labels.h"

#include <math.h>

#define GAP 3 /* between a mark and its label */

void label_layout_init(struct label_layout *layout, double width, double height)
{
	layout->width = width;
	layout->height = height;
	layout->taken_count = layout->segment_count = layout->mark_count = 0;
}

void label_take(struct label_layout *layout, struct label_box box)
{
	if (layout->taken_count < LABEL_BOXES)
		layout->taken[layout->taken_count++] = box;
}

void label_take_mark(struct label_layout *layout, struct label_box box)
{
	label_take(layout, box);
	if (layout->mark_count < LABEL_BOXES)
		layout->marks[layout->mark_count++] = box;
}

void label_cross(struct label_layout *layout, struct label_segment segment)
{
	if (layout->segment_count < LABEL_SEGMENTS)
		layout->segments[layout->segment_count++] = segment;
}

struct label_box label_around(double x, double y, double half_width, double half_height)
{
	return (struct label_box){x - half_width, y - half_height, x + half_width, y + half_height};
}

static bool is_apart(const struct label_box *a, const struct label_box *b)
{
	return a->right <= b->left || b->right <= a->left || a->top <= b->bottom ||
	       b->top <= a->bottom;
}

size_t label_overlaps(const struct label_layout *layout, const struct label_box *box)
{
	size_t count = 0;

	for (size_t i = 0; i < layout->taken_count; i++)
		count += !is_apart(box, &layout->taken[i]);
	return count;
}

static bool is_inside(const struct label_layout *layout, const struct label_box *box)
{
	return box->left >= 0 && box->bottom >= 0 && box->right <= layout->width &&
	       box->top <= layout->height;
}

/* Narrows [*from, *to], the part of a segment that is left, to where start + t * step <= limit. */
static void clip(double start, double step, double limit, double *from, double *to)
{
	double t;

	if (step == 0) {
		if (start > limit)
			*from = 1, *to = 0;
		return;
	}
	t = (limit - start) / step;
	if (step > 0)
		*to = fmin(*to, t);
	else
		*from = fmax(*from, t);
}

static bool is_crossed(const struct label_box *box, const struct label_segment *segment)
{
	double dx = segment->x2 - segment->x1, dy = segment->y2 - segment->y1, from = 0, to = 1;

	clip(segment->x1, dx, box->right, &from, &to);
	clip(-segment->x1, -dx, -box->left, &from, &to);
	clip(segment->y1, dy, box->top, &from, &to);
	clip(-segment->y1, -dy, -box->bottom, &from, &to);
	return from < to;
}

static size_t crossings(const struct label_layout *layout, const struct label_box *box)
{
	size_t count = 0;

	for (size_t i = 0; i < layout->segment_count; i++)
		count += is_crossed(box, &layout->segments[i]);
	return count;
}

/* Where a label may stand: -1 left or below the mark, 0 centered, 1 right or above; the farther ring
 * comes after the nearer. */
static const struct {
	int x, y;
	double distance; /* beyond the mark's edge, in heights of the text */
} sides[] = {
	{1, 0, 0},    {-1, 0, 0},    {0, 1, 0},	  {0, -1, 0},	{1, 1, 0},
	{1, -1, 0},   {-1, 1, 0},    {-1, -1, 0}, {1, 1, 0.7},	{1, -1, 0.7},
	{-1, 1, 0.7}, {-1, -1, 0.7}, {0, 1, 0.7}, {0, -1, 0.7},
};

enum { SIDE_COUNT = sizeof(sides) / sizeof(sides[0]) };

static struct label_box box_at(int side, double x, double y, double radius, double width,
			       double height)
{
	bool is_corner = sides[side].x && sides[side].y;
	double away = (is_corner ? 0.7 * radius : radius) + GAP + sides[side].distance * height;
	double middle_x = x + sides[side].x * (away + width / 2);
	double middle_y = y + sides[side].y * ((is_corner ? 0.7 * radius : away) +
					       sides[side].distance * height + height / 2);

	return label_around(middle_x, middle_y, width / 2, height / 2);
}

/* The space between two boxes, 0 where they touch. */
static double space(const struct label_box *a, const struct label_box *b)
{
	double dx = fmax(0, fmax(a->left - b->right, b->left - a->right));
	double dy = fmax(0, fmax(a->bottom - b->top, b->bottom - a->top));

	return hypot(dx, dy);
}

static bool is_same_place(const struct label_box *a, const struct label_box *b)
{
	return fabs(a->left + a->right - b->left - b->right) < 1 &&
	       fabs(a->top + a->bottom - b->top - b->bottom) < 1;
}

/* A reader takes a label for that of the nearest mark. */
static bool is_nearest(const struct label_layout *layout, const struct label_box *box,
		       const struct label_box *own)
{
	double distance = space(box, own);

	for (size_t i = 0; i < layout->mark_count; i++)
		if (!is_same_place(&layout->marks[i], own) &&
		    space(box, &layout->marks[i]) < distance)
			return false;
	return true;
}

bool label_beside(struct label_layout *layout, double x, double y, double radius, double width,
		  double height, struct label_box *place)
{
	struct label_box own = label_around(x, y, radius, radius);
	size_t least = (size_t)-1;

	for (int i = 0; i < SIDE_COUNT; i++) {
		struct label_box box = box_at(i, x, y, radius, width, height);
		size_t crossed;

		if (!is_inside(layout, &box) || label_overlaps(layout, &box) ||
		    !is_nearest(layout, &box, &own))
			continue;
		crossed = crossings(layout, &box);
		if (crossed >= least)
			continue;
		least = crossed;
		*place = box;
	}
	if (least == (size_t)-1)
		return false;
	label_take(layout, *place);
	return true;
}

/* Rings around a mark, in heights of the text beyond its edge, and places on each. */
#define RINGS 16
#define RING_PLACES 24
#define PI 3.14159265358979323846

static struct label_box box_on_ring(int ring, int place, struct label_box own, double width,
				    double height)
{
	double away = (own.right - own.left) / 2 + GAP + (ring + 1) * height;
	double turn = 2 * PI * place / RING_PLACES;

	return label_around((own.left + own.right) / 2 + (away + width / 2) * cos(turn),
			    (own.bottom + own.top) / 2 + (away + height / 2) * sin(turn), width / 2,
			    height / 2);
}

struct label_box label_near(struct label_layout *layout, double x, double y, double radius,
			    double width, double height, bool *is_beside)
{
	struct label_box own = label_around(x, y, radius, radius);
	struct label_box best = box_at(0, x, y, radius, width, height);
	size_t least = (size_t)-1;

	*is_beside = label_beside(layout, x, y, radius, width, height, &best);
	if (*is_beside)
		return best;
	for (int i = 0; least > 0 && i < RINGS * RING_PLACES; i++) {
		struct label_box box =
			box_on_ring(i / RING_PLACES, i % RING_PLACES, own, width, height);
		size_t count = label_overlaps(layout, &box);

		if (is_inside(layout, &box) && count < least) {
			least = count;
			best = box;
		}
	}
	label_take(layout, best);
	return best;
}

struct label_box label_first(struct label_layout *layout, const struct label_box *places,
			     size_t count)
{
	size_t chosen = 0, least = (size_t)-1;

	for (size_t i = 0; i < count; i++) {
		size_t crossed = crossings(layout, &places[i]);

		if (crossed < least && is_inside(layout, &places[i]) &&
		    !label_overlaps(layout, &places[i])) {
			chosen = i;
			least = crossed;
		}
	}
	label_take(layout, places[chosen]);
	return places[chosen];
}
