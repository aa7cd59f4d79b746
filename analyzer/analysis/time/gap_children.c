#include "analysis/time/gap_children.h"

#include "analysis/samples/device_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- preparation ---- */

/* Calls that tell of work which holds streams or waits up and has no record. */
static bool is_of_silence(const char *name)
{
	static const char *const parts[] = {"LaunchHostFunc", "StreamAddCallback", "AddHostNode",
					    "FreeAsync", "MallocFromPool"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static int find_silent(struct gap_children *children)
{
	const struct profile *profile = children->calls->profile;
	bool *is_silent_name = calloc(profile->call_name_count + 1, sizeof(*is_silent_name));

	if (!is_silent_name)
		return -ENOMEM;
	for (size_t i = 0; i < profile->call_name_count; i++)
		is_silent_name[i] = is_of_silence(profile->call_names[i].text);
	for (size_t i = 0; i < profile->process_count; i++)
		children->is_silent[i] = profile->processes[i].is_filtered;
	for (size_t i = 0; i < profile->call_count; i++)
		if (is_silent_name[profile->calls[i].name])
			children->is_silent[profile->threads[profile->calls[i].thread].process] =
				true;
	free(is_silent_name);
	return 0;
}

static int find_bursts(struct gap_children *children, const struct device_work *work)
{
	const struct profile *profile = children->calls->profile;
	struct device_work *own = NULL;
	int rc = 0;

	if (!profile->sample_count)
		return 0;
	if (!work)
		rc = device_work_build(&own, profile, NULL);
	work = work ? work : own;
	for (size_t i = 0; rc == 0 && i < work->burst_count; i++)
		rc = spans_add(&children->bursts[work->bursts[i].device], work->bursts[i].start_ns,
			       work->bursts[i].end_ns);
	for (size_t i = 0; i < profile->device_count; i++)
		spans_seal(&children->bursts[i]);
	device_work_free(own);
	return rc;
}

int gap_children_open(struct gap_children *children, const struct gap_calls *calls,
		      const struct device_work *work)
{
	const struct profile *profile = calls->profile;
	int rc;

	*children = (struct gap_children){.calls = calls};
	children->kernels = calloc(profile->kernel_name_count + 1, sizeof(*children->kernels));
	children->is_silent = calloc(profile->process_count + 1, sizeof(*children->is_silent));
	children->bursts = calloc(profile->device_count + 1, sizeof(*children->bursts));
	if (!children->kernels || !children->is_silent || !children->bursts)
		return -ENOMEM;
	rc = find_silent(children);
	return rc < 0 ? rc : find_bursts(children, work);
}

void gap_children_close(struct gap_children *children)
{
	for (size_t i = 0; children->bursts && i < children->calls->profile->device_count; i++)
		spans_free(&children->bursts[i]);
	free(children->bursts);
	free(children->is_silent);
	free(children->kernels);
}

/* ---- evidence ---- */

/* What the pause after it tells of, or NULL. */
static struct child_evidence *evidence_of(const struct gap_children *children,
					  const struct gap *gap)
{
	const struct profile *profile = children->calls->profile;
	const struct profile_op *before = &profile->ops[gap->before];

	if (before->kind != OP_KERNEL || before->counted != NOT_COUNTED ||
	    profile->ops[gap->after].counted != NOT_COUNTED ||
	    children->is_silent[profile_op_process(profile, before)])
		return NULL;
	return &children->kernels[profile->signatures[before->detail].kernel];
}

static bool is_plain(const struct profile *profile, const struct profile_op *op)
{
	return op->kind != OP_GRAPH && !profile_op_node(profile, op);
}

void gap_children_look(struct gap_children *children, const struct gap *gap, uint32_t launch,
		       int64_t latency_ns)
{
	const struct profile *profile = children->calls->profile;
	struct child_evidence *evidence = evidence_of(children, gap);
	int64_t waited_ns;

	if (!evidence)
		return;
	if (profile->calls[launch].end_ns + latency_ns <= gap->start_ns) {
		if (!is_plain(profile, &profile->ops[gap->before]) ||
		    !is_plain(profile, &profile->ops[gap->after]))
			return;
		evidence->queued_count++;
		evidence->long_queued_count += gap->end_ns - gap->start_ns > CHILD_QUEUED_NS;
		return;
	}
	waited_ns = gap_calls_waited(children->calls, launch, gap);
	evidence->waited_count += waited_ns > 0;
	evidence->long_waited_count += waited_ns > CHILD_WAIT_NS;
}

bool gap_children_may_run(const struct gap_children *children, const struct gap *gap)
{
	const struct child_evidence *evidence = evidence_of(children, gap);

	if (!evidence)
		return false;
	if (evidence->queued_count >= CHILD_QUEUED_LEAST)
		return evidence->long_queued_count >= CHILD_QUEUED_LEAST &&
		       2 * evidence->long_queued_count > evidence->queued_count;
	return 2 * evidence->long_waited_count > evidence->waited_count;
}

int64_t gap_children_sampled(const struct gap_children *children, const struct gap *gap)
{
	const struct profile *profile = children->calls->profile;
	const struct profile_op *after = &profile->ops[gap->after];

	return spans_covered(&children->bursts[profile_op_device(profile, after)], gap->start_ns,
			     gap->end_ns);
}
