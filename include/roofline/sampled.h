/*
 * sampled.h - every hardware counter that is read over time, once.
 *
 * A role is a column of samples.csv and what the analyzer wants to know; which counter
 * answers it is the business of collector/sampling/sample_config.c.  All values are those of the
 * whole GPU during one sample: what other processes do counts too.
 *
 * To add one: its SAMPLED row, its column in TRACE_SAMPLES, its counters by preference
 * in collector/sampling/sample_config.c, and what it means in analyzer/trace/loader_samples.c.
 */
#ifndef ROOFLINE_SAMPLED_H
#define ROOFLINE_SAMPLED_H

/* What an interval may be.  250 ns is the shortest that an H200 was seen to keep. */
#define SAMPLE_NS_MIN 250
#define SAMPLE_NS_MAX 1000000000

/* SAMPLE_SET(name, meaning): what --sample-metrics accepts.  The first is always read. */
#define SAMPLE_SETS(SAMPLE_SET)                                                            \
	SAMPLE_SET(front, "kernels dispatched, thread blocks launched, PCIe: almost free") \
	SAMPLE_SET(sm, "cycles that the SMs were active: sum, least and busiest SM")       \
	SAMPLE_SET(dram, "bytes of DRAM")                                                  \
	SAMPLE_SET(tensor, "cycles that tensor cores were active")                         \
	SAMPLE_SET(l2, "sectors of L2 and the share of atomics in them")                   \
	SAMPLE_SET(nvlink, "bytes over NVLink")

/* clang-format off */

/* SAMPLED(role, set, meaning) */
#define SAMPLED_ROLES(SAMPLED) \
	SAMPLED(dispatches, front, "kernels that began, whoever launched them") \
	SAMPLED(blocks, front, "thread blocks that were launched") \
	SAMPLED(compute_cycles, front, "cycles of the front end with compute work, also 1 to 2 us after the last") \
	SAMPLED(front_cycles, front, "cycles of the front end that passed") \
	SAMPLED(pcie_read_bytes, front, "bytes that the GPU read over PCIe") \
	SAMPLED(pcie_write_bytes, front, "bytes that the GPU wrote over PCIe, sampling's own among them") \
	SAMPLED(sm_elapsed_cycles, front, "cycles of one SM that passed") \
	SAMPLED(sm_cycles, sm, "cycles with a warp resident, summed over the SMs") \
	SAMPLED(sm_cycles_min, sm, "of the least busy SM") \
	SAMPLED(sm_cycles_max, sm, "of the busiest SM") \
	SAMPLED(dram_read_bytes, dram, "bytes read from DRAM") \
	SAMPLED(dram_write_bytes, dram, "bytes written to DRAM") \
	SAMPLED(tensor_cycles, tensor, "cycles with tensor cores active, summed over the SMs") \
	SAMPLED(l2_sectors, l2, "32-byte sectors of L2, by all its clients") \
	SAMPLED(atomic_sectors, l2, "those of them for atomics and reductions") \
	SAMPLED(nvlink_rx_bytes, nvlink, "bytes received over NVLink") \
	SAMPLED(nvlink_tx_bytes, nvlink, "bytes sent over NVLink")

/* clang-format on */

#define SAMPLED_CONSTANT(role, set, meaning) SAMPLED_##role,
enum sampled_role { SAMPLED_ROLES(SAMPLED_CONSTANT) SAMPLED_ROLE_COUNT };
#undef SAMPLED_CONSTANT

#define SAMPLE_SET_CONSTANT(name, meaning) SAMPLE_SET_##name,
enum sample_set { SAMPLE_SETS(SAMPLE_SET_CONSTANT) SAMPLE_SET_COUNT };
#undef SAMPLE_SET_CONSTANT

#endif
