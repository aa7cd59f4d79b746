#include "counters/counter_policy.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* Launches of a signature whose counting came to nothing and is tried again. */
#define MOST_VOIDS 3

/* Launches that a pass should be opened for, where there are as many signatures. */
#define WORTH_LAUNCHES 8
#define MOST_FUTILE_CHANGES 8

struct signature {
	uint64_t key;
	uint64_t launches;
	double time_share; /* negative: not known */
	unsigned int voids;
	bool is_banned, is_tagged;
	uint32_t tag;
	uint16_t samples[POLICY_MAX_PASSES];
	UT_hash_handle hh;
};

struct policy {
	struct signature *signatures;
	unsigned int passes, ranges;
	unsigned int pass;  /* open */
	unsigned int used;  /* ranges of it */
	unsigned int turns; /* passes opened for the launch that is being decided */
	double share;
	int64_t credit_ns, credited_until_ns;
	unsigned int futile_changes; /* lately: for fewer launches than it is worth */
	int64_t change_ns;	     /* what the last change took */
	int64_t progress_ns; /* the open pass had a signature's first sample, or was opened */
};

struct policy *policy_new(unsigned int passes, unsigned int ranges, double share, int64_t now_ns)
{
	struct policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return NULL;
	policy->passes = passes;
	policy->ranges = ranges;
	policy->share = share;
	policy->credit_ns = POLICY_CREDIT_NS;
	policy->credited_until_ns = now_ns;
	return policy;
}

void policy_free(struct policy *policy)
{
	struct signature *signature, *next;

	if (!policy)
		return;
	HASH_ITER(hh, policy->signatures, signature, next)
	{
		HASH_DEL(policy->signatures, signature);
		free(signature);
	}
	free(policy);
}

void policy_restart(struct policy *policy, unsigned int passes)
{
	struct signature *signature, *next;

	HASH_ITER(hh, policy->signatures, signature, next)
	memset(signature->samples, 0, sizeof(signature->samples));
	policy->passes = passes;
	policy->pass = 0;
	policy->used = 0;
}

static struct signature *find(struct policy *policy, uint64_t key)
{
	struct signature *signature;

	HASH_FIND(hh, policy->signatures, &key, sizeof(key), signature);
	if (signature || HASH_COUNT(policy->signatures) >= POLICY_MAX_SIGNATURES)
		return signature;
	signature = calloc(1, sizeof(*signature));
	if (!signature)
		return NULL;
	signature->key = key;
	signature->time_share = -1;
	HASH_ADD(hh, policy->signatures, key, sizeof(signature->key), signature);
	return signature;
}

static void credit_time(struct policy *policy, int64_t now_ns)
{
	double earned = (double)(now_ns - policy->credited_until_ns) * policy->share;

	policy->credited_until_ns = now_ns;
	if (earned <= 0)
		return;
	if ((double)policy->credit_ns + earned > (double)POLICY_CREDIT_NS)
		policy->credit_ns = POLICY_CREDIT_NS;
	else
		policy->credit_ns += (int64_t)earned;
}

/* 1 + log2(launches) */
static unsigned int deserved(uint64_t launches)
{
	return launches ? 64 - (unsigned int)__builtin_clzll(launches) : 1;
}

/* How far the credit may go down for another sample.  A first one may be had on loan, as large a one as the
 * signature's time is worth. */
static int64_t floor_ns(const struct signature *signature, unsigned int samples)
{
	bool is_known = signature->time_share >= 0;

	if (samples)
		return is_known && signature->time_share < POLICY_LARGE_SHARE ? POLICY_CREDIT_NS / 3
									      : 0;
	if (is_known && signature->time_share >= POLICY_LARGE_SHARE)
		return -POLICY_OVERDRAFT_NS;
	if (is_known && signature->time_share < POLICY_SMALL_SHARE)
		return 0;
	return -(POLICY_OVERDRAFT_NS - POLICY_RESERVE_NS);
}

static bool is_affordable(const struct policy *policy, const struct signature *signature,
			  unsigned int samples)
{
	return policy->share >= 1 || policy->credit_ns > floor_ns(signature, samples);
}

static bool deserves(const struct policy *policy, const struct signature *signature,
		     unsigned int pass)
{
	if (signature->is_banned || pass >= policy->passes || (pass && !signature->samples[0]))
		return false;
	return signature->samples[pass] < deserved(signature->launches);
}

static bool wants(const struct policy *policy, const struct signature *signature, unsigned int pass)
{
	return deserves(policy, signature, pass) &&
	       is_affordable(policy, signature, signature->samples[pass]);
}

