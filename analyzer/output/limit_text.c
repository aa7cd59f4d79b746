#include "output/limit_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "advice/framework.h"
#include "advice/limit.h"
#include "base/format.h"

void sentence_append(struct sentence *sentence, const char *format, ...)
{
	size_t used = strlen(sentence->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence->text + used, sizeof(sentence->text) - used, format, arguments);
	va_end(arguments);
}

static void put_kernel(struct sentence *sentence, const struct limit *limit,
		       const struct report *report)
{
	const struct roofline_point *point = limit->kernel;

	if (!point)
		return;
	sentence_append(sentence, "; %s %.0f%% of their time",
			limit_kernel_name(limit, report).text, 100 * limit->kernel_share);
	if (limit->has_roof)
		sentence_append(sentence, ", at %.0f%% of its nearest roof (%s)",
				100 * point->binding_share, roofline_roof_title(point->binding));
}

/* What the trace calls idle may be work that the device launched itself. */
static void put_untraced(struct sentence *sentence, const struct report *report, size_t device)
{
	const struct sm_activity_device *sampled = &report->sm_activity->devices[device];

	if (report_has_device_work(report, device) && sampled->difference_ns[SM_UNTRACED])
		sentence_append(sentence,
				"; samples show work that the device launched for %s of the time",
				format_percent((double)sampled->difference_ns[SM_UNTRACED],
					       (double)sampled->sampled_ns)
					.text);
}

/* "67.6% of each step (99 steps of 53.9 us)", "67.6% of the run's 9.46 ms" */
static void put_share(struct sentence *sentence, const struct limit *limit,
		      const struct report *report)
{
	const struct steady_loop *loop;

	sentence_append(sentence, "%s of ",
			format_percent((double)limit->part_ns, (double)limit->wall_ns).text);
	if (!limit->is_steady) {
		sentence_append(sentence, "%s's %s",
				report->profile->window.is_part ? "the chosen time" : "the run",
				format_ns((double)limit->wall_ns).text);
		return;
	}
	loop = &report->steady_state->devices[limit->device].loop;
	sentence_append(sentence, "each step (%s steps of %s)", format_count(loop->count).text,
			format_ns((double)loop->median_ns).text);
}

/* Recording always costs up to this share of a run. */
#define LEAST_RECORDING_PART 0.01

static void put_recording(struct sentence *sentence, const struct limit *limit)
{
	if ((double)limit->recording_ns > LEAST_RECORDING_PART * (double)limit->run_ns)
		sentence_append(sentence, "; without %s that recording added to the run",
				format_ns((double)limit->recording_ns).text);
}

/* What another tool adds to a call of the host is in its file, and no file says how much it is. */
static void put_imported(struct sentence *sentence, const struct limit *limit,
			 const struct report *report)
{
	const char *source = "";

	for (size_t i = 0; i < report->profile->process_count && !*source; i++)
		source = profile_property(&report->profile->processes[i], "imported_from", "");
	if (*source && (limit->kind == LIMIT_IDLE || limit->kind == LIMIT_CHILDREN))
		sentence_append(
			sentence,
			"; what %.60s added to the host's times is in them, so that without it "
			"less is idle and changes gain less",
			source);
}

/* Say what an imported file lacks, and which of its times are impossible. */
static void put_doubts(struct sentence *sentence, const struct report *report)
{
	const struct profile *profile = report->profile;
	uint64_t launch_count = 0, lost_count = 0, impossible_count = 0;
	int64_t early_ns = 0;

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		launch_count += process->launch_count;
		lost_count += process->lost_launch_count;
		impossible_count += process->impossible_count;
		early_ns = process->early_ns > early_ns ? process->early_ns : early_ns;
	}
	if (impossible_count)
		sentence_append(sentence,
				"; %s operation%s of impossible time %s left out, so that the GPU "
				"may have worked then",
				format_count(impossible_count).text,
				impossible_count == 1 ? "" : "s",
				impossible_count == 1 ? "is" : "are");
	if (profile->lost_launch_count)
		sentence_append(sentence,
				"; %s of %s launches have no operation in the file, so that what "
				"looks idle may be work",
				format_count(lost_count).text, format_count(launch_count).text);
	if (early_ns)
		sentence_append(sentence,
				"; operations begin up to %s before their launches: the clocks of "
				"host and GPU differ, and shorter causes are not known",
				format_ns((double)early_ns).text);
}

/* A second cause of less than this share stays out of the first sentence. */
#define LEAST_SECOND_PART 0.05

/* Name Python as the host's code in a program of a framework: its interpreter runs there, and the libraries that it calls. */
static const char *cause_title(enum gap_cause cause, const struct report *report)
{
	return cause == GAP_HOST && framework_of(report->profile) != FRAMEWORK_NONE
		       ? "Python"
		       : gap_cause_title(cause);
}

