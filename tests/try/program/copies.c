/*
 * copies.c - copies between the host and the GPU of every form and of sizes up to many pieces, to memory of every kind, and to
 * addresses that are bad, in the middle as well.
 */
#define _GNU_SOURCE
#include "program.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PLACES = 3, GPU_BYTES = 18 << 20, PAGE_BYTES = 4096, FORMS = 4 };

/* Memory for the copies of one thread. */
static struct place {
	CUdeviceptr gpu;
	unsigned char *host, *pinned;
	size_t bytes; /* of the last copy to the GPU */
	unsigned long sum;
} places[PLACES];

bool has_copies, has_turns;

/* Behind it a page that cannot be touched; memory of the GPU that has room behind what is copied. */
void allocate_for_copies(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 20); /* a mapping of its own, unless enough is free */
	for (struct place *place = places; place < places + PLACES; place++) {
		must(p_cuMemAlloc(&place->gpu, GPU_BYTES + PAGE_BYTES), "cuMemAlloc");
		p_fake_name(place->gpu, 100 + (place - places));
		if (!is_private)
			must(p_cuMemHostAlloc((void **)&place->pinned, 2 << 20, 0),
			     "cuMemHostAlloc");
		place->host = mmap(NULL, GPU_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		must(place->host == MAP_FAILED, "mmap");
		must(mprotect(place->host + GPU_BYTES, PAGE_BYTES, PROT_NONE) != 0, "mprotect");
	}
}

/* Around the sizes at which something changes. */
static size_t some_bytes(void)
{
	static const size_t sizes[] = {100,	128 << 10, 512 << 10, 1 << 20,
				       3 << 19, 2 << 20,   8 << 20,   16 << 20};
	size_t bytes = sizes[below(8)];

	switch (below(5)) {
	case 0:
		return bytes - 1;
	case 1:
		return bytes + 1;
	case 2:
		return bytes + below(bytes < 1000 ? 100 : 1 << 20);
	default:
		return bytes;
	}
}

static void fill(unsigned char *bytes, size_t count)
{
	uint64_t word = chance | 1;
	size_t i = 0;

	for (; i + sizeof(word) <= count; i += sizeof(word), word += 0x9e3779b97f4a7c15u)
		memcpy(bytes + i, &word, sizeof(word));
	for (; i < count; i++)
		bytes[i] = (unsigned char)i;
}

