/*
 * cudnn.cuh - a convolution and what follows it in one call of cuDNN, for programs that run without
 * it too.
 *
 * The library is opened when first wanted (dynamic_library.cuh).  ROOFLINE_HAS_CUDNN is 0 where its
 * headers were not found; then there is nothing here.
 *
 * The call is described as a graph of operations, v = relu(scale * convolution(x, w) + bias).  cuDNN
 * names several ways to calculate it as one kernel, best guess first, and compiles some of them only
 * then.  The first few are timed, and the fastest is kept: what a framework does that is told to
 * benchmark.
 */
#ifndef ROOFLINE_CUDNN_CUH
#define ROOFLINE_CUDNN_CUH

#if defined(__has_include) && __has_include(<cudnn.h>)
#define ROOFLINE_HAS_CUDNN 1
#else
#define ROOFLINE_HAS_CUDNN 0
#endif

#if ROOFLINE_HAS_CUDNN

#include <algorithm>
#include <string>
#include <vector>

#include <cudnn.h>

#include "cuda_check.cuh"
#include "dynamic_library.cuh"

/* The functions in use, with the types of their declarations: one list, one place. */
#define CUDNN_FUNCTIONS(FUNCTION)          \
	FUNCTION(Create)                   \
	FUNCTION(Destroy)                  \
	FUNCTION(GetErrorString)           \
	FUNCTION(BackendCreateDescriptor)  \
	FUNCTION(BackendDestroyDescriptor) \
	FUNCTION(BackendSetAttribute)      \
	FUNCTION(BackendGetAttribute)      \
	FUNCTION(BackendFinalize)          \
	FUNCTION(BackendExecute)

#define CUDNN_MEMBER(name) decltype(&cudnn##name) name;
static struct cudnn_functions {
	CUDNN_FUNCTIONS(CUDNN_MEMBER)
} cudnn;
#undef CUDNN_MEMBER

#define CUDNN_TEXT(number) #number
#define CUDNN_FILE(major) "libcudnn.so." CUDNN_TEXT(major)
static const char cudnn_file[] = CUDNN_FILE(CUDNN_MAJOR);

static inline bool cudnn_bind(void *library)
{
#define CUDNN_BIND(name)                                                  \
	cudnn.name = (decltype(cudnn.name))dlsym(library, "cudnn" #name); \
	if (!cudnn.name)                                                  \
		return false;
	CUDNN_FUNCTIONS(CUDNN_BIND)
#undef CUDNN_BIND
	return true;
}

static inline const char *cudnn_why_missing()
{
	static std::string reason;
	void *library;

	if (cudnn.BackendExecute)
		return nullptr;
	library = dynamic_library_open(cudnn_file);
	if (library && cudnn_bind(library))
		return nullptr;
	cudnn = {};
	reason = dynamic_library_problem(library, cudnn_file, "cuDNN (nvidia-cudnn-cu13 of PyPI)");
	return reason.c_str();
}

static inline void cudnn_check(cudnnStatus_t status, const char *call, const char *file, int line)
{
	host_call_count++;
	if (status == CUDNN_STATUS_SUCCESS)
		return;
	fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, call, cudnn.GetErrorString(status));
	exit(1);
}

#define CUDNN_CHECK(...) cudnn_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

/* ---- descriptors ---- */

typedef cudnnBackendDescriptor_t cudnn_descriptor;

static inline cudnn_descriptor cudnn_make(cudnnBackendDescriptorType_t type)
{
	cudnn_descriptor made;

	CUDNN_CHECK(cudnn.BackendCreateDescriptor(type, &made));
	return made;
}

/* The type that an attribute has follows from that of its value; but descriptors and addresses are
 * both void *. */
static inline cudnnBackendAttributeType_t cudnn_type(const int64_t *)
{
	return CUDNN_TYPE_INT64;
}

static inline cudnnBackendAttributeType_t cudnn_type(const float *)
{
	return CUDNN_TYPE_FLOAT;
}

static inline cudnnBackendAttributeType_t cudnn_type(const bool *)
{
	return CUDNN_TYPE_BOOLEAN;
}

static inline cudnnBackendAttributeType_t cudnn_type(const cudnn_descriptor *)
{
	return CUDNN_TYPE_BACKEND_DESCRIPTOR;
}

