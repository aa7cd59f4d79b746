/*
 * job.h - a recording of several ranks as one job: what each rank did, which ones were late, and what the job's
 * time was made of.
 *
 * A rank is one GPU of one process, as in collectives.h.  A recording is a job where at least two of them had
 * operations; else it has no ranks here.  Computation is every operation that moves nothing between ranks: kernels
 * but those of communication, memsets, graphs recorded as a whole, and copies on the device.  Communication is
 * (communication.h) kernels of NCCL and NVSHMEM, peer copies, and copies through the host.  Copies between a GPU and
 * its host that went to no other rank are neither.  All of one rank's own operations: what other processes do on its
 * GPU hides nothing of its communication.  Pure.
 *
 * To add a figure that can be summed over ranks: a row in JOB_TIMES.
 */
#ifndef ROOFLINE_JOB_H
#define ROOFLINE_JOB_H

#include <stdbool.h>

#include "analysis/time/collectives.h"
#include "analysis/time/gaps.h"
#include "base/sentences.h"
#include "trace/profile.h"

/* TIME(member, meaning), WAIT of ranks that has_waits; all in nanoseconds, and of several ranks their sum */
#define JOB_TIMES(TIME, WAIT)                                                                  \
	TIME(wall_ns, "from the first operation's start to the last one's end")                \
	TIME(busy_ns, "an operation ran")                                                      \
	TIME(idle_ns, "wall less busy")                                                        \
	TIME(computation_ns, "computation ran")                                                \
	TIME(communication_ns, "communication ran: exposed and overlapped")                    \
	TIME(exposed_ns, "communication ran, and no computation beside it")                    \
	TIME(overlapped_ns, "communication ran beside computation")                            \
	TIME(kernel_communication_ns, "kernels of NCCL or NVSHMEM ran, waits included")        \
	TIME(peer_copy_ns, "peer copies ran")                                                  \
	TIME(host_copy_ns, "copies through the host ran: to it, or from it on the other side") \
	WAIT(wait_ns, "a collective waited for a rank that came later")                        \
	WAIT(exposed_wait_ns, "of the waits, those with no computation beside them: of exposed")

struct job_times {
#define JOB_TIME_MEMBER(member, meaning) int64_t member;
	JOB_TIMES(JOB_TIME_MEMBER, JOB_TIME_MEMBER)
#undef JOB_TIME_MEMBER
	/* Of idle_ns; all 0 without has_causes.  Adds up to it where every rank's causes are known. */
	int64_t by_cause_ns[GAP_CAUSE_COUNT];
};

/* What made a rank late: of the time since the collective before, what it had more of than the rank that waited. */
/* LATE(constant, json key, words in a sentence about a rank: "its kernels took longer") */
#define JOB_LATE_CAUSES(LATE)                                                       \
	LATE(KERNELS, "kernels", "its kernels took longer")                         \
	LATE(HOST, "host", "its host launched later")                               \
	LATE(COPIES, "copies", "its copies took longer")                            \
	LATE(COMMUNICATION, "communication", "its other communication took longer") \
	LATE(DEVICE, "device", "its GPU began later what had been launched")        \
	LATE(UNKNOWN, "unknown", "the recording does not show why")

#define JOB_LATE_CONSTANT(constant, key, words) JOB_LATE_##constant,
enum job_late_cause { JOB_LATE_CAUSES(JOB_LATE_CONSTANT) JOB_LATE_CAUSE_COUNT };
#undef JOB_LATE_CONSTANT

/* What others had to wait for a rank. */
struct job_late {
	uint64_t matched_count; /* collectives in which it met others */
	uint64_t last_count;	/* in which it came last, and another one waited for it */
	int64_t caused_wait_ns; /* of all that waited for it, added up */
	int64_t most_ns;	/* the longest of these waits */
	int64_t by_cause_ns[JOB_LATE_CAUSE_COUNT]; /* adds up to caused_wait_ns */
};

