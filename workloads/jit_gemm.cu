/*
 * jit_gemm (F1): matrix products whose shapes the compiler knows, because it runs when they are known.
 *
 * One text of a product, with its tile in shared memory: nvcc compiles it as it stands, for shapes
 * that come as arguments, and NVRTC compiles it again for each shape, with the shape in place of the
 * arguments.  Then no thread compares with a bound that the tile meets, and multiplications by a
 * width become shifts.
 *
 *   C = A B for three shapes (rows x columns x depth), n = sqrt(--size):
 *   n x n x n, n / 2 x n x n / 8, and n / 4 x n / 4 x n / 32; row-major, FP32 or FP16 into FP32
 *
 * What was compiled is kept in memory, the hundred kernels that were used last, and on disk, under a
 * key of source, options, architecture and compiler.  Some variants make a mistake with that.
 *
 * A and B hold -1, 0 and 1: every product is exact in all formats.
 */
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>

#include <cuda_fp16.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include "module.cuh"
#include "nvrtc.cuh"
#include "workload.cuh"

/* ---- the product: text for NVRTC, and code as it stands ---- */

#define TEXT_AND_CODE(name, ...)                 \
	static const char name[] = #__VA_ARGS__; \
	__VA_ARGS__

/* clang-format off */
TEXT_AND_CODE(product_text,

/* 16 x 16 threads, and tile / 16 rows and columns of C for each of them. */
template <int tile, int tile_k, int unroll>
static __device__ __forceinline__ void product(const float *a, const float *b, float *c, int rows, int columns, int depth)
{
	__shared__ float a_tile[tile][tile_k];
	__shared__ float b_tile[tile_k][tile];
	const int each = tile / 16;
	const int thread = 16 * threadIdx.y + threadIdx.x;
	const int row = tile * blockIdx.y;
	const int column = tile * blockIdx.x;
	float sum[each][each] = {};

	for (int start = 0; start < depth; start += tile_k) {
		for (int i = thread; i < tile * tile_k; i += 256) {
			int r = row + i / tile_k;
			int k = start + i % tile_k;

			a_tile[i / tile_k][i % tile_k] = r < rows && k < depth ? a[(long long)r * depth + k] : 0;
		}
		for (int i = thread; i < tile * tile_k; i += 256) {
			int k = start + i / tile;
			int col = column + i % tile;

			b_tile[i / tile][i % tile] = k < depth && col < columns ? b[(long long)k * columns + col] : 0;
		}
		__syncthreads();
		_Pragma("unroll unroll")
		for (int k = 0; k < tile_k; k++)
			for (int i = 0; i < each; i++)
				for (int j = 0; j < each; j++)
					sum[i][j] += a_tile[threadIdx.y + 16 * i][k] * b_tile[k][threadIdx.x + 16 * j];
		__syncthreads();
	}
	for (int i = 0; i < each; i++)
		for (int j = 0; j < each; j++) {
			int r = row + threadIdx.y + 16 * i;
			int col = column + threadIdx.x + 16 * j;

			if (r < rows && col < columns)
				c[(long long)r * columns + col] = sum[i][j];
		}
}

)

