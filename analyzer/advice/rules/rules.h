/*
 * rules.h - every recommendation, once.
 *
 * To add one: write analyzer/advice/rules/foo.c with a struct rule called rule_foo
 * and add its RULE row here.  advice.c re-simulates the run with each rule's
 * technique and recommends what gains; where nothing can be predicted the rule says
 * whether enough is at stake.  What was considered and not recommended is kept with
 * the reason.  Controls must stay silent: a GPU that computes nearly all the time
 * needs no advice about idle time, see facts_is_computing().
 *
 * A pitfall that costs no time that anybody could tell, such as an update that was
 * refused, is found and has nothing at stake: it stands after all that has.
 */
#ifndef ROOFLINE_RULES_H
#define ROOFLINE_RULES_H

#include "advice/advice.h"
#include "advice/captures.h"
#include "advice/framework.h"
#include "whatif/what_if.h"

/* RULE(name, summary); the name is the recommendation's id */
#define RULES(RULE)                                                                                \
	RULE(compile_steps, "JAX calls one program after the other: one of all steps")             \
	RULE(load_batches, "Python makes batches while the GPU waits: other threads make them")    \
	RULE(launch_bound_graph, "repeated short kernels with launch-bound pauses: a CUDA graph")  \
	RULE(unroll_graph, "iterations too short for a graph of their own: a graph of several")    \
	RULE(dependent_launch,                                                                     \
	     "kernels follow one another at once: set the next up before one ends")                \
	RULE(persistent_kernel,                                                                    \
	     "kernels so short that a barrier is shorter than a launch: one kernel")               \
	RULE(sync_every_kernel, "the host waits after nearly every launch: fewer waits")           \
	RULE(while_node, "the host reads a flag after each iteration of a loop: a WHILE node")     \
	RULE(check_every, "the host reads a flag after each iteration of a loop: after several")   \
	RULE(host_decision, "the host reads a flag and launches by it: decide on the device")      \
	RULE(device_launch, "the host launches what data says: launch it from the device")         \
	RULE(host_launch, "kernels launch the same children each time: from the host")             \
	RULE(aggregate_children,                                                                   \
	     "kernels launch many tiny children: a list, and one kernel for it")                   \
	RULE(copy_overlap, "copies and kernels take turns: several streams")                       \
	RULE(sm_imbalance, "a few SMs work long after the others: a queue of work items")          \
	RULE(long_block,                                                                           \
	     "a few blocks of a grid that fits work long after the others: split them")            \
	RULE(underfilled_gpu,                                                                      \
	     "kernels too small for the GPU run one after the other: several streams")             \
	RULE(batch_launches,                                                                       \
	     "one small kernel is launched again and again for parts: one launch for all")         \
	RULE(fill_gpu, "kernels whose shape leaves much of the GPU empty: more or fuller blocks")  \
	RULE(hot_atomics, "atomics on few addresses take most of a kernel: merge them first")      \
	RULE(graph_rebuilt, "graphs are made again and again: update or keep them")                \
	RULE(allocation_in_loop, "memory is allocated again and again: once, or in stream order")  \
	RULE(pageable_copy, "copies of pageable memory hold the GPU up: pinned memory")            \
	RULE(one_time_copy, "large copies of pageable memory, once: pinned, with what that costs") \
	RULE(staged_peer_copy, "copies between GPUs go through the host: peer copies")             \
	RULE(device_signals,                                                                       \
	     "hosts wait for short copies between GPUs and launch: signals of the GPUs")           \
	RULE(exposed_communication,                                                                \
	     "collectives or copies between GPUs run while nothing computes: in parts, beside it") \
	RULE(rank_imbalance,                                                                       \
	     "the same kernel takes longer on some ranks: work from one queue for all")            \
	RULE(fuse_neighbors, "kernels hand each other arrays through DRAM: one kernel")            \
	RULE(concatenate_products,                                                                 \
	     "a library's products of one shape follow one another: one product, or a batch")      \
	RULE(memory_roof, "kernels move bytes as fast as the memory can: fewer bytes")             \
	RULE(uncoalesced,                                                                          \
	     "warps touch more memory than their threads ask for: neighbors together")             \
	RULE(reuse_in_tiles, "kernels load the same from cache again and again: tiles")            \
	RULE(wider_loads, "kernels move bytes at half of what DRAM can: more loads under way")     \
	RULE(tensor_cores, "matrix products at the FP32 roof: tensor cores")                       \
	RULE(collective_wait, "collectives wait for a rank that arrives late: balance the ranks")  \
	RULE(host_node, "functions of the host in streams and graphs: after a wait instead")       \
	RULE(blocking_copy, "the host waits in each copy and launches late: copy asynchronously")  \
	RULE(repeated_module_load, "code is compiled or loaded again and again: once, and kept")   \
	RULE(page_faults, "managed memory is moved when it is touched: prefetch it")               \
	RULE(late_module_load, "code is loaded or compiled amid the work: before it")              \
	RULE(refused_code, "code for another GPU is refused: the architecture is part of the key") \
	RULE(compile_cache, "code is compiled anew in each run: keep it on disk")                  \
	RULE(refused_update, "updates of graphs were refused: check them, a graph each structure") \
	RULE(legacy_stream_capture,                                                                \
	     "a launch into the legacy stream ended a capture: name the stream")                   \
	RULE(refused_in_capture,                                                                   \
	     "a call that no capture allows ended one: another mode, or before")                   \
	RULE(allocation_in_capture, "each launch of a graph allocates: once, before the capture")  \
	RULE(leaked_graphs, "graphs are made anew and never destroyed")                            \
	RULE(register_spills, "kernels keep variables in local memory: fewer live at once")        \
	RULE(bank_conflicts, "accesses to shared memory wait for each other: pad the rows")        \
	RULE(low_occupancy, "kernels wait, with few warps on an SM: more of them")                 \
	RULE(latency_bound, "kernels wait, with all warps on an SM: more work in each")            \
	RULE(collective_order, "ranks launch collectives in different orders")                     \
	RULE(pending_launches,                                                                     \
	     "a graph launched all that the device lets it: more fail in silence")                 \
	RULE(other_profiler, "counters or samples are missing: somebody else reads them")          \
	RULE(host_code, "the launching thread runs its own code while the GPU is idle: less of it")

