#include "techniques/job_application.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/collective_sizes.h"
#include "replay/latencies.h"

/* What is shorter than this share of another one has few bytes, and shows what any takes. */
#define SHORT_SHARE 0.25
/* What the host takes for a collective from what it launched before to the end of this launch: 9 to 12 us in
 * tests/recordings/nccl_bucketed.buckets, 17 to 27 us in collectives.ordered, where PyTorch calls NCCL.  Far more is not
 * the collective's. */
#define HOST_MOST_NS 50000
#define BYTES_MOST ((uint64_t)1 << 40)

double job_application_gap_ns(const struct job_application *application, uint32_t device)
{
	return (double)application->job.model->devices[device].kernel_gap_ns;
}

static void keep_least(double *least_ns, double length_ns)
{
	if (*least_ns == 0 || length_ns < *least_ns)
		*least_ns = length_ns;
}

/* The operation that a call launches, if it is a kernel of communication and nothing else. */
static uint32_t launched_alone(const struct job_application *application, size_t call)
{
	const struct submissions *submissions = &application->job.model->submissions;
	uint32_t op;

	if (submissions_count(submissions, call) != 1)
		return PROFILE_NONE;
	op = submissions_op(submissions, submissions_first(submissions, call));
	return job_application_work(application, op) == WORK_KERNEL ? op : PROFILE_NONE;
}

/* Of a thread: how long after what it launched or waited for before each launch of communication has returned. */
static void find_host_times(struct job_application *application,
			    const struct profile_thread *thread)
{
	const struct model *model = application->job.model;
	const struct profile *profile = model->profile;
	int64_t before_ns = INT64_MIN;

	for (size_t i = thread->first_call; i < thread->first_call + thread->call_count; i++) {
		uint32_t op = launched_alone(application, i);

		if (op != PROFILE_NONE && before_ns != INT64_MIN)
			keep_least(&application->least_host_ns[profile->ops[op].stream],
				   (double)(profile->calls[i].end_ns - before_ns));
		if (submissions_count(&model->submissions, i) ||
		    model_awaited(model, i) != PROFILE_NONE)
			before_ns = profile->calls[i].end_ns;
	}
}

/* Of kernels that did one call of NCCL and nothing else. */
static int find_messages(struct job_application *application)
{
	const struct collectives *collectives = application->job.collectives;
	size_t op_count = application->job.model->profile->op_count;

	application->messages = malloc((op_count + 1) * sizeof(*application->messages));
	if (!application->messages)
		return -ENOMEM;
	memset(application->messages, 0xff, op_count * sizeof(*application->messages));
	for (size_t i = 0; collectives && i < collectives->message_count; i++)
		if (collectives->messages[i].op != PROFILE_NONE &&
		    collectives->messages[i].call_count == 1)
			application->messages[collectives->messages[i].op] = (uint32_t)i;
	return 0;
}

int job_application_find_least(struct job_application *application)
{
	const struct profile *profile = application->job.model->profile;
	const struct task *tasks = application->job.tasks.items;

	if (find_messages(application) < 0)
		return -ENOMEM;
	application->shortest_kernels_ns =
		calloc(profile->kernel_name_count + 1, sizeof(*application->shortest_kernels_ns));
	application->least_host_ns =
		calloc(profile->stream_count + 1, sizeof(*application->least_host_ns));
	if (!application->shortest_kernels_ns || !application->least_host_ns)
		return -ENOMEM;
	for (size_t i = 0; i < profile->thread_count; i++)
		find_host_times(application, &profile->threads[i]);
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind == OP_KERNEL && job_application_work(application, i) == WORK_KERNEL)
			keep_least(&application->shortest_kernels_ns[profile->signatures[op->detail]
									     .kernel],
				   tasks[i].length_ns);
		if (op->kind == OP_COPY && job_application_work(application, i) == WORK_PEER)
			keep_least(&application->shortest_copy_ns, tasks[i].length_ns);
	}
	return 0;
}

/* The shortest of the recording that is alike: of a kernel of that name, or a copy between GPUs. */
static double shortest_ns(const struct job_application *application, size_t op)
{
	const struct profile *profile = application->job.model->profile;
	const struct profile_op *item = &profile->ops[op];

	return item->kind == OP_KERNEL
		       ? application->shortest_kernels_ns[profile->signatures[item->detail].kernel]
		       : application->shortest_copy_ns;
}

