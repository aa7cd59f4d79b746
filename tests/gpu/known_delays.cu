/* known_delays: all-reduces to which one rank comes late, each time another one and for another reason; prints the truth.
 * known_delays [--steps N] [--compute-us N] [--late-us N] [--overlap-us N] [--bytes N] [--copy-bytes N] [--late 0]
 *              [--gpus N] [--limit-s N] [--hang RANK | --swap RANK]
 * One process with a thread a GPU, or a process a GPU under a launcher (gpus.cuh).  In each step a rank computes, and then
 * all of them add up --bytes.  One comes late: its kernel is longer, its host launches later, or it copies --copy-bytes
 * first; in every fourth step it is its kernel, and all compute for --overlap-us beside the collective.
 * Kernels note on the GPU's own clock when a rank came to the collective and when it was over; the clocks of all GPUs are
 * compared with the host's before and after.  Rank 0 prints what follows from that, as JSON, of the steps in its NVTX
 * range `delays`.  A stamp is a kernel: so each collective is measured up to 3 us too long.
 * --hang: that rank does not come to the last collective.  --swap: it asks for the last two in the other order.  Then
 * nothing is printed.  Ends with 3 where there are no two ranks. */
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpus.cuh"
#include "nccl.cuh"
#include "stamps.cuh"
#include "trial.cuh"

static long steps = 120, compute_us = 400, late_us = 1000, overlap_us = 200, is_late = 1;
static long bytes = 128 << 20, copy_bytes = 48 << 20;
static long hanging = -1, swapping = -1; /* ranks */
static const int nccl_max = 2;		 /* an operation */
static const int pings = 200;

enum why { WHY_KERNELS, WHY_HOST, WHY_COPIES, WHY_OVERLAPPED_KERNELS, WHY_COUNT };

/* Of one step on one rank, by the GPU's clock. */
struct step_stamps {
	unsigned long long come, over;	       /* to the collective; the collective */
	unsigned long long beside, beside_end; /* what is computed beside it; 0: nothing */
};

/* Both ends of a clock: the host's time is what the GPU's is, less offset. */
struct clock_pair {
	long gpu_ns, offset_ns, error_ns;
};

struct rank_state {
	cudaStream_t compute, communicate;
	cudaEvent_t ready;
	uint32_t *values, *table;
	char *host, *device; /* what is copied */
	struct step_stamps *stamps;
	volatile int *asked;		     /* by the host, mapped */
	volatile unsigned long long *answer; /* the GPU's clock at each ping, mapped */
	struct clock_pair clocks[2];
};

/* ---- kernels ---- */

static __global__ void spin_kernel(unsigned long long length_ns, unsigned long long *start,
				   unsigned long long *end)
{
	unsigned long long begin = stamp_now(), now = begin;

	while (now - begin < length_ns)
		now = stamp_now();
	if (start) {
		*start = begin;
		*end = now;
	}
}

static __global__ void stamp_kernel(unsigned long long *at)
{
	*at = stamp_now();
}

/* Answers each question of the host with the time. */
static __global__ void answer_kernel(volatile int *asked, volatile unsigned long long *answer,
				     int count)
{
	for (int i = 0; i < count; i++) {
		while (*asked <= i)
			;
		answer[i] = stamp_now();
		__threadfence_system();
	}
}

/* ---- clocks ---- */

/* The question with the shortest way there and back tells most. */
static struct clock_pair compare_clocks(gpu &one, struct rank_state &r)
{
	struct clock_pair best = {0, 0, INT64_MAX};

	*r.asked = 0;
	for (int i = 0; i < pings; i++)
		r.answer[i] = 0;
	CUDA_LAUNCH(answer_kernel<<<1, 1, 0, r.compute>>>(r.asked, r.answer, pings));
	for (int i = 0; i < pings; i++) {
		long before_ns = now_ns(), after_ns;

		*r.asked = i + 1;
		while (!r.answer[i])
			;
		after_ns = now_ns();
		if ((after_ns - before_ns) / 2 < best.error_ns)
			best = {(long)r.answer[i], (long)r.answer[i] - (before_ns + after_ns) / 2,
				(after_ns - before_ns) / 2};
	}
	gpus_synchronize(one, r.compute);
	return best;
}

