/*
 * counter_policy.h - which launches are counted, and in which pass.
 *
 * Counters come in passes; a launch carries one of them, and only one pass is open at a time.
 * Opening the next costs tens of milliseconds, counting a launch up to one, leaving it alone nothing.
 * So every launch signature is counted in each pass as soon as it can be and then ever more rarely:
 * n launches deserve 1 + log2(n) samples of each pass.  The first sample is one of pass 0, which
 * instruments no code: it shows that the kernel ends without the program's help.  All of it is paid from a credit that grows
 * with the time that passes, so a long run is slowed by a fixed share and a short one by a fixed time.
 *
 * Kernels that take the most time come first: how far below zero the credit may go for a sample depends on
 * the signature's share of the time that kernels were seen to take.  Passes that were changed for a few
 * launches only, because new signatures arrived, are changed ever more rarely.
 *
 * Pure: no clock, no CUPTI.  Not thread-safe.
 */
#ifndef ROOFLINE_COUNTER_POLICY_H
#define ROOFLINE_COUNTER_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_MAX_PASSES 64
#define POLICY_MAX_SIGNATURES 16384 /* further ones are not counted */

/* What a program may be slowed by before the share counts, and by how much more when a signature has
 * no sample of a pass yet. */
#define POLICY_CREDIT_NS INT64_C(300000000)
#define POLICY_OVERDRAFT_NS INT64_C(700000000)
/* Of that, what is kept for signatures that are known to take a lot of the time. */
#define POLICY_RESERVE_NS INT64_C(400000000)
/* A lot, and next to nothing: shares of the kernels' time. */
#define POLICY_LARGE_SHARE 0.01
#define POLICY_SMALL_SHARE 0.001

struct policy;

/* share: of the time that passes, 0 to 1, at least 1 for no limit at all.  ranges: launches that one
 * open pass can hold.  NULL when memory is out. */
struct policy *policy_new(unsigned int passes, unsigned int ranges, double share, int64_t now_ns);
void policy_free(struct policy *policy);

/* Other passes, as after a change of the counters: all samples are to be taken anew. */
void policy_restart(struct policy *policy, unsigned int passes);

enum policy_decision {
	POLICY_LEAVE, /* let it run */
	POLICY_COUNT, /* count it in the open pass */
	POLICY_ADVANCE, /* open the next pass, call policy_advanced, and ask again with policy_again */
};

/* Before a launch arrives: so many did that nobody asked about; time_share: of the time that kernels were seen
 * to take, negative when it is not known. */
void policy_tell(struct policy *policy, uint64_t signature, uint64_t launches, double time_share);

/* A launch of this signature arrives. */
enum policy_decision policy_launch(struct policy *policy, uint64_t signature, int64_t now_ns);
enum policy_decision policy_again(struct policy *policy, uint64_t signature, int64_t now_ns);

/* What was done about it. */
void policy_advanced(struct policy *policy);
/* tag: for the caller; returns that of the signature's first counted launch. */
uint32_t policy_counted(struct policy *policy, uint64_t signature, uint32_t tag);
/* The last launch of the signature was counted in vain: it gets another, but not for ever. */
void policy_void(struct policy *policy, uint64_t signature);
/* It is never to be counted again. */
void policy_ban(struct policy *policy, uint64_t signature);
void policy_charge(struct policy *policy, int64_t cost_ns);

/* The launch of the signature, from 1, that is next to be asked about: 0 for any, UINT64_MAX for none. */
uint64_t policy_next_launch(const struct policy *policy, uint64_t signature);

/* The pass that is open, from 0. */
unsigned int policy_pass(const struct policy *policy);

#endif
