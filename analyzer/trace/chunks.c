#include "trace/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/worker.h"

/* How far behind a chunk its last line may end. */
#define BEYOND_BYTES ((size_t)4096)

/* One chunk at a time, and the room for it. */
struct piece {
	struct worker worker;
	const struct chunks *all;
	size_t number; /* of the chunk */
	char *buffer, *rows;
	struct chunk found;
	int64_t end_byte;
};

struct chunks {
	struct chunks_source source;
	size_t chunk_bytes, chunk_count;
	size_t next; /* chunk */
	char *memory;
	size_t piece_count;
	struct piece pieces[]; /* of chunk i it is i % piece_count */
};

static bool read_all(int fd, char *buffer, size_t size, int64_t from_byte)
{
	size_t used = 0;

	while (used < size) {
		ssize_t count =
			pread(fd, buffer + used, size - used, (off_t)(from_byte + (int64_t)used));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		used += (size_t)count;
	}
	return true;
}

/* Where the first line begins at or behind text + at; NULL where that is not seen. */
static const char *line_at(const char *text, size_t at, size_t length)
{
	const char *newline = memchr(text + at - 1, '\n', length - at + 1);

	return newline ? newline + 1 : NULL;
}

static void read_lines(struct piece *piece)
{
	const struct chunks_source *source = &piece->all->source;
	struct chunk *found = &piece->found;
	char *row = piece->rows;
	size_t line;

	while ((line = plain_line_read(row, source->columns, source->column_count,
				       found->text + found->plain_length,
				       found->length - found->plain_length))) {
		found->plain_length += line;
		found->row_count++;
		row += source->row_bytes;
	}
}

/* It is the chunk's lines that begin within it, from the first one's start to the last one's end. */
static int read_piece(void *context)
{
	struct piece *piece = context;
	const struct chunks_source *source = &piece->all->source;
	size_t before = piece->number > 0; /* a byte, which may be a newline */
	int64_t from_byte = source->begin_byte +
			    (int64_t)(piece->number * piece->all->chunk_bytes) - (int64_t)before;
	int64_t left = source->end_byte - from_byte;
	size_t own_bytes = before + piece->all->chunk_bytes, size = own_bytes + BEYOND_BYTES;
	const char *first = piece->buffer, *end;

	size = (int64_t)size < left ? size : (size_t)left;
	if (!read_all(source->fd, piece->buffer, size, from_byte))
		return -EIO;
	end = own_bytes < size ? line_at(piece->buffer, own_bytes, size) : piece->buffer + size;
	if (before)
		first = line_at(piece->buffer, before, size);
	if (!first && end == piece->buffer + size)
		first = end;
	if (!first || !end)
		return -EFBIG;
	piece->end_byte = from_byte + (end - piece->buffer);
	piece->found =
		(struct chunk){.text = first, .length = (size_t)(end - first), .rows = piece->rows};
	read_lines(piece);
	return 0;
}

static void begin_piece(struct chunks *chunks, size_t number)
{
	struct piece *piece = &chunks->pieces[number % chunks->piece_count];

	if (number >= chunks->chunk_count)
		return;
	piece->number = number;
	worker_start(&piece->worker, WORKER_ALWAYS, read_piece, piece);
}

/* Rows have what the file lacks before any is read, as that is the same in all of them. */
static void lay_out(struct chunks *chunks, size_t buffer_bytes, size_t row_count,
		    size_t piece_bytes)
{
	const struct chunks_source *source = &chunks->source;

	for (size_t i = 0; i < chunks->piece_count; i++) {
		struct piece *piece = &chunks->pieces[i];

		piece->all = chunks;
		piece->rows = chunks->memory + i * piece_bytes;
		piece->buffer = piece->rows + piece_bytes - buffer_bytes;
		for (size_t row = 0; row < row_count; row++)
			memcpy(piece->rows + row * source->row_bytes, source->row,
			       source->row_bytes);
	}
}

struct chunks *chunks_open(const struct chunks_source *source, size_t chunk_bytes,
			   size_t thread_count)
{
	struct chunks *chunks =
		calloc(1, sizeof(*chunks) + thread_count * sizeof(chunks->pieces[0]));
	size_t buffer_bytes = (1 + chunk_bytes + BEYOND_BYTES + 63) / 64 * 64;
	/* of a digit and what is behind it in each column */
	size_t row_count = buffer_bytes / (2 * source->column_count) + 1;
	size_t rows_bytes = row_count * source->row_bytes + source->beyond_bytes;
	size_t piece_bytes = (rows_bytes + 63) / 64 * 64 + buffer_bytes;
	int64_t length = source->end_byte - source->begin_byte;

	if (!chunks || !(chunks->memory = malloc(thread_count * piece_bytes))) {
		free(chunks);
		return NULL;
	}
	chunks->source = *source;
	chunks->chunk_bytes = chunk_bytes;
	chunks->chunk_count = ((size_t)length + chunk_bytes - 1) / chunk_bytes;
	chunks->piece_count = thread_count;
	lay_out(chunks, buffer_bytes, row_count, piece_bytes);
	for (size_t i = 0; i < thread_count; i++)
		begin_piece(chunks, i);
	return chunks;
}

bool chunks_next(struct chunks *chunks, struct chunk *out, int64_t *end_byte)
{
	struct piece *piece = &chunks->pieces[chunks->next % chunks->piece_count];

	if (chunks->next) /* nobody needs the one before any more */
		begin_piece(chunks, chunks->next - 1 + chunks->piece_count);
	if (chunks->next == chunks->chunk_count)
		return false;
	chunks->next++;
	if (worker_join(&piece->worker) < 0)
		return false;
	*out = piece->found;
	*end_byte = piece->end_byte;
	return true;
}

void chunks_close(struct chunks *chunks)
{
	if (!chunks)
		return;
	for (size_t i = 0; i < chunks->piece_count; i++)
		(void)worker_join(&chunks->pieces[i].worker);
	free(chunks->memory);
	free(chunks);
}
