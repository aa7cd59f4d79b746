#define _GNU_SOURCE
#include "arguments/parameter_layout.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counters/launch_call.h"
#include "guard.h"

#define PARAMETERS_MOST 4096 /* 4 KB of bytes; a kernel may take 32764 bytes */
#define LAYOUTS_MOST 4096
#define SLOTS 16384
#define PROBES 8
#define LAYOUT_BITS UINT64_C(0xffff)

/* The low bits of a slot: which layout, from 1; the others: of which kernel.  One word, so that a reader sees all of it
 * or nothing.  What is older than the last unloaded module is overwritten when there is no room. */
static uint64_t slots[SLOTS];
static uint64_t generation;

/* Kernels with equal parameters share a layout; none is ever freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct parameter_layout *layouts[LAYOUTS_MOST];
static size_t layout_count;

static struct {
	CUresult (*of_function)(CUfunction, size_t, size_t *, size_t *);
	CUresult (*of_kernel)(CUkernel, size_t, size_t *, size_t *);
} driver;

bool parameter_layouts_init(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		return false;
	*(void **)&driver.of_function = dlsym(library, "cuFuncGetParamInfo");
	*(void **)&driver.of_kernel = dlsym(library, "cuKernelGetParamInfo");
	return driver.of_function && driver.of_kernel;
}

void parameter_layouts_forget(void)
{
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
}

/* ---- asking the driver ---- */

/* What the runtime launches is a CUkernel. */
static CUresult ask(CUfunction function, bool is_kernel, size_t index, size_t *offset,
		    size_t *bytes)
{
	return is_kernel ? driver.of_kernel((CUkernel)function, index, offset, bytes)
			 : driver.of_function(function, index, offset, bytes);
}

static void ask_all(CUfunction function, bool is_kernel, struct parameter_layout *layout)
{
	size_t offset, bytes;

	while (layout->count < PARAMETERS_MOST &&
	       ask(function, is_kernel, layout->count, &offset, &bytes) == CUDA_SUCCESS) {
		layout->parameters[layout->count].offset = (uint32_t)offset;
		layout->parameters[layout->count++].bytes = (uint32_t)bytes;
	}
}

/* Returns false when neither kind of handle fits, or there are too many parameters.  INVALID_VALUE is the answer for a
 * parameter that a kernel does not have. */
static bool read_layout(CUfunction function, struct parameter_layout *layout)
{
	size_t offset, bytes;
	CUresult as_function = ask(function, false, 0, &offset, &bytes);
	CUresult as_kernel = as_function == CUDA_SUCCESS ? CUDA_SUCCESS
							 : ask(function, true, 0, &offset, &bytes);

	layout->count = 0;
	if (as_function != CUDA_SUCCESS && as_kernel != CUDA_SUCCESS)
		return as_function == CUDA_ERROR_INVALID_VALUE ||
		       as_kernel == CUDA_ERROR_INVALID_VALUE;
	ask_all(function, as_function != CUDA_SUCCESS, layout);
	return layout->count < PARAMETERS_MOST;
}

/* ---- keeping what it said ---- */

static size_t layout_bytes(const struct parameter_layout *layout)
{
	return sizeof(*layout) + layout->count * sizeof(*layout->parameters);
}

static bool is_equal(const struct parameter_layout *a, const struct parameter_layout *b)
{
	return a->count == b->count && !memcmp(a, b, layout_bytes(a));
}

/* Its number from 1, or 0 without room.  Under the lock. */
static uint64_t keep_layout(const struct parameter_layout *layout)
{
	struct parameter_layout *copy;

	for (size_t i = 0; i < layout_count; i++)
		if (is_equal(layouts[i], layout))
			return i + 1;
	copy = layout_count < LAYOUTS_MOST ? malloc(layout_bytes(layout)) : NULL;
	if (!copy)
		return 0;
	memcpy(copy, layout, layout_bytes(layout));
	layouts[layout_count++] = copy;
	return layout_count;
}

/* The driver is not asked under the lock. */
static uint64_t find_layout(CUfunction function)
{
	struct parameter_layout *layout =
		malloc(sizeof(*layout) + PARAMETERS_MOST * sizeof(*layout->parameters));
	uint64_t number = 0;

	if (layout && read_layout(function, layout)) {
		pthread_mutex_lock(&lock);
		number = keep_layout(layout);
		pthread_mutex_unlock(&lock);
	}
	free(layout);
	return number;
}

static uint64_t *slot_of(uint64_t subject, size_t probe)
{
	return &slots[((subject >> 16) + probe) % SLOTS];
}

/* Two threads that come at once both find out, and the slots agree. */
static uint64_t learn(CUfunction function, uint64_t subject)
{
	uint64_t *slot =
		slot_of(subject, (subject >> 40) % PROBES); /* of those that are all taken */
	struct guard guard;
	uint64_t number;

	guard_enter_long(&guard); /* the driver may load the kernel first */
	number = find_layout(function);
	guard_leave(&guard);
	for (size_t probe = 0; probe < PROBES; probe++)
		if (!__atomic_load_n(slot_of(subject, probe), __ATOMIC_RELAXED)) {
			slot = slot_of(subject, probe);
			break;
		}
	__atomic_store_n(slot, subject | number, __ATOMIC_RELEASE);
	return number;
}

static uint64_t number_of(CUfunction function)
{
	uint64_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	uint64_t subject = launch_call_mix(launch_call_mix(1, (uintptr_t)function), now);

	subject &= ~LAYOUT_BITS;
	for (size_t probe = 0; probe < PROBES; probe++) {
		uint64_t found = __atomic_load_n(slot_of(subject, probe), __ATOMIC_ACQUIRE);

		if (found && (found & ~LAYOUT_BITS) == subject)
			return found & LAYOUT_BITS;
		if (!found)
			break;
	}
	return learn(function, subject);
}

const struct parameter_layout *parameter_layout_of(CUfunction function)
{
	uint64_t number = function && driver.of_kernel ? number_of(function) : 0;

	return number ? layouts[number - 1] : NULL;
}
