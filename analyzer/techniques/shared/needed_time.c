#include "techniques/shared/needed_time.h"

#include <math.h>

/* Return the share of DRAM's roof that samples show. */
static double sampled_dram(const struct report *report, uint32_t kernel)
{
	const struct sm_activity *activity = report->sm_activity;
	double share = 0;

	for (size_t i = 0;
	     activity && report->roofline->roofs[ROOF_dram] > 0 && i < activity->kernel_count; i++)
		if (activity->kernels[i].kernel == kernel)
			share = fmax(share, activity->kernels[i].dram_byte_per_s /
						    report->roofline->roofs[ROOF_dram]);
	return share;
}

static double binding_share(const struct roofline_point *point)
{
	return point->binding_share;
}

static double dram_share(const struct roofline_point *point)
{
	return point->quantities[ROOF_dram].share;
}

/* Return the largest share of a kernel's points, and of DRAM by samples. */
static double needed_by(const struct recorded_run *run, uint32_t kernel,
			double (*share_of)(const struct roofline_point *point))
{
	const struct roofline *roofline = run->report ? run->report->roofline : NULL;
	double share;

	if (!roofline || profile_only_device(run->model->profile) == PROFILE_NONE)
		return 0;
	share = sampled_dram(run->report, kernel);
	for (size_t i = 0; i < roofline->kernel_count; i++)
		if (roofline->kernels[i].subject == kernel && !roofline->kernels[i].is_wrong)
			share = fmax(share, share_of(&roofline->kernels[i]));
	return share;
}

double needed_time_share(const struct recorded_run *run, uint32_t kernel)
{
	return needed_by(run, kernel, binding_share);
}

double needed_of_dram(const struct recorded_run *run, uint32_t kernel)
{
	return needed_by(run, kernel, dram_share);
}

double needed_time_usual(const struct application *application, uint32_t kernel)
{
	double share = needed_time_share(application->run, kernel);

	return application->end == ASSUMED_MOST ? share : fmin(share / ROOFLINE_AT_ROOF, 1);
}

double needed_of_sms(const struct recorded_run *run, uint32_t kernel)
{
	const struct roofline *roofline = run->report ? run->report->roofline : NULL;
	double share = 0;

	if (!roofline || profile_only_device(run->model->profile) == PROFILE_NONE)
		return 0;
	for (size_t i = 0; i < roofline->kernel_count; i++)
		for (int roof = 0; roof < ROOF_COMPUTE_END; roof++)
			if (roofline->kernels[i].subject == kernel && roof != ROOF_dram &&
			    !roofline->kernels[i].is_wrong)
				share = fmax(share, roofline->kernels[i].quantities[roof].share);
	return share;
}
