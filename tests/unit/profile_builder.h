/*
 * profile_builder.h - profiles made by hand: what a test says happened, without a recording.
 *
 * Add calls before the operations that they launch; then builder_finish()
 * brings both into the order that struct profile promises.  Fixed room keeps it
 * simple: a test that needs more than that fails at once.
 */
#ifndef ROOFLINE_TEST_PROFILE_BUILDER_H
#define ROOFLINE_TEST_PROFILE_BUILDER_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/profile.h"

#define BUILDER_ROOM 4096
#define BUILDER_SMALL 128

struct builder {
	struct profile profile;
	struct profile_process processes[BUILDER_SMALL];
	struct profile_device devices[BUILDER_SMALL];
	struct profile_stream streams[BUILDER_SMALL];
	struct profile_thread threads[BUILDER_SMALL];
	char *kernel_names[BUILDER_SMALL];
	struct profile_signature signatures[BUILDER_SMALL];
	struct profile_call_name call_names[BUILDER_SMALL];
	struct profile_copy copies[BUILDER_ROOM];
	struct profile_memset memsets[BUILDER_ROOM];
	struct profile_graph_launch graph_launches[BUILDER_ROOM];
	struct profile_op ops[BUILDER_ROOM];
	struct profile_op_ids op_ids[BUILDER_ROOM];
	struct profile_call calls[BUILDER_ROOM];
	struct profile_range ranges[BUILDER_ROOM];
	struct profile_overhead overheads[BUILDER_ROOM];
	struct profile_jit jits[BUILDER_ROOM];
	struct profile_load loads[BUILDER_ROOM];
	struct profile_module modules[BUILDER_ROOM];
	struct profile_module_kernel module_kernels[BUILDER_SMALL];
	struct profile_metric metrics[2 * BUILDER_SMALL];
	struct profile_counter counters[BUILDER_ROOM];
	struct profile_counted_graph counted_graphs[BUILDER_SMALL];
	struct profile_loss losses[BUILDER_SMALL];
	struct profile_sample samples[BUILDER_ROOM];
	struct profile_sampled_span spans[BUILDER_SMALL];
};

/* process_count processes with one thread each (thread i of process i), device_count devices, and a
 * stream for each pair: builder_stream(). */
static inline struct builder *builder_new(size_t process_count, size_t device_count)
{
	struct builder *b = calloc(1, sizeof(*b));

	assert(b && process_count * device_count <= BUILDER_SMALL);
	b->profile = (struct profile){
		.path = (char *)"recording",
		.processes = b->processes,
		.process_count = process_count,
		.devices = b->devices,
		.device_count = device_count,
		.streams = b->streams,
		.stream_count = process_count * device_count,
		.threads = b->threads,
		.thread_count = process_count,
		.kernel_names = b->kernel_names,
		.signatures = b->signatures,
		.copies = b->copies,
		.memsets = b->memsets,
		.graph_launches = b->graph_launches,
		.ops = b->ops,
		.call_names = b->call_names,
		.calls = b->calls,
		.ranges = b->ranges,
		.overheads = b->overheads,
		.jits = b->jits,
		.loads = b->loads,
		.modules = b->modules,
		.module_kernels = b->module_kernels,
		.metrics = b->metrics,
		.counters = b->counters,
		.counted_graphs = b->counted_graphs,
		.losses = b->losses,
		.samples = b->samples,
		.sampled_spans = b->spans,
	};
	for (size_t i = 0; i < process_count; i++) {
		b->processes[i] = (struct profile_process){.folder = (char *)"host.1",
							   .host = "host",
							   .command = "./app",
							   .sealed_ns = 1,
							   .rank = -1};
		b->threads[i].process = (uint32_t)i;
		for (size_t d = 0; d < device_count; d++)
			b->streams[i * device_count + d] =
				(struct profile_stream){.process = (uint32_t)i,
							.device = (uint32_t)d};
	}
	for (size_t d = 0; d < device_count; d++) {
		b->devices[d].name = (char *)"NVIDIA Test";
		b->devices[d].uuid = (char *)"GPU-0";
	}
	return b;
}

static inline uint32_t builder_stream(const struct builder *b, uint32_t process, uint32_t device)
{
	return process * (uint32_t)b->profile.device_count + device;
}

/* A second thread of a process. */
static inline uint32_t builder_thread(struct builder *b, uint32_t process)
{
	assert(b->profile.thread_count < BUILDER_SMALL);
	b->threads[b->profile.thread_count].process = process;
	return (uint32_t)b->profile.thread_count++;
}

