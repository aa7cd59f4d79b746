/*
 * summary.h - what ranks of a job did, small enough to be gathered from ten thousand of them.
 *
 * A summary is of any number of ranks.  Two are merged by adding whole numbers, taking the least and the greatest, and
 * uniting sets, and what no longer fits is left out by rules that depend on the union alone: so summaries merged in any
 * order, pairwise or in a tree, are written as the same bytes.
 *
 *   summary_build.c   the ranks of a recording               summary_write.c, summary_read.c   the file
 *   summary_merge.c   one summary into another               clocks.h, waits.h                 what a whole one tells
 *
 * A rank is one GPU of one process, as in analysis/job/job.h.  Times of a host are by its clock: nothing here compares
 * those of two hosts (clocks.h does).
 */
#ifndef ROOFLINE_SUMMARY_H
#define ROOFLINE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/job/job.h"
#include "base/err.h"
#include "base/groups.h"
#include "summary/sketch.h"

#define SUMMARY_FORMAT 1
#define SUMMARY_SUFFIX ".summary"

/* What a rank may keep, so that its file stays below 1 MB: at most 26 bytes an arrival, 4 a bucket and the names as they
 * are where nothing can be compressed. */
#define SUMMARY_RANK_KERNELS 512
#define SUMMARY_RANK_NAME_BYTES 200000
#define SUMMARY_RANK_BUCKETS 50000
#define SUMMARY_RANK_ARRIVALS 16384
/* What summaries merged may: 64 bytes of memory each. */
#define SUMMARY_ARRIVALS 2097152

/* Durations of one kind. */
struct summary_times {
	uint64_t count;
	int64_t total_ns, min_ns, max_ns; /* all 0 without any */
	struct sketch sketch;
};

struct summary_kernel {
	char *name; /* demangled, in full */
	struct summary_times times;
};

/* Of one rank in one group. */
#define SUMMARY_MOST_COLLECTIVES (UINT64_C(1) << 32)
#define SUMMARY_LEVELS 33

/* Of a rank's collectives those that a level keeps (summary_is_kept). */
struct summary_level {
	uint64_t count;
	uint64_t start_sum_ns; /* modulo 2^64 */
};

/* A rank in a group of collectives. */
struct summary_member {
	uint32_t group;
	uint64_t count; /* of its collectives, blocking or not: numbers 0 to count - 1 */
	struct summary_level
		*levels; /* owned; of those that are added up; above the last one are none */
	uint32_t level_count;
};

struct summary_rank {
	int64_t rank; /* the launcher's; -1: unknown */
	uint32_t host;
	uint64_t pid;
	int64_t start_ns;     /* of the process, as recorded, also of a part of it */
	char *device, *model; /* its GPU: UUID, or "GPU 0", and name */
	int64_t first_ns, last_ns;
	struct job_times
		times; /* without wait_ns and exposed_wait_ns, which take all ranks to know */
	bool has_causes;
	uint64_t operation_count, copied_bytes;
	uint64_t lost_count; /* rows of the recording that were lost, of the whole process */
	bool is_cut_off;
	struct sentences damage; /* what happened to its files, each with the place */
	struct summary_member *members;
	size_t member_count, member_capacity;
};

/* Ranks that take part in the same collectives.  Numbers count them on each rank from 0. */
struct summary_group {
	char *key;
	uint64_t length; /* of the rank with the most */
	uint64_t
		alone_length; /* of these collectives, those that a summary_alone of each rank is kept of */
	uint32_t level; /* what is kept of it: one in 2^level */
	uint32_t part_count, member_count;
};

/* The ranks of one host at one collective. */
struct summary_arrivals {
	uint64_t number;
	uint64_t count;
	uint64_t sum_ns;	   /* of their starts, modulo 2^64 */
	int64_t first_ns, last_ns; /* start */
	int64_t before_last_ns;	   /* of the last but one; INT64_MIN where there is one alone */
	int64_t end_ns;		   /* the earliest end */
	uint32_t last_rank;	   /* ranks[]; of several at once the lowest */
};

/* One rank at a collective that it may leave before others have come: a root of a broadcast, or a rank of a team of one.
 * Who waited for whom there takes each rank's start and end to know, which are not added up. */
struct summary_alone {
	uint64_t number;
	int64_t start_ns, end_ns;
	uint32_t rank; /* ranks[] */
};

