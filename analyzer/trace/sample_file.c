#include "trace/sample_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/stable_sort.h"
#include "base/temporary.h"
#include "trace/samples.h"

/* A sample as columns of 4 bytes.  Of start_ns, the first 8, the distance to the end of the sample before it is written. */
#define WORDS (sizeof(struct profile_sample) / sizeof(uint32_t))
_Static_assert(sizeof(struct profile_sample) == 88 && WORDS < 32, "a bit for each column");
_Static_assert(offsetof(struct profile_sample, start_ns) == 0, "encode() replaces it");

/* A block in the file: this, then the columns whose bit is set, count words each. */
struct head {
	uint32_t varies;
	uint32_t words[WORDS]; /* of the first sample */
};

#define MOST_BYTES (sizeof(struct head) + SAMPLE_BLOCK * sizeof(struct profile_sample))

struct sample_file {
	int fd;
	uint64_t size;
	struct sample_block *blocks;
	size_t block_count, block_capacity;
	uint32_t run_count;
	struct profile_sample *items; /* SAMPLE_BLOCK of them; those that are not yet written */
	size_t item_count;
	char *bytes; /* MOST_BYTES of room for a block */
};

static int cannot(struct err *err, int rc, const char *what)
{
	return rc == -ENOMEM
		       ? err_set(err, rc, "out of memory for samples")
		       : err_set(err, rc,
				 "%s: cannot %s samples: %s; set TMPDIR to a folder with space",
				 temporary_parent(), what, strerror(-rc));
}

int sample_file_create(struct sample_file **out, struct err *err)
{
	struct sample_file *file = calloc(1, sizeof(*file));
	int rc = -ENOMEM;

	if (file) {
		file->fd = -1;
		file->items = malloc(SAMPLE_BLOCK * sizeof(*file->items));
		file->bytes = malloc(MOST_BYTES);
	}
	if (file && file->items && file->bytes)
		rc = file->fd = temporary_make_nameless(temporary_parent());
	if (rc < 0) {
		sample_file_free(file);
		return cannot(err, rc, "keep");
	}
	*out = file;
	return 0;
}

void sample_file_free(struct sample_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	free(file->blocks);
	free(file->items);
	free(file->bytes);
	free(file);
}

const struct sample_block *sample_file_blocks(const struct sample_file *file, size_t *count)
{
	*count = file->block_count;
	return file->blocks;
}

/* ---- a block as bytes ---- */

/* Word of sample i; of its start, the distance to the end of the one before. */
static void distances(uint32_t (*words)[WORDS], const struct profile_sample *samples, size_t count)
{
	memcpy(words, samples, count * sizeof(*samples));
	for (size_t i = 0; i < count; i++) {
		int64_t before_ns = i ? sample_end_ns(&samples[i - 1]) : samples[0].start_ns;
		int64_t distance_ns = samples[i].start_ns - before_ns;

		memcpy(words[i], &distance_ns, sizeof(distance_ns));
	}
}

static bool is_column_constant(uint32_t (*words)[WORDS], size_t count, size_t column)
{
	for (size_t i = 1; i < count; i++)
		if (words[i][column] != words[0][column])
			return false;
	return true;
}

static uint32_t encode(char *bytes, const struct profile_sample *samples, size_t count)
{
	uint32_t words[SAMPLE_BLOCK][WORDS];
	struct head head = {0};
	uint32_t *to = (uint32_t *)(void *)(bytes + sizeof(head));

	distances(words, samples, count);
	memcpy(head.words, words[0], sizeof(head.words));
	for (size_t column = 0; column < WORDS; column++) {
		if (is_column_constant(words, count, column))
			continue;
		head.varies |= UINT32_C(1) << column;
		for (size_t i = 0; i < count; i++)
			*to++ = words[i][column];
	}
	memcpy(bytes, &head, sizeof(head));
	return (uint32_t)((char *)to - bytes);
}

static void decode(struct profile_sample *samples, const char *bytes,
		   const struct sample_block *block)
{
	const uint32_t *from = (const uint32_t *)(const void *)(bytes + sizeof(struct head));
	int64_t end_ns = block->start_ns;
	struct head head;

	memcpy(&head, bytes, sizeof(head));
	for (size_t i = 0; i < block->count; i++)
		memcpy(&samples[i], head.words, sizeof(head.words));
	for (size_t column = 0; column < WORDS; column++) {
		char *to = (char *)samples + column * sizeof(uint32_t);

		if (!(head.varies & UINT32_C(1) << column))
			continue;
		for (size_t i = 0; i < block->count; i++, to += sizeof(*samples))
			memcpy(to, from++, sizeof(uint32_t));
	}
	for (size_t i = 0; i < block->count; i++) {
		samples[i].start_ns += end_ns;
		end_ns = sample_end_ns(&samples[i]);
	}
}

