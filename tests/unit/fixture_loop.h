/*
 * fixture_loop.h - a loop written down as a word, and what a technique makes of it.
 *
 * Letters: k a kernel, v another one, K one whose grid is never the last one, w a wait, r a small asynchronous
 * read, R a small blocking one, f a blocking one in of pageable memory that is as small, i and o large asynchronous
 * copies of pinned memory in and out, p one in of pageable memory, c a blocking one in, P a blocking one out to pageable memory, s a short one in, n one on the
 * device, m an allocation, g a graph's launch, q one of two nodes, W one of a whole graph, I an instantiation, U
 * an upload, D a destruction, u a graph's update, e an event, l a lookup of an error, x a copy by a call of which
 * nothing is known, j a module that takes long to load, J one that does not, L the same code that was made at run time,
 * z that it is unloaded, 0 a small memset, h host code that does, t a step of an
 * interpreter.
 */
#ifndef ROOFLINE_TEST_FIXTURE_LOOP_H
#define ROOFLINE_TEST_FIXTURE_LOOP_H

#include "fixture_change.h"
#include "profile_builder.h"

#define ITERATIONS 10
#define PAGEABLE 1
#define PINNED 2

/* A loop that one thread runs, as its only sequence. */
struct loop_fixture {
	struct builder *b;
	struct ceilings *ceilings; /* all that techniques ask for: what each costs */
	struct recorded_run run;
	struct loop loop;
	struct application application; /* its change is begun, with lanes */
	struct effect effect;		/* of the technique applied last */
	uint32_t iterations[ITERATIONS + 1];
};

/* A letter for each call of an iteration.  With usual in all iterations but the one that is other's. */
struct loop_fixture loop_of(const char *usual);
struct loop_fixture loop_with(const char *usual, int iteration, const char *other);
void loop_free(struct loop_fixture *fixture);

/* Another value of that row of the ceilings. */
void loop_measure(struct loop_fixture *fixture, enum ceiling_id id, double value);

/* Ready for a technique, which has changed nothing yet. */
struct application *loop_application(struct loop_fixture *fixture,
				     const struct technique *technique);

/* Applies a technique, on top of what others before it did.  Returns why it changes nothing, or NULL. */
const char *loop_apply(struct loop_fixture *fixture, const struct technique *technique);

/* Applies it, and expects that refusal, or NULL: none.  After a refusal nothing is changed. */
void loop_expect_refusal(const char *usual, const struct technique *technique, const char *refusal);

/* What becomes of an iteration's calls, a letter each: . kept, d dropped, G a graph, U one that is updated, n in it,
 * h likewise after work of the host, b in a conditional node's body, l in a graph launched by the one before, s a
 * step of a persistent kernel, f fused, p dependent, a asynchronous, A likewise of pinned memory, B a blocking
 * copy of it, q a readback that is gone, y one that nothing is launched by, c a child kernel, u an
 * update, g not a first launch. */
void loop_expect(const struct loop_fixture *fixture, int iteration, const char *expected);
void loop_expect_unchanged(const struct loop_fixture *fixture);

#endif
