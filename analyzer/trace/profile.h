/*
 * profile.h - a recording in memory: everything that the analyses may know.
 *
 * profile_load() reads all processes of a recording and resolves ids: names
 * become strings, devices of several processes are merged by UUID, streams and
 * threads get one index each for the whole recording.  Analyses read this and
 * never a trace row.  Nothing here is changed after loading.
 *
 * A program that was recorded in several runs has a profile of each, which are
 * never added up: that of its first run owns the others.
 *
 * The whole report of ten million operations and their API calls must fit in 800 MB, so the two
 * big arrays hold small fixed structures, everything that repeats is interned, and what
 * few have stands in tables of its own.
 */
#ifndef ROOFLINE_PROFILE_H
#define ROOFLINE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/names/kernel_labels.h"
#include "roofline/metrics.h"
#include "roofline/power.h"
#include "roofline/sampled.h"
#include "trace/tables.h"

#define PROFILE_NONE UINT32_MAX /* "there is none" in every index below */

/* What CUPTI calls them in profile_copy.kind, .src_memory and .dst_memory, and in profile_stream.flag. */
#define COPY_TO_DEVICE 1	/* CUPTI_ACTIVITY_MEMCPY_KIND_HTOD */
#define COPY_TO_HOST 2		/* CUPTI_ACTIVITY_MEMCPY_KIND_DTOH */
#define COPY_ON_DEVICE 8	/* CUPTI_ACTIVITY_MEMCPY_KIND_DTOD */
#define COPY_BETWEEN_DEVICES 10 /* CUPTI_ACTIVITY_MEMCPY_KIND_PTOP */
#define MEMORY_PAGEABLE 1	/* CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE */
#define MEMORY_PINNED 2		/* CUPTI_ACTIVITY_MEMORY_KIND_PINNED */
#define MEMORY_MANAGED 5	/* CUPTI_ACTIVITY_MEMORY_KIND_MANAGED */
#define STREAM_NON_BLOCKING 2	/* CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING */

/* One GPU, merged over the processes by UUID (by ordinal and name where there is none). */
/* The operations around a part of a recording, in ops[] behind the op_count that are of it; PROFILE_NONE: none.  What was
 * idle up to the ends of the part was so between these and its own. */
struct profile_outside {
	uint32_t before,
		after; /* the one that ended last before the part, the one that began first behind it */
};

struct profile_device {
	char *name;
	char *uuid;
	uint32_t compute_major, compute_minor;
	uint32_t sm_count;
	uint32_t sm_clock_khz;
	uint64_t memory_bytes;
	uint64_t memory_byte_per_s;
	uint64_t l2_bytes;
	uint32_t max_warps_per_sm, max_blocks_per_sm, max_registers_per_sm, max_shared_bytes_per_sm;
	size_t first_op, op_count;	   /* its slice of ops[] */
	struct profile_outside outside;	   /* of a part */
	size_t first_sample, sample_count; /* of the samples */
	size_t first_span, span_count;	   /* of sampled_spans[] */
	uint32_t sampled;		   /* bit 1 << SAMPLED_role: what samples[] know of it */
};

struct profile_stream {
	uint32_t process; /* index into processes[] */
	uint32_t device;  /* index into devices[] */
	uint32_t context; /* CUPTI ids, for people */
	uint32_t stream;
	uint32_t priority, flag;
	bool is_null; /* the legacy default stream */
};

struct profile_thread {
	uint32_t process;
	uint32_t thread;		 /* system thread id */
	const char *name;		 /* through NVTX, or NULL */
	size_t first_call, call_count;	 /* its slice of calls[] */
	size_t first_range, range_count; /* its slice of ranges[] */
	bool is_joined; /* its calls are those of the process's leader, with which it takes turns */
};

/* What CUPTI calls them in profile_signature.launch_type. */
#define LAUNCH_IS_COOPERATIVE 1	      /* CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE */
#define LAUNCH_IS_COOPERATIVE_MULTI 2 /* CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE */

/* What a kernel launch looked like.  Equal signatures of several processes are one. */
struct profile_signature {
	const char *name; /* demangled */
	const char *mangled;
	uint32_t kernel; /* index into kernel_names[]: equal for equal demangled names */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers_per_thread;
	uint32_t static_shared_bytes, dynamic_shared_bytes;
	uint32_t local_bytes_per_thread;
	uint32_t launch_type;
	uint64_t
		unrecorded_count; /* launches that are no operation: counted by instrumented code */
};

/* What the machine code of a kernel has; of several of one name and compute capability the most of each. */
struct profile_machine_code {
	uint32_t kernel; /* kernel_names[] */
	uint32_t sm;	 /* 90 for compute capability 9.0 */
	uint32_t instruction_count;
	uint32_t half_constant_count,
		half_conversion_count; /* half precision that computes nothing */
	uint32_t half_arithmetic_count;
	/* Of programmatic dependent launch: waits for the kernel before, and lets the next begin. */
	uint32_t dependency_wait_count, dependent_launch_count;
	/* Loads from memory that all blocks see, and those of them before it waits; 0: none, or an older recording. */
	uint32_t load_count, load_before_wait_count;
};

/* A module that the driver loaded: machine code of the program, of a library, or compiled while it ran. */
struct profile_module {
	int64_t time_ns; /* when it was in the context */
	uint64_t code;	 /* equal for equal machine code */
	uint64_t bytes;
	uint32_t sm;	 /* 90 for compute capability 9.0; 0: it has no kernels */
	uint32_t thread; /* threads[] or PROFILE_NONE */
};

/* A kernel that ran, and code that has a kernel of that name. */
struct profile_module_kernel {
	uint64_t code;	 /* profile_module.code */
	uint32_t kernel; /* kernel_names[] */
};

struct profile_copy {
	uint64_t bytes;
	uint32_t kind; /* CUpti_ActivityMemcpyKind, see profile_copy_kind_name */
	uint32_t src_memory,
		dst_memory; /* CUpti_ActivityMemoryKind, see profile_memory_kind_name */
	uint32_t src_device, dst_device; /* devices[] */
	bool is_async;
};

struct profile_memset {
	uint64_t bytes;
	uint32_t memory;
	bool is_async;
};

/* One launch of a whole graph (--graphs=graph). */
struct profile_graph_launch {
	uint32_t launch_mode; /* 0 host, 1 fire and forget, 2 tail, 3 sibling */
	uint32_t launcher_graph;
};

enum profile_op_kind { OP_KERNEL, OP_COPY, OP_MEMSET, OP_GRAPH };

/* More streams than fit into memory. */
#define OP_STREAMS_MOST (1U << 28)

/* One operation on a GPU; 28 bytes.  profile_op_device() tells its device, which is that of its stream. */
struct __attribute__((packed, aligned(4))) profile_op {
	int64_t start_ns, end_ns; /* start_ns <= end_ns, both valid */
	uint32_t detail;	  /* by kind: signatures[], copies[], memsets[], graph_launches[] */
	uint32_t call;		  /* calls[] that launched it, or PROFILE_NONE */
	uint32_t stream : 28;	  /* streams[] */
	uint32_t kind : 2;	  /* enum profile_op_kind */
	uint32_t counted : 2;	  /* enum profile_counted */
};

/* What CUPTI calls an operation.  Most are in no graph and have the correlation of their call: profile_op_ids() tells. */
struct profile_op_ids {
	uint64_t graph_node;  /* CUPTI's node id, 0 outside graphs */
	uint32_t graph;	      /* executable graph id, 0 outside graphs */
	uint32_t correlation; /* within its process */
};

