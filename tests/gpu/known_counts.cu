/* known_counts: kernels whose counts are known beforehand, for the test of the counters.
 * known_counts [--count N]
 * Launches each kernel N times (default 8), one after the other, and prints what a counter has to
 * read for one launch of it, as CSV: kernel,metric,expected.
 *
 * Where the figures come from:
 *   fp*_instructions   thread instructions: threads x 256, written as volatile assembly, which the
 *                      compiler keeps as it stands (seen with cuobjdump -sass: 16 in a loop of 16,
 *                      and no other of these in the kernel).  fp16_fma works on two values at
 *                      a time, fp16_add and fp16_mul on one.
 *   dram_*_bytes       every byte of the buffer once, in order; the buffer is four times the L2, so
 *                      that little of it is left from one launch to the next.  What a launch leaves
 *                      in the L2 the next one of the same kernel writes back, so launches that
 *                      follow a first one agree; prime_kernel is that first one and is not listed.
 *   l1_bytes           global loads and stores: the same bytes, once each, in whole sectors
 *   shared_bytes       32 lanes x 4 bytes of neighboring words: no bank conflict, 128 bytes a warp
 *                      instruction
 *   *_atom, *_red      warp instructions: one for each warp and atomic of the source (ATOMG, REDG,
 *                      ATOMS), with neighboring words as addresses so that nvcc merges nothing
 *   l2_*_requests      requests that reach the L2: one for each line of 128 bytes that a warp
 *                      touches, so with neighboring words one a warp instruction; at one address
 *                      one a thread, for the lanes of a warp are then sent one by one */
#include <cstdint>
#include <cstring>
#include <string>

#include "hot_address.cuh"
#include "trial.cuh"

static const int block_size = 256;
static const int warp_size = 32;
static const int math_blocks = 1056; /* eight for each SM of an H200 */
static const long math_threads = (long)math_blocks * block_size;
static const int loops = 16, unrolled = 16; /* 256 instructions a thread */
static const long per_thread = loops * unrolled;

/* ---- arithmetic ---- */

/* Where a thread writes its result.  The distance comes as an argument: ptxas likes to set
 * registers to constants with an HFMA2, which would be one too many where those are counted. */
template <class T> static __device__ T *result_of_thread(T *result, unsigned bytes_apart)
{
	uint64_t i = blockIdx.x * blockDim.x + threadIdx.x;

	return (T *)((char *)result + i * bytes_apart);
}

/* name_kernel: each thread runs an instruction rounds x unrolled times, x = x OP operands.
 * Registers of kind (f, d, r, h) hold a value of type.  All comes as arguments, as said above. */
#define MATH_KERNEL(name, type, kind, instruction)                                          \
	extern "C" __global__ void name##_kernel(type *result, type a, type b, int rounds,  \
						 unsigned bytes_apart)                      \
	{                                                                                   \
		type x = a;                                                                 \
                                                                                            \
		_Pragma("unroll 1") for (int left = rounds; left > 0; left--)               \
		{                                                                           \
			_Pragma("unroll") for (int i = 0; i < unrolled; i++)                \
			{                                                                   \
				asm volatile(instruction : "+" kind(x) : kind(a), kind(b)); \
			}                                                                   \
		}                                                                           \
		*result_of_thread(result, bytes_apart) = x;                                 \
	}

MATH_KERNEL(fp64_add, double, "d", "add.rn.f64 %0, %0, %1;")
MATH_KERNEL(fp64_mul, double, "d", "mul.rn.f64 %0, %0, %1;")
MATH_KERNEL(fp64_fma, double, "d", "fma.rn.f64 %0, %0, %1, %2;")
MATH_KERNEL(fp32_add, float, "f", "add.rn.f32 %0, %0, %1;")
MATH_KERNEL(fp32_mul, float, "f", "mul.rn.f32 %0, %0, %1;")
MATH_KERNEL(fp32_fma, float, "f", "fma.rn.f32 %0, %0, %1, %2;")
/* One value an instruction: of add.f16x2 and mul.f16x2 ptxas makes every other one an HFMA2. */
MATH_KERNEL(fp16_add, uint16_t, "h", "add.rn.f16 %0, %0, %1;")
MATH_KERNEL(fp16_mul, uint16_t, "h", "mul.rn.f16 %0, %0, %1;")
MATH_KERNEL(fp16_fma, uint32_t, "r", "fma.rn.f16x2 %0, %0, %1, %2;")

/* ---- memory ---- */

/* Reads the buffer.  The sum is written only if it is a value that zeros do not add up to. */
extern "C" __global__ void read_kernel(const uint4 *buffer, uint32_t *result)
{
	uint4 x = buffer[(long)blockIdx.x * blockDim.x + threadIdx.x];

	if ((x.x ^ x.y ^ x.z ^ x.w) == 0x5eed)
		*result = x.x;
}

