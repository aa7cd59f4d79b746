/*
 * techniques.h - every technique, once, in the order in which they are listed.
 *
 * To add one: write analyzer/techniques/foo.c with a struct technique called technique_foo, which says all about it
 * (technique.h), add its TECHNIQUE row here, and test it in tests/unit/test_technique_foo.c.  What it does to a
 * call is a struct call_change (replay/change.h), composed of named costs (replay/costs.h).
 */
#ifndef ROOFLINE_TECHNIQUES_H
#define ROOFLINE_TECHNIQUES_H

#include "techniques/technique.h"

/* TECHNIQUE(name), which is its id */
#define TECHNIQUES(TECHNIQUE)            \
	TECHNIQUE(cuda_graph)            \
	TECHNIQUE(remove_syncs)          \
	TECHNIQUE(device_decision)       \
	TECHNIQUE(dynamic_parallelism)   \
	TECHNIQUE(update_graph)          \
	TECHNIQUE(overlap)               \
	TECHNIQUE(pinned_memory)         \
	TECHNIQUE(preallocate)           \
	TECHNIQUE(keep_modules)          \
	TECHNIQUE(concurrent_kernels)    \
	TECHNIQUE(persistent_kernel)     \
	TECHNIQUE(dynamic_queue)         \
	TECHNIQUE(batch_atomics)         \
	TECHNIQUE(aggregate_atomics)     \
	TECHNIQUE(aggregate_shared)      \
	TECHNIQUE(fewer_bytes)           \
	TECHNIQUE(fuse)                  \
	TECHNIQUE(dependent_launch)      \
	TECHNIQUE(fill_gpu)              \
	TECHNIQUE(smaller_blocks)        \
	TECHNIQUE(wider_loads)           \
	TECHNIQUE(tensor_cores)          \
	TECHNIQUE(pad_shared)            \
	TECHNIQUE(batch_launches)        \
	TECHNIQUE(while_node)            \
	TECHNIQUE(check_every)           \
	TECHNIQUE(unroll_graph)          \
	TECHNIQUE(peer_copy)             \
	TECHNIQUE(overlap_communication) \
	TECHNIQUE(device_signals)        \
	TECHNIQUE(balance_ranks)         \
	TECHNIQUE(compiled_steps)        \
	TECHNIQUE(load_ahead)            \
	TECHNIQUE(free_host)

#define TECHNIQUE_CONSTANT(name) TECHNIQUE_##name,
enum technique_id { TECHNIQUES(TECHNIQUE_CONSTANT) TECHNIQUE_COUNT };
#undef TECHNIQUE_CONSTANT

#define TECHNIQUE_DECLARATION(name) extern const struct technique technique_##name;
TECHNIQUES(TECHNIQUE_DECLARATION)
#undef TECHNIQUE_DECLARATION

/* By enum technique_id. */
extern const struct technique *const techniques[TECHNIQUE_COUNT];

/* Whether the one has to be done for the other anyhow. */
bool technique_contains(const struct technique *whole, const struct technique *part);

/* Of one of them. */
enum technique_id technique_id_of(const struct technique *technique);

#endif