/* Whether an operation's counters were read while it ran. */
enum profile_counted {
	NOT_COUNTED,
	COUNTED,	 /* alone on the device; its own times are right */
	COUNTED_PATCHED, /* repeated or with instrumented code: its times are not its own */
};

/* A hardware counter that was asked for. */
struct profile_metric {
	const char *name; /* CUPTI's; "" where a chip of the recording has none for this role */
	uint32_t role;	  /* enum metric_role, METRIC_NONE for one asked for by name */
};

/* One counter of one launch signature, or of the launches of one graph. */
struct profile_counter {
	uint32_t subject; /* signatures[], or counted_graphs[] */
	bool is_graph;
	uint32_t metric;       /* metrics[] */
	uint64_t sample_count; /* launches that the values stand on, at least 1: without the first
				* counted one, which runs cold, where there are more */
	double mean, min, max;
};

/* An executable graph whose launches were counted as a whole. */
struct profile_counted_graph {
	uint32_t process; /* processes[] */
	uint32_t graph;	  /* profile_op_ids.graph */
};

/* What an API call is for.  trace/api_class.c derives it from the name. */
enum profile_call_class {
	CALL_OTHER,
	CALL_LAUNCH, /* kernels, host functions */
	CALL_GRAPH_LAUNCH,
	CALL_GRAPH_MANAGE, /* capture, instantiate, update, upload, node parameters, destroy */
	CALL_COPY,	   /* copies and memsets */
	CALL_SYNC,	   /* waits of the host */
	CALL_EVENT,	   /* event record, stream waits event */
	CALL_MEMORY,	   /* allocate, free, register, map; pools */
	CALL_MODULE,	   /* module and library load, lazy loading, JIT */
	CALL_CREATE,	   /* create or destroy a stream or an event */
	CALL_CLASS_COUNT
};

struct profile_call_name {
	char *text; /* cudaLaunchKernel; version suffix removed */
	enum profile_call_class call_class;
};

/* More names of calls than CUDA will have, and greater results. */
#define CALL_NAMES_MOST (1U << 20)
#define CALL_RESULT_MOST ((1U << 12) - 1)

/* One host call; 28 bytes.  Calls nested in another of the same thread are left out, their parent stands. */
struct __attribute__((packed, aligned(4))) profile_call {
	int64_t start_ns, end_ns;
	uint32_t name : 20; /* call_names[] */
	uint32_t
		result : 12; /* cudaError_t or CUresult, 0 is success; a greater one is CALL_RESULT_MOST */
	uint32_t thread; /* threads[] */
	uint32_t correlation;
};

/* A launch or a wait, as it went in a run of the program without recording; times are of that run. */
struct profile_untraced_call {
	uint32_t call; /* calls[] */
	int64_t start_ns, end_ns;
};

struct profile_sync {
	int64_t start_ns, end_ns;
	uint32_t kind;	 /* CUpti_ActivitySynchronizationType */
	uint32_t stream; /* streams[] or PROFILE_NONE */
	uint32_t call;	 /* calls[] or PROFILE_NONE */
};

/* Of calls about events and streams what profile_call does not tell. */
enum profile_event_call_kind {
	EVENT_RECORDED = 1,
	EVENT_AWAITED_BY_HOST,
	EVENT_AWAITED_BY_STREAM,
	STREAM_AWAITED_BY_HOST,
};

struct profile_event_call {
	uint64_t event;	  /* its handle, 0: none; destroyed events may leave theirs to others */
	uint32_t call;	  /* calls[] or PROFILE_NONE */
	uint32_t process; /* processes[] */
	uint32_t stream;  /* streams[] or PROFILE_NONE */
	uint32_t kind;	  /* enum profile_event_call_kind */
};

/* Of launches that asked for something what profile_signature does not tell. */
struct profile_launch {
	uint32_t call;	   /* calls[] or PROFILE_NONE */
	int32_t priority;  /* has_priority: its own, in place of its stream's; lower runs first */
	bool is_dependent; /* it may begin before the kernel before it has ended */
	bool has_event;	   /* others may wait for an event of it before it has */
	bool has_priority;
	bool is_cooperative; /* by attribute, of which profile_signature.launch_type does not tell */
};