/* What the host's clock showed at that time of the GPU's, whose speed may be another. */
static long host_time(const struct rank_state &r, unsigned long long gpu_ns)
{
	const struct clock_pair *first = &r.clocks[0], *last = &r.clocks[1];
	double part =
		(double)((long)gpu_ns - first->gpu_ns) / (double)(last->gpu_ns - first->gpu_ns);

	return (long)gpu_ns - first->offset_ns -
	       (long)(part * (double)(last->offset_ns - first->offset_ns));
}

/* ---- steps ---- */

static enum why why_late(long step)
{
	return (enum why)(step % WHY_COUNT);
}

/* The last rank is twice as often late as each of the others. */
static int who_is_late(long step, int count)
{
	return std::min((int)(step / WHY_COUNT % (count + 1)), count - 1);
}

static void spin_host(long length_us)
{
	for (long end_ns = now_ns() + length_us * 1000; now_ns() < end_ns;)
		;
}

static void add_up(gpu &one, nccl_group &group, struct rank_state &r, int operation)
{
	NCCL_CHECK(one,
		   nccl.AllReduce(r.values, r.values, (size_t)bytes / sizeof(uint32_t), nccl_uint32,
				  operation, group.ends[one.index]->comm, r.communicate));
}

/* Up to where the rank comes to the collective. */
static void compute(gpu &one, struct rank_state &r, long step)
{
	bool is_last = is_late && who_is_late(step, one.team->count) == one.rank;
	enum why why = why_late(step);
	long more_us =
		is_last && (why == WHY_KERNELS || why == WHY_OVERLAPPED_KERNELS) ? late_us : 0;

	if (is_last && why == WHY_HOST)
		spin_host(late_us);
	if (is_last && why == WHY_COPIES)
		CUDA_CHECK(cudaMemcpyAsync(r.device, r.host, (size_t)copy_bytes,
					   cudaMemcpyHostToDevice, r.compute));
	CUDA_LAUNCH(spin_kernel<<<1, 1, 0, r.compute>>>((compute_us + more_us) * 1000, nullptr,
							nullptr));
	CUDA_CHECK(cudaEventRecord(r.ready, r.compute));
	CUDA_CHECK(cudaStreamWaitEvent(r.communicate, r.ready, 0));
}

static void run_step(gpu &one, nccl_group &group, struct rank_state &r, long step)
{
	struct step_stamps *stamps = &r.stamps[step];

	gpus_tell(one, "step", step);
	compute(one, r, step);
	CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, r.communicate>>>(&stamps->come));
	add_up(one, group, r, nccl_sum);
	CUDA_LAUNCH(stamp_kernel<<<1, 1, 0, r.communicate>>>(&stamps->over));
	if (why_late(step) == WHY_OVERLAPPED_KERNELS && overlap_us)
		CUDA_LAUNCH(spin_kernel<<<1, 1, 0, r.compute>>>(overlap_us * 1000, &stamps->beside,
								&stamps->beside_end));
	gpus_synchronize(one, r.communicate);
	gpus_synchronize(one, r.compute);
}

/* Kernels are loaded and NCCL has its buffers after the first. */
static void warm_up(gpu &one, nccl_group &group, struct rank_state &r)
{
	for (long step = 0; step < WHY_COUNT; step++)
		run_step(one, group, r, step);
	CUDA_CHECK(cudaMemset(r.stamps, 0, sizeof(*r.stamps) * (size_t)steps));
}

/* All begin at about the same time, and the range of the first is open by then. */
static void run_steps(gpu &one, nccl_group &group, struct rank_state &r)
{
	std::unique_ptr<nvtx_range> range;

	usleep(5000);
	if (one.rank == 0)
		range = std::make_unique<nvtx_range>("delays");
	usleep(5000);
	for (long step = 0; step < steps; step++)
		run_step(one, group, r, step);
	usleep(5000);
}

/* ---- what is wrong on purpose ---- */

