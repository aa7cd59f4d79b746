#include "analysis/time/first_launches.h"

#include "base/array.h"
#include "base/groups.h"
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
	struct launches *kernels; /* by number */
	struct groups numbers;	  /* of processes and kernels that they launch */
	struct recent {
		uint32_t process, number;
		bool is_known;
	} * recent;	 /* by kernel: the number found last, as looking one up takes longer */
	size_t capacity; /* of kernels */
	struct launches *processes; /* all later launches of each */
	bool *is_loading;	    /* by call: code was loaded in it or right before it */
};

static int64_t duration_ns(const struct profile *profile, uint32_t call)
{
	return profile->calls[call].end_ns - profile->calls[call].start_ns;
}

/* Whether the kernel was launched by a call of its own. */
static bool is_launched(const struct profile *profile, const struct profile_op *op)
{
	return op->kind == OP_KERNEL && op->call != PROFILE_NONE &&
	       profile->call_names[profile->calls[op->call].name].call_class == CALL_LAUNCH;
}

static uint32_t process_of(const struct profile *profile, uint32_t call)
{
	return profile->threads[profile->calls[call].thread].process;
}

static int look_up(struct finding *finding, uint32_t *number, const uint32_t key[2])
{
	uint32_t known = finding->numbers.count;
	struct launches *next;

	if (groups_find(&finding->numbers, key, 2 * sizeof(*key), number) < 0)
		return -ENOMEM;
	if (*number < known)
		return 0;
	next = ARRAY_NEXT(finding->kernels, finding->capacity, known);
	if (!next)
		return -ENOMEM;
	*next = (struct launches){.first = PROFILE_NONE};
	return 0;
}

/* The launches that the kernel belongs to: those of its process and name. */
static int launches_of(struct finding *finding, struct launches **launches,
		       const struct profile_op *op)
{
	const struct profile *profile = finding->profile;
	const uint32_t key[2] = {process_of(profile, op->call),
				 profile->signatures[op->detail].kernel};
	struct recent *recent = &finding->recent[key[1]];

	if (!recent->is_known || recent->process != key[0]) {
		int rc = look_up(finding, &recent->number, key);

		if (rc < 0)
			return rc;
		recent->process = key[0];
		recent->is_known = true;
	}
	*launches = &finding->kernels[recent->number];
	return 0;
}

static int find_firsts(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	struct launches *launches;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->op_count; i++) {
		uint32_t call = profile->ops[i].call;

		if (!is_launched(profile, &profile->ops[i]))
			continue;
		rc = launches_of(finding, &launches, &profile->ops[i]);
		if (rc == 0 &&
		    (launches->first == PROFILE_NONE ||
		     profile->calls[call].start_ns < profile->calls[launches->first].start_ns))
			launches->first = call;
	}
	return rc;
}

static void add_later(struct launches *launches, int64_t ns)
{
	launches->later_count++;
	launches->later_ns += (double)ns;
	if (ns > launches->longest_later_ns)
		launches->longest_later_ns = ns;
}

static int add_all_later(struct finding *finding)
{
	const struct profile *profile = finding->profile;
	struct launches *launches;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->op_count; i++) {
		uint32_t call = profile->ops[i].call;
		int64_t ns;

		if (!is_launched(profile, &profile->ops[i]))
			continue;
		rc = launches_of(finding, &launches, &profile->ops[i]);
		if (rc < 0 || launches->first == call)
			continue;
		ns = duration_ns(profile, call);
		add_later(launches, ns);
		add_later(&finding->processes[process_of(profile, call)], ns);
	}
	return rc;
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
	const struct launches *all = &finding->processes[process_of(profile, launches->first)];

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

	if (!is_loading(finding, launches))
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
	int rc = find_firsts(finding);

	if (rc == 0)
		rc = add_all_later(finding);
	for (size_t i = 0; i < profile->overhead_count; i++)
		if (profile->overheads[i].thread != PROFILE_NONE && is_load(&profile->overheads[i]))
			find_loading(finding, &profile->overheads[i]);
	for (uint32_t i = 0; rc == 0 && i < finding->numbers.count; i++)
		rc = add_excess(module, finding, &finding->kernels[i]);
	return rc;
}

int first_launches_add(struct spans *module, const struct profile *profile,
		       bool (*is_load)(const struct profile_overhead *overhead))
{
	struct finding finding = {.profile = profile};
	int rc = -ENOMEM;

	finding.recent = calloc(profile->kernel_name_count + 1, sizeof(*finding.recent));
	finding.processes = calloc(profile->process_count + 1, sizeof(*finding.processes));
	finding.is_loading = calloc(profile->call_count + 1, sizeof(*finding.is_loading));
	if (finding.recent && finding.processes && finding.is_loading)
		rc = find_and_add(module, &finding, is_load);
	free(finding.kernels);
	free(finding.recent);
	groups_free(&finding.numbers);
	free(finding.processes);
	free(finding.is_loading);
	return rc;
}