/* What a call that loads code was given. */
enum profile_image { IMAGE_UNKNOWN, IMAGE_MACHINE_CODE, IMAGE_PTX, IMAGE_FAT_BINARY, IMAGE_FILE };

struct profile_load {
	uint32_t call;	  /* calls[] or PROFILE_NONE */
	uint32_t image;	  /* enum profile_image */
	bool is_embedded; /* in the program or a library, not made or read while it ran */
};

struct profile_overhead {
	int64_t start_ns, end_ns;
	const char *name;
	uint32_t process;
	uint32_t thread; /* threads[] or PROFILE_NONE */
	bool is_profiler;
};

struct profile_jit {
	int64_t start_ns, end_ns;
	uint32_t entry, operation;
	uint64_t cache_bytes;
	uint32_t thread; /* threads[] or PROFILE_NONE */
};

/* An NVTX range.  One that never ended lasts until its process's last event and is_open. */
struct profile_range {
	int64_t start_ns, end_ns;
	const char *domain; /* "" for the default domain */
	const char *name;   /* of an operator of PyTorch without what it was called with */
	uint32_t thread;    /* threads[] it started on */
	uint32_t depth;	    /* 0 outermost; push and pop only */
	bool is_push_pop;
	bool is_open;
	const char *recorded_name; /* NULL where it is the name */
};

/* What NCCL was asked for; the same thread launches the kernel that does it afterwards. */
struct profile_nccl_call {
	int64_t time_ns;
	uint64_t communicator; /* equal on all its ranks; 0: this NCCL does not tell */
	uint64_t bytes;	       /* of a message */
	const char *operation; /* "AllReduce" */
	uint32_t thread;       /* threads[] */
	uint32_t
		peer; /* the root, or the rank that it sends to or receives from, or PROFILE_NONE */
	uint32_t reduction; /* as in collectives.csv, or PROFILE_NONE */
};

/* A communicator of NCCL, as one of its ranks made it. */
struct profile_communicator {
	int64_t time_ns;
	uint64_t communicator; /* 0: this NCCL does not tell */
	uint32_t process;      /* processes[] */
	uint32_t rank;	       /* in it; PROFILE_NONE: all ranks are of this process */
	uint32_t rank_count;
	uint32_t device; /* devices[] or PROFILE_NONE */
};

/* What the whole GPU did for a moment, whoever used it; 88 bytes. */
struct profile_sample {
	int64_t start_ns;
	uint64_t length_ns;
	uint32_t device;       /* devices[] */
	uint32_t sample_count; /* more than 1: samples in a row in which nothing ran */
	float dispatches, blocks;
	float compute;	      /* 0 to 1: of the time; also 1 to 2 us after the last kernel */
	float sm;	      /* 0 to 1: SMs with a warp resident, of all SMs and of the time */
	float sm_min, sm_max; /* of the least busy and the busiest SM */
	float tensor;	      /* 0 to 1, as sm */
	float dram_read_bytes, dram_write_bytes;
	float l2_bytes, atomic_bytes; /* atomic_bytes are those of l2_bytes */
	float pcie_read_bytes, pcie_write_bytes;
	float nvlink_rx_bytes, nvlink_tx_bytes;
};

/* Time of a device in which samples[] have no hole; the rest was not sampled. */
struct profile_sampled_span {
	uint32_t device; /* devices[] */
	int64_t start_ns, end_ns;
	uint64_t interval_ns; /* length of a sample */
};

/* A reading of NVML; 0 where it does not tell. */
struct profile_power {
	int64_t time_ns;
	uint64_t reasons; /* bits of POWER_REASONS: why clocks were not higher */
	uint32_t device;  /* devices[] */
	uint32_t sm_clock_mhz, memory_clock_mhz;
	uint32_t power_mw;
	uint32_t temperature_c;
};

