#include "advice/rules/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/spans.h"
#include "base/sums.h"
#include "base/worker.h"

/* Calls of one thread, by what a rule asks for. */
struct thread_counts {
	uint64_t launch_count, sync_count;
};

static void count_calls(const struct profile *profile, struct thread_counts *threads)
{
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];
		enum profile_call_class class = profile->call_names[call->name].call_class;

		threads[call->thread].launch_count +=
			class == CALL_LAUNCH || class == CALL_GRAPH_LAUNCH;
		threads[call->thread].sync_count += class == CALL_SYNC;
	}
}

/* Adds up the threads that launched work on the device. */
static int add_threads(struct device_facts *facts, const struct profile *profile,
		       const struct profile_device *device, const struct thread_counts *threads)
{
	bool *is_here = calloc(profile->thread_count + 1, sizeof(*is_here));

	if (!is_here)
		return -ENOMEM;
	for (size_t i = device->first_op; i < device->first_op + device->op_count; i++)
		if (profile->ops[i].call != PROFILE_NONE)
			is_here[profile->calls[profile->ops[i].call].thread] = true;
	for (size_t i = 0; i < profile->thread_count; i++) {
		facts->launch_count += is_here[i] ? threads[i].launch_count : 0;
		facts->sync_count += is_here[i] ? threads[i].sync_count : 0;
	}
	free(is_here);
	return 0;
}

/* ---- what rules found ---- */

static int open_findings(struct facts *facts)
{
	size_t device_count = facts->report->profile->device_count;

	facts->findings = calloc(RULE_COUNT * device_count + 1, sizeof(*facts->findings));
	for (size_t i = 0; facts->findings && i < RULE_COUNT * device_count; i++) {
		size_t size = facts->rules[i / device_count]->finding_size;

		facts->findings[i] = size ? calloc(1, size) : NULL;
		if (size && !facts->findings[i])
			return -ENOMEM;
	}
	return facts->findings ? 0 : -ENOMEM;
}

static void free_findings(struct facts *facts)
{
	size_t count = facts->findings ? RULE_COUNT * facts->report->profile->device_count : 0;

	for (size_t i = 0; i < count; i++)
		free(facts->findings[i]);
	free(facts->findings);
}

void *facts_finding(const struct facts *facts, enum rule_number rule, size_t device)
{
	return facts->findings[rule * facts->report->profile->device_count + device];
}

/* ---- gaps ---- */

/* A rule that looks at all gaps of a device. */
struct gap_rule {
	void (*add_gap)(void *finding, const struct facts *facts, const struct gap *gap);
	void *finding;
};

/* The walk over the gaps of one device. */
struct gap_walk {
	const struct facts *facts;
	struct gap_rule rules[RULE_COUNT];
	size_t rule_count;
	struct pauses *pauses;
};

static struct gap_walk walk_open(const struct facts *facts, size_t device, struct pauses *pauses)
{
	struct gap_walk walk = {.facts = facts, .pauses = pauses};

	for (size_t i = 0; i < RULE_COUNT; i++)
		if (facts->rules[i]->add_gap)
			walk.rules[walk.rule_count++] =
				(struct gap_rule){facts->rules[i]->add_gap,
						  facts_finding(facts, (enum rule_number)i,
								device)};
	return walk;
}

/* ---- pauses between short kernels ---- */

struct pauses {
	const struct profile *profile;
	const uint64_t *launch_count; /* by kernel name */
	struct device_facts *facts;
};

static bool is_short_repeated(const struct pauses *pauses, const struct profile_op *op)
{
	const struct profile *profile = pauses->profile;

	if (op->kind != OP_KERNEL || profile_op_node(profile, op) || op->call == PROFILE_NONE)
		return false;
	return op->end_ns - op->start_ns <= SHORT_KERNEL_NS &&
	       pauses->launch_count[profile->signatures[op->detail].kernel] >=
		       REPEATED_LAUNCH_COUNT;
}

static void add_pause(const struct gap *gap, struct pauses *pauses)
{
	const struct profile *profile = pauses->profile;
	const struct profile_op *before = &profile->ops[gap->before];
	const struct profile_op *after = &profile->ops[gap->after];

	if (gap->end_ns - gap->start_ns > SHORT_PAUSE_NS || !is_short_repeated(pauses, before) ||
	    !is_short_repeated(pauses, after) ||
	    profile->calls[before->call].thread != profile->calls[after->call].thread)
		return;
	/* the part of a host decision is left out here: no graph launches over it */
	pauses->facts->short_pause_count++;
	pauses->facts->short_pause_launch_ns += gap->by_cause_ns[GAP_LAUNCH];
	pauses->facts->short_pause_host_ns += gap->by_cause_ns[GAP_HOST];
}

