/*
 * mock_counters.h - the part of libcupti_mock.c that counts: launches, the host interface, the range
 * profiler.  Included by libcupti_mock.c alone.
 *
 * As an H200 with CUPTI 13.0 does it: counters of hardware share the first pass, operations of the
 * tensor cores have a pass for each type, instrumented code (names with __sass_) comes last; what was
 * counted is there after Stop and Decode, the rest of a round is not a number; a round is over when
 * Stop says so, and the next begins with an empty image and SetConfig; ranges of one name are added
 * up; instrumented counters read 0 while kernels are recorded, and in graphs.
 */
#include <limits.h>
#include <math.h>

#include "mock_metrics.h"

#define MOCK_METRICS 160
#define MOCK_RANGES 64
#define MOCK_NAME_BYTES 128

/* Images of which counters there are; that of samples is of another kind. */
#define AVAILABILITY_BYTES 100
#define COUNTING_AVAILABILITY 0x5a
#define SAMPLING_AVAILABILITY 0x3c

struct mock_metric {
	char name[MOCK_NAME_BYTES];
	unsigned int pass, passes; /* the first and how many */
};

/* What the host interface makes: also the image of a configuration. */
struct mock_config {
	bool is_sampling;
	size_t count, pass_count;
	struct mock_metric metrics[MOCK_METRICS];
};

/* What launches left in a range. */
struct mock_work {
	char name[16];
	double blocks, instrumented_blocks, tensor_blocks;
};

struct mock_image {
	struct mock_config config;
	size_t count;
	char names[MOCK_RANGES][16];
	double values[MOCK_RANGES][MOCK_METRICS]; /* NaN until decoded */
};

struct mock_profiler {
	struct mock_profiler *next;
	CUcontext context;
	struct mock_config config;
	struct mock_image *image; /* the collector's */
	bool is_replay, is_configured, is_started, is_range_open;
	unsigned int pass, decoded_pass;
	size_t limit, used, decoded; /* ranges of the pass */
	struct mock_work work[MOCK_RANGES];
	int callers; /* calls that are under way: never two */
};

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER; /* profilers and their work */
static struct mock_profiler *profilers;
static __thread bool is_capturing; /* this thread's stream */

#ifdef MOCK_WITHOUT_SAMPLING
#define add_sampled_metrics(config, parameters) CUPTI_ERROR_INVALID_PARAMETER
#define evaluate_sample(parameters) CUPTI_ERROR_INVALID_PARAMETER
#else /* mock_sampling.h */
static CUptiResult
add_sampled_metrics(struct mock_config *config,
		    const CUpti_Profiler_Host_ConfigAddMetrics_Params *parameters);
static CUptiResult
evaluate_sample(const CUpti_Profiler_Host_EvaluateToGpuValues_Params *parameters);
#endif

/* ---- faults ---- */

/* What MOCK_COUNTERS says of a function: "NAME=RESULT", "NAME=RESULT@CALL" from that call on, or
 * "NAME=RESULT@CALL-CALL" until another one. */
static CUptiResult counters_fault(const char *function)
{
	static unsigned int calls[64];
	static const char *called[64];
	const char *at = getenv("MOCK_COUNTERS");
	size_t length = strlen(function), slot = 0;
	unsigned long result, from = 1, to = ULONG_MAX;
	unsigned int call;
	char *end;

	note_call(function);
	while (at && (strncmp(at, function, length) || at[length] != '='))
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	if (!at)
		return CUPTI_SUCCESS;
	result = strtoul(at + length + 1, &end, 10);
	if (*end == '@')
		from = strtoul(end + 1, &end, 10);
	if (*end == '-')
		to = strtoul(end + 1, NULL, 10);
	while (called[slot] && strcmp(called[slot], function))
		slot++;
	called[slot] = function;
	call = __atomic_add_fetch(&calls[slot], 1, __ATOMIC_RELAXED);
	return call >= from && call <= to ? (CUptiResult)result : CUPTI_SUCCESS;
}

