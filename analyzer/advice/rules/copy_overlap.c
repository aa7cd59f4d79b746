/*
 * copy_overlap.c - a loop copies in, computes and copies out, one after the other.
 *
 * In several streams, with pinned memory, the copies of one iteration run beside
 * the kernels of another.  Fires when re-simulating the loops so gains something;
 * says nothing where nothing can be predicted.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	int rc =
		advice_add_evidence(item,
				    "%s %s of %s iterations in which copies and kernels take turns",
				    format_count(what_if->effect.loop_count).text,
				    what_if->effect.loop_count == 1 ? "loop" : "loops",
				    format_count(what_if->effect.iteration_count).text);

	(void)facts;
	(void)device;
	if (rc == 0 && what_if->effect.changed_count)
		rc = advice_add_evidence(item,
					 "%s copies of pageable memory would be of pinned memory",
					 format_count(what_if->effect.changed_count).text);
	return rc;
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
	.in_pytorch =
		{
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
