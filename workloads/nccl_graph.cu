/*
 * nccl_graph (H3): steps of short kernels, and in the middle of each all GPUs add something up.
 *
 * A host that waits before and after the collective leaves the GPU idle while it launches the next kernels, and every GPU
 * waits for the slowest host.  Enqueued in a stream, the collective needs no host; but its launch costs more than that
 * of a kernel, in every step.  Captured once with the kernels, a step is a single launch.  NCCL connects and allocates at
 * the first collective, so that one comes before the capture; and the graph is uploaded before the first step.
 */
#include <algorithm>
#include <chrono>

#include "training.cuh"

static const int layers = 16;

/* What one GPU has beside its replica. */
struct ends {
	uint32_t *sums; /* of all GPUs */
};

struct problem {
	struct training work;
	int iterations;
	gpu_team team;
	nccl_group group;
	std::vector<replica> replicas; /* by index of the GPU */
	std::vector<ends> ends;
	std::vector<std::string> remarks;
};

/* ---- a step ---- */

static void forward(problem &p, const gpu &one, replica &r)
{
	nvtx_range range("forward");

	for (int layer = 0; layer < layers; layer++) {
		struct training_part part = training_layers(p.work, layer, layer + 1);

		if (part.count)
			CUDA_LAUNCH(gradient_kernel<<<training_blocks(part.count),
						      training_block_size, 0, r.compute>>>(
				r.weights + part.begin, r.gradients + part.begin, part.count,
				affine_step, p.work.steps, samples{one.rank, 1}));
	}
}

/* Not in place: so that it is something to do for a single rank, too. */
static void add_up(problem &p, gpu &one, replica &r)
{
	nvtx_range range("all-reduce");

	nccl_all_reduce_into(one, p.group, r.gradients, p.ends[one.index].sums, p.work.size,
			     r.compute, "an all-reduce of a step");
}

static void backward(problem &p, const gpu &one, replica &r)
{
	nvtx_range range("backward");

	for (int layer = layers - 1; layer >= 0; layer--) {
		struct training_part part = training_layers(p.work, layer, layer + 1);

		if (part.count)
			CUDA_LAUNCH(
				update_kernel<<<training_blocks(part.count), training_block_size, 0,
						r.compute>>>(r.weights + part.begin,
							     p.ends[one.index].sums + part.begin,
							     part.count, training_update));
	}
}

static void enqueue(problem &p, gpu &one, replica &r)
{
	forward(p, one, r);
	add_up(p, one, r);
	backward(p, one, r);
}

/* ---- what the host does for it ---- */

static double percentile(const std::vector<double> &sorted, double share)
{
	return sorted[(size_t)(share * (double)(sorted.size() - 1))];
}

static void remark(problem &p, const char *variant, std::vector<double> &us)
{
	char text[160];

	std::sort(us.begin(), us.end());
	snprintf(text, sizeof(text),
		 "%s: the host takes %.1f us for a step (median), %.1f us at the 99th percentile",
		 variant, percentile(us, 0.5), percentile(us, 0.99));
	for (std::string &known : p.remarks)
		if (known.compare(0, strlen(variant) + 1, std::string(variant) + ":") == 0) {
			known = text;
			return;
		}
	p.remarks.push_back(text);
}

/* Steps of the last run are those that the remark is about, on the first GPU of this process. */
template <class function>
static void run_all(problem &p, int iterations, const char *variant, function step)
{
	std::vector<double> us(iterations);

	gpus_run(p.team, [&](gpu &one) {
		replica &r = p.replicas[one.index];

		for (int i = 0; i < iterations; i++) {
			auto begin = std::chrono::steady_clock::now();

			gpus_tell(one, "step", i);
			training_one_value(one, p.group, r, true);
			step(one, r);
			training_one_value(one, p.group, r, false);
			if (one.index == 0)
				us[i] = std::chrono::duration<double, std::micro>(
						std::chrono::steady_clock::now() - begin)
						.count();
		}
		gpus_tell(one, "waits for its stream");
		gpus_synchronize(one, r.compute);
	});
	remark(p, variant, us);
}

static void run_naive(problem &p, int iterations)
{
	run_all(p, iterations, "naive", [&](gpu &one, replica &r) {
		forward(p, one, r);
		gpus_synchronize(one, r.compute);
		add_up(p, one, r);
		gpus_synchronize(one, r.compute);
		backward(p, one, r);
		gpus_synchronize(one, r.compute);
	});
}

static void run_asynchronous(problem &p, int iterations)
{
	run_all(p, iterations, "asynchronous", [&](gpu &one, replica &r) { enqueue(p, one, r); });
}

/* A capture may not be what NCCL connects in. */
static void capture(problem &p)
{
	gpus_run(p.team, [&](gpu &one) {
		replica &r = p.replicas[one.index];

		gpus_tell(one, "does its first all-reduce");
		add_up(p, one, r);
		gpus_synchronize(one, r.compute);
		gpus_tell(one, "captures a step");
		training_capture(r, [&] { enqueue(p, one, r); });
		gpus_synchronize(one, r.compute);
	});
}

static void run_graph(problem &p, int iterations)
{
	run_all(p, iterations, "graph", [&](gpu &, replica &r) { training_launch(r); });
}

static void forget_graph(problem &p)
{
	training_forget(p.team, p.replicas);
}

/* ---- the problem ---- */

static void prepare(problem &p, long size, int iterations)
{
	p.work = {size, layers, 16}; /* kernels that take about as long as their launches */
	p.iterations = iterations;
	gpus_open(p.team, "nccl_graph", true);
	training_announce_wrong_order("nccl_graph");
	p.replicas.resize(p.team.gpus.size());
	p.ends.resize(p.team.gpus.size());
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] {
			training_open(p.work, p.replicas[one->index], 1);
			p.ends[one->index].sums = device_array<uint32_t>(size);
		});
	nccl_open(p.team, p.group);
	if (p.team.count == 1)
		p.remarks.push_back("one GPU: NCCL copies what it would add up");
}

static void reset(problem &p)
{
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] {
			training_reset(p.work, p.replicas[one->index]);
			CUDA_CHECK(cudaMemset(p.ends[one->index].sums, 0xff,
					      p.work.size * sizeof(uint32_t)));
			CUDA_CHECK(cudaDeviceSynchronize());
		});
}

static struct difference check(const problem &p)
{
	return training_check(p.work, p.team, p.replicas, p.team.count, p.iterations, p.team.count);
}

static void release(problem &p)
{
	nccl_close(p.team, p.group);
	for (const std::unique_ptr<gpu> &one : p.team.gpus)
		gpus_with(*one, [&] {
			training_close(p.replicas[one->index]);
			CUDA_CHECK(cudaFree(p.ends[one->index].sums));
		});
	gpus_close(p.team);
}

static std::vector<std::string> remarks_of(const problem &p)
{
	return p.remarks;
}

static const std::vector<variant<problem>> variants = {
	{"naive", "forward, all-reduce, backward, and the host waits after each", run_naive},
	{"asynchronous", "all of it in a stream; the host waits at the end", run_asynchronous},
	{"graph", "a step as one graph, captured after a first all-reduce, and uploaded", run_graph,
	 capture, forget_graph},
};

static const struct workload<problem> nccl_graph = {
	.name = "nccl_graph", .size = 1 << 16, .iterations = 200, .prepare = prepare,
	.reset = reset, .check = check, .release = release, .variants = variants,
	.stamp_names = nullptr, .parameters = gpus_parameters({}, 1),
	.why_skipped = nccl_why_missing, .remarks = remarks_of, .is_job = true,
};
RUN_WORKLOAD(nccl_graph)