#define RULE_NUMBER(name, summary) RULE_##name,
enum rule_number { RULES(RULE_NUMBER) RULE_COUNT };
#undef RULE_NUMBER

/* What a rule needs beyond the report, per device; found once for all rules. */
struct device_facts {
	uint64_t launch_count, sync_count; /* calls of the threads that launched work here */
	int64_t sync_ns, launch_ns;	   /* idle by cause, without what samples show at work */
	uint64_t short_pause_count;	   /* pauses between repeated short kernels of one thread */
	int64_t short_pause_launch_ns, short_pause_host_ns; /* their idle time by cause */
	struct captures captures;
	bool is_repeating; /* most of its kernels' time is in loops: what is in none is not what the program is for */
};

/* A kernel this short, launched this often, with pauses this short between: the pauses are what
 * launching costs (a framework's dispatch takes up to tens of microseconds), not other work.  A pause
 * in which samples show work that the device launched is none. */
#define SHORT_KERNEL_NS 100000
#define SHORT_PAUSE_NS 100000
#define REPEATED_LAUNCH_COUNT 50

struct rule;

struct facts {
	const struct report *report;
	enum framework framework;     /* that launches the kernels */
	size_t main_device;	      /* what_if_main_device() */
	struct device_facts *devices; /* as profile->devices[] */
	uint32_t *homes;  /* by process: the device with most of its operations, or PROFILE_NONE */
	bool *has_kernel; /* by loop of what_ifs: whether it launches kernels or graphs */
	/* By kernel: signatures[] of its launch with most time, or PROFILE_NONE. */
	uint32_t *kernel_launches;
	const struct rule *const *rules; /* RULE_COUNT of them */
	void **findings;		 /* owned; of each rule on each device, see struct rule */
	struct what_ifs what_ifs;
};