#define FAULT_RETURN()                                         \
	do {                                                   \
		CUptiResult fault_ = counters_fault(__func__); \
		if (fault_ != CUPTI_SUCCESS)                   \
			return fault_;                         \
	} while (0)

/* Calls for one profiler must not overlap. */
static void enter_profiler(struct mock_profiler *profiler)
{
	if (__atomic_add_fetch(&profiler->callers, 1, __ATOMIC_SEQ_CST) != 1)
		abort();
}

static CUptiResult leave_profiler(struct mock_profiler *profiler, CUptiResult result)
{
	__atomic_sub_fetch(&profiler->callers, 1, __ATOMIC_SEQ_CST);
	return result;
}

/* ---- counters and passes ---- */

static bool has_word_of(const char *words, const char *name)
{
	char list[1024], *rest = list, *word;

	snprintf(list, sizeof(list), "%s", words);
	while ((word = strsep(&rest, ",")))
		if (*word && strstr(name, word))
			return true;
	return false;
}

static bool is_mentioned(const char *variable, const char *name)
{
	return getenv(variable) && has_word_of(getenv(variable), name);
}

/* Passes that the counter needs alone, 0 when there is no such counter. */
static unsigned int passes_alone(const char *name)
{
	static const char *const units[] = {"gpu__",   "dram__", "lts__",
					    "l1tex__", "sm__",	 "smsp__"};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strncmp(name, units[i], strlen(units[i])))
			return strchr(name, '.') && !strstr(name, "no_such") &&
					       !is_mentioned("MOCK_NO_METRICS", name)
				       ? 1 + is_mentioned("MOCK_TWO_PASSES", name)
				       : 0;
	return 0;
}

static bool is_instrumented(const char *name)
{
	return strstr(name, "__sass_") != NULL;
}

/* Hardware counters in the first pass, those that need one of their own behind it, instrumented last. */
static void assign_passes(struct mock_config *config)
{
	bool has_instrumented = false;

	config->pass_count = 1;
	for (size_t i = 0; i < config->count; i++) {
		struct mock_metric *metric = &config->metrics[i];

		metric->passes = passes_alone(metric->name);
		metric->pass = 0;
		has_instrumented |= is_instrumented(metric->name);
		if (!is_instrumented(metric->name) &&
		    (strstr(metric->name, "__ops_path") || metric->passes > 1)) {
			metric->pass = (unsigned int)config->pass_count;
			config->pass_count += metric->passes;
		}
	}
	for (size_t i = 0; i < config->count; i++)
		if (is_instrumented(config->metrics[i].name))
			config->metrics[i].pass = (unsigned int)config->pass_count;
	config->pass_count += has_instrumented;
	if (config->count && config->pass_count > 1 && !config->metrics[0].pass)
		return;
	for (size_t i = 0; i < config->count;
	     i++) /* nothing in the first pass: it does not exist */
		if (!config->metrics[i].pass)
			return;
	for (size_t i = 0; i < config->count; i++)
		config->metrics[i].pass--;
	config->pass_count -= config->count > 0;
}

static double evaluate(const struct mock_metric *metric, const struct mock_work *work)
{
	if (is_instrumented(metric->name))
		return mock_value(metric->name, work->instrumented_blocks);
	if (strstr(metric->name, "tensor"))
		return mock_value(metric->name, work->tensor_blocks);
	return mock_value(metric->name, work->blocks);
}

