#include "arguments/arguments.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "arguments/argument_sets.h"
#include "arguments/parameter_layout.h"
#include "clock.h"
#include "counters/launch_call.h"
#include "graph_structure.h"
#include "log.h"
#include "program_rows.h"
#include "window.h"
#include "writer/trace_writer.h"

#define DRIVER(name) CUPTI_DRIVER_TRACE_CBID_##name
#define CBID_LIMIT 2048

/* How a call's parameters tell the kernel and what it is given. */
enum shape {
	NO_SHAPE,
	PLAIN,
	EXTENDED,
	COOPERATIVE,
	KERNEL_NODE,
	ANY_NODE,
	CHANGED_NODE, /* the node comes first */
	CHANGED_EXEC_NODE
};

/* cuLaunchCooperativeKernelMultiDevice launches several kernels under one number: they are left out. */
static const unsigned char shapes[CBID_LIMIT] = {
	[DRIVER(cuLaunchKernel)] = PLAIN,
	[DRIVER(cuLaunchKernel_ptsz)] = PLAIN,
	[DRIVER(cuLaunchKernelEx)] = EXTENDED,
	[DRIVER(cuLaunchKernelEx_ptsz)] = EXTENDED,
	[DRIVER(cuLaunchCooperativeKernel)] = COOPERATIVE,
	[DRIVER(cuLaunchCooperativeKernel_ptsz)] = COOPERATIVE,
	[DRIVER(cuGraphAddKernelNode)] = KERNEL_NODE,
	[DRIVER(cuGraphAddKernelNode_v2)] = KERNEL_NODE,
	[DRIVER(cuGraphAddNode)] = ANY_NODE,
	[DRIVER(cuGraphAddNode_v2)] = ANY_NODE,
	[DRIVER(cuGraphKernelNodeSetParams)] = CHANGED_NODE,
	[DRIVER(cuGraphKernelNodeSetParams_v2)] = CHANGED_NODE,
	[DRIVER(cuGraphNodeSetParams)] = CHANGED_NODE,
	[DRIVER(cuGraphExecKernelNodeSetParams)] = CHANGED_EXEC_NODE,
	[DRIVER(cuGraphExecKernelNodeSetParams_v2)] = CHANGED_EXEC_NODE,
	[DRIVER(cuGraphExecNodeSetParams)] = CHANGED_EXEC_NODE,
};

/* What a kernel is given: pointers to its parameters, or all of them packed. */
struct given {
	CUfunction function;
	void **parameters;
	const char *packed;
	size_t packed_bytes;
};

static bool is_started, has_window;

/* The launch that this thread is in, between callbacks. */
static __thread struct {
	bool is_known;
	struct trace_launch_arguments_row row;
} inside;

/* ---- what the call is given ---- */

/* Pairs of a key and a value: a buffer, and where its size is. */
static void read_extra(struct given *given, void **extra)
{
	for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			given->packed = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			given->packed_bytes = *(const size_t *)extra[1];
		else
			return;
	}
}

/* The second version has a kernel in place of the function, if that is NULL. */
static CUfunction function_of_node(const CUDA_KERNEL_NODE_PARAMS_v2 *node, bool has_kernel)
{
	return node->func || !has_kernel ? node->func : (CUfunction)node->kern;
}

static void read_node(struct given *given, void **extra[], const CUDA_KERNEL_NODE_PARAMS_v2 *node,
		      bool has_kernel)
{
	if (!node)
		return;
	given->function = function_of_node(node, has_kernel);
	given->parameters = node->kernelParams;
	*extra = node->extra;
}

/* NULL for a node that runs no kernel. */
static const CUDA_KERNEL_NODE_PARAMS_v2 *kernel_of_node(CUpti_CallbackId id, const void *parameters)
{
	const CUgraphNodeParams *node =
		id == DRIVER(cuGraphAddNode)
			? ((const cuGraphAddNode_params *)parameters)->nodeParams
			: ((const cuGraphAddNode_v2_params *)parameters)->nodeParams;

	return node && node->type == CU_GRAPH_NODE_TYPE_KERNEL ? (const void *)&node->kernel : NULL;
}