TEXT_AND_CODE(tensor_text,

/* FP16 as its bits: no header is needed.  128 threads make 64 x 64 values of C, each warp 32 x 32, on
 * tensor cores: a product of 16 x 16 by 16 x 8 is an instruction of a warp. */
static __device__ __forceinline__ void tensor_product(const unsigned short *a, const unsigned short *b, float *c, int rows, int columns, int depth)
{
	alignas(16) __shared__ unsigned short a_tile[64][24]; /* 16 of 24: rows start in different banks */
	alignas(16) __shared__ unsigned short b_tile[64][24]; /* transposed */
	const int group = threadIdx.x % 32 / 4;
	const int pair = threadIdx.x % 4 * 2;
	const int warp_row = threadIdx.x / 64 * 32;
	const int warp_column = threadIdx.x / 32 % 2 * 32;
	const int row = 64 * blockIdx.y;
	const int column = 64 * blockIdx.x;
	float sum[2][4][4] = {};

	for (int start = 0; start < depth; start += 16) {
		for (int i = threadIdx.x; i < 64 * 16; i += 128) {
			int r = row + i / 16;
			int k = start + i % 16;

			a_tile[i / 16][i % 16] = r < rows && k < depth ? a[(long long)r * depth + k] : 0;
		}
		for (int i = threadIdx.x; i < 64 * 16; i += 128) {
			int k = start + i / 64;
			int col = column + i % 64;

			b_tile[i % 64][i / 64] = k < depth && col < columns ? b[(long long)k * columns + col] : 0;
		}
		__syncthreads();
		for (int i = 0; i < 2; i++) {
			const unsigned short (*upper)[24] = a_tile + warp_row + 16 * i + group;
			unsigned a0 = *(const unsigned *)&upper[0][pair];
			unsigned a1 = *(const unsigned *)&upper[8][pair];
			unsigned a2 = *(const unsigned *)&upper[0][pair + 8];
			unsigned a3 = *(const unsigned *)&upper[8][pair + 8];

			for (int j = 0; j < 4; j++) {
				const unsigned short *b_row = b_tile[warp_column + 8 * j + group];
				float *d = sum[i][j];

				asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
				    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
				    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
				    : "r"(a0), "r"(a1), "r"(a2), "r"(a3),
				      "r"(*(const unsigned *)&b_row[pair]), "r"(*(const unsigned *)&b_row[pair + 8]));
			}
		}
		__syncthreads();
	}
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 4; j++)
			for (int value = 0; value < 4; value++) {
				int r = row + warp_row + 16 * i + group + value / 2 * 8;
				int col = column + warp_column + 8 * j + pair + value % 2;

				if (r < rows && col < columns)
					c[(long long)r * columns + col] = sum[i][j][value];
			}
}

)
/* clang-format on */

/* ---- kernels for any shape ---- */

template <int tile, int tile_k>
static __global__ void generic_kernel(const float *a, const float *b, float *c, int rows,
				      int columns, int depth)
{
	product<tile, tile_k, tile_k>(a, b, c, rows, columns, depth);
}

static __global__ void generic_tensor_kernel(const unsigned short *a, const unsigned short *b,
					     float *c, int rows, int columns, int depth)
{
	tensor_product(a, b, c, rows, columns, depth);
}

static const int tensor_tile = 64;

/* ---- shapes, and how each is to be compiled ---- */

struct shape {
	long rows, columns, depth;
};

/* The tile by the size of the result, and how often the loop over it is unrolled by the depth. */
struct choice {
	int tile, tile_k, unroll;
};

static struct choice choose(const struct shape &s)
{
	struct choice chosen = {16, 16, 4};

	if (s.rows * s.columns >= 1024 * 1024)
		chosen = {32, 8, 4};
	if (s.depth <= 32)
		chosen.unroll = (int)s.depth;
	else if (s.depth <= 128)
		chosen.unroll = 8;
	return chosen;
}

struct request {
	std::string source, name; /* of the kernel */
	std::vector<std::string> options;
	std::string key; /* a digest of all that the machine code depends on */
};

struct task {
	struct shape shape;
	float *a, *b, *c;
	unsigned short *a_half, *b_half;
	std::vector<double> expected; /* of each row of C: the sum of its values, weighted */
	struct request request;	      /* of the variant under way */
};

struct cache_counts {
	long from_memory, from_disk, compiled, refused, evicted, failed;
	double compile_s;
};

struct kernel_cache {
	const char *variant;
	size_t capacity;
	bool has_disk;
	std::string folder;
	std::list<std::pair<std::string, loaded_kernel>> kernels; /* the last used one first */
	std::unordered_map<std::string, decltype(kernels)::iterator> by_key;
	struct cache_counts counts;
};

struct problem {
	std::vector<struct task> tasks;
	int architecture;   /* 90 for 9.0 */
	std::string folder; /* of code on disk */
	std::unique_ptr<kernel_cache> cache;
};

#if ROOFLINE_HAS_NVRTC

/* ---- code on disk ---- */

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), from a start of its own for each half. */
static uint64_t digest(const std::string &text, uint64_t hash)
{
	for (unsigned char c : text)
		hash = (hash ^ c) * 0x100000001b3u;
	return hash;
}

/* Of all parts together, with ends between them. */
static std::string key_of(const std::vector<std::string> &parts)
{
	std::string text;
	char key[33];

	for (const std::string &part : parts)
		text += part + '\0';
	snprintf(key, sizeof(key), "%016llx%016llx",
		 (unsigned long long)digest(text, 0xcbf29ce484222325u),
		 (unsigned long long)digest(text, 0x84222325cbf29ce4u));
	return key;
}