static void go_wrong(gpu &one, nccl_group &group, struct rank_state &r)
{
	bool is_swapped = one.rank == swapping;

	if (one.rank == hanging) {
		gpus_tell(one, "does not come to the last collective");
		while (!one.team->is_stopped)
			usleep(1000);
		return;
	}
	gpus_tell(one, "the last collectives");
	add_up(one, group, r, is_swapped ? nccl_max : nccl_sum);
	if (swapping >= 0)
		add_up(one, group, r, is_swapped ? nccl_sum : nccl_max);
	gpus_synchronize(one, r.communicate);
}

/* ---- the truth ---- */

/* Of one step on one rank, by the host's clock. */
struct moment {
	long come_ns, over_ns, beside_ns, beside_end_ns;
};

static const int moment_words = 2 * sizeof(struct moment) / sizeof(long);

/* Every rank adds its own moments to zeros of the others.  Returns all: [rank * steps + step]. */
static std::vector<struct moment> share(gpu &one, nccl_group &group, struct rank_state &r)
{
	size_t count = (size_t)one.team->count * (size_t)steps,
	       own = (size_t)one.rank * (size_t)steps;
	std::vector<struct step_stamps> stamps((size_t)steps);
	std::vector<struct moment> all(count);

	CUDA_CHECK(cudaMemcpy(stamps.data(), r.stamps, sizeof(stamps[0]) * (size_t)steps,
			      cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < (size_t)steps; i++)
		all[own + i] = {host_time(r, stamps[i].come), host_time(r, stamps[i].over),
				stamps[i].beside ? host_time(r, stamps[i].beside) : 0,
				stamps[i].beside ? host_time(r, stamps[i].beside_end) : 0};
	CUDA_CHECK(cudaMemcpy(r.table, all.data(), sizeof(all[0]) * count, cudaMemcpyHostToDevice));
	nccl_all_reduce(one, group, r.table, (long)count * moment_words, r.communicate,
			"the truth");
	gpus_synchronize(one, r.communicate);
	CUDA_CHECK(cudaMemcpy(all.data(), r.table, sizeof(all[0]) * count, cudaMemcpyDeviceToHost));
	return all;
}

struct rank_truth {
	long exposed_ns, overlapped_ns, wait_ns, last_count, caused_ns, by_why_ns[WHY_COUNT];
};

/* Adds one step, of which at(rank) are the moments.  Returns its skew. */
template <class function>
static long judge_step(std::vector<struct rank_truth> &truth, long step, function at)
{
	int last = 0, first = 0;

	for (int i = 1; i < (int)truth.size(); i++) {
		last = at(i).come_ns > at(last).come_ns ? i : last;
		first = at(i).come_ns < at(first).come_ns ? i : first;
	}
	truth[last].last_count++;
	for (int i = 0; i < (int)truth.size(); i++) {
		const struct moment &m = at(i);
		long wait_ns = at(last).come_ns - m.come_ns;
		long beside_ns = std::max(0L, std::min(m.over_ns, m.beside_end_ns) -
						      std::max(m.come_ns, m.beside_ns));

		truth[i].wait_ns += wait_ns;
		truth[i].overlapped_ns += beside_ns;
		truth[i].exposed_ns += m.over_ns - m.come_ns - beside_ns;
		truth[last].caused_ns += wait_ns;
		truth[last].by_why_ns[why_late(step)] += wait_ns;
	}
	return at(last).come_ns - at(first).come_ns;
}

static void print_rank(const struct rank_truth &rank, const char *separator)
{
	printf("  {\"exposed_ns\": %ld, \"overlapped_ns\": %ld, \"wait_ns\": %ld, \"last_count\": %ld, "
	       "\"caused_wait_ns\": %ld, \"caused_by\": {\"kernels_ns\": %ld, \"host_ns\": %ld, "
	       "\"copies_ns\": %ld}}%s\n",
	       rank.exposed_ns, rank.overlapped_ns, rank.wait_ns, rank.last_count, rank.caused_ns,
	       rank.by_why_ns[WHY_KERNELS] + rank.by_why_ns[WHY_OVERLAPPED_KERNELS],
	       rank.by_why_ns[WHY_HOST], rank.by_why_ns[WHY_COPIES], separator);
}

static void print_truth(const std::vector<struct moment> &all, int count, long error_ns)
{
	std::vector<struct rank_truth> truth((size_t)count);
	std::vector<long> skews;

	for (long step = 0; step < steps; step++)
		skews.push_back(judge_step(
			truth, step, [&](int rank) -> const struct moment & {
				return all[(size_t)(rank * steps + step)];
			}));
	std::sort(skews.begin(), skews.end());
	printf("{\"count\": %ld, \"clock_error_ns\": %ld, \"median_skew_ns\": %ld, "
	       "\"most_skew_ns\": %ld, \"ranks\": [\n",
	       steps, error_ns, skews[(skews.size() - 1) / 2], skews.back());
	for (size_t i = 0; i < truth.size(); i++)
		print_rank(truth[i], i + 1 < truth.size() ? "," : "");
	printf("]}\n");
}

/* ---- the program ---- */

static void prepare(gpu &one, struct rank_state &r)
{
	void *mapped;
	size_t table = (size_t)one.team->count * (size_t)steps * sizeof(struct moment);
	size_t longest = (size_t)std::max(steps, (long)WHY_COUNT);

	CUDA_CHECK(cudaStreamCreateWithFlags(&r.compute, cudaStreamNonBlocking));
	CUDA_CHECK(cudaStreamCreateWithFlags(&r.communicate, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&r.ready, cudaEventDisableTiming));
	CUDA_CHECK(cudaMalloc(&r.values, (size_t)bytes));
	CUDA_CHECK(cudaMemset(r.values, 0, (size_t)bytes));
	CUDA_CHECK(cudaMalloc(&r.table, table));
	CUDA_CHECK(cudaMalloc(&r.device, (size_t)copy_bytes));
	CUDA_CHECK(cudaMallocHost(&r.host, (size_t)copy_bytes));
	CUDA_CHECK(cudaMalloc(&r.stamps, longest * sizeof(*r.stamps)));
	CUDA_CHECK(cudaMemset(r.stamps, 0, longest * sizeof(*r.stamps)));
	CUDA_CHECK(cudaMallocHost(&mapped, sizeof(long) * (pings + 1)));
	r.asked = (volatile int *)mapped;
	r.answer = (volatile unsigned long long *)mapped + 1;
}

static void run(gpu &one, nccl_group &group, struct rank_state &r)
{
	prepare(one, r);
	gpus_meet(one); /* memory is had before any kernel waits for another GPU */
	warm_up(one, group, r);
	r.clocks[0] = compare_clocks(one, r);
	add_up(one, group, r, nccl_sum); /* all are here */
	gpus_synchronize(one, r.communicate);
	run_steps(one, group, r);
	if (hanging >= 0 || swapping >= 0) {
		go_wrong(one, group, r);
		return;
	}
	r.clocks[1] = compare_clocks(one, r);
	std::vector<struct moment> all = share(one, group, r);
	if (one.rank == 0)
		print_truth(all, one.team->count,
			    std::max(r.clocks[0].error_ns, r.clocks[1].error_ns));
}

int main(int argc, char **argv)
{
	gpu_team team;
	nccl_group group;

	trial_parse(argc, argv,
		    {{"steps", &steps},
		     {"compute-us", &compute_us},
		     {"late-us", &late_us},
		     {"overlap-us", &overlap_us},
		     {"bytes", &bytes},
		     {"copy-bytes", &copy_bytes},
		     {"late", &is_late},
		     {"gpus", &gpus_wanted},
		     {"limit-s", &gpus_limit_s},
		     {"hang", &hanging},
		     {"swap", &swapping}});
	if (const char *reason = nccl_why_no_team()) {
		fprintf(stderr, "known_delays: skipped: %s\n", reason);
		return 3;
	}
	gpus_open(team, "known_delays", true);
	nccl_open(team, group);
	if (hanging >= 0) /* so that the recording has its end */
		team.abort = [&] { nccl_abort(group); };
	std::vector<struct rank_state> states(team.gpus.size());
	gpus_run(team, [&](gpu &one) { run(one, group, states[(size_t)one.index]); });
	nccl_close(team, group);
	gpus_close(team);
	return 0;
}