/* Memory that the program allocated or freed. */
struct profile_allocation {
	int64_t time_ns;
	uint64_t address, bytes;
	uint64_t pool;	  /* address of the memory pool that it is of, 0: none */
	uint32_t process; /* processes[] */
	uint32_t device;  /* devices[] or PROFILE_NONE */
	uint32_t call;	  /* calls[] or PROFILE_NONE */
	uint32_t memory;  /* CUpti_ActivityMemoryKind, see profile_memory_kind_name */
	bool is_free;
};

/* What the driver did with managed memory, as CUpti_ActivityUnifiedMemoryCounterKind has it. */
enum profile_managed_kind {
	MANAGED_TO_DEVICE = 1,
	MANAGED_TO_HOST,
	MANAGED_CPU_FAULT,
	MANAGED_GPU_FAULTS,
	MANAGED_THRASHING,
	MANAGED_THROTTLING,
	MANAGED_REMOTE_MAP,
	MANAGED_BETWEEN_DEVICES,
	MANAGED_KIND_COUNT
};

/* CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE and _PREFETCH: what the driver moves along with what is touched. */
enum { MANAGED_FOR_FAULT = 2, MANAGED_EXPECTED_FAULT };

struct profile_managed {
	int64_t start_ns, end_ns;
	uint64_t value;		      /* bytes; of faults how many */
	uint32_t kind;		      /* enum profile_managed_kind */
	uint32_t source, destination; /* devices[], PROFILE_NONE: the host, or it does not apply */
	uint32_t cause;		      /* as in managed.csv */
};

/* A word of a kernel's parameters that may be an address. */
struct profile_argument {
	uint64_t address;
	uint32_t set;	    /* argument_sets[] */
	uint32_t parameter; /* which, from 0 */
	uint32_t offset;    /* bytes into it: 0, or the member of a struct */
};

/* Those of one launch; launches with equal ones have one set, or a few. */
struct profile_argument_set {
	uint32_t first, count;	/* its slice of arguments[] */
	uint32_t address_count; /* that it had */
	bool is_whole;		/* else some were lost */
};

/* What a launch, or a node of a graph that was made, was given; only with --args. */
struct profile_given {
	uint64_t subject; /* correlation of the launch, or id of the node */
	uint32_t process; /* processes[] */
	uint32_t set;	  /* argument_sets[] or PROFILE_NONE: not known */
	uint32_t others;  /* hash of all other bytes of the parameters */
	bool is_node;
};

/* A node of a graph and the one that it is a clone of; only with --args. */
struct profile_clone {
	uint64_t node, original;
	uint32_t process; /* processes[] */
};

struct profile_property {
	char *key, *value;
};

struct profile_process {
	char *folder;			     /* host.pid */
	struct profile_property *properties; /* every row of process.csv */
	size_t property_count;
	const char *host, *command; /* borrowed from properties, "" when absent */
	uint64_t pid;
	int64_t start_ns;	   /* collector loaded, 0 when unknown */
	int64_t sealed_ns;	   /* 0: the recording was cut off */
	int64_t first_ns, last_ns; /* first and last moment that any row mentions */
	int64_t heard_ns;	   /* of the collector's last sign of life, 0: unknown */
	int64_t rank;		   /* -1 when none */
	uint32_t run;		   /* enum roofline_run */
	bool is_replay;		   /* counters by replay: kernels' times are not their own */
	bool is_graph_level;	   /* recorded with --graphs=graph */
	uint32_t leader;	   /* threads[]: whose the calls of those are that is_joined says */
	bool has_managed;	   /* page faults and migrations of managed memory were recorded */
	bool is_filtered;	   /* by --kernels, --delay, --duration or the profiler API */
	/* Impossible facts of an import (loader_doubts.c). */
	uint64_t launch_count;	    /* calls that launch kernels or graphs */
	uint64_t lost_launch_count; /* those of them without an operation */
	uint64_t
		impossible_count; /* operations that were left out, as their times are impossible */
	uint64_t early_count;	  /* operations that begin before their launch: the clocks differ */
	int64_t early_ns;	  /* by so much at most; 0: none */
	bool has_lost_nccl_calls; /* rows of collectives.csv are cut off or cannot be used */
	/* All times are by the clock of that host, from which this process's own was so far ahead; NULL: by its own host's. */
	const char *clock_host;
	int64_t clock_ahead_ns, clock_error_ns;
	uint64_t clock_common_count; /* collectives that this stands on; 0: it is that host's */
};

