/*
 * mock_sampler.c - asks the stand-in for CUPTI to sample its GPU, as the collector does.
 *
 * mock_sampler LIBRARY CASE   prints what is not as an H200 does it; exits 1 when something is not, 2
 *                             when it cannot ask
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cupti_pmsampling.h>

#include "cupti_api.h"
#include "mock/mock_cupti.h"

#define SAMPLING_FUNCTIONS(FUNCTION)                        \
	FUNCTION(cuptiGetTimestamp)                         \
	FUNCTION(cuptiProfilerHostInitialize)               \
	FUNCTION(cuptiProfilerHostDeinitialize)             \
	FUNCTION(cuptiProfilerHostConfigAddMetrics)         \
	FUNCTION(cuptiProfilerHostGetConfigImageSize)       \
	FUNCTION(cuptiProfilerHostGetConfigImage)           \
	FUNCTION(cuptiProfilerHostGetNumOfPasses)           \
	FUNCTION(cuptiProfilerHostEvaluateToGpuValues)      \
	FUNCTION(cuptiPmSamplingGetCounterAvailability)     \
	FUNCTION(cuptiPmSamplingEnable)                     \
	FUNCTION(cuptiPmSamplingDisable)                    \
	FUNCTION(cuptiPmSamplingSetConfig)                  \
	FUNCTION(cuptiPmSamplingStart)                      \
	FUNCTION(cuptiPmSamplingStop)                       \
	FUNCTION(cuptiPmSamplingDecodeData)                 \
	FUNCTION(cuptiPmSamplingGetCounterDataSize)         \
	FUNCTION(cuptiPmSamplingCounterDataImageInitialize) \
	FUNCTION(cuptiPmSamplingGetCounterDataInfo)         \
	FUNCTION(cuptiPmSamplingCounterDataGetSampleInfo)   \
	FUNCTION(mock_emit)                                 \
	FUNCTION(mock_launch)                               \
	FUNCTION(mock_device_launch)

static struct {
#define MEMBER(function) __typeof__(&function) function;
	SAMPLING_FUNCTIONS(MEMBER)
#undef MEMBER
} mock;

enum { DISPATCHES, BLOCKS, SM, SM_MIN, SM_MAX, ELAPSED, TENSOR, READ, PCIE, METRICS_ASKED };
static const char *const asked[] = {
	[DISPATCHES] = "FE_A.TriageCompute.gr__dispatch_count.sum",
	[BLOCKS] = "gr__ctas_launched.sum",
	[SM] = "sm__cycles_active.avg",
	[SM_MIN] = "sm__cycles_active.min",
	[SM_MAX] = "sm__cycles_active.max",
	[ELAPSED] = "gpc__cycles_elapsed.avg",
	[TENSOR] = "sm__pipe_tensor_cycles_active.avg",
	[READ] = "dram__bytes_read.sum",
	[PCIE] = "pcie__write_bytes.sum",
};

#define INTERVAL_NS 10000
#define MANY 400000 /* samples: 4 s, and as many in the hardware's buffer */
#define SAMPLE_BYTES ((size_t)1000)

static int wrong_count;
static CUpti_PmSampling_Object *sampler;
static uint8_t *image;
static size_t image_bytes;
static uint64_t enabled_ns;

static void expect_(bool is_so, const char *what, int line)
{
	if (is_so)
		return;
	printf("line %d: not so: %s\n", line, what);
	wrong_count++;
}

#define expect(condition) expect_(condition, #condition, __LINE__)

static uint64_t now_ns(void)
{
	uint64_t now;

	mock.cuptiGetTimestamp(&now);
	return now;
}

/* ---- one call each ---- */

#define CALL(function, params, ...)                                               \
	({                                                                        \
		params parameters_ = {.structSize = sizeof(params), __VA_ARGS__}; \
		mock.function(&parameters_);                                      \
	})

