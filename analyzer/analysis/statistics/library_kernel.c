#include "analysis/statistics/library_kernel.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* NVSHMEM's collectives: barrier_on_stream_kernel. */
#define ON_STREAM "_on_stream_kernel"

/*
 * What only names of that library have, and the first row that is found decides: cuBLAS and cuDNN contain kernels of
 * CUTLASS, and PyTorch has namespaces within the template arguments of others.  From the kernels that an H200 ran for
 * PyTorch 2, cuBLAS 13, cuDNN 9 and NCCL 2, and from the namespaces of the libraries that are headers.
 */
static const struct {
	const char *part, *library;
} parts[] = {
	{"ncclDevKernel", "NCCL"},
	{"ncclKernel", "NCCL"},
	{"ncclSymDevKernel", "NCCL"},  /* of symmetric memory: NCCL 2.27 */
	{"ncclSymkDevKernel", "NCCL"}, /* and newer */
	{"nvshmemi_", "NVSHMEM"},
	{ON_STREAM, "NVSHMEM"},
	{"cudnn", "cuDNN"},
	{"cublas", "cuBLAS"},
	{"nvjet_", "cuBLAS"},
	{"xmma_gemm", "cuBLAS"},
	{"sgemm_largek", "cuBLAS"},
	{"ampere_sgemm_", "cuBLAS"},
	{"volta_sgemm_", "cuBLAS"},
	{"gemv2T_kernel", "cuBLAS"},
	{"gemvNSP_kernel", "cuBLAS"},
	{"cusparse", "cuSPARSE"},
	{"cusolver", "cuSOLVER"},
	{"regular_fft", "cuFFT"},
	{"vector_fft", "cuFFT"},
	{"at::native", "PyTorch"},
	{"at::cuda", "PyTorch"},
	{"pytorch_flash", "PyTorch"},
	{"softmax_warp_forward", "PyTorch"},
	{"softmax_warp_backward", "PyTorch"},
	{"flash_fwd_", "FlashAttention"},
	{"flash_bwd_", "FlashAttention"},
	{"cutlass", "CUTLASS"},
	{"thrust::", "Thrust"},
	{"cub::", "CUB"},
};

/*
 * Kernels that PyTorch launches for an operation on each element.  A thread of the last one takes as many elements as its second
 * template argument says; one of the others 4 to 16, depending on version and types.
 */
static const struct {
	const char *name;
	uint32_t least, most; /* elements per thread; 0: in the name */
} elementwise[] = {
	{"at::native::vectorized_elementwise_kernel", 4, 16},
	{"at::native::unrolled_elementwise_kernel", 4, 16},
	{"at::native::elementwise_kernel", 0, 0},
};

/* A kernel of one's own has its name before the first parenthesis and may take arguments of a library: these do not
 * count.  "(anonymous namespace)" is a part of a name. */
static size_t name_length(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *end = name;

	while (*end && (*end != '(' || !strncmp(end, anonymous, sizeof(anonymous) - 1)))
		end++;
	return (size_t)(end - name);
}

const char *library_kernel_of(const char *name)
{
	size_t length = name_length(name);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *found = strstr(name, parts[i].part);

		if (found && found < name + length)
			return parts[i].library;
	}
	return NULL;
}

static bool is_of(const char *name, const char *library)
{
	const char *found = library_kernel_of(name);

	return found && !strcmp(found, library);
}

/* NVSHMEM fills arrays of its own at start-up: nvshmemi_init_array_kernel<long>. */
static bool is_start_up(const char *name)
{
	const char *found = strstr(name, "nvshmemi_init_");

	return found && found < name + name_length(name);
}

bool library_kernel_is_between_gpus(const char *name)
{
	return is_of(name, "NCCL") || is_of(name, "NVSHMEM");
}

bool library_kernel_communicates(const char *name)
{
	return library_kernel_is_between_gpus(name) && !is_start_up(name);
}

bool library_kernel_is_collective(const char *name)
{
	static const char *const of_two_ranks[] = {"SendRecv", "signal", "_wait"};

	for (size_t i = 0; i < sizeof(of_two_ranks) / sizeof(of_two_ranks[0]); i++)
		if (strstr(name, of_two_ranks[i]))
			return false;
	return is_of(name, "NCCL") || (is_of(name, "NVSHMEM") && strstr(name, ON_STREAM));
}

/* Parts of names of products in FP32 by FMA, from what an H200 ran for PyTorch 2, JAX, cuBLAS 13 and cuDNN 9: xmma names the
 * types of both inputs, of the sums and of the result. */
static const char *const fp32_products[] = {"sgemm", "scudnn_", "f32f32_f32f32_f32"};

/* Parts of names that have one of those, too: inputs of 16 bits, and Winograd's algorithm. */
static const char *const other_products[] = {"fp16", "winograd"};

static bool has_part(const char *name, const char *const *these, size_t count)
{
	size_t length = name_length(name);

	for (size_t i = 0; i < count; i++) {
		const char *found = strstr(name, these[i]);

		if (found && found < name + length)
			return true;
	}
	return false;
}

bool library_kernel_is_fp32_product(const char *name)
{
	return library_kernel_of(name) &&
	       has_part(name, fp32_products, sizeof(fp32_products) / sizeof(fp32_products[0])) &&
	       !has_part(name, other_products, sizeof(other_products) / sizeof(other_products[0]));
}

/* At the beginning, behind what it returns. */
static bool begins_with(const char *name, const char *part)
{
	name += strncmp(name, "void ", 5) ? 0 : 5;
	return !strncmp(name, part, strlen(part));
}

/* CuPy puts the types behind the name of a ufunc: cupy_exp__float32_float32.  Its reductions have no types there. */
static bool is_ufunc(const char *name)
{
	return (!strncmp(name, "cupy_", 5) || !strncmp(name, "cupyx_", 6)) && strstr(name, "__");
}

bool library_kernel_elements(const char *name, uint32_t *least, uint32_t *most)
{
	const char *comma = strchr(name, ',');

	*least = *most = 1;
	for (size_t i = 0; i < sizeof(elementwise) / sizeof(elementwise[0]); i++) {
		if (!begins_with(name, elementwise[i].name))
			continue;
		*least = elementwise[i].least;
		*most = elementwise[i].most;
		if (!*least)
			*least = *most = comma ? (uint32_t)strtoul(comma + 1, NULL, 10) : 1;
		return true;
	}
	return is_ufunc(name);
}

bool library_kernel_is_elementwise(const char *name)
{
	uint32_t least, most;

	return library_kernel_elements(name, &least, &most);
}

bool library_kernel_is_reduction(const char *name)
{
	return begins_with(name, "at::native::reduce_kernel");
}
