#include "techniques/shared/fused_shape.h"

#include <math.h>

#include "analysis/counters/occupancy.h"

/* Nearly all kernels of tests/recordings that set or copy a value have as many (fill_kernel), and 19 of 2,000 fewer. */
#define KERNEL_REGISTERS_LEAST 16

static uint32_t lesser(uint64_t one, uint64_t other)
{
	return (uint32_t)(one < other ? one : other);
}

/* Of a block of the first kernel with so many registers and bytes. */
static double warps_with(const struct profile_device *device, struct profile_signature launch,
			 uint64_t registers, uint64_t shared_bytes)
{
	struct occupancy occupancy;

	launch.registers_per_thread = lesser(registers, FUSED_REGISTERS_MOST);
	launch.static_shared_bytes = 0;
	launch.dynamic_shared_bytes = lesser(shared_bytes, UINT32_MAX);
	return occupancy_of(&occupancy, device, &launch) ? occupancy.warps_ratio : 0;
}

/* Returns its registers for values of its own. */
static uint64_t add_part(struct fused_shape *out, const struct profile_signature *part)
{
	uint64_t shared = (uint64_t)part->static_shared_bytes + part->dynamic_shared_bytes;

	if (part->registers_per_thread > out->registers_least)
		out->registers_least = part->registers_per_thread;
	if (shared > out->shared_least)
		out->shared_least = shared;
	out->shared_most += shared;
	return part->registers_per_thread > KERNEL_REGISTERS_LEAST
		       ? part->registers_per_thread - KERNEL_REGISTERS_LEAST
		       : 0;
}

#define REGISTER_BYTES 4
#define VALUES_LEAST 2 /* fewer are one value, read with what the hardware reads beside it */

double fused_values_of(const struct profile_signature *launch, double read_bytes)
{
	double threads = 1, values;

	for (int i = 0; i < 3; i++)
		threads *= (double)launch->grid[i] * launch->block[i];
	values = threads > 0 ? read_bytes / threads / REGISTER_BYTES : 0;
	if (values < VALUES_LEAST || values > launch->registers_per_thread ||
	    launch->static_shared_bytes + launch->dynamic_shared_bytes)
		return 1;
	return values;
}

bool fused_shape_of(struct fused_shape *out, const struct profile *profile,
		    const struct profile_device *device, const uint32_t *signatures, size_t count,
		    double values)
{
	const struct profile_signature *first = &profile->signatures[signatures[0]];
	uint64_t registers = KERNEL_REGISTERS_LEAST, holding = (uint64_t)round(values);

	*out = (struct fused_shape){.warps_now = 1};
	for (size_t i = 0; i < count; i++) {
		const struct profile_signature *part = &profile->signatures[signatures[i]];
		struct occupancy occupancy;

		if (!occupancy_of(&occupancy, device, part))
			return false;
		out->warps_now = fmin(out->warps_now, occupancy.warps_ratio);
		registers += add_part(out, part);
	}
	if (registers < out->registers_least)
		registers = out->registers_least;
	if (holding > 1 && registers < KERNEL_REGISTERS_LEAST + holding)
		registers = KERNEL_REGISTERS_LEAST + holding;
	out->registers_most = lesser(registers, FUSED_REGISTERS_MOST);
	out->may_spill = registers > FUSED_REGISTERS_MOST;
	out->warps_most = warps_with(device, *first, out->registers_least, out->shared_least);
	out->warps_least = warps_with(device, *first, registers, out->shared_most);
	return true;
}
