/*
 * jit_ptx (F2): a control.  An elementwise kernel from PTX that the program writes itself.
 *
 * y = e^x over n values, four a thread.  The kernel of nvcc and the generated one do the same, so they give
 * the same bits in the same time, which is that of the memory: 8 n bytes.  What differs is who compiles
 * the PTX, and when: nvcc, the driver when it loads it, or nvJitLink.
 *
 * ex2.approx is 2^x: e^x is 2^(x log2 e), as __expf of CUDA has it.
 */
#include <cmath>
#include <string>

#include "module.cuh"
#include "nvjitlink.cuh"
#include "workload.cuh"

static const int block_size = 256;
static const int pattern = 4096; /* different values of x */

struct problem {
	long size;
	float *x, *y;
	int architecture;	     /* 90 for 9.0 */
	std::vector<uint32_t> twins; /* what nvcc's kernel makes of each value of x, as bits */
	loaded_kernel kernel;	     /* of the variant under way */
};

/* Multiples of 1 / 512 from -4 to 4. */
static __host__ __device__ float x_at(long i)
{
	return (i % pattern - pattern / 2) / 512.0f;
}

static __device__ float4 exponential4(float4 x)
{
	return {__expf(x.x), __expf(x.y), __expf(x.z), __expf(x.w)};
}

static __global__ void exponential_kernel(float *y, const float *x, long size)
{
	long i = 4 * ((long)blockIdx.x * blockDim.x + threadIdx.x);

	if (i + 4 <= size) {
		*(float4 *)(y + i) = exponential4(*(const float4 *)(x + i));
		return;
	}
#pragma unroll 1 /* at most one thread comes here */
	for (; i < size; i++)
		y[i] = __expf(x[i]);
}

/* ---- the same as text ---- */

/* What is done to one value: PTX that makes `out` of `in`, both registers, and may use %t. */
typedef std::string (*operation)(const std::string &out, const std::string &in);

static const char ptx_head[] = ".version 7.0\n"
			       ".target sm_80\n"
			       ".address_size 64\n"
			       ".visible .entry ";

/* %d2 is how many values there are, %d3 the thread's first one, %d0 and %d1 its addresses in y and x. */
static const char ptx_begin[] = "(.param .u64 y, .param .u64 x, .param .u64 size)\n"
				"{\n"
				"	.reg .pred %p;\n"
				"	.reg .f32 %x<4>, %y<4>, %t;\n"
				"	.reg .b32 %r<3>;\n"
				"	.reg .b64 %d<6>;\n"
				"	ld.param.u64 %d0, [y];\n"
				"	ld.param.u64 %d1, [x];\n"
				"	ld.param.u64 %d2, [size];\n"
				"	cvta.to.global.u64 %d0, %d0;\n"
				"	cvta.to.global.u64 %d1, %d1;\n"
				"	mov.u32 %r0, %ctaid.x;\n"
				"	mov.u32 %r1, %ntid.x;\n"
				"	mov.u32 %r2, %tid.x;\n"
				"	cvt.u64.u32 %d3, %r2;\n"
				"	mul.wide.u32 %d4, %r0, %r1;\n"
				"	add.s64 %d3, %d4, %d3;\n"
				"	shl.b64 %d3, %d3, 2;\n"
				"	shl.b64 %d4, %d3, 2;\n"
				"	add.s64 %d0, %d0, %d4;\n"
				"	add.s64 %d1, %d1, %d4;\n"
				"	setp.ge.s64 %p, %d3, %d2;\n"
				"	@%p bra done;\n"
				"	add.s64 %d5, %d3, 4;\n"
				"	setp.gt.s64 %p, %d5, %d2;\n"
				"	@%p bra one;\n"
				"	ld.global.v4.f32 {%x0, %x1, %x2, %x3}, [%d1];\n";

/* Of the last ones that are no four, one at a time. */
static const char ptx_one[] = "	st.global.v4.f32 [%d0], {%y0, %y1, %y2, %y3};\n"
			      "	bra done;\n"
			      "one:\n"
			      "	ld.global.f32 %x0, [%d1];\n";

static const char ptx_end[] = "	st.global.f32 [%d0], %y0;\n"
			      "	add.s64 %d0, %d0, 4;\n"
			      "	add.s64 %d1, %d1, 4;\n"
			      "	add.s64 %d3, %d3, 1;\n"
			      "	setp.lt.s64 %p, %d3, %d2;\n"
			      "	@%p bra one;\n"
			      "done:\n"
			      "	ret;\n"
			      "}\n";

/* A kernel that stores in y what the operation makes of x. */
static std::string elementwise_ptx(const std::string &name, operation operate)
{
	std::string ptx = ptx_head + name + ptx_begin;

	for (int i = 0; i < 4; i++)
		ptx += operate("%y" + std::to_string(i), "%x" + std::to_string(i));
	return ptx + ptx_one + operate("%y0", "%x0") + ptx_end;
}

/* A float as PTX has it, by its bits. */
static std::string constant(float value)
{
	uint32_t bits;
	char text[16];

	memcpy(&bits, &value, sizeof(bits));
	snprintf(text, sizeof(text), "0f%08X", bits);
	return text;
}

