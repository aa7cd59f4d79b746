/* streams: several streams with copies from pageable and pinned memory, memsets, events, waits of
 * one stream for another, and allocation in stream order.
 * streams [--streams N] [--rounds N]
 * Prints how many records of each kind a recording must hold. */
#include "trial.cuh"

static const size_t bytes = 1 << 20;

struct lane {
	cudaStream_t stream;
	cudaEvent_t done;
	char *pinned, *device, *other;
};

static struct lane lane_create()
{
	struct lane lane;

	CUDA_CHECK(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaEventCreateWithFlags(&lane.done, cudaEventDisableTiming));
	CUDA_CHECK(cudaMallocHost(&lane.pinned, bytes));
	CUDA_CHECK(cudaMalloc(&lane.device, bytes));
	CUDA_CHECK(cudaMalloc(&lane.other, bytes));
	return lane;
}

static void lane_destroy(struct lane &lane)
{
	CUDA_CHECK(cudaStreamDestroy(lane.stream));
	CUDA_CHECK(cudaEventDestroy(lane.done));
	CUDA_CHECK(cudaFreeHost(lane.pinned));
	CUDA_CHECK(cudaFree(lane.device));
	CUDA_CHECK(cudaFree(lane.other));
}

/* 2 memsets, 4 copies (pageable in, pinned in, within the device, pinned out), 1 kernel. */
static void round_trip(struct lane &lane, const struct lane &before, const char *pageable)
{
	char *temporary;

	CUDA_CHECK(cudaStreamWaitEvent(lane.stream, before.done, 0));
	CUDA_CHECK(cudaMallocAsync((void **)&temporary, bytes, lane.stream));
	CUDA_CHECK(cudaMemsetAsync(temporary, 1, bytes, lane.stream));
	CUDA_CHECK(cudaMemsetAsync(lane.other, 2, bytes, lane.stream));
	CUDA_CHECK(
		cudaMemcpyAsync(lane.device, pageable, bytes, cudaMemcpyHostToDevice, lane.stream));
	CUDA_CHECK(cudaMemcpyAsync(lane.other, lane.pinned, bytes, cudaMemcpyHostToDevice,
				   lane.stream));
	CUDA_LAUNCH(empty_kernel<<<1, 1, 0, lane.stream>>>());
	CUDA_CHECK(cudaMemcpyAsync(lane.device, temporary, bytes, cudaMemcpyDeviceToDevice,
				   lane.stream));
	CUDA_CHECK(cudaFreeAsync(temporary, lane.stream));
	CUDA_CHECK(cudaMemcpyAsync(lane.pinned, lane.device, bytes, cudaMemcpyDeviceToHost,
				   lane.stream));
	CUDA_CHECK(cudaEventRecord(lane.done, lane.stream));
}

int main(int argc, char **argv)
{
	long count = 4, rounds = 10;
	std::vector<struct lane> lanes;
	std::vector<char> pageable(bytes, 3);
	bool ok = true;

	trial_parse(argc, argv, {{"streams", &count}, {"rounds", &rounds}});
	for (long i = 0; i < count; i++)
		lanes.push_back(lane_create());
	for (long round = 0; round < rounds; round++)
		for (long i = 0; i < count; i++)
			round_trip(lanes[i], lanes[(i + count - 1) % count], pageable.data());
	for (struct lane &lane : lanes) {
		CUDA_CHECK(cudaEventSynchronize(lane.done));
		ok = ok && (rounds == 0 || lane.pinned[bytes - 1] == 1);
		lane_destroy(lane);
	}
	printf("streams %ld\nkernels %ld\nmemsets %ld\ncopies %ld\npageable_copies %ld\n%s\n",
	       count, count * rounds, 2 * count * rounds, 4 * count * rounds, count * rounds,
	       ok ? "ok" : "wrong bytes");
	return ok ? 0 : 1;
}
