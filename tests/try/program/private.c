/* private.c - a program of whose memory the host sees nothing, until it allocates some that it does, or loads code that prints. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_private;
static int *told_value;
static bool has_print;
static int last_value;

static const char silent_code[] = ".version 8.0\n.target sm_90\n.visible .entry fill() { ret; }\n";
static const char printing_code[] = ".version 8.0\n.target sm_90\n.extern .func vprintf\n";

/* Code is loaded before anything is launched, and some also later. */
void load_code(bool is_printing)
{
	const char *image = is_printing ? printing_code : silent_code;
	CUmodule module;
	CUlibrary library;

	if (below(2))
		must(p_cuModuleLoadData(&module, image), "cuModuleLoadData");
	else
		must(p_cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0),
		     "cuLibraryLoadData");
	has_print |= is_printing;
}

static void expose_by(unsigned way)
{
	CUdeviceptr managed;

	switch (way) {
	case 0:
		must(p_cuMemHostAlloc((void **)&told_value, sizeof(*told_value), 0), "pinned");
		break;
	case 1:
		must(p_cuMemAllocManaged(&managed, sizeof(*told_value), CU_MEM_ATTACH_GLOBAL),
		     "managed");
		told_value = (int *)managed;
		break;
	case 2:
		told_value = malloc(sizeof(*told_value));
		must(p_cuMemHostRegister(told_value, sizeof(*told_value), 0), "registered");
		break;
	default:
		load_code(true);
	}
	if (told_value)
		*told_value = 0;
}

void expose(void)
{
	static bool is_exposed;

	const char *order = getenv("FAKE_DRIVER_ORDER");

	if (is_exposed || below(3) || !order || strcmp(order, "1") != 0) /* else it has no order */
		return;
	is_exposed = true;
	expose_by((seed + below(2)) % 4);
	report_wait("exposed", p_cuCtxSynchronize());
}

void tell_host(void)
{
	int value = ++last_value;
	void *of_tell[] = {&told_value, &value}, *of_print[] = {&value};
	CUstream stream = streams[below(STREAMS)];
	CUfunction function;

	if (!told_value && !has_print)
		return;
	must(p_cuModuleGetFunction(&function, NULL, has_print ? "print" : "tell"), "telling");
	must(p_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, has_print ? of_print : of_tell,
			      NULL),
	     "telling");
	if (below(2))
		report_wait("waited",
			    below(2) ? p_cuStreamSynchronize(stream) : p_cuCtxSynchronize());
}

/* What the host finds where kernels write: without a call of the driver. */
void look_at_told(void)
{
	if (told_value)
		printf("told %d\n", __atomic_load_n(told_value, __ATOMIC_ACQUIRE));
}

void copy_in(void)
{
	unsigned char bytes[64];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)below(256);
	report("copy in", p_cuMemcpyHtoD(buffers[below(BUFFERS)], bytes, sizeof(bytes)));
}