static bool wants_another(const struct policy *policy, const struct signature *signature)
{
	for (unsigned int pass = 0; pass < policy->passes; pass++)
		if (pass != policy->pass && wants(policy, signature, pass) &&
		    (signature->samples[pass] < signature->samples[policy->pass] ||
		     !signature->samples[0]))
			return true;
	return false;
}

/* Signatures that are new keep calling for pass 0, those that are not for the next: where changes served
 * few launches, the open pass gets some time without a first sample before it is changed. */
static bool may_change(const struct policy *policy)
{
	int64_t idle_ns = policy->credited_until_ns - policy->progress_ns;

	return policy->share >= 1 || policy->used == policy->ranges ||
	       idle_ns >= policy->futile_changes * policy->change_ns;
}

/* The open pass first; another only when this signature has had more of the open one, so that passes
 * are filled by all signatures before they change. */
static enum policy_decision decide(struct policy *policy, const struct signature *signature)
{
	bool wants_this = wants(policy, signature, policy->pass);
	bool is_full = policy->used == policy->ranges;

	if (!wants_another(policy, signature) && !(wants_this && is_full))
		return wants_this ? POLICY_COUNT : POLICY_LEAVE;
	return may_change(policy) && policy->turns++ <= policy->passes ? POLICY_ADVANCE
								       : POLICY_LEAVE;
}

void policy_tell(struct policy *policy, uint64_t key, uint64_t launches, double time_share)
{
	struct signature *signature = find(policy, key);

	if (!signature)
		return;
	signature->launches += launches;
	signature->time_share = time_share;
}

enum policy_decision policy_launch(struct policy *policy, uint64_t key, int64_t now_ns)
{
	struct signature *signature = find(policy, key);

	if (!signature)
		return POLICY_LEAVE;
	credit_time(policy, now_ns);
	signature->launches++;
	policy->turns = 0;
	return decide(policy, signature);
}

enum policy_decision policy_again(struct policy *policy, uint64_t key, int64_t now_ns)
{
	struct signature *signature = find(policy, key);

	if (now_ns > policy->credited_until_ns)
		policy->change_ns = now_ns - policy->credited_until_ns;
	credit_time(policy, now_ns);
	policy->progress_ns = now_ns;
	return signature ? decide(policy, signature) : POLICY_LEAVE;
}

static void judge_change(struct policy *policy)
{
	unsigned int signatures = HASH_COUNT(policy->signatures);

	if (policy->used >= (signatures < WORTH_LAUNCHES ? signatures : WORTH_LAUNCHES))
		policy->futile_changes /= 2;
	else if (policy->futile_changes < MOST_FUTILE_CHANGES)
		policy->futile_changes++;
}

void policy_advanced(struct policy *policy)
{
	judge_change(policy);
	policy->pass = (policy->pass + 1) % policy->passes;
	policy->used = 0;
}

uint32_t policy_counted(struct policy *policy, uint64_t key, uint32_t tag)
{
	struct signature *signature = find(policy, key);

	policy->used++;
	if (!signature)
		return tag;
	if (!signature->samples[policy->pass])
		policy->progress_ns = policy->credited_until_ns;
	if (signature->samples[policy->pass] < UINT16_MAX)
		signature->samples[policy->pass]++;
	if (!signature->is_tagged)
		signature->tag = tag;
	signature->is_tagged = true;
	return signature->tag;
}

void policy_void(struct policy *policy, uint64_t key)
{
	struct signature *signature = find(policy, key);

	if (signature && signature->samples[policy->pass] && signature->voids < MOST_VOIDS) {
		signature->samples[policy->pass]--;
		signature->voids++;
	}
}

void policy_ban(struct policy *policy, uint64_t key)
{
	struct signature *signature = find(policy, key);

	if (signature)
		signature->is_banned = true;
}

void policy_charge(struct policy *policy, int64_t cost_ns)
{
	if (cost_ns > 0)
		policy->credit_ns -= cost_ns;
}

/* What it deserves grows at powers of 2. */
uint64_t policy_next_launch(const struct policy *policy, uint64_t key)
{
	const struct signature *signature;

	HASH_FIND(hh, policy->signatures, &key, sizeof(key), signature);
	if (!signature)
		return HASH_COUNT(policy->signatures) < POLICY_MAX_SIGNATURES ? 0 : UINT64_MAX;
	if (signature->is_banned)
		return UINT64_MAX;
	for (unsigned int pass = 0; pass < policy->passes; pass++)
		if (deserves(policy, signature, pass))
			return 0;
	return UINT64_C(1) << deserved(signature->launches);
}

unsigned int policy_pass(const struct policy *policy)
{
	return policy->pass;
}
