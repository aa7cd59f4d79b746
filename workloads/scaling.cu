/*
 * scaling (H9): the same training step on one GPU, on half of the GPUs, and on all of them.
 *
 * The samples of a step are divided among the GPUs, so that computing takes a share of the time; adding up the
 * gradients is what a single GPU need not do.  The fewer samples a GPU has, the larger is the part that no further GPU
 * shortens, unless it goes on beside the computing.
 */
#include "training.cuh"

static const int layers = 64;
static const int buckets = 8;
static long sample_count = 8;

struct problem {
	struct training work;
	int iterations;
	gpu_team team;
	nccl_group half, all;
	std::vector<replica> replicas; /* by index of the GPU */
	int used;		       /* GPUs, in the variant that was run last */
};

/* The samples of a GPU, of which `used` share those of a step. */
static struct samples samples_of(const gpu &one, int used)
{
	int first = (int)(sample_count * one.rank / used);

	return {first, (int)(sample_count * (one.rank + 1) / used) - first};
}

template <class function> static void run_on(problem &p, int used, int iterations, function step)
{
	p.used = used;
	gpus_run(p.team, [&](gpu &one) {
		replica &r = p.replicas[one.index];

		if (one.rank >= used)
			return;
		for (int i = 0; i < iterations; i++) {
			gpus_tell(one, "step", i);
			step(one, r, samples_of(one, used));
		}
		gpus_tell(one, "waits for its stream");
		gpus_synchronize(one, r.compute);
	});
}

static void run_one(problem &p, int iterations)
{
	run_on(p, 1, iterations, [&](gpu &, replica &r, struct samples samples) {
		training_backward(p.work, r, 0, layers, samples);
		training_apply(p.work, r, training_layers(p.work, 0, layers));
	});
}

static void run_in_turn(problem &p, nccl_group &group, int used, int iterations)
{
	run_on(p, used, iterations, [&](gpu &one, replica &r, struct samples samples) {
		training_one_value(one, group, r, true);
		training_step(p.work, one, group, r, samples);
		training_one_value(one, group, r, false);
	});
}

static void run_overlapped(problem &p, nccl_group &group, int used, int iterations)
{
	run_on(p, used, iterations, [&](gpu &one, replica &r, struct samples samples) {
		training_one_value(one, group, r, true);
		training_step_in_buckets(p.work, one, group, r, samples, buckets);
		training_one_value(one, group, r, false);
	});
}

static int half_of(const problem &p)
{
	return p.team.count / 2;
}

static void run_naive(problem &p, int iterations)
{
	run_in_turn(p, p.all, p.team.count, iterations);
}

static void run_half(problem &p, int iterations)
{
	run_in_turn(p, p.half, half_of(p), iterations);
}

static void run_half_overlapped(problem &p, int iterations)
{
	run_overlapped(p, p.half, half_of(p), iterations);
}

static void run_all_overlapped(problem &p, int iterations)
{
	run_overlapped(p, p.all, p.team.count, iterations);
}

static const char *why_no_half(problem &p)
{
	return half_of(p) < 2 ? "half of the GPUs is one" : nullptr;
}

static void prepare(problem &p, long size, int iterations)
{
	p.work = {size, layers, 192}; /* as in nccl_bucketed */
	p.iterations = iterations;
	gpus_open(p.team, "scaling", true);
	training_announce_wrong_order("scaling");
	p.replicas.resize(p.team.gpus.size());
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { training_open(p.work, p.replicas[one->index], layers); });
	if (half_of(p) > 1)
		nccl_open(p.team, p.half, half_of(p));
	nccl_open(p.team, p.all);
}

static void reset(problem &p)
{
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { training_reset(p.work, p.replicas[one->index]); });
}

static struct difference check(const problem &p)
{
	return training_check(p.work, p.team, p.replicas, (int)sample_count, p.iterations, p.used);
}

static void release(problem &p)
{
	nccl_close(p.team, p.all);
	if (!p.half.ends.empty())
		nccl_close(p.team, p.half);
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { training_close(p.replicas[one->index]); });
	gpus_close(p.team);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "all GPUs; the gradients are added up when all are there", run_naive},
	{"one", "one GPU, which has all samples", run_one},
	{"half", "as naive, on half of the GPUs", run_half, nullptr, nullptr, why_no_half},
	{"half_overlapped", "as overlapped, on half of the GPUs", run_half_overlapped, nullptr,
	 nullptr, why_no_half},
	{"overlapped", "all GPUs; gradients in 8 buckets, added up beside the computing",
	 run_all_overlapped},
};

static const struct workload<problem> scaling = {
	.name = "scaling", .size = 1 << 26, .iterations = 20, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants, .stamp_names = nullptr,
	.parameters = gpus_parameters(
		{{"samples", "of a step, divided among the GPUs", 1, 1024, 1, &sample_count}}),
	.why_skipped = nccl_why_no_team, .remarks = nullptr, .is_job = true,
};
RUN_WORKLOAD(scaling)