/* A launch between others whose operation an imported file does not have. */
struct profile_lost_launch {
	int64_t start_ns;
	uint32_t process; /* processes[] */
};

/* What was lost, from losses.csv and from reading; counts of one kind and process are added up. */
struct profile_loss {
	uint32_t process;
	const char *kind; /* a LOSS name of trace_schema.h, or one of the reader's own below */
	uint64_t count;
	const char *detail; /* of the first row; for the reader's own: file:line: what */
};

/* The same over all processes. */
struct profile_loss_sum {
	const char *kind;
	uint64_t count;
	uint32_t first; /* losses[]: the first of that kind */
};

/* The reader's own losses: unreadable_rows, orphan_ids, invalid_times, cut_off_rows, missing_tables,
 * nul_bytes, newer_schema, copied_processes, impossible_times, lost_operations: READER_LOSS_KINDS of reader.h says what each is. */

/* The time that was selected (profile_select.h), by who reads it or by who packed it; else is_part is false. */
struct profile_window {
	bool is_part;
	int64_t first_ns; /* always: when the first operation of all devices of the whole recording began, from which times
			   * for people are told; INT64_MAX: there is none */
	int64_t from_ns, to_ns;	 /* INT64_MIN and INT64_MAX where it has no such end */
	bool is_without_samples; /* they are of a run of their own, which was left out */
	const char *
		told; /* of an excerpt (excerpt.h), what it has of the whole recording; else NULL */
};

