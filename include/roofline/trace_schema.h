/*
 * trace_schema.h - every table and column of a trace, once.
 *
 * The collector writes these tables, the analyzer reads them; both generate
 * their row structures from the lists below, so the two cannot disagree.
 * This header knows nothing of CUPTI, of files or of parsing.
 *
 * To add a column:  one COLUMN row here, then the case in collector/activity.c
 *                   that fills it and the one in analyzer/trace/loader_*.c
 *                   that uses it.  docs/trace-format.md is checked against
 *                   this file by `make check`.
 * To add a table:   one TABLE row in TRACE_TABLES and its column list.
 *
 * A column is COLUMN(type, name, meaning).  Types:
 *   i64   signed 64-bit decimal; every time is one of these (nanoseconds of
 *         CLOCK_REALTIME since the Unix epoch)
 *   u64   unsigned 64-bit decimal
 *   u32   unsigned 32-bit decimal
 *   f64   decimal fraction, with as many digits as the value needs to read back the same
 *   text  UTF-8, quoted as RFC 4180 says when it has to be
 * A column missing from a file (an older writer) reads as 0 or "".
 */
#ifndef ROOFLINE_TRACE_SCHEMA_H
#define ROOFLINE_TRACE_SCHEMA_H

#include <stdint.h>

/* Raised when the meaning of an existing column changes; adding columns or tables does not raise it. */
#define TRACE_SCHEMA_VERSION 1

/* One row a line, so that other programs can read the lists too. */
/* clang-format off */

/* Facts of the process as key and value; the last row of a recording that ended well is `sealed_ns`. */
#define TRACE_PROCESS(COLUMN) \
	COLUMN(text, key, "what: see TRACE_PROCESS_KEYS") \
	COLUMN(text, value, "its value")

/* Interned strings.  Ids are unique within one process folder; the same text may have several ids. */
#define TRACE_NAMES(COLUMN) \
	COLUMN(u32, id, "referred to by columns called name, domain, path") \
	COLUMN(text, text, "the string; kernel names are mangled")

#define TRACE_DEVICES(COLUMN) \
	COLUMN(u32, device, "CUDA ordinal within this process") \
	COLUMN(text, name, "marketing name") \
	COLUMN(text, uuid, "GPU-xxxxxxxx-xxxx-..., as nvidia-smi prints it") \
	COLUMN(u32, compute_major, "compute capability") \
	COLUMN(u32, compute_minor, "compute capability") \
	COLUMN(u32, sm_count, "streaming multiprocessors") \
	COLUMN(u32, sm_clock_khz, "maximum SM clock") \
	COLUMN(u64, memory_bytes, "device memory") \
	COLUMN(u64, memory_byte_per_s, "peak DRAM bandwidth that the driver reports") \
	COLUMN(u64, l2_bytes, "L2 cache") \
	COLUMN(u32, copy_engine_count, "asynchronous copy engines") \
	COLUMN(u32, max_warps_per_sm, "resident warps") \
	COLUMN(u32, max_blocks_per_sm, "resident thread blocks") \
	COLUMN(u32, max_registers_per_sm, "32-bit registers") \
	COLUMN(u32, max_shared_bytes_per_sm, "shared memory") \
	COLUMN(u32, is_mig, "1 when it is a MIG instance")

#define TRACE_CONTEXTS(COLUMN) \
	COLUMN(u32, context, "CUPTI context id") \
	COLUMN(u32, device, "device of the context") \
	COLUMN(u32, null_stream, "stream id of the legacy default stream") \
	COLUMN(u32, is_green, "1 for a green context") \
	COLUMN(u32, parent_context, "primary context of a green one, else 0") \
	COLUMN(u32, sm_count, "multiprocessors given to a green context, else 0")

#define TRACE_STREAMS(COLUMN) \
	COLUMN(u32, context, "context of the stream") \
	COLUMN(u32, stream, "stream id, unique within the process") \
	COLUMN(u32, priority, "CUDA stream priority, as an unsigned copy of the int") \
	COLUMN(u32, flag, "1 default, 2 non-blocking, 3 null, as CUPTI numbers them")

