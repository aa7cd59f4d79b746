/*
 * device_launch.cuh - launches from the device fail in silence; here they do not.
 *
 * A kernel that cannot launch its child learns it from the device's own cudaGetLastError, and the
 * host never hears of it: the child's work is simply missing.  So every launch from the device is
 * DEVICE_LAUNCH(kernel<<<...>>>(...)), which keeps the first error in a flag, and every check of a
 * result begins with device_launches_require(name), which ends the program with one line.
 */
#ifndef ROOFLINE_DEVICE_LAUNCH_CUH
#define ROOFLINE_DEVICE_LAUNCH_CUH

#include "cuda_check.cuh"

/* The cudaError_t of the first launch that failed; 0: none did. */
static __device__ int device_launch_error;

static __device__ __forceinline__ void device_launch_note(cudaError_t error)
{
	if (error != cudaSuccess)
		atomicCAS(&device_launch_error, 0, (int)error);
}

#define DEVICE_LAUNCH(...)                              \
	do {                                            \
		__VA_ARGS__;                            \
		device_launch_note(cudaGetLastError()); \
	} while (0)

/* Makes room for so many launches that wait for their turn; the default is room for 2048. */
static inline void device_launches_make_room(size_t launches)
{
	size_t room;

	CUDA_CHECK(cudaDeviceGetLimit(&room, cudaLimitDevRuntimePendingLaunchCount));
	if (room < launches)
		CUDA_CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, launches));
}

/* CUDA's guide names the first, older runtimes return the second. */
static inline bool device_launch_lacked_room(cudaError_t error)
{
	return error == cudaErrorLaunchOutOfResources ||
	       error == cudaErrorLaunchPendingCountExceeded;
}

/* Returns if every launch from the device up to now has worked; waits for the device. */
static inline void device_launches_require(const char *name)
{
	cudaError_t error;
	size_t room = 0;
	int code;

	CUDA_CHECK(cudaMemcpyFromSymbol(&code, device_launch_error, sizeof(code)));
	if (!code)
		return;
	error = (cudaError_t)code;
	CUDA_CHECK(cudaDeviceGetLimit(&room, cudaLimitDevRuntimePendingLaunchCount));
	if (device_launch_lacked_room(error))
		fprintf(stderr,
			"%s: more launches from the device were pending than the limit of %zu: "
			"raise cudaLimitDevRuntimePendingLaunchCount or take a smaller --size "
			"(%s)\n",
			name, room, cudaGetErrorName(error));
	else
		fprintf(stderr, "%s: a launch from the device failed: %s (%s)\n", name,
			cudaGetErrorName(error), cudaGetErrorString(error));
	exit(1);
}

#endif
