/*
 * dump.h - an ordinary recording of what a recording under way holds now.
 *
 * The tables of a ring lie in segments: they are put together, behind those that are kept whole.  A collector that is
 * alive is first asked to write what is finished.  What the collector writes or removes meanwhile does no harm: files are
 * opened first, a segment that has lost its name meanwhile is left out, and copies end with a whole line.
 */
#ifndef ROOFLINE_DUMP_H
#define ROOFLINE_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dump_request {
	const char *source;	 /* the folder of the recording */
	const char *process;	 /* the name of one process folder in it; NULL: all */
	const char *reason;	 /* goes into process.csv */
	uint64_t undumped_count; /* of ranges: goes into losses.csv */
};

/* Makes the recording at path, which must not be there.  Returns 0, or -ENODATA when no process is recorded. */
int dump_write(const struct dump_request *request, const char *path, struct err *err);

/* Makes it in folder, as dump.1, dump.2 and so on, the first that is free; path is what it is called. */
int dump_write_next(const struct dump_request *request, const char *folder, char *path, size_t size,
		    struct err *err);

#endif