static unsigned long sum_of(const unsigned char *bytes, size_t count)
{
	uint64_t word, sum = count;
	size_t i = 0;

	for (; i + sizeof(word) <= count; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	for (; i < count; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static CUresult to_gpu(unsigned form, CUdeviceptr gpu, unsigned char *host, size_t bytes,
		       CUstream stream)
{
	switch (form) {
	case 0:
		return p_cuMemcpyHtoD(gpu, host, bytes);
	case 1:
		return p_cuMemcpyHtoDAsync(gpu, host, bytes, stream);
	case 2:
		return p_cuMemcpy(gpu, (CUdeviceptr)(uintptr_t)host, bytes);
	default:
		return p_cuMemcpyAsync(gpu, (CUdeviceptr)(uintptr_t)host, bytes, stream);
	}
}

static CUresult to_host(unsigned form, unsigned char *host, CUdeviceptr gpu, size_t bytes,
			CUstream stream)
{
	switch (form) {
	case 0:
		return p_cuMemcpyDtoH(host, gpu, bytes);
	case 1:
		return p_cuMemcpyDtoHAsync(host, gpu, bytes, stream);
	case 2:
		return p_cuMemcpy((CUdeviceptr)(uintptr_t)host, gpu, bytes);
	default:
		return p_cuMemcpyAsync((CUdeviceptr)(uintptr_t)host, gpu, bytes, stream);
	}
}

static void tell(struct place *place, const char *what, CUresult result, unsigned long sum)
{
	place->sum = place->sum * 31 + sum * 7 + result;
	if (has_turns) /* else threads may print at the same time */
		printf("%s %d %lx\n", what, (int)result, sum);
}

/* What the stand-in takes for one copy ends here. */
static void change_on_gpu(struct place *place, CUstream stream)
{
	must(p_cuMemsetD8Async(place->gpu + below(50), (unsigned char)below(256), 1 + below(40),
			       stream),
	     "cuMemsetD8Async");
}

/* The memory of the host is free again when the call returns. */
static void bring(struct place *place, unsigned char *host, CUstream stream)
{
	size_t from = below(3) ? 0 : below(place->bytes < 5000 ? 99 : 5000);
	CUresult result;

	fill(host + from, place->bytes - from);
	result = to_gpu(below(FORMS), place->gpu + from, host + from, place->bytes - from, stream);
	memset(host, 0xee, place->bytes);
	change_on_gpu(place, stream);
	tell(place, "brought", result, from);
}

static void take_back(struct place *place, unsigned char *host, CUstream stream)
{
	CUresult result = to_host(below(FORMS), host, place->gpu, place->bytes, stream);

	change_on_gpu(place, stream);
	tell(place, "taken", result, sum_of(host, place->bytes));
}

/* How much of what lies behind a bad address was copied is not certain: so that nobody reads it. */
static void fill_behind(struct place *place, size_t hole, size_t bytes, CUstream stream)
{
	memset(place->host + hole, 0xee, bytes - hole);
	must(p_cuMemsetD8Async(place->gpu + hole, 0xee, bytes - hole, stream), "cuMemsetD8Async");
}

/* Where the last byte, or one in the middle, cannot be read, or written, or is not the GPU's. */
static void fail(struct place *place, CUstream stream)
{
	size_t bytes = (2 << 20) + below(1 << 20), hole = PAGE_BYTES * (below(400) + 1);
	unsigned char *host = place->host;
	bool is_to_host = below(2);
	unsigned way = below(5), form = below(2);
	CUdeviceptr gpu = place->gpu;
	CUresult result;

	if (way == 0)
		host += GPU_BYTES - bytes + 1;
	if (way == 1)
		gpu += GPU_BYTES + PAGE_BYTES - bytes + 1;
	if (way == 2)
		host = NULL;
	if (way > 2)
		must(mprotect(host + hole, PAGE_BYTES,
			      way == 4 && is_to_host ? PROT_READ : PROT_NONE) != 0,
		     "mprotect");
	result = is_to_host ? to_host(form, host, gpu, bytes, stream)
			    : to_gpu(form, gpu, host, bytes, stream);
	change_on_gpu(place, stream);
	if (way > 2) {
		must(mprotect(host + hole, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0, "mprotect");
		fill_behind(place, hole, bytes, stream);
	}
	tell(place, "failed", result, way > 2 ? sum_of(place->host, hole) : 0);
}

static void copy_in_capture(struct place *place)
{
	CUgraph graph;
	CUresult result;

	must(p_cuStreamBeginCapture(streams[4], CU_STREAM_CAPTURE_MODE_RELAXED), "capture");
	result = to_gpu(1, place->gpu, place->host, 2 << 20, streams[below(2) ? 4 : 3]);
	must(p_cuStreamEndCapture(streams[4], &graph), "cuStreamEndCapture");
	must(p_cuGraphDestroy(graph), "cuGraphDestroy");
	tell(place, "captured", result, 0);
}

/* All of it, or the middle alone. */
static void copy_registered(struct place *place, CUstream stream)
{
	bool is_all = below(2);

	place->bytes = (2 << 20) - below(100);
	must(p_cuMemHostRegister(place->host + (is_all ? 0 : 1 << 20), is_all ? 2 << 20 : 4096, 0),
	     "cuMemHostRegister");
	bring(place, place->host, stream);
	must(p_cuStreamSynchronize(stream), "cuStreamSynchronize");
	take_back(place, place->host, stream);
	must(p_cuMemHostUnregister(place->host + (is_all ? 0 : 1 << 20)), "cuMemHostUnregister");
}

/* ---- memory that goes ---- */

/* Before the kernel is told to: the stand-in has no other way to know. */
static void about_to_unmap(const struct place *place, size_t from, size_t bytes)
{
	p_fake_unmaps(place->host + from, bytes);
}

static void map_again(const struct place *place, size_t from, size_t bytes)
{
	must(mmap(place->host + from, bytes, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED,
	     "mmap");
}

/* To another address, where it is copied from as well, and new memory in its place. */
static void move(struct place *place, size_t from, size_t bytes, CUstream stream)
{
	unsigned char *moved =
		mremap(place->host + from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		       mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	must(moved == MAP_FAILED, "mremap");
	map_again(place, from, bytes);
	place->bytes = bytes;
	bring(place, moved, stream);
	take_back(place, moved, stream);
	p_fake_unmaps(moved, bytes);
	must(munmap(moved, bytes) != 0, "munmap");
}

/* The pages of a buffer that was copied become others at the same address, by every way that there is. */
static void renew_pages(struct place *place, CUstream stream)
{
	size_t from = PAGE_BYTES * below(1 << 10), bytes = PAGE_BYTES * (1 + below(1 << 9));

	about_to_unmap(place, from, bytes);
	/* The last two leave a hole, which another thread may be given. */
	switch (below(has_turns ? 5 : 3)) {
	case 0:
		map_again(place, from, bytes);
		break;
	case 1:
		must(madvise(place->host + from, bytes, MADV_DONTNEED) != 0, "madvise");
		break;
	case 2:
		must(madvise(place->host + from, bytes, MADV_FREE) != 0, "madvise");
		break;
	case 3:
		must(munmap(place->host + from, bytes) != 0, "munmap");
		map_again(place, from, bytes);
		break;
	default:
		move(place, from, bytes, stream);
	}
}

/* What was unmapped is copied again, from the same address. */
static void copy_renewed(struct place *place, CUstream stream)
{
	place->bytes = (4 << 20) - below(100);
	for (unsigned i = 0; i < 3; i++) {
		bring(place, place->host, stream);
		take_back(place, place->host, stream);
		if (i == 1)
			renew_pages(place, stream);
		if (below(2))
			take_back(place, place->host, stream);
	}
}

/* What malloc mapped for it alone, as the word in front of it says, is unmapped; other memory stays, and is handed out again. */
static void give_up(void *host)
{
	enum { IS_MAPPED = 2 };
	const size_t *word = (const size_t *)((uintptr_t)host - sizeof(*word));

	if (*word & IS_MAPPED)
		p_fake_unmaps(host, malloc_usable_size(host));
	free(host);
}

/* From now on malloc has some megabytes that were freed and are not unmapped.  What it returns ends that when it is freed. */
static void *make_free(void)
{
	enum { PARTS = 13, PART_BYTES = 512 << 10 };
	void *parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		must(!(parts[i] = malloc(PART_BYTES)), "malloc");
	for (int i = 0; i < PARTS - 1; i++)
		free(parts[i]);
	return parts[PARTS - 1];
}

/* As programs do: with what malloc gives, and takes back, at the same address again and again. */
static void copy_allocated(struct place *place, CUstream stream)
{
	static const size_t sizes[] = {1 << 20, 3 << 20, 5 << 20};
	enum { TIMES = 6 };
	unsigned char *host = malloc(sizes[0]);
	void *behind = NULL;

	for (unsigned i = 0; i < TIMES; i++) {
		place->bytes = sizes[below(3)];
		give_up(host);
		if (i == TIMES / 2)
			behind = make_free();
		host = malloc(place->bytes);
		if (!host)
			abort();
		bring(place, host, stream);
		if (below(2))
			bring(place, host, stream);
		take_back(place, host, stream);
	}
	give_up(host);
	free(behind);
}

/* Parts of what was copied, small ones as well, behind each other and overlapping. */
static void copy_parts(struct place *place, CUstream stream)
{
	size_t all = 6 << 20, bytes = (1 << 20) + below(1 << 20);
	struct place part = *place;

	for (size_t from = below(PAGE_BYTES); from + bytes < all;
	     from += below(4) ? bytes : bytes / 2) {
		part.gpu = place->gpu + from;
		part.bytes = below(4) ? bytes : below(100000) + 1;
		bring(&part, place->host + from, stream);
		take_back(&part, place->host + from, stream);
	}
	place->sum = part.sum;
}

/* What the driver says of memory that was copied again and again. */
static void ask_about(struct place *place, CUstream stream)
{
	unsigned type = 0;
	CUresult result;

	place->bytes = 2 << 20;
	bring(place, place->host, stream);
	bring(place, place->host, stream);
	result = p_cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
					 (CUdeviceptr)(uintptr_t)(place->host + 5000));
	tell(place, "asked", result, type);
	bring(place, place->host, stream);
	bring(place, place->host, stream);
	tell(place, "flags", p_cuMemHostGetFlags(&type, place->host), type);
	bring(place, place->host, stream);
	bring(place, place->host, stream);
	tell(place, "unregistered", p_cuMemHostUnregister(place->host), 0);
}

static void copy_pinned(struct place *place, CUstream stream)
{
	place->bytes = (2 << 20) - below(100);
	fill(place->pinned, place->bytes);
	tell(place, "pinned", to_gpu(below(FORMS), place->gpu, place->pinned, place->bytes, stream),
	     0);
	must(p_cuStreamSynchronize(stream), "cuStreamSynchronize");
	take_back(place, place->pinned, stream);
}

/* The pinned memory of the tested library is not that of one context alone. */
static void copy_in_short_context(struct place *place)
{
	CUdeviceptr gpu, before = place->gpu;
	CUcontext short_context;

	must(p_cuCtxCreate(&short_context, NULL, 0, 0), "cuCtxCreate");
	must(p_cuMemAlloc(&gpu, GPU_BYTES + PAGE_BYTES), "cuMemAlloc");
	p_fake_name(gpu, 200);
	place->gpu = gpu;
	place->bytes = 9 << 20;
	bring(place, place->host, NULL);
	take_back(place, place->host, NULL);
	place->gpu = before;
	place->bytes = 100;
	must(p_cuCtxDestroy(short_context), "cuCtxDestroy");
}

void copy_much(unsigned number)
{
	struct place *place = &places[number];
	CUstream stream = streams[3 + (has_turns ? below(3) : number)];

	if (has_turns && below(3) == 0)
		stream = streams[below(3)];
	place->bytes = some_bytes();
	bring(place, place->host, stream);
	if (below(3) == 0)
		bring(place, place->host, stream);
	take_back(place, place->host, stream);
	if (below(3) == 0)
		fail(place, stream);
	if (below(3) == 0)
		copy_renewed(place, stream);
	if (below(5) == 0)
		copy_allocated(place, stream);
	if (below(5) == 0)
		copy_parts(place, stream);
	if (is_private) /* nothing of the host's that the GPU may write, and one context */
		return;
	if (below(5) == 0)
		ask_about(place, stream);
	if (below(6) == 0)
		copy_registered(place, stream);
	if (below(6) == 0)
		copy_pinned(place, stream);
	if (has_turns && below(6) == 0)
		copy_in_capture(place);
	if (has_turns && below(6) == 0)
		copy_in_short_context(place);
}

unsigned long sum_of_copies(unsigned number)
{
	return places[number].sum;
}

unsigned copy_in_child(void)
{
	places[0].bytes = 3 << 20;
	/* All of it: what was put off before the fork is not done in the child. */
	fill(places[0].host, places[0].bytes);
	(void)to_gpu(below(FORMS), places[0].gpu, places[0].host, places[0].bytes, NULL);
	take_back(&places[0], places[0].host, NULL);
	return (unsigned)(places[0].sum % 100);
}

/* A callback writes what is copied, in front of the copy in its stream. */
static void fill_later(void *number)
{
	memset(places[0].host, (int)*(unsigned *)number, places[0].bytes);
}

void copy_behind(void)
{
	struct place *place = &places[0];

	for (unsigned i = 1; i <= steps_left; i++) {
		place->bytes = below(2) ? 4 << 20 : 100 << 10;
		memset(place->host, 0xee, place->bytes);
		must(p_cuLaunchHostFunc(streams[below(3)], fill_later, &i), "cuLaunchHostFunc");
		must(to_gpu(2 * below(2), place->gpu, place->host, place->bytes, NULL), "there");
		memset(place->host, 0xdd, place->bytes);
		must(p_cuMemcpyDtoH(place->host, place->gpu, place->bytes), "back");
		printf("%u: %lx\n", i, sum_of(place->host, place->bytes));
	}
}

/* Copies of four megabytes, there and back. */
static void copy_there(bool is_async)
{
	const struct place *place = &places[0];

	must(is_async ? p_cuMemcpyHtoDAsync(place->gpu, place->host, place->bytes, NULL)
		      : p_cuMemcpyHtoD(place->gpu, place->host, place->bytes),
	     "there");
}

void copy_alike(bool is_async)
{
	places[0].bytes = 4 << 20;
	for (unsigned i = 0; i < steps_left; i++) {
		copy_there(is_async);
		must(p_cuMemcpyDtoH(places[0].host, places[0].gpu, places[0].bytes), "back");
	}
}
