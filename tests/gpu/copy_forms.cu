/*
 * copy_forms [WAY] - copies between the host and the GPU by every function of the driver that makes one, and by the runtime, each
 * behind a late kernel in its stream and before one that changes what it brought; and what comes back.
 *
 * WAY: forms (the default), threads: at the same time; memory: pinned, registered, managed and stream-ordered memory; refused:
 * ranges beyond an allocation, and copies while a stream is captured; bad: from and to addresses that are none, each in a process of its own, of
 * which the end is printed; reset: the device is reset between copies; renewed: the memory of the host is unmapped, moved and emptied
 * between copies, and the process forks.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_check.cuh"

static const size_t sizes[] = {1000,	      (1 << 20) - 1, 1 << 20,
			       (4 << 20) + 3, 8 << 20,	     (40 << 20) + 5};
static const size_t most_bytes = (40 << 20) + 5;
constexpr int clocks = 200000;

using bytes_t = unsigned char;

/* ---- the GPU's part ---- */

/* It takes a while, so that what does not wait for it is overwritten. */
static __global__ void spoil_late(bytes_t *bytes, size_t count)
{
	long long start = clock64();

	while (clock64() - start < clocks)
		;
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += gridDim.x * blockDim.x)
		bytes[i] = 0xee;
}

static __global__ void add_one(bytes_t *bytes, size_t count)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += gridDim.x * blockDim.x)
		bytes[i]++;
}

/* ---- forms ---- */

using copy_fn = bool (*)(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes,
			 CUstream stream);

static CUdeviceptr address_of(const void *host)
{
	return reinterpret_cast<CUdeviceptr>(host);
}

static bool to_gpu(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes, CUstream)
{
	return !reinterpret_cast<CUresult (*)(CUdeviceptr, const void *, size_t)>(
		function)(gpu, host, bytes);
}

static bool to_gpu_async(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes,
			 CUstream stream)
{
	return !reinterpret_cast<CUresult (*)(CUdeviceptr, const void *, size_t, CUstream)>(
		function)(gpu, host, bytes, stream);
}

static bool to_host(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes, CUstream)
{
	return !reinterpret_cast<CUresult (*)(void *, CUdeviceptr, size_t)>(function)(host, gpu,
										      bytes);
}

static bool to_host_async(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes,
			  CUstream stream)
{
	return !reinterpret_cast<CUresult (*)(void *, CUdeviceptr, size_t, CUstream)>(
		function)(host, gpu, bytes, stream);
}

using any_fn = CUresult (*)(CUdeviceptr, CUdeviceptr, size_t);
using any_async_fn = CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream);

static bool any_to_gpu(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes, CUstream)
{
	return !reinterpret_cast<any_fn>(function)(gpu, address_of(host), bytes);
}

static bool any_to_gpu_async(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes,
			     CUstream stream)
{
	return !reinterpret_cast<any_async_fn>(function)(gpu, address_of(host), bytes, stream);
}

static bool any_to_host(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes, CUstream)
{
	return !reinterpret_cast<any_fn>(function)(address_of(host), gpu, bytes);
}

static bool any_to_host_async(void *function, CUdeviceptr gpu, bytes_t *host, size_t bytes,
			      CUstream stream)
{
	return !reinterpret_cast<any_async_fn>(function)(address_of(host), gpu, bytes, stream);
}

static bool runtime_to_gpu(void *, CUdeviceptr gpu, bytes_t *host, size_t bytes, CUstream)
{
	return !cudaMemcpy(reinterpret_cast<void *>(gpu), host, bytes, cudaMemcpyHostToDevice);
}

static bool runtime_to_gpu_async(void *, CUdeviceptr gpu, bytes_t *host, size_t bytes,
				 CUstream stream)
{
	return !cudaMemcpyAsync(reinterpret_cast<void *>(gpu), host, bytes, cudaMemcpyHostToDevice,
				stream);
}

static bool runtime_to_host(void *, CUdeviceptr gpu, bytes_t *host, size_t bytes, CUstream)
{
	return !cudaMemcpy(host, reinterpret_cast<void *>(gpu), bytes, cudaMemcpyDefault);
}

