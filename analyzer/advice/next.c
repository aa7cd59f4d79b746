#define _GNU_SOURCE
#include "advice/next.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/limit.h"
#include "advice/rules/rules.h"
#include "base/format.h"
#include "base/paths.h"
#include "base/shell.h"
#include "techniques/shared/refusals.h"

#define STEP_ID(name, meaning) #name,
static const char *const step_ids[] = {NEXT_STEPS(STEP_ID)};
#undef STEP_ID

#define STEP_CONSTANT(name, meaning) STEP_##name,
enum step { NEXT_STEPS(STEP_CONSTANT) STEP_COUNT };
#undef STEP_CONSTANT

/* All that commands are made of. */
struct asking {
	struct advice *advice;
	const struct facts *facts;
	const struct report *report;
	struct limit limit;
	char *recording, *program; /* owned; words of a shell */
	char *range;		   /* owned; "--range run " of verify, or "" */
	char *name; /* owned; of the recording, without folder and suffix: what others are named after */
	bool is_python;
	bool is_counted, is_sampled;
};

/* ---- what the run was ---- */

static bool is_python(const char *command)
{
	size_t length = strcspn(command, " ");
	const char *name = memrchr(command, '/', length);

	return !strncmp(name ? name + 1 : command, "python", strlen("python"));
}

/* Of several processes nobody recorded what started them. */
static char *program_words(const struct profile *profile)
{
	if (profile->process_count != 1 || !*profile->processes[0].command)
		return strdup("PROGRAM");
	return shell_words(profile->processes[0].command);
}

/* The last part of its path, in the folder where the command is pasted. */
static char *recording_name(const char *path)
{
	size_t length = strlen(path), suffix = strlen(PATH_PACKED_SUFFIX);
	const char *slash;

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length > suffix && !strncmp(path + length - suffix, PATH_PACKED_SUFFIX, suffix))
		length -= suffix;
	slash = memrchr(path, '/', length);
	length -= slash ? (size_t)(slash + 1 - path) : 0;
	return length ? strndup(slash ? slash + 1 : path, length) : strdup("roofline");
}

/* Whether some process was asked for it. */
static bool has_property(const struct profile *profile, const char *key)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (*profile_property(&profile->processes[i], key, ""))
			return true;
	return false;
}

/* NULL when memory runs out. */
static char *range_option(const char *range)
{
	char *word = range ? shell_word(range) : NULL, *option = NULL;

	if (!range)
		return strdup("");
	if (word && asprintf(&option, "--range %s ", word) < 0)
		option = NULL;
	free(word);
	return option;
}

static int asking_open(struct asking *asking, struct advice *advice, const struct facts *facts,
		       const char *range)
{
	const struct profile *profile = facts->report->profile;
	const char *path = path_named(profile->path);

	*asking = (struct asking){.advice = advice,
				  .facts = facts,
				  .report = facts->report,
				  .limit = limit_find(facts->report),
				  .recording = shell_word(path),
				  .program = program_words(profile),
				  .range = range_option(range),
				  .name = recording_name(path),
				  .is_counted = profile->metric_count > 0,
				  .is_sampled = facts->report->sampled || profile->sample_count ||
						has_property(profile, "sample_problem")};
	if (!asking->recording || !asking->program || !asking->range || !asking->name)
		return -ENOMEM;
	asking->is_python = is_python(asking->program);
	return 0;
}

static void asking_close(struct asking *asking)
{
	free(asking->recording);
	free(asking->program);
	free(asking->range);
	free(asking->name);
}

/* ---- steps ---- */

static struct next_step *add_step(struct advice *advice, enum step id)
{
	size_t size = (advice->next_count + 1) * sizeof(*advice->next);
	struct next_step *steps = realloc(advice->next, size);

	if (!steps)
		return NULL;
	advice->next = steps;
	steps[advice->next_count] = (struct next_step){.id = step_ids[id]};
	return &steps[advice->next_count++];
}

/* The format is that of the command; why is a sentence, without its full stop.  Returns 0 or -ENOMEM. */
__attribute__((format(printf, 4, 5))) static int add(struct asking *asking, enum step id,
						     const char *why, const char *format, ...)
{
	struct next_step *step = add_step(asking->advice, id);
	va_list arguments;
	int length;

	if (!step)
		return -ENOMEM;
	step->why = strdup(why);
	va_start(arguments, format);
	length = vasprintf(&step->command, format, arguments);
	va_end(arguments);
	if (length < 0)
		step->command = NULL;
	return step->why && step->command ? 0 : -ENOMEM;
}