static inline uint32_t builder_call_name(struct builder *b, const char *text,
					 enum profile_call_class class)
{
	size_t i = 0;

	while (i < b->profile.call_name_count && strcmp(b->call_names[i].text, text))
		i++;
	assert(i < BUILDER_SMALL);
	b->call_names[i] = (struct profile_call_name){(char *)text, class};
	if (i == b->profile.call_name_count)
		b->profile.call_name_count++;
	return (uint32_t)i;
}

static inline uint32_t builder_call(struct builder *b, uint32_t thread, const char *name,
				    enum profile_call_class class, int64_t start_ns, int64_t end_ns)
{
	size_t i = b->profile.call_count++;

	assert(i < BUILDER_ROOM);
	b->calls[i] = (struct profile_call){.start_ns = start_ns,
					    .end_ns = end_ns,
					    .name = builder_call_name(b, name, class),
					    .thread = thread,
					    .correlation = (uint32_t)i + 1};
	return (uint32_t)i;
}

static inline uint32_t builder_launch(struct builder *b, uint32_t thread, int64_t start_ns,
				      int64_t end_ns)
{
	return builder_call(b, thread, "cudaLaunchKernel", CALL_LAUNCH, start_ns, end_ns);
}

static inline struct profile_op *builder_op(struct builder *b, uint8_t kind, uint32_t stream,
					    uint32_t detail, int64_t start_ns, int64_t end_ns,
					    uint32_t call)
{
	size_t i = b->profile.op_count++;

	assert(i < BUILDER_ROOM);
	b->ops[i] = (struct profile_op){.start_ns = start_ns,
					.end_ns = end_ns,
					.detail = detail,
					.stream = stream & (OP_STREAMS_MOST - 1),
					.call = call,
					.kind = kind};
	b->op_ids[i] = (struct profile_op_ids){
		.correlation = call == PROFILE_NONE ? 0 : b->calls[call].correlation};
	return &b->ops[i];
}

/* What CUPTI calls an operation, to be changed: from then on of all of them. */
static inline struct profile_op_ids *builder_ids(struct builder *b, const struct profile_op *op)
{
	b->profile.op_ids = b->op_ids;
	return &b->op_ids[op - b->ops];
}

/* The signature of that name and grid. */
static inline uint32_t builder_signature(struct builder *b, const char *name, uint32_t grid)
{
	struct profile *profile = &b->profile;
	size_t kernel = 0, i = 0;

	while (kernel < profile->kernel_name_count && strcmp(b->kernel_names[kernel], name))
		kernel++;
	while (i < profile->signature_count &&
	       (b->signatures[i].kernel != kernel || b->signatures[i].grid[0] != grid))
		i++;
	assert(kernel < BUILDER_SMALL && i < BUILDER_SMALL);
	if (kernel == profile->kernel_name_count)
		b->kernel_names[profile->kernel_name_count++] = (char *)name;
	if (i == profile->signature_count)
		b->signatures[profile->signature_count++] =
			(struct profile_signature){.name = name,
						   .mangled = name,
						   .kernel = (uint32_t)kernel,
						   .grid = {grid, 1, 1},
						   .block = {256, 1, 1}};
	return (uint32_t)i;
}

static inline struct profile_op *builder_kernel(struct builder *b, uint32_t stream,
						const char *name, int64_t start_ns, int64_t end_ns,
						uint32_t call)
{
	return builder_op(b, OP_KERNEL, stream, builder_signature(b, name, 1), start_ns, end_ns,
			  call);
}

static inline struct profile_op *builder_copy(struct builder *b, uint32_t stream,
					      struct profile_copy copy, int64_t start_ns,
					      int64_t end_ns, uint32_t call)
{
	size_t i = b->profile.copy_count++;

	assert(i < BUILDER_ROOM);
	b->copies[i] = copy;
	return builder_op(b, OP_COPY, stream, (uint32_t)i, start_ns, end_ns, call);
}

static inline struct profile_op *builder_memset(struct builder *b, uint32_t stream,
						struct profile_memset memset_, int64_t start_ns,
						int64_t end_ns, uint32_t call)
{
	size_t i = b->profile.memset_count++;

	assert(i < BUILDER_ROOM);
	b->memsets[i] = memset_;
	return builder_op(b, OP_MEMSET, stream, (uint32_t)i, start_ns, end_ns, call);
}

