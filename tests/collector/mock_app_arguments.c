/*
 * mock_app_arguments.c - the steps of mock_app that give kernels parameters.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_app.h"

#define PARAMETERS 32

/* What a kernel is given.  Each value has memory of its own size, so that ASan sees who reads beyond it. */
struct given {
	size_t count, bytes[PARAMETERS];
	void *values[PARAMETERS];
};

static uintptr_t last_node; /* their handles are their numbers */

/* "i5": 5 in four bytes; "7f0000001000+5": two words, as a struct has them.  Hexadecimal. */
static void *read_value(char *text, size_t *bytes)
{
	uint64_t words[PARAMETERS];
	size_t count = 0;
	char *word;
	void *value;

	for (char *rest = text; (word = strsep(&rest, "+"));)
		words[count++] = strtoull(word + (*word == 'i'), NULL, 16);
	*bytes = *text == 'i' ? 4 : 8 * count;
	value = malloc(*bytes);
	if (!value)
		fail(text, "no memory");
	return memcpy(value, words, *bytes);
}

static void read_values(struct given *given, char *text)
{
	char *one;

	for (given->count = 0; (one = strsep(&text, "/")) && *one; given->count++)
		given->values[given->count] = read_value(one, &given->bytes[given->count]);
}

static void free_values(struct given *given)
{
	for (size_t i = 0; i < given->count; i++)
		free(given->values[i]);
}

/* As the driver wants them in one buffer; *bytes is where it ends. */
static char *pack(const struct given *given, size_t *bytes)
{
	char *packed = calloc(1, 4096);

	*bytes = 0;
	for (size_t i = 0; packed && i < given->count; i++) {
		size_t alignment = given->bytes[i] % 8 == 0 ? 8 : 4;

		*bytes = (*bytes + alignment - 1) / alignment * alignment;
		memcpy(packed + *bytes, given->values[i], given->bytes[i]);
		*bytes += given->bytes[i];
	}
	return packed;
}

static void tell_driver(uintptr_t handle, const struct given *given)
{
	static void (*set)(CUfunction, const size_t *, size_t);
	void *library = set ? NULL : dlopen("libcuda.so.1", RTLD_NOW);

	if (library)
		*(void **)&set = dlsym(library, "mock_set_parameters");
	if (set)
		set((CUfunction)handle, given->bytes, given->count);
}

static void make_node(void)
{
	last_node++;
	if (mock.mock_resource)
		mock.mock_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
				   &(CUpti_GraphData){.graph = (CUgraph)1,
						      .node = (CUgraphNode)last_node});
}

/* A node of the program's, and a clone of another within the same call. */
static void make_node_and_clone(void)
{
	make_node();
	mock.mock_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
			   &(CUpti_GraphData){.graph = (CUgraph)2,
					      .node = (CUgraphNode)(last_node + 1000),
					      .originalNode = (CUgraphNode)last_node});
}

static void make_node_of_launch(const struct mock_launch *launch)
{
	(void)launch;
	make_node();
}

static void launch(uintptr_t handle, enum mock_call call, struct given *given, void **extra,
		   bool is_captured)
{
	struct mock_launch kernel = {.call = call,
				     .name = "_Z4stepPfPKf",
				     .function = handle,
				     .blocks = 8,
				     .context = (CUcontext)1,
				     .context_id = 1,
				     .parameters = extra ? NULL : given->values,
				     .extra = extra,
				     .during = is_captured ? make_node_of_launch : NULL,
				     .run_ns = KERNEL_NS};

	if (!mock.mock_launch)
		return;
	if (is_captured)
		mock.mock_capture(true, 0);
	mock.mock_launch(&kernel);
	if (is_captured)
		mock.mock_capture(false, 0);
}

static void launch_packed(uintptr_t handle, struct given *given, size_t missing)
{
	size_t bytes;
	char *packed = pack(given, &bytes);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, CU_LAUNCH_PARAM_END};

	bytes -= missing;
	launch(handle, MOCK_EXTENDED, given, extra, false);
	free(packed);
}

static void program_call(CUpti_CallbackId id, const void *parameters, void (*during)(void))
{
	if (mock.mock_program_call)
		mock.mock_program_call(CUPTI_CB_DOMAIN_DRIVER_API, id, parameters, CUDA_SUCCESS,
				       during);
}