static inline cudnnBackendAttributeType_t cudnn_type(const cudnnHandle_t *)
{
	return CUDNN_TYPE_HANDLE;
}

static inline cudnnBackendAttributeType_t cudnn_type(const cudnnDataType_t *)
{
	return CUDNN_TYPE_DATA_TYPE;
}

static inline cudnnBackendAttributeType_t cudnn_type(const cudnnConvolutionMode_t *)
{
	return CUDNN_TYPE_CONVOLUTION_MODE;
}

static inline cudnnBackendAttributeType_t cudnn_type(const cudnnPointwiseMode_t *)
{
	return CUDNN_TYPE_POINTWISE_MODE;
}

static inline cudnnBackendAttributeType_t cudnn_type(const cudnnBackendHeurMode_t *)
{
	return CUDNN_TYPE_HEUR_MODE;
}

template <class T>
static void cudnn_set(cudnn_descriptor descriptor, cudnnBackendAttributeName_t name,
		      const std::vector<T> &values)
{
	CUDNN_CHECK(cudnn.BackendSetAttribute(descriptor, name, cudnn_type(values.data()),
					      values.size(), values.data()));
}

template <class T>
static void cudnn_set(cudnn_descriptor descriptor, cudnnBackendAttributeName_t name, T value)
{
	CUDNN_CHECK(cudnn.BackendSetAttribute(descriptor, name, cudnn_type(&value), 1, &value));
}

/* ---- the operations ---- */

/* One filter's width for both directions, stride 1, as many pixels out as in. */
struct cudnn_conv_sizes {
	int64_t images, width, channels, filter;
	bool is_nchw;
};

struct cudnn_conv_arrays {
	void *x, *w, *scale, *bias, *v;
};

enum { CUDNN_X = 1, CUDNN_W, CUDNN_SCALE, CUDNN_BIAS, CUDNN_V, CUDNN_BETWEEN };

/* dimensions: N, C, H, W in that order, however they lie in memory. */
static inline cudnn_descriptor cudnn_tensor(int64_t id, const std::vector<int64_t> &dimensions,
					    bool is_nchw, cudnnDataType_t type, bool is_virtual)
{
	int64_t c = dimensions[1], h = dimensions[2], w = dimensions[3];
	cudnn_descriptor tensor = cudnn_make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);

	cudnn_set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
	cudnn_set(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, type);
	cudnn_set(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, (int64_t)16);
	cudnn_set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, dimensions);
	cudnn_set(tensor, CUDNN_ATTR_TENSOR_STRIDES,
		  is_nchw ? std::vector<int64_t>{c * h * w, h * w, w, 1}
			  : std::vector<int64_t>{c * h * w, 1, w * c, c});
	cudnn_set(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
	CUDNN_CHECK(cudnn.BackendFinalize(tensor));
	return tensor;
}

