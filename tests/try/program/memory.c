/* memory.c - memory that is allocated, freed, freed twice, asked about and short. */
#include "program.h"

#include <stdio.h>

/* What memory contains that was just allocated is nothing to rely on. */
void allocate(unsigned buffer, size_t bytes, CUstream stream)
{
	must(p_cuMemAlloc(&buffers[buffer], bytes), "cuMemAlloc");
	p_fake_name(buffers[buffer], 1 + buffer);
	must(p_cuMemsetD8Async(buffers[buffer], 1, bytes, stream), "cuMemsetD8Async");
}

static void ask_about(CUdeviceptr address)
{
	CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
	unsigned type = 0;
	CUdeviceptr base = 0;
	size_t bytes = 0;
	int results[3];

	results[0] = (int)p_cuPointerGetAttribute(&type, attribute, address);
	results[1] = (int)p_cuMemGetAddressRange(&base, &bytes, address);
	results[2] = (int)p_cuPointerGetAttributes(1, &attribute, (void *[]){&type}, address);
	printf("pointer %d %d %d %u %d %zu\n", results[0], results[1], results[2], type,
	       base ? (int)(address - base) : -1, bytes);
}

static void ask_how_much(void)
{
	size_t free_bytes = 0, total = 0;
	CUdeviceptr large;
	CUresult result;

	if (below(2)) {
		result = p_cuMemGetInfo(&free_bytes, &total);
		printf("memory %d %zu %zu\n", (int)result, free_bytes, total);
	}
	result = p_cuMemAlloc(&large, LARGE_BYTES);
	printf("large %d\n", (int)result);
	if (result == CUDA_SUCCESS)
		must(p_cuMemFree(large), "cuMemFree");
}

static void in_short_context(void)
{
	CUcontext short_context, popped;
	CUdeviceptr memory[3];

	must(p_cuCtxCreate(&short_context, NULL, 0, 0), "cuCtxCreate");
	for (int times = 0; times < 3; times++) {
		for (int i = 0; i < 3; i++)
			must(p_cuMemAlloc(&memory[i], 4096), "cuMemAlloc");
		for (int i = 0; i < 2; i++)
			must(p_cuMemFree(memory[i]), "cuMemFree");
		if (below(2)) {
			must(p_cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
			printf("other context %d\n", (int)p_cuMemFree(memory[2]));
			must(p_cuCtxPushCurrent(short_context), "cuCtxPushCurrent");
		}
	}
	must(p_cuCtxDestroy(short_context), "cuCtxDestroy");
}

static void free_in_capture(CUdeviceptr address)
{
	CUgraph graph;

	must(p_cuStreamBeginCapture(streams[4], CU_STREAM_CAPTURE_MODE_RELAXED), "capture");
	printf("freed in capture %d\n", (int)p_cuMemFree(address));
	must(p_cuStreamEndCapture(streams[4], &graph), "cuStreamEndCapture");
	must(p_cuGraphDestroy(graph), "cuGraphDestroy");
}

static void free_some_way(CUdeviceptr address, CUstream stream)
{
	CUipcMemHandle handle;

	if (below(400) == 0)
		must(p_cuIpcGetMemHandle(&handle, address), "cuIpcGetMemHandle");
	switch (below(is_private ? 100 : 12)) {
	case 0:
		free_in_capture(address);
		break;
	case 1:
		must(p_cuMemFreeAsync(address, stream), "cuMemFreeAsync");
		break;
	default:
		report("free", p_cuMemFree(address));
		printf("unfinished %lu\n", p_fake_unfinished());
	}
	if (below(8) == 0)
		printf("freed twice %d\n", (int)p_cuMemFree(address));
	if (below(4) == 0)
		ask_about(address + below(64));
}

/* Most sizes come again. */
void renew_memory(void)
{
	static const size_t sizes[] = {256, 4096, 65536, 100000};
	unsigned first = 4 + below(4), count = 1 + below(3);
	CUstream stream = streams[3 + below(2)];

	for (unsigned times = 1 + below(6); times > 0; times--) {
		for (unsigned i = 0; i < count; i++)
			free_some_way(buffers[4 + (first + i) % 4], stream);
		if (below(8) == 0)
			ask_how_much();
		if (below(is_private ? 400 : 12) == 0)
			in_short_context();
		for (unsigned i = 0; i < count; i++) {
			size_t bytes = below(20) ? sizes[below(4)] : 300 + below(999);

			allocate(4 + (first + i) % 4, bytes, stream);
			if (below(4) == 0)
				ask_about(buffers[4 + (first + i) % 4] + below(64));
		}
		launch_phrase();
	}
}

static void allocate_and_free(size_t bytes)
{
	CUcontext of_memory = NULL, current = NULL;
	CUdeviceptr memory = 0;
	CUresult result = p_cuMemAlloc(&memory, bytes);

	printf("allocate %zu: %d\n", bytes, (int)result);
	if (result != CUDA_SUCCESS)
		return;
	must(p_cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_CONTEXT, memory), "context");
	must(p_cuCtxGetCurrent(&current), "cuCtxGetCurrent");
	printf("of the current context: %d\n", of_memory == current);
	must(p_cuMemFree(memory), "cuMemFree");
}

/* A size that comes again, in one context and then in another; and one for which what was freed before must be gone. */
void allocate_alone(void)
{
	for (unsigned i = 0; i < steps_left; i++)
		allocate_and_free(1 << 20);
	must(p_cuCtxPushCurrent(other_context), "cuCtxPushCurrent");
	allocate_and_free(1 << 20);
	must(p_cuCtxPopCurrent(&(CUcontext){NULL}), "cuCtxPopCurrent");
	allocate_and_free(LARGE_BYTES);
	report_wait("memory", p_cuCtxSynchronize());
}

/* Once a kernel has failed the driver refuses to allocate, so kept memory must not be handed out either. */
void allocate_after_fault(void)
{
	CUfunction fault;
	CUdeviceptr memory = 0;

	for (unsigned i = 0; i < steps_left; i++)
		allocate_and_free(1 << 16);
	must(p_cuModuleGetFunction(&fault, NULL, "fault"), "fault");
	must(p_cuMemAlloc(&memory, 1 << 12), "cuMemAlloc");
	report("launch", p_cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, streams[3], NULL, NULL));
	for (unsigned i = 0; i < steps_left; i++)
		allocate_and_free(1 << 16);
	report("free", p_cuMemFree(memory));
}