static bool runtime_to_host_async(void *, CUdeviceptr gpu, bytes_t *host, size_t bytes,
				  CUstream stream)
{
	return !cudaMemcpyAsync(host, reinterpret_cast<void *>(gpu), bytes, cudaMemcpyDeviceToHost,
				stream);
}

/* DEFAULT: in the stream that stands for none; its kernels are in a stream that waits for that. */
enum where { DEFAULT, OF_THREAD, NAMED };

static const struct form {
	const char *exported; /* by the driver; NULL: the runtime's */
	enum where where;
	copy_fn copy;
} there[] =
	{
		{"cuMemcpyHtoD_v2", DEFAULT, to_gpu},
		{"cuMemcpyHtoD_v2_ptds", OF_THREAD, to_gpu},
		{"cuMemcpyHtoDAsync_v2", NAMED, to_gpu_async},
		{"cuMemcpyHtoDAsync_v2_ptsz", NAMED, to_gpu_async},
		{"cuMemcpy", DEFAULT, any_to_gpu},
		{"cuMemcpy_ptds", OF_THREAD, any_to_gpu},
		{"cuMemcpyAsync", NAMED, any_to_gpu_async},
		{"cuMemcpyAsync_ptsz", NAMED, any_to_gpu_async},
		{nullptr, DEFAULT, runtime_to_gpu},
		{nullptr, NAMED, runtime_to_gpu_async},
},
  back[] = {
	  {"cuMemcpyDtoH_v2", DEFAULT, to_host},
	  {"cuMemcpyDtoH_v2_ptds", OF_THREAD, to_host},
	  {"cuMemcpyDtoHAsync_v2", NAMED, to_host_async},
	  {"cuMemcpyDtoHAsync_v2_ptsz", NAMED, to_host_async},
	  {"cuMemcpy", DEFAULT, any_to_host},
	  {"cuMemcpy_ptds", OF_THREAD, any_to_host},
	  {"cuMemcpyAsync", NAMED, any_to_host_async},
	  {"cuMemcpyAsync_ptsz", NAMED, any_to_host_async},
	  {nullptr, DEFAULT, runtime_to_host},
	  {nullptr, NAMED, runtime_to_host_async},
};

constexpr int forms = sizeof(there) / sizeof(there[0]);

static bool copy(const struct form &form, CUdeviceptr gpu, bytes_t *host, size_t bytes,
		 CUstream stream)
{
	static void *library = dlopen("libcuda.so.1", RTLD_NOW);
	void *function = form.exported ? dlsym(library, form.exported) : nullptr;

	if (form.exported && !function)
		return false;
	return form.copy(function, gpu, host, bytes, stream);
}

/* ---- there and back ---- */

static bytes_t expected(size_t i, int seed)
{
	return (bytes_t)(i * 7 + i / 4096 + seed);
}

static CUstream stream_of(const struct form &form, CUstream named)
{
	return form.where == OF_THREAD ? cudaStreamPerThread
	       : form.where == DEFAULT ? cudaStreamLegacy
				       : named;
}

/* The host's memory may be changed when the copy to the GPU returns, and is there when that to the host does. */
static bool is_right(const struct form &in, const struct form &out, bytes_t *gpu, bytes_t *host,
		     size_t bytes, CUstream named, int seed)
{
	CUstream first = stream_of(in, named), last = stream_of(out, named);

	for (size_t i = 0; i < bytes; i++)
		host[i] = expected(i, seed);
	CUDA_LAUNCH(spoil_late<<<32, 256, 0, first>>>(gpu, bytes));
	if (!copy(in, (CUdeviceptr)gpu, host, bytes, named))
		return false;
	memset(host, 0xdd, bytes);
	CUDA_LAUNCH(add_one<<<256, 256, 0, first>>>(gpu, bytes));
	if (first != last)
		CUDA_CHECK(cudaStreamSynchronize(first));
	if (!copy(out, (CUdeviceptr)gpu, host, bytes, named))
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (host[i] != (bytes_t)(expected(i, seed) + 1))
			return false;
	return true;
}

