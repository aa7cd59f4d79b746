/*
 * counter_gate.h - how launches that are not counted keep out of the range of one that is.
 *
 * A range counts all that its context runs while it is open.  So who counts a launch closes the gate and
 * waits until the launches of other threads have returned; those that come wait before it, as long as
 * there is a reason to, and then go on, which makes the count void.  While the gate is open a launch costs two
 * additions to a number that few other threads write.
 *
 * Knows no CUPTI.
 */
#ifndef ROOFLINE_COUNTER_GATE_H
#define ROOFLINE_COUNTER_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* PHASE(name, ns, what): what a launch is waited for, and how long after that began others do wait. */
#define GATE_PHASES(PHASE)                                                                      \
	PHASE(OPEN, 0, "nothing is counted")                                                    \
	PHASE(PROFILER, 2000000000, "CUPTI opens a session or changes the pass: 30 to 500 ms")  \
	PHASE(DEVICE, 200000000, "the GPU becomes idle, before the counted launch or after it") \
	PHASE(CALL, 10000000,                                                                   \
	      "the driver's call: microseconds, but seconds where it loads a module")

enum counter_gate_phase {
#define GATE_PHASE(name, ns, what) GATE_##name,
	GATE_PHASES(GATE_PHASE)
#undef GATE_PHASE
};

/* For who counts, one thread at a time. */
void counter_gate_set(enum counter_gate_phase phase);

/* Waits until no launch that is not counted is under way; false when that took too long. */
bool counter_gate_wait_for_others(void);

/* True when somebody went on though the gate was closed, since it was closed. */
bool counter_gate_was_passed(void);

/* A launch that is not counted, before and after the driver's call, on one thread.  patience_ns: 0, or how
 * long to wait whatever the phase.  Returns since when it waited by CLOCK_REALTIME, 0 when it did not. */
int64_t counter_gate_enter(int64_t patience_ns);
void counter_gate_leave(void);

/* Waits as such a launch does, but is none; false when the gate is still closed. */
bool counter_gate_wait(void);

/* A launch that does not wait; what is being counted is void. */
void counter_gate_force(void);

#endif
