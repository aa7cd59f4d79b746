/*
 * next.h - what to do next: check a recommendation, or measure what the recording does not tell.
 *
 * Each step is a command and why.  Only a run whose kernels are at their roofs all the time has none.
 */
#ifndef ROOFLINE_NEXT_H
#define ROOFLINE_NEXT_H

#include "advice/advice.h"

struct facts;

/* What kernels are counted for, as --counters takes it: all that a rule goes by. */
#define NEXT_COUNTERS "roofline,atomics,shared,global,sm"

/* And what tells why one of them is far below its roofs. */
#define NEXT_CAUSES NEXT_COUNTERS ",stalls"

/* STEP(name, what it is for); the name is the step's id */
#define NEXT_STEPS(STEP)                                                                        \
	STEP(doctor, "find out why nothing was recorded")                                       \
	STEP(ceilings, "measure the roofs and costs that predictions need")                     \
	STEP(advise, "read how the change is made")                                             \
	STEP(check, "record the changed program, and compare with what was predicted")          \
	STEP(apart, "record times apart from what disturbed them")                              \
	STEP(args, "record what kernels are given, which tells what depends on what")           \
	STEP(graphs, "record graphs as a whole, which shows what the device launches")          \
	STEP(managed, "record page faults and migrations of managed memory")                    \
	STEP(counters, "count in hardware, which tells which roof kernels are near")            \
	STEP(samples, "sample the GPU, which shows what the device launches and when SMs idle") \
	STEP(stalls, "count what holds up a kernel that no roof explains")                      \
	STEP(ncu, "look into one kernel with Nsight Compute")                                   \
	STEP(tune, "search for the parameters with which a kernel is fastest")                  \
	STEP(host, "profile the host's own code")                                               \
	STEP(look, "look at where the time is")

/* Finds the steps for advice that has its recommendations.  range: as advice_find has it.  Returns 0 or -ENOMEM. */
int next_find(struct advice *advice, const struct facts *facts, const char *range);
void next_free(struct advice *advice);

#endif