/* What a kernel launch looked like; kernels rows point here, so a million launches stay short. */
#define TRACE_SIGNATURES(COLUMN) \
	COLUMN(u32, id, "referred to by kernels.signature") \
	COLUMN(u32, name, "names.id of the mangled kernel name") \
	COLUMN(u32, grid_x, "thread blocks") \
	COLUMN(u32, grid_y, "thread blocks") \
	COLUMN(u32, grid_z, "thread blocks") \
	COLUMN(u32, block_x, "threads") \
	COLUMN(u32, block_y, "threads") \
	COLUMN(u32, block_z, "threads") \
	COLUMN(u32, cluster_x, "thread blocks per cluster, 0 when there are no clusters") \
	COLUMN(u32, cluster_y, "thread blocks per cluster") \
	COLUMN(u32, cluster_z, "thread blocks per cluster") \
	COLUMN(u32, registers_per_thread, "32-bit registers") \
	COLUMN(u32, static_shared_bytes, "per thread block") \
	COLUMN(u32, dynamic_shared_bytes, "per thread block") \
	COLUMN(u32, local_bytes_per_thread, "local memory: spills and stack") \
	COLUMN(u32, launch_type, "0 regular, 1 cooperative, 2 cooperative on several devices, 3 by the device")

/* Of the machine code of each kernel that ran what no hardware counter tells: compilers also set registers to constants
 * with instructions of half precision.  A kernel that calls functions has those of all functions of its module too. */
#define TRACE_MACHINE_CODE(COLUMN) \
	COLUMN(u32, name, "names.id of the mangled kernel name; several rows: the name stands for several kernels") \
	COLUMN(u32, sm, "compute capability that the code is for: 90 for 9.0") \
	COLUMN(u32, instruction_count, "instructions, with those that fill up the end") \
	COLUMN(u32, half_constant_count, "of them, HFMA2 that set a register to a constant") \
	COLUMN(u32, half_conversion_count, "HADD2 that convert from half precision") \
	COLUMN(u32, half_arithmetic_count, "HADD2, HMUL2 and HFMA2 that compute") \
	COLUMN(u32, dependency_wait_count, "griddepcontrol.wait: made to be launched before the kernel before it ends") \
	COLUMN(u32, dependent_launch_count, "griddepcontrol.launch_dependents: lets the kernel behind it begin") \
	COLUMN(u32, load_count, "LD, LDG and LDGSTS: loads from memory that all blocks see") \
	COLUMN(u32, load_before_wait_count, "of them, those before the first griddepcontrol.wait; 0: there is none") \
	COLUMN(u64, code, "modules.code of the module that it is in")

/* Modules as the driver loads them: the program's own, those of libraries, and what was compiled while it ran. */
#define TRACE_MODULES(COLUMN) \
	COLUMN(i64, time_ns, "when it was in the context") \
	COLUMN(u32, thread, "system thread id") \
	COLUMN(u64, code, "hash of its machine code: equal for equal code") \
	COLUMN(u64, bytes, "size of its machine code, with what describes it") \
	COLUMN(u32, sm, "compute capability that the code is for: 90 for 9.0") \
	COLUMN(u32, kernel_count, "kernels in it")

#define TRACE_KERNELS(COLUMN) \
	COLUMN(i64, start_ns, "first thread block starts") \
	COLUMN(i64, end_ns, "last thread block ends") \
	COLUMN(u32, signature, "signatures.id") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, stream, "streams.stream") \
	COLUMN(u32, correlation, "api.correlation of the launch; 0 when no call launched it") \
	COLUMN(u32, graph, "executable graph id, 0 outside graphs") \
	COLUMN(u64, graph_node, "graph node id, 0 outside graphs")

#define TRACE_COPIES(COLUMN) \
	COLUMN(i64, start_ns, "copy starts on the device") \
	COLUMN(i64, end_ns, "copy ends") \
	COLUMN(u32, kind, "1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP ..., CUpti_ActivityMemcpyKind") \
	COLUMN(u32, src_memory, "1 pageable, 2 pinned, 3 device, 4 array, 5 managed, CUpti_ActivityMemoryKind") \
	COLUMN(u32, dst_memory, "as src_memory") \
	COLUMN(u64, bytes, "bytes moved") \
	COLUMN(u32, is_async, "1 when the copy was asked for asynchronously") \
	COLUMN(u32, device, "device that carries the copy out") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, stream, "streams.stream") \
	COLUMN(u32, correlation, "api.correlation of the call") \
	COLUMN(u32, graph, "executable graph id, 0 outside graphs") \
	COLUMN(u64, graph_node, "graph node id, 0 outside graphs") \
	COLUMN(u32, src_device, "peer copies: source device; otherwise device") \
	COLUMN(u32, dst_device, "peer copies: destination device; otherwise device") \
	COLUMN(u64, copy_count, "copies in a batch, 1 otherwise")