struct reason {
	char text[512];
};

__attribute__((format(printf, 1, 2))) static struct reason reason(const char *format, ...)
{
	struct reason reason;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason.text, sizeof(reason.text), format, arguments);
	va_end(arguments);
	return reason;
}

/* Into a folder that is named after this recording and what is in it. */
static int add_record(struct asking *asking, enum step id, const char *options, const char *what,
		      const char *why)
{
	char *path, *folder = NULL;
	int rc = -ENOMEM;

	if (asprintf(&path, "%s.%s", asking->name, what) < 0)
		return -ENOMEM;
	folder = shell_word(path);
	if (folder)
		rc = add(asking, id, why, "rooflinectl record%s -o %s -- %s", options, folder,
			 asking->program);
	free(folder);
	free(path);
	return rc;
}

/* ---- after a recommendation ---- */

static int add_check(struct asking *asking)
{
	const struct recommendation *first = advice_first(asking->advice);
	char *path, *after = NULL;
	int rc = -ENOMEM;

	if (asprintf(&path, "%s.after", asking->name) < 0)
		return -ENOMEM;
	after = shell_word(path);
	if (after)
		rc = add(
			asking, STEP_check,
			"when the change is made: records the program again, and compares what it "
			"brought with what was predicted",
			"rooflinectl record -o %s -- %s && rooflinectl verify %s%s %s --strategy %s",
			after, asking->program, asking->range, asking->recording, after,
			first ? first->id : asking->advice->items[0].id);
	free(after);
	free(path);
	return rc;
}

static int add_follow(struct asking *asking)
{
	int rc = add(asking, STEP_advise, "how the change is made, its evidence, and what to watch",
		     "rooflinectl advise %s", asking->recording);

	return rc < 0 ? rc : add_check(asking);
}

/* What stands and falls with whether kernels depend on each other, where that was not recorded. */
static bool is_undecided(const struct recommendation *item)
{
	return item->gain.is_up_to && (!strcmp(item->strategy, technique_concurrent_kernels.id) ||
				       !strcmp(item->strategy, technique_batch_launches.id));
}

/* The first of them; the advice's count: there is none. */
static size_t find_undecided(const struct asking *asking)
{
	const struct advice *advice = asking->advice;
	size_t i = 0;

	if (has_property(asking->report->profile, "args"))
		return advice->count;
	while (i < advice->count && !is_undecided(&advice->items[i]))
		i++;
	return i;
}

static int add_args(struct asking *asking, size_t item)
{
	const struct recommendation *what = &asking->advice->items[item];
	const struct predicted_speedup *gain =
		gain_of_part(&what->gain, gain_part_of(&what->gain, false));

	return add_record(asking, STEP_args, " --args", "args",
			  reason("%s brings %.2fx to %.2fx, as far as kernels need nothing of each "
				 "other: which memory each is given tells whether they do",
				 what->strategy, gain->low, gain->speedup)
				  .text);
}

/* ---- what is missing ---- */

/* "42.1% of the time", or of the steady state. */
struct share {
	char text[64];
};

static struct share share_of(const struct asking *asking, int64_t part_ns)
{
	struct figure figure = format_percent((double)part_ns, (double)asking->limit.wall_ns);
	struct share share;

	snprintf(share.text, sizeof(share.text), "%s of %s", figure.text,
		 limit_whole(&asking->limit));
	return share;
}

/* Of the time: less is nothing that kernels could gain much of. */
#define LEAST_KERNELS 0.05

/* Kernels are what to look into where they take the time, and beside a host that is busy outside CUDA, about which nothing
 * of ours tells more. */
static bool are_kernels_meant(const struct limit *limit)
{
	return limit->kind == LIMIT_KERNELS ||
	       (limit->kind == LIMIT_IDLE && limit->cause == GAP_HOST &&
		(double)limit->kernel_ns > LEAST_KERNELS * (double)limit->wall_ns);
}

/* Whether it was counted and is not at a roof. */
static bool is_below_roofs(const struct limit *limit)
{
	return are_kernels_meant(limit) && limit->kernel && limit->kernel->is_counted &&
	       limit->kernel->binding != ROOF_NONE && !roofline_is_at_roof(limit->kernel);
}

