/*
 * sample_cupti.c - CUPTI's PM sampling API, over the GPUs of sample_gpu.c.
 *
 * As an H200 with CUPTI 13.0 does it: a configuration lasts from its first SetConfig until Disable; the
 * first sample after Start begins at Enable; DecodeData empties the hardware's buffer, whether what it
 * holds has room in the image or not; a buffer that was full once gives nothing more until Disable; Start
 * after Stop fails until what was sampled has been decoded; an image is emptied only if its size is
 * the one that was asked for last.
 * Samples are made of the kernels that ran when somebody asks for them, not by a thread.
 * Each function, but for those that read images, makes something when it is first called that an exit handler
 * takes away again: from then on calls abort, as they may crash in CUPTI's libraries, whose destructors run
 * at exit.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cupti_pmsampling.h>

#include "environment.h"
#include "sample_gpu.h"
#include "samples.h"

#define SAMPLE_BYTES 1000 /* of the hardware's buffer, for one sample */

/* What the collector allocates: CUpti_PmSampling_GetCounterDataSize_Params.counterDataSize bytes. */
struct mock_sample_image {
	char mark[8];
	struct mock_config config;
	size_t most, count;
	struct mock_sample samples[];
};

static const char image_mark[8] = "sampled";

/* ---- the end of the process ---- */

static bool is_torn_down;

/* MOCK_TEARDOWN_MS: what taking it away takes, while threads go on. */
static void tear_down(void)
{
	if (__atomic_exchange_n(&is_torn_down, true, __ATOMIC_SEQ_CST))
		return;
	usleep((useconds_t)mock_number("MOCK_TEARDOWN_MS", 0) * 1000);
}

static void made_at_first_call(void)
{
	atexit(tear_down);
}

static void abort_if_torn_down(void)
{
	if (__atomic_load_n(&is_torn_down, __ATOMIC_SEQ_CST))
		abort();
}

#define ENTER_SAMPLING()                                         \
	do {                                                     \
		static pthread_once_t once_ = PTHREAD_ONCE_INIT; \
		abort_if_torn_down();                            \
		pthread_once(&once_, made_at_first_call);        \
		MOCK_FAULT_RETURN();                             \
	} while (0)

/* ---- names, for the host interface in counters.c ---- */

/* Metrics that are added by one call share a pass. */
CUptiResult mock_sample_add_metrics(struct mock_config *config,
				    const CUpti_Profiler_Host_ConfigAddMetrics_Params *parameters)
{
	const char *missing = getenv("MOCK_UNSAMPLED");
	unsigned int passes = 1;

	for (size_t i = 0; i < parameters->numMetrics; i++) {
		const char *name = parameters->ppMetricNames[i];

		if (!mock_is_sampled(name) || config->count + i >= MOCK_METRICS ||
		    mock_has_word(missing ? missing : "nvlrx__,nvltx__", name) ||
		    mock_is_mentioned("MOCK_NO_METRICS", name))
			return CUPTI_ERROR_INVALID_PARAMETER;
		passes += mock_is_mentioned("MOCK_TWO_PASSES", name);
	}
	for (size_t i = 0; i < parameters->numMetrics; i++)
		snprintf(config->metrics[config->count++].name, MOCK_NAME_BYTES, "%s",
			 parameters->ppMetricNames[i]);
	config->pass_count += passes;
	return CUPTI_SUCCESS;
}

static bool is_configured_metric(const struct mock_config *config, size_t likely, const char *name)
{
	if (likely < config->count && !strcmp(config->metrics[likely].name, name))
		return true;
	for (size_t i = 0; i < config->count; i++)
		if (!strcmp(config->metrics[i].name, name))
			return true;
	return false;
}

static struct mock_sample_image *sample_image(const uint8_t *bytes, size_t size)
{
	struct mock_sample_image *image = (struct mock_sample_image *)bytes;

	return bytes && size >= sizeof(*image) &&
			       !memcmp(image->mark, image_mark, sizeof(image_mark)) &&
			       size >= sizeof(*image) + image->most * sizeof(*image->samples)
		       ? image
		       : NULL;
}