#define TRACE_MEMSETS(COLUMN) \
	COLUMN(i64, start_ns, "memset starts on the device") \
	COLUMN(i64, end_ns, "memset ends") \
	COLUMN(u64, bytes, "bytes set") \
	COLUMN(u32, value, "value written") \
	COLUMN(u32, memory, "memory kind, as copies.src_memory") \
	COLUMN(u32, is_async, "1 when asked for asynchronously") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, stream, "streams.stream") \
	COLUMN(u32, correlation, "api.correlation of the call") \
	COLUMN(u32, graph, "executable graph id, 0 outside graphs") \
	COLUMN(u64, graph_node, "graph node id, 0 outside graphs")

/* Host-side waits.  The api table has the calls; these rows tell what was waited for. */
#define TRACE_SYNCS(COLUMN) \
	COLUMN(i64, start_ns, "wait begins") \
	COLUMN(i64, end_ns, "wait ends") \
	COLUMN(u32, kind, "1 event, 2 stream waits event, 3 stream, 4 context, CUpti_ActivitySynchronizationType") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, stream, "streams.stream, 4294967295 when it does not apply") \
	COLUMN(u32, event, "event id, 4294967295 when it does not apply") \
	COLUMN(u32, correlation, "api.correlation of the call")

#define TRACE_API(COLUMN) \
	COLUMN(i64, start_ns, "call entered") \
	COLUMN(i64, end_ns, "call returned") \
	COLUMN(u32, name, "names.id: cudaLaunchKernel, cuLaunchKernel, ...") \
	COLUMN(u32, thread, "system thread id") \
	COLUMN(u32, correlation, "shared with the operations that the call caused") \
	COLUMN(u32, result, "cudaError_t or CUresult")

/* Calls about events and streams: what api tells the times of.  An event is its handle, which may come again once it is
 * destroyed; a wait is for what was last recorded into it before. */
#define TRACE_EVENT_CALLS(COLUMN) \
	COLUMN(u32, correlation, "api.correlation of the call") \
	COLUMN(u32, kind, "1 event recorded, 2 host waits for an event, 3 stream waits for an event, 4 host waits for a stream") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, stream, "streams.stream, 4294967295 when it does not apply") \
	COLUMN(u64, event, "handle of the event, 0 when it does not apply")

/* What calls that load code were given. */
#define TRACE_LOADS(COLUMN) \
	COLUMN(u32, correlation, "api.correlation of the call") \
	COLUMN(u32, kind, "1 machine code, 2 PTX, 3 a fat binary, 4 the name of a file, 0 none of these") \
	COLUMN(u32, is_embedded, "1 when it lies in the program or a library, 0 when it was made or read while the program ran")

/* Of launches by cuLaunchKernelEx that have them: attributes of which the kernel's record does not tell. */
#define TRACE_LAUNCH_ATTRIBUTES(COLUMN) \
	COLUMN(u32, correlation, "api.correlation of the launch") \
	COLUMN(u32, is_dependent, "1 when it may begin before the kernel before it in its stream has ended (programmatic stream serialization)") \
	COLUMN(u32, has_event, "1 when it records a programmatic event, for which others may wait before it has ended") \
	COLUMN(u32, has_priority, "1 when it has a priority of its own in place of its stream's") \
	COLUMN(u32, priority, "that priority, as an unsigned copy of the int") \
	COLUMN(u32, is_cooperative, "1 when it is cooperative: signatures.launch_type is 0 of such a launch")

/* Memory as calls of the driver allocate and free it, and static variables as their module is loaded.  What a graph
 * allocates has the time at which it was captured. */
#define TRACE_ALLOCATIONS(COLUMN) \
	COLUMN(i64, time_ns, "when") \
	COLUMN(u32, operation, "1 allocated, 2 freed") \
	COLUMN(u32, memory, "memory kind, as copies.src_memory") \
	COLUMN(u64, address, "where it begins, an array's handle, 0 of a static variable") \
	COLUMN(u64, bytes, "how much, 0 when freed") \
	COLUMN(u32, is_async, "1 in the order of a stream") \
	COLUMN(u64, pool, "handle of the memory pool, 0 when there is none or it is freed") \
	COLUMN(u32, device, "devices.device, 4294967295 when freed without a context") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, stream, "streams.stream, when is_async") \
	COLUMN(u32, correlation, "api.correlation of the call")