static void run_forms()
{
	bytes_t *gpu, *host = static_cast<bytes_t *>(malloc(most_bytes + 64));
	cudaStream_t streams[2];

	CUDA_CHECK(cudaMalloc(&gpu, most_bytes));
	CUDA_CHECK(cudaStreamCreate(&streams[0]));
	CUDA_CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
	for (size_t bytes : sizes) {
		int right = 0;

		for (int i = 0; i < forms; i++)
			for (int j = bytes > 8 << 20 ? i : 0; j < (bytes > 8 << 20 ? i + 1 : forms);
			     j++)
				right += is_right(there[i], back[j], gpu, host + (i + j) % 64,
						  bytes, streams[(i + j) % 2], i * forms + j);
		printf("right %zu %d\n", bytes, right);
	}
	CUDA_CHECK(cudaFree(gpu));
	free(host);
}

static void run_thread(int number, int *right)
{
	size_t bytes = (4 << 20) + number;
	bytes_t *gpu, *host = static_cast<bytes_t *>(malloc(bytes));
	cudaStream_t stream;

	CUDA_CHECK(cudaMalloc(&gpu, bytes));
	CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < 20; i++)
		*right += is_right(there[i % 2 ? 2 : 6], back[i % 3 ? 2 : 6], gpu, host, bytes,
				   stream, i);
	CUDA_CHECK(cudaFree(gpu));
	free(host);
}

static void run_threads()
{
	std::vector<std::thread> threads;
	int right[12] = {};

	CUDA_CHECK(cudaFree(nullptr));
	for (int i = 0; i < 12; i++)
		threads.emplace_back(run_thread, i, &right[i]);
	for (std::thread &thread : threads)
		thread.join();
	for (int i = 0; i < 12; i++)
		printf("thread %d %d\n", i, right[i]);
}

/* ---- memory that is not the program's alone, and what the driver refuses ---- */

