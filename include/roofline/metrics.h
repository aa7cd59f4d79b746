/*
 * metrics.h - every hardware counter that we give a meaning to, once.
 *
 * A role is what the analyzer wants to know; the name of the counter that answers it
 * differs from chip to chip and stands in metric_names.h.  A trace's
 * metrics.csv says which counter stood for which role, so the analyzer never sees a
 * chip.  All values are sums over the whole GPU and one launch unless the meaning says
 * otherwise.
 *
 * To add one: its METRIC row, and its counters by preference in metric_names.h.
 */
#ifndef ROOFLINE_METRICS_H
#define ROOFLINE_METRICS_H

/* COUNTER_SET(name, meaning): what --counters accepts besides the names of CUPTI's own metrics */
#define COUNTER_SETS(COUNTER_SET)                                                               \
	COUNTER_SET(roofline, "FLOPs by precision, bytes of DRAM, L2, L1 and shared memory")    \
	COUNTER_SET(atomics, "atomic instructions, requests and sectors, L2 atomic unit")       \
	COUNTER_SET(shared, "wavefronts of shared memory, and bank conflicts among them")       \
	COUNTER_SET(global, "sectors of global memory, and bytes of them that threads ask for") \
	COUNTER_SET(sm, "cycles that SMs were active and that passed, occupancy")               \
	COUNTER_SET(stalls, "what warps waited for, per instruction issued")

/* clang-format off */

/* METRIC(role, set, meaning) */
#define METRICS(METRIC) \
	METRIC(range_ns, roofline, "device time of the range that was counted: in a replay the kernel's own, in a rotation with the idle time around it, for clocks only") \
	METRIC(dram_read_bytes, roofline, "bytes read from DRAM") \
	METRIC(dram_write_bytes, roofline, "bytes written to DRAM") \
	METRIC(l2_bytes, roofline, "bytes that L2 was asked for, by all its clients") \
	METRIC(l1_bytes, roofline, "bytes of global, local and texture accesses in the L1 cache") \
	METRIC(shared_bytes, roofline, "bytes of shared memory accesses") \
	METRIC(fp64_add, roofline, "thread instructions DADD") \
	METRIC(fp64_mul, roofline, "thread instructions DMUL") \
	METRIC(fp64_fma, roofline, "thread instructions DFMA, two operations each") \
	METRIC(fp32_add, roofline, "thread instructions FADD") \
	METRIC(fp32_mul, roofline, "thread instructions FMUL") \
	METRIC(fp32_fma, roofline, "thread instructions FFMA, two operations each") \
	METRIC(fp16_add, roofline, "thread instructions HADD2, two operations each") \
	METRIC(fp16_mul, roofline, "thread instructions HMUL2, two operations each") \
	METRIC(fp16_fma, roofline, "thread instructions HFMA2, four operations each") \
	METRIC(tensor_instructions, roofline, "warp instructions of the tensor cores, of any type") \
	METRIC(tensor_fp64_ops, roofline, "tensor operations on FP64, a multiply and an add being two") \
	METRIC(tensor_tf32_ops, roofline, "tensor operations on TF32") \
	METRIC(tensor_bf16_ops, roofline, "tensor operations on BF16") \
	METRIC(tensor_fp16_ops, roofline, "tensor operations on FP16") \
	METRIC(tensor_fp8_ops, roofline, "tensor operations on FP8") \
	METRIC(tensor_int8_ops, roofline, "tensor operations on INT8") \
	METRIC(global_atom_instructions, atomics, "warp instructions: global atomics that return a value") \
	METRIC(global_red_instructions, atomics, "warp instructions: global reductions, which return none") \
	METRIC(shared_atom_instructions, atomics, "warp instructions: shared memory atomics") \
	METRIC(l2_atom_requests, atomics, "requests to L2 for atomics that return a value") \
	METRIC(l2_red_requests, atomics, "requests to L2 for reductions") \
	METRIC(l2_cas_requests, atomics, "those of l2_atom_requests that compare and swap") \
	METRIC(l2_atom_sectors, atomics, "32-byte sectors of l2_atom_requests") \
	METRIC(l2_red_sectors, atomics, "32-byte sectors of l2_red_requests") \
	METRIC(atomic_unit_cycles, atomics, "cycles in which the input of L2's atomic units was busy, summed over the slices") \
	METRIC(atomic_unit_cycles_max, atomics, "the same of the busiest slice") \
	METRIC(atomic_unit_cycles_mean, atomics, "the same of the mean slice") \
	METRIC(l2_cycles, atomics, "L2 cycles that passed during range_ns") \
	METRIC(shared_wavefronts, shared, "cycles of the SMs' data stage for accesses to shared memory") \
	METRIC(shared_conflicts, shared, "those of shared_wavefronts that bank conflicts added") \
	METRIC(global_load_sectors, global, "32-byte sectors of the L1 cache that loads from global memory touch") \
	METRIC(global_store_sectors, global, "the same of stores") \
	METRIC(global_load_requests, global, "requests to L1 of loads from global memory, one for each access of a warp") \
	METRIC(global_store_requests, global, "the same of stores") \
	METRIC(global_load_bytes, global, "bytes that threads load from global memory") \
	METRIC(global_store_bytes, global, "bytes that threads store there") \
	METRIC(sm_active_cycles_min, sm, "cycles with a warp resident, of the least busy SM") \
	METRIC(sm_active_cycles_mean, sm, "of the mean SM") \
	METRIC(sm_active_cycles_max, sm, "of the busiest SM") \
	METRIC(sm_elapsed_cycles, sm, "SM cycles that passed during range_ns") \
	METRIC(warps_active_percent, sm, "achieved occupancy: resident warps of those possible, while an SM was active") \
	METRIC(stall_barrier, stalls, "waits at a barrier of the thread block") \
	METRIC(stall_branch_resolving, stalls, "waits for a branch target") \
	METRIC(stall_dispatch_stall, stalls, "the dispatcher held the warp back") \
	METRIC(stall_drain, stalls, "waits for stores to leave after exit") \
	METRIC(stall_gmma, stalls, "waits for a warpgroup matrix product") \
	METRIC(stall_imc_miss, stalls, "waits for the constant cache") \
	METRIC(stall_lg_throttle, stalls, "queue of global and local memory full") \
	METRIC(stall_long_scoreboard, stalls, "waits for L1, L2 or DRAM") \
	METRIC(stall_math_pipe_throttle, stalls, "waits for an arithmetic unit") \
	METRIC(stall_membar, stalls, "waits for a memory barrier") \
	METRIC(stall_mio_throttle, stalls, "queue of shared memory and special functions full") \
	METRIC(stall_no_instruction, stalls, "waits for the instruction cache") \
	METRIC(stall_not_selected, stalls, "another warp was issued") \
	METRIC(stall_short_scoreboard, stalls, "waits for shared memory or special functions") \
	METRIC(stall_sleeping, stalls, "asked to sleep") \
	METRIC(stall_wait, stalls, "fixed latency of the instruction before")

/* clang-format on */

#define METRIC_CONSTANT(role, set, meaning) METRIC_##role,
enum metric_role { METRICS(METRIC_CONSTANT) METRIC_ROLE_COUNT, METRIC_NONE = METRIC_ROLE_COUNT };
#undef METRIC_CONSTANT

#define COUNTER_SET_CONSTANT(name, meaning) COUNTER_SET_##name,
enum counter_set { COUNTER_SETS(COUNTER_SET_CONSTANT) COUNTER_SET_COUNT };
#undef COUNTER_SET_CONSTANT

#endif