/* The arrivals of one group on one host. */
struct summary_part {
	uint32_t group, host;
	struct summary_arrivals *items; /* owned; by number */
	size_t count, capacity;
	struct summary_alone *alone; /* owned; in any order */
	size_t alone_count, alone_capacity;
	uint32_t level; /* at most the group's: what was left out of items */
};

struct summary {
	char **hosts; /* owned */
	size_t host_count, host_capacity;
	struct summary_rank *ranks;
	size_t rank_count, rank_capacity;
	struct summary_kernel *kernels;
	size_t kernel_count, kernel_capacity;
	struct summary_times other_kernels;	    /* of names that did not fit */
	struct summary_times gaps[GAP_CAUSE_COUNT]; /* by their main cause */
	struct summary_group *groups;
	size_t group_count, group_capacity;
	struct summary_part *parts;
	size_t part_count, part_capacity;
	/* Indices of the above by what they are called. */
	struct groups host_names, rank_names, kernel_names, group_keys, part_keys;
};

void summary_free(struct summary *summary);

/* ---- entries: the index of what is called so, a new one where there is none, in *index.  Fail with -ENOMEM ---- */

int summary_host(struct summary *summary, const char *name, uint32_t *index);
int summary_kernel(struct summary *summary, const char *name, uint32_t *index);
int summary_group(struct summary *summary, const char *key, uint32_t *index);
int summary_part(struct summary *summary, uint32_t group, uint32_t host, uint32_t *index);

/* A new rank.  Fails with -EEXIST where there is one of that host, process and device.  device, model
 * and damage are copied. */
int summary_rank(struct summary *summary, const struct summary_rank *like, uint32_t *index);

/* Makes the rank, of that summary, a member of a group, with a copy of the levels.  Fails with -ENOMEM. */
int summary_join(struct summary *summary, struct summary_rank *rank,
		 const struct summary_member *like);

/* What it has of a level. */
struct summary_level summary_level_of(const struct summary_member *member, uint32_t level);

/* ---- durations ---- */

int summary_times_add(struct summary_times *times, int64_t duration_ns);
int summary_times_merge(struct summary_times *times, const struct summary_times *other);
void summary_times_free(struct summary_times *times);

/* ---- order ---- */

/* Of two ranks: by launcher's rank, unknown ones last, then host, process and device. */
int summary_compare_ranks(const struct summary *summary, uint32_t a, uint32_t b);

/* "rank 3", or "host.4242": the process */
void summary_name_rank(char *buffer, size_t size, const struct summary *summary, uint32_t rank);

/* ---- arrivals ---- */

/* Whether a level keeps the collective of that number: about one in 2^level, each of which lower levels keep as well.  By
 * the number's bits mixed, so that of a program whose collectives repeat, all of them are among the kept ones. */
static inline bool summary_is_kept(uint64_t number, uint32_t level)
{
	/* The finalizer of MurmurHash3 (Austin Appleby, public domain) */
	number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
	number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	number ^= number >> 33;
	return !(number & ((UINT64_C(1) << level) - 1));
}

/* Adds a collective that is added up, which started then, to the levels that keep it; levels has SUMMARY_LEVELS. */
void summary_count(struct summary_level *levels, uint64_t number, int64_t start_ns);

/* The next of a part, whose number is greater than those before; NULL without memory. */
struct summary_arrivals *summary_arrive(struct summary_part *part);

/* Likewise, of any number; fails with -ENOMEM. */
int summary_arrive_alone(struct summary_part *part, const struct summary_alone *alone);

/* Leaves out what does not fit into most arrivals, alone or not: each group keeps about 2^k numbers at most, the
 * same k for all. */
void summary_thin(struct summary *summary, uint64_t most);

/* ---- all of it ---- */

/* Adds everything of another summary, which path names in err.  Fails with -ENOMEM, or -EEXIST where a rank is in both. */
int summary_merge(struct summary *summary, const struct summary *other, const char *path,
		  struct err *err);

struct report;

#define SUMMARY_ANALYSES (NEED_gaps | NEED_collectives) /* what a report needs for it */

/* The ranks of a recording, each as if summarized alone.  The caller frees with summary_free, also after a failure.  Fails
 * with -ENOMEM, or -ENOENT where no rank has operations. */
int summary_build(struct summary *summary, const struct report *report, struct err *err);

/* The file: text in one frame of zstd, with a checksum (docs/summary-format.md).  path names it in err. */
int summary_write(const struct summary *summary, int fd, const char *path, struct err *err);

/* Merges a file into a summary.  Fails with -EINVAL where it is damaged or no summary. */
int summary_read(struct summary *summary, const char *path, struct err *err);

#endif