/* What the driver did with managed memory; only with --managed.  The values and flags are CUPTI's. */
#define TRACE_MANAGED(COLUMN) \
	COLUMN(i64, start_ns, "when it began, or was noticed") \
	COLUMN(i64, end_ns, "when it ended, or start_ns") \
	COLUMN(u32, kind, "1 moved to the device, 2 to the host, 3 CPU page fault, 4 GPU page faults, 5 thrashing, 6 throttling, 7 remote mapping, 8 moved between devices") \
	COLUMN(u64, value, "bytes; of GPU page faults how many groups, of a CPU page fault 1") \
	COLUMN(u64, address, "where the memory begins") \
	COLUMN(u32, source, "devices.device that it came from or that faulted, 4294967295: the host") \
	COLUMN(u32, destination, "devices.device that it went to, likewise") \
	COLUMN(u32, cause, "why memory was moved: 1 the program asked for it, 2 a page fault, 3 the driver expected one, 4 eviction, 5 access counters")

/* Words of the parameters of kernels that may be addresses: also members of structs; only with --args.  Equal sets of them
 * have one id, or a few. */
#define TRACE_ARGUMENTS(COLUMN) \
	COLUMN(u32, id, "referred to by launch_arguments.arguments; one row for each address") \
	COLUMN(u32, address_count, "rows of this id: where there are fewer, some were lost") \
	COLUMN(u32, parameter, "which of the kernel's parameters, from 0") \
	COLUMN(u32, offset, "bytes into it: 0, or the member of a struct") \
	COLUMN(u64, address, "what may be an address: allocations tell")

/* What each launch was given; a launch that has no row here was given what could not be read. */
#define TRACE_LAUNCH_ARGUMENTS(COLUMN) \
	COLUMN(u32, correlation, "api.correlation of the launch, 0 for a node of a graph") \
	COLUMN(u64, node, "graph_nodes.node, 0 outside graphs") \
	COLUMN(u32, arguments, "arguments.id, 0: no address, 4294967295: not known") \
	COLUMN(u32, others, "hash of all other bytes of the parameters: equal for equal")

#define ARGUMENTS_UNKNOWN UINT32_MAX

/* Nodes of graphs as they are made, and as instantiating a graph clones them: the clones run.  A clone has two rows, of
 * which the second knows its original, and its edges are told as well. */
#define TRACE_GRAPH_NODES(COLUMN) \
	COLUMN(u64, node, "node id, as kernels.graph_node") \
	COLUMN(u32, graph, "graph id that CUPTI gives a graph which is not executable") \
	COLUMN(u32, kind, "CUgraphNodeType: 0 kernel, 1 copy, 2 memset, 3 host, 4 child graph, 13 conditional ...") \
	COLUMN(u64, original, "node that it is a clone of, 0 for none")

#define TRACE_GRAPH_EDGES(COLUMN) \
	COLUMN(u64, node, "graph_nodes.node that waits") \
	COLUMN(u64, dependency, "graph_nodes.node that has to end before it")

/* Time that tracing and the driver themselves took. */
#define TRACE_OVERHEADS(COLUMN) \
	COLUMN(i64, start_ns, "overhead begins") \
	COLUMN(i64, end_ns, "overhead ends") \
	COLUMN(u32, name, "names.id: buffer flush, instrumentation, lazy function loading, ...") \
	COLUMN(u32, is_profiler, "1 when it exists only because of tracing") \
	COLUMN(u32, thread, "system thread id, 0 when it is not one thread's") \
	COLUMN(u32, correlation, "api.correlation during which it happened, 0 if none")

/* NVTX, as it happened; the analyzer pairs starts and ends by id. */
#define TRACE_MARKERS(COLUMN) \
	COLUMN(i64, time_ns, "when") \
	COLUMN(u32, id, "pairs a start with its end") \
	COLUMN(u32, phase, "0 instant, 1 start, 2 end") \
	COLUMN(u32, is_thread, "1 for push and pop, which nest per thread; 0 for start and end") \
	COLUMN(u32, thread, "system thread id") \
	COLUMN(u32, domain, "names.id, 0 for the default domain") \
	COLUMN(u32, name, "names.id, 0 on ends")

/* What NCCL was asked for, of NCCL 2.18 and newer, as the payloads of its NVTX ranges tell.  The kernel that does it is
 * launched by the same thread afterwards, within the call or at the end of a group of them. */
#define TRACE_COLLECTIVES(COLUMN) \
	COLUMN(i64, time_ns, "when NCCL was called") \
	COLUMN(u32, thread, "system thread id") \
	COLUMN(text, operation, "AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, Send, Recv, AlltoAll, Gather, Scatter") \
	COLUMN(u64, communicator, "communicators.communicator, 0 before NCCL 2.25") \
	COLUMN(u64, bytes, "of a message: count times size of the type, as the call has the count") \
	COLUMN(u32, peer, "the root, or the rank that it sends to or receives from, 4294967295 for none") \
	COLUMN(u32, reduction, "0 sum, 1 product, 2 maximum, 3 minimum, 4 average, more: of the program, 4294967295 for none")