static int add_ceilings(struct asking *asking)
{
	const struct roofline *roofline = asking->report->roofline;

	if (facts_can_predict(asking->facts) ||
	    (roofline && roofline->has_ceilings && !roofline->is_datasheet))
		return 0;
	return add(
		asking, STEP_ceilings,
		"no roofs and costs of this GPU were measured, and predictions need them: run it "
		"on the machine that made the recording",
		"rooflinectl ceilings");
}

/* Why counting leaves it open what a change would bring: nothing can be predicted, or what is advised is nothing where loops
 * that were counted by instrumented code are not judged.  NULL: it does not. */
static const char *disturbed_by_counting(const struct asking *asking)
{
	const struct predictor *predictor = &asking->facts->what_ifs.predictor;

	if (!facts_can_predict(asking->facts))
		return predictor->why_not;
	return !asking->advice->count && predictor->unrecorded.share > UNTIMED_MOST
		       ? refused_untimed
		       : NULL;
}

/* Two runs, joined, do not disturb times. */
static int add_apart(struct asking *asking)
{
	const char *why = disturbed_by_counting(asking);
	char *path, *folder = NULL;
	int rc = -ENOMEM;

	if (!asking->is_counted || !why || !asking->report->roofline->has_ceilings ||
	    asking->report->roofline->is_datasheet)
		return 0;
	if (asprintf(&path, "%s.analyzed", asking->name) < 0)
		return -ENOMEM;
	folder = shell_word(path);
	if (folder)
		rc = add(asking, STEP_apart,
			 reason("%s is predicted (%s): runs apart give times that counting "
				"does not disturb, and counters",
				facts_can_predict(asking->facts) ? "not all" : "nothing", why)
				 .text,
			 "rooflinectl analyze -o %s -- %s", folder, asking->program);
	free(folder);
	free(path);
	return rc;
}

static bool has_graphs(const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].graph || profile->ops[i].kind == OP_GRAPH)
			return true;
	return false;
}

/* Time of child kernels, waits that go on when all that is recorded has ended, longer than it takes a host to notice, and
 * queued work that begins later than if it had only then been launched.  Between nodes of a graph the device decides, too.
 * 0 where other time is more. */
static int64_t waiting_for_more_ns(const struct asking *asking)
{
	const struct gap_device *gaps = &asking->report->gaps->devices[asking->limit.device];
	int64_t children_ns = asking->limit.children_ns;
	enum gap_cause cause = asking->limit.cause;

	if (asking->limit.kind != LIMIT_IDLE && asking->limit.kind != LIMIT_CHILDREN)
		return 0;
	if (children_ns && children_ns >= asking->limit.cause_ns)
		return children_ns;
	if (cause != GAP_SYNC && cause != GAP_DEVICE && cause != GAP_UNKNOWN)
		return 0;
	return gaps->by_cause_ns[cause] >
			       (int64_t)gaps->gap_count_by_cause[cause] * GAP_LATENCY_MAX_NS
		       ? asking->limit.cause_ns
		       : 0;
}

static bool has_only_nodes(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].is_graph_level)
			return false;
	return has_graphs(profile) && !profile->graph_run;
}

static int add_graphs(struct asking *asking)
{
	if (!waiting_for_more_ns(asking) || !has_only_nodes(asking->report->profile))
		return 0;
	return add_record(
		asking, STEP_graphs, " --graphs=both", "graphs",
		reason("the GPU looks idle for %s while it should have work, and the program "
		       "launches graphs: what these launch on the device is seen where they are "
		       "recorded as a whole",
		       share_of(asking, waiting_for_more_ns(asking)).text)
			.text);
}

/* What kernels wait for on a page fault is in their times, whatever the counters say. */
static int add_managed(struct asking *asking)
{
	if (!managed_memory_is_missing(asking->report->profile))
		return 0;
	return add_record(asking, STEP_managed, " --managed", "managed",
			  "the program uses managed memory: page faults, which kernels and the "
			  "host wait for, and what moved when");
}

static int add_samples(struct asking *asking)
{
	const struct limit *limit = &asking->limit;

	if (asking->is_sampled)
		return 0;
	if (waiting_for_more_ns(asking))
		return add_record(
			asking, STEP_samples, " --sample", "sampled",
			reason("the GPU looks idle for %s while it should have work: samples "
			       "show whether it runs what it launched itself",
			       share_of(asking, waiting_for_more_ns(asking)).text)
				.text);
	if (!is_below_roofs(limit))
		return 0;
	return add_record(asking, STEP_samples, " --sample", "sampled",
			  reason("samples show whether all SMs work on %s until it ends",
				 limit_kernel_name(limit, asking->report).text)
				  .text);
}

