/* managed: managed memory that host and GPU touch in turns, so that the driver moves it to and fro.
 * managed [--mib N] [--rounds N] [--prefetch 0|1]
 * A round: the host writes all of it, a kernel adds one to each number, the host reads all of it.  With --prefetch both
 * ways are asked for beforehand. */
#include "trial.cuh"

static __global__ void add_one(int *numbers, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		numbers[i]++;
}

static void move(int *numbers, size_t count, bool is_to_device)
{
	cudaMemLocation where = {};

	where.type = is_to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
	CUDA_CHECK(cudaMemPrefetchAsync(numbers, count * sizeof(*numbers), where, 0, 0));
}

/* Returns how many numbers are wrong. */
static size_t run_round(int *numbers, size_t count, bool is_prefetching)
{
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		numbers[i] = (int)i;
	if (is_prefetching)
		move(numbers, count, true);
	CUDA_LAUNCH(add_one<<<256, 256>>>(numbers, count));
	if (is_prefetching)
		move(numbers, count, false);
	CUDA_CHECK(cudaDeviceSynchronize());
	for (size_t i = 0; i < count; i++)
		wrong += numbers[i] != (int)i + 1;
	return wrong;
}

int main(int argc, char **argv)
{
	long mib = 64, rounds = 4, prefetch = 0, start_ns;
	size_t wrong = 0, count;
	int *numbers;

	trial_parse(argc, argv, {{"mib", &mib}, {"rounds", &rounds}, {"prefetch", &prefetch}});
	count = (size_t)mib * 1024 * 1024 / sizeof(*numbers);
	CUDA_CHECK(cudaFree(nullptr)); /* what starting CUDA takes is none of the rounds' */
	CUDA_CHECK(cudaMallocManaged(&numbers, count * sizeof(*numbers)));
	start_ns = now_ns();
	for (long i = 0; i < rounds; i++)
		wrong += run_round(numbers, count, prefetch != 0);
	printf("wrong %zu\nround_ns %.0f\n", wrong,
	       rounds ? (double)(now_ns() - start_ns) / rounds : 0);
	CUDA_CHECK(cudaFree(numbers));
	return wrong != 0;
}
