/*
 * sample_file.h - samples that are too many for memory, in a file without a name; private to trace/.
 *
 * They come as runs, each sorted by device and start, and are written as blocks, column by column: what is the
 * same in all samples of a block, such as counters that were not sampled, is written once.  At the end blocks of a
 * device that follow each other are left as they are; where they overlap, as when two processes sampled one
 * GPU, its runs are merged into new ones.  The index of the blocks is in memory: 64 bytes for 512 samples.
 */
#ifndef ROOFLINE_SAMPLE_FILE_H
#define ROOFLINE_SAMPLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/profile.h"

#define SAMPLE_BLOCK 512 /* most samples of a block */

struct sample_block {
	int64_t start_ns, last_start_ns, last_end_ns; /* of its first and its last sample */
	uint64_t offset;			      /* in the file */
	size_t first;				      /* sample of the profile */
	uint32_t bytes, count;
	uint32_t device, run;
	bool has_doubles; /* a sample starts before the one before it ends */
};

/* The file goes into TMPDIR.  Returns 0 or a negative errno, described. */
int sample_file_create(struct sample_file **out, struct err *err);
void sample_file_free(struct sample_file *file); /* NULL is fine */

/* Adds a run, which is sorted by device and start.  Returns 0 or a negative errno, described. */
int sample_file_add(struct sample_file *file, const struct profile_sample *samples, size_t count,
		    struct err *err);

/* All were added: brings them into order, and drops each that starts before the one before it ends.  Returns 0 or a negative
 * errno, described. */
int sample_file_seal(struct sample_file *file, struct err *err);

/* By device and start, once it is sealed. */
const struct sample_block *sample_file_blocks(const struct sample_file *file, size_t *count);

/* Reads the samples of a block into samples[SAMPLE_BLOCK].  Returns 0 or a negative errno. */
int sample_file_read(const struct sample_file *file, const struct sample_block *block,
		     struct profile_sample *samples);

#endif