static void run_memory()
{
	size_t bytes = (4 << 20) + 100;
	bytes_t *gpu, *ordered, *pinned, *managed,
		*registered = static_cast<bytes_t *>(aligned_alloc(4096, 8 << 20));
	cudaStream_t stream;

	CUDA_CHECK(cudaMalloc(&gpu, bytes));
	CUDA_CHECK(cudaStreamCreate(&stream));
	CUDA_CHECK(cudaMallocHost(&pinned, bytes));
	CUDA_CHECK(cudaMallocManaged(&managed, bytes));
	CUDA_CHECK(cudaHostRegister(registered, 2 << 20,
				    cudaHostRegisterDefault)); /* a part of what is copied */
	CUDA_CHECK(cudaMallocAsync(&ordered, bytes, stream));
	printf("registered %d\n", is_right(there[0], back[0], gpu, registered, bytes, stream, 1));
	printf("ordered %d\n",
	       is_right(there[2], back[2], ordered, registered + 100, bytes, stream, 2));
	printf("managed %d\n", is_right(there[4], back[4], gpu, managed, bytes, stream, 3));
	/* An asynchronous copy reads pinned memory later: it is not changed here meanwhile. */
	memset(pinned, 5, bytes);
	printf("pinned %d", copy(there[2], (CUdeviceptr)gpu, pinned, bytes, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	printf(" %d", copy(back[0], (CUdeviceptr)gpu, registered, bytes, stream));
	printf(" %d\n", registered[bytes - 1]);
	CUDA_CHECK(cudaHostUnregister(registered));
	printf("unregistered %d\n", is_right(there[2], back[2], gpu, registered, bytes, stream, 4));
}

static void run_refused()
{
	size_t bytes = 4 << 20;
	bytes_t *gpu, *host = static_cast<bytes_t *>(malloc(2 * bytes));
	cudaStream_t stream;
	cudaGraph_t graph = nullptr;

	CUDA_CHECK(cudaMalloc(&gpu, bytes));
	CUDA_CHECK(cudaStreamCreate(&stream));
	for (int i = 0; i < 4; i++) /* the others take an address that is unknown for the host's */
		printf("beyond %d %d\n", copy(there[i], (CUdeviceptr)gpu, host, 2 * bytes, stream),
		       copy(back[i], (CUdeviceptr)gpu + (1ull << 46), host, bytes, stream));
	(void)cudaGetLastError();
	printf("whole %d\n", is_right(there[2], back[2], gpu, host, bytes, stream, 1));
	CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	printf("captured %d\n", copy(there[2], (CUdeviceptr)gpu, host, bytes, stream));
	printf("beside %d\n", copy(there[1], (CUdeviceptr)gpu, host, bytes, nullptr));
	(void)CUDA_TRY(cudaStreamEndCapture(stream, &graph));
	printf("behind %d\n", is_right(there[2], back[2], gpu, host, bytes, stream, 2));
}

static void copy_bad(int kind)
{
	size_t bytes = 4 << 20;
	bytes_t *gpu,
		*host = static_cast<bytes_t *>(mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE,
						    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	CUDA_CHECK(cudaMalloc(&gpu, bytes));
	for (int i = 0; i < 20; i++) /* so that it is worth something */
		CUDA_CHECK(cudaMemcpy(gpu, host, bytes, cudaMemcpyHostToDevice));
	mprotect(host + bytes + bytes / 2, 4096, PROT_NONE);
	if (kind == 0)
		printf("none %d\n", copy(there[0], (CUdeviceptr)gpu, nullptr, bytes, nullptr));
	if (kind == 1)
		printf("hole %d\n", copy(there[2], (CUdeviceptr)gpu, host + bytes, bytes, nullptr));
	if (kind == 2)
		printf("hole to the host %d\n",
		       copy(back[0], (CUdeviceptr)gpu, host + bytes, bytes, nullptr));
	if (kind == 3)
		printf("end %d\n",
		       copy(there[0], (CUdeviceptr)gpu, host + bytes / 2 + 4096, bytes, nullptr));
}

static void run_bad()
{
	for (int kind = 0; kind < 4; kind++) {
		int status = 0;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			copy_bad(kind);
			exit(0);
		}
		waitpid(child, &status, 0);
		printf("bad %d: exit code %d, signal %d\n", kind, WEXITSTATUS(status),
		       WTERMSIG(status));
	}
}

/* Memory that was copied again and again is unmapped, mapped anew at the same address, moved and emptied, as a program may do. */
static bytes_t *renew(bytes_t *host, size_t bytes, int way)
{
	void *wanted = host;

	if (way == 0) {
		munmap(host, bytes);
		return static_cast<bytes_t *>(mmap(wanted, bytes, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	}
	if (way == 1) /* a page in the middle alone */
		mmap(host + bytes / 2, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (way == 2)
		madvise(host, bytes, MADV_DONTNEED);
	if (way == 3) {
		void *moved =
			mremap(host, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
			       mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		     -1, 0);
		munmap(moved, bytes);
	}
	return host;
}

static void run_renewed()
{
	size_t bytes = 8 << 20;
	bytes_t *gpu, *host = static_cast<bytes_t *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	cudaStream_t stream;

	CUDA_CHECK(cudaMalloc(&gpu, bytes));
	CUDA_CHECK(cudaStreamCreate(&stream));
	for (int way = 0; way < 6; way++) {
		int right = 0;

		for (int i = 0; i < 40; i++) {
			bytes_t *own = way == 5 ? static_cast<bytes_t *>(malloc(bytes)) : host;

			for (int j = 0; j < 2; j++)
				right += is_right(there[(i + j) % forms], back[i % forms], gpu, own,
						  bytes, stream, i + j);
			if (way == 5)
				free(own);
			else if (way < 4)
				host = renew(host, bytes, way);
			else if (fork() == 0)
				_exit(0);
		}
		printf("renewed %d %d\n", way, right);
	}
	while (wait(nullptr) > 0)
		;
	CUDA_CHECK(cudaFree(gpu));
}

static void run_reset()
{
	run_forms();
	CUDA_CHECK(cudaDeviceReset());
	run_threads();
	CUDA_CHECK(cudaDeviceReset());
	run_memory();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} ways[] = {{"forms", run_forms},     {"threads", run_threads}, {"memory", run_memory},
		    {"refused", run_refused}, {"bad", run_bad},		{"reset", run_reset},
		    {"renewed", run_renewed}};
	const char *way = argc > 1 ? argv[1] : "forms";

	for (const auto &one : ways)
		if (!strcmp(one.name, way)) {
			one.run();
			return 0;
		}
	return 2;
}
