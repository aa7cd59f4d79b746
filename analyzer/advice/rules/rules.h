/*
 * rules.h - every recommendation, once.
 *
 * To add one: write analyzer/advice/rules/foo.c with rule_foo() and add its
 * RULE row here.  A rule looks at the facts and adds what it finds with
 * advice_add(); its thresholds stand at the top of its file with their reason.
 * Controls must stay silent: a GPU that computes nearly all the time needs no
 * advice about idle time, see facts_is_computing().
 */
#ifndef ROOFLINE_RULES_H
#define ROOFLINE_RULES_H

#include "advice/advice.h"
#include "advice/what_if.h"

/* RULE(name, summary); the name is the recommendation's id */
#define RULES(RULE)                                                                               \
	RULE(launch_bound_graph, "repeated short kernels with launch-bound pauses: a CUDA graph") \
	RULE(sync_every_kernel, "the host waits after nearly every launch: fewer waits")          \
	RULE(host_decision, "the host reads a flag and launches by it: decide on the device")     \
	RULE(copy_overlap, "copies and kernels take turns: several streams")                      \
	RULE(pageable_copy, "copies of pageable memory hold the GPU up: pinned memory")

/* What a rule needs beyond the report, per device; found once for all rules. */
struct device_facts {
	uint64_t launch_count, sync_count; /* calls of the threads that launched work here */
	int64_t sync_ns, launch_ns;	   /* idle by cause, without what samples show at work */
	uint64_t short_pause_count;	   /* pauses between repeated short kernels of one thread */
	int64_t short_pause_launch_ns, short_pause_host_ns; /* their idle time by cause */
};

/* A kernel this short, launched this often, with pauses this short between: the pauses are what
 * launching costs (a framework's dispatch takes up to tens of microseconds), not other work.  A pause
 * in which samples show work that the device launched is none. */
#define SHORT_KERNEL_NS 100000
#define SHORT_PAUSE_NS 100000
#define REPEATED_LAUNCH_COUNT 50

struct facts {
	const struct report *report;
	struct device_facts *devices; /* as profile->devices[] */
	struct what_ifs what_ifs;
};

/* Predicted gains below this are none: runs differ by as much. */
#define LEAST_PROGRAM_SPEEDUP 1.03
#define LEAST_PLACE_SPEEDUP 1.05

int facts_collect(struct facts *facts, const struct report *report, const char *range);
void facts_free(struct facts *facts);

/* Whether kernels run for more than 90% of the device's wall time: nothing is left to win by
 * filling its pauses. */
bool facts_is_computing(const struct facts *facts, size_t device);

/* Whether the device launched work itself: what the host waits for is then more than is recorded. */
bool facts_has_device_work(const struct facts *facts, size_t device);

/* Adds a recommendation about a device, or NULL when memory runs out. */
struct recommendation *advice_add(struct advice *advice, const struct facts *facts, size_t device,
				  int64_t at_stake_ns);

/* Whether runs of this recording can be predicted at all; where not, rules go by time at stake. */
bool facts_can_predict(const struct facts *facts);

/* Whether a what-if was predicted and is worth telling: of the whole program, or of the range that
 * was asked for. */
bool facts_is_worth(const struct facts *facts, const struct what_if *what_if);

/* Hands the prediction over to the recommendation, with the evidence that it comes from. */
int advice_predict(struct recommendation *item, const struct what_if *what_if);

/* Adds a sentence of evidence.  Returns 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) int advice_say(struct recommendation *item,
						     const char *format, ...);

/* Each returns 0 or -ENOMEM. */
#define RULE_PROTOTYPE(name, summary) \
	int rule_##name(const struct facts *facts, struct advice *advice);
RULES(RULE_PROTOTYPE)
#undef RULE_PROTOTYPE

#endif