/* With its kernel in place of a function, as the runtime does. */
static void add_node(uintptr_t handle, struct given *given, void (*during)(void))
{
	CUDA_KERNEL_NODE_PARAMS node = {.kern = (CUkernel)handle, .kernelParams = given->values};
	cuGraphAddKernelNode_v2_params call = {.nodeParams = &node};

	program_call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2, &call, during);
}

static void add_any_node(uintptr_t handle, struct given *given)
{
	CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
				  .kernel = {.func = (CUfunction)handle,
					     .kernelParams = given->values}};
	cuGraphAddNode_v2_params call = {.nodeParams = &node};

	program_call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2, &call, make_node);
}

static void change_node(struct given *given)
{
	CUDA_KERNEL_NODE_PARAMS node = {.kernelParams = given->values};
	cuGraphExecKernelNodeSetParams_v2_params call = {.hNode = (CUgraphNode)last_node,
							 .nodeParams = &node};

	program_call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2, &call, NULL);
}

static void run_way(const char *way, uintptr_t handle, struct given *given)
{
	if (!strcmp(way, "plain"))
		launch(handle, MOCK_PLAIN, given, NULL, false);
	else if (!strcmp(way, "ex"))
		launch(handle, MOCK_EXTENDED, given, NULL, false);
	else if (!strcmp(way, "cooperative"))
		launch(handle, MOCK_COOPERATIVE, given, NULL, false);
	else if (!strcmp(way, "captured"))
		launch(handle, MOCK_PLAIN, given, NULL, true);
	else if (!strcmp(way, "packed"))
		launch_packed(handle, given, 0);
	else if (!strcmp(way, "packed_short"))
		launch_packed(handle, given, 8);
	else if (!strcmp(way, "node"))
		add_node(handle, given, make_node);
	else if (!strcmp(way, "node_and_clone"))
		add_node(handle, given, make_node_and_clone);
	else if (!strcmp(way, "any_node"))
		add_any_node(handle, given);
	else if (!strcmp(way, "changed_node"))
		change_node(given);
	else
		fail(way, "is no way to give a kernel parameters");
}

/* given:HANDLE,WAY,VALUE/VALUE/... - a kernel is launched, or made a node of a graph, with these parameters */
static void step_given(const char *argument)
{
	char *text = strdup(argument), *rest = text;
	uintptr_t handle = (uintptr_t)number(strsep(&rest, ","));
	const char *way = strsep(&rest, ",");
	struct given given;

	read_values(&given, rest);
	tell_driver(handle, &given);
	run_way(way, handle, &given);
	free_values(&given);
	free(text);
}

/* given_often:N,HANDLE - so many launches, each with another address and number */
static void step_given_often(const char *argument)
{
	long count = strtol(argument, NULL, 10), handle = number(strchr(argument, ',') + 1);
	char text[64];

	for (long i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%ld,plain,%lx/i%lx", handle,
			 0x7f0000000000 + i * 0x1000, i);
		step_given(text);
	}
}

#define THREADS_MOST 16

static void *given_main(void *user)
{
	char text[64];

	for (long i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "%ld,plain,%lx/i%lx", (long)(uintptr_t)user,
			 0x7f0000000000 + i % 500 * 0x1000, i);
		step_given(text);
	}
	return NULL;
}

/* given_threads:N - so many at once, of kernels of their own, all with the same 500 addresses */
static void step_given_threads(const char *argument)
{
	pthread_t threads[THREADS_MOST];
	long count = number(argument);

	step_given("100,plain,7f0000000000/i0"); /* finds the driver */
	for (long i = 0; i < count && i < THREADS_MOST; i++)
		if (pthread_create(&threads[i], NULL, given_main, (void *)(uintptr_t)(2 + 2 * i)))
			fail("given_threads", "cannot start a thread");
	for (long i = 0; i < count && i < THREADS_MOST; i++)
		pthread_join(threads[i], NULL);
}

const struct step argument_steps[] = {
	{"given", step_given},
	{"given_often", step_given_often},
	{"given_threads", step_given_threads},
	{NULL, NULL},
};