/* Predicted gains below this are none: of a part, measured speedups of one change differ by as much from machine to
 * machine, and predictions are off by nearly as much in the median (docs/results/predictions.txt); of the whole run, one
 * run from the next. */
#define LEAST_PROGRAM_SPEEDUP 1.03
#define LEAST_PLACE_SPEEDUP 1.10
/* A change that could save no more of the run gains nothing, then. */
#define LEAST_PROGRAM_RATIO (1 - 1 / LEAST_PROGRAM_SPEEDUP)
/* What is known of a change by its stake alone, or by a shape, is not told from nothing where it brings less than a prediction
 * may be off. */
#define LEAST_ESTIMATED_SPEEDUP (1 + MODEL_MARGIN)
#define LEAST_ESTIMATED_RATIO (1 - 1 / LEAST_ESTIMATED_SPEEDUP)

int facts_collect(struct facts *facts, const struct report *report, const char *range,
		  const struct rule *const rules[RULE_COUNT]);
void facts_free(struct facts *facts);

/* What a rule found on a device. */
void *facts_finding(const struct facts *facts, enum rule_number rule, size_t device);

/* A device's wall time without what reading counters and other overhead of recording kept it idle, ns. */
double facts_wall_ns(const struct facts *facts, size_t device);

/* Of a device with a steady state the time of that alone: what a rule about kernels has at stake is a share of what
 * repeats, however long start-up takes. */
double facts_main_ns(const struct facts *facts, size_t device);

/* Whether kernels run for more than 90% of wall time: nothing is left to win by filling its pauses. */
bool facts_is_computing(const struct facts *facts, size_t device);

/* Whether runs of this recording can be predicted at all; where not, rules go by time at stake. */
bool facts_can_predict(const struct facts *facts);

/* Whether what a rule's technique does was predicted and is worth telling: of the steady state or the whole program, or of
 * the range that was asked for. */
bool facts_is_worth(const struct facts *facts, const struct rule *rule,
		    const struct what_if *what_if);

/* Whether an operation was submitted in the NVTX range that was asked for; true where none was. */
bool facts_is_in_range(const struct facts *facts, const struct profile_op *op);

/* Whether an operation was submitted in a loop (loops.h) of kernels, or nobody knows by which call; others happen once. */
bool facts_repeats(const struct facts *facts, const struct profile_op *op);

/* How often a call was made whose name has that part, and how long these calls took. */
struct call_use {
	uint64_t count;
	int64_t time_ns;
};
struct call_use facts_use_of(const struct facts *facts, const char *part);

/* What a process does that is no device's own is told once, of its home device. */
bool facts_is_home(const struct facts *facts, uint32_t process, size_t device);

/* Whether the process that made the call is at home there. */
bool facts_is_call_of(const struct facts *facts, const struct profile_call *call, size_t device);

/* Whether a kernel (kernel_names[]) is a library's: nobody can be told to write it otherwise. */
bool facts_is_library(const struct facts *facts, uint32_t kernel);

/* The launch with most time of a kernel (kernel_names[]): its shape.  NULL: it did not run. */
const struct profile_signature *facts_launch_of(const struct facts *facts, uint32_t kernel);

/* Kernels that a rule about a roof is about. */
struct roof_kernels {
	double time_ns, all_ns,
		stake_ns; /* their time, that of all kernels, and what of theirs is at stake */
	const struct roofline_point *most; /* with most time, or NULL */
};

/* The share of its time that is at stake of a kernel, or below 0 where the rule is not about it. */
typedef double (*roof_stake)(const struct facts *facts, const struct roofline_point *point);

/* Counters of several devices are of one kernel together: where there is more than one device there are none. */
struct roof_kernels facts_find_roof_kernels(const struct facts *facts, roof_stake stake);

