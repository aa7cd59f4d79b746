/*
 * pipeline.c - copies from page-locked memory to the GPU, kernels, and copies back, again and again: what comes back is looked at
 * once the program has waited for it, and only then what was copied from is changed.  Some of the copies are of other memory,
 * which may be changed at once.
 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_BYTES = 4096, COPIED_MOST = 300 };

/* Memory of one thread: page-locked, registered by the program, and any. */
static __thread unsigned char *pinned, *registered, *pageable;
static __thread CUevent event;
static __thread unsigned shape, rounds;

static void allocate_pinned(void)
{
	must(p_cuMemHostAlloc((void **)&pinned, HOST_BYTES, 0), "cuMemHostAlloc");
	memset(pinned, 1, HOST_BYTES);
}

static void set_up(void)
{
	allocate_pinned();
	registered = aligned_alloc(4096, HOST_BYTES);
	pageable = malloc(HOST_BYTES);
	must(!registered || !pageable, "malloc");
	must(p_cuMemHostRegister(registered, HOST_BYTES, 0), "cuMemHostRegister");
	must(p_cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
	for (unsigned i = 0; i < HOST_BYTES; i++)
		pinned[i] = registered[i] = pageable[i] = (unsigned char)i;
}

static void wait(CUstream stream)
{
	/* Where it counts as not done until somebody waited nobody can poll. */
	switch (getenv("FAKE_DRIVER_ORDER") ? below(2) : below(5)) {
	case 0:
		must(p_cuCtxSynchronize(), "cuCtxSynchronize");
		break;
	case 1:
		must(p_cuEventRecord(event, stream), "cuEventRecord");
		must(p_cuEventSynchronize(event), "cuEventSynchronize");
		break;
	case 2:
		must(p_cuEventRecord(event, stream), "cuEventRecord");
		while (p_cuEventQuery(event) == CUDA_ERROR_NOT_READY)
			;
		break;
	case 3:
		while (p_cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
			;
		break;
	default:
		must(p_cuStreamSynchronize(stream), "cuStreamSynchronize");
	}
}

static unsigned long sum_of(const unsigned char *bytes)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < HOST_BYTES; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

/* What may be refused is tried as well: memory of which a part is page-locked, or on the GPU. */
static void copy_beyond(CUstream stream)
{
	CUresult result;

	if (below(2))
		result = p_cuMemcpyHtoDAsync(buffers[0], pinned + HOST_BYTES - 64, 100, stream);
	else
		result = p_cuMemcpyDtoHAsync(pinned, buffers[0] + 4000, 200, stream);
	printf("beyond %d\n", result != CUDA_SUCCESS);
}

/* One round: there, kernels, and back. */
static void go_round(CUstream stream, unsigned char *from, unsigned char *to, unsigned bytes)
{
	struct launch launch = {.kind = 1 + shape % 2,
				.stream = 3 + shape % 2,
				.shape = 0,
				.target = shape % BUFFERS,
				.source = (shape + 1) % BUFFERS};

	must(p_cuMemcpyHtoDAsync(buffers[launch.target], from, bytes, stream), "there");
	if (from == pageable)
		memset(from, (int)below(256), bytes); /* it was copied */
	for (unsigned i = shape % 4; i > 0; i--)
		do_launch(&launch);
	must(p_cuMemcpyDtoHAsync(to + HOST_BYTES / 2, buffers[launch.target], bytes, stream),
	     "back");
	if (to == pageable)
		printf("at once %lx\n", sum_of(to));
}

/* The new memory has the address of the old, which may still be copied when it is freed. */
static void renew_pinned(CUstream stream, unsigned bytes)
{
	unsigned rounds_before = 1 + below(5);

	for (unsigned i = 0; i < rounds_before; i++) {
		go_round(stream, pinned, pinned, bytes);
		if (i + 1 < rounds_before)
			wait(stream);
	}
	must(p_cuMemFreeHost(pinned), "cuMemFreeHost");
	allocate_pinned();
	for (unsigned i = 0; i < 2; i++) {
		go_round(stream, pinned, pinned, bytes);
		wait(stream);
		printf("renewed %lx\n", sum_of(pinned));
	}
}

void step_pipeline(void)
{
	unsigned char *memory[4];
	unsigned bytes, repeats = 1 + below(12);
	CUstream stream;

	if (!pinned)
		set_up();
	if (!shape || below(4) == 0)
		shape = 1 + below(1000);
	bytes = 1 + shape % COPIED_MOST;
	stream = streams[3 + shape % 2];
	memory[0] = memory[1] = pinned;
	memory[2] = registered;
	memory[3] = pageable;
	for (unsigned i = 0; i < repeats; i++) {
		unsigned char *from = memory[shape / 2 % 4], *to = memory[shape / 8 % 4];

		for (unsigned k = 1 + shape / 32 % 3; k > 0; k--)
			go_round(stream, from, to, below(20) ? bytes : bytes / 2 + 1);
		wait(stream);
		printf("round %lx\n", sum_of(to));
		from[below(HOST_BYTES / 2)] += (unsigned char)below(2);
		if (below(10) == 0)
			copy_beyond(stream);
	}
	if (++rounds % 8 == 0) { /* which waits for what copies it */
		must(p_cuMemcpyHtoDAsync(buffers[1], registered, 64, stream), "there");
		must(p_cuMemHostUnregister(registered), "cuMemHostUnregister");
		memset(registered, (int)rounds, HOST_BYTES);
		must(p_cuMemHostRegister(registered, HOST_BYTES, 0), "cuMemHostRegister");
		must(p_cuMemcpyDtoH(pageable, buffers[1], 64), "cuMemcpyDtoH");
		printf("unregistered %lx\n", sum_of(pageable));
	}
	if (rounds % 3 == 0)
		renew_pinned(stream, bytes);
	report("pipeline", CUDA_SUCCESS);
}
