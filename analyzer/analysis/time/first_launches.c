#include "analysis/time/first_launches.h"

#include "base/search.h"

#include <errno.h>
#include <stdlib.h>

/* Launches of one kernel by one process, or of all its kernels. */
struct launches {
	uint32_t first; /* calls[], PROFILE_NONE before there is one */
	uint64_t later_count;
	double later_ns; /* of the others together */
	int64_t longest_later_ns;
};

struct finding {
	const struct profile *profile;
	struct launches *kernels;   /* by process, then kernel */
	struct launches *processes; /* all later launches of each */
	bool *is_loading;	    /* by call: code was loaded in it or right before it */
};

static int64_t duration_ns(const struct profile *profile, uint32_t call)
{
	return profile->calls[call].end_ns - profile->calls[call].start_ns;
}

/* The launches that the kernel belongs to; NULL where it is no launch of its own. */
static struct launches *launches_of(const struct finding *finding, const struct profile_op *op)
{
	const struct profile *profile = finding->profile;
	const struct profile_call *call;

	if (op->kind != OP_KERNEL || op->call == PROFILE_NONE)
		return NULL;
	call = &profile->calls[op->call];
	if (profile->call_names[call->name].call_class != CALL_LAUNCH)
		return NULL;
	return &finding->kernels[profile->threads[call->thread].process *
					 profile->kernel_name_count +
				 profile->signatures[op->detail].kernel];
}

static void find_firsts(struct finding *finding)
{
	const struct profile *profile = finding->profile;

	for (size_t i = 0; i < profile->op_count; i++) {
		struct launches *launches = launches_of(finding, &profile->ops[i]);
		uint32_t call = profile->ops[i].call;

		if (launches &&
		    (launches->first == PROFILE_NONE ||
		     profile->calls[call].start_ns < profile->calls[launches->first].start_ns))
			launches->first = call;
	}
}

static void add_later(struct launches *launches, int64_t ns)
{
	launches->later_count++;
	launches->later_ns += (double)ns;
	if (ns > launches->longest_later_ns)
		launches->longest_later_ns = ns;
}

static void add_all_later(struct finding *finding)
{
	const struct profile *profile = finding->profile;

	for (size_t i = 0; i < profile->op_count; i++) {
		struct launches *launches = launches_of(finding, &profile->ops[i]);
		uint32_t call = profile->ops[i].call;
		int64_t ns;

		if (!launches || launches->first == call)
			continue;
		ns = duration_ns(profile, call);
		add_later(launches, ns);
		add_later(
			&finding->processes[profile->threads[profile->calls[call].thread].process],
			ns);
	}
}

struct moment {
	const struct profile *profile;
	int64_t ns;
};

static bool is_ended_behind(size_t index, const void *context)
{
	const struct moment *moment = context;

	return moment->profile->calls[index].end_ns > moment->ns;
}

/* The call of its thread in which code was loaded, or the one that follows. */
static void find_loading(struct finding *finding, const struct profile_overhead *overhead)
{
	const struct profile *profile = finding->profile;
	const struct profile_thread *thread = &profile->threads[overhead->thread];
	struct moment start = {profile, overhead->start_ns};
	size_t end = thread->first_call + thread->call_count;
	size_t call = search_first(thread->first_call, end, is_ended_behind, &start);

	if (call < end)
		finding->is_loading[call] = true;
}

/* How long the call would be if nothing was loaded; negative where nothing tells. */
static double usual_ns(const struct finding *finding, const struct launches *launches)
{
	const struct profile *profile = finding->profile;
	uint32_t thread = profile->calls[launches->first].thread;
	const struct launches *all = &finding->processes[profile->threads[thread].process];

	if (launches->later_count)
		return launches->later_ns / (double)launches->later_count;
	return all->later_count ? all->later_ns / (double)all->later_count : -1;
}

static bool is_loading(const struct finding *finding, const struct launches *launches)
{
	return finding->is_loading[launches->first] ||
	       (launches->later_count && duration_ns(finding->profile, launches->first) >
						 FIRST_LAUNCH_TIMES * launches->longest_later_ns);
}

static int add_excess(struct spans *module, const struct finding *finding,
		      const struct launches *launches)
{
	const struct profile_call *call;
	double usual;

	if (launches->first == PROFILE_NONE || !is_loading(finding, launches))
		return 0;
	call = &finding->profile->calls[launches->first];
	usual = usual_ns(finding, launches);
	if (usual < 0 || usual >= (double)(call->end_ns - call->start_ns))
		return 0;
	return spans_add(&module[call->thread], call->start_ns, call->end_ns - (int64_t)usual);
}

static int find_and_add(struct spans *module, struct finding *finding,
			bool (*is_load)(const struct profile_overhead *overhead))
{
	const struct profile *profile = finding->profile;
	size_t count = profile->process_count * profile->kernel_name_count;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		finding->kernels[i].first = PROFILE_NONE;
	find_firsts(finding);
	add_all_later(finding);
	for (size_t i = 0; i < profile->overhead_count; i++)
		if (profile->overheads[i].thread != PROFILE_NONE && is_load(&profile->overheads[i]))
			find_loading(finding, &profile->overheads[i]);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_excess(module, finding, &finding->kernels[i]);
	return rc;
}

int first_launches_add(struct spans *module, const struct profile *profile,
		       bool (*is_load)(const struct profile_overhead *overhead))
{
	struct finding finding = {.profile = profile};
	int rc = -ENOMEM;

	finding.kernels = calloc(profile->process_count * profile->kernel_name_count + 1,
				 sizeof(*finding.kernels));
	finding.processes = calloc(profile->process_count + 1, sizeof(*finding.processes));
	finding.is_loading = calloc(profile->call_count + 1, sizeof(*finding.is_loading));
	if (finding.kernels && finding.processes && finding.is_loading)
		rc = find_and_add(module, &finding, is_load);
	free(finding.kernels);
	free(finding.processes);
	free(finding.is_loading);
	return rc;
}