/* ---- CUPTI: the host interface ---- */

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *parameters)
{
	(void)parameters;
	FAULT_RETURN();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *parameters)
{
	FAULT_RETURN();
	parameters->pChipName = "GH100";
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *parameters)
{
	FAULT_RETURN();
	if (parameters->pCounterAvailabilityImage)
		memset(parameters->pCounterAvailabilityImage, COUNTING_AVAILABILITY,
		       parameters->counterAvailabilityImageSize);
	parameters->counterAvailabilityImageSize = AVAILABILITY_BYTES;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *parameters)
{
	const uint8_t *image = parameters->pCounterAvailabilityImage;
	bool is_sampling = parameters->profilerType == CUPTI_PROFILER_TYPE_PM_SAMPLING;
	uint8_t wanted = is_sampling ? SAMPLING_AVAILABILITY : COUNTING_AVAILABILITY;
	struct mock_config *config;

	FAULT_RETURN();
	if (strcmp(parameters->pChipName, "GH100") ||
	    (image && image[AVAILABILITY_BYTES - 1] != wanted))
		return CUPTI_ERROR_INVALID_PARAMETER;
	config = calloc(1, sizeof(*config));
	if (!config)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	config->is_sampling = is_sampling;
	parameters->pHostObject = (CUpti_Profiler_Host_Object *)config;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *parameters)
{
	FAULT_RETURN();
	free(parameters->pHostObject);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *parameters)
{
	struct mock_config *config = (struct mock_config *)parameters->pHostObject;

	FAULT_RETURN();
	if (config->is_sampling)
		return add_sampled_metrics(config, parameters);
	for (size_t i = 0; i < parameters->numMetrics; i++) {
		const char *name = parameters->ppMetricNames[i];

		if (!passes_alone(name) || config->count == MOCK_METRICS)
			return CUPTI_ERROR_INVALID_PARAMETER;
		snprintf(config->metrics[config->count++].name, MOCK_NAME_BYTES, "%s", name);
	}
	assign_passes(config);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *parameters)
{
	FAULT_RETURN();
	parameters->configImageSize = sizeof(struct mock_config);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *parameters)
{
	FAULT_RETURN();
	if (parameters->configImageSize != sizeof(struct mock_config))
		return CUPTI_ERROR_INVALID_PARAMETER;
	memcpy(parameters->pConfigImage, parameters->pHostObject, sizeof(struct mock_config));
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *parameters)
{
	FAULT_RETURN();
	parameters->numOfPasses = ((struct mock_config *)parameters->pConfigImage)->pass_count;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *parameters)
{
	const struct mock_image *image = (const struct mock_image *)parameters->pCounterDataImage;

	FAULT_RETURN();
	if (((const struct mock_config *)parameters->pHostObject)->is_sampling)
		return evaluate_sample(parameters);
	if (parameters->counterDataImageSize != sizeof(*image) ||
	    parameters->rangeIndex >= image->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < parameters->numMetrics; i++) {
		size_t at = 0;

		while (at < image->config.count &&
		       strcmp(image->config.metrics[at].name, parameters->ppMetricNames[i]))
			at++;
		if (at == image->config.count)
			return CUPTI_ERROR_INVALID_METRIC_NAME;
		parameters->pMetricValues[i] =
			getenv("MOCK_NAN") ? NAN : image->values[parameters->rangeIndex][at];
	}
	return CUPTI_SUCCESS;
}

/* ---- CUPTI: the range profiler ---- */

static struct mock_profiler *find_profiler(CUcontext context)
{
	struct mock_profiler *profiler = profilers;

	while (profiler && profiler->context != context)
		profiler = profiler->next;
	return profiler;
}

CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *parameters)
{
	struct mock_profiler *profiler;

	FAULT_RETURN();
	profiler = calloc(1, sizeof(*profiler));
	if (!profiler)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	profiler->context = parameters->ctx;
	pthread_mutex_lock(&counting);
	if (find_profiler(parameters->ctx)) { /* one at a time */
		pthread_mutex_unlock(&counting);
		free(profiler);
		return CUPTI_ERROR_INVALID_OPERATION;
	}
	profiler->next = profilers;
	profilers = profiler;
	pthread_mutex_unlock(&counting);
	parameters->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)profiler;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;
	struct mock_profiler **link = &profilers;

	FAULT_RETURN();
	pthread_mutex_lock(&counting);
	while (*link != profiler)
		link = &(*link)->next;
	*link = profiler->next;
	pthread_mutex_unlock(&counting);
	free(profiler);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *parameters)
{
	FAULT_RETURN();
	parameters->counterDataSize = sizeof(struct mock_image);
	return parameters->maxNumOfRanges <= MOCK_RANGES &&
			       parameters->maxNumRangeTreeNodes >= parameters->maxNumOfRanges
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataImageInitialize(
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params *parameters)
{
	struct mock_image *image = (struct mock_image *)parameters->pCounterData;

	FAULT_RETURN();
	if (parameters->counterDataSize != sizeof(*image))
		return CUPTI_ERROR_INVALID_PARAMETER;
	image->count = 0;
	for (size_t range = 0; range < MOCK_RANGES; range++)
		for (size_t i = 0; i < MOCK_METRICS; i++)
			image->values[range][i] = NAN;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	FAULT_RETURN();
	enter_profiler(profiler);
	if (parameters->configSize != sizeof(profiler->config) || profiler->is_started ||
	    parameters->maxRangesPerPass > MOCK_RANGES)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_PARAMETER);
	pthread_mutex_lock(&counting);
	memcpy(&profiler->config, parameters->pConfig, sizeof(profiler->config));
	profiler->image = (struct mock_image *)parameters->pCounterDataImage;
	profiler->image->config = profiler->config;
	profiler->is_replay = parameters->range == CUPTI_AutoRange &&
			      parameters->replayMode == CUPTI_KernelReplay;
	profiler->limit = parameters->maxRangesPerPass;
	profiler->pass = 0;
	profiler->is_configured = true;
	pthread_mutex_unlock(&counting);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_configured || profiler->is_started)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&counting);
	profiler->is_started = true;
	profiler->used = 0;
	pthread_mutex_unlock(&counting);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_started || profiler->is_range_open)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&counting);
	profiler->is_started = false;
	profiler->decoded = profiler->used;
	profiler->decoded_pass = profiler->pass++;
	parameters->isAllPassSubmitted =
		profiler->is_replay || profiler->pass >= profiler->config.pass_count;
	profiler->is_configured = !parameters->isAllPassSubmitted;
	pthread_mutex_unlock(&counting);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;
	struct mock_work *work;

	FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_started || profiler->is_range_open || profiler->is_replay ||
	    profiler->used == profiler->limit)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&counting);
	work = &profiler->work[profiler->used++];
	memset(work, 0, sizeof(*work));
	snprintf(work->name, sizeof(work->name), "%s", parameters->pRangeName);
	profiler->is_range_open = true;
	pthread_mutex_unlock(&counting);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	FAULT_RETURN();
	enter_profiler(profiler);
	if (!profiler->is_range_open)
		return leave_profiler(profiler, CUPTI_ERROR_INVALID_OPERATION);
	pthread_mutex_lock(&counting);
	profiler->is_range_open = false;
	pthread_mutex_unlock(&counting);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

/* The image's range of that name; it may be there from an earlier pass. */
static size_t image_range(struct mock_image *image, const char *name)
{
	size_t range = 0;

	while (range < image->count && strcmp(image->names[range], name))
		range++;
	if (range == image->count && range < MOCK_RANGES)
		snprintf(image->names[image->count++], sizeof(*image->names), "%s", name);
	return range;
}

static void decode_range(const struct mock_profiler *profiler, const struct mock_work *work)
{
	struct mock_image *image = profiler->image;
	size_t range = image_range(image, work->name);

	for (size_t i = 0; i < profiler->config.count && range < MOCK_RANGES; i++) {
		const struct mock_metric *metric = &profiler->config.metrics[i];
		double *value = &image->values[range][i];

		if (!profiler->is_replay &&
		    metric->pass + metric->passes - 1 != profiler->decoded_pass)
			continue;
		*value = (isnan(*value) ? 0 : *value) + evaluate(metric, work);
	}
}

CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *parameters)
{
	struct mock_profiler *profiler = (struct mock_profiler *)parameters->pRangeProfilerObject;

	FAULT_RETURN();
	enter_profiler(profiler);
	pthread_mutex_lock(&counting);
	for (size_t i = 0; i < profiler->decoded; i++)
		decode_range(profiler, &profiler->work[i]);
	profiler->decoded = 0;
	parameters->numOfRangeDropped = 0;
	pthread_mutex_unlock(&counting);
	return leave_profiler(profiler, CUPTI_SUCCESS);
}

/* ---- launches ---- */

/* One line for each launch that ran inside a range: tests read what was counted with what. */
static void note_range(const struct mock_profiler *profiler, const struct mock_launch *launch,
		       uint32_t correlation, bool is_recorded)
{
	const char *path = getenv("MOCK_RANGES_FILE");
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

	if (file < 0)
		return;
	dprintf(file, "%u,%u,%s,%u,%s,%s\n", correlation, profiler->pass, launch->name,
		launch->blocks, is_recorded ? "recorded" : "unrecorded",
		is_capturing ? "captured" : "run");
	close(file);
}

/* A range of its own in a replay; otherwise part of the range that is open.  NULL: of none. */
static struct mock_work *work_of(struct mock_profiler *profiler, const struct mock_launch *launch)
{
	struct mock_work *work;

	if (!profiler || !profiler->is_started)
		return NULL;
	if (!profiler->is_replay)
		return profiler->is_range_open ? &profiler->work[profiler->used - 1] : NULL;
	if (launch->call == MOCK_GRAPH || profiler->used == profiler->limit)
		return NULL;
	work = &profiler->work[profiler->used];
	memset(work, 0, sizeof(*work));
	snprintf(work->name, sizeof(work->name), "%zu", profiler->used++);
	return work;
}

static void count_launch(const struct mock_launch *launch, uint32_t correlation, bool *is_replayed)
{
	bool is_recorded = enabled_kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
	struct mock_profiler *profiler;
	struct mock_work *work;

	pthread_mutex_lock(&counting);
	profiler = find_profiler(launch->context);
	*is_replayed = profiler && profiler->is_started && profiler->is_replay;
	work = work_of(profiler, launch);
	if (work)
		note_range(profiler, launch, correlation, is_recorded);
	if (work && !is_capturing) { /* a captured launch runs nothing */
		work->blocks += launch->blocks;
		if (*is_replayed || (!is_recorded && launch->call != MOCK_GRAPH))
			work->instrumented_blocks += launch->blocks;
		if (strstr(launch->name, "gemm"))
			work->tensor_blocks += launch->blocks;
		else if (strstr(launch->name,
				"constants")) /* HFMA2.MMA: half an instruction a warp */
			work->tensor_blocks += launch->blocks / 16.0;
	}
	pthread_mutex_unlock(&counting);
}

/* From now on; whoever samples the GPU may put it off. */
static struct mock_kernel run_kernel(const struct mock_launch *launch)
{
	uint64_t now_ns = realtime_ns();
	struct mock_kernel kernel = {
		.device = device_of((uintptr_t)launch->context),
		.name = launch->name,
		.blocks = launch->blocks,
		.is_recorded = enabled_kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL],
		.start_ns = now_ns,
		.end_ns = now_ns + launch->run_ns,
	};

	if (on_kernel)
		on_kernel(&kernel);
	return kernel;
}

static void record_launch(const struct mock_launch *launch, uint32_t correlation, bool is_replayed)
{
	CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
					 .contextId = launch->context_id,
					 .gridX = (int32_t)launch->blocks,
					 .gridY = 1,
					 .gridZ = 1,
					 .blockX = 256,
					 .blockY = 1,
					 .blockZ = 1,
					 .correlationId = correlation,
					 .graphId = launch->call == MOCK_GRAPH ? 9 : 0,
					 .name = launch->name};
	struct mock_kernel ran = run_kernel(launch);

	if (!ran.is_recorded)
		return;
	if (!is_replayed) {
		kernel.start = ran.start_ns;
		kernel.end = ran.end_ns;
	}
	append(&kernel, true);
}