static int add_gap(const struct gap *gap, void *context)
{
	const struct gap_walk *walk = context;
	struct pauses *pauses = walk->pauses;

	/* without host decisions: these waits are needed, and host_decision tells what they cost */
	pauses->facts->sync_ns += gap->by_cause_ns[GAP_SYNC];
	pauses->facts->launch_ns += gap->by_cause_ns[GAP_LAUNCH];
	if (!gap->by_cause_ns[GAP_CHILDREN])
		add_pause(gap, pauses);
	for (size_t i = 0; i < walk->rule_count; i++)
		walk->rules[i].add_gap(walk->rules[i].finding, walk->facts, gap);
	return 0;
}

static void count_kernels(const struct profile *profile, uint64_t *launch_count)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].kind == OP_KERNEL)
			launch_count[profile->signatures[profile->ops[i].detail].kernel]++;
}

static int collect_device(struct facts *facts, size_t device, const uint64_t *launch_count,
			  const struct thread_counts *threads)
{
	const struct profile *profile = facts->report->profile;
	struct pauses pauses = {profile, launch_count, &facts->devices[device]};
	struct gap_walk walk = walk_open(facts, device, &pauses);
	int rc = add_threads(pauses.facts, profile, &profile->devices[device], threads);

	pauses.facts->captures = captures_of(profile, facts->homes, device);
	if (rc == 0)
		rc = gaps_visit(facts->report->gaps, device, add_gap, &walk);
	return rc;
}

/* ---- where processes are at home ---- */

/* Processes with more operations there than on any device before are at home there.  op_count: zeros by process. */
static void count_homes(struct facts *facts, const struct profile_device *device,
			uint64_t *op_count, uint64_t *most)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_op *ops = profile->ops + device->first_op;

	for (size_t i = 0; i < device->op_count; i++)
		op_count[profile_op_process(profile, &ops[i])]++;
	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t process = profile_op_process(profile, &ops[i]);

		if (op_count[process] > most[process]) {
			most[process] = op_count[process];
			facts->homes[process] = (uint32_t)(device - profile->devices);
		}
		op_count[process] = 0;
	}
}

static int find_homes(struct facts *facts)
{
	const struct profile *profile = facts->report->profile;
	size_t count = profile->process_count;
	uint64_t *op_count = calloc(count + 1, sizeof(*op_count));
	uint64_t *most = calloc(count + 1, sizeof(*most));
	int rc = -ENOMEM;

	facts->homes = malloc((count + 1) * sizeof(*facts->homes));
	if (!op_count || !most || !facts->homes)
		goto free_counts;
	memset(facts->homes, 0xff, (count + 1) * sizeof(*facts->homes)); /* PROFILE_NONE */
	for (size_t device = 0; device < profile->device_count; device++)
		count_homes(facts, &profile->devices[device], op_count, most);
	rc = 0;
free_counts:
	free(op_count);
	free(most);
	return rc;
}

static int collect_devices(struct facts *facts)
{
	const struct profile *profile = facts->report->profile;
	struct thread_counts *threads = calloc(profile->thread_count + 1, sizeof(*threads));
	uint64_t *launch_count = calloc(profile->kernel_name_count + 1, sizeof(*launch_count));
	int rc = -ENOMEM;

	facts->devices = calloc(profile->device_count + 1, sizeof(*facts->devices));
	if (threads && launch_count && facts->devices) {
		count_calls(profile, threads);
		count_kernels(profile, launch_count);
		rc = find_homes(facts);
		for (size_t i = 0; rc == 0 && i < profile->device_count; i++)
			rc = collect_device(facts, i, launch_count, threads);
	}
	free(threads);
	free(launch_count);
	return rc;
}

struct what_ifs_wanted {
	struct facts *facts;
	const char *range;
};

static int begin_what_ifs(void *context)
{
	const struct what_ifs_wanted *wanted = context;
	struct facts *facts = wanted->facts;

	return what_ifs_begin(&facts->what_ifs, facts->report, wanted->range);
}

static int predict(void *context)
{
	struct facts *facts = context;

	return what_ifs_predict(&facts->what_ifs);
}

/* ---- what repeats ---- */

struct wanted_call {
	const struct loop *loops;
	uint32_t call;
};

static bool is_behind(size_t index, const void *context)
{
	const struct wanted_call *wanted = context;

	return wanted->loops[index].first_call > wanted->call;
}

/* The loop that made the call, or SIZE_MAX.  Loops come by call and are apart. */
static size_t loop_of(const struct facts *facts, uint32_t call)
{
	const struct loops *loops = &facts->what_ifs.loops;
	const struct wanted_call wanted = {loops->items, call};
	size_t behind = search_first(0, loops->count, is_behind, &wanted);

	return behind && call < loops->items[behind - 1].first_call +
					       loops->items[behind - 1].call_count
		       ? behind - 1
		       : SIZE_MAX;
}