/* ": Python 63.5%, launch 24.6%" */
static void put_causes(struct sentence *sentence, const struct limit *limit,
		       const struct report *report)
{
	double wall_ns = (double)limit->wall_ns;

	sentence_append(sentence, ": %s %s", cause_title(limit->cause, report),
			format_percent((double)limit->cause_ns, wall_ns).text);
	if ((double)limit->second_cause_ns > LEAST_SECOND_PART * wall_ns)
		sentence_append(sentence, ", %s %s", cause_title(limit->second_cause, report),
				format_percent((double)limit->second_cause_ns, wall_ns).text);
}

/* "GPU", "GPU 1", "all 4 GPUs" */
static void put_devices(struct sentence *sentence, const struct limit *limit,
			const struct report *report)
{
	if (limit->device_count > 1)
		sentence_append(sentence, "all %zu GPUs", limit->device_count);
	else if (report->profile->device_count > 1)
		sentence_append(sentence, "GPU %zu", limit->device);
	else
		sentence_append(sentence, "GPU");
}

static void put_kind(struct sentence *sentence, const struct limit *limit,
		     const struct report *report)
{
	static const char *const words[] = {
		[LIMIT_IDLE] = "idle",
		[LIMIT_CHILDREN] = "waiting for child kernels, which no trace shows,",
		[LIMIT_COPIES] = "busy with copies alone",
		[LIMIT_KERNELS] = "busy with kernels",
	};

	put_devices(sentence, limit, report);
	sentence_append(sentence, " %s ", words[limit->kind]);
	put_share(sentence, limit, report);
	if (limit->kind == LIMIT_IDLE)
		put_causes(sentence, limit, report);
}

/* ---- of several ranks ---- */

#define LEAST_WAIT_PART 0.1

/* "; waiting for rank 3 takes 19.1% of all ranks' time: its copies took longer" */
static void put_late(struct sentence *sentence, const struct report *report)
{
	const struct job *job = report->job;
	const struct job_rank *late = job_latest(job);
	char name[256];

	if (!late || (double)late->late.caused_wait_ns < LEAST_WAIT_PART * (double)job->all.wall_ns)
		return;
	job_name_rank(name, sizeof(name), report->profile, late);
	sentence_append(
		sentence, "; waiting for %s takes %s of all ranks' time: %s", name,
		format_percent((double)late->late.caused_wait_ns, (double)job->all.wall_ns).text,
		job_late_words(job_late_cause(&late->late)));
}

/* Whether a job's ranks communicate longer, with nothing beside it, than they do anything else. */
static bool is_exposed(const struct job *job)
{
	const struct job_times *all = &job->all;

	return all->exposed_ns > all->computation_ns && all->exposed_ns > all->idle_ns &&
	       all->exposed_ns > all->busy_ns - all->computation_ns - all->exposed_ns;
}

static void put_exposed(struct sentence *sentence, const struct job *job)
{
	sentence_append(sentence, "exposed communication, %s of all ranks' time",
			format_percent((double)job->all.exposed_ns, (double)job->all.wall_ns).text);
}

/* Communication is among the kernels of a GPU: "; of all ranks' time 40.3% is exposed communication" */
static void put_exposed_part(struct sentence *sentence, const struct job *job)
{
	if (job->all.exposed_ns > 0 &&
	    (double)job->all.exposed_ns >= LEAST_WAIT_PART * (double)job->all.wall_ns)
		sentence_append(
			sentence, "; of all ranks' time %s is exposed communication",
			format_percent((double)job->all.exposed_ns, (double)job->all.wall_ns).text);
}

/* ---- all ---- */

struct sentence limit_sentence(const struct report *report)
{
	const struct limit limit = limit_find(report);
	struct sentence sentence = {""};

	if (limit.kind == LIMIT_NO_WORK) {
		sentence_append(&sentence, "nothing was recorded on a GPU");
		return sentence;
	}
	if (is_exposed(report->job)) {
		put_exposed(&sentence, report->job);
		put_late(&sentence, report);
		put_doubts(&sentence, report);
		return sentence;
	}
	put_kind(&sentence, &limit, report);
	if (limit.kind == LIMIT_IDLE || limit.kind == LIMIT_CHILDREN)
		put_untraced(&sentence, report, limit.device);
	if (limit.kind == LIMIT_KERNELS)
		put_kernel(&sentence, &limit, report);
	if (limit.kind == LIMIT_KERNELS)
		put_exposed_part(&sentence, report->job);
	put_late(&sentence, report);
	put_recording(&sentence, &limit);
	put_doubts(&sentence, report);
	put_imported(&sentence, &limit, report);
	return sentence;
}