/* PATH(constant, json key, title): what the critical path goes through on a rank */
#define JOB_PATH_KINDS(PATH)                                  \
	PATH(COMPUTATION, "computation", "computation")       \
	PATH(COMMUNICATION, "communication", "communication") \
	PATH(COPIES, "copies", "copies")                      \
	PATH(IDLE, "idle", "idle")

#define JOB_PATH_CONSTANT(constant, key, title) JOB_PATH_##constant,
enum job_path_kind { JOB_PATH_KINDS(JOB_PATH_CONSTANT) JOB_PATH_KIND_COUNT };
#undef JOB_PATH_CONSTANT

struct job_rank {
	uint32_t process, device;
	uint32_t collective_rank; /* collectives->ranks[], PROFILE_NONE without collectives */
	bool is_alone;		  /* the only rank of its process: one GPU */
	bool has_causes;	  /* times.by_cause_ns is known: no other rank was on its GPU */
	bool has_waits;		  /* its collectives could be matched with another rank's */
	int64_t first_ns, last_ns;
	struct job_times times;
	struct job_late late;
	int64_t path_ns[JOB_PATH_KIND_COUNT]; /* its part of the critical path */
};

/* Collectives of one kernel among the ranks of one group. */
struct job_collective {
	uint32_t kernel; /* kernel_names[] */
	uint32_t group;	 /* collectives->ranks[].group */
	uint32_t rank_count;
	uint64_t count;
	int64_t time_ns; /* on all ranks, added up */
	int64_t wait_ns; /* of that, waiting for the last rank */
	/* From the first rank's start to the last one's. */
	int64_t median_skew_ns, most_skew_ns;
	uint32_t most_late; /* ranks[]: the last of the one with the largest skew */
};

/* Who sent how much to whom: peer copies, and copies through the host. */
struct job_transfer {
	/* ranks[]; PROFILE_NONE: a GPU that ran nothing, and through the host that it is not known */
	uint32_t from, to;
	bool is_through_host;
	uint64_t count, bytes;
	int64_t time_ns; /* of all copies, added up; through the host those of both sides */
};

struct job {
	struct job_rank *ranks; /* by the launcher's rank, then process and device */
	size_t rank_count;	/* 0: no job */
	size_t host_count;
	struct job_times all; /* of all ranks, added up */
	int64_t first_ns, last_ns;
	struct job_collective *collectives; /* longest first */
	size_t collective_count;
	struct job_transfer *transfers; /* most bytes first */
	size_t transfer_count;
	/* Copies through the host of which it is not known who sent to whom. */
	uint64_t unknown_transfer_count;
	int64_t path_ns[JOB_PATH_KIND_COUNT]; /* the critical path, over all ranks */
	uint64_t path_hop_count;	      /* how often it goes from one rank to another */
	/* Damaged files, ranks of several runs, missing ranks, different orders, collectives that never ended. */
	struct sentences problems;
};

/* Fails with -ENOMEM only.  n log n in the number of operations. */
int job_build(struct job **out, const struct profile *profile, const struct gap_analysis *gaps,
	      const struct collectives *collectives, struct err *err);

/* The times of ranks alone (job_rank.times), also where there is one rank: of any recording that has operations. */
int job_build_times(struct job **out, const struct profile *profile,
		    const struct gap_analysis *gaps, const struct collectives *collectives,
		    struct err *err);
void job_free(struct job *job);

/* Adds what one rank, or several, took. */
void job_times_add(struct job_times *sum, const struct job_times *times);

/* "rank 3", "GPU 1 of rank 3", "GPU 1" of the only process, "GPU 1 of host.4242" */
void job_name_rank(char *buffer, size_t size, const struct profile *profile,
		   const struct job_rank *rank);

/* The rank that others waited for longest; NULL: none. */
const struct job_rank *job_latest(const struct job *job);
enum job_late_cause job_late_cause(const struct job_late *late); /* the largest */

const char *job_late_key(enum job_late_cause cause);
const char *job_late_words(enum job_late_cause cause);
const char *job_path_key(enum job_path_kind kind);
const char *job_path_title(enum job_path_kind kind);

#endif