static double measured_ns(const struct job_application *application, size_t op)
{
	const struct ceilings *ceilings = application->run->ceilings;
	bool is_kernel = job_application_work(application, op) == WORK_KERNEL;

	return ceilings_at(ceilings, is_kernel ? CEILING_nccl_all_reduce : CEILING_peer_small, 1);
}

/* What each further part costs beside its bytes. */
static double part_ns(const struct job_application *application, size_t op)
{
	double length_ns = application->job.tasks.items[op].length_ns;
	double least_ns = measured_ns(application, op);

	if (least_ns > 0)
		return fmin(least_ns, length_ns);
	least_ns = shortest_ns(application, op);
	if (least_ns > 0 && least_ns < SHORT_SHARE * length_ns)
		return least_ns;
	return fmin(ceilings_at(application->run->ceilings, CEILING_kernel_step, 0), length_ns);
}

/* How long a collective of so many bytes takes where that was measured, beyond the most bytes in proportion; 0: it was not. */
static double ceiling_ns(const struct ceilings *ceilings, enum ceiling_id id, uint64_t bytes)
{
	uint64_t most = 0;

	for (size_t i = 0; i < ceilings->count; i++)
		if (ceilings->rows[i].id == id && ceilings->rows[i].parameter > most)
			most = ceilings->rows[i].parameter;
	return most && bytes > most ? ceilings_at(ceilings, id, most) * (double)bytes / (double)most
				    : ceilings_at(ceilings, id, bytes);
}

/* Whose bytes nobody told: as many as take so long, a power of two. */
static uint64_t bytes_in(const struct ceilings *ceilings, enum ceiling_id id, double length_ns)
{
	uint64_t bytes = 1;

	while (bytes < BYTES_MOST && ceiling_ns(ceilings, id, 2 * bytes) <= length_ns)
		bytes *= 2;
	return bytes;
}

/* Which ceiling a collective has, and the bytes that it counts; false: it has none. */
static bool find_ceiling(const struct job_application *application, size_t op, enum ceiling_id *id,
			 uint64_t *bytes)
{
	const struct collectives *collectives = application->job.collectives;
	uint32_t message = application->messages[op];
	const struct profile_nccl_call *call;

	if (message == PROFILE_NONE) {
		*id = CEILING_nccl_all_reduce;
		*bytes = bytes_in(application->run->ceilings, *id,
				  application->job.tasks.items[op].length_ns);
		return true;
	}
	call = &application->job.model->profile->nccl_calls[message];
	return collective_size_ceiling(
		&(struct collective_size){.operation = call->operation,
					  .bytes = call->bytes,
					  .rank_count = collectives->messages[message].rank_count},
		id, bytes);
}

/* What share of its time a collective takes with so many times fewer bytes; 0: nobody measured it. */
static double measured_share(const struct job_application *application, size_t op, uint64_t count)
{
	const struct ceilings *ceilings = application->run->ceilings;
	enum ceiling_id id;
	uint64_t bytes;
	double whole_ns;

	if (job_application_work(application, op) != WORK_KERNEL ||
	    !find_ceiling(application, op, &id, &bytes))
		return 0;
	whole_ns = ceiling_ns(ceilings, id, bytes);
	return whole_ns > 0 ? ceiling_ns(ceilings, id, bytes / count) / whole_ns : 0;
}

double job_application_part_length_ns(const struct job_application *application, size_t op,
				      uint64_t count)
{
	double length_ns = application->job.tasks.items[op].length_ns;
	double fixed_ns, share;

	if (application->end == ASSUMED_MOST)
		return length_ns / (double)count;
	share = measured_share(application, op, count);
	if (share > 0)
		return length_ns * fmin(fmax(share, 1 / (double)count), 1);
	fixed_ns = part_ns(application, op);
	return fixed_ns + (length_ns - fixed_ns) / (double)count;
}

double job_application_host_ns(const struct job_application *application, size_t op)
{
	double launch_ns = (double)application->run->costs->launch_call_ns;
	double least_ns =
		application->least_host_ns[application->job.model->profile->ops[op].stream];

	if (application->end == ASSUMED_MOST ||
	    job_application_work(application, op) != WORK_KERNEL)
		return launch_ns;
	return fmax(launch_ns, fmin(least_ns, HOST_MOST_NS));
}