/* NCCL's communicators, a row for each rank of this process. */
#define TRACE_COMMUNICATORS(COLUMN) \
	COLUMN(i64, time_ns, "when it was there; before NCCL 2.25 when it was asked for") \
	COLUMN(u32, thread, "system thread id") \
	COLUMN(u64, communicator, "equal on all its ranks, 0 before NCCL 2.25") \
	COLUMN(u32, rank, "in it, 4294967295: all its ranks are of this process") \
	COLUMN(u32, rank_count, "ranks in it") \
	COLUMN(u32, device, "devices.device, 4294967295: all ranks are of this process")

/* Threads and other resources that the program named through NVTX. */
#define TRACE_THREADS(COLUMN) \
	COLUMN(u32, thread, "system thread id") \
	COLUMN(u32, name, "names.id")

/* Whole graph launches, and graphs that the device launched; only with --graphs=graph. */
#define TRACE_GRAPHS(COLUMN) \
	COLUMN(i64, start_ns, "first node starts") \
	COLUMN(i64, end_ns, "last node ends") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, stream, "streams.stream") \
	COLUMN(u32, correlation, "api.correlation of the launch, 0 when the device launched it") \
	COLUMN(u32, graph, "executable graph id") \
	COLUMN(u32, launch_mode, "0 host, 1 fire and forget, 2 tail, 3 sibling") \
	COLUMN(u32, launcher_graph, "graph that launched it from the device, 0 otherwise")

#define TRACE_JIT(COLUMN) \
	COLUMN(i64, start_ns, "compilation or cache access begins") \
	COLUMN(i64, end_ns, "ends") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, entry, "1 PTX to cubin, 2 NVVM IR to PTX, CUpti_ActivityJitEntryType") \
	COLUMN(u32, operation, "1 cache load, 2 cache store, 3 compile, CUpti_ActivityJitOperationType") \
	COLUMN(u64, cache_bytes, "size of the cache entry") \
	COLUMN(u32, path, "names.id of the cache file") \
	COLUMN(u32, thread, "system thread id") \
	COLUMN(u32, correlation, "api.correlation during which it happened")

/* Hardware counters that were asked for, in the order of the request; only with --counters. */
#define TRACE_METRICS(COLUMN) \
	COLUMN(u32, id, "referred to by counters.metric") \
	COLUMN(u32, name, "names.id of CUPTI's name for it, 0 where this chip has none") \
	COLUMN(text, role, "what it stands for: a METRIC of roofline/metrics.h, empty for a counter asked for by name") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, is_patched, "1 when the kernel's code is instrumented to count it: such a launch's times are not its own")

/* Launches whose counters were read: one row a pass. */
#define TRACE_COUNTED(COLUMN) \
	COLUMN(u32, id, "referred to by counters.counted") \
	COLUMN(u32, correlation, "api.correlation of the launch; of kernels only those of pass 0 have a row in kernels") \
	COLUMN(u32, like, "correlation of the first counted launch of the same kernel and shape, or of the same graph") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, context, "contexts.context") \
	COLUMN(u32, pass, "which of the passes that the counters were divided into") \
	COLUMN(u32, is_graph, "1 when the values are those of a whole graph launch")

#define TRACE_COUNTERS(COLUMN) \
	COLUMN(u32, counted, "counted.id") \
	COLUMN(u32, metric, "metrics.id") \
	COLUMN(f64, value, "as CUPTI evaluates it")

/* The whole GPU over time, whoever used it; only with --sample.  One row a sample, or one for several in
 * a row in which nothing ran.  A column that was not sampled is 0 and has no row in sampled_metrics. */