struct profile {
	char *path; /* folder of the recording */
	struct profile_window window;
	struct profile_process *processes;
	size_t process_count;
	struct profile_device *devices;
	size_t device_count;
	struct profile_stream *streams;
	size_t stream_count;
	struct profile_thread *threads;
	size_t thread_count;
	char **kernel_names; /* demangled, unique */
	size_t kernel_name_count;
	struct kernel_labels
		*kernel_labels; /* what they are called in reports; shared by all runs */
	struct profile_signature *signatures;
	size_t signature_count;
	struct profile_machine_code *machine_codes; /* by kernel, then sm; one of each */
	size_t machine_code_count;
	struct profile_module *modules; /* by time_ns */
	size_t module_count;
	struct profile_module_kernel *module_kernels; /* by code, then kernel */
	size_t module_kernel_count;
	struct profile_copy *copies;
	size_t copy_count;
	struct profile_memset *memsets;
	size_t memset_count;
	struct profile_graph_launch *graph_launches;
	size_t graph_launch_count;
	struct profile_op *ops; /* by device, then start_ns, then end_ns */
	size_t op_count;
	size_t outside_count;	       /* ops[] behind those: of profile_outside */
	struct profile_op_ids *op_ids; /* as ops[]; NULL: they follow from their calls */
	struct profile_call_name *call_names;
	size_t call_name_count;
	struct profile_call *calls; /* by thread, then start_ns */
	size_t call_count;
	struct profile_range *ranges; /* by thread, then start_ns */
	size_t range_count;
	struct profile_sync *syncs; /* by start_ns */
	size_t sync_count;
	struct profile_event_call *event_calls; /* by call */
	size_t event_call_count;
	struct profile_launch *launches; /* by call; those that have attributes */
	size_t launch_count;
	struct profile_load *loads; /* by call */
	size_t load_count;
	struct profile_managed *manageds; /* by start_ns */
	size_t managed_count;
	struct profile_overhead *overheads; /* by start_ns */
	size_t overhead_count;
	struct profile_jit *jits; /* by start_ns */
	size_t jit_count;
	struct profile_metric *metrics; /* equal ones of several processes and devices are one */
	size_t metric_count;
	struct profile_counter *counters; /* by is_graph, subject, metric */
	size_t counter_count;
	struct profile_counted_graph *counted_graphs;
	size_t counted_graph_count;
	struct profile_sample *samples;	 /* by device, then start_ns; samples.h reads them */
	size_t sample_count;		 /* of all devices' slices */
	struct sample_file *sample_file; /* owned; has them where they are too many for samples[] */
	struct profile_sampled_span *sampled_spans; /* likewise; those that touch are one */
	size_t sampled_span_count;
	struct profile_power *powers; /* by time_ns */
	size_t power_count;
	struct profile_allocation *allocations; /* by time_ns */
	size_t allocation_count;
	struct profile_nccl_call *nccl_calls; /* by time_ns */
	size_t nccl_call_count;
	struct profile_communicator *communicators; /* by time_ns */
	size_t communicator_count;
	struct profile_argument *arguments; /* by set, then parameter and offset */
	size_t argument_count;
	struct profile_argument_set *argument_sets;
	size_t argument_set_count;
	struct profile_given *givens; /* by is_node, process, subject */
	size_t given_count;
	struct profile_clone *clones; /* by process, node */
	size_t clone_count;
	struct profile_lost_launch *lost_launches; /* by process, then start_ns */
	size_t lost_launch_count;
	struct profile_loss *losses;
	size_t loss_count;
	struct profile_loss_sum
		*loss_sums; /* by kind, in the order in which losses[] has them first */
	size_t loss_sum_count;
	struct profile *graph_run; /* owned; the run with graphs as a whole, or NULL */
	struct profile
		*counter_run; /* owned; the run whose counters are among counters[], or NULL */
	struct profile *sample_run;		      /* owned; the run with samples, or NULL */
	struct profile *untraced_run;		      /* NULL once it is joined (join_untraced.h) */
	struct profile_untraced_call *untraced_calls; /* by call */
	size_t untraced_call_count;
	size_t untraced_run_count,
		untraced_same_count; /* such runs; those that launched the same */
	void *strings;		     /* owner of the interned texts above; opaque */
};

/*
 * Reads a recording: a folder of host.pid folders, one such folder itself, or
 * a packed one (recording.h says what path may be).
 * Rows that cannot be used are counted in losses and reading goes on.  Processes
 * of further runs go into graph_run, counter_run and sample_run, unless there are no others.  Fails
 * (negative errno, described in err) when there is no recording there, when no
 * process folder of it can be read, or when memory runs out.  The caller owns
 * *out and frees it with profile_free.
 */
int profile_load(struct profile **out, const char *path, struct err *err);

/* The same of some tables, a set of tables.h: the others are as if they had no rows.  Small ones that say what ids stand
 * for are always read. */
int profile_load_tables(struct profile **out, const char *path, uint64_t tables, struct err *err);

/* How far the clock of a host is ahead of another one's. */
struct host_clock {
	const char *host, *base;
	int64_t ahead_ns, error_ns;
	uint64_t common_count;
};

/* The same with the times of all hosts by the clocks of their bases. */
int profile_load_aligned(struct profile **out, const char *path, uint64_t tables,
			 const struct host_clock *clocks, size_t clock_count, struct err *err);

/* Frees a profile, also a half-built one; NULL is fine. */
void profile_free(struct profile *profile);

/* Value of a process property, or fallback. */
const char *profile_property(const struct profile_process *process, const char *key,
			     const char *fallback);