extern "C" __global__ void write_kernel(uint4 *buffer)
{
	buffer[(long)blockIdx.x * blockDim.x + threadIdx.x] = make_uint4(0, 0, 0, 0);
}

extern "C" __global__ void prime_kernel(uint4 *buffer)
{
	buffer[(long)blockIdx.x * blockDim.x + threadIdx.x] = make_uint4(0, 0, 0, 0);
}

extern "C" __global__ void copy_kernel(uint4 *to, const uint4 *from)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[i];
}

/* 256 loads and 256 stores of one word a thread, each thread at its own. */
extern "C" __global__ void shared_kernel(uint32_t *result)
{
	__shared__ uint32_t word[block_size];
	uint32_t address = __cvta_generic_to_shared(&word[threadIdx.x]), x = threadIdx.x;

#pragma unroll 1
	for (int loop = 0; loop < loops; loop++) {
#pragma unroll
		for (int i = 0; i < unrolled; i++) {
			asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(x)
				     : "memory");
			asm volatile("ld.volatile.shared.u32 %0, [%1];"
				     : "=r"(x)
				     : "r"(address)
				     : "memory");
		}
	}
	result[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/* ---- atomics ---- */

extern "C" __global__ void red_kernel(uint32_t *word)
{
	reduce_add(&word[blockIdx.x * blockDim.x + threadIdx.x], 1);
}

extern "C" __global__ void atom_kernel(uint32_t *word, uint32_t *result)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	result[i] = atomicAdd(&word[i], 1);
}

extern "C" __global__ void cas_kernel(uint32_t *word, uint32_t *result)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	result[i] = atomicCAS(&word[i], 0, 1);
}

extern "C" __global__ void red_one_address_kernel(uint32_t *word, int shift)
{
	reduce_add(hot_address(word, shift), 1);
}