static std::vector<char> disk_read(const std::string &folder, const std::string &key)
{
	std::ifstream file(folder + "/" + key, std::ios::binary);

	return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/* What is there stays: whoever reads it meanwhile finds it whole. */
static void disk_write(const std::string &folder, const std::string &key,
		       const std::vector<char> &code)
{
	std::string path = folder + "/" + key, part = path + ".part";
	std::error_code ignored; /* without a disk the kernel is compiled next time, too */

	if (std::filesystem::exists(path, ignored))
		return;
	std::ofstream(part, std::ios::binary).write(code.data(), (std::streamsize)code.size());
	std::filesystem::rename(part, path, ignored);
}

/* ---- the cache ---- */

static const size_t kernels_in_memory = 100;

/* Nobody may run what is unloaded. */
static void cache_evict(struct kernel_cache &cache)
{
	CUDA_CHECK(cudaDeviceSynchronize());
	module_unload(cache.kernels.back().second);
	cache.by_key.erase(cache.kernels.back().first);
	cache.kernels.pop_back();
}

static void cache_clear(struct kernel_cache &cache)
{
	while (!cache.kernels.empty())
		cache_evict(cache);
}

static loaded_kernel cache_put(struct kernel_cache &cache, const std::string &key,
			       const loaded_kernel &kernel)
{
	while (cache.kernels.size() >= cache.capacity) {
		cache_evict(cache);
		cache.counts.evicted++;
	}
	cache.kernels.emplace_front(key, kernel);
	cache.by_key[key] = cache.kernels.begin();
	return kernel;
}

/* What was compiled for another architecture is refused by the driver, and compiled anew. */
static loaded_kernel cache_load(struct kernel_cache &cache, const struct request &request,
				const std::vector<char> &code)
{
	std::string problem;
	loaded_kernel kernel = module_load(code.data(), request.name.c_str(), &problem);

	if (!kernel.function)
		cache.counts.refused++;
	return kernel;
}

/* The compiler quotes lines of the source besides. */
static std::string errors_of(const std::string &log)
{
	std::istringstream lines(log);
	std::string line, errors;

	while (std::getline(lines, line))
		if (line.find("error") != std::string::npos)
			errors += (errors.empty() ? "" : "; ") + line;
	return errors.empty() ? log : errors;
}

/* Code, or none where the source is wrong: then the log says why. */
static std::vector<char> cache_compile(struct kernel_cache &cache, const struct request &request)
{
	nvtxRangePushA("compile");
	nvrtc_compiled compiled = nvrtc_compile(request.source, request.options);
	nvtxRangePop();

	cache.counts.compiled++;
	cache.counts.compile_s += compiled.seconds;
	if (compiled.seconds > 1)
		fprintf(stderr, "jit_gemm: a kernel took %.1f s to compile\n", compiled.seconds);
	if (compiled.code.empty() && !cache.counts.failed++)
		fprintf(stderr,
			"jit_gemm: a kernel does not compile, the one for any shape runs: %s\n",
			errors_of(compiled.log).c_str());
	return compiled.code;
}

static loaded_kernel cache_make(struct kernel_cache &cache, const struct request &request)
{
	std::vector<char> code;
	loaded_kernel kernel = {};

	if (cache.has_disk)
		code = disk_read(cache.folder, request.key);
	if (!code.empty())
		kernel = cache_load(cache, request, code);
	if (kernel.function) {
		cache.counts.from_disk++;
		return cache_put(cache, request.key, kernel);
	}
	code = cache_compile(cache, request);
	if (code.empty())
		return cache_put(cache, request.key, {}); /* nor will it compile next time */
	if (cache.has_disk)
		disk_write(cache.folder, request.key, code);
	return cache_put(cache, request.key, cache_load(cache, request, code));
}

/* Without a function where the request does not compile. */
static loaded_kernel cache_get(struct kernel_cache &cache, const struct request &request)
{
	auto known = cache.by_key.find(request.key);

	if (known == cache.by_key.end())
		return cache_make(cache, request);
	cache.counts.from_memory++;
	cache.kernels.splice(cache.kernels.begin(), cache.kernels, known->second);
	return known->second->second;
}

/* ---- requests ---- */

static std::string text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static std::string text_of(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return text;
}

/* The kernel around the product: the same call as in nvcc's kernels, with numbers as its arguments. */
static std::string wrapper(const std::string &name, const char *type, const std::string &call)
{
	return text_of("\nextern \"C\" __global__ void %s(const %s *a, const %s *b, float *c)\n",
		       name.c_str(), type, type) +
	       "{\n\t" + call + "\n}\n";
}

static std::string product_source(const std::string &name, const struct shape &s,
				  const struct choice &chosen)
{
	return product_text +
	       wrapper(name, "float",
		       text_of("product<%d, %d, %d>(a, b, c, %ld, %ld, %ld);", chosen.tile,
			       chosen.tile_k, chosen.unroll, s.rows, s.columns, s.depth));
}

static std::string tensor_source(const std::string &name, const struct shape &s)
{
	return tensor_text + wrapper(name, "unsigned short",
				     text_of("tensor_product(a, b, c, %ld, %ld, %ld);", s.rows,
					     s.columns, s.depth));
}

static std::string architecture_option(int architecture)
{
	return text_of("-arch=sm_%d", architecture);
}

static std::string compiler_version()
{
	int major = 0, minor = 0;

	NVRTC_CHECK(nvrtc.Version(&major, &minor));
	return text_of("%d.%d", major, minor);
}

/* What a variant asks of the compiler and of the cache. */
struct plan {
	const char *variant;
	bool is_tensor, is_unrolled; /* unrolled: all of the tile, whatever the depth */
	const char *option;	     /* of the compiler, or nullptr */
	int tile;		     /* in place of the chosen one; 0: the chosen one */
	size_t capacity;
	bool has_disk, lacks_architecture;
};

static struct choice choice_of(const struct plan &plan, const struct shape &s)
{
	struct choice chosen = choose(s);

	if (plan.tile)
		chosen = {plan.tile, plan.tile, 1};
	if (plan.is_unrolled)
		chosen.unroll = chosen.tile_k;
	return chosen;
}

static struct request request_of(const struct plan &plan, const struct shape &s, int architecture)
{
	struct request request;
	std::vector<std::string> parts;

	request.name = text_of("gemm_%ld_%ld_%ld", s.rows, s.columns, s.depth);
	request.source = plan.is_tensor ? tensor_source(request.name, s)
					: product_source(request.name, s, choice_of(plan, s));
	request.options = {"-std=c++17"};
	if (plan.option)
		request.options.push_back(plan.option);
	parts = request.options;
	parts.push_back(request.source);
	parts.push_back(compiler_version());
	request.options.push_back(architecture_option(architecture));
	if (!plan.lacks_architecture)
		parts.push_back(request.options.back());
	request.key = key_of(parts);
	return request;
}

static void make_cache(problem &p, const struct plan &plan)
{
	for (struct task &one : p.tasks)
		one.request = request_of(plan, one.shape, p.architecture);
	p.cache.reset(
		new kernel_cache{plan.variant, plan.capacity, plan.has_disk, p.folder, {}, {}, {}});
}

static void get_all(problem &p)
{
	for (struct task &one : p.tasks)
		cache_get(*p.cache, one.request);
}

#endif

/* ---- launches ---- */

static dim3 grid_of(const struct shape &s, int tile)
{
	return dim3((s.columns + tile - 1) / tile, (s.rows + tile - 1) / tile);
}

static void launch_any_shape(const struct task &one, bool is_tiled)
{
	const struct shape &s = one.shape;
	const dim3 block(16, 16);

	if (is_tiled && choose(s).tile == 32)
		CUDA_LAUNCH(generic_kernel<32, 8><<<grid_of(s, 32), block>>>(one.a, one.b, one.c,
									     s.rows, s.columns,
									     s.depth));
	else
		CUDA_LAUNCH(generic_kernel<16, 16><<<grid_of(s, 16), block>>>(one.a, one.b, one.c,
									      s.rows, s.columns,
									      s.depth));
}

static void launch_tensor(const struct task &one)
{
	const struct shape &s = one.shape;

	CUDA_LAUNCH(generic_tensor_kernel<<<grid_of(s, tensor_tile), 128>>>(one.a_half, one.b_half,
									    one.c, s.rows,
									    s.columns, s.depth));
}

static void run_naive(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (const struct task &one : p.tasks)
			launch_any_shape(one, false);
}

static void run_tiles(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (const struct task &one : p.tasks)
			launch_any_shape(one, true);
}

static void run_tensor(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (const struct task &one : p.tasks)
			launch_tensor(one);
}

#if ROOFLINE_HAS_NVRTC

static void launch_jit(const struct task &one, const loaded_kernel &kernel)
{
	void *arguments[] = {(void *)&one.a, (void *)&one.b, (void *)&one.c};

	if (!kernel.function)
		launch_any_shape(one, true);
	else
		module_launch(kernel, grid_of(one.shape, choose(one.shape).tile), dim3(16, 16),
			      arguments);
}

static void launch_jit_tensor(const struct task &one, const loaded_kernel &kernel)
{
	void *arguments[] = {(void *)&one.a_half, (void *)&one.b_half, (void *)&one.c};

	module_launch(kernel, grid_of(one.shape, tensor_tile), dim3(128), arguments);
}

static void run_jit(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (const struct task &one : p.tasks)
			launch_jit(one, cache_get(*p.cache, one.request));
}

static void run_jit_tensor(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (const struct task &one : p.tasks)
			launch_jit_tensor(one, cache_get(*p.cache, one.request));
}

/* The mistake: what was compiled is not kept. */
static void run_no_cache(problem &p, int iterations)
{
	for (int i = 0; i < iterations; i++)
		for (const struct task &one : p.tasks) {
			cache_clear(*p.cache);
			launch_jit(one, cache_get(*p.cache, one.request));
		}
}

/* Each run as the start of a program: nothing is in memory. */
static void run_start(problem &p, int iterations)
{
	cache_clear(*p.cache);
	run_jit(p, iterations);
}

static void setup_jit(problem &p)
{
	make_cache(p, {.variant = "jit", .capacity = kernels_in_memory});
	get_all(p);
}

static void setup_unrolled(problem &p)
{
	make_cache(p,
		   {.variant = "jit_unrolled", .is_unrolled = true, .capacity = kernels_in_memory});
	get_all(p);
}

static void setup_fast_math(problem &p)
{
	make_cache(p, {.variant = "jit_fast_math",
		       .option = "--use_fast_math",
		       .capacity = kernels_in_memory});
	get_all(p);
}

/* 32 registers a thread: room for 2,048 threads on an SM. */
static void setup_few_registers(problem &p)
{
	make_cache(p, {.variant = "jit_registers",
		       .option = "--maxrregcount=32",
		       .capacity = kernels_in_memory});
	get_all(p);
}

static void setup_tensor(problem &p)
{
	make_cache(p, {.variant = "jit_tensor", .is_tensor = true, .capacity = kernels_in_memory});
	get_all(p);
}

/* Two tiles of 96 x 96 values are more than the 48 KiB of shared memory that a kernel may have. */
static void setup_compile_error(problem &p)
{
	make_cache(p, {.variant = "compile_error", .tile = 96, .capacity = kernels_in_memory});
	get_all(p);
}

static void setup_no_cache(problem &p)
{
	make_cache(p, {.variant = "no_cache", .capacity = kernels_in_memory});
}

static void setup_cold_start(problem &p)
{
	make_cache(p, {.variant = "cold_start", .capacity = kernels_in_memory});
}

static void setup_disk(problem &p)
{
	make_cache(p, {.variant = "disk", .capacity = kernels_in_memory, .has_disk = true});
	get_all(p); /* as the program did when it ran the last time */
}

/* One kernel too few fits: each is thrown out right before it is wanted. */
static void setup_small_cache(problem &p)
{
	make_cache(p, {.variant = "small_cache", .capacity = p.tasks.size() - 1, .has_disk = true});
	get_all(p);
}

/* The mistake: the key does not say for which architecture the code is, and the folder is shared with
 * a machine that has another GPU and was there first. */
static void setup_no_architecture(problem &p)
{
	const struct plan plan = {.variant = "no_architecture",
				  .capacity = kernels_in_memory,
				  .has_disk = true,
				  .lacks_architecture = true};
	const int other = p.architecture / 10 == 8 ? 90 : 80;

	make_cache(p, plan);
	for (const struct task &one : p.tasks) {
		struct request theirs = request_of(plan, one.shape, other);

		disk_write(p.folder, theirs.key, cache_compile(*p.cache, theirs));
	}
	p.cache->counts = {};
}

/* Of all runs together. */
static void teardown(problem &p)
{
	const struct cache_counts &counts = p.cache->counts;
	long made = counts.from_disk + counts.compiled;

	fprintf(stderr,
		"jit_gemm: %s: %ld kernels from memory, %ld from disk, %ld refused, %ld compiled in %.1f ms, "
		"%ld evicted; hit rate %.1f%%\n",
		p.cache->variant, counts.from_memory, counts.from_disk, counts.refused,
		counts.compiled, 1e3 * counts.compile_s, counts.evicted,
		100.0 * (double)counts.from_memory / (double)(counts.from_memory + made));
	cache_clear(*p.cache);
	p.cache.reset();
}

static const char *why_no_nvrtc(problem &)
{
	return nvrtc_why_missing();
}

#endif

/* ---- the problem ---- */

/* An entry of A (seed 1) or B (seed 2): -1, 0 or 1. */
static __host__ __device__ int value_at(uint64_t index, uint64_t seed)
{
	uint64_t x = (index + (seed << 40)) * 11400714819323198485u;

	x = (x ^ (x >> 31)) * 6364136223846793005u;
	return (int)((x >> 33) % 3) - 1;
}

static __global__ void fill_kernel(float *matrix, unsigned short *half, long count, int seed)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count) {
		matrix[i] = value_at(i, seed);
		half[i] = __half_as_ushort(__int2half_rn(value_at(i, seed)));
	}
}

