/*
 * cuda_check.cuh - the one place where a CUDA error becomes a message.
 *
 * CUDA_CHECK(call) runs a CUDA call, CUDA_LAUNCH(kernel<<<...>>>(...)) a kernel launch.  On an
 * error both name the call, the file, the line and the CUDA error, and end the program with 1.
 * CUDA_TRY(call) is for a call that CUDA may refuse and a program that knows what to do then: it is
 * the error, which CUDA has forgotten afterwards.
 * All three count: host_call_count is how often this thread has spoken to CUDA.
 *
 * A program that can go on without the memory it asked for sets cuda_throws_out_of_memory: then
 * that one error is thrown, as struct cuda_out_of_memory.
 */
#ifndef ROOFLINE_CUDA_CHECK_CUH
#define ROOFLINE_CUDA_CHECK_CUH

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

/* One each in a program, which may be of several .cu files. */
inline thread_local long host_call_count;
inline bool cuda_throws_out_of_memory;

struct cuda_out_of_memory {
	const char *call; /* as it stands in the source */
};

static inline void cuda_check(cudaError_t error, const char *call, const char *file, int line)
{
	host_call_count++;
	if (error == cudaSuccess)
		return;
	if (error == cudaErrorMemoryAllocation && cuda_throws_out_of_memory) {
		cudaGetLastError();
		throw cuda_out_of_memory{call};
	}
	fprintf(stderr, "%s:%d: %s failed: %s (%s)\n", file, line, call, cudaGetErrorName(error),
		cudaGetErrorString(error));
	exit(1);
}

/* What a refused call leaves behind would surface at the next CUDA_LAUNCH. */
static inline cudaError_t cuda_try(cudaError_t error)
{
	host_call_count++;
	if (error != cudaSuccess)
		cudaGetLastError();
	return error;
}

#define CUDA_TRY(...) cuda_try((__VA_ARGS__))

#define CUDA_CHECK(...) cuda_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CUDA_LAUNCH(...)                                                          \
	do {                                                                      \
		__VA_ARGS__;                                                      \
		cuda_check(cudaGetLastError(), #__VA_ARGS__, __FILE__, __LINE__); \
	} while (0)

#endif