static inline cudnn_descriptor cudnn_convolution(int64_t filter)
{
	cudnn_descriptor made = cudnn_make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	std::vector<int64_t> ones = {1, 1}, padding = {filter / 2, filter / 2};

	cudnn_set(made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, (int64_t)2);
	cudnn_set(made, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
	cudnn_set(made, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
	cudnn_set(made, CUDNN_ATTR_CONVOLUTION_DILATIONS, ones);
	cudnn_set(made, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, ones);
	cudnn_set(made, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding);
	cudnn_set(made, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding);
	CUDNN_CHECK(cudnn.BackendFinalize(made));
	return made;
}

static inline cudnn_descriptor cudnn_convolve(int64_t filter, cudnn_descriptor x,
					      cudnn_descriptor w, cudnn_descriptor y)
{
	cudnn_descriptor made = cudnn_make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);

	cudnn_set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
		  cudnn_convolution(filter));
	cudnn_set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
	cudnn_set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
	cudnn_set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
	cudnn_set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
	cudnn_set(made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
	CUDNN_CHECK(cudnn.BackendFinalize(made));
	return made;
}

/* y = x mode b; b: nullptr where the operation takes one value. */
static inline cudnn_descriptor cudnn_pointwise(cudnnPointwiseMode_t mode, cudnn_descriptor x,
					       cudnn_descriptor b, cudnn_descriptor y)
{
	cudnn_descriptor pointwise = cudnn_make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	cudnn_descriptor made = cudnn_make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);

	cudnn_set(pointwise, CUDNN_ATTR_POINTWISE_MODE, mode);
	cudnn_set(pointwise, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
	CUDNN_CHECK(cudnn.BackendFinalize(pointwise));
	cudnn_set(made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
	cudnn_set(made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
	if (b)
		cudnn_set(made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
	cudnn_set(made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
	CUDNN_CHECK(cudnn.BackendFinalize(made));
	return made;
}

/* Descriptors live as long as the program: there are few of them. */
static inline cudnn_descriptor cudnn_operations(cudnnHandle_t handle, struct cudnn_conv_sizes s)
{
	const std::vector<int64_t> image = {s.images, s.channels, s.width, s.width};
	const std::vector<int64_t> filter = {s.channels, s.channels, s.filter, s.filter};
	const std::vector<int64_t> channel = {1, s.channels, 1, 1};
	cudnn_descriptor graph = cudnn_make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), between[3];
	cudnn_descriptor x = cudnn_tensor(CUDNN_X, image, s.is_nchw, CUDNN_DATA_HALF, false);
	cudnn_descriptor w = cudnn_tensor(CUDNN_W, filter, s.is_nchw, CUDNN_DATA_HALF, false);
	cudnn_descriptor v = cudnn_tensor(CUDNN_V, image, s.is_nchw, CUDNN_DATA_HALF, false);
	cudnn_descriptor scale =
		cudnn_tensor(CUDNN_SCALE, channel, s.is_nchw, CUDNN_DATA_FLOAT, false);
	cudnn_descriptor bias =
		cudnn_tensor(CUDNN_BIAS, channel, s.is_nchw, CUDNN_DATA_FLOAT, false);

	for (int i = 0; i < 3; i++)
		between[i] =
			cudnn_tensor(CUDNN_BETWEEN + i, image, s.is_nchw, CUDNN_DATA_FLOAT, true);
	cudnn_set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
	cudnn_set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
		  std::vector<cudnn_descriptor>{
			  cudnn_convolve(s.filter, x, w, between[0]),
			  cudnn_pointwise(CUDNN_POINTWISE_MUL, between[0], scale, between[1]),
			  cudnn_pointwise(CUDNN_POINTWISE_ADD, between[1], bias, between[2]),
			  cudnn_pointwise(CUDNN_POINTWISE_RELU_FWD, between[2], nullptr, v)});
	CUDNN_CHECK(cudnn.BackendFinalize(graph));
	return graph;
}

/* ---- plans ---- */

static const int cudnn_tried = 4; /* of the ways that cuDNN names */

struct cudnn_plan {
	cudnn_descriptor plan, pack;
	void *workspace;
};

struct cudnn_conv {
	cudnnHandle_t handle;
	std::vector<cudnn_plan> plans;
	cudnn_plan best;
};

/* Ways to calculate it, best guess first. */
static inline std::vector<cudnn_descriptor> cudnn_configurations(cudnn_descriptor operations,
								 cudnnBackendHeurMode_t mode)
{
	cudnn_descriptor guess = cudnn_make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	std::vector<cudnn_descriptor> found(cudnn_tried);
	int64_t count = 0;

	for (cudnn_descriptor &one : found)
		one = cudnn_make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	cudnn_set(guess, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations);
	cudnn_set(guess, CUDNN_ATTR_ENGINEHEUR_MODE, mode);
	if (cudnn.BackendFinalize(guess) != CUDNN_STATUS_SUCCESS ||
	    cudnn.BackendGetAttribute(guess, CUDNN_ATTR_ENGINEHEUR_RESULTS,
				      CUDNN_TYPE_BACKEND_DESCRIPTOR, found.size(), &count,
				      found.data()) != CUDNN_STATUS_SUCCESS)
		return {};
	found.resize(count);
	return found;
}

static inline void *cudnn_workspace(cudnn_descriptor plan)
{
	void *workspace = nullptr;
	int64_t bytes = 0, count = 0;

	CUDNN_CHECK(cudnn.BackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
					      CUDNN_TYPE_INT64, 1, &count, &bytes));
	if (bytes)
		CUDA_CHECK(cudaMalloc(&workspace, bytes));
	return workspace;
}

static inline cudnn_descriptor cudnn_pack(struct cudnn_conv_arrays a, void *workspace)
{
	cudnn_descriptor pack = cudnn_make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	void *pointers[] = {a.x, a.w, a.scale, a.bias, a.v};

	cudnn_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
		  std::vector<int64_t>{CUDNN_X, CUDNN_W, CUDNN_SCALE, CUDNN_BIAS, CUDNN_V});
	CUDNN_CHECK(cudnn.BackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
					      CUDNN_TYPE_VOID_PTR, 5, pointers));
	CUDNN_CHECK(cudnn.BackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
					      CUDNN_TYPE_VOID_PTR, 1, &workspace));
	CUDNN_CHECK(cudnn.BackendFinalize(pack));
	return pack;
}

