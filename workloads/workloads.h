/*
 * workloads.h - every bundled workload, once.
 *
 * To add one: write workloads/foo.cu (which ends in RUN_WORKLOAD), or foo.py (which
 * ends in run_workload), its page docs/workloads/foo.md, and add its row here.  The
 * programs take id and summary from the row, workload.py by reading this header;
 * `rooflinectl workloads` lists the rows.  No CUDA in this header.
 */
#ifndef ROOFLINE_WORKLOADS_H
#define ROOFLINE_WORKLOADS_H

/* WORKLOAD(name, id, technique, control, summary), those of one technique together, by id.
 * control is 1 where the right advice is to leave the naive variant as it is. */
#define WORKLOADS(WORKLOAD)                                                                     \
	WORKLOAD(atomic_batch, "A1", "work queues and atomics", 0,                              \
		 "every thread takes its items from one counter")                               \
	WORKLOAD(atomic_hierarchy, "A2", "work queues and atomics", 0,                          \
		 "one sum of many values, all added to one counter")                            \
	WORKLOAD(histogram, "A3", "work queues and atomics", 0,                                 \
		 "one counter a bin, and keys that prefer some bins")                           \
	WORKLOAD(work_queue, "A4", "work queues and atomics", 0,                                \
		 "equal shares of unequal items: a few blocks hold the heavy ones")             \
	WORKLOAD(work_queue_mild, "A5", "work queues and atomics", 1,                           \
		 "unequal items, but every block holds the same mix")                           \
	WORKLOAD(persistent, "A6", "work queues and atomics", 0,                                \
		 "many small steps in a row, each a launch of its own")                         \
	WORKLOAD(graph_chain, "B1", "CUDA graphs", 0,                                           \
		 "three short kernels in a row, over and over")                                 \
	WORKLOAD(graph_pipeline, "B2", "CUDA graphs", 0,                                        \
		 "copy in, compute, copy out, and the host needs each result to go on")         \
	WORKLOAD(graph_forkjoin, "B3", "CUDA graphs", 0,                                        \
		 "three independent branches of small kernels, one after the other")            \
	WORKLOAD(graph_manual, "B4", "CUDA graphs", 0,                                          \
		 "three tasks that do not need each other, captured as a chain")                \
	WORKLOAD(graph_update, "B5", "CUDA graphs", 0,                                          \
		 "calls of different sizes, a few of which need one more kernel")               \
	WORKLOAD(graph_memory, "B6", "CUDA graphs", 0,                                          \
		 "three short kernels that hand each other temporary arrays")                   \
	WORKLOAD(graph_modes, "B7", "CUDA graphs", 0,                                           \
		 "a graph captured while another thread loads what comes next")                 \
	WORKLOAD(graph_large, "B8", "CUDA graphs", 1,                                           \
		 "three kernels in a row, each far longer than its launch")                     \
	WORKLOAD(device_graph, "C1", "decisions on the device", 0,                              \
		 "rounds of a graph, and after each the GPU says whether there is another")     \
	WORKLOAD(device_scheduler, "C2", "decisions on the device", 0,                          \
		 "a queue of requests, and a graph that makes one token after another")         \
	WORKLOAD(device_choice, "C3", "decisions on the device", 0,                             \
		 "two ways to compress a chunk, and the data decide which")                     \
	WORKLOAD(conditional_if, "C4", "decisions on the device", 0,                            \
		 "values that grow, and are scaled down when the GPU finds them too large")     \
	WORKLOAD(conditional_ifelse, "C4", "decisions on the device", 0,                        \
		 "events for few cells or for many, and a way to go through either")            \
	WORKLOAD(conditional_switch, "C4", "decisions on the device", 0,                        \
		 "a batch goes to one of four experts or to none, as its values vote")          \
	WORKLOAD(conditional_while, "C4", "decisions on the device", 0,                         \
		 "rounds of an iteration until no value of a batch moves any more")             \
	WORKLOAD(conditional_nested, "C4", "decisions on the device", 0,                        \
		 "steps through time, as large as their error allows")                          \
	WORKLOAD(conditional_precision, "C5", "decisions on the device", 0,                     \
		 "values stored as FP16 whenever the largest of them fits")                     \
	WORKLOAD(dynamic_parallelism, "C6", "decisions on the device", 0,                       \
		 "a parent kernel and the two kernels that follow from it")                     \
	WORKLOAD(dp_irregular, "C7", "decisions on the device", 0,                              \
		 "a picture refined where it needs to be, which only the data knows")           \
	WORKLOAD(dp_tokens, "C8", "decisions on the device", 0,                                 \
		 "a batch of tokens, few of which need an extra kernel")                        \
	WORKLOAD(dp_tiny, "C9", "decisions on the device", 1,                                   \
		 "long work on every item, then a digest of 32 values")                         \
	WORKLOAD(copy_overlap, "D1", "overlap and concurrency", 0,                              \
		 "chunks of host memory, copied in, updated and copied back")                   \
	WORKLOAD(concurrent_kernels, "D2", "overlap and concurrency", 0,                        \
		 "eight jobs in a row that need nothing from each other, each a small grid")    \
	WORKLOAD(dependent_launch, "D6", "overlap and concurrency", 0,                          \
		 "layer after layer, and each first loads weights of its own")                  \
	WORKLOAD(clusters, "D7", "overlap and concurrency", 0,                                  \
		 "running sums along rows that are longer than an SM has memory for")           \
	WORKLOAD(fuse_elementwise, "E1", "fusion", 0,                                           \
		 "chains of elementwise kernels that hand each other whole arrays")             \
	WORKLOAD(fuse_reduction, "E2", "fusion", 0,                                             \
		 "softmax along rows, a kernel for each of its three steps")                    \
	WORKLOAD(fuse_horizontal, "E3", "fusion", 0,                                            \
		 "small products and short requests, one launch after the other")               \
	WORKLOAD(fuse_conv_bn_relu, "E4", "fusion", 0,                                          \
		 "a convolution, and three kernels that each go through its result again")      \
	WORKLOAD(fuse_layernorm_gemm, "E5", "fusion", 0,                                        \
		 "a matrix product between a normalization and an activation")                  \
	WORKLOAD(overfused, "E6", "fusion", 1,                                                  \
		 "nine steps of a transform in two kernels, and in one that spills")            \
	WORKLOAD(bank_conflict, "E7", "shared memory", 0,                                       \
		 "a matrix transposed by tiles whose columns lie in one bank")                  \
	WORKLOAD(jit_gemm, "F1", "specialize and tune", 0,                                      \
		 "matrix products of shapes that only a running program knows")                 \
	WORKLOAD(jit_ptx, "F2", "specialize and tune", 1,                                       \
		 "an exponential that is at the memory's roof, by whatever compiler")           \
	WORKLOAD(autotune, "F3", "specialize and tune", 0,                                      \
		 "a matrix product whose time depends on block, tile and unrolling")            \
	WORKLOAD(tune_transpose, "F4", "specialize and tune", 0,                                \
		 "a matrix transposed, and many ways to divide it among threads")               \
	WORKLOAD(p2p_overlap, "H1", "several GPUs", 0,                                          \
		 "GPUs in a ring, each of which hands its results to the next")                 \
	WORKLOAD(nccl_bucketed, "H2", "several GPUs", 0,                                        \
		 "training steps whose gradients all GPUs add up when the last is there")       \
	WORKLOAD(nccl_graph, "H3", "several GPUs", 0,                                           \
		 "short steps, in the middle of which all GPUs add up, and hosts that wait")    \
	WORKLOAD(mpi_cuda, "H4", "several GPUs", 0,                                             \
		 "a ring of processes that hand results on by MPI, through the host's memory")  \
	WORKLOAD(nvshmem_signal, "H5", "several GPUs", 0,                                       \
		 "a short vector in a ring of GPUs, handed from one to the next by the hosts")  \
	WORKLOAD(nvshmem_steal, "H6", "several GPUs", 0,                                        \
		 "tasks of unequal cost, a fixed share of which belongs to each GPU")           \
	WORKLOAD(nvshmem_step, "H7", "several GPUs", 0,                                         \
		 "many short steps, between which the hosts of all GPUs meet")                  \
	WORKLOAD(two_stage, "H8", "several GPUs", 0,                                            \
		 "attention on one GPU, an MLP on the next, and a host that hands over")        \
	WORKLOAD(scaling, "H9", "several GPUs", 0,                                              \
		 "the same training step on one GPU, on half of them, and on all")              \
	WORKLOAD(memory_bound, "D3", "roofs", 1, "a vector triad as fast as the memory allows") \
	WORKLOAD(compute_bound, "D4", "roofs", 1,                                               \
		 "FMA chains and matrix products as fast as the arithmetic allows")             \
	WORKLOAD(precision, "D5", "roofs", 0,                                                   \
		 "a memory-bound operation on values wider than they need to be")               \
	WORKLOAD(transformer, "G1", "a whole model", 0,                                         \
		 "decoder layers, each operation of which is a kernel")                         \
	WORKLOAD(pytorch, "I1", "frameworks", 0,                                                \
		 "a small PyTorch model, every operation of which is launched from Python")

#endif
