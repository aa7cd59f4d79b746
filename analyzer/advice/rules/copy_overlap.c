/*
 * copy_overlap.c - a loop copies in, computes and copies out, one after the other.
 *
 * In several streams, with pinned memory, the copies of one iteration run beside
 * the kernels of another.  Fires when re-simulating the loops so gains something;
 * says nothing where nothing can be predicted.
 */
#include "advice/rules/rules.h"

#include "base/format.h"

#include <errno.h>

static int recommend(const struct facts *facts, struct advice *advice, size_t device,
		     const struct what_if *what_if)
{
	int64_t saved_ns = what_if->prediction.place_before_ns - what_if->prediction.place_after_ns;
	int64_t wall_ns = facts->report->timeline->devices[device].wall_ns;
	struct recommendation *item =
		advice_add(advice, facts, device, saved_ns < wall_ns ? saved_ns : wall_ns);
	int rc;

	if (!item)
		return -ENOMEM;
	item->id = "copy_overlap";
	item->strategy = "overlap";
	item->title = "Copy beside the kernels: iterations in turn in three streams, pinned memory";
	item->workload = "copy_overlap";
	item->risk =
		"Iterations must not need each other's results, and each stream needs "
		"buffers of its own. The host may touch a buffer only after its copy has ended.";
	item->pattern = "cudaMallocHost(&host[i], bytes); /* once */\n"
			"for (int i = 0; i < count; i++) {\n"
			"    cudaStream_t s = streams[i % 3];\n"
			"    cudaMemcpyAsync(in[i % 3], host[i], bytes, cudaMemcpyDefault, s);\n"
			"    kernel<<<grid, block, 0, s>>>(in[i % 3], out[i % 3]);\n"
			"    cudaMemcpyAsync(host[i], out[i % 3], bytes, cudaMemcpyDefault, s);\n"
			"}";
	rc = advice_say(item, "%s %s of %s iterations in which copies and kernels take turns",
			format_count(what_if->loop_count).text,
			what_if->loop_count == 1 ? "loop" : "loops",
			format_count(what_if->iteration_count).text);
	if (rc == 0 && what_if->changed_count)
		rc = advice_say(item, "%s copies of pageable memory would be of pinned memory",
				format_count(what_if->changed_count).text);
	return rc < 0 ? rc : advice_predict(item, what_if);
}

int rule_copy_overlap(const struct facts *facts, struct advice *advice)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < facts->report->profile->device_count; i++) {
		struct what_if what_if;

		if (!facts_can_predict(facts) || facts_is_computing(facts, i))
			continue;
		rc = what_if_overlapped(&what_if, &facts->what_ifs, i);
		if (rc == 0 && facts_is_worth(facts, &what_if))
			rc = recommend(facts, advice, i, &what_if);
	}
	return rc;
}
