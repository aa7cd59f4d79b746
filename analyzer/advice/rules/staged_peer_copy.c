/*
 * staged_peer_copy.c - what one GPU copies to the host is copied to another one right after.
 *
 * A peer copy goes from GPU to GPU at once, over NVLink where there is one, and the host neither waits nor holds a buffer.
 * Fires when copies to a device follow a copy of as many bytes from another device that had ended before, among the last few
 * that their thread submitted, and what both take longer than a peer copy would, at the rate of the ceilings where that was
 * measured, is more of wall time than a prediction may be off.  No recording tells host addresses, so whether they are the
 * same bytes.
 */
#include "advice/rules/rules.h"

#include <math.h>

#include "base/format.h"
#include "base/sums.h"

#define LEAST_BYTES 4096 /* what is shorter is a flag or a count, that the host may read */
#define LOOKED_AT 8	 /* copies that the thread submitted before */

struct staged {
	uint64_t count, bytes;
	int64_t time_ns;	 /* of the copies out and in */
	size_t taken[LOOKED_AT]; /* calls of copies out that count already, and one more; 0: none */
	uint32_t from;		 /* devices[] of the last one */
};

static const struct profile_op *only_copy(const struct model *model, size_t call, uint32_t kind)
{
	const struct submissions *submissions = &model->submissions;
	const struct profile *profile = model->profile;
	const struct profile_op *op;

	if (submissions_count(submissions, call) != 1)
		return NULL;
	op = &profile->ops[submissions_op(submissions, submissions_first(submissions, call))];
	return op->kind == OP_COPY && profile->copies[op->detail].kind == kind &&
			       profile->copies[op->detail].bytes >= LEAST_BYTES
		       ? op
		       : NULL;
}

static bool is_taken(const struct staged *found, size_t call)
{
	for (size_t i = 0; i < LOOKED_AT; i++)
		if (found->taken[i] == call + 1)
			return true;
	return false;
}

/* Of the last few copies of the thread the latest that it may go on from and that counts for none yet; one that has not
 * ended when it starts tells that they are not about the same. */
static const struct profile_op *source_of(const struct staged *found, const struct model *model,
					  size_t call, const struct profile_op *in)
{
	const struct profile *profile = model->profile;
	size_t first = profile->threads[profile->calls[call].thread].first_call;
	int count = 0;

	for (size_t i = call; i-- > first && count < LOOKED_AT;) {
		const struct profile_op *out = only_copy(model, i, COPY_TO_HOST);

		count += model_call_class(model, i) == CALL_COPY;
		if (!out || profile_op_device(profile, out) == profile_op_device(profile, in) ||
		    is_taken(found, i) ||
		    profile->copies[out->detail].bytes != profile->copies[in->detail].bytes)
			continue;
		return out->end_ns <= in->start_ns ? out : NULL;
	}
	return NULL;
}

static void add_pair(struct staged *found, const struct profile *profile,
		     const struct profile_op *out, const struct profile_op *in)
{
	found->taken[found->count++ % LOOKED_AT] = (size_t)out->call + 1;
	sum_add_count(&found->bytes, profile->copies[in->detail].bytes);
	sum_add_ns(&found->time_ns, out->end_ns - out->start_ns);
	sum_add_ns(&found->time_ns, in->end_ns - in->start_ns);
	found->from = profile_op_device(profile, out);
}

static struct staged *found_on(const struct facts *facts, size_t device)
{
	return facts_finding(facts, RULE_staged_peer_copy, device);
}

/* To all GPUs in one walk over the calls, with the first GPU. */
static int find(void *finding, const struct facts *facts, size_t device)
{
	const struct model *model = facts->what_ifs.run.model;
	const struct profile *profile = facts->report->profile;

	(void)finding;
	if (!model || device > 0 || profile->device_count < 2)
		return 0;
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_op *in = only_copy(model, i, COPY_TO_DEVICE);
		struct staged *found = in ? found_on(facts, profile_op_device(profile, in)) : NULL;
		const struct profile_op *out = in ? source_of(found, model, i, in) : NULL;

		if (out)
			add_pair(found, profile, out, in);
	}
	return 0;
}

static double peer_rate(const struct facts *facts, size_t device)
{
	return costs_peer_rate(facts->report->ceilings,
			       facts->report->profile->devices[device].name);
}

/* 0: nobody knows the rate. */
static double peer_ns(const struct facts *facts, size_t device)
{
	double rate = peer_rate(facts, device);

	return rate > 0 ? (double)found_on(facts, device)->bytes / rate * 1e9 : 0;
}

static int64_t stake_ns(const struct facts *facts, size_t device)
{
	return (int64_t)fmax((double)found_on(facts, device)->time_ns - peer_ns(facts, device), 0);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct staged *found = found_on(facts, device);
	int rc = advice_add_evidence(
		item,
		"%s copies, %s, to the host from GPU %u and then from there to GPU %zu, which take %s",
		format_count(found->count).text, format_bytes((double)found->bytes).text,
		found->from, device, format_ns((double)found->time_ns).text);

	if (rc == 0 && peer_ns(facts, device) > 0)
		rc = advice_add_evidence(item, "from GPU to GPU they would take %s",
					 format_ns(peer_ns(facts, device)).text);
	return rc < 0 || what_if
		       ? rc
		       : advice_add_evidence(
				 item,
				 "assumes: they are the same bytes, which the host does not need");
}

/* All ranks are re-simulated together: told once then, of the first GPU that copies come to. */
static bool is_first(const struct facts *facts, size_t device)
{
	for (size_t i = 0; i < device; i++)
		if (found_on(facts, i)->count)
			return false;
	return true;
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return (double)stake_ns(facts, device) >
	       LEAST_ESTIMATED_RATIO * facts_wall_ns(facts, device);
}

static bool can_predict(const struct facts *facts, size_t device)
{
	return peer_rate(facts, device) > 0;
}

static bool is_candidate(const struct facts *facts, size_t device)
{
	return is_promising(facts, device) &&
	       (is_first(facts, device) || !facts_can_predict(facts) ||
		!can_predict(facts, device));
}

const struct rule rule_staged_peer_copy = {
	.id = "staged_peer_copy",
	.technique = &technique_peer_copy,
	.title = "Copy from GPU to GPU, not through the memory of the host",
	.risk = "Where the GPUs cannot access each other the driver stages the copy itself: ask "
		"cudaDeviceCanAccessPeer, and nvidia-smi topo -m what links them. The copy is ordered in one stream: "
		"an event tells the stream of the other GPU.",
	.pattern = "cudaDeviceEnablePeerAccess(other, 0); /* once, on both */\n"
		   "cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);\n"
		   "cudaEventRecord(copied, stream);\n"
		   "cudaStreamWaitEvent(other_stream, copied, 0); /* then its kernel */",
	.finding_size = sizeof(struct staged),
	.find = find,
	.can_predict = can_predict,
	.is_candidate = is_candidate,
	.is_promising = is_promising,
	.stake_ns = stake_ns,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
