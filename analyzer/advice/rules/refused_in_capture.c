/*
 * refused_in_capture.c - a call was made that a capture does not allow.
 *
 * cudaMalloc, cudaFree and waits do their work at once and leave nothing in a graph:
 * while a stream is captured in global mode CUDA refuses them to all threads, in
 * thread-local mode to the one that captures, and ends the capture.  Fires when that
 * happened at all; what capturing again cost is not told from the rest.
 */
#include "advice/rules/rules.h"

#include "advice/captures.h"

static int add_evidence(struct recommendation *item, const struct facts *facts, size_t device,
			const struct what_if *what_if)
{
	const struct captures *captures = &facts->devices[device].captures;

	(void)what_if;
	return captures_add_evidence(item, captures, &captures->refused, "calls refused", "");
}

static bool is_promising(const struct facts *facts, size_t device)
{
	return facts->devices[device].captures.refused.count > 0;
}

const struct rule rule_refused_in_capture = {
	.id = "refused_in_capture",
	.strategy = "capture_mode",
	.title = "Neither allocate nor wait while a stream is captured, or capture in another mode",
	.workload = "graph_modes",
	.risk = "In relaxed mode nothing is refused, also not what makes the graph wrong: memory "
		"that is freed while the graph still uses it.",
	.pattern = "cudaMalloc(&buffer, bytes); /* before the capture */\n"
		   "cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n"
		   "/* a thread that has to allocate beside a capture in global mode: */\n"
		   "cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;\n"
		   "cudaThreadExchangeStreamCaptureMode(&mode);",
	.is_promising = is_promising,
	.add_evidence = add_evidence,
	.is_about_kernels = true,
};