#define TRACE_SAMPLES(COLUMN) \
	COLUMN(i64, start_ns, "the first sample of the row begins") \
	COLUMN(u64, length_ns, "until the last sample of the row ends") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, sample_count, "1, or more of samples in which nothing ran") \
	COLUMN(u32, dispatches, "kernels that began, whoever launched them") \
	COLUMN(u64, blocks, "thread blocks that were launched") \
	COLUMN(u64, compute_cycles, "cycles of the front end with compute work, also 1 to 2 us after the last") \
	COLUMN(u64, front_cycles, "cycles of the front end that passed") \
	COLUMN(u64, sm_cycles, "cycles with a warp resident, summed over the SMs") \
	COLUMN(u64, sm_cycles_min, "of the least busy SM") \
	COLUMN(u64, sm_cycles_max, "of the busiest SM") \
	COLUMN(u64, sm_elapsed_cycles, "cycles of one SM that passed") \
	COLUMN(u64, tensor_cycles, "cycles with tensor cores active, summed over the SMs") \
	COLUMN(u64, dram_read_bytes, "bytes read from DRAM") \
	COLUMN(u64, dram_write_bytes, "bytes written to DRAM") \
	COLUMN(u64, l2_sectors, "32-byte sectors of L2, by all its clients") \
	COLUMN(u64, atomic_sectors, "those of them for atomics and reductions") \
	COLUMN(u64, pcie_read_bytes, "bytes that the GPU read over PCIe") \
	COLUMN(u64, pcie_write_bytes, "bytes that the GPU wrote over PCIe, sampling's own among them") \
	COLUMN(u64, nvlink_rx_bytes, "bytes received over NVLink") \
	COLUMN(u64, nvlink_tx_bytes, "bytes sent over NVLink")

/* Which counter stood for which column of samples. */
#define TRACE_SAMPLED_METRICS(COLUMN) \
	COLUMN(u32, device, "devices.device") \
	COLUMN(text, role, "the column of samples") \
	COLUMN(text, name, "CUPTI's names for it, separated by +; empty where this chip has none")

/* Time in which samples has no hole.  What lies outside was not sampled, and says nothing. */
#define TRACE_SAMPLED_SPANS(COLUMN) \
	COLUMN(u32, device, "devices.device") \
	COLUMN(i64, start_ns, "samples begin") \
	COLUMN(i64, end_ns, "and end; the next row may go on from here") \
	COLUMN(u64, interval_ns, "length of a sample")

/* What NVML tells of each GPU, ten times a second; only with --power.  0: it does not tell. */
#define TRACE_POWER(COLUMN) \
	COLUMN(i64, time_ns, "when") \
	COLUMN(u32, device, "devices.device") \
	COLUMN(u32, sm_clock_mhz, "clock of the SMs") \
	COLUMN(u32, memory_clock_mhz, "clock of the memory") \
	COLUMN(u32, power_mw, "what the whole board draws, as the driver averages it") \
	COLUMN(u32, temperature_c, "of the GPU") \
	COLUMN(u64, reasons, "bits of nvmlDeviceGetCurrentClocksEventReasons: why clocks are not higher, roofline/power.h")

/* Whatever did not make it into the other tables.  Counts add up over rows of one kind. */
#define TRACE_LOSSES(COLUMN) \
	COLUMN(i64, time_ns, "when it was noticed") \
	COLUMN(text, kind, "see TRACE_LOSS_KINDS") \
	COLUMN(u64, count, "records, buffers or bytes, as the kind says") \
	COLUMN(text, detail, "for people")

/* The same moment on three clocks, to join other logs. */
#define TRACE_CLOCKS(COLUMN) \
	COLUMN(i64, realtime_ns, "CLOCK_REALTIME") \
	COLUMN(i64, monotonic_raw_ns, "CLOCK_MONOTONIC_RAW") \
	COLUMN(i64, cupti_ns, "cuptiGetTimestamp")

/* TABLE(name, columns): the file is name.csv.  Small tables that others refer to come first. */
#define TRACE_TABLES(TABLE) \
	TABLE(process, TRACE_PROCESS) \
	TABLE(names, TRACE_NAMES) \
	TABLE(devices, TRACE_DEVICES) \
	TABLE(contexts, TRACE_CONTEXTS) \
	TABLE(streams, TRACE_STREAMS) \
	TABLE(signatures, TRACE_SIGNATURES) \
	TABLE(machine_code, TRACE_MACHINE_CODE) \
	TABLE(modules, TRACE_MODULES) \
	TABLE(kernels, TRACE_KERNELS) \
	TABLE(copies, TRACE_COPIES) \
	TABLE(memsets, TRACE_MEMSETS) \
	TABLE(graphs, TRACE_GRAPHS) \
	TABLE(api, TRACE_API) \
	TABLE(syncs, TRACE_SYNCS) \
	TABLE(event_calls, TRACE_EVENT_CALLS) \
	TABLE(loads, TRACE_LOADS) \
	TABLE(launch_attributes, TRACE_LAUNCH_ATTRIBUTES) \
	TABLE(allocations, TRACE_ALLOCATIONS) \
	TABLE(managed, TRACE_MANAGED) \
	TABLE(arguments, TRACE_ARGUMENTS) \
	TABLE(launch_arguments, TRACE_LAUNCH_ARGUMENTS) \
	TABLE(graph_nodes, TRACE_GRAPH_NODES) \
	TABLE(graph_edges, TRACE_GRAPH_EDGES) \
	TABLE(overheads, TRACE_OVERHEADS) \
	TABLE(jit, TRACE_JIT) \
	TABLE(markers, TRACE_MARKERS) \
	TABLE(collectives, TRACE_COLLECTIVES) \
	TABLE(communicators, TRACE_COMMUNICATORS) \
	TABLE(threads, TRACE_THREADS) \
	TABLE(metrics, TRACE_METRICS) \
	TABLE(counted, TRACE_COUNTED) \
	TABLE(counters, TRACE_COUNTERS) \
	TABLE(sampled_metrics, TRACE_SAMPLED_METRICS) \
	TABLE(sampled_spans, TRACE_SAMPLED_SPANS) \
	TABLE(samples, TRACE_SAMPLES) \
	TABLE(power, TRACE_POWER) \
	TABLE(clocks, TRACE_CLOCKS) \
	TABLE(losses, TRACE_LOSSES)

