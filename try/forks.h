/*
 * forks.h - which of the calls that were put off can be one graph, and what comes before what in it.
 *
 * They begin in one stream, and the graph is launched into that.  Another stream belongs to it from where it waits for an event
 * that was recorded in it; what that stream had before is waited for in the graph, by an event of ours.  The graph ends where
 * all that it contains comes before what the first stream does next, by events as well.  So nothing waits for anything that it
 * would not have waited for, but for what each stream does after the graph, which waits for what it did in it.
 *
 * Streams that do not fork from each other and join again are parts of their own: they have no order among each other, so
 * what was put off for each of them may be put together.  The legacy default stream, for which others wait without an event, is a
 * part of its own, too, and nothing changes its place.
 */
#ifndef ROOFLINE_TRY_FORKS_H
#define ROOFLINE_TRY_FORKS_H

#include <stdbool.h>

#include "queue.h"

enum { FORKS_STREAMS = 9, FORKS_BITS = QUEUE_NODES + FORKS_STREAMS };

/* Of nodes: kernels, memsets, copies, and what another stream had before. */
__extension__ typedef unsigned __int128 node_set;
_Static_assert(FORKS_BITS <= 128, "a set has so many bits");

struct fork_stream {
	CUstream stream;
	unsigned bit;	/* what it had before the graph; of the first one there is none */
	node_set after; /* all that comes before what it does next */
};

struct forks {
	unsigned items; /* so many of them, from the first one on */
	unsigned nodes; /* kernels, memsets and copies among these */
	unsigned bits;
	node_set all;
	unsigned stream_count;
	struct fork_stream streams[FORKS_STREAMS];
	node_set before[QUEUE_ITEMS];	 /* of each item all that comes before it */
	unsigned char bit[QUEUE_ITEMS];	 /* of an item that is a node */
	node_set before_bit[FORKS_BITS]; /* the same by bits */
};

/* Whether they are of several streams that nothing orders: no event is among them, and none is of the legacy default stream. */
bool forks_are_unordered(const struct item *items, unsigned count);

/* Puts what each of such streams was given together, in the order in which it was given; the stream that came first is first. */
void forks_group(struct item *items, unsigned count);

/* Of at least one item. */
void forks_find(struct forks *forks, const struct item *items, unsigned count);

bool forks_is_node(const struct item *item);
bool forks_is_record(const struct item *item);

/* Of a set those that come before no other one in it. */
node_set forks_last(const struct forks *forks, node_set set);

static inline node_set forks_bit(unsigned bit)
{
	return (node_set)1 << bit;
}

#endif
