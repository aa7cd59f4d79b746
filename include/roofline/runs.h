/*
 * runs.h - which run of one program a process is of: the key run of process.csv.
 *
 * CUPTI cannot record all at once, so a program is run again with what is missing.  Every run does the same work:
 * reports never add two of them up.
 */
#ifndef ROOFLINE_RUNS_H
#define ROOFLINE_RUNS_H

/* RUN(constant, number, what it records) */
#define ROOFLINE_RUNS(RUN)                                                            \
	RUN(ONLY, 0, "all that was asked for: there is no other run")                 \
	RUN(TRACE, 1, "times, with the nodes of graphs; all others are joined to it") \
	RUN(GRAPHS, 2, "graphs as a whole, and what the device launches")             \
	RUN(COUNTERS, 3, "hardware counters")                                         \
	RUN(SAMPLES, 4, "samples of the whole GPU")                                   \
	RUN(UNTRACED, 5, "when the program launched and waited, without recording its work")

#define ROOFLINE_RUN_CONSTANT(constant, number, what) RUN_##constant = (number),
enum roofline_run { ROOFLINE_RUNS(ROOFLINE_RUN_CONSTANT) RUN_MOST = RUN_UNTRACED };
#undef ROOFLINE_RUN_CONSTANT

#endif