static void fill(float *matrix, unsigned short *half, long count, int seed)
{
	CUDA_LAUNCH(fill_kernel<<<(count + 255) / 256, 256>>>(matrix, half, count, seed));
}

/* The weight of a column: a row with one wrong value has another sum. */
static double weight_of(long column)
{
	return 1 + column % 1021;
}

/* Row sums of A B w, in whole numbers that a double holds exactly: B w first, then A times that. */
static std::vector<double> expected_sums(const struct shape &s)
{
	std::vector<double> weighted(s.depth), sums(s.rows);

	for (long k = 0; k < s.depth; k++)
		for (long column = 0; column < s.columns; column++)
			weighted[k] += value_at(k * s.columns + column, 2) * weight_of(column);
	for (long row = 0; row < s.rows; row++)
		for (long k = 0; k < s.depth; k++)
			sums[row] += value_at(row * s.depth + k, 1) * weighted[k];
	return sums;
}

static struct task make_task(const struct shape &s)
{
	struct task one = {.shape = s};

	one.a = device_array<float>(s.rows * s.depth);
	one.b = device_array<float>(s.depth * s.columns);
	one.c = device_array<float>(s.rows * s.columns);
	one.a_half = device_array<unsigned short>(s.rows * s.depth);
	one.b_half = device_array<unsigned short>(s.depth * s.columns);
	fill(one.a, one.a_half, s.rows * s.depth, 1);
	fill(one.b, one.b_half, s.depth * s.columns, 2);
	one.expected = expected_sums(s);
	return one;
}

