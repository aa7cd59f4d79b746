#include "analysis/counters/launch_fill.h"

#include <math.h>

#define WARP_THREADS 32

static double volume(const uint32_t dimensions[3])
{
	return (double)dimensions[0] * dimensions[1] * dimensions[2];
}

/* Of the last of so many rounds, each of which has room for the whole of one. */
static double by_rounds(double rounds)
{
	return rounds / ceil(rounds);
}

/* Of so many blocks, the part of SMs that has one. */
static double sms_of(double blocks, double sm_count, double blocks_per_sm)
{
	double waves = blocks / (sm_count * blocks_per_sm);

	if (blocks < sm_count)
		return blocks / sm_count;
	return waves < 1 ? 1 : fmax(by_rounds(blocks / sm_count), by_rounds(waves));
}

static double lanes_of(double threads)
{
	return threads / (ceil(threads / WARP_THREADS) * WARP_THREADS);
}

/* Of one wave nobody knows whether there is work for more. */
static double warps_of(const struct occupancy *occupancy)
{
	return occupancy->limit == OCCUPANCY_BLOCKS && occupancy->waves > 1 ? occupancy->warps_ratio
									    : 1;
}

static enum launch_lack lack_of(const struct launch_fill *fill, double sm_count)
{
	if (fill->filled_share > LAUNCH_FILL_MOST)
		return LAUNCH_LACKS_NOTHING;
	if (fill->lanes < fmin(fill->sms, fill->warps))
		return LAUNCH_LACKS_LANES;
	if (fill->warps < fill->sms)
		return LAUNCH_LACKS_WARPS;
	return (double)fill->blocks < sm_count ? LAUNCH_LACKS_BLOCKS : LAUNCH_ENDS_UNEVEN;
}

uint32_t launch_fill_warps(const struct launch_fill *fill)
{
	return (fill->threads + WARP_THREADS - 1) / WARP_THREADS;
}

bool launch_fill_of(struct launch_fill *fill, const struct profile_device *device,
		    const struct profile_signature *launch)
{
	double blocks = volume(launch->grid), sm_count = device->sm_count, fit, waves;

	*fill = (struct launch_fill){0};
	if (blocks < 1 || !occupancy_of(&fill->occupancy, device, launch))
		return false;
	fit = fill->occupancy.blocks_per_sm;
	waves = fill->occupancy.waves;
	fill->blocks = (uint64_t)blocks;
	fill->threads = (uint32_t)volume(launch->block);
	fill->sms = sms_of(blocks, sm_count, fit);
	fill->lanes = lanes_of(fill->threads);
	fill->warps = warps_of(&fill->occupancy);
	fill->filled_share = fill->sms * fill->lanes * fill->warps;
	fill->crowded_share =
		fmin(fill->filled_share, by_rounds(waves) * fill->lanes * fill->warps);
	fill->lack = lack_of(fill, sm_count);
	return true;
}