/* A function that is NULL: the call tells none. */
static struct given read_call(CUpti_CallbackId id, const void *parameters)
{
	const cuLaunchKernel_params *plain = parameters;
	const cuLaunchKernelEx_params *extended = parameters;
	const cuLaunchCooperativeKernel_params *cooperative = parameters;
	const cuGraphAddKernelNode_v2_params *kernel_node = parameters;
	struct given given = {0};
	void **extra = NULL;

	switch ((enum shape)shapes[id]) {
	case PLAIN:
		given.function = plain->f;
		given.parameters = plain->kernelParams;
		extra = plain->extra;
		break;
	case EXTENDED:
		given.function = extended->f;
		given.parameters = extended->kernelParams;
		extra = extended->extra;
		break;
	case COOPERATIVE:
		given.function = cooperative->f;
		given.parameters = cooperative->kernelParams;
		break;
	case KERNEL_NODE:
		read_node(&given, &extra, kernel_node->nodeParams,
			  id != DRIVER(cuGraphAddKernelNode));
		break;
	case ANY_NODE:
		read_node(&given, &extra, kernel_of_node(id, parameters), true);
		break;
	default:
		break;
	}
	if (!given.parameters)
		read_extra(&given, extra);
	return given;
}

/* ---- the words of its parameters ---- */

/* CUDA gives addresses above 4 GB to programs of 64 bits, and none of more than 49 bits; numbers that are counted with
 * are smaller mostly, and fractions larger. */
static bool may_be_address(uint64_t word)
{
	return word >= UINT64_C(1) << 32 && word < UINT64_C(1) << 49;
}

/* NULL when the buffer ends before. */
static const char *parameter_at(const struct given *given, const struct parameter_layout *layout,
				uint32_t i)
{
	size_t end = (size_t)layout->parameters[i].offset + layout->parameters[i].bytes;

	if (given->parameters)
		return given->parameters[i];
	return given->packed && end <= given->packed_bytes
		       ? given->packed + layout->parameters[i].offset
		       : NULL;
}

struct words {
	uint64_t addresses, others; /* hashes */
	uint32_t address_count;
	uint32_t set; /* not 0: rows of this set are written */
};

static void add_word(struct words *words, uint32_t parameter, uint32_t offset, uint64_t word,
		     bool may_hold_address)
{
	struct trace_arguments_row row = {.id = words->set,
					  .address_count = words->address_count,
					  .parameter = parameter,
					  .offset = offset,
					  .address = word};

	if (!may_hold_address || !may_be_address(word)) {
		words->others = launch_call_mix(words->others, word);
	} else if (words->set) {
		program_rows_put_arguments(&row);
	} else {
		words->address_count++;
		words->addresses =
			launch_call_mix(words->addresses, (uint64_t)parameter << 32 | offset);
		words->addresses = launch_call_mix(words->addresses, word);
	}
}

/* A pointer lies at a multiple of 8. */
static void read_parameter(struct words *words, uint32_t parameter, const char *value,
			   uint32_t bytes, bool is_aligned)
{
	for (uint32_t offset = 0; offset < bytes; offset += 8) {
		uint32_t length = bytes - offset < 8 ? bytes - offset : 8;
		uint64_t word = 0;

		memcpy(&word, value + offset, length);
		add_word(words, parameter, offset, word, is_aligned && length == 8);
	}
}

/* Returns false when a parameter is not there. */
static bool read_parameters(struct words *words, const struct given *given,
			    const struct parameter_layout *layout)
{
	for (uint32_t i = 0; i < layout->count; i++) {
		const char *value = parameter_at(given, layout, i);

		if (!value)
			return false;
		read_parameter(words, i, value, layout->parameters[i].bytes,
			       layout->parameters[i].offset % 8 == 0);
	}
	return true;
}

/* The rows of a set are queued by whoever comes with it first. */
static uint32_t set_of(struct words *words, const struct given *given,
		       const struct parameter_layout *layout)
{
	bool is_new;
	uint32_t set = argument_sets_number(launch_call_mix(words->addresses, 0), &is_new);

	words->set = set;
	if (set && is_new)
		read_parameters(words, given, layout);
	return set ? set : ARGUMENTS_UNKNOWN;
}

