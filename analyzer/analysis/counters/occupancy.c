#include "analysis/counters/occupancy.h"

#define WARP_THREADS 32
/* Registers are given to a warp in these portions, each of the SM's four parts having a quarter of them; a
 * block may begin in any part. */
#define REGISTER_PORTION 256
#define SM_PARTS 4
/* Shared memory likewise; from compute capability 8.0 on, CUDA keeps 1 KB of it for itself in each block. */
#define SHARED_PORTION_BEFORE_8 256
#define SHARED_PORTION 128
#define SHARED_RESERVED 1024

static uint64_t round_up(uint64_t value, uint64_t portion)
{
	return (value + portion - 1) / portion * portion;
}

static uint64_t volume(const uint32_t dimensions[3])
{
	return (uint64_t)dimensions[0] * dimensions[1] * dimensions[2];
}

static uint64_t blocks_by_registers(const struct profile_device *device,
				    const struct profile_signature *launch, uint64_t warps)
{
	uint64_t each =
		round_up((uint64_t)launch->registers_per_thread * WARP_THREADS, REGISTER_PORTION);
	uint64_t held = device->max_registers_per_sm / SM_PARTS / each * SM_PARTS;

	return held / warps;
}

static uint64_t blocks_by_shared(const struct profile_device *device,
				 const struct profile_signature *launch)
{
	bool is_before_8 = device->compute_major < 8;
	uint64_t bytes = (uint64_t)launch->static_shared_bytes + launch->dynamic_shared_bytes +
			 (is_before_8 ? 0 : SHARED_RESERVED);

	bytes = round_up(bytes, is_before_8 ? SHARED_PORTION_BEFORE_8 : SHARED_PORTION);
	return bytes ? device->max_shared_bytes_per_sm / bytes : UINT64_MAX;
}

bool occupancy_of(struct occupancy *occupancy, const struct profile_device *device,
		  const struct profile_signature *launch)
{
	uint64_t warps = (volume(launch->block) + WARP_THREADS - 1) / WARP_THREADS;
	uint64_t fit[OCCUPANCY_LIMIT_COUNT];

	if (!warps || !device->sm_count || !device->max_warps_per_sm ||
	    !device->max_blocks_per_sm || !device->max_registers_per_sm ||
	    !device->max_shared_bytes_per_sm)
		return false;
	fit[OCCUPANCY_WARPS] = device->max_warps_per_sm / warps;
	fit[OCCUPANCY_BLOCKS] = device->max_blocks_per_sm;
	fit[OCCUPANCY_REGISTERS] = launch->registers_per_thread
					   ? blocks_by_registers(device, launch, warps)
					   : UINT64_MAX;
	fit[OCCUPANCY_SHARED] = blocks_by_shared(device, launch);
	occupancy->limit = OCCUPANCY_WARPS;
	for (int limit = 1; limit < OCCUPANCY_LIMIT_COUNT; limit++)
		if (fit[limit] < fit[occupancy->limit])
			occupancy->limit = (enum occupancy_limit)limit;
	if (!fit[occupancy->limit])
		return false;
	occupancy->blocks_per_sm = (uint32_t)fit[occupancy->limit];
	occupancy->warps_ratio =
		(double)(occupancy->blocks_per_sm * warps) / device->max_warps_per_sm;
	occupancy->waves = (double)volume(launch->grid) /
			   ((double)occupancy->blocks_per_sm * device->sm_count);
	return true;
}

const char *occupancy_limit_name(enum occupancy_limit limit)
{
	static const char *const names[OCCUPANCY_LIMIT_COUNT] = {"warps", "blocks", "registers",
								 "shared memory"};

	return names[limit];
}
