/* launches.c - launches of kernels of every kind. */
#include "program.h"

#include <stdio.h>
#include <string.h>

__thread struct launch phrase[PHRASE_MAX];
__thread unsigned phrase_length;

static CUresult launch_with(const struct launch *launch, void **parameters)
{
	static const unsigned shapes[SHAPES][3] = {{1, 32, 0},	  {7, 128, 0}, {64, 256, 1024},
						   {7, 128, 512}, {0, 32, 0},  {1, 2048, 0}};
	const unsigned *shape = shapes[launch->shape];
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
	CUlaunchConfig config = {shape[0],   1,
				 1,	     shape[1],
				 1,	     1,
				 shape[2],   streams[launch->stream],
				 &attribute, launch->is_ex == 2};
	CUfunction function = kernels[launch->kind][launch->is_handle];

	if (launch->is_ex)
		return p_cuLaunchKernelEx(&config, function, parameters, NULL);
	return p_cuLaunchKernel(function, shape[0], 1, 1, shape[1], 1, 1, shape[2],
				streams[launch->stream], parameters, NULL);
}

/* In memory of 256 bytes at least. */
static CUresult set_or_copy(const struct launch *launch, CUdeviceptr target)
{
	CUstream stream = streams[launch->stream];
	unsigned value = below(3), count = below(30) ? 16 : 1 + below(8);

	switch (launch->memory) {
	case 1:
		return p_cuMemsetD8Async(target, (unsigned char)value, count, stream);
	case 2:
		return p_cuMemsetD16Async(target + 2, (unsigned short)value, count, stream);
	case 3:
		return p_cuMemcpyDtoDAsync(target, buffers[launch->source], count, stream);
	case 4:
		return p_cuMemsetD32Async(target + 4, value, count, stream);
	case 5:
		return p_cuMemsetD8Async(target, 1, 1 << 20, stream);
	case 6:
		return p_cuMemsetD32Async(target + 1, 1, 1, stream);
	case 7:
		return p_cuMemcpyDtoDAsync(target, 64, 8, stream);
	default:
		return p_cuMemsetD8Async(target, 1, 0, stream);
	}
}

/* The parameters are overwritten as soon as the call has returned. */
void do_launch(const struct launch *launch)
{
	static __thread char large[4000];
	CUdeviceptr target = buffers[launch->target], source = buffers[launch->source];
	int ints[40];
	char tag = (char)below(3);
	double factor = below(2);
	short last = (short)below(2);
	void *parameters[41] = {&target};
	CUresult result;

	if (launch->memory) {
		result = set_or_copy(launch, target);
		if (result != CUDA_SUCCESS)
			printf("memory %d\n", (int)result);
		return;
	}
	for (int i = 0; i < 40; i++) {
		ints[i] = i + (int)below(40) / 39;
		parameters[i + 1] = &ints[i];
	}
	if (launch->kind == 2)
		memcpy(parameters, (void *[]){&target, &source, &tag, &factor, &last},
		       5 * sizeof(void *));
	if (launch->kind == 4) {
		memset(large, (int)below(2), sizeof(large));
		parameters[1] = large;
	}
	result = launch_with(launch, parameters);
	memset(ints, 0x55, sizeof(ints));
	memset(large, 0x55, sizeof(large));
	target = source = 0;
	if (result != CUDA_SUCCESS)
		printf("launch %d\n", (int)result);
}

void packed_launch(void)
{
	struct {
		CUdeviceptr target;
		int count, value;
	} packed = {buffers[below(BUFFERS)], 3, 4};
	size_t bytes = sizeof(packed);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, CU_LAUNCH_PARAM_END};

	must(p_cuLaunchKernel(kernels[1][0], 1, 1, 1, 32, 1, 1, 0, streams[below(STREAMS)], NULL,
			      extra),
	     "packed");
}

void new_phrase(void)
{
	unsigned stream = below(STREAMS);
	bool is_mixed = below(3) == 0, is_bad = below(8) == 0;

	phrase_length = 1 + below(below(2) ? 8 : PHRASE_MAX);
	for (unsigned i = 0; i < phrase_length; i++)
		phrase[i] = (struct launch){.kind = below(is_bad ? KINDS : KINDS - 1),
					    .is_handle = below(2),
					    .stream = is_mixed ? below(STREAMS) : stream,
					    .shape = below(is_bad ? SHAPES : SHAPES - 2),
					    .is_ex = below(6) == 0 ? 1 + below(2) : 0,
					    .memory = below(6) ? 0 : 1 + below(is_bad ? 8 : 4),
					    .target = below(BUFFERS),
					    .source = below(BUFFERS)};
}

void launch_phrase(void)
{
	for (unsigned i = 0; i < phrase_length; i++)
		do_launch(&phrase[i]);
}
