/* pending_launches: one thread launches many children that all have to wait until it has ended.
 * pending_launches [--children N] [--room N]
 * Prints how many children ran; ends with 1 and one line when there was no room for all. */
#include "device_launch.cuh"
#include "trial.cuh"

static __global__ void parent_kernel(unsigned long long *counter, long children)
{
	for (long child = 0; child < children; child++)
		DEVICE_LAUNCH(count_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(counter));
}

int main(int argc, char **argv)
{
	long children = 1000, room = 0;
	unsigned long long *counter, counted;

	trial_parse(argc, argv, {{"children", &children}, {"room", &room}});
	device_launches_make_room(room);
	CUDA_CHECK(cudaMalloc(&counter, sizeof(*counter)));
	CUDA_CHECK(cudaMemset(counter, 0, sizeof(*counter)));
	CUDA_LAUNCH(parent_kernel<<<1, 1>>>(counter, children));
	CUDA_CHECK(cudaDeviceSynchronize());
	device_launches_require("pending_launches");
	CUDA_CHECK(cudaMemcpy(&counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
	printf("children %llu\n", counted);
	return counted == (unsigned long long)children ? 0 : 1;
}