/* ---- the file ---- */

static int write_all(int fd, const char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t written = pwrite(fd, bytes, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -ENOSPC;
		bytes += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return 0;
}

static int read_all(int fd, char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t got = pread(fd, bytes, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		bytes += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

int sample_file_read(const struct sample_file *file, const struct sample_block *block,
		     struct profile_sample *samples)
{
	_Alignas(uint32_t) char bytes[MOST_BYTES];
	int rc = read_all(file->fd, bytes, block->bytes, block->offset);

	if (rc == 0)
		decode(samples, bytes, block);
	return rc;
}

static bool has_doubles(const struct profile_sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (samples[i].start_ns < sample_end_ns(&samples[i - 1]))
			return true;
	return false;
}

/* Writes items[] as a block. */
static int end_block(struct sample_file *file)
{
	const struct profile_sample *first = file->items, *last = first + file->item_count - 1;
	struct sample_block *block;
	int rc;

	if (!file->item_count)
		return 0;
	block = ARRAY_NEXT(file->blocks, file->block_capacity, file->block_count);
	if (!block)
		return -ENOMEM;
	*block = (struct sample_block){.start_ns = first->start_ns,
				       .last_start_ns = last->start_ns,
				       .last_end_ns = sample_end_ns(last),
				       .offset = file->size,
				       .count = (uint32_t)file->item_count,
				       .device = first->device,
				       .run = file->run_count,
				       .has_doubles = has_doubles(first, file->item_count)};
	block->bytes = encode(file->bytes, first, file->item_count);
	rc = write_all(file->fd, file->bytes, block->bytes, file->size);
	if (rc < 0)
		return rc;
	file->size += block->bytes;
	file->item_count = 0;
	file->block_count++;
	return 0;
}

static int add_item(struct sample_file *file, const struct profile_sample *sample)
{
	int rc = 0;

	if (file->item_count == SAMPLE_BLOCK ||
	    (file->item_count && file->items[0].device != sample->device))
		rc = end_block(file);
	if (rc == 0)
		file->items[file->item_count++] = *sample;
	return rc;
}

int sample_file_add(struct sample_file *file, const struct profile_sample *samples, size_t count,
		    struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_item(file, &samples[i]);
	if (rc == 0)
		rc = end_block(file);
	file->run_count++;
	return rc < 0 ? cannot(err, rc, "keep") : 0;
}

/* ---- merging the runs of a device ---- */

/* A run that is read from its first block on. */
struct source {
	const struct sample_block *block, *end;
	struct profile_sample *items; /* of block; NULL until it is read */
	size_t at;
};

struct merge {
	struct sample_file *file;
	struct source
		*sources; /* by their first start, then run: those from opened on were not begun */
	size_t source_count, opened;
	struct source **heap; /* that whose sample is next first */
	size_t heap_count;
	int64_t last_end_ns; /* of the sample that was kept last */
};

static int64_t next_start_ns(const struct source *source)
{
	return source->items[source->at].start_ns;
}

/* Of equal ones that of the earlier run, as a stable sort has it. */
static bool is_before(const struct source *a, const struct source *b)
{
	int64_t a_ns = next_start_ns(a), b_ns = next_start_ns(b);

	return a_ns < b_ns || (a_ns == b_ns && a->block->run < b->block->run);
}

static void swap(struct source **a, struct source **b)
{
	struct source *held = *a;

	*a = *b;
	*b = held;
}

static void sink(struct merge *merge)
{
	struct source **heap = merge->heap;

	for (size_t i = 0, child = 1; child < merge->heap_count; i = child, child = 2 * i + 1) {
		if (child + 1 < merge->heap_count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], heap[i]))
			return;
		swap(&heap[child], &heap[i]);
	}
}

static void rise(struct merge *merge)
{
	struct source **heap = merge->heap;

	for (size_t i = merge->heap_count - 1; i && is_before(heap[i], heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static int open_source(struct merge *merge)
{
	struct source *source = &merge->sources[merge->opened++];
	int rc;

	source->items = malloc(SAMPLE_BLOCK * sizeof(*source->items));
	if (!source->items)
		return -ENOMEM;
	merge->heap[merge->heap_count++] = source;
	rc = sample_file_read(merge->file, source->block, source->items);
	if (rc == 0)
		rise(merge);
	return rc;
}

/* Those that begin no later than the next sample. */
static int open_sources(struct merge *merge)
{
	int rc = 0;

	while (rc == 0 && merge->opened < merge->source_count &&
	       (!merge->heap_count ||
		merge->sources[merge->opened].block->start_ns <= next_start_ns(merge->heap[0])))
		rc = open_source(merge);
	return rc;
}

/* The first of the heap goes on to its next sample, or leaves. */
static int move_on(struct merge *merge)
{
	struct source *source = merge->heap[0];
	int rc = 0;

	if (++source->at == source->block->count) {
		source->at = 0;
		source->block++;
		if (source->block < source->end) {
			rc = sample_file_read(merge->file, source->block, source->items);
		} else {
			free(source->items);
			source->items = NULL;
			merge->heap[0] = merge->heap[--merge->heap_count];
		}
	}
	sink(merge);
	return rc;
}

/* Two processes that sample one GPU see the same work: what begins inside the sample before it goes. */
static int keep_next(struct merge *merge)
{
	const struct source *source = merge->heap[0];
	const struct profile_sample *sample = &source->items[source->at];

	if (sample->start_ns < merge->last_end_ns)
		return 0;
	merge->last_end_ns = sample_end_ns(sample);
	return add_item(merge->file, sample);
}

static int merge_sources(struct merge *merge)
{
	int rc = open_sources(merge);

	while (rc == 0 && merge->heap_count) {
		rc = keep_next(merge);
		if (rc == 0)
			rc = move_on(merge);
		if (rc == 0)
			rc = open_sources(merge);
	}
	return rc < 0 ? rc : end_block(merge->file);
}

static int compare_sources(const void *left, const void *right)
{
	const struct source *a = left, *b = right;

	return (a->block->start_ns > b->block->start_ns) -
	       (a->block->start_ns < b->block->start_ns);
}

/* blocks: of one device, by run. */
static int find_sources(struct merge *merge, const struct sample_block *blocks, size_t count)
{
	merge->sources = calloc(count, sizeof(*merge->sources));
	merge->heap = calloc(count, sizeof(struct source *));
	if (!merge->sources || !merge->heap)
		return -ENOMEM;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && blocks[end].run == blocks[i].run;)
			end++;
		merge->sources[merge->source_count++] =
			(struct source){.block = &blocks[i], .end = &blocks[end]};
	}
	return stable_sort(merge->sources, merge->source_count, sizeof(*merge->sources),
			   compare_sources);
}

static int merge_runs(struct sample_file *file, const struct sample_block *blocks, size_t count)
{
	struct merge merge = {.file = file, .last_end_ns = INT64_MIN};
	int rc = find_sources(&merge, blocks, count);

	if (rc == 0)
		rc = merge_sources(&merge);
	for (size_t i = 0; i < merge.source_count; i++)
		free(merge.sources[i].items);
	free(merge.sources);
	free(merge.heap);
	return rc;
}

/* ---- order ---- */

static int compare_devices(const void *left, const void *right)
{
	const struct sample_block *a = left, *b = right;

	return (a->device > b->device) - (a->device < b->device);
}

static bool is_in_order(const struct sample_block *blocks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (blocks[i].has_doubles || (i && blocks[i].start_ns < blocks[i - 1].last_end_ns))
			return false;
	return true;
}

static int keep_blocks(struct sample_file *file, const struct sample_block *blocks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sample_block *block =
			ARRAY_NEXT(file->blocks, file->block_capacity, file->block_count);

		if (!block)
			return -ENOMEM;
		*block = blocks[i];
		file->block_count++;
	}
	return 0;
}

static int order_blocks(struct sample_file *file, const struct sample_block *blocks, size_t count)
{
	int rc = 0;

	for (size_t i = 0, end; i < count && rc == 0; i = end) {
		for (end = i + 1; end < count && blocks[end].device == blocks[i].device;)
			end++;
		rc = is_in_order(&blocks[i], end - i) ? keep_blocks(file, &blocks[i], end - i)
						      : merge_runs(file, &blocks[i], end - i);
	}
	return rc;
}

int sample_file_seal(struct sample_file *file, struct err *err)
{
	struct sample_block *blocks = file->blocks;
	size_t count = file->block_count, first = 0;
	int rc = stable_sort(blocks, count, sizeof(*blocks), compare_devices);

	file->blocks = NULL;
	file->block_count = file->block_capacity = 0;
	if (rc == 0)
		rc = order_blocks(file, blocks, count);
	free(blocks);
	for (size_t i = 0; i < file->block_count; i++) {
		file->blocks[i].first = first;
		first += file->blocks[i].count;
	}
	return rc < 0 ? cannot(err, rc, "sort") : 0;
}