static int current_architecture()
{
	cudaDeviceProp properties;
	int device;

	CUDA_CHECK(cudaGetDevice(&device));
	CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
	return 10 * properties.major + properties.minor;
}

static std::string scratch_folder()
{
	std::string folder = std::filesystem::temp_directory_path() / "jit_gemm.XXXXXX";

	if (!mkdtemp(folder.data()))
		fprintf(stderr, "jit_gemm: cannot make %s: what is compiled is not kept\n",
			folder.c_str());
	return folder;
}

static void prepare(problem &p, long size, int)
{
	long n = std::max(1L, (long)std::sqrt((double)size));
	auto part = [n](long parts) { return std::max(1L, n / parts); };

	for (const struct shape &s :
	     {shape{n, n, n}, shape{part(2), n, part(8)}, shape{part(4), part(4), part(32)}})
		p.tasks.push_back(make_task(s));
	p.architecture = current_architecture();
	p.folder = scratch_folder();
}

/* All bits set is no number: a value that nobody wrote cannot pass. */
static void reset(problem &p)
{
	for (const struct task &one : p.tasks)
		CUDA_CHECK(cudaMemset(one.c, 0xff,
				      one.shape.rows * one.shape.columns * sizeof(*one.c)));
}

/* The first value of a row that is wrong. */
static struct difference find_in_row(const struct shape &s, long row, const float *found)
{
	for (long column = 0; column < s.columns; column++) {
		long expected = 0;

		for (long k = 0; k < s.depth; k++)
			expected += value_at(row * s.depth + k, 1) *
				    value_at(k * s.columns + column, 2);
		if (found[column] != (float)expected)
			return {row * s.columns + column,
				(unsigned long long)(long long)found[column],
				(unsigned long long)expected};
	}
	return {-1, 0, 0};
}

