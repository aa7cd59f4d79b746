/*
 * module.cuh - machine code or PTX that the program has in memory, loaded through the driver.
 *
 * The driver's functions are asked for at run time: no workload is linked with libcuda.
 * module_load returns nullptr, with the driver's word for it in *problem, where it refuses the image.
 */
#ifndef ROOFLINE_MODULE_CUH
#define ROOFLINE_MODULE_CUH

#include <cstdio>
#include <cstdlib>
#include <string>

#include <cuda.h>
#include <cuda_runtime.h>

#include "cuda_check.cuh"

/* The functions in use, with the types of their declarations: one list, one place. */
#define DRIVER_FUNCTIONS(FUNCTION)    \
	FUNCTION(cuModuleLoadData)    \
	FUNCTION(cuModuleUnload)      \
	FUNCTION(cuModuleGetFunction) \
	FUNCTION(cuLaunchKernel)      \
	FUNCTION(cuGetErrorName)

#define DRIVER_MEMBER(name) decltype(&::name) name;
struct driver_functions {
	DRIVER_FUNCTIONS(DRIVER_MEMBER)
};
#undef DRIVER_MEMBER

static inline void *driver_function(const char *name)
{
	cudaDriverEntryPointQueryResult found;
	void *function = nullptr;

	CUDA_CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault,
						    &found));
	return function;
}

static inline const driver_functions &driver()
{
#define DRIVER_FIND(name) (decltype(&::name))driver_function(#name),
	static const driver_functions functions = {DRIVER_FUNCTIONS(DRIVER_FIND)};
#undef DRIVER_FIND

	return functions;
}

static inline const char *driver_word(CUresult result)
{
	const char *word = nullptr;

	return driver().cuGetErrorName(result, &word) == CUDA_SUCCESS ? word : "unknown error";
}

static inline void driver_check(CUresult result, const char *call, const char *file, int line)
{
	host_call_count++;
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, call, driver_word(result));
	exit(1);
}

#define DRIVER_CHECK(...) driver_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

struct loaded_kernel {
	CUmodule module;
	CUfunction function; /* nullptr: none */
};

/* image: machine code, or PTX that ends in a 0. */
static inline loaded_kernel module_load(const void *image, const char *name, std::string *problem)
{
	loaded_kernel kernel = {};
	CUresult result = driver().cuModuleLoadData(&kernel.module, image);

	host_call_count++;
	if (result != CUDA_SUCCESS) {
		*problem = driver_word(result);
		return {};
	}
	DRIVER_CHECK(driver().cuModuleGetFunction(&kernel.function, kernel.module, name));
	return kernel;
}

static inline void module_unload(const loaded_kernel &kernel)
{
	if (kernel.module)
		DRIVER_CHECK(driver().cuModuleUnload(kernel.module));
}

static inline void module_launch(const loaded_kernel &kernel, dim3 grid, dim3 block,
				 void **arguments)
{
	DRIVER_CHECK(driver().cuLaunchKernel(kernel.function, grid.x, grid.y, grid.z, block.x,
					     block.y, block.z, 0, nullptr, arguments, nullptr));
}

#endif