/* Whether bytes and operations were to be counted. */
static bool is_asked(const struct roofline_point *kernel)
{
	return kernel->quantities[ROOF_dram].state != ROOFLINE_NOT_ASKED ||
	       kernel->quantities[ROOF_fp32].state != ROOFLINE_NOT_ASKED;
}

/* Asked for, and there is not one: asking again gives no more. */
static bool is_refused(const struct profile *profile)
{
	return !profile->metric_count &&
	       (profile->counter_run || has_property(profile, "counters"));
}

static int add_first_counters(struct asking *asking)
{
	const struct limit *limit = &asking->limit;

	if (!is_asked(limit->kernel))
		return add_record(
			asking, STEP_counters, " --counters=" NEXT_COUNTERS, "counted",
			reason("kernels run for %s: counters tell which roof they are nearest to",
			       share_of(asking, limit->kernel_ns).text)
				.text);
	return add_record(asking, STEP_counters,
			  " --counters=" NEXT_COUNTERS " --counters-share=100", "counted",
			  reason("no launch of %s was counted, which has %.0f%% of the kernels' "
				 "time",
				 limit_kernel_name(limit, asking->report).text,
				 100 * limit->kernel_share)
				  .text);
}

static bool has_role(const struct profile *profile, enum metric_role role)
{
	for (size_t i = 0; i < profile->metric_count; i++)
		if (profile->metrics[i].role == role)
			return true;
	return false;
}

/* Bank conflicts of a kernel that has shared memory. */
static bool lacks_conflicts(const struct asking *asking)
{
	return asking->limit.kernel->quantities[ROOF_shared].per_launch > 0 &&
	       !has_role(asking->report->profile, METRIC_shared_wavefronts);
}

/* Of a roof: from there on it explains most of the time. */
#define HALF 0.5

static bool lacks_stalls(const struct asking *asking)
{
	return asking->limit.kernel->binding_share < HALF &&
	       !has_role(asking->report->profile, METRIC_stall_long_scoreboard);
}

/* What moves through caches, and was not told from what threads ask for.  Counters of stalls come with it, and nobody can
 * change how a library's kernel reads. */
static bool lacks_sectors(const struct asking *asking)
{
	return asking->limit.kernel->binding < ROOF_MEMORY_END && !lacks_stalls(asking) &&
	       !facts_is_library(asking->facts, asking->limit.kernel->subject) &&
	       !has_role(asking->report->profile, METRIC_global_load_requests);
}

/* "its atomics", "... and ..." */
static void add_lack(char *text, size_t size, bool is_lacking, const char *what)
{
	size_t used = strlen(text);

	if (is_lacking)
		snprintf(text + used, size - used, "%s%s", used ? " and " : "", what);
}

/* Of a kernel that no roof explains: what else it may wait for and nobody counted. */
static int add_more_counters(struct asking *asking)
{
	const struct limit *limit = &asking->limit;
	char lacks[160] = "";

	if (!is_below_roofs(limit) || limit->is_graph)
		return 0;
	add_lack(lacks, sizeof(lacks),
		 !has_role(asking->report->profile, METRIC_atomic_unit_cycles), "its atomics");
	add_lack(lacks, sizeof(lacks), lacks_conflicts(asking),
		 "the bank conflicts of its shared memory");
	add_lack(lacks, sizeof(lacks), lacks_sectors(asking),
		 "the sectors that its loads and stores touch");
	if (!*lacks)
		return 0;
	return add_record(asking, STEP_counters, " --counters=" NEXT_COUNTERS, "counted",
			  reason("no roof explains what %s takes, and %s were not counted",
				 limit_kernel_name(limit, asking->report).text, lacks)
				  .text);
}

/* Launches share the passes of the counters: a kernel that ran a few times was not counted in all. */
static bool is_half_counted(const struct roofline_point *kernel)
{
	return kernel->quantities[ROOF_dram].state == ROOFLINE_NOT_SAMPLED ||
	       kernel->quantities[ROOF_fp32].state == ROOFLINE_NOT_SAMPLED;
}

