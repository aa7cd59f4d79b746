/*
 * nccl_bucketed (H2): a training step, and the gradients of all GPUs are added up when the last one is there.
 *
 * The gradients of a layer are complete long before those of all.  Added up in buckets, in a stream of their own, they
 * cross the links between the GPUs while the next ones are computed, and only the last bucket is waited for.  Too
 * many buckets are no better: each takes as long as a small collective does, whatever is in it.
 */
#include "training.cuh"

static const int layers = 64;
static long bucket_count = 8;

struct problem {
	struct training work;
	int iterations;
	gpu_team team;
	nccl_group group;
	std::vector<replica> replicas; /* by index of the GPU */
};

/* A sample for each GPU. */
static struct samples samples_of(const gpu &one)
{
	return {one.rank, 1};
}

template <class function> static void run_all(problem &p, int iterations, function step)
{
	gpus_run(p.team, [&](gpu &one) {
		replica &r = p.replicas[one.index];

		for (int i = 0; i < iterations; i++) {
			gpus_tell(one, "step", i);
			training_one_value(one, p.group, r, true);
			step(one, r);
			training_one_value(one, p.group, r, false);
		}
		gpus_tell(one, "waits for its stream");
		gpus_synchronize(one, r.compute);
	});
}

static void run_naive(problem &p, int iterations)
{
	run_all(p, iterations, [&](gpu &one, replica &r) {
		training_step(p.work, one, p.group, r, samples_of(one));
	});
}

static void run_buckets_of(problem &p, int iterations, int buckets)
{
	run_all(p, iterations, [&](gpu &one, replica &r) {
		training_step_in_buckets(p.work, one, p.group, r, samples_of(one), buckets);
	});
}

static void run_halves(problem &p, int iterations)
{
	run_buckets_of(p, iterations, 2);
}

static void run_buckets(problem &p, int iterations)
{
	run_buckets_of(p, iterations, (int)bucket_count);
}

static void run_layers(problem &p, int iterations)
{
	run_buckets_of(p, iterations, layers);
}

/* NCCL connects at its first collective, which may not be in a capture. */
static void capture(problem &p)
{
	gpus_run(p.team, [&](gpu &one) {
		replica &r = p.replicas[one.index];

		gpus_tell(one, "does its first step");
		training_step_in_buckets(p.work, one, p.group, r, samples_of(one),
					 (int)bucket_count);
		gpus_synchronize(one, r.compute);
		gpus_tell(one, "captures a step");
		training_capture(r, [&] {
			training_step_in_buckets(p.work, one, p.group, r, samples_of(one),
						 (int)bucket_count);
		});
		gpus_synchronize(one, r.compute);
	});
}

static void run_graph(problem &p, int iterations)
{
	run_all(p, iterations, [&](gpu &, replica &r) { training_launch(r); });
}

static void forget_graph(problem &p)
{
	training_forget(p.team, p.replicas);
}

static void prepare(problem &p, long size, int iterations)
{
	p.work = {size, layers,
		  192}; /* so that computing takes a little longer than adding up, on two H200 */
	p.iterations = iterations;
	gpus_open(p.team, "nccl_bucketed", true);
	training_announce_wrong_order("nccl_bucketed");
	p.replicas.resize(p.team.gpus.size());
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { training_open(p.work, p.replicas[one->index], layers); });
	nccl_open(p.team, p.group);
}

static void reset(problem &p)
{
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { training_reset(p.work, p.replicas[one->index]); });
}

static struct difference check(const problem &p)
{
	return training_check(p.work, p.team, p.replicas, p.team.count, p.iterations, p.team.count);
}

static void release(problem &p)
{
	nccl_close(p.team, p.group);
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] { training_close(p.replicas[one->index]); });
	gpus_close(p.team);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "all gradients, then one all-reduce of them", run_naive},
	{"halves", "two all-reduces in a second stream, the first beside the second half",
	 run_halves},
	{"buckets", "as many as --buckets says", run_buckets},
	{"layers", "an all-reduce for each layer", run_layers},
	{"graph", "buckets, captured as one graph", run_graph, capture, forget_graph},
};

static const struct workload<problem> nccl_bucketed = {
	.name = "nccl_bucketed", .size = 1 << 26, .iterations = 20, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = nullptr,
	.parameters = gpus_parameters({{"buckets", "all-reduces of a step, in buckets and graph", 1,
					layers, 1, &bucket_count}}),
	.why_skipped = nccl_why_no_team, .remarks = nullptr, .is_job = true,
};
RUN_WORKLOAD(nccl_bucketed)