/* KEY(name, meaning): the keys of process.csv that the collector writes. */
#define TRACE_PROCESS_KEYS(KEY) \
	KEY(schema, "TRACE_SCHEMA_VERSION of the writer") \
	KEY(collector, "version of the collector") \
	KEY(host, "host name") \
	KEY(pid, "process id") \
	KEY(parent_pid, "process id of the parent") \
	KEY(command, "command line, arguments separated by spaces; without them with --no-command-line") \
	KEY(start_ns, "the collector was loaded") \
	KEY(identity, "random: a folder with the same host, pid, start_ns and identity is a copy of this one") \
	KEY(cupti, "cuptiGetVersion") \
	KEY(cupti_path, "file that libcupti was loaded from") \
	KEY(driver, "CUDA version of the driver, cuDriverGetVersion") \
	KEY(driver_name, "version of the kernel driver, as nvidia-smi prints it") \
	KEY(frameworks, "which of them are loaded when CUDA starts, separated by spaces: PyTorch, JAX, CuPy, Numba") \
	KEY(graphs, "node or graph: what a graph launch was recorded as") \
	KEY(record, "which call of rooflinectl record it belongs to, when one started it") \
	KEY(run, "which run of the program it is of, where there are several: RUN of roofline/runs.h") \
	KEY(control, "1 when rooflinectl ctl can reach the collector") \
	KEY(last, "--last, when given: only so much was kept") \
	KEY(dump_reason, "why a dump was made: it is a part of a recording") \
	KEY(dumped_ns, "when it was asked for") \
	KEY(filter_kernels, "--kernels, when given") \
	KEY(delay_ns, "--delay, when given") \
	KEY(duration_ns, "--duration, when given") \
	KEY(profiler_api, "1 when only spans between cudaProfilerStart and Stop were kept") \
	KEY(rank, "rank in the job: of MPI, PMI, Slurm or torchrun") \
	KEY(local_rank, "rank on this host") \
	KEY(world_size, "ranks in the job") \
	KEY(cuda_visible_devices, "CUDA_VISIBLE_DEVICES, when set") \
	KEY(args, "1 with --args") \
	KEY(args_problem, "why arguments of kernels that were asked for were not read") \
	KEY(counters, "--counters, when given: sets and metric names") \
	KEY(counters_mode, "rotation: each launch carries one pass; replay: each launch was repeated for every pass") \
	KEY(counters_passes, "passes that the counters were divided into") \
	KEY(counters_problem, "why counters that were asked for were not read") \
	KEY(sample_ns, "--sample, when given: length of a sample") \
	KEY(sample_used_ns, "length of a sample at last, on the slowest device: longer where decoding did not keep up") \
	KEY(sample_decode_ns, "what decoding a sample took, in the mean over all of them") \
	KEY(sample_windows, "when samples were taken: continuous, or in windows") \
	KEY(sample_buffer_bytes, "asked of the driver for what was sampled and not yet decoded") \
	KEY(sample_image_samples, "samples that one decoding has room for at most") \
	KEY(sample_decodes, "times that samples were decoded, on all devices") \
	KEY(sample_reserve_decodes, "of these, late ones that took a larger image held in reserve") \
	KEY(sample_full_images, "of these, those that filled their image: what had no room was lost") \
	KEY(sample_decode_gap_max_ns, "longest time from the beginning of one decoding to that of the next, when continuous") \
	KEY(sample_image_wait_max_ns, "longest wait for an image to decode into") \
	KEY(sample_decode_max_ns, "longest decoding") \
	KEY(sample_problem, "why samples that were asked for were not taken") \
	KEY(managed, "1 when page faults and migrations of managed memory were recorded") \
	KEY(managed_problem, "why those that were asked for were not recorded") \
	KEY(power_problem, "why clocks and power that were asked for were not read") \
	KEY(imported_from, "tool and version of the file that rooflinectl import made the recording of") \
	KEY(imported_lacks, "what that tool does not tell") \
	KEY(imported_resolution_ns, "what its times are rounded to, where that is coarser than 1 ns") \
	KEY(excerpt, "it is a part of a recording that pack --range or --from made: which") \
	KEY(excerpt_first_ns, "when the first operation of the whole recording began") \
	KEY(excerpt_from_ns, "where the part begins; absent: where the recording does") \
	KEY(excerpt_to_ns, "where it ends, likewise") \
	KEY(excerpt_process_first_ns, "the first moment of this process in the part") \
	KEY(excerpt_process_last_ns, "and the last") \
	KEY(excerpt_turns, "threads that take turns with the first of them in the whole recording: their calls are its own") \
	KEY(excerpt_without_samples, "1 when the whole recording has a run with samples, which an excerpt does not") \
	KEY(sealed_ns, "the recording was closed properly: the program ended, or a limit was reached")