extern "C" __global__ void atom_one_address_kernel(uint32_t *word, uint32_t *result, int shift)
{
	result[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(hot_address(word, shift), 1);
}

extern "C" __global__ void shared_atom_kernel(uint32_t *result)
{
	__shared__ uint32_t word[block_size];
	uint32_t address = __cvta_generic_to_shared(&word[threadIdx.x]), before, sum = 0;

	word[threadIdx.x] = 0;
#pragma unroll 1
	for (int loop = 0; loop < loops; loop++) {
#pragma unroll
		for (int i = 0; i < unrolled; i++) {
			asm volatile("atom.shared.add.u32 %0, [%1], %2;"
				     : "=r"(before)
				     : "r"(address), "r"(loop)
				     : "memory");
			sum += before;
		}
	}
	result[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* ---- launches and what to expect of them ---- */

static void expect(const char *kernel, const char *metric, long expected)
{
	printf("%s,%s,%ld\n", kernel, metric, expected);
}

/* A kernel of one sort of arithmetic: its count, and 0 for every other. */
static void expect_math(const char *sort)
{
	static const char *const sorts[] = {"fp64_add", "fp64_mul", "fp64_fma",
					    "fp32_add", "fp32_mul", "fp32_fma",
					    "fp16_add", "fp16_mul", "fp16_fma"};
	std::string kernel = std::string(sort) + "_kernel";

	for (const char *other : sorts)
		expect(kernel.c_str(), (std::string(other) + "_instructions").c_str(),
		       strcmp(sort, other) ? 0 : math_threads * per_thread);
}

template <class T>
static void run_math(long count, const char *sort, void (*kernel)(T *, T, T, int, unsigned), T a,
		     T b)
{
	T *result;

	CUDA_CHECK(cudaMalloc(&result, math_threads * sizeof(T)));
	for (long i = 0; i < count; i++)
		CUDA_LAUNCH(kernel<<<math_blocks, block_size>>>(result, a, b, loops, sizeof(T)));
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaFree(result));
	expect_math(sort);
}

static void run_all_math(long count)
{
	const uint16_t half_one = 0x3c00;      /* 1.0 */
	const uint32_t half_ones = 0x3c003c00; /* two of them */

	run_math(count, "fp64_add", fp64_add_kernel, 1.0, 1.0);
	run_math(count, "fp64_mul", fp64_mul_kernel, 1.0, 1.0);
	run_math(count, "fp64_fma", fp64_fma_kernel, 1.0, 1.0);
	run_math(count, "fp32_add", fp32_add_kernel, 1.0f, 1.0f);
	run_math(count, "fp32_mul", fp32_mul_kernel, 1.0f, 1.0f);
	run_math(count, "fp32_fma", fp32_fma_kernel, 1.0f, 1.0f);
	run_math(count, "fp16_add", fp16_add_kernel, half_one, half_one);
	run_math(count, "fp16_mul", fp16_mul_kernel, half_one, half_one);
	run_math(count, "fp16_fma", fp16_fma_kernel, half_ones, half_ones);
}

/* Bytes of a buffer of four times the L2, in whole blocks of 16 bytes a thread. */
static long buffer_bytes()
{
	const long bytes_per_block = block_size * sizeof(uint4);
	int l2_bytes;

	CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
	return (4l * l2_bytes + bytes_per_block - 1) / bytes_per_block * bytes_per_block;
}

static void expect_memory(const char *kernel, long read_bytes, long written_bytes)
{
	if (read_bytes)
		expect(kernel, "dram_read_bytes", read_bytes);
	if (written_bytes)
		expect(kernel, "dram_write_bytes", written_bytes);
	expect(kernel, "l1_bytes", read_bytes + written_bytes);
}

static void run_memory(long count)
{
	long bytes = buffer_bytes(), blocks = bytes / (block_size * (long)sizeof(uint4));
	uint4 *from, *to;
	uint32_t *result;

	CUDA_CHECK(cudaMalloc(&from, bytes));
	CUDA_CHECK(cudaMalloc(&to, bytes));
	CUDA_CHECK(cudaMalloc(&result, sizeof(*result)));
	CUDA_LAUNCH(prime_kernel<<<blocks, block_size>>>(from));
	CUDA_LAUNCH(prime_kernel<<<blocks, block_size>>>(to));
	for (long i = 0; i < count; i++)
		CUDA_LAUNCH(write_kernel<<<blocks, block_size>>>(to));
	for (long i = 0; i < count; i++)
		CUDA_LAUNCH(copy_kernel<<<blocks, block_size>>>(to, from));
	for (long i = 0; i < count; i++)
		CUDA_LAUNCH(read_kernel<<<blocks, block_size>>>(from, result));
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaFree(from));
	CUDA_CHECK(cudaFree(to));
	CUDA_CHECK(cudaFree(result));
	expect_memory("write_kernel", 0, bytes);
	expect_memory("copy_kernel", bytes, bytes);
	expect_memory("read_kernel", bytes, 0);
}

/* The atomic unit takes a 32-byte sector a cycle, and one address as often as it is hit.  Requests are
 * not expected: on a GPU whose L2 has two halves some pass both, and are counted twice. */
static void expect_atomics()
{
	const long warps = math_threads / warp_size;
	const long sectors = math_threads * (long)sizeof(uint32_t) / 32;

	expect("red_kernel", "global_red_instructions", warps);
	expect("red_kernel", "global_atom_instructions", 0);
	expect("red_kernel", "atomic_unit_cycles", sectors);
	for (const char *kernel : {"atom_kernel", "cas_kernel"}) {
		expect(kernel, "global_atom_instructions", warps);
		expect(kernel, "global_red_instructions", 0);
		expect(kernel, "atomic_unit_cycles", sectors);
	}
	expect("red_one_address_kernel", "global_red_instructions", warps);
	expect("red_one_address_kernel", "atomic_unit_cycles", math_threads);
	expect("atom_one_address_kernel", "global_atom_instructions", warps);
	expect("atom_one_address_kernel", "atomic_unit_cycles", math_threads);
	expect("shared_atom_kernel", "shared_atom_instructions", warps * per_thread);
	expect("shared_atom_kernel", "global_atom_instructions", 0);
	expect("shared_kernel", "shared_bytes", 2 * math_threads * per_thread * 4);
}

static void run_atomics_and_shared(long count)
{
	uint32_t *word, *result;

	CUDA_CHECK(cudaMalloc(&word, math_threads * sizeof(*word)));
	CUDA_CHECK(cudaMalloc(&result, math_threads * sizeof(*result)));
	CUDA_CHECK(cudaMemset(word, 0, math_threads * sizeof(*word)));
	for (long i = 0; i < count; i++) {
		CUDA_LAUNCH(red_kernel<<<math_blocks, block_size>>>(word));
		CUDA_LAUNCH(atom_kernel<<<math_blocks, block_size>>>(word, result));
		CUDA_LAUNCH(cas_kernel<<<math_blocks, block_size>>>(word, result));
		CUDA_LAUNCH(
			red_one_address_kernel<<<math_blocks, block_size>>>(word, hidden_shift));
		CUDA_LAUNCH(atom_one_address_kernel<<<math_blocks, block_size>>>(word, result,
										 hidden_shift));
		CUDA_LAUNCH(shared_atom_kernel<<<math_blocks, block_size>>>(result));
		CUDA_LAUNCH(shared_kernel<<<math_blocks, block_size>>>(result));
	}
	CUDA_CHECK(cudaDeviceSynchronize());
	CUDA_CHECK(cudaFree(word));
	CUDA_CHECK(cudaFree(result));
	expect_atomics();
}

int main(int argc, char **argv)
{
	long count = 8;

	trial_parse(argc, argv, {{"count", &count}});
	puts("kernel,metric,expected");
	run_all_math(count);
	run_memory(count);
	run_atomics_and_shared(count);
	return 0;
}
