/*
 * fixture_change.h - what usually becomes of a call, by name, for tests of replays and of techniques.
 */
#ifndef ROOFLINE_TEST_FIXTURE_CHANGE_H
#define ROOFLINE_TEST_FIXTURE_CHANGE_H

#include "techniques/techniques.h"

/* As change->calls[] has them after usual_changes_begin. */
enum usual_change {
	CALL_AS_GRAPH = CALL_DROPPED + 1, /* becomes the launch of a graph that begins with it */
	CALL_AS_UPDATED,		  /* likewise, after an update of it by the host */
	CALL_IN_GRAPH, /* its operations are nodes of the graph launched before; it is gone, with the host's time
			* before it */
	CALL_AFTER_WORK, /* likewise, but the host's time before it stays: it computes */
	CALL_IN_BODY, /* as CALL_IN_GRAPH, and the first of them starts after a conditional node */
	CALL_IN_ITERATION,	/* the same, of a WHILE node */
	CALL_AFTER_SKIPPED,	/* the same, whose body was left out */
	CALL_IN_LAUNCHED_GRAPH, /* likewise, in a graph that the one before it launches */
	CALL_IN_KERNEL,		/* likewise, after a barrier: a persistent kernel does its work */
	CALL_FUSED, /* gone: the kernel before in its stream goes on with the work of this one */
	CALL_DEPENDENT,	    /* its kernel has been set up when the one before in its stream ends */
	CALL_MADE_ASYNC,    /* submits what it did, and waits for nothing */
	CALL_PINNED_ASYNC,  /* likewise, and its copy starts as soon as that of pinned memory */
	CALL_PINNED,	    /* likewise, and it returns after that has ended */
	CALL_READBACK_GONE, /* gone: what ran last before it is a parent kernel */
	CALL_READ_GONE,	    /* gone: what follows waits for what was before it */
	CALL_AS_CHILD,	    /* gone: that parent kernel launches its kernel */
	CALL_UPDATES, /* in place of making an executable graph it updates the one that there is */
	CALL_AGAIN,   /* so this launch of it is not the first, but one of updated nodes */
	USUAL_CHANGES_END
};

/* By enum usual_change, and CALL_KEPT and CALL_DROPPED. */
extern const struct call_change usual_changes[USUAL_CHANGES_END];

/* change_begin, and the usual changes by their names.  A failure ends the test. */
void usual_changes_begin(struct change *change, const struct model *model, bool with_ops);

/* What became of a call, or USUAL_CHANGES_END: something else. */
size_t usual_change_of(const struct change *change, size_t call);

/* A technique changes one loop, with nothing before it; what it made of the calls stays where it refuses.  Returns why
 * it does, or NULL. */
const char *change_loop_with(const struct technique *technique, struct change *change,
			     struct effect *effect, const struct recorded_run *run,
			     const struct loop *loop, enum assumed_end end);

#endif