/* LOSS(name, unit, meaning): the kinds of losses.csv. */
#define TRACE_LOSS_KINDS(LOSS) \
	LOSS(dropped_records, "records", "CUPTI had no buffer to put them in") \
	LOSS(refused_buffers, "buffers", "CUPTI asked beyond the memory limit and was refused") \
	LOSS(invalid_times, "records", "start or end was zero or no number, or the end lay before the start") \
	LOSS(unknown_records, "records", "of a kind that this collector does not know") \
	LOSS(undecoded_bytes, "bytes", "rest of a buffer that CUPTI could not decode") \
	LOSS(unwritten_rows, "rows", "could not be written: disk full, folder gone, no room in a queue") \
	LOSS(filtered_kernels, "records", "left out on request: --kernels") \
	LOSS(outside_window, "records", "left out on request: --delay, --duration, profiler API, ctl stop") \
	LOSS(older_segments, "segments", "left out on request: of a dump, older than what --last keeps") \
	LOSS(undumped_ranges, "ranges", "took longer than --when-slower allows while a dump for another one was made, or too soon after it") \
	LOSS(late_records, "records", "arrived after the recording had been closed") \
	LOSS(size_limit, "recordings", "ended by --max-size before the program did: what came later is counted in late_records") \
	LOSS(low_disk, "recordings", "ended before the program did, as no more space, or no more files, were to be taken from its disk (ROOFLINE_MIN_FREE): what came later is counted in late_records") \
	LOSS(unusable_counts, "launches", "their counters were read but not evaluated: other work ran beside them, or CUPTI dropped them") \
	LOSS(lost_sample_ns, "ns", "of a GPU's time that should have been sampled and was not: its buffer was full, or decoding too slow") \
	LOSS(foreign_buffers, "buffers", "of the program's own use of CUPTI were handed to the collector, which left them alone") \
	LOSS(taken_buffers, "buffers", "CUPTI gave them to somebody else, who registered for its records after the collector") \
	LOSS(late_attachments, "threads", "used NVTX or started CUDA before the collector was attached: what they did until then is missing") \
	LOSS(yielded, "processes", "left out on request: --yield, and the program or another profiler uses CUPTI") \
	LOSS(unimported, "records", "of the imported file have no place in a recording") \
	LOSS(missing_features, "features", "this CUPTI is too old for them, see docs/support.md") \
	LOSS(disabled_kinds, "kinds", "CUPTI refused to record this kind")

/* clang-format on */

/* Row structures: struct trace_kernels_row { int64_t start_ns; ... }. */
typedef int64_t trace_i64;
typedef uint64_t trace_u64;
typedef uint32_t trace_u32;
typedef double trace_f64;
typedef const char *trace_text;

#define TRACE_COLUMN_MEMBER(type, name, meaning) trace_##type name;
#define TRACE_ROW_STRUCT(table, columns)     \
	struct trace_##table##_row {         \
		columns(TRACE_COLUMN_MEMBER) \
	};
TRACE_TABLES(TRACE_ROW_STRUCT)
#undef TRACE_ROW_STRUCT
#undef TRACE_COLUMN_MEMBER

#define TRACE_TABLE_ENUM(table, columns) TRACE_TABLE_##table,
enum trace_table { TRACE_TABLES(TRACE_TABLE_ENUM) TRACE_TABLE_COUNT };
#undef TRACE_TABLE_ENUM

#endif