/* Whether collector and ceilings can be run on its GPUs: false for recordings of AMD's, which are imported. */
bool profile_is_nvidias(const struct profile *profile);

/* "HtoD", "DtoH", "DtoD", "PtoP", ...; "kind 99" numbers are shown as "other". Borrowed, static. */
const char *profile_copy_kind_name(uint32_t kind);

/* "pageable", "pinned", "device", "array", "managed", ...; borrowed, static. */
const char *profile_memory_kind_name(uint32_t kind);

/* What a kind of loss counts, for people; "" for one of a newer writer.  Borrowed, static. */
const char *profile_loss_meaning(const char *kind);

/* Where reading met the first of them, "file:line: what"; "" for what the collector counted. */
const char *profile_loss_place(const struct profile_loss *loss);

/* Whether something happened to the files: rows or tables that were written cannot be read.  A last line that is cut off is
 * none where the process was killed, which it is told of anyway. */
bool profile_loss_is_damage(const struct profile *profile, const struct profile_loss *loss);

/* The machine code of a kernel of kernel_names[] for a compute capability (90 for 9.0), or NULL where the recording
 * has none. */
const struct profile_machine_code *profile_machine_code(const struct profile *profile,
							uint32_t kernel, uint32_t sm);

/* What a call that loads code was given, or NULL where the recording does not tell. */
/* Whether a call was made whose name has one of the parts, of which NULL is the last. */
bool profile_has_call(const struct profile *profile, const char *const *parts);

const struct profile_load *profile_load_of(const struct profile *profile, uint32_t call);

/* The attributes of the launch that a call made, or NULL where it has none. */
const struct profile_launch *profile_launch_of(const struct profile *profile, uint32_t call);

/* What a kernel was given, of a node of a graph by the one that it is a clone of; NULL: it was not recorded. */
const struct profile_given *profile_given_to(const struct profile *profile,
					     const struct profile_op *op);

/* Bounds of an op's process: streams[op->stream].process. */
static inline uint32_t profile_op_process(const struct profile *profile,
					  const struct profile_op *op)
{
	return profile->streams[op->stream].process;
}

/* devices[]. */
static inline uint32_t profile_op_device(const struct profile *profile, const struct profile_op *op)
{
	return profile->streams[op->stream].device;
}

/* How much there is to analyze: of these there may be most. */
static inline size_t profile_item_count(const struct profile *profile)
{
	return profile->op_count + profile->call_count + profile->range_count +
	       profile->sample_count;
}

/* The only device that has operations; PROFILE_NONE where several have.  Programs see all GPUs of a host, and most use one. */
uint32_t profile_only_device(const struct profile *profile);

/* Threads in a block of it. */
static inline uint64_t profile_block_threads(const struct profile_signature *launch)
{
	return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}

/* Of an operation in ops[]. */
static inline struct profile_op_ids profile_op_ids(const struct profile *profile,
						   const struct profile_op *op)
{
	if (profile->op_ids)
		return profile->op_ids[op - profile->ops];
	return (struct profile_op_ids){
		.correlation = op->call == PROFILE_NONE ? 0 : profile->calls[op->call].correlation};
}

/* Return true for an import whose clocks of host and GPU differ: it is not known which calls came before the operation. */
static inline bool profile_op_is_early(const struct profile *profile, const struct profile_op *op)
{
	return profile->processes[profile_op_process(profile, op)].early_ns > 0;
}

/* The executable graph that it is of, or 0. */
static inline uint32_t profile_op_graph(const struct profile *profile, const struct profile_op *op)
{
	return profile->op_ids ? profile->op_ids[op - profile->ops].graph : 0;
}

/* The node of a graph that it is, or 0. */
static inline uint64_t profile_op_node(const struct profile *profile, const struct profile_op *op)
{
	return profile->op_ids ? profile->op_ids[op - profile->ops].graph_node : 0;
}

#endif