/* Those of the configurations that this GPU can run. */
static inline void cudnn_add_plans(struct cudnn_conv *conv, struct cudnn_conv_arrays arrays,
				   const std::vector<cudnn_descriptor> &configurations)
{
	for (cudnn_descriptor configuration : configurations) {
		cudnn_plan made = {cudnn_make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)};

		cudnn_set(made.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, conv->handle);
		cudnn_set(made.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
		if (cudnn.BackendFinalize(made.plan) != CUDNN_STATUS_SUCCESS)
			continue;
		made.workspace = cudnn_workspace(made.plan);
		made.pack = cudnn_pack(arrays, made.workspace);
		conv->plans.push_back(made);
	}
}

/* No plans where cuDNN has no single kernel for it. */
static inline struct cudnn_conv cudnn_prepare(struct cudnn_conv_sizes sizes,
					      struct cudnn_conv_arrays arrays)
{
	struct cudnn_conv conv = {};
	cudnn_descriptor operations;

	CUDNN_CHECK(cudnn.Create(&conv.handle));
	operations = cudnn_operations(conv.handle, sizes);
	for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
		if (conv.plans.empty())
			cudnn_add_plans(&conv, arrays, cudnn_configurations(operations, mode));
	if (!conv.plans.empty())
		conv.best = conv.plans[0];
	return conv;
}

/* In the default stream. */
static inline void cudnn_run(const struct cudnn_conv *conv, const struct cudnn_plan &plan)
{
	CUDNN_CHECK(cudnn.BackendExecute(conv->handle, plan.plan, plan.pack));
}

static inline float cudnn_plan_ms(const struct cudnn_conv *conv, const struct cudnn_plan &plan)
{
	cudaEvent_t start, end;
	float ms;

	CUDA_CHECK(cudaEventCreate(&start));
	CUDA_CHECK(cudaEventCreate(&end));
	cudnn_run(conv, plan);
	CUDA_CHECK(cudaEventRecord(start));
	for (int i = 0; i < 5; i++)
		cudnn_run(conv, plan);
	CUDA_CHECK(cudaEventRecord(end));
	CUDA_CHECK(cudaEventSynchronize(end));
	CUDA_CHECK(cudaEventElapsedTime(&ms, start, end));
	CUDA_CHECK(cudaEventDestroy(start));
	CUDA_CHECK(cudaEventDestroy(end));
	return ms;
}

static inline void cudnn_choose(struct cudnn_conv *conv)
{
	float best_ms = cudnn_plan_ms(conv, conv->best);

	for (const cudnn_plan &plan : conv->plans) {
		float ms = cudnn_plan_ms(conv, plan);

		if (ms >= best_ms)
			continue;
		best_ms = ms;
		conv->best = plan;
	}
}

static inline void cudnn_release(struct cudnn_conv *conv)
{
	for (const cudnn_plan &plan : conv->plans) {
		CUDNN_CHECK(cudnn.BackendDestroyDescriptor(plan.pack));
		CUDNN_CHECK(cudnn.BackendDestroyDescriptor(plan.plan));
		CUDA_CHECK(cudaFree(plan.workspace));
	}
	if (conv->handle)
		CUDNN_CHECK(cudnn.Destroy(conv->handle));
	*conv = {};
}

#endif
#endif