/* The most passes that counters of a process took. */
static uint64_t passes_of(const struct profile *profile)
{
	uint64_t most = 0;

	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t j = 0; j < profile->processes[i].property_count; j++) {
			const struct profile_property *it = &profile->processes[i].properties[j];
			uint64_t passes = strcmp(it->key, "counters_passes")
						  ? 0
						  : strtoull(it->value, NULL, 10);

			most = passes > most ? passes : most;
		}
	return most;
}

/* Each launch in all passes where launches are too few; else more of them. */
static int add_whole_counters(struct asking *asking)
{
	const struct limit *limit = &asking->limit;
	uint64_t count = limit->kernel->launch_count;
	bool is_few = count < passes_of(asking->report->profile);

	return add_record(asking, STEP_counters,
			  is_few ? " --counters=" NEXT_COUNTERS " --replay"
				 : " --counters=" NEXT_COUNTERS " --counters-share=100",
			  "counted",
			  reason("%s was launched %s%s, and not counted in all passes: %s",
				 limit_kernel_name(limit, asking->report).text,
				 count == 1 ? "once" : format_count(count).text,
				 count == 1 ? "" : " times",
				 is_few ? "a replay counts each launch in all"
					: "counting may take more of the time")
				  .text);
}

static int add_counters(struct asking *asking)
{
	const struct limit *limit = &asking->limit;

	if (!are_kernels_meant(limit) || !limit->kernel)
		return 0;
	if (is_below_roofs(limit) && !limit->is_graph && is_half_counted(limit->kernel))
		return add_whole_counters(asking);
	if (limit->kernel->binding != ROOF_NONE)
		return add_more_counters(asking);
	if (is_refused(asking->report->profile))
		return add(
			asking, STEP_doctor,
			"counters were to be read and none were: doctor tells whether they can be",
			"rooflinectl doctor");
	return add_first_counters(asking);
}

/* Counters of what its warps waited for, where add_more_counters has no others to ask for. */
static int add_stalls(struct asking *asking)
{
	const struct limit *limit = &asking->limit;
	const struct profile *profile = asking->report->profile;

	if (!is_below_roofs(limit) || !lacks_stalls(asking) || limit->is_graph ||
	    !has_role(profile, METRIC_atomic_unit_cycles) || lacks_conflicts(asking))
		return 0;
	return add_record(
		asking, STEP_stalls, " --counters=" NEXT_CAUSES, "stalls",
		reason("%s is at %.0f%% of its nearest roof (%s): counters of stalls tell what "
		       "its warps wait for",
		       limit_kernel_name(limit, asking->report).text,
		       100 * limit->kernel->binding_share,
		       roofline_roof_title(limit->kernel->binding))
			.text);
}

/* ---- where nothing of ours tells more ---- */

/* Exactly that kernel.  What nvcc sets before the name of a static one, Nsight Compute may leave out.  NULL when memory
 * runs out. */
static char *kernel_regex(const struct asking *asking)
{
	const struct profile *profile = asking->report->profile;
	const char *mangled = "", *name;
	char *regex, *word = NULL;

	for (size_t i = 0; i < profile->signature_count && !*mangled; i++)
		if (profile->signatures[i].kernel == asking->limit.kernel->subject)
			mangled = profile->signatures[i].mangled;
	name = strstr(mangled, "_Z");
	if (asprintf(&regex, "regex:%s%s$", name ? "" : "^", name ? name : mangled) < 0)
		return NULL;
	word = shell_word(regex);
	free(regex);
	return word;
}

/* Which of its sections is about what holds the kernel up. */
static const char *ncu_section(const struct roofline_point *kernel)
{
	if (kernel->binding_share < HALF)
		return "\"Warp State Statistics\"";
	return kernel->binding < ROOF_MEMORY_END ? "\"Memory Workload Analysis\""
						 : "\"Compute Workload Analysis\"";
}

static struct reason kernel_reason(const struct asking *asking)
{
	const struct limit *limit = &asking->limit;
	struct limit_name name = limit_kernel_name(limit, asking->report);

	if (!limit->has_roof)
		return reason(
			"%s has %.0f%% of the kernels' time: Nsight Compute shows by source line "
			"what it waits for",
			name.text, 100 * limit->kernel_share);
	return reason(
		"%s has %.0f%% of the kernels' time and is at %.0f%% of its nearest roof (%s): "
		"Nsight Compute shows by source line what it waits for, and in %s why",
		name.text, 100 * limit->kernel_share, 100 * limit->kernel->binding_share,
		roofline_roof_title(limit->kernel->binding), ncu_section(limit->kernel));
}