static void call_subscriber(CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    CUpti_CallbackData *data, CUpti_ApiCallbackSite site)
{
	data->callbackSite = site;
	if (subscriber && enabled_callbacks[domain][id])
		subscriber(NULL, domain, id, data);
}

/* The parameters of each way to launch, as the driver hands them to callbacks. */
union launch_parameters {
	cuLaunchKernel_params plain;
	cuLaunchKernelEx_params extended;
	cuLaunchCooperativeKernel_params cooperative;
	cuGraphLaunch_params graph;
};

#define SHAPE(launch)                                                                 \
	.gridDimX = (launch)->blocks, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256, \
	.blockDimY = 1, .blockDimZ = 1

static CUpti_CallbackId fill_parameters(union launch_parameters *parameters, CUlaunchConfig *config,
					CUlaunchAttribute *attribute,
					const struct mock_launch *launch)
{
	void *function = (void *)(uintptr_t)launch->function;

	*config = (CUlaunchConfig){SHAPE(launch), .attrs = attribute, .numAttrs = 1};
	attribute->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	attribute->value.cooperative = launch->call == MOCK_EXTENDED_COOPERATIVE;
	switch (launch->call) {
	case MOCK_PLAIN:
	case MOCK_PER_THREAD:
		parameters->plain = (cuLaunchKernel_params){.f = function, SHAPE(launch)};
		return launch->call == MOCK_PLAIN ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel
						  : CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz;
	case MOCK_EXTENDED:
	case MOCK_EXTENDED_COOPERATIVE:
		parameters->extended = (cuLaunchKernelEx_params){.config = config, .f = function};
		return CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
	case MOCK_COOPERATIVE:
		parameters->cooperative =
			(cuLaunchCooperativeKernel_params){.f = function, SHAPE(launch)};
		return CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel;
	default:
		parameters->graph = (cuGraphLaunch_params){.hGraph = function};
		return CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
	}
}

/* The launch itself, between the callbacks: nothing of the driver's is held. */
static void run_launch(const struct mock_launch *launch, uint32_t correlation)
{
	bool is_replayed;

	if (launch->during)
		launch->during(launch);
	count_launch(launch, correlation, &is_replayed);
	if (!is_capturing)
		record_launch(launch, correlation, is_replayed);
}

void mock_launch(const struct mock_launch *launch)
{
	static uint32_t last_correlation = 100000;
	union launch_parameters parameters = {{0}};
	CUlaunchConfig config;
	CUlaunchAttribute attribute;
	CUresult status = CUDA_SUCCESS;
	CUpti_CallbackId id = fill_parameters(&parameters, &config, &attribute, launch);
	CUpti_CallbackData data = {
		.functionParams = &parameters,
		.functionReturnValue = &status,
		.symbolName = launch->call == MOCK_GRAPH ? NULL : launch->name,
		.context = launch->context,
		.contextUid = launch->context_id,
		.correlationId = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED),
	};

	call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_ENTER);
	run_launch(launch, data.correlationId);
	call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_EXIT);
}

void mock_capture(bool is_begin, int status)
{
	cuStreamBeginCapture_v2_params parameters = {NULL, CU_STREAM_CAPTURE_MODE_GLOBAL};
	CUresult result = (CUresult)status;
	CUpti_CallbackData data = {.functionParams = &parameters, .functionReturnValue = &result};
	CUpti_CallbackId id = is_begin ? CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2
				       : CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture;

	call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_ENTER);
	if (result == CUDA_SUCCESS)
		is_capturing = is_begin;
	call_subscriber(CUPTI_CB_DOMAIN_DRIVER_API, id, &data, CUPTI_API_EXIT);
}

void mock_end_context(CUcontext context)
{
	CUpti_ResourceData data = {.context = context};
	CUpti_CallbackId id = CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;

	if (subscriber && enabled_callbacks[CUPTI_CB_DOMAIN_RESOURCE][id])
		subscriber(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}
