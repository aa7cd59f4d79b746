#include "forks.h"

#include <string.h>

#include "work.h"

bool forks_is_node(const struct item *item)
{
	return !item->kernel->event;
}

bool forks_is_record(const struct item *item)
{
	return item->kernel->work == &work_record;
}

static bool is_wait(const struct item *item)
{
	return item->kernel->work == &work_wait;
}

static struct fork_stream *find(struct forks *forks, CUstream stream)
{
	for (unsigned i = 0; i < forks->stream_count; i++)
		if (forks->streams[i].stream == stream)
			return &forks->streams[i];
	return NULL;
}

static struct fork_stream *enter(struct forks *forks, CUstream stream)
{
	struct fork_stream *entered = &forks->streams[forks->stream_count];

	if (forks->stream_count == FORKS_STREAMS || !stream || !forks->streams[0].stream)
		return NULL;
	*entered = (struct fork_stream){stream, forks->bits, forks_bit(forks->bits)};
	forks->before_bit[forks->bits] = 0;
	forks->all |= forks_bit(forks->bits++);
	forks->stream_count++;
	return entered;
}

/* Which item recorded the event that this one waits for; count: none of these. */
static unsigned recorded_by(const struct item *items, unsigned i, unsigned count)
{
	CUevent event = items[i].kernel->event;

	while (i-- > 0)
		if (forks_is_record(&items[i]) && items[i].kernel->event == event)
			return i;
	return count;
}

/* Whether item i can belong to the same graph; if so what comes before it is known then. */
static bool follow(struct forks *forks, const struct item *items, unsigned i, unsigned count)
{
	struct fork_stream *stream = find(forks, items[i].stream);
	unsigned recorded;

	if (is_wait(&items[i])) {
		recorded = recorded_by(items, i, count);
		if (recorded == count)
			return false;
		stream = stream ? stream : enter(forks, items[i].stream);
		if (stream)
			stream->after |= forks->before[recorded];
	}
	if (!stream)
		return false;
	forks->before[i] = stream->after;
	if (forks_is_node(&items[i])) {
		forks->bit[i] = (unsigned char)forks->bits;
		forks->before_bit[forks->bits] = stream->after;
		forks->all |= forks_bit(forks->bits);
		stream->after |= forks_bit(forks->bits++);
		forks->nodes++;
	}
	return true;
}

/* The part that was a graph by itself last. */
struct whole {
	unsigned items, nodes, bits, stream_count;
	struct fork_stream streams[FORKS_STREAMS];
};

static void note_whole(struct whole *whole, const struct forks *forks, unsigned items)
{
	whole->items = items;
	whole->nodes = forks->nodes;
	whole->bits = forks->bits;
	whole->stream_count = forks->stream_count;
	memcpy(whole->streams, forks->streams, forks->stream_count * sizeof(forks->streams[0]));
}

static void go_back(struct forks *forks, const struct whole *whole)
{
	forks->items = whole->items;
	forks->nodes = whole->nodes;
	forks->bits = whole->bits;
	forks->stream_count = whole->stream_count;
	memcpy(forks->streams, whole->streams, whole->stream_count * sizeof(whole->streams[0]));
	forks->all = forks_bit(whole->bits) - 1;
}

void forks_find(struct forks *forks, const struct item *items, unsigned count)
{
	struct whole whole;

	forks->items = forks->nodes = forks->bits = 0;
	forks->all = 0;
	forks->stream_count = 1;
	forks->streams[0] = (struct fork_stream){items[0].stream, 0, 0};
	note_whole(&whole, forks, 1); /* a wait for an event from before is given by itself */
	for (unsigned i = 0; i < count && follow(forks, items, i, count); i++)
		if (forks->streams[0].after == forks->all)
			note_whole(&whole, forks, i + 1);
	go_back(forks, &whole);
}

bool forks_are_unordered(const struct item *items, unsigned count)
{
	bool alternates = false;

	for (unsigned i = 0; i < count; i++) {
		if (!items[i].stream || !forks_is_node(&items[i]))
			return false;
		alternates = alternates || items[i].stream != items[0].stream;
	}
	return alternates;
}

void forks_group(struct item *items, unsigned count)
{
	static struct item grouped[QUEUE_ITEMS];
	bool is_taken[QUEUE_ITEMS] = {false};
	unsigned taken = 0;

	for (unsigned first = 0; first < count; first++)
		for (unsigned i = first; !is_taken[first] && i < count; i++)
			if (!is_taken[i] && items[i].stream == items[first].stream) {
				is_taken[i] = i != first;
				grouped[taken++] = items[i];
			}
	memcpy(items, grouped, count * sizeof(items[0]));
}

node_set forks_last(const struct forks *forks, node_set set)
{
	node_set last = set;

	for (unsigned bit = 0; bit < forks->bits; bit++)
		if (set & forks_bit(bit))
			last &= ~forks->before_bit[bit];
	return last;
}