static void usleep_us(unsigned long us)
{
	if (us)
		usleep((useconds_t)us);
}

CUptiResult mock_sample_evaluate(const CUpti_Profiler_Host_EvaluateToGpuValues_Params *parameters)
{
	const struct mock_sample_image *image =
		sample_image(parameters->pCounterDataImage, parameters->counterDataImageSize);
	bool is_nan = getenv("MOCK_NAN") != NULL;
	const struct mock_sample *sample;

	abort_if_torn_down();
	usleep_us(mock_number("MOCK_EVALUATE_US", 0));
	if (!image || parameters->rangeIndex >= image->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	sample = &image->samples[parameters->rangeIndex];
	for (size_t i = 0; i < parameters->numMetrics; i++) {
		const char *name = parameters->ppMetricNames[i];

		if (!is_configured_metric(&image->config, i, name))
			return CUPTI_ERROR_INVALID_METRIC_NAME;
		parameters->pMetricValues[i] = is_nan ? NAN : mock_sampled_value(name, sample);
	}
	return CUPTI_SUCCESS;
}

/* ---- CUPTI: sampling ---- */

/* Leaves the lock held, or returns NULL without it when the object is none that is enabled. */
static struct mock_sampler *lock_sampler(const CUpti_PmSampling_Object *object)
{
	pthread_mutex_lock(&mock_gpu_lock);
	for (size_t i = 0; i < MOCK_GPUS; i++)
		if (object == (const CUpti_PmSampling_Object *)&mock_samplers[i] &&
		    mock_samplers[i].is_enabled)
			return &mock_samplers[i];
	pthread_mutex_unlock(&mock_gpu_lock);
	return NULL;
}

static CUptiResult unlock_sampler(CUptiResult result)
{
	pthread_mutex_unlock(&mock_gpu_lock);
	return result;
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params *parameters)
{
	ENTER_SAMPLING();
	if (parameters->pCounterAvailabilityImage)
		memset(parameters->pCounterAvailabilityImage, SAMPLING_AVAILABILITY,
		       parameters->counterAvailabilityImageSize);
	parameters->counterAvailabilityImageSize = AVAILABILITY_BYTES;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params *parameters)
{
	static unsigned int calls;
	struct mock_sampler *sampler;

	ENTER_SAMPLING();
	if (parameters->deviceIndex >= MOCK_GPUS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	usleep_us(1000 * mock_number_at_call("MOCK_ENABLE_MS",
					     __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED)));
	abort_if_torn_down();
	sampler = &mock_samplers[parameters->deviceIndex];
	pthread_mutex_lock(&mock_gpu_lock);
	if (sampler->is_enabled)
		return unlock_sampler(CUPTI_ERROR_INVALID_OPERATION);
	sampler->is_enabled = true;
	sampler->enabled_ns = mock_now_ns();
	parameters->pPmSamplingObject = (CUpti_PmSampling_Object *)sampler;
	return unlock_sampler(CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params *parameters)
{
	struct mock_sampler *sampler;

	ENTER_SAMPLING();
	sampler = lock_sampler(parameters->pPmSamplingObject);
	if (!sampler)
		return CUPTI_ERROR_INVALID_OPERATION;
	free(sampler->buffer);
	free(sampler->kernels);
	memset(sampler, 0, sizeof(*sampler));
	return unlock_sampler(CUPTI_SUCCESS);
}

/* The second of an Enable says that all is well and changes nothing. */
CUptiResult CUPTIAPI cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params *parameters)
{
	const struct mock_config *config = (const struct mock_config *)parameters->pConfig;
	struct mock_sampler *sampler;

	ENTER_SAMPLING();
	sampler = lock_sampler(parameters->pPmSamplingObject);
	if (!sampler)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (parameters->configSize != sizeof(*config) || !config->is_sampling || !config->count ||
	    !parameters->samplingInterval || parameters->hardwareBufferSize < SAMPLE_BYTES ||
	    parameters->triggerMode != CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL ||
	    parameters->hwBufferAppendMode !=
		    CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST)
		return unlock_sampler(CUPTI_ERROR_INVALID_PARAMETER);
	if (config->pass_count > 1)
		return unlock_sampler(CUPTI_ERROR_NOT_SUPPORTED);
	if (sampler->is_configured)
		return unlock_sampler(CUPTI_SUCCESS);
	sampler->config = *config;
	sampler->interval_ns = parameters->samplingInterval;
	sampler->capacity = parameters->hardwareBufferSize / SAMPLE_BYTES;
	sampler->is_configured = true;
	return unlock_sampler(CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiPmSamplingStart(CUpti_PmSampling_Start_Params *parameters)
{
	struct mock_sampler *sampler;

	ENTER_SAMPLING();
	sampler = lock_sampler(parameters->pPmSamplingObject);
	if (!sampler)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (sampler->has_overflowed || sampler->is_undecoded)
		return unlock_sampler(CUPTI_ERROR_UNKNOWN);
	if (!sampler->is_configured || sampler->is_started)
		return unlock_sampler(CUPTI_ERROR_INVALID_OPERATION);
	sampler->sampled_ns = mock_now_ns();
	sampler->first_ns = sampler->enabled_ns;
	sampler->kernel_count = 0;
	__atomic_store_n(&sampler->is_started, true, __ATOMIC_RELAXED);
	return unlock_sampler(CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params *parameters)
{
	struct mock_sampler *sampler;

	ENTER_SAMPLING();
	sampler = lock_sampler(parameters->pPmSamplingObject);
	if (!sampler)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!sampler->is_started)
		return unlock_sampler(CUPTI_ERROR_INVALID_OPERATION);
	mock_gpu_fill_buffer(sampler);
	sampler->is_undecoded = true;
	__atomic_store_n(&sampler->is_started, false, __ATOMIC_RELAXED);
	return unlock_sampler(CUPTI_SUCCESS);
}

/* Returns how many samples it moved. */
static size_t empty_into(struct mock_sampler *sampler, struct mock_sample_image *image)
{
	size_t room = image->most - image->count;
	size_t count = sampler->held < room ? sampler->held : room;

	if (count)
		memcpy(image->samples + image->count, sampler->buffer,
		       count * sizeof(*image->samples));
	image->count += count;
	image->config = sampler->config;
	sampler->held = 0;
	return count;
}

CUptiResult CUPTIAPI cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params *parameters)
{
	static unsigned int calls;
	struct mock_sample_image *image;
	struct mock_sampler *sampler;
	size_t count;

	ENTER_SAMPLING();
	image = sample_image(parameters->pCounterDataImage, parameters->counterDataImageSize);
	sampler = lock_sampler(parameters->pPmSamplingObject);
	if (!sampler)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!sampler->is_configured)
		return unlock_sampler(CUPTI_ERROR_INVALID_OPERATION);
	if (!image)
		return unlock_sampler(CUPTI_ERROR_INVALID_PARAMETER);
	mock_gpu_fill_buffer(sampler);
	parameters->overflow = sampler->has_overflowed;
	parameters->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER;
	if (sampler->has_overflowed)
		return unlock_sampler(CUPTI_ERROR_OUT_OF_MEMORY);
	count = empty_into(sampler, image);
	sampler->is_undecoded = false;
	parameters->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
	unlock_sampler(CUPTI_SUCCESS);
	usleep_us(count *
		  mock_number_at_call("MOCK_DECODE_NS",
				      __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED)) /
		  1000);
	abort_if_torn_down();
	return CUPTI_SUCCESS;
}