bool facts_repeats(const struct facts *facts, const struct profile_op *op)
{
	size_t loop = op->call == PROFILE_NONE ? SIZE_MAX : loop_of(facts, op->call);

	return op->call == PROFILE_NONE || (loop != SIZE_MAX && facts->has_kernel[loop]);
}

static bool is_kernel(const struct profile_op *op)
{
	return op->kind == OP_KERNEL || op->kind == OP_GRAPH;
}

/* To fill memory piece by piece is a loop, and still happens once. */
static int find_kernel_loops(struct facts *facts)
{
	const struct profile *profile = facts->report->profile;

	facts->has_kernel = calloc(facts->what_ifs.loops.count + 1, sizeof(*facts->has_kernel));
	for (size_t i = 0; facts->has_kernel && i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		size_t loop = is_kernel(op) && op->call != PROFILE_NONE ? loop_of(facts, op->call)
									: SIZE_MAX;

		if (loop != SIZE_MAX)
			facts->has_kernel[loop] = true;
	}
	return facts->has_kernel ? 0 : -ENOMEM;
}

static void find_repeating(const struct facts *facts, size_t index)
{
	const struct profile *profile = facts->report->profile;
	const struct profile_device *device = &profile->devices[index];
	const struct profile_op *op = profile->ops + device->first_op;
	const struct profile_op *end = op + device->op_count;
	double all_ns = 0, repeated_ns = 0;

	for (; op < end; op++) {
		if (!is_kernel(op))
			continue;
		all_ns += (double)(op->end_ns - op->start_ns);
		repeated_ns += facts_repeats(facts, op) ? (double)(op->end_ns - op->start_ns) : 0;
	}
	facts->devices[index].is_repeating = 2 * repeated_ns > all_ns;
}

static int find_all(const struct facts *facts)
{
	size_t device_count = facts->report->profile->device_count;
	int rc = 0;

	for (size_t i = 0; i < device_count; i++)
		find_repeating(facts, i);
	for (size_t i = 0; i < RULE_COUNT; i++)
		for (size_t j = 0; rc == 0 && facts->rules[i]->find && j < device_count; j++)
			rc = facts->rules[i]->find(facts_finding(facts, (enum rule_number)i, j),
						   facts, j);
	return rc;
}

/* Statistics come by time. */
static int find_kernel_launches(struct facts *facts)
{
	const struct statistics *statistics = facts->report->statistics;
	const struct profile *profile = facts->report->profile;

	facts->kernel_launches =
		malloc((profile->kernel_name_count + 1) * sizeof(*facts->kernel_launches));
	if (!facts->kernel_launches)
		return -ENOMEM;
	for (size_t i = 0; i < profile->kernel_name_count; i++)
		facts->kernel_launches[i] = PROFILE_NONE;
	for (size_t i = 0; i < statistics->kernel_count; i++) {
		uint32_t signature = statistics->kernels[i].signature;
		uint32_t *launch = &facts->kernel_launches[profile->signatures[signature].kernel];

		if (*launch == PROFILE_NONE)
			*launch = signature;
	}
	return 0;
}

/* All but what is predicted. */
static int find_facts(struct facts *facts)
{
	int rc = find_kernel_loops(facts);

	if (rc == 0)
		rc = find_kernel_launches(facts);
	return rc == 0 ? find_all(facts) : rc;
}

int facts_collect(struct facts *facts, const struct report *report, const char *range,
		  const struct rule *const rules[RULE_COUNT])
{
	struct what_ifs_wanted wanted = {facts, range};
	struct worker what_ifs;
	int rc, what_ifs_rc;

	facts->report = report;
	facts->framework = framework_of(report->profile);
	facts->main_device = what_if_main_device(report->profile);
	facts->rules = rules;
	rc = open_findings(facts);
	if (rc < 0)
		return rc;
	worker_start(&what_ifs, profile_item_count(report->profile), begin_what_ifs, &wanted);
	rc = collect_devices(facts);
	what_ifs_rc = worker_join(&what_ifs);
	if (rc < 0 || what_ifs_rc < 0)
		return rc < 0 ? rc : what_ifs_rc;
	worker_start(&what_ifs, profile_item_count(report->profile), predict, facts);
	rc = find_facts(facts);
	what_ifs_rc = worker_join(&what_ifs);
	if (rc == 0)
		rc = what_ifs_rc;
	return rc == 0 ? what_ifs_add_report(&facts->what_ifs, report) : rc;
}

