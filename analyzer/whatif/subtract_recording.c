/* subtract_recording.c - two recordings compared without what recording added to either. */
#include "whatif/subtract_recording.h"

#include "whatif/what_if.h"

static struct compared_side side_of(const struct steady_rows *rows)
{
	const struct steady_loop *steady = rows->steady;

	if (!steady)
		return (struct compared_side){0};
	return (struct compared_side){.count = steady->warm_up_count + steady->count,
				      .run_count = steady->member_count};
}

static int measure_side(struct not_recorded *out, struct compared_side *side,
			struct steady_rows *rows, const struct report *report,
			const struct ceilings *ceilings, const char *range)
{
	int rc;

	if (side->row_count)
		rows->row_count = side->row_count;
	rc = what_if_not_recorded(out, report->profile, ceilings, range, rows);
	side->row_ns = (double)out->row_ns;
	side->share = out->shares.steady;
	return rc;
}

int what_if_subtract_recording(struct comparison *comparison, const struct report *before,
			       const struct report *after, struct err *err)
{
	const struct ceilings *ceilings = before->ceilings;
	const char *range = comparison->range;
	struct steady_rows before_rows = what_if_steady_rows(before);
	struct steady_rows after_rows = what_if_steady_rows(after);
	struct compared_side before_side = side_of(&before_rows), after_side = side_of(&after_rows);
	struct not_recorded of_before, of_after;
	int rc;

	if (!comparison->differences.count) /* else as many iterations tell nothing */
		comparison_match_rows(&before_side, &after_side);
	rc = measure_side(&of_before, &before_side, &before_rows, before, ceilings, range);
	if (rc == 0)
		rc = measure_side(&of_after, &after_side, &after_rows, after, ceilings, range);
	comparison->before_is_measured = rc == 0 && of_before.shares.is_measured;
	comparison->after_is_measured = rc == 0 && of_after.shares.is_measured;
	if (rc == 0)
		rc = comparison_without_recording(comparison, of_before.shares.part,
						  of_after.shares.part);
	if (rc == 0)
		comparison_kernels_without_recording(comparison, of_before.shares.kernels,
						     of_after.shares.kernels);
	if (rc == 0 && !range)
		comparison_add_steady(comparison, &before_side, &after_side);
	return rc < 0 ? err_set(err, rc, "out of memory for the model of the run") : 0;
}