/* ---- CUPTI: what was sampled ---- */

/* Of an image, for one sample: as CUPTI 13.0 wants it for GH100, once for sum, min and max of a counter. */
static size_t counter_bytes(const char *own_name)
{
	static const struct {
		const char *unit;
		size_t bytes;
	} units[] = {{"sm__", 4665}, {"dram__", 1593}, {"lts__", 3129}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strncmp(own_name, units[i].unit, strlen(units[i].unit)))
			return units[i].bytes;
	return 208; /* of the whole GPU */
}

static bool is_same_counter(const char *left, const char *right)
{
	size_t length = strcspn(left, ".");

	return length == strcspn(right, ".") && !strncmp(left, right, length);
}

static size_t sample_bytes(const char **names, size_t count)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = mock_without_domain(names[i]);
		size_t before = 0;

		while (before < i && !is_same_counter(mock_without_domain(names[before]), name))
			before++;
		bytes += before == i ? counter_bytes(name) : 0;
	}
	return bytes > sizeof(struct mock_sample) ? bytes : sizeof(struct mock_sample);
}

static size_t config_sample_bytes(const struct mock_config *config)
{
	const char *names[MOCK_METRICS];

	for (size_t i = 0; i < config->count; i++)
		names[i] = config->metrics[i].name;
	return sample_bytes(names, config->count);
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params *parameters)
{
	struct mock_sampler *sampler;

	ENTER_SAMPLING();
	sampler = lock_sampler(parameters->pPmSamplingObject);
	if (!sampler)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!parameters->numMetrics || !parameters->pMetricNames || !parameters->maxSamples)
		return unlock_sampler(CUPTI_ERROR_INVALID_PARAMETER);
	parameters->counterDataSize =
		sizeof(struct mock_sample_image) +
		parameters->maxSamples *
			sample_bytes(parameters->pMetricNames, parameters->numMetrics);
	sampler->asked_bytes = parameters->counterDataSize;
	return unlock_sampler(CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI cuptiPmSamplingCounterDataImageInitialize(
	CUpti_PmSampling_CounterDataImage_Initialize_Params *parameters)
{
	struct mock_sample_image *image = (struct mock_sample_image *)parameters->pCounterData;
	size_t size = parameters->counterDataSize, each;
	struct mock_sampler *sampler;

	ENTER_SAMPLING();
	sampler = lock_sampler(parameters->pPmSamplingObject);
	if (!sampler || !sampler->is_configured)
		return sampler ? unlock_sampler(CUPTI_ERROR_INVALID_OPERATION)
			       : CUPTI_ERROR_INVALID_OPERATION;
	each = config_sample_bytes(&sampler->config);
	if (!image || size <= sizeof(*image) || (size - sizeof(*image)) % each != 0)
		return unlock_sampler(CUPTI_ERROR_INVALID_PARAMETER);
	if (size != sampler->asked_bytes ||
	    (size - sizeof(*image)) / each > mock_number("MOCK_IMAGE_SAMPLES", SIZE_MAX))
		return unlock_sampler(CUPTI_ERROR_UNKNOWN);
	memcpy(image->mark, image_mark, sizeof(image_mark));
	image->most = (size - sizeof(*image)) / each;
	image->count = 0;
	return unlock_sampler(CUPTI_SUCCESS);
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params *parameters)
{
	const struct mock_sample_image *image;

	abort_if_torn_down();
	MOCK_FAULT_RETURN();
	image = sample_image(parameters->pCounterDataImage, parameters->counterDataImageSize);
	if (!image)
		return CUPTI_ERROR_INVALID_PARAMETER;
	parameters->numTotalSamples = image->most;
	parameters->numPopulatedSamples = parameters->numCompletedSamples = image->count;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingCounterDataGetSampleInfo(
	CUpti_PmSampling_CounterData_GetSampleInfo_Params *parameters)
{
	const struct mock_sample_image *image;

	abort_if_torn_down();
	MOCK_FAULT_RETURN();
	image = sample_image(parameters->pCounterDataImage, parameters->counterDataImageSize);
	if (!lock_sampler(parameters->pPmSamplingObject))
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!image || parameters->sampleIndex >= image->count)
		return unlock_sampler(CUPTI_ERROR_INVALID_PARAMETER);
	parameters->startTimestamp = image->samples[parameters->sampleIndex].start_ns;
	parameters->endTimestamp = image->samples[parameters->sampleIndex].end_ns;
	return unlock_sampler(CUPTI_SUCCESS);
}
