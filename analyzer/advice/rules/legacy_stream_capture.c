/*
 * legacy_stream_capture.c - work went to the legacy stream while a stream was captured.
 *
 * The legacy stream waits for all blocking streams, so it would depend on one that
 * runs nothing: CUDA refuses the call with cudaErrorStreamCaptureImplicit and ends
 * the capture, which yields no graph.  A program that goes on without one shows it
 * nowhere else.  Fires when that happened at all; there is no figure for what the
 * graph would have brought.
 */
#include "advice/rules/rules.h"

#include "advice/captures.h"

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct captures *captures = &facts->devices[device].captures;

	(void)what_if;
	return captures_add_evidence(item, captures, &captures->legacy,
				     "calls into the legacy stream",
				     ", cudaErrorStreamCaptureImplicit (906)");
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return facts->devices[device].captures.legacy.count > 0;
}

const struct rule rule_legacy_stream_capture = {
	.id = "legacy_stream_capture",
	.strategy = "name_stream",
	.title = "Name the stream of every launch and copy that is to be captured",
	.workload = "graph_modes",
	.risk = "A library that launches into the legacy stream has to be told its stream too "
		"(cublasSetStream). Non-blocking streams order nothing with the legacy one: "
		"work that relied on that needs an event.",
	.pattern = "cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);\n"
		   "cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n"
		   "kernel<<<grid, block, 0, stream>>>(...); /* never <<<grid, block>>> */\n"
		   "if (cudaStreamEndCapture(stream, &graph) != cudaSuccess)\n"
		   "    /* there is no graph: say so */;",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
