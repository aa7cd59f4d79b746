#include "trace/samples.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "trace/sample_file.h"

size_t samples_in_memory = (size_t)1 << 20;

struct sample_cursor sample_cursor_open(const struct profile *profile)
{
	struct sample_cursor cursor = {.profile = profile, .block_numbers = {SIZE_MAX, SIZE_MAX}};

	if (!profile->sample_file) {
		cursor.items = profile->samples;
		cursor.count = SIZE_MAX; /* all there are */
	}
	return cursor;
}

int sample_cursor_close(struct sample_cursor *cursor)
{
	free(cursor->blocks[0]);
	free(cursor->blocks[1]);
	return cursor->rc;
}

const char *samples_why(int rc)
{
	return rc == -ENODATA ? "samples that were kept in TMPDIR cannot be read again"
			      : "out of memory";
}

/* ---- blocks ---- */

struct place {
	const struct sample_block *blocks;
	size_t index;
};

static bool is_block_behind(size_t number, const void *context)
{
	const struct place *place = context;

	return place->blocks[number].first > place->index;
}

static size_t find_block(const struct sample_cursor *cursor, const struct sample_block *blocks,
			 size_t count, size_t index)
{
	size_t other = cursor->block_numbers[!cursor->last_slot],
	       next = cursor->block_numbers[cursor->last_slot] + 1; /* 0 at first */

	if (other < count && index - blocks[other].first < blocks[other].count)
		return other;
	if (next < count && index - blocks[next].first < blocks[next].count)
		return next;
	return search_first(0, count, is_block_behind, &(struct place){blocks, index}) - 1;
}

static int read_block(struct sample_cursor *cursor, const struct sample_block *block, size_t number,
		      int slot)
{
	if (!cursor->blocks[slot])
		cursor->blocks[slot] = malloc(SAMPLE_BLOCK * sizeof(*cursor->blocks[slot]));
	if (!cursor->blocks[slot])
		return -ENOMEM;
	cursor->block_numbers[slot] = number;
	cursor->read_count++;
	return sample_file_read(cursor->profile->sample_file, block, cursor->blocks[slot]);
}

const struct profile_sample *sample_cursor_move(struct sample_cursor *cursor, size_t index)
{
	static const struct profile_sample nothing = {.length_ns = 1, .sample_count = 1};
	const struct sample_block *blocks;
	size_t count, number;
	int slot = !cursor->last_slot;

	if (cursor->rc < 0)
		return &nothing;
	blocks = sample_file_blocks(cursor->profile->sample_file, &count);
	number = find_block(cursor, blocks, count, index);
	if (cursor->block_numbers[slot] != number)
		cursor->rc = read_block(cursor, &blocks[number], number, slot);
	if (cursor->rc < 0) {
		cursor->rc = cursor->rc == -ENOMEM ? -ENOMEM : -ENODATA;
		cursor->count = 0;
		return &nothing;
	}
	cursor->last_slot = slot;
	cursor->items = cursor->blocks[slot];
	cursor->first = blocks[number].first;
	cursor->count = blocks[number].count;
	return &cursor->items[index - cursor->first];
}

/* ---- search ---- */

struct moment {
	struct sample_cursor *cursor;
	const struct sample_block *blocks;
	enum sample_bound bound;
	int64_t ns;
};

static bool is_reached_by(const struct moment *moment, int64_t start_ns, int64_t end_ns)
{
	if (moment->bound == SAMPLE_STARTS_FROM)
		return start_ns >= moment->ns;
	return (moment->bound == SAMPLE_STARTS_AFTER ? start_ns : end_ns) > moment->ns;
}

static bool is_reached_in_block(size_t number, const void *context)
{
	const struct moment *moment = context;
	const struct sample_block *block = &moment->blocks[number];

	return is_reached_by(moment, block->last_start_ns, block->last_end_ns);
}

static bool is_reached(size_t index, const void *context)
{
	const struct moment *moment = context;
	const struct profile_sample *sample = sample_at(moment->cursor, index);

	return is_reached_by(moment, sample->start_ns, sample_end_ns(sample));
}

/* Only the block in which it lies is read. */
size_t sample_search(struct sample_cursor *cursor, const struct profile_device *device,
		     enum sample_bound bound, int64_t ns)
{
	size_t begin = device->first_sample, end = begin + device->sample_count, count, from, to;
	struct moment moment = {cursor, NULL, bound, ns};

	if (cursor->profile->sample_file && begin < end) {
		moment.blocks = sample_file_blocks(cursor->profile->sample_file, &count);
		from = search_first(0, count, is_block_behind,
				    &(struct place){moment.blocks, begin}) -
		       1;
		to = search_first(from, count, is_block_behind,
				  &(struct place){moment.blocks, end - 1});
		from = search_first(from, to, is_reached_in_block, &moment);
		if (from == to)
			return end;
		begin = moment.blocks[from].first > begin ? moment.blocks[from].first : begin;
		if (moment.blocks[from].first + moment.blocks[from].count < end)
			end = moment.blocks[from].first + moment.blocks[from].count;
	}
	return search_first(begin, end, is_reached, &moment);
}
