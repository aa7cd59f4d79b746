/*
 * collectives.h - collectives of NCCL and NVSHMEM by rank, and how long each rank waited in them for the others.
 *
 * A rank is one GPU of one process.  Recordings do not show communicators, so ranks by one clock whose
 * sequences are alike (the same kernels, in the same order, equally often) are assumed to belong
 * together: the n-th collective of one is the n-th of each.  Where recordings were cut off, ranks are compared up
 * to where the first of these ends.  The waits of a rank that is like no other are unknown, and hosts are compared
 * only where their times are by one clock (host_clocks.h).  Sends and receives are no collectives.  Pure.
 */
#ifndef ROOFLINE_COLLECTIVES_H
#define ROOFLINE_COLLECTIVES_H

#include <stdbool.h>

#include "analysis/time/collective_messages.h"
#include "trace/profile.h"

struct collective {
	uint32_t process, device;
	uint32_t kernel; /* kernel_names[] */
	uint32_t op;	 /* ops[] */
	bool is_in_graph;
	int64_t launched_ns; /* its call's start; without one, its own */
	int64_t start_ns, end_ns;
	/* From its start to that of the last rank that joined while it ran.  A rank that comes after its
	 * end was not waited for, such as one that a broadcast reaches later. */
	int64_t wait_ns;
	uint32_t awaited; /* that rank: ranks[], PROFILE_NONE where none was awaited */
};

struct collective_rank {
	uint32_t process, device;
	size_t first, count; /* its slice of items[] */
	size_t matched_count; /* of them, the first so many were compared with those of other ranks */
	uint32_t group;	      /* equal for ranks that are alike */
	bool is_matched;      /* at least one other is like it: waits are known */
};

struct collective_device {
	bool is_known;	 /* a rank on it is matched */
	int64_t wait_ns; /* moments in which a collective on it waited */
};

/* Two ranks that do the same collectives in different orders (collective_order.h). */
struct collective_mismatch {
	uint32_t ranks[2];   /* ranks[] */
	uint32_t kernels[2]; /* what each launches there: kernel_names[] */
	size_t index, count; /* of the first that differs, and of all that were compared */
};

struct collectives {
	struct collective *items; /* by rank, then as the host launched them */
	size_t count;
	struct collective_rank *ranks;
	size_t rank_count;
	struct collective_mismatch *mismatches; /* by ranks[1]; one a rank at most */
	size_t mismatch_count;
	struct collective_message *messages; /* as profile->nccl_calls[]: what NCCL was asked for */
	size_t message_count;
	struct collective_device *devices; /* as profile->devices[] */
	size_t device_count;
};

/* Fails with -ENOMEM only.  n log n in the number of collectives. */
int collectives_build(struct collectives **out, const struct profile *profile, struct err *err);

/* The same of ranks on whatever host, by clocks that need not agree: only who is alike can be told by it. */
int collectives_build_across(struct collectives **out, const struct profile *profile,
			     struct err *err);
void collectives_free(struct collectives *all);

/* "GPU 1 of host.4242" */
void collectives_name_rank(char *buffer, size_t size, const struct profile *profile,
			   uint32_t process, uint32_t device);

#endif
