/*
 * readbacks.h - what the host reads back, and which kernels it launches for what it read.
 *
 * A readback is a copy to the host that is waited for before anything else is submitted.  Kernels that are launched
 * after one, and in another number or with another grid than after the one before, follow from what was read.
 */
#ifndef ROOFLINE_READBACKS_H
#define ROOFLINE_READBACKS_H

#include "replay/model.h"

/* One of up to so many bytes is a list that the host goes through to launch something for what it finds in it. */
#define READBACK_BYTES 65536

/* Of a kernel that is launched after a readback. */
struct readback_kernel {
	uint32_t round; /* from readback to readback, in which it was launched last */
	uint64_t count,
		usual_count; /* launches in that round, and in the one before that it was in */
	uint64_t blocks;     /* of its last launch */
	bool grid_varies;
	bool varies; /* in number or in grid: data says so */
};

/* Going through a loop from readback to readback.  Whatever is no kernel ends what follows from one. */
struct readbacks {
	const struct model *model;
	size_t end;			 /* of the loop's calls */
	struct readback_kernel *kernels; /* by kernel; room for all of kernel_names[] */
	bool is_read;			 /* what is launched now may follow from what was read */
	uint32_t round;			 /* 1 after the first readback */
};

/* The operation of a readback of at most READBACK_BYTES, or NULL. */
const struct profile_op *readbacks_copy(const struct model *model, size_t call, size_t end);

/* Takes in the next call; the kernel that may follow from what was read, or NULL. */
const struct profile_op *readbacks_next(struct readbacks *readbacks, size_t call);

/* Fills in kernels of the calls [first, end), and goes back to the first one. */
void readbacks_collect(struct readbacks *readbacks, size_t first);

/* Whether a kernel's grid follows from what was read. */
bool readbacks_has_varying_grid(const struct readbacks *readbacks);

#endif