static inline struct profile_op *builder_graph(struct builder *b, uint32_t stream,
					       uint32_t launch_mode, int64_t start_ns,
					       int64_t end_ns, uint32_t call)
{
	size_t i = b->profile.graph_launch_count++;

	assert(i < BUILDER_ROOM);
	b->graph_launches[i] = (struct profile_graph_launch){.launch_mode = launch_mode};
	return builder_op(b, OP_GRAPH, stream, (uint32_t)i, start_ns, end_ns, call);
}

static inline struct profile_range *builder_range(struct builder *b, uint32_t thread,
						  const char *name, int64_t start_ns,
						  int64_t end_ns)
{
	size_t i = b->profile.range_count++;

	assert(i < BUILDER_ROOM);
	b->ranges[i] = (struct profile_range){.start_ns = start_ns,
					      .end_ns = end_ns,
					      .domain = "",
					      .name = name,
					      .thread = thread,
					      .is_push_pop = true};
	return &b->ranges[i];
}

static inline void builder_overhead(struct builder *b, uint32_t process, uint32_t thread,
				    bool is_profiler, int64_t start_ns, int64_t end_ns)
{
	size_t i = b->profile.overhead_count++;

	assert(i < BUILDER_ROOM);
	b->overheads[i] = (struct profile_overhead){.start_ns = start_ns,
						    .end_ns = end_ns,
						    .name = "overhead",
						    .process = process,
						    .thread = thread,
						    .is_profiler = is_profiler};
}

/* A load of code that was made while the program ran; calls come in the order that they are to have.  Returns the call. */
static inline uint32_t builder_load(struct builder *b, enum profile_image image, uint64_t code,
				    int64_t start_ns, int64_t end_ns)
{
	uint32_t call = builder_call(b, 0, "cuModuleLoadData", CALL_MODULE, start_ns, end_ns);
	size_t i = b->profile.load_count++, module = b->profile.module_count++;

	assert(i < BUILDER_ROOM && module < BUILDER_ROOM);
	b->loads[i] = (struct profile_load){.call = call, .image = image};
	b->modules[module] = (struct profile_module){.time_ns = end_ns - 1, .code = code, .sm = 90};
	return call;
}

/* A kernel that ran, of some code; in the order of codes. */
static inline void builder_module_kernel(struct builder *b, uint64_t code, const char *name)
{
	size_t i = b->profile.module_kernel_count++;

	assert(i < BUILDER_SMALL);
	b->module_kernels[i] =
		(struct profile_module_kernel){code,
					       b->signatures[builder_signature(b, name, 1)].kernel};
}

/* The metric of that role; name "" says that the chip has none. */
static inline uint32_t builder_metric(struct builder *b, const char *name, enum metric_role role)
{
	size_t i = 0;

	while (i < b->profile.metric_count &&
	       (b->metrics[i].role != (uint32_t)role || strcmp(b->metrics[i].name, name)))
		i++;
	assert(i < 2 * BUILDER_SMALL);
	b->metrics[i] = (struct profile_metric){name, role};
	if (i == b->profile.metric_count)
		b->profile.metric_count++;
	return (uint32_t)i;
}

/* A counter of a signature, or of a counted graph. */
static inline struct profile_counter *builder_counter(struct builder *b, bool is_graph,
						      uint32_t subject, enum metric_role role,
						      uint64_t sample_count, double mean)
{
	size_t i = b->profile.counter_count++;

	assert(i < BUILDER_ROOM);
	b->counters[i] = (struct profile_counter){.subject = subject,
						  .is_graph = is_graph,
						  .metric = builder_metric(b, "counter", role),
						  .sample_count = sample_count,
						  .mean = mean,
						  .min = mean,
						  .max = mean};
	return &b->counters[i];
}

static inline uint32_t builder_counted_graph(struct builder *b, uint32_t process, uint32_t graph)
{
	size_t i = b->profile.counted_graph_count++;

	assert(i < BUILDER_SMALL);
	b->counted_graphs[i] = (struct profile_counted_graph){process, graph};
	return (uint32_t)i;
}

/* An empty sample; what it saw is for the caller to fill in, before the next. */
static inline struct profile_sample *builder_sample(struct builder *b, uint32_t device,
						    int64_t start_ns, uint64_t length_ns)
{
	size_t i = b->profile.sample_count++;

	assert(i < BUILDER_ROOM);
	b->samples[i] = (struct profile_sample){.start_ns = start_ns,
						.length_ns = length_ns,
						.device = device,
						.sample_count = 1};
	return &b->samples[i];
}