static struct difference check_task(const struct task &one)
{
	const struct shape &s = one.shape;
	std::vector<float> found(s.rows * s.columns);

	CUDA_CHECK(cudaMemcpy(found.data(), one.c, found.size() * sizeof(float),
			      cudaMemcpyDeviceToHost));
	for (long row = 0; row < s.rows; row++) {
		const float *values = found.data() + row * s.columns;
		double sum = 0;

		for (long column = 0; column < s.columns; column++)
			sum += values[column] * weight_of(column);
		if (sum != one.expected[row])
			return find_in_row(s, row, values);
	}
	return {-1, 0, 0};
}

static struct difference check(const problem &p)
{
	struct difference first = {-1, 0, 0};

	for (const struct task &one : p.tasks)
		if (first.index < 0)
			first = check_task(one);
	return first;
}

static void release(problem &p)
{
	std::error_code ignored;

	for (const struct task &one : p.tasks) {
		for (float *array : {one.a, one.b, one.c})
			CUDA_CHECK(cudaFree(array));
		CUDA_CHECK(cudaFree(one.a_half));
		CUDA_CHECK(cudaFree(one.b_half));
	}
	std::filesystem::remove_all(p.folder, ignored);
}

static const std::vector<variant<problem>> variants = {
	{"naive", "one kernel for any shape, tiles of 16 x 16 x 16", run_naive},
	{"tiles", "the tile by the shape, from two kernels for any shape", run_tiles},
#if ROOFLINE_HAS_NVRTC
	{"jit", "compiled for each shape by NVRTC in the set-up, kept in memory", run_jit,
	 setup_jit, teardown, why_no_nvrtc},
	{"jit_unrolled", "jit, with the loop over the tile unrolled whole", run_jit, setup_unrolled,
	 teardown, why_no_nvrtc},
	{"jit_fast_math", "jit with --use_fast_math", run_jit, setup_fast_math, teardown,
	 why_no_nvrtc},
	{"jit_registers", "jit with --maxrregcount=32", run_jit, setup_few_registers, teardown,
	 why_no_nvrtc},
#endif
	{"tensor", "FP16 on tensor cores, one kernel for any shape", run_tensor},
#if ROOFLINE_HAS_NVRTC
	{"jit_tensor", "tensor, compiled for each shape", run_jit_tensor, setup_tensor, teardown,
	 why_no_nvrtc, "tensor"},
	{"compile_error", "jit with a tile too large to compile: what runs is for any shape",
	 run_jit, setup_compile_error, teardown, why_no_nvrtc},
	{"no_cache", "mistake: compiled whenever a kernel is wanted", run_no_cache, setup_no_cache,
	 teardown, why_no_nvrtc},
	{"cold_start", "jit, compiled at the start of each run", run_start, setup_cold_start,
	 teardown, why_no_nvrtc},
	{"disk", "cold_start, with what was compiled before kept on disk", run_start, setup_disk,
	 teardown, why_no_nvrtc},
	{"small_cache", "mistake: from disk into a memory cache with a place too few", run_jit,
	 setup_small_cache, teardown, why_no_nvrtc},
	{"no_architecture",
	 "mistake: on disk under a key without the architecture, for another GPU", run_start,
	 setup_no_architecture, teardown, why_no_nvrtc},
#endif
};

static const struct workload<problem> jit_gemm = {
	.name = "jit_gemm", .size = 1 << 20, .iterations = 10, .prepare = prepare, .reset = reset,
	.check = check, .release = release, .variants = variants,
};
RUN_WORKLOAD(jit_gemm)
