#include "kernels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "work.h"

enum { FIRST_CAPACITY = 256, PARAMETERS_MAX = 4096 };

/* Open addressing; at most half full. */
static struct kernel **table;
static size_t capacity, used;

static size_t place_of(CUfunction function, CUcontext context)
{
	uint64_t mixed = ((uint64_t)(uintptr_t)function ^ (uint64_t)(uintptr_t)context << 7) *
			 0x9e3779b97f4a7c15u;

	return mixed >> 32 & (capacity - 1);
}

static void place(struct kernel *kernel)
{
	size_t i = place_of(kernel->function, kernel->context);

	while (table[i])
		i = (i + 1) & (capacity - 1);
	table[i] = kernel;
}

static bool grow(void)
{
	struct kernel **old = table;
	size_t old_capacity = capacity;

	table = calloc(capacity ? 2 * capacity : FIRST_CAPACITY, sizeof(struct kernel *));
	if (!table) {
		table = old;
		return false;
	}
	capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i])
			place(old[i]);
	free(old);
	return true;
}

static CUresult ask_parameter(const struct kernel *kernel, unsigned i, size_t *offset,
			      size_t *bytes)
{
	const struct driver *driver = driver_open();

	if (kernel->is_handle_of_kernel)
		return driver->kernel_parameter((CUkernel)kernel->function, i, offset, bytes);
	return driver->function_parameter(kernel->function, i, offset, bytes);
}

/* The driver answers INVALID_VALUE beyond the last one. */
static bool ask_parameters(struct kernel *kernel)
{
	size_t offset, bytes;
	CUresult result;

	for (;;) {
		struct parameter *more;

		result = ask_parameter(kernel, kernel->parameter_count, &offset, &bytes);
		if (result != CUDA_SUCCESS || kernel->parameter_count == PARAMETERS_MAX)
			return result == CUDA_ERROR_INVALID_VALUE;
		more = realloc(kernel->parameters, (kernel->parameter_count + 1) * sizeof(*more));
		if (!more)
			return false;
		kernel->parameters = more;
		more[kernel->parameter_count++] = (struct parameter){offset, bytes};
		if (offset + bytes > kernel->parameter_bytes)
			kernel->parameter_bytes = offset + bytes;
	}
}

/* A kernel that is compiled for clusters takes some grids and others not: too much to know. */
static bool has_clusters(const struct kernel *kernel)
{
	static const CUfunction_attribute asked[] = {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
						     CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH};
	const struct driver *driver = driver_open();
	CUfunction function = kernel->function;
	int value = 0;

	if (kernel->is_handle_of_kernel &&
	    driver->kernel_function(&function, (CUkernel)kernel->function) != CUDA_SUCCESS)
		return true;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		if (driver->function_attribute(&value, asked[i], function) != CUDA_SUCCESS || value)
			return true;
	return false;
}

/* The runtime launches handles of kernels, which the driver tells from those of functions. */
static void ask(struct kernel *kernel)
{
	const struct driver *driver = driver_open();
	size_t offset, bytes;
	CUresult first = driver->kernel_parameter((CUkernel)kernel->function, 0, &offset, &bytes);
	CUfunction function;

	kernel->refused = TRY_REASON_COUNT;
	kernel->is_handle_of_kernel =
		first == CUDA_SUCCESS ||
		(first == CUDA_ERROR_INVALID_VALUE &&
		 driver->kernel_function(&function, (CUkernel)kernel->function) == CUDA_SUCCESS);
	if (!ask_parameters(kernel))
		kernel->refused = TRY_UNKNOWN_PARAMETERS;
	else if (has_clusters(kernel))
		kernel->refused = TRY_ATTRIBUTES;
}

struct kernel *kernels_find(CUfunction function, CUcontext context)
{
	struct kernel *kernel;

	for (size_t i = capacity ? place_of(function, context) : 0; capacity && table[i];
	     i = (i + 1) & (capacity - 1))
		if (table[i]->function == function && table[i]->context == context)
			return table[i];
	if (2 * (used + 1) > capacity && !grow())
		return NULL;
	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return NULL;
	kernel->work = &work_kernel;
	kernel->function = function;
	kernel->context = context;
	ask(kernel);
	place(kernel);
	used++;
	return kernel;
}

static bool is_same_block(const struct shape *a, const struct shape *b)
{
	return !memcmp(a->block, b->block, sizeof(a->block)) && a->shared_bytes == b->shared_bytes;
}

bool kernel_accepts(const struct kernel *kernel, const struct shape *shape)
{
	unsigned count =
		kernel->accepted_count < KERNEL_SHAPES ? kernel->accepted_count : KERNEL_SHAPES;

	for (unsigned i = 0; i < count; i++)
		if (is_same_block(&kernel->accepted[i], shape))
			return true;
	return false;
}

/* The oldest one makes room. */
void kernel_accept(struct kernel *kernel, const struct shape *shape)
{
	if (!kernel_accepts(kernel, shape))
		kernel->accepted[kernel->accepted_count++ % KERNEL_SHAPES] = *shape;
}

void kernels_forget(void)
{
	for (size_t i = 0; i < capacity; i++)
		if (table[i]) {
			free(table[i]->parameters);
			free(table[i]);
		}
	free(table);
	table = NULL;
	capacity = used = 0;
}
