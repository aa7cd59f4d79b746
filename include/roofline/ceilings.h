/*
 * ceilings.h - every roof that is measured, once, and how a measuring program tells it.
 *
 * The programs of workloads/ceilings/ measure, `rooflinectl ceilings` runs them and
 * stores what they print, analyzer/analysis/counters/ceilings.c reads it back.  No CUDA here.
 *
 * To add one: its CEILING row, and the code that measures it in the program that the
 * row names (a new program is one more workloads/ceilings/foo.cu and its PROGRAM row).
 *
 * A program prints one line per sample, at once (stdout is not buffered):
 *
 *   sample NAME PARAMETER VALUE SM_MHZ
 *
 * NAME is a row below; PARAMETER a whole number (what it is says the row; 0 when the
 * row has none); VALUE is in the row's unit, by whole run and not per SM; SM_MHZ the
 * clock that the SMs ran at during the sample (measured on the device), 0 when nothing
 * ran there.  At least five samples of every row; the reader takes the median.  Before
 * its first sample it prints `plan COUNT`, the samples that it is going to print, and
 * where this GPU lacks what it takes `skip NAME PARAMETER REASON` instead of a sample.
 * Its option --quick takes fewer and shorter samples: all programs together within 20 s.
 */
#ifndef ROOFLINE_CEILINGS_H
#define ROOFLINE_CEILINGS_H

/* PROGRAM(name, what): workloads/ceilings/NAME.cu, in the order that they run */
#define CEILING_PROGRAMS(PROGRAM)                                                       \
	PROGRAM(memory, "device memory")                                                \
	PROGRAM(caches, "L2, L1 and shared memory")                                     \
	PROGRAM(arithmetic, "FMA units")                                                \
	PROGRAM(tensor, "tensor cores")                                                 \
	PROGRAM(transfer, "copies between host and device")                             \
	PROGRAM(atomics, "atomic units")                                                \
	PROGRAM(orchestration, "launches, graphs, synchronization")                     \
	PROGRAM(device_launches, "launches by the device, conditional nodes, barriers") \
	PROGRAM(links, "between GPUs")                                                  \
	PROGRAM(nvshmem, "NVSHMEM between two GPUs")

/* clang-format off */