static std::string exponential(const std::string &out, const std::string &in)
{
	const std::string log2_e = constant(1.44269504f);

	return "	mul.f32 %t, " + in + ", " + log2_e + ";\n	ex2.approx.f32 " + out +
	       ", %t;\n";
}

static std::string exponential_ptx()
{
	return elementwise_ptx("exponential", exponential);
}

/* ---- variants ---- */

static unsigned blocks(long size)
{
	return (size + 4 * block_size - 1) / (4 * block_size);
}

static loaded_kernel require_kernel(const void *image)
{
	std::string problem;
	loaded_kernel kernel = module_load(image, "exponential", &problem);

	if (kernel.function)
		return kernel;
	fprintf(stderr, "jit_ptx: the driver does not load what was generated: %s\n",
		problem.c_str());
	exit(1);
}

static void launch(problem &p)
{
	void *arguments[] = {&p.y, &p.x, &p.size};

	module_launch(p.kernel, dim3(blocks(p.size)), dim3(block_size), arguments);
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		CUDA_LAUNCH(exponential_kernel<<<blocks(p.size), block_size>>>(p.y, p.x, p.size));
}

static void setup_ptx(problem &p)
{
	p.kernel = require_kernel(exponential_ptx().c_str());
}

static void run_loaded(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		launch(p);
}

static void teardown(problem &p)
{
	module_unload(p.kernel);
	p.kernel = {};
}

/* The mistake: the PTX is given to the driver for each launch. */
static void run_each_time(problem &p, int iterations)
{
	const std::string ptx = exponential_ptx();

	for (int i = 0; i < iterations; i++) {
		p.kernel = require_kernel(ptx.c_str());
		launch(p);
		CUDA_CHECK(cudaDeviceSynchronize()); /* nobody may run what is unloaded */
		module_unload(p.kernel);
	}
	p.kernel = {};
}

#if ROOFLINE_HAS_NVJITLINK

static void setup_linked(problem &p)
{
	p.kernel = require_kernel(nvjitlink_link(exponential_ptx(), p.architecture).data());
}

static const char *why_no_nvjitlink(problem &)
{
	return nvjitlink_why_missing();
}

#endif

/* ---- the problem ---- */

static __global__ void fill_kernel(float *x, long size)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		x[i] = x_at(i);
}

/* What nvcc's kernel makes of each value of x, which every variant must meet to the last bit. */
static std::vector<uint32_t> twins_of_pattern()
{
	std::vector<uint32_t> twins(pattern);
	float *x = device_array<float>(pattern), *y = device_array<float>(pattern);

	CUDA_LAUNCH(fill_kernel<<<pattern / 256, 256>>>(x, pattern));
	CUDA_LAUNCH(exponential_kernel<<<blocks(pattern), block_size>>>(y, x, pattern));
	CUDA_CHECK(cudaMemcpy(twins.data(), y, pattern * sizeof(*y), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaFree(x));
	CUDA_CHECK(cudaFree(y));
	return twins;
}

static int current_architecture()
{
	cudaDeviceProp properties;
	int device;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
	return 10 * properties.major + properties.minor;
}

static void prepare(problem &p, long size, int)
{
	p.size = size;
	p.x = device_array<float>(size);
	p.y = device_array<float>(size);
	p.architecture = current_architecture();
	CUDA_LAUNCH(fill_kernel<<<(size + 255) / 256, 256>>>(p.x, size));
	p.twins = twins_of_pattern();
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	CUDA_CHECK(cudaMemset(p.y, 0xff, p.size * sizeof(*p.y)));
}

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* The bits of the twin, where that is within 1e-6 of e^x by the host, else those of the host's. */
static uint32_t expected_bits(const problem &p, long i)
{
	float reference = std::exp(x_at(i)), twin;

	memcpy(&twin, &p.twins[i % pattern], sizeof(twin));
	return bits_of(std::fabs(twin - reference) <= 1e-6f * reference ? twin : reference);
}

static struct difference check(const problem &p)
{
	std::vector<uint32_t> expected(pattern);

	for (int i = 0; i < pattern; i++)
		expected[i] = expected_bits(p, i);
	return compare_each((const uint32_t *)p.y, p.size,
			    [&expected](long i) { return expected[i % pattern]; });
}

static void release(problem &p)
{
	CUDA_CHECK(cudaFree(p.x));
	CUDA_CHECK(cudaFree(p.y));
}

static const std::vector<variant<problem>> variants = {
	{"naive", "compiled by nvcc", run_naive},
	{"ptx", "generated PTX, compiled by the driver in the set-up", run_loaded, setup_ptx,
	 teardown},
#if ROOFLINE_HAS_NVJITLINK
	{"linked", "the same PTX, compiled by nvJitLink in the set-up", run_loaded, setup_linked,
	 teardown, why_no_nvjitlink},
#endif
	{"each_time", "mistake: the driver is given the PTX for each launch", run_each_time},
};

static const struct workload<problem> jit_ptx = {
	.name = "jit_ptx", .size = 1 << 26, .iterations = 100, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(jit_ptx)