void facts_free(struct facts *facts)
{
	what_ifs_free(&facts->what_ifs);
	free_findings(facts);
	free(facts->devices);
	free(facts->homes);
	free(facts->has_kernel);
	free(facts->kernel_launches);
	*facts = (struct facts){0};
}

double facts_wall_ns(const struct facts *facts, size_t device)
{
	const struct report *report = facts->report;

	return (double)(report->timeline->devices[device].wall_ns -
			report->gaps->devices[device].by_cause_ns[GAP_PROFILER]);
}

double facts_main_ns(const struct facts *facts, size_t device)
{
	const struct steady_state *state = facts->report->steady_state;
	const struct run_part *steady =
		state && state->devices[device].is_found ? &state->devices[device].steady : NULL;

	return steady ? (double)(steady->wall_ns - steady->by_cause_ns[GAP_PROFILER])
		      : facts_wall_ns(facts, device);
}

bool facts_is_computing(const struct facts *facts, size_t device)
{
	const struct timeline_device *times = &facts->report->timeline->devices[device];

	return (double)times->kernel_ns > 0.9 * facts_wall_ns(facts, device);
}

bool facts_can_predict(const struct facts *facts)
{
	return facts->what_ifs.predictor.is_usable;
}

/* What leaves the steady state as it is goes on for a part of the run only, such as a warm-up, and has to be more of it. */
static double least_of_program(const struct prediction *prediction)
{
	return prediction->steady_before_ns && prediction->steady.speedup < LEAST_PROGRAM_SPEEDUP
		       ? LEAST_PLACE_SPEEDUP
		       : LEAST_PROGRAM_SPEEDUP;
}

bool facts_is_worth(const struct facts *facts, const struct rule *rule,
		    const struct what_if *what_if)
{
	const struct prediction *prediction = &what_if->prediction;
	double least = rule->least_speedup > 0 ? rule->least_speedup : LEAST_PLACE_SPEEDUP;
	bool has_range = facts->what_ifs.places;

	if (what_if->effect.refusal)
		return false;
	if (!has_range && (rule->bound || prediction->steady.speedup >= least))
		return prediction->steady.speedup >= least;
	return prediction->place.speedup >= least &&
	       (has_range || prediction->program.speedup >= least_of_program(prediction));
}

bool facts_is_in_range(const struct facts *facts, const struct profile_op *op)
{
	const struct what_ifs *all = &facts->what_ifs;

	if (!all->places || op->call == PROFILE_NONE)
		return !all->places;
	return places_hold(all->places, all->place_count, op->call);
}

struct call_use facts_use_of(const struct facts *facts, const char *part)
{
	const struct statistics *statistics = facts->report->statistics;
	const struct profile *profile = facts->report->profile;
	struct call_use use = {0};

	for (size_t i = 0; i < statistics->call_count; i++) {
		const struct call_statistics *call = &statistics->calls[i];

		if (!strstr(profile->call_names[call->name].text, part))
			continue;
		use.count += call->time.count;
		sum_add_ns(&use.time_ns, call->time.total_ns);
	}
	return use;
}

bool facts_is_home(const struct facts *facts, uint32_t process, size_t device)
{
	return facts->homes[process] == device;
}

bool facts_is_call_of(const struct facts *facts, const struct profile_call *call, size_t device)
{
	return facts_is_home(facts, facts->report->profile->threads[call->thread].process, device);
}

bool facts_is_named(const struct facts *facts, const struct profile_call *call, const char *part)
{
	return strstr(facts->report->profile->call_names[call->name].text, part) != NULL;
}

bool facts_is_library(const struct facts *facts, uint32_t kernel)
{
	return facts->what_ifs.run.libraries[kernel] != NULL;
}

const struct profile_signature *facts_launch_of(const struct facts *facts, uint32_t kernel)
{
	uint32_t signature = facts->kernel_launches[kernel];

	return signature == PROFILE_NONE ? NULL : &facts->report->profile->signatures[signature];
}

/* ---- rooflines ---- */

struct roof_kernels facts_find_roof_kernels(const struct facts *facts, roof_stake stake)
{
	const struct roofline *roofline =
		profile_only_device(facts->report->profile) != PROFILE_NONE
			? facts->report->roofline
			: NULL;
	struct roof_kernels found = {0};

	for (size_t i = 0; roofline && i < roofline->kernel_count; i++) {
		const struct roofline_point *point = &roofline->kernels[i];
		double share = stake(facts, point);

		found.all_ns += point->time_ns;
		if (share < 0)
			continue;
		found.time_ns += point->time_ns;
		found.stake_ns += point->time_ns * share;
		if (!found.most)
			found.most = point;
	}
	return found;
}

bool facts_are_most(const struct roof_kernels *kernels)
{
	return kernels->most && 2 * kernels->time_ns >= kernels->all_ns;
}