/* Sampled time, with a sample a microsecond. */
static inline void builder_span(struct builder *b, uint32_t device, int64_t start_ns,
				int64_t end_ns)
{
	size_t i = b->profile.sampled_span_count++;

	assert(i < BUILDER_SMALL);
	b->spans[i] = (struct profile_sampled_span){device, start_ns, end_ns, 1000};
}

static inline int builder_compare_counters(const void *left, const void *right)
{
	const struct profile_counter *a = left, *b = right;

	if (a->is_graph != b->is_graph)
		return a->is_graph ? 1 : -1;
	if (a->subject != b->subject)
		return a->subject < b->subject ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

struct builder_op {
	struct profile_op op;
	struct profile_op_ids ids;
	uint32_t device;
};

static inline int builder_compare_ops(const void *left, const void *right)
{
	const struct builder_op *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->op.start_ns != b->op.start_ns)
		return a->op.start_ns < b->op.start_ns ? -1 : 1;
	return (a->op.end_ns > b->op.end_ns) - (a->op.end_ns < b->op.end_ns);
}

static inline void builder_sort_ops(struct builder *b)
{
	static struct builder_op both[BUILDER_ROOM];

	for (size_t i = 0; i < b->profile.op_count; i++) {
		both[i].op = b->ops[i];
		both[i].ids = b->op_ids[i];
		both[i].device = profile_op_device(&b->profile, &b->ops[i]);
	}
	qsort(both, b->profile.op_count, sizeof(*both), builder_compare_ops);
	for (size_t i = 0; i < b->profile.op_count; i++) {
		b->ops[i] = both[i].op;
		b->op_ids[i] = both[i].ids;
	}
}

static inline int builder_compare_calls(const void *left, const void *right)
{
	const struct profile_call *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static inline void builder_sort_calls(struct builder *b)
{
	static uint32_t place[BUILDER_ROOM + 2];

	qsort(b->calls, b->profile.call_count, sizeof(*b->calls), builder_compare_calls);
	for (size_t i = 0; i < b->profile.call_count; i++)
		place[b->calls[i].correlation] = (uint32_t)i;
	for (size_t i = 0; i < b->profile.op_count; i++)
		if (b->ops[i].call != PROFILE_NONE)
			b->ops[i].call = place[b->ops[i].call + 1];
	for (size_t i = b->profile.call_count; i-- > 0;) {
		b->threads[b->calls[i].thread].first_call = i;
		b->threads[b->calls[i].thread].call_count++;
	}
}

static inline int builder_compare_samples(const void *left, const void *right)
{
	const struct profile_sample *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static inline int builder_compare_spans(const void *left, const void *right)
{
	const struct profile_sampled_span *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Also of a test that keeps samples and spans in arrays of its own. */
static inline void builder_sort_samples(struct builder *b)
{
	struct profile *p = &b->profile;

	qsort(p->samples, p->sample_count, sizeof(*p->samples), builder_compare_samples);
	qsort(p->sampled_spans, p->sampled_span_count, sizeof(*p->sampled_spans),
	      builder_compare_spans);
	for (size_t d = 0; d < p->device_count; d++)
		b->devices[d].sample_count = b->devices[d].span_count = 0;
	for (size_t i = p->sample_count; i-- > 0;) {
		b->devices[p->samples[i].device].first_sample = i;
		b->devices[p->samples[i].device].sample_count++;
	}
	for (size_t i = p->sampled_span_count; i-- > 0;) {
		b->devices[p->sampled_spans[i].device].first_span = i;
		b->devices[p->sampled_spans[i].device].span_count++;
	}
}

static inline const struct profile *builder_finish(struct builder *b)
{
	builder_sort_calls(b);
	builder_sort_ops(b);
	qsort(b->counters, b->profile.counter_count, sizeof(*b->counters),
	      builder_compare_counters);
	builder_sort_samples(b);
	b->profile.window.first_ns = INT64_MAX;
	for (size_t i = b->profile.op_count; i-- > 0;) {
		if (b->ops[i].start_ns < b->profile.window.first_ns)
			b->profile.window.first_ns = b->ops[i].start_ns;
		b->devices[profile_op_device(&b->profile, &b->ops[i])].first_op = i;
		b->devices[profile_op_device(&b->profile, &b->ops[i])].op_count++;
	}
	return &b->profile;
}

#endif
