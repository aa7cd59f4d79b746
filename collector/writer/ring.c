#include "writer/ring.h"

void ring_init(struct ring *ring, int64_t span_ns, int64_t most_bytes, int64_t now_ns)
{
	*ring = (struct ring){.span_ns = span_ns,
			      .most_bytes = most_bytes,
			      .oldest = 1,
			      .newest = 1,
			      .opened_ns = now_ns};
}

void ring_add(struct ring *ring, int64_t bytes)
{
	ring->bytes += bytes;
}

bool ring_is_due(const struct ring *ring, int64_t now_ns)
{
	if (ring->newest - ring->oldest + 1 >= RING_CLOSED_MOST)
		return false;
	if (ring->span_ns)
		return now_ns - ring->opened_ns >= ring->span_ns / RING_PARTS;
	return ring->bytes >= ring->most_bytes / RING_PARTS;
}

void ring_turn(struct ring *ring, int64_t now_ns)
{
	ring->closed[ring->newest % RING_CLOSED_MOST].closed_ns = now_ns;
	ring->closed[ring->newest % RING_CLOSED_MOST].bytes = ring->bytes;
	ring->newest++;
	ring->opened_ns = now_ns;
	ring->bytes = 0;
}

static int64_t all_bytes(const struct ring *ring)
{
	int64_t bytes = ring->bytes;

	for (uint32_t number = ring->oldest; number < ring->newest; number++)
		bytes += ring->closed[number % RING_CLOSED_MOST].bytes;
	return bytes;
}

/* What was written into a segment had happened before it was closed. */
bool ring_has_old(const struct ring *ring, int64_t now_ns)
{
	if (ring->oldest == ring->newest)
		return false;
	if (ring->span_ns)
		return now_ns - ring->closed[ring->oldest % RING_CLOSED_MOST].closed_ns >
		       ring->span_ns;
	return all_bytes(ring) > ring->most_bytes - ring->most_bytes / RING_PARTS;
}

void ring_drop(struct ring *ring)
{
	ring->oldest++;
}
