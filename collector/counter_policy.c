#include "counter_policy.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

struct signature {
	uint64_t key;
	uint64_t launches;
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

/* A first sample may be had on loan. */
static bool is_affordable(const struct policy *policy, unsigned int samples)
{
	return policy->share >= 1 ||
	       policy->credit_ns > (samples ? 0 : -(int64_t)POLICY_OVERDRAFT_NS);
}

static bool wants(const struct policy *policy, const struct signature *signature, unsigned int pass)
{
	unsigned int samples = signature->samples[pass];

	if (signature->is_banned || (pass && !signature->samples[0]))
		return false;
	return samples < deserved(signature->launches) && is_affordable(policy, samples);
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

/* The open pass first; another only when this signature has had more of the open one, so that passes
 * are filled by all signatures before they change. */
static enum policy_decision decide(struct policy *policy, const struct signature *signature)
{
	bool wants_this = wants(policy, signature, policy->pass);
	bool is_full = policy->used == policy->ranges;

	if (wants_another(policy, signature) || (wants_this && is_full))
		return policy->turns++ <= policy->passes ? POLICY_ADVANCE : POLICY_LEAVE;
	return wants_this ? POLICY_COUNT : POLICY_LEAVE;
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

	credit_time(policy, now_ns);
	return signature ? decide(policy, signature) : POLICY_LEAVE;
}

void policy_advanced(struct policy *policy)
{
	policy->pass = (policy->pass + 1) % policy->passes;
	policy->used = 0;
}

uint32_t policy_counted(struct policy *policy, uint64_t key, uint32_t tag)
{
	struct signature *signature = find(policy, key);

	policy->used++;
	if (!signature)
		return tag;
	if (signature->samples[policy->pass] < UINT16_MAX)
		signature->samples[policy->pass]++;
	if (!signature->is_tagged)
		signature->tag = tag;
	signature->is_tagged = true;
	return signature->tag;
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

unsigned int policy_pass(const struct policy *policy)
{
	return policy->pass;
}
