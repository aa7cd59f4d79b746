/*
 * order.c - what is known to be done before what.
 *
 * With FAKE_DRIVER_ORDER=1 the hash has, for each operation, how many of each stream's operations come before it for certain:
 * by their stream, by events, or because the host had waited for them.  What nobody waited for counts as not done: questions
 * say so, and what kernels tell the host appears no sooner.  With FAKE_DRIVER_ORDER=loose the hash has nothing of it.
 * FAKE_DRIVER_TURNS=1, beside that: it says on stderr where a kernel with a number is not known to come after the one before it
 * that belongs to the same, whatever their numbers.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MOST = 4096, TOLD_MOST = 1 << 16 };

struct clock {
	unsigned long of[STREAMS_MOST];
};

struct told {
	int stream;
	unsigned long number; /* of the operation in its stream */
	int *target;	      /* NULL: it is printed */
	int value;
	CUhostFn function; /* or that is called */
	void *data;
};

static struct clock streams[STREAMS_MOST], events[EVENTS_MOST], host;
static bool is_blocking[STREAMS_MOST] = {[THREAD_STREAM] = true}, is_dead[STREAMS_MOST];
static struct told told[TOLD_MOST];
static unsigned told_count;
static int stream_count = FIRST_STREAM;

bool fake_has_order(void)
{
	static int has_order = -1;

	if (has_order < 0)
		has_order = getenv("FAKE_DRIVER_ORDER") != NULL;
	return has_order;
}

bool fake_takes_turns(void)
{
	return getenv("FAKE_DRIVER_TURNS") != NULL;
}

/* More may be known to be done, as where memory that was kept is given back: it is not in the hash. */
static bool is_loose(void)
{
	const char *order = getenv("FAKE_DRIVER_ORDER");

	return order && !strcmp(order, "loose");
}

int fake_new_stream(bool is_new_blocking)
{
	if (stream_count == STREAMS_MOST)
		abort();
	is_blocking[stream_count] = is_new_blocking;
	return stream_count++;
}

void fake_end_stream(int stream)
{
	is_dead[stream] = true;
}

static void join(struct clock *clock, const struct clock *other)
{
	for (int i = 0; i < stream_count; i++)
		if (other->of[i] > clock->of[i])
			clock->of[i] = other->of[i];
}

static bool is_within(const struct clock *clock, const struct clock *other)
{
	for (int i = 0; i < stream_count; i++)
		if (clock->of[i] > other->of[i])
			return false;
	return true;
}

/* The legacy default stream and those that do not stand apart from it wait for each other. */
static void place(int stream)
{
	join(&streams[stream], &host);
	for (int i = 0; stream == LEGACY_STREAM && i < stream_count; i++)
		if (is_blocking[i] && !is_dead[i])
			join(&streams[stream], &streams[i]);
	if (is_blocking[stream])
		join(&streams[stream], &streams[LEGACY_STREAM]);
}

static void log_clock(int stream, const unsigned long *of)
{
	const char *path = getenv("FAKE_DRIVER_LOG");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "stream %d after", stream);
	for (int i = 0; i < stream_count; i++)
		fprintf(file, " %lu", of[i]);
	fprintf(file, "\n");
	fclose(file);
}

void fake_order(int stream)
{
	if (!fake_has_order())
		return;
	place(stream);
	log_clock(stream, streams[stream].of);
	for (int i = 0; !is_loose() && i < stream_count; i++)
		if (streams[stream].of[i]) {
			fake_mix(&i, sizeof(i));
			fake_mix(&streams[stream].of[i], sizeof(streams[stream].of[i]));
		}
	streams[stream].of[stream]++;
}

static uint64_t numbered;

uint64_t fake_numbered(void)
{
	return numbered;
}

/* Which of those it is that belong to the same. */
static unsigned long take_turn(const unsigned long *last, unsigned lane)
{
	static unsigned long turns[FIRST_STREAM - NUMBERED];

	if (*last != turns[lane])
		fprintf(stderr, "kernels of %u at the same time\n", lane);
	return ++turns[lane];
}

