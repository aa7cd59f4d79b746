/*
 * copy_overlap.c - a loop copies in, computes and copies out, one after the other.
 *
 * In several streams, with pinned memory, the copies of one iteration run beside
 * the kernels of another.  Fires when re-simulating the loops so gains something;
 * says nothing where nothing can be predicted.  Where all copies are of pinned memory already and less than half
 * of what it saves can come from work side by side, it says what the rest comes from.
 */
#include "advice/rules/rules.h"

#include "base/format.h"
#include "base/ns.h"
#include "base/sums.h"

/* What can run at once: kernels and copies within the device, copies to it, and copies from it. */
enum { INSIDE, TO_DEVICE, FROM_DEVICE, ENGINE_COUNT };

static int engine_of(const struct profile *profile, const struct profile_op *op)
{
	const struct profile_copy *copy;

	if (op->kind != OP_COPY)
		return INSIDE;
	copy = &profile->copies[op->detail];
	if (copy->src_memory == MEMORY_PAGEABLE || copy->src_memory == MEMORY_PINNED)
		return TO_DEVICE;
	return copy->dst_memory == MEMORY_PAGEABLE || copy->dst_memory == MEMORY_PINNED
		       ? FROM_DEVICE
		       : INSIDE;
}

/* No more than this can run beside something else: the one with most to do takes as long as it does. */
static int64_t most_hidden_ns(const struct profile *profile, size_t device)
{
	const struct profile_device *slice = &profile->devices[device];
	int64_t engines_ns[ENGINE_COUNT] = {0}, all_ns = 0, longest_ns = 0;

	for (size_t i = slice->first_op; i < slice->first_op + slice->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		sum_add_ns(&engines_ns[engine_of(profile, op)], op->end_ns - op->start_ns);
	}
	for (int i = 0; i < ENGINE_COUNT; i++) {
		sum_add_ns(&all_ns, engines_ns[i]);
		longest_ns = max_ns(longest_ns, engines_ns[i]);
	}
	return all_ns - longest_ns;
}

/* Where little can run beside the copies, what is gained is that the host does not wait for each of them. */
static int add_waits(struct recommendation *item, const struct facts *facts, size_t device,
		     const struct prediction *prediction)
{
	int64_t hidden_ns = most_hidden_ns(facts->report->profile, device);
	int64_t saved_ns = prediction->changed_before_ns - prediction->changed_after_ns;

	if (saved_ns <= 2 * hidden_ns)
		return 0;
	return advice_add_evidence(item,
				   "of what is saved at most %s comes from work side by side; the "
				   "rest from a host that waits for no copy, as with asynchronous "
				   "copies in one stream",
				   format_ns((double)hidden_ns).text);
}

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	int rc =
		advice_add_evidence(item,
				    "%s %s of %s iterations in which copies and kernels take turns",
				    format_count(what_if->effect.loop_count).text,
				    what_if->effect.loop_count == 1 ? "loop" : "loops",
				    format_count(what_if->effect.iteration_count).text);

	if (rc == 0 && what_if->effect.changed_count)
		return advice_add_evidence(item,
					   "%s copies of pageable memory would be of pinned memory",
					   format_count(what_if->effect.changed_count).text);
	return rc == 0 ? add_waits(item, facts, device, &what_if->prediction) : rc;
}

const struct rule rule_copy_overlap = {
	.id = "copy_overlap",
	.title = "Copy beside the kernels: iterations in turn in three streams, pinned memory",
	.workload = "copy_overlap",
	.risk = "Iterations must not need each other's results, and each stream needs "
		"buffers of its own. The host may touch a buffer only after its copy has ended.",
	.pattern = "cudaMallocHost(&host[i], bytes); /* once */\n"
		   "for (int i = 0; i < count; i++) {\n"
		   "    cudaStream_t s = streams[i % 3];\n"
		   "    cudaMemcpyAsync(in[i % 3], host[i], bytes, cudaMemcpyDefault, s);\n"
		   "    kernel<<<grid, block, 0, s>>>(in[i % 3], out[i % 3]);\n"
		   "    cudaMemcpyAsync(host[i], out[i % 3], bytes, cudaMemcpyDefault, s);\n"
		   "}",
	.in[FRAMEWORK_pytorch] =
		{
			.title = "Copy the next batch in a second stream while this one computes",
			.pattern =
				"copies = torch.cuda.Stream()\n"
				"with torch.cuda.stream(copies): # the next batch, of a pinning loader\n"
				"    following = batch.to(\"cuda\", non_blocking=True)\n"
				"output = model(current) # beside it\n"
				"torch.cuda.current_stream().wait_stream(copies)\n"
				"following.record_stream(torch.cuda.current_stream())",
			.risk = "Without record_stream the allocator may give a tensor's memory away "
				"while another stream reads it. The batch must be in pinned memory "
				"(pin_memory=True).",
			.workload = "copy_overlap",
		},
	.technique = &technique_overlap,
	.add_evidence = add_evidence,
};