/* One launch, not the first: that one finds cold caches. */
static int add_ncu(struct asking *asking)
{
	const struct limit *limit = &asking->limit;
	char *name;
	int rc;

	if (!is_below_roofs(limit) || limit->is_graph)
		return 0;
	name = kernel_regex(asking);
	if (!name)
		return -ENOMEM;
	rc = add(
		asking, STEP_ncu, kernel_reason(asking).text,
		"ncu --set full --target-processes all --kernel-name-base mangled --kernel-name %s "
		"--launch-skip %d --launch-count 1 %s",
		name, limit->kernel->launch_count > 1, asking->program);
	free(name);
	return rc;
}

static int add_host(struct asking *asking)
{
	const struct limit *limit = &asking->limit;
	struct reason why;

	if (limit->kind != LIMIT_IDLE || limit->cause != GAP_HOST)
		return 0;
	why = reason("the GPU is idle for %s while the host runs its own code, outside "
		     "CUDA: a profile of the host tells which",
		     share_of(asking, limit->cause_ns).text);
	if (asking->is_python)
		return add(asking, STEP_host, why.text, "py-spy record -n -o host.svg -- %s",
			   asking->program);
	return add(asking, STEP_host, why.text, "perf record -g -- %s", asking->program);
}

static int add_idle(struct asking *asking)
{
	return add(asking, STEP_look,
		   reason("the GPU is idle for %s, and the largest cause is %s: the "
			  "longest pauses, and what lies beside them",
			  share_of(asking, asking->limit.idle_ns).text,
			  gap_cause_title(asking->limit.cause))
			   .text,
		   "rooflinectl report --section gaps %s", asking->recording);
}

/* Where kernels are at their roofs but do not run all the time, the rest is what can be won. */
static int add_look(struct asking *asking)
{
	const struct limit *limit = &asking->limit;

	if (limit->kind == LIMIT_COPIES)
		return add(asking, STEP_look,
			   reason("copies run alone for %s: which, how large, and how fast",
				  share_of(asking, limit->part_ns).text)
				   .text,
			   "rooflinectl report --section copies %s", asking->recording);
	if (limit->kind == LIMIT_KERNELS && !(limit->kernel && roofline_is_at_roof(limit->kernel)))
		return add(asking, STEP_look, "which kernels the time is in, and their shapes",
			   "rooflinectl report --section kernels --wide %s", asking->recording);
	return add_idle(asking);
}

static int add_missing(struct asking *asking)
{
	int (*const steps[])(struct asking *) = {add_ceilings, add_apart,  add_managed,
						 add_graphs,   add_host,   add_counters,
						 add_samples,  add_stalls, add_ncu};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](asking);
	return rc;
}

/* A change that surely makes what repeats faster follows at once, unless what it is for may be work that was not recorded. */
static int add_known(struct asking *asking)
{
	bool is_first = advice_first(asking->advice) && !waiting_for_more_ns(asking);
	size_t undecided = find_undecided(asking);
	int rc = is_first && undecided ? add_follow(asking) : 0;

	if (rc == 0 && undecided < asking->advice->count)
		rc = add_args(asking, undecided);
	if (rc == 0 && is_first && !undecided)
		rc = add_follow(asking);
	if (rc == 0 && !limit_is_at_roof(&asking->limit))
		rc = add_missing(asking);
	if (rc == 0 && asking->advice->count && !is_first)
		rc = add_follow(asking);
	return rc;
}

static int add_steps(struct asking *asking)
{
	int rc;

	if (asking->limit.kind == LIMIT_NO_WORK)
		return add(asking, STEP_doctor,
			   "no operation of a GPU was recorded: doctor tells whether one can be",
			   "rooflinectl doctor");
	rc = add_known(asking);
	if (rc == 0 && !asking->advice->next_count && !limit_is_at_roof(&asking->limit))
		rc = add_look(asking);
	return rc;
}

int next_find(struct advice *advice, const struct facts *facts, const char *range)
{
	struct asking asking;
	int rc = asking_open(&asking, advice, facts, range);

	if (rc == 0)
		rc = add_steps(&asking);
	asking_close(&asking);
	return rc;
}

void next_free(struct advice *advice)
{
	for (size_t i = 0; i < advice->next_count; i++) {
		free(advice->next[i].command);
		free(advice->next[i].why);
	}
	free(advice->next);
}
