/* summaries.c - a summary of ranks: merged, alone and with another one, and shown. */
#include "targets.h"

#include <stdlib.h>
#include <zstd.h>

#include "cmd/commands.h"

/* Bytes that are no frame of zstd are refused at once; so it is the text that is tried. */
void fuzz_summaries(const uint8_t *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size), packed_size;
	void *packed = malloc(room);
	const char *path;

	packed_size = ZSTD_compress(packed, room, bytes, size, 1);
	if (ZSTD_isError(packed_size))
		abort();
	path = fuzz_file("summary", packed, packed_size);
	free(packed);
	FUZZ_COMMAND(cmd_merge, path);
	FUZZ_COMMAND(cmd_merge, "--format", "json", path);
}