static CUpti_Profiler_Host_Object *new_host(void)
{
	uint8_t availability[1000];
	CUpti_PmSampling_GetCounterAvailability_Params asking = {
		.structSize = CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE};
	CUpti_Profiler_Host_Initialize_Params parameters = {
		.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
		.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING,
		.pChipName = "GH100",
		.pCounterAvailabilityImage = availability};

	expect(mock.cuptiPmSamplingGetCounterAvailability(&asking) == CUPTI_SUCCESS);
	expect(asking.counterAvailabilityImageSize <= sizeof(availability));
	asking.pCounterAvailabilityImage = availability;
	expect(mock.cuptiPmSamplingGetCounterAvailability(&asking) == CUPTI_SUCCESS);
	expect(mock.cuptiProfilerHostInitialize(&parameters) == CUPTI_SUCCESS);
	return parameters.pHostObject;
}

static CUptiResult add(CUpti_Profiler_Host_Object *host, const char *const *names, size_t count)
{
	return CALL(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params,
		    .pHostObject = host, .ppMetricNames = (const char **)names,
		    .numMetrics = count);
}

static CUptiResult add_one(CUpti_Profiler_Host_Object *host, const char *name)
{
	return add(host, &name, 1);
}

static CUptiResult set_config(CUpti_Profiler_Host_Object *host, uint64_t interval_ns, size_t bytes)
{
	uint8_t config[1 << 16];
	CUpti_Profiler_Host_GetConfigImageSize_Params size = {
		.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
		.pHostObject = host};

	expect(mock.cuptiProfilerHostGetConfigImageSize(&size) == CUPTI_SUCCESS);
	expect(size.configImageSize <= sizeof(config));
	expect(CALL(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params,
		    .pHostObject = host, .configImageSize = size.configImageSize,
		    .pConfigImage = config) == CUPTI_SUCCESS);
	return CALL(cuptiPmSamplingSetConfig, CUpti_PmSampling_SetConfig_Params,
		    .pPmSamplingObject = sampler, .configSize = size.configImageSize,
		    .pConfig = config, .hardwareBufferSize = bytes, .samplingInterval = interval_ns,
		    .triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
}

static CUptiResult enable(void)
{
	CUpti_PmSampling_Enable_Params parameters = {
		.structSize = CUpti_PmSampling_Enable_Params_STRUCT_SIZE};
	CUptiResult result = mock.cuptiPmSamplingEnable(&parameters);

	enabled_ns = now_ns();
	if (result == CUPTI_SUCCESS)
		sampler = parameters.pPmSamplingObject;
	return result;
}

#define ON_SAMPLER(function, params) CALL(function, params, .pPmSamplingObject = sampler)

static CUptiResult disable(void)
{
	return ON_SAMPLER(cuptiPmSamplingDisable, CUpti_PmSampling_Disable_Params);
}

static CUptiResult start(void)
{
	return ON_SAMPLER(cuptiPmSamplingStart, CUpti_PmSampling_Start_Params);
}

static CUptiResult stop(void)
{
	return ON_SAMPLER(cuptiPmSamplingStop, CUpti_PmSampling_Stop_Params);
}

static CUptiResult empty_image(void)
{
	return CALL(cuptiPmSamplingCounterDataImageInitialize,
		    CUpti_PmSampling_CounterDataImage_Initialize_Params,
		    .pPmSamplingObject = sampler, .counterDataSize = image_bytes,
		    .pCounterData = image);
}

static CUptiResult new_image(uint32_t samples)
{
	CUpti_PmSampling_GetCounterDataSize_Params parameters = {
		.structSize = CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE,
		.pPmSamplingObject = sampler,
		.pMetricNames = (const char **)asked,
		.numMetrics = METRICS_ASKED,
		.maxSamples = samples};
	CUptiResult result = mock.cuptiPmSamplingGetCounterDataSize(&parameters);

	free(image);
	image_bytes = parameters.counterDataSize;
	image = malloc(image_bytes + 1);
	if (!image)
		abort();
	return result == CUPTI_SUCCESS ? empty_image() : result;
}

static CUptiResult decode(bool *has_overflowed)
{
	CUpti_PmSampling_DecodeData_Params parameters = {
		.structSize = CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE,
		.pPmSamplingObject = sampler,
		.pCounterDataImage = image,
		.counterDataImageSize = image_bytes};
	CUptiResult result = mock.cuptiPmSamplingDecodeData(&parameters);

	if (result == CUPTI_SUCCESS)
		expect(parameters.decodeStopReason ==
		       CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
	*has_overflowed = parameters.overflow;
	return result;
}

static size_t sample_count(void)
{
	CUpti_PmSampling_GetCounterDataInfo_Params parameters = {
		.structSize = CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = image,
		.counterDataImageSize = image_bytes};

	expect(mock.cuptiPmSamplingGetCounterDataInfo(&parameters) == CUPTI_SUCCESS);
	expect(parameters.numPopulatedSamples == parameters.numCompletedSamples);
	expect(parameters.numTotalSamples >= parameters.numCompletedSamples);
	return parameters.numCompletedSamples;
}

static CUptiResult evaluate(CUpti_Profiler_Host_Object *host, size_t sample, double *values)
{
	return CALL(cuptiProfilerHostEvaluateToGpuValues,
		    CUpti_Profiler_Host_EvaluateToGpuValues_Params, .pHostObject = host,
		    .pCounterDataImage = image, .counterDataImageSize = image_bytes,
		    .rangeIndex = sample, .ppMetricNames = (const char **)asked,
		    .numMetrics = METRICS_ASKED, .pMetricValues = values);
}

static CUpti_PmSampling_CounterData_GetSampleInfo_Params sample_at(size_t sample)
{
	CUpti_PmSampling_CounterData_GetSampleInfo_Params parameters = {
		.structSize = CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE,
		.pPmSamplingObject = sampler,
		.pCounterDataImage = image,
		.counterDataImageSize = image_bytes,
		.sampleIndex = sample};

	expect(mock.cuptiPmSamplingCounterDataGetSampleInfo(&parameters) == CUPTI_SUCCESS);
	return parameters;
}

/* ---- cases ---- */

/* A sampler that is configured for all that is asked, and an image for many samples. */
static CUpti_Profiler_Host_Object *new_sampler(size_t buffer_samples)
{
	CUpti_Profiler_Host_Object *host = new_host();

	expect(add(host, asked, METRICS_ASKED) == CUPTI_SUCCESS);
	expect(enable() == CUPTI_SUCCESS);
	expect(set_config(host, INTERVAL_NS, buffer_samples * SAMPLE_BYTES) == CUPTI_SUCCESS);
	expect(new_image(MANY) == CUPTI_SUCCESS);
	return host;
}

static void close_sampler(CUpti_Profiler_Host_Object *host)
{
	expect(disable() == CUPTI_SUCCESS);
	expect(CALL(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params,
		    .pHostObject = host) == CUPTI_SUCCESS);
	free(image);
	image = NULL;
}

/* Three kernels: with a record, launched by the host, launched by the device.  7 + 8 + 64 blocks. */
static void run_kernels(void)
{
	uint64_t now = now_ns();
	CUpti_ActivityKernel10 record = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
					 .start = now,
					 .end = now + 3000,
					 .contextId = 1,
					 .gridX = 7,
					 .gridY = 1,
					 .gridZ = 1,
					 .name = "recorded"};
	struct mock_launch launch = {.name = "launched",
				     .blocks = 8,
				     .context = (CUcontext)(uintptr_t)1,
				     .context_id = 1,
				     .run_ns = 1000};

	mock.mock_emit(&record);
	usleep(1000);
	mock.mock_launch(&launch);
	usleep(1000);
	mock.mock_device_launch(0, "gemm", 64, 45000);
	mock.mock_device_launch(1, "of another GPU", 1000, 45000);
	usleep(1000);
}

struct totals {
	double values[METRICS_ASKED];
	uint64_t end_ns;
};

/* Every sample but the first: they touch, and all are as long. */
static struct totals add_up(CUpti_Profiler_Host_Object *host)
{
	struct totals totals = {{0}, sample_at(0).endTimestamp};

	for (size_t i = 1; i < sample_count(); i++) {
		double values[METRICS_ASKED];
		CUpti_PmSampling_CounterData_GetSampleInfo_Params sample = sample_at(i);

		expect(sample.startTimestamp == totals.end_ns);
		expect(sample.endTimestamp == sample.startTimestamp + INTERVAL_NS);
		totals.end_ns = sample.endTimestamp;
		expect(evaluate(host, i, values) == CUPTI_SUCCESS);
		expect(values[PCIE] == 5000);
		expect(values[ELAPSED] == INTERVAL_NS);
		expect(values[SM_MIN] <= values[SM] && values[SM] <= values[SM_MAX] &&
		       values[SM_MAX] <= INTERVAL_NS);
		for (size_t metric = 0; metric < METRICS_ASKED; metric++)
			totals.values[metric] += values[metric];
	}
	return totals;
}

static void case_whole(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(MANY);
	uint64_t started_ns, stopping_ns;
	struct totals totals;
	bool has_overflowed;

	expect(start() == CUPTI_SUCCESS);
	started_ns = now_ns();
	usleep(1000);
	run_kernels();
	stopping_ns = now_ns();
	expect(stop() == CUPTI_SUCCESS);
	expect(decode(&has_overflowed) == CUPTI_SUCCESS && !has_overflowed);
	totals = add_up(host);
	expect(sample_at(0).startTimestamp <= enabled_ns);
	expect(sample_at(0).endTimestamp <= started_ns + INTERVAL_NS);
	expect(totals.end_ns > stopping_ns - INTERVAL_NS);
	expect(totals.values[DISPATCHES] == 3);
	expect(totals.values[BLOCKS] == 7 + 8 + 64);
	expect(fabs(totals.values[SM] - 49000) < 1);
	expect(fabs(totals.values[TENSOR] - 22500) < 1);
	expect(fabs(totals.values[READ] - 79000) < 1);
	close_sampler(host);
}

/* What kernels did between Stop and Start, or before, is in no sample; the next Start is as the first. */
static void case_twice(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(MANY);
	bool has_overflowed;

	run_kernels();
	for (int i = 0; i < 2; i++) {
		expect(start() == CUPTI_SUCCESS);
		expect(start() == CUPTI_ERROR_INVALID_OPERATION);
		usleep(1000);
		expect(stop() == CUPTI_SUCCESS);
		expect(stop() == CUPTI_ERROR_INVALID_OPERATION);
		expect(start() == CUPTI_ERROR_UNKNOWN); /* what was sampled is not decoded */
		run_kernels();
		expect(empty_image() == CUPTI_SUCCESS);
		expect(decode(&has_overflowed) == CUPTI_SUCCESS);
		expect(sample_count() >= 100);
		expect(sample_at(0).startTimestamp <= enabled_ns);
		expect(add_up(host).values[DISPATCHES] == 0);
	}
	close_sampler(host);
}

static void case_configured_once(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(MANY);
	bool has_overflowed;

	expect(set_config(host, 2 * INTERVAL_NS, MANY * SAMPLE_BYTES) == CUPTI_SUCCESS);
	expect(start() == CUPTI_SUCCESS);
	usleep(2000);
	expect(decode(&has_overflowed) == CUPTI_SUCCESS);
	expect(sample_at(1).endTimestamp - sample_at(1).startTimestamp == INTERVAL_NS);
	close_sampler(host);
}

static void case_passes(void)
{
	CUpti_Profiler_Host_Object *host = new_host();

	expect(add_one(host, asked[SM]) == CUPTI_SUCCESS);
	expect(add_one(host, asked[READ]) == CUPTI_SUCCESS);
	expect(enable() == CUPTI_SUCCESS);
	expect(set_config(host, INTERVAL_NS, MANY * SAMPLE_BYTES) == CUPTI_ERROR_NOT_SUPPORTED);
	expect(start() == CUPTI_ERROR_INVALID_OPERATION);
	close_sampler(host);
}

static void case_not_enabled(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(MANY);
	bool has_overflowed;

	expect(enable() == CUPTI_ERROR_INVALID_OPERATION);
	expect(stop() == CUPTI_ERROR_INVALID_OPERATION);
	expect(disable() == CUPTI_SUCCESS);
	expect(disable() == CUPTI_ERROR_INVALID_OPERATION);
	expect(start() == CUPTI_ERROR_INVALID_OPERATION);
	expect(stop() == CUPTI_ERROR_INVALID_OPERATION);
	expect(decode(&has_overflowed) == CUPTI_ERROR_INVALID_OPERATION);
	expect(set_config(host, INTERVAL_NS, SAMPLE_BYTES) == CUPTI_ERROR_INVALID_OPERATION);
	expect(new_image(1) == CUPTI_ERROR_INVALID_OPERATION);
	expect(enable() == CUPTI_SUCCESS);
	expect(start() == CUPTI_ERROR_INVALID_OPERATION); /* not configured */
	close_sampler(host);
}

static void case_overflow(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(100);
	bool has_overflowed;

	expect(start() == CUPTI_SUCCESS);
	usleep(101 * INTERVAL_NS / 1000);
	for (int i = 0; i < 3; i++) {
		expect(decode(&has_overflowed) == CUPTI_ERROR_OUT_OF_MEMORY && has_overflowed);
		expect(sample_count() == 0);
	}
	expect(stop() == CUPTI_SUCCESS);
	expect(decode(&has_overflowed) == CUPTI_ERROR_OUT_OF_MEMORY && has_overflowed);
	expect(start() == CUPTI_ERROR_UNKNOWN);
	expect(disable() == CUPTI_SUCCESS);
	expect(enable() == CUPTI_SUCCESS);
	expect(set_config(host, INTERVAL_NS, MANY * SAMPLE_BYTES) == CUPTI_SUCCESS);
	expect(start() == CUPTI_SUCCESS);
	usleep(1000);
	expect(decode(&has_overflowed) == CUPTI_SUCCESS && !has_overflowed);
	expect(sample_count() >= 100);
	close_sampler(host);
}

/* What has no room in the image is gone, and nothing says so but a hole in time. */
static void case_small_image(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(MANY);
	bool has_overflowed;
	uint64_t end_ns;

	expect(new_image(5) == CUPTI_SUCCESS);
	expect(start() == CUPTI_SUCCESS);
	usleep(1000);
	expect(decode(&has_overflowed) == CUPTI_SUCCESS && !has_overflowed);
	expect(sample_count() == 5);
	end_ns = sample_at(4).endTimestamp;
	usleep(1000);
	expect(empty_image() == CUPTI_SUCCESS);
	expect(decode(&has_overflowed) == CUPTI_SUCCESS && !has_overflowed);
	expect(sample_at(0).startTimestamp >= end_ns + 90 * INTERVAL_NS);
	close_sampler(host);
}

/* An image is emptied only while its size is the one that was asked for last, and decoded into always. */
static void case_sizes(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(MANY);
	CUpti_PmSampling_GetCounterDataSize_Params parameters = {
		.structSize = CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE,
		.pPmSamplingObject = sampler,
		.pMetricNames = (const char **)asked,
		.numMetrics = METRICS_ASKED,
		.maxSamples = 5};
	bool has_overflowed;

	expect(mock.cuptiPmSamplingGetCounterDataSize(&parameters) == CUPTI_SUCCESS);
	expect(empty_image() == CUPTI_ERROR_UNKNOWN);
	expect(start() == CUPTI_SUCCESS);
	usleep(1000);
	expect(decode(&has_overflowed) == CUPTI_SUCCESS && !has_overflowed);
	expect(sample_count() >= 100);
	parameters.maxSamples = MANY;
	expect(mock.cuptiPmSamplingGetCounterDataSize(&parameters) == CUPTI_SUCCESS);
	expect(empty_image() == CUPTI_SUCCESS);
	close_sampler(host);
}

/* One name that the chip does not have spoils the call. */
static void case_names(void)
{
	CUpti_Profiler_Host_Object *host = new_host();
	const char *const mixed[] = {asked[SM], "sm__no_such.sum"};
	const char *const both[] = {"nvlrx__bytes.sum", "nvltx__bytes.sum"};

	expect(add(host, mixed, 2) == CUPTI_ERROR_INVALID_PARAMETER);
	expect(add_one(host, "sm__cycles_active.no_such") == CUPTI_ERROR_INVALID_PARAMETER);
	expect(add_one(host, "sm__cycles_active") == CUPTI_ERROR_INVALID_PARAMETER);
	expect(add_one(host, "smsp__sass_thread_inst_executed.sum") ==
	       CUPTI_ERROR_INVALID_PARAMETER);
	expect(add(host, both, 2) ==
	       (getenv("MOCK_UNSAMPLED") ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER));
	/* Nothing of the calls that failed is left. */
	expect(enable() == CUPTI_SUCCESS);
	if (!getenv("MOCK_UNSAMPLED"))
		expect(set_config(host, INTERVAL_NS, SAMPLE_BYTES) ==
		       CUPTI_ERROR_INVALID_PARAMETER);
	close_sampler(host);
}

static void case_evaluating(void)
{
	CUpti_Profiler_Host_Object *host = new_sampler(MANY);
	const char *other = "dram__bytes_write.sum";
	double values[METRICS_ASKED];
	bool has_overflowed;

	expect(start() == CUPTI_SUCCESS);
	usleep(1000);
	expect(decode(&has_overflowed) == CUPTI_SUCCESS);
	expect(evaluate(host, sample_count() - 1, values) == CUPTI_SUCCESS);
	expect(evaluate(host, sample_count(), values) == CUPTI_ERROR_INVALID_PARAMETER);
	expect(CALL(cuptiProfilerHostEvaluateToGpuValues,
		    CUpti_Profiler_Host_EvaluateToGpuValues_Params, .pHostObject = host,
		    .pCounterDataImage = image, .counterDataImageSize = image_bytes,
		    .ppMetricNames = &other, .numMetrics = 1,
		    .pMetricValues = values) == CUPTI_ERROR_INVALID_METRIC_NAME);
	close_sampler(host);
}

/* With MOCK_COUNTERS=cuptiPmSamplingEnable=35 and the like: the test says what is printed. */
static void case_enable(void)
{
	printf("%d\n", (int)enable());
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"whole", case_whole},
	{"twice", case_twice},
	{"configured_once", case_configured_once},
	{"passes", case_passes},
	{"not_enabled", case_not_enabled},
	{"overflow", case_overflow},
	{"small_image", case_small_image},
	{"sizes", case_sizes},
	{"names", case_names},
	{"evaluating", case_evaluating},
	{"enable", case_enable},
};

static bool load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	const char *missing = NULL;

	if (!library) {
		puts(dlerror());
		return false;
	}
#define FIND(function)                                                        \
	mock.function = (__typeof__(mock.function))dlsym(library, #function); \
	if (!mock.function)                                                   \
		missing = #function;
	SAMPLING_FUNCTIONS(FIND)
#undef FIND
	if (missing)
		printf("%s has no %s\n", path, missing);
	return !missing;
}

int main(int argc, char **argv)
{
	if (argc != 3 || !load(argv[1]))
		return 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[2], cases[i].name)) {
			cases[i].run();
			return wrong_count > 0;
		}
	printf("%s is no case\n", argv[2]);
	return 2;
}