/* Whether they take at least half of the time of all kernels. */
bool facts_are_most(const struct roof_kernels *kernels);

/* Whether the call's name has that part. */
bool facts_is_named(const struct facts *facts, const struct profile_call *call, const char *part);

/* Adds a sentence of evidence.  Returns 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) int advice_add_evidence(struct recommendation *item,
							      const char *format, ...);

/* How a change is made in a framework, where it is not made in CUDA.  A NULL title or risk is as the rule has it;
 * where the pattern is NULL no code is shown. */
struct rule_words {
	const char *title, *pattern, *risk, *workload;
};

struct rule {
	const char *id, *title, *workload, *risk;
	const char
		*strategy;   /* of rules without a technique: what to change, in one or two words */
	const char *pattern; /* a few lines of CUDA, newline separated */
	struct rule_words
		in[FRAMEWORK_COUNT]; /* for a program whose kernels a framework launches */
	bool needs_cuda_source; /* rejected for a program of a framework that it has no pattern for: its user launches nothing */
	/* The technique that is re-simulated; NULL: nobody can say, and only what is at stake is told. */
	const struct technique *technique;
	/* What the rule looks for in all gaps, operations or calls is found once for each device, before anything else
	 * is asked of it: so many bytes, 0 at first, which facts_finding() returns. */
	size_t finding_size;
	/* Adds a gap of the device.  Gaps come in time order, in one walk for all rules, before what_ifs is there. */
	void (*add_gap)(void *finding, const struct facts *facts, const struct gap *gap);
	/* Fills in what needs another walk; one over all calls fills in the findings of all devices, asked for the first, and
	 * nothing for the others.  Returns 0 or -ENOMEM. */
	int (*find)(void *finding, const struct facts *facts, size_t device);
	/* Whether there is anything to look at, also with a prediction; NULL: always. */
	bool (*is_candidate)(const struct facts *facts, size_t device);
	/* Without a prediction: whether enough is at stake; NULL: never. */
	bool (*is_promising)(const struct facts *facts, size_t device);
	/* Whether the recording has what its technique has to know; NULL: always. */
	bool (*can_predict)(const struct facts *facts, size_t device);
	/* Of the steady state or the part that changes, what has to be predicted at least; 0: LEAST_PLACE_SPEEDUP. */
	double least_speedup;
	/* Time that it could remove at most; NULL: what the prediction saves. */
	int64_t (*stake_ns)(const struct facts *facts, size_t device);
	/* The evidence; returns 0 or -ENOMEM.  what_if is NULL where nothing was predicted. */
	int (*add_evidence)(struct recommendation *item, const struct facts *facts, size_t device,
			    const struct what_if *what_if);
	bool is_about_kernels; /* also where they run all the time */
	bool is_unsure;	       /* no recording tells whether there is anything to gain */
	/* A bound shows how much is left to gain, not how, and is last and in no plan: the condition that it holds under, as
	 * "without the host's own code between its calls".  NULL: it is none. */
	const char *bound;
	bool is_at_roof; /* about kernels at their roof: nothing else makes them faster, and no recording tells whether this can be done */
	bool is_once; /* about what a program does once: where it repeats something, it stands behind all about that */
	const char *
		said_by; /* id of a rule above it that, where recommended, says the same; or NULL */
	/* Rules above it that take less to do: where one of them was re-simulated as well, this one is recommended only if
	 * it is more than so many times as fast.  RULE_COUNT ends them; NULL: none. */
	const enum rule_number *simpler;
	double simpler_times;
	bool needs_low; /* recommended only where the low end of the interval gains, too: it takes kernels that are written anew */
};

/* Return what the reader writes: CUDA, or what the framework that launches the kernels has for it; its title and pattern are
 * never NULL. */
struct rule_words rule_words_of(const struct rule *rule, const struct facts *facts);

#define RULE_DECLARATION(name, summary) extern const struct rule rule_##name;
RULES(RULE_DECLARATION)
#undef RULE_DECLARATION

#endif
