/*
 * metric_names.h - which of NVIDIA's hardware counters answers each role of metrics.h.
 *
 * The collector asks CUPTI for them; in Nsight Compute's files they have the same names.
 */
#ifndef ROOFLINE_METRIC_NAMES_H
#define ROOFLINE_METRIC_NAMES_H

/* ANSWER(role, counters): in the order of preference; '+' adds.  Names as the host API of CUPTI 13.0
 * knows them; tests/collector/metric_table.c asks it about every chip. */
#define METRIC_NAMES(ANSWER)                                                              \
	ANSWER(range_ns, "gpu__time_duration.sum")                                        \
	ANSWER(dram_read_bytes, "dram__bytes_read.sum")                                   \
	ANSWER(dram_write_bytes, "dram__bytes_write.sum")                                 \
	ANSWER(l2_bytes, "lts__t_bytes.sum")                                              \
	ANSWER(l1_bytes, "l1tex__t_bytes.sum")                                            \
	ANSWER(shared_bytes, "smsp__sass_data_bytes_mem_shared.sum")                      \
	ANSWER(fp64_add, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum")           \
	ANSWER(fp64_mul, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum")           \
	ANSWER(fp64_fma, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum")           \
	ANSWER(fp32_add, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum")           \
	ANSWER(fp32_mul, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum")           \
	ANSWER(fp32_fma, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum")           \
	ANSWER(fp16_add, "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum")           \
	ANSWER(fp16_mul, "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum")           \
	ANSWER(fp16_fma, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum")           \
	ANSWER(tensor_instructions, "sm__inst_executed_pipe_tensor.sum")                  \
	ANSWER(tensor_fp64_ops, "sm__ops_path_tensor_src_fp64.sum")                       \
	ANSWER(tensor_tf32_ops, "sm__ops_path_tensor_src_tf32_dst_fp32.sum")              \
	ANSWER(tensor_bf16_ops, "sm__ops_path_tensor_src_bf16_dst_fp32.sum")              \
	/* Hopper: of wgmma, and of mma.sync by accumulator */                            \
	ANSWER(tensor_fp16_ops, "sm__ops_path_tensor_op_hgmma_src_fp16.sum+"              \
				"sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum+"      \
				"sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum")      \
	ANSWER(tensor_fp16_ops, "sm__ops_path_tensor_src_fp16_dst_fp32.sum+"              \
				"sm__ops_path_tensor_src_fp16_dst_fp16.sum")              \
	ANSWER(tensor_fp16_ops, "sm__ops_path_tensor_src_fp16_dst_fp32.sum")              \
	ANSWER(tensor_fp8_ops, "sm__ops_path_tensor_src_fp8.sum")                         \
	ANSWER(tensor_int8_ops, "sm__ops_path_tensor_src_int8.sum")                       \
	ANSWER(tensor_int8_ops, "sm__ops_path_tensor_op_igmma_src_int8.sum+"              \
				"sm__ops_path_tensor_op_imma_src_int8_sparsity_off.sum+"  \
				"sm__ops_path_tensor_op_imma_src_int8_sparsity_on.sum")   \
	ANSWER(tensor_int8_ops, "sm__ops_path_tensor_op_igmma_src_int8.sum")              \
	ANSWER(global_atom_instructions, "smsp__sass_inst_executed_op_global_atom.sum")   \
	ANSWER(global_red_instructions, "smsp__sass_inst_executed_op_global_red.sum")     \
	ANSWER(shared_atom_instructions, "smsp__sass_inst_executed_op_shared_atom.sum")   \
	ANSWER(l2_atom_requests, "lts__t_requests_op_atom.sum")                           \
	ANSWER(l2_red_requests, "lts__t_requests_op_red.sum")                             \
	ANSWER(l2_cas_requests, "lts__t_requests_op_atom_dot_cas.sum")                    \
	ANSWER(l2_atom_sectors, "lts__t_sectors_op_atom.sum")                             \
	ANSWER(l2_red_sectors, "lts__t_sectors_op_red.sum")                               \
	ANSWER(atomic_unit_cycles, "lts__d_atomic_input_cycles_active.sum")               \
	ANSWER(atomic_unit_cycles_max, "lts__d_atomic_input_cycles_active.max")           \
	ANSWER(atomic_unit_cycles_mean, "lts__d_atomic_input_cycles_active.avg")          \
	ANSWER(l2_cycles, "lts__cycles_elapsed.max")                                      \
	ANSWER(shared_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")       \
	ANSWER(shared_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")    \
	ANSWER(global_load_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")     \
	ANSWER(global_store_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")    \
	ANSWER(global_load_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")   \
	ANSWER(global_store_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")  \
	ANSWER(global_load_bytes, "smsp__sass_data_bytes_mem_global_op_ld.sum")           \
	ANSWER(global_store_bytes, "smsp__sass_data_bytes_mem_global_op_st.sum")          \
	ANSWER(sm_active_cycles_min, "sm__cycles_active.min")                             \
	ANSWER(sm_active_cycles_mean, "sm__cycles_active.avg")                            \
	ANSWER(sm_active_cycles_max, "sm__cycles_active.max")                             \
	ANSWER(sm_elapsed_cycles, "sm__cycles_elapsed.max")                               \
	ANSWER(warps_active_percent, "sm__warps_active.avg.pct_of_peak_sustained_active") \
	METRIC_NAMES_STALL(ANSWER, barrier)                                               \
	METRIC_NAMES_STALL(ANSWER, branch_resolving)                                      \
	METRIC_NAMES_STALL(ANSWER, dispatch_stall)                                        \
	METRIC_NAMES_STALL(ANSWER, drain)                                                 \
	METRIC_NAMES_STALL(ANSWER, gmma)                                                  \
	METRIC_NAMES_STALL(ANSWER, imc_miss)                                              \
	METRIC_NAMES_STALL(ANSWER, lg_throttle)                                           \
	METRIC_NAMES_STALL(ANSWER, long_scoreboard)                                       \
	METRIC_NAMES_STALL(ANSWER, math_pipe_throttle)                                    \
	METRIC_NAMES_STALL(ANSWER, membar)                                                \
	METRIC_NAMES_STALL(ANSWER, mio_throttle)                                          \
	METRIC_NAMES_STALL(ANSWER, no_instruction)                                        \
	METRIC_NAMES_STALL(ANSWER, not_selected)                                          \
	METRIC_NAMES_STALL(ANSWER, short_scoreboard)                                      \
	METRIC_NAMES_STALL(ANSWER, sleeping)                                              \
	METRIC_NAMES_STALL(ANSWER, wait)

#define METRIC_NAMES_STALL(ANSWER, why) \
	ANSWER(stall_##why, "smsp__average_warps_issue_stalled_" #why "_per_issue_active.ratio")

#endif