void fake_order_numbered(int stream, unsigned lane, unsigned long number, uint64_t hash)
{
	unsigned long *last;

	if (fake_has_order()) {
		place(stream);
		log_clock(stream, streams[stream].of);
	}
	last = &streams[stream].of[NUMBERED + lane];
	hash = (hash ^ lane) * 1099511628211u;
	hash = (hash ^ number) * 1099511628211u;
	for (int i = 0; fake_has_order() && i < stream_count; i++)
		if (streams[stream].of[i])
			hash = (hash ^ (uint64_t)i ^ streams[stream].of[i] << 10) * 1099511628211u;
	numbered += hash ^ hash >> 29;
	if (fake_takes_turns())
		number = take_turn(last, lane);
	*last = number > *last ? number : *last;
}

/* ---- graphs ---- */

static struct clock at_begin, of_node[NODES_MAX];

void fake_begin_graph(int stream)
{
	place(stream);
	at_begin = streams[stream];
}

void fake_begin_node(int stream, const struct CUgraphNode_st *node)
{
	streams[stream] = at_begin;
	for (unsigned i = 0; i < node->after_count; i++)
		join(&streams[stream], &of_node[node->after[i]]);
}

void fake_end_node(int stream, const struct CUgraphNode_st *node)
{
	of_node[node->index] = streams[stream];
}

void fake_end_graph(int stream, unsigned count)
{
	streams[stream] = at_begin;
	for (unsigned i = 0; i < count; i++)
		join(&streams[stream], &of_node[i]);
}

/* ---- what the host learns ---- */

static void show_one(const struct told *one)
{
	if (one->function)
		one->function(one->data);
	else if (one->target)
		*one->target = one->value;
	else
		printf("device prints %d\n", one->value);
}

static void add_told(struct told one)
{
	if (!fake_has_order() || is_loose()) {
		show_one(&one);
		return;
	}
	if (told_count == TOLD_MOST)
		abort();
	one.number = streams[one.stream].of[one.stream];
	told[told_count++] = one;
}

void fake_tell(int stream, int *target, int value)
{
	add_told((struct told){.stream = stream, .target = target, .value = value});
}

void fake_call(int stream, CUhostFn function, void *data)
{
	add_told((struct told){.stream = stream, .function = function, .data = data});
}

static void show(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < told_count; i++) {
		if (told[i].number > host.of[told[i].stream])
			told[kept++] = told[i];
		else
			show_one(&told[i]);
	}
	told_count = kept;
}

void fake_wait_for_stream(int stream)
{
	fake_settle_pieces();
	if (!fake_has_order())
		return;
	place(stream);
	join(&host, &streams[stream]);
	show();
}

void fake_wait_for_all(void)
{
	fake_settle_pieces();
	for (int i = 0; fake_has_order() && i < stream_count; i++)
		join(&host, &streams[i]);
	show();
}

bool fake_is_done(int stream)
{
	struct clock before;
	bool is_done;

	if (!fake_has_order())
		return true;
	before = streams[stream];
	place(stream);
	is_done = is_within(&streams[stream], &host);
	streams[stream] = before; /* asking changes nothing */
	return is_done;
}

/* ---- events ---- */

static struct clock *clock_of(CUevent event)
{
	size_t i = (size_t)event % EVENTS_MOST;

	return &events[i];
}

void fake_new_event(CUevent event)
{
	memset(clock_of(event), 0, sizeof(struct clock));
}

void fake_record(CUevent event, int stream)
{
	if (!fake_has_order())
		return;
	place(stream);
	*clock_of(event) = streams[stream];
}

void fake_stream_waits(int stream, CUevent event)
{
	if (!fake_has_order())
		return;
	if (!fake_is_silent(
		    event)) /* of ours there is an operation behind it, unless that is refused */
		place(stream);
	join(&streams[stream], clock_of(event));
}

void fake_wait_for_event(CUevent event)
{
	if (!fake_has_order())
		return;
	join(&host, clock_of(event));
	show();
}

bool fake_event_is_done(CUevent event)
{
	return !fake_has_order() || is_within(clock_of(event), &host);
}