static bool read_given(const struct given *given, struct trace_launch_arguments_row *row)
{
	const struct parameter_layout *layout = parameter_layout_of(given->function);
	struct words words = {.addresses = 1, .others = 1};

	if (!layout || !read_parameters(&words, given, layout))
		return false;
	row->others = (uint32_t)(launch_call_mix(words.others, 0) >> 32);
	row->arguments = words.address_count ? set_of(&words, given, layout) : 0;
	return true;
}

/* ---- what CUPTI calls ---- */

static bool has_failed(const CUpti_CallbackData *data)
{
	const CUresult *result = data->functionReturnValue;

	return result && *result != CUDA_SUCCESS;
}

static bool is_recorded(void)
{
	return !has_window || window_contains(clock_ns(CLOCK_REALTIME));
}

static void enter(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	struct given given = read_call(id, data->functionParams);

	memset(&inside, 0, sizeof(inside));
	inside.is_known = given.function && is_recorded() && read_given(&given, &inside.row);
	inside.row.correlation = data->correlationId;
}

/* A node that is added belongs to no launch; a launch that is captured makes a node and runs nothing. */
static void leave(enum shape shape, const CUpti_CallbackData *data)
{
	bool is_launch = shape < KERNEL_NODE;

	if (inside.is_known && !has_failed(data) && (is_launch || inside.row.node)) {
		if (inside.row.node)
			inside.row.correlation = 0;
		program_rows_put_launch_arguments(&inside.row);
	}
	inside.is_known = false;
}

/* What a node is given later is not followed: whether before or after a launch is not known either. */
static void note_change(enum shape shape, const CUpti_CallbackData *data)
{
	const CUgraphNode node =
		shape == CHANGED_NODE
			? ((const cuGraphNodeSetParams_params *)data->functionParams)->hNode
			: ((const cuGraphExecNodeSetParams_params *)data->functionParams)->hNode;
	struct trace_launch_arguments_row row = {.node = graph_structure_node_id(node),
						 .arguments = ARGUMENTS_UNKNOWN};

	if (row.node)
		program_rows_put_launch_arguments(&row);
}

void arguments_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	enum shape shape = is_started && id < CBID_LIMIT ? (enum shape)shapes[id] : NO_SHAPE;
	bool is_entering = data->callbackSite == CUPTI_API_ENTER;

	if (shape == NO_SHAPE || !data->functionParams)
		return;
	if (shape >= CHANGED_NODE && is_entering)
		note_change(shape, data);
	else if (shape < CHANGED_NODE && is_entering)
		enter(id, data);
	else if (shape < CHANGED_NODE)
		leave(shape, data);
}

void arguments_on_graph_node(uint64_t node)
{
	if (inside.is_known)
		inside.row.node = node;
}

void arguments_on_unload(void)
{
	if (is_started)
		parameter_layouts_forget();
}

/* ---- starting ---- */

static bool write_facts(void)
{
	struct trace_rows *rows = trace_rows_get();
	bool is_possible = parameter_layouts_init();

	trace_property(rows, "args", "1");
	if (!is_possible) {
		log_warn(
			"--args: the driver does not tell where parameters lie, which it does from "
			"CUDA 12.4 on; arguments of kernels are not recorded");
		trace_property(rows, "args_problem",
			       "the driver lacks cuFuncGetParamInfo: it is older than CUDA 12.4");
	}
	trace_rows_put(rows);
	return is_possible;
}

void arguments_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
		     const struct options *options)
{
	static const CUpti_CallbackId ends[] = {CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
						CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};

	if (!options->args || !write_facts())
		return;
	has_window = options->delay_ns || options->duration_ns || options->profiler_api;
	launch_call_keep();
	is_started = true;
	for (uint32_t id = 0; id < CBID_LIMIT; id++)
		if (shapes[id] != NO_SHAPE)
			cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, ends[i]);
}
