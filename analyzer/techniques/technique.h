/*
 * technique.h - a technique: what it is called, what it does to a run, what it assumes, and when it is refused.
 *
 * Each file of this folder is one, with a row in techniques.h.  All that commands, reports and documents say of it
 * comes from its struct.
 */
#ifndef ROOFLINE_TECHNIQUE_H
#define ROOFLINE_TECHNIQUE_H

#include "techniques/application.h"

/* A communication is done in so many parts at most. */
#define TECHNIQUE_PARTS_MOST 64

struct job_application;

enum technique_argument {
	ARGUMENT_NONE,	 /* it changes operations, wherever they are */
	ARGUMENT_RANGE,	 /* it changes loops, on request only in an NVTX range */
	ARGUMENT_NUMBER, /* N, from 2 on */
};

/* What a technique may do to the time that operations take, so that no replay can promise more (whatif/bounds.h).  Each
 * declares it: BOUND_BUSY with what else holds. */
enum bound {
	/* operations take as long as they did, in their streams, but for what follows */
	BOUND_BUSY = 1,
	/* they leave their streams, and keep the SMs and the copy engines as busy */
	BOUND_ENGINES = 2,
	/* readbacks that the device makes unnecessary are gone */
	BOUND_READS = 4,
	/* copies are as fast as those of pinned memory, and no faster */
	BOUND_COPIES = 8,
	/* kernels get shorter, but neither their arithmetic nor the bytes of DRAM that do not vanish */
	BOUND_KERNELS = 16,
	/* then their blocks keep the SMs as busy as they did, side by side */
	BOUND_SMS = 32,
	/* copies from GPU to GPU through the host are gone, and the host's engines with them */
	BOUND_STAGED = 128,
	/* memsets that become part of others are gone */
	BOUND_MEMSETS = 256,
	/* what kernels that get shorter compute in FP32, tensor cores may compute in TF32 */
	BOUND_TENSOR = 512,
	/* more may be gained than is predicted: the interval does not end at these bounds */
	BOUND_OPEN = 64,
};

/* How far predictions were off beyond the ends of their costs and of what they assume, nine of ten of them, rounded up: of
 * tests/pairs and of the programs of tests/corpus, whichever of them is left out, or more (tests/bench/margins.py). */
#define SPREAD_HOST 0.18 /* the host and the copies do as they did, but less or in another order */
#define SPREAD_LAUNCH 0.20  /* kernels start by other means, which takes what the ceilings say */
#define SPREAD_KERNELS 0.12 /* kernels take another time, or run side by side */

/* A change contains no more than so many of others. */
#define TECHNIQUE_PARTS 2

struct technique {
	const char *id;	    /* stable, for programs: "cuda_graph" */
	const char *option; /* of whatif, without the dashes: "graph" */
	const char *
		tried_by; /* the strategy of try that does it to an unchanged program (roofline/try.h); NULL: none does */
	enum technique_argument argument;
	const char *number_is;	 /* of ARGUMENT_NUMBER: "a number of atomics" */
	const char *number_does; /* likewise, what N does: "in one" */
	uint64_t number_most;
	const char *help;   /* of the option, one line */
	const char *effect; /* what it changes in a replay, in whole sentences */
	const char *
		changed; /* what struct effect's changed_count counts: "waits are gone"; NULL: nothing */
	const char
		*assumes; /* what no recording tells, where the effect says that it is_assuming */
	const char
		*refusal; /* where no loop says why: it stands where nothing is found to change */
	bool always_assumes; /* the low end of its interval is what it brings at least */
	/* What its operations need, of each other or besides, is not told, unless its effect says that it is_proven: its low
	 * end is told first, and what it brings where they need nothing as "up to". */
	bool is_up_to;
	bool keeps_results; /* whether what it assumes holds or not: only the gain is unknown, results stay right */
	bool has_most; /* more may hold than it assumes: the high end is what that brings at most */
	bool moves_waits; /* after it the host waits elsewhere, or not at all */
	bool is_shared;	  /* only drops calls of a loop: techniques after it may change that, too */
	const struct technique *leaves_to; /* NULL, or one that may change a loop after it, too */
	bool is_of_calls; /* it changes calls alone, and so may those of all ranks of a job that meets (whatif/job_calls.h) */
	bool is_blind_to_device_work; /* predicts nothing where the device launches work itself */
	/* What has to be done for it anyhow and is less to do, NULL where there are fewer: a graph holds no waits. */
	const struct technique *contains[TECHNIQUE_PARTS];
	bool has_ops, has_lanes; /* what it needs of struct change */
	unsigned int bound;	 /* of enum bound: what its predictions are held to */

	/* How far what it changes may be off, as a share of the time that that takes then: one of the above, by what its
	 * prediction rests on. */
	double spread;

	/* Changes one loop, or what is left of it.  Returns why not, or NULL; what it made of the loop's calls is taken
	 * back where it refuses.  NULL: it knows no loops. */
	const char *(*change_loop)(struct application *application, const struct loop *loop);

	/* After the loops, or NULL: only how long operations take (shared/lengths.h).  Returns how many it changed. */
	size_t (*change_lengths)(struct application *application);

	/* Then, or NULL.  Returns 0 or -ENOMEM. */
	int (*change_run)(struct application *application);

	/* Of a technique that changes a whole job, and neither loops nor the run of one GPU (job_application.h): returns why
	 * not, or NULL. */
	const char *(*change_job)(struct job_application *application);
};

#endif
