/*
 * sample_gpu.c - samples are made of the kernels that ran when somebody asks for them, not by a thread.
 */
#define _GNU_SOURCE
#include "sample_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "samples.h"

pthread_mutex_t mock_gpu_lock = PTHREAD_MUTEX_INITIALIZER;
struct mock_sampler mock_samplers[MOCK_GPUS];

/* Another thread of the parent may have held it. */
static void forked(void)
{
	pthread_mutex_init(&mock_gpu_lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

/* ---- kernels ---- */

static void *grown(void *memory, size_t bytes)
{
	memory = realloc(memory, bytes);
	if (!memory)
		abort();
	return memory;
}

static const char tensor_name[] = "gemm";

static bool is_tensor_kernel(const char *name)
{
	return strstr(name, tensor_name) != NULL;
}

/* One that is heard of late, because its thread had to wait for a processor, moves to the samples to
 * come, so that every kernel is in exactly one. */
void mock_sample_kernel(struct mock_kernel *kernel)
{
	struct mock_sampler *sampler = &mock_samplers[kernel->device % MOCK_GPUS];

	if (!__atomic_load_n(&sampler->is_started, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&mock_gpu_lock);
	if (sampler->is_started && !sampler->has_overflowed) {
		uint64_t late_ns = kernel->start_ns < sampler->sampled_ns
					   ? sampler->sampled_ns - kernel->start_ns
					   : 0;

		kernel->start_ns += late_ns;
		kernel->end_ns += late_ns;
		if (sampler->kernel_count == sampler->kernel_room) {
			sampler->kernel_room = 2 * sampler->kernel_room + 64;
			sampler->kernels = grown(sampler->kernels,
						 sampler->kernel_room * sizeof(*sampler->kernels));
		}
		sampler->kernels[sampler->kernel_count] = *kernel;
		/* The name may be freed before samples are made; they ask only this of it. */
		sampler->kernels[sampler->kernel_count++].name =
			is_tensor_kernel(kernel->name) ? tensor_name : "";
		mock_write_line("MOCK_SAMPLED_FILE", "%u,%llu,%llu,%u,%s,%s\n", kernel->device,
				(unsigned long long)kernel->start_ns,
				(unsigned long long)kernel->end_ns, kernel->blocks, kernel->name,
				kernel->is_recorded ? "recorded" : "unrecorded");
	}
	pthread_mutex_unlock(&mock_gpu_lock);
}

static int compare_starts(const void *left, const void *right)
{
	const struct mock_kernel *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Those that have ended are of no use to samples that begin later. */
static void forget_kernels(struct mock_sampler *sampler)
{
	size_t kept = 0;

	for (size_t i = 0; i < sampler->kernel_count; i++)
		if (sampler->kernels[i].end_ns > sampler->sampled_ns ||
		    sampler->kernels[i].start_ns >= sampler->sampled_ns)
			sampler->kernels[kept++] = sampler->kernels[i];
	sampler->kernel_count = kept;
}

/* ---- samples, under the lock ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The part of a sample that is one kernel's; before begin_ns others have covered it. */
static double part_ns(const struct mock_sample *sample, const struct mock_kernel *kernel,
		      uint64_t begin_ns)
{
	uint64_t from = later(later(sample->start_ns, kernel->start_ns), begin_ns);
	uint64_t to = earlier(sample->end_ns, kernel->end_ns);

	return to > from ? (double)(to - from) : 0;
}

/* Of kernels in the order of their starts; covered_ns: until where the earlier ones cover all. */
static void add_kernel(struct mock_sample *sample, const struct mock_kernel *kernel,
		       uint64_t covered_ns, uint64_t tensor_ns)
{
	double length_ns = (double)(kernel->end_ns - kernel->start_ns);
	bool starts_here =
		kernel->start_ns >= sample->start_ns && kernel->start_ns < sample->end_ns;

	sample->dispatches += starts_here;
	sample->blocks += starts_here ? kernel->blocks : 0;
	sample->covered_ns += part_ns(sample, kernel, covered_ns);
	if (is_tensor_kernel(kernel->name))
		sample->tensor_ns += part_ns(sample, kernel, tensor_ns);
	if (length_ns > 0)
		sample->spread_blocks += kernel->blocks * part_ns(sample, kernel, 0) / length_ns;
	else if (starts_here)
		sample->spread_blocks += kernel->blocks;
	sample->is_active = sample->covered_ns > 0;
}

/* Adds every kernel to those of the count samples, each interval_ns long, that it concerns. */
static void add_kernels(struct mock_sampler *sampler, struct mock_sample *samples, size_t count)
{
	uint64_t first_ns = samples[0].end_ns - sampler->interval_ns;
	uint64_t covered_ns = 0, tensor_ns = 0;

	qsort(sampler->kernels, sampler->kernel_count, sizeof(*sampler->kernels), compare_starts);
	for (size_t i = 0; i < sampler->kernel_count; i++) {
		const struct mock_kernel *kernel = &sampler->kernels[i];
		uint64_t from_ns = later(kernel->start_ns, first_ns);

		for (size_t at = (from_ns - first_ns) / sampler->interval_ns;
		     at < count && (samples[at].start_ns < kernel->end_ns ||
				    samples[at].start_ns <= kernel->start_ns);
		     at++)
			add_kernel(&samples[at], kernel, covered_ns, tensor_ns);
		covered_ns = later(covered_ns, kernel->end_ns);
		if (is_tensor_kernel(kernel->name))
			tensor_ns = later(tensor_ns, kernel->end_ns);
	}
}

static void make_samples(struct mock_sampler *sampler, size_t count)
{
	struct mock_sample *samples;

	sampler->buffer =
		grown(sampler->buffer, (sampler->held + count) * sizeof(*sampler->buffer));
	samples = sampler->buffer + sampler->held;
	for (size_t i = 0; i < count; i++) {
		sampler->sampled_ns += sampler->interval_ns;
		samples[i] = (struct mock_sample){.start_ns = sampler->first_ns,
						  .end_ns = sampler->sampled_ns,
						  .one = 1,
						  .elapsed_ns = (double)(sampler->sampled_ns -
									 sampler->first_ns)};
		sampler->first_ns = sampler->sampled_ns;
	}
	if (sampler->kernel_count)
		add_kernels(sampler, samples, count);
	sampler->held += count;
}

void mock_gpu_fill_buffer(struct mock_sampler *sampler)
{
	uint64_t now_ns = mock_now_ns();
	size_t count;

	if (!sampler->is_started || sampler->has_overflowed || now_ns < sampler->sampled_ns)
		return;
	count = (now_ns - sampler->sampled_ns) / sampler->interval_ns;
	sampler->has_overflowed = sampler->held + count > sampler->capacity;
	if (count && !sampler->has_overflowed)
		make_samples(sampler, count);
	forget_kernels(sampler);
}

void mock_device_launch(uint32_t device, const char *name, unsigned int blocks, uint64_t busy_ns)
{
	uint64_t now_ns = mock_now_ns();
	struct mock_kernel kernel = {
		.device = device,
		.name = name,
		.blocks = blocks,
		.start_ns = now_ns,
		.end_ns = now_ns + busy_ns,
	};

	mock_sample_kernel(&kernel);
}