/* CEILING(name, program, unit, parameter, meaning).  Units: B/s, FLOP/s, op/s: more is better; ns: less is better. */
#define CEILINGS(CEILING) \
	CEILING(dram_read, memory, "B/s", "", "read a buffer far larger than the L2 cache") \
	CEILING(dram_write, memory, "B/s", "", "write one") \
	CEILING(dram_copy, memory, "B/s", "", "copy one to another: bytes read plus bytes written") \
	CEILING(dram_triad, memory, "B/s", "", "a = b + s * c: bytes of all three") \
	CEILING(l2_read, caches, "B/s", "", "all SMs read a buffer that fits in L2 and not in L1") \
	CEILING(l1_read, caches, "B/s", "", "every SM reads a buffer that fits in its L1") \
	CEILING(shared_read, caches, "B/s", "", "every SM reads its shared memory without bank conflicts") \
	CEILING(fp64_fma, arithmetic, "FLOP/s", "", "independent FMA chains, an FMA being two operations") \
	CEILING(fp32_fma, arithmetic, "FLOP/s", "", "the same in single precision") \
	CEILING(fp16_fma, arithmetic, "FLOP/s", "", "the same in packed half precision (half2)") \
	CEILING(tensor_fp64, tensor, "FLOP/s", "", "the best of several cuBLASLt matrix products on random data") \
	CEILING(tensor_tf32, tensor, "FLOP/s", "", "TF32 inputs, FP32 accumulation") \
	CEILING(tensor_bf16, tensor, "FLOP/s", "", "BF16 inputs, FP32 accumulation") \
	CEILING(tensor_fp16, tensor, "FLOP/s", "", "FP16 inputs, FP32 accumulation") \
	CEILING(tensor_fp8, tensor, "FLOP/s", "", "FP8 (E4M3) inputs, FP32 accumulation") \
	CEILING(h2d_pinned, transfer, "B/s", "", "host to device, page-locked memory") \
	CEILING(d2h_pinned, transfer, "B/s", "", "device to host, page-locked memory") \
	CEILING(pinned_both, transfer, "B/s", "", "each direction, copies in both at once, page-locked memory") \
	CEILING(peer_copy, transfer, "B/s", "", "one GPU to another, which may access each other") \
	CEILING(h2d_pageable, transfer, "B/s", "", "host to device, ordinary memory") \
	CEILING(d2h_pageable, transfer, "B/s", "", "device to host, ordinary memory") \
	CEILING(host_register, transfer, "ns", "bytes", "cudaHostRegister of so many bytes of ordinary memory that was written before") \
	CEILING(atomic_add, atomics, "op/s", "addresses", "thread atomics on so many addresses, all different within a warp where there are enough, with operands that the compiler cannot aggregate") \
	CEILING(atomic_cas, atomics, "op/s", "addresses", "the same with compare-and-swap, whether it succeeds or not") \
	CEILING(atomic_shared_add, atomics, "op/s", "addresses", "in shared memory, so many addresses per thread block") \
	CEILING(atomic_shared_cas, atomics, "op/s", "addresses", "the same with compare-and-swap") \
	CEILING(launch_call, orchestration, "ns", "", "the host's time in one kernel launch call") \
	CEILING(launch_period, orchestration, "ns", "", "empty kernels back to back: start to start") \
	CEILING(launch_to_start, orchestration, "ns", "", "launch call entered to kernel started, on an idle device") \
	CEILING(synchronize, orchestration, "ns", "", "kernel ended to stream synchronization returned") \
	CEILING(block_wave, orchestration, "ns", "threads", "device time that a kernel of empty blocks of so many threads takes longer for as many blocks more as fit on the device at once") \
	CEILING(kernel_gap, orchestration, "ns", "", "a kernel's last instruction to the first one of the next in its stream") \
	CEILING(dependent_gap, orchestration, "ns", "", "as kernel_gap, to a programmatic dependent launch that waits for the kernel before") \
	CEILING(kernel_step, orchestration, "ns", "", "as launch_period, of a kernel with a block for each SM, each thread of which reads a value of the one before and writes one") \
	CEILING(event_wait, orchestration, "ns", "", "kernel ended to the kernel of another stream started that waited for its event") \
	CEILING(stream_wait, orchestration, "ns", "", "the host's time to have a stream wait for another one: cudaEventRecord, cudaStreamWaitEvent, and what the launch behind them takes longer") \
	CEILING(small_copy, orchestration, "ns", "", "cudaMemcpy of 4 bytes from the device, call to return") \
	CEILING(graph_launch, orchestration, "ns", "", "the host's time in one launch of a graph with one empty kernel") \
	CEILING(graph_branches, orchestration, "ns", "nodes", "the host's time in one launch of a graph with so many empty kernels side by side") \
	CEILING(graph_node, orchestration, "ns", "", "device time that each further empty kernel of a chain in a graph takes") \
	CEILING(graph_node_gap, orchestration, "ns", "", "as kernel_gap, from a node of a graph to the next") \
	CEILING(graph_step, orchestration, "ns", "", "as graph_node, of the kernel of kernel_step") \
	CEILING(graph_gap, orchestration, "ns", "", "as kernel_gap, from the last node of a graph to the first of the one launched after it") \
	CEILING(graph_to_start, orchestration, "ns", "", "graph launch call entered to its first kernel started, on an idle device") \
	CEILING(graph_copy, orchestration, "ns", "", "device time that a copy of 4 bytes to pinned host memory between two kernels of a chain in a graph adds") \
	CEILING(graph_copy_in, orchestration, "ns", "", "likewise, of such a copy from there") \
	CEILING(graph_copy_to_start, orchestration, "ns", "", "as graph_to_start, of a graph that begins with such a copy") \
	CEILING(graph_copy_in_to_start, orchestration, "ns", "", "likewise, of such a copy from there") \
	CEILING(graph_set_params, orchestration, "ns", "", "the host's time to give one kernel of a graph another grid, cudaGraphExecKernelNodeSetParams and the longer launch") \
	CEILING(graph_updated_launch, orchestration, "ns", "", "of that, what the launch takes longer") \
	CEILING(graph_update, orchestration, "ns", "nodes", "cudaGraphExecUpdate of a graph of so many kernels") \
	CEILING(graph_instantiate, orchestration, "ns", "nodes", "cudaGraphInstantiate of so many kernels") \
	CEILING(graph_first_launch, orchestration, "ns", "nodes", "the host's time in the first launch of an executable graph of so many kernels") \
	CEILING(graph_destroy, orchestration, "ns", "nodes", "cudaGraphExecDestroy of so many kernels") \
	CEILING(device_graph_fire_and_forget, device_launches, "ns", "", "launch on the device to the launched graph's first kernel started") \
	CEILING(device_graph_tail, device_launches, "ns", "", "launch on the device, the last thing that a graph does, to the tail graph's first kernel started") \
	CEILING(device_graph_sibling, device_launches, "ns", "", "as fire and forget, launched as a sibling") \
	CEILING(child_launch, device_launches, "ns", "", "dynamic parallelism: launch on the device to child started") \
	CEILING(child_tail, device_launches, "ns", "", "likewise, a child that waits for the end of its parent: launch on the device to child started") \
	CEILING(child_next, device_launches, "ns", "", "device time that each further empty child of a thread takes, one after the other") \
	CEILING(child_beside, device_launches, "ns", "", "device time that each of the next few empty children takes, launched by blocks of their own") \
	CEILING(child_return, device_launches, "ns", "", "the last child's last instruction to the first one of the next kernel in its parent's stream") \
	CEILING(conditional_iteration, device_launches, "ns", "", "one iteration of a WHILE node whose body is one kernel that sets the condition and does nothing else") \
	CEILING(conditional_if, device_launches, "ns", "", "device time that each further pair takes, in a chain in a graph, of a kernel that sets a condition and an IF node whose body is one empty kernel") \
	CEILING(conditional_skip, device_launches, "ns", "", "the same where the condition is false") \
	CEILING(grid_barrier, device_launches, "ns", "", "one grid-wide synchronization of a cooperative kernel that fills the device") \
	CEILING(barrier_step, device_launches, "ns", "", "device time that each further step of a cooperative kernel takes that does what the kernel of kernel_step does, and synchronizes the grid") \
	CEILING(peer_out, links, "B/s", "bytes", "copies of so many bytes to another GPU") \
	CEILING(peer_in, links, "B/s", "bytes", "copies of so many bytes from it") \
	CEILING(peer_both, links, "B/s", "bytes", "each direction, copies of so many bytes in both at once") \
	CEILING(peer_small, links, "ns", "", "a copy of 4 bytes to another GPU, one after the other") \
	CEILING(peer_staged, links, "B/s", "bytes", "through the host: a copy there, a wait, a copy to the other GPU, and a wait") \
	CEILING(peer_signal, links, "ns", "", "a kernel writes to another GPU's memory until a kernel there sees it: half of there and back") \
	CEILING(nccl_all_reduce, links, "ns", "bytes", "NCCL's ncclAllReduce of so many bytes of floats, of all GPUs that reach each other: one after the other, launched or in a graph, whichever is faster, as the other rows of NCCL") \
	CEILING(nccl_small_by_gpus, links, "ns", "gpus", "ncclAllReduce of 8 bytes, of so many of these GPUs") \
	CEILING(nccl_large_by_gpus, links, "ns", "gpus", "likewise, of 256 MiB") \
	CEILING(nccl_all_gather, links, "ns", "bytes", "ncclAllGather, so many bytes of all GPUs together") \
	CEILING(nccl_reduce_scatter, links, "ns", "bytes", "ncclReduceScatter, likewise") \
	CEILING(nccl_send_recv, links, "ns", "bytes", "ncclSend of so many bytes to the next GPU, and ncclRecv from the one before") \
	CEILING(nvshmem_put, nvshmem, "B/s", "bytes", "nvshmemx_putmem_on_stream of so many bytes to another GPU, one after the other") \
	CEILING(nvshmem_put_small, nvshmem, "ns", "", "likewise, of 8 bytes: what each takes") \
	CEILING(nvshmem_put_signal, nvshmem, "ns", "bytes", "nvshmemx_putmem_signal_on_stream of so many bytes until a stream of the other GPU has waited for it: half of there and back") \
	CEILING(nvshmem_store, nvshmem, "B/s", "", "a kernel on all SMs stores into another GPU's symmetric memory, which is what nvshmem_putmem does in a kernel") \
	CEILING(nvshmem_store_signal, nvshmem, "ns", "bytes", "a block stores so many bytes there, waits until they have arrived (nvshmem_quiet) and sets a signal, until a block there has seen it: half of there and back")

/* clang-format on */

#define CEILING_CONSTANT(name, program, unit, parameter, meaning) CEILING_##name,
enum ceiling_id { CEILINGS(CEILING_CONSTANT) CEILING_COUNT };
#undef CEILING_CONSTANT

#endif
