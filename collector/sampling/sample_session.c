#include "sampling/sample_session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

struct sample_session {
	const struct cupti_api *cupti;
	const struct sample_config *config;
	CUpti_PmSampling_Object *object;
	bool is_configured;
	/* CUPTI empties an image only of the size that it was asked for last: held for writing to ask, and
	 * for reading while images of that size are emptied. */
	pthread_rwlock_t lock;
	size_t asked_capacity; /* samples; 0 before it was asked */
};

/* The lock is held for writing. */
static CUptiResult size_image(struct sample_session *session, const struct sample_config *config,
			      size_t capacity, size_t *size)
{
	CUpti_PmSampling_GetCounterDataSize_Params parameters = {
		.structSize = CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE,
		.pPmSamplingObject = session->object,
		.pMetricNames = (const char **)config->names,
		.numMetrics = config->name_count,
		.maxSamples = (uint32_t)capacity,
	};
	CUptiResult result = session->cupti->cuptiPmSamplingGetCounterDataSize(&parameters);

	*size = parameters.counterDataSize;
	session->asked_capacity = result == CUPTI_SUCCESS ? capacity : 0;
	return result;
}

size_t sample_session_bytes(struct sample_session *session, const struct sample_config *config)
{
	size_t small = 0, large = 0;
	CUptiResult result;

	pthread_rwlock_wrlock(&session->lock);
	result = size_image(session, config, 1000, &small);
	if (result == CUPTI_SUCCESS)
		result = size_image(session, config, 2000, &large);
	pthread_rwlock_unlock(&session->lock);
	return result == CUPTI_SUCCESS && large > small ? (large - small) / 1000 : 0;
}

CUptiResult sample_session_open(struct sample_session **out, const struct cupti_api *cupti,
				uint32_t device)
{
	struct sample_session *session = calloc(1, sizeof(*session));
	CUpti_PmSampling_Enable_Params parameters = {
		.structSize = CUpti_PmSampling_Enable_Params_STRUCT_SIZE,
		.deviceIndex = device,
	};
	CUptiResult result;

	*out = NULL;
	if (!session)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	result = cupti->cuptiPmSamplingEnable(&parameters);
	if (result != CUPTI_SUCCESS) {
		free(session);
		return result;
	}
	pthread_rwlock_init(&session->lock, NULL);
	session->cupti = cupti;
	session->object = parameters.pPmSamplingObject;
	*out = session;
	return CUPTI_SUCCESS;
}

CUptiResult sample_session_configure(struct sample_session *session,
				     const struct sample_config *config, uint64_t interval_ns,
				     size_t buffer_bytes)
{
	/* 12.6 does not know the last member. */
	CUpti_PmSampling_SetConfig_Params parameters = {
		.structSize =
			session->cupti->version >= CUPTI_WITH_APPEND_MODE
				? CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE
				: offsetof(CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode),
		.pPmSamplingObject = session->object,
		.configSize = config->image.size,
		.pConfig = config->image.bytes,
		.hardwareBufferSize = buffer_bytes,
		.samplingInterval = interval_ns,
		.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL,
		.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST,
	};
	CUptiResult result = session->cupti->cuptiPmSamplingSetConfig(&parameters);

	session->config = config;
	session->is_configured = result == CUPTI_SUCCESS;
	return result;
}

void sample_session_close(struct sample_session *session)
{
	CUpti_PmSampling_Disable_Params parameters = {
		.structSize = CUpti_PmSampling_Disable_Params_STRUCT_SIZE,
	};

	if (!session)
		return;
	parameters.pPmSamplingObject = session->object;
	if (session->is_configured)
		session->cupti->cuptiPmSamplingDisable(&parameters);
	pthread_rwlock_destroy(&session->lock);
	free(session);
}

CUptiResult sample_session_start(struct sample_session *session)
{
	CUpti_PmSampling_Start_Params parameters = {
		.structSize = CUpti_PmSampling_Start_Params_STRUCT_SIZE,
		.pPmSamplingObject = session->object,
	};

	return session->cupti->cuptiPmSamplingStart(&parameters);
}

CUptiResult sample_session_stop(struct sample_session *session)
{
	CUpti_PmSampling_Stop_Params parameters = {
		.structSize = CUpti_PmSampling_Stop_Params_STRUCT_SIZE,
		.pPmSamplingObject = session->object,
	};

	return session->cupti->cuptiPmSamplingStop(&parameters);
}

static CUptiResult count_samples(const struct cupti_api *cupti, struct sample_image *image)
{
	CUpti_PmSampling_GetCounterDataInfo_Params parameters = {
		.structSize = CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = image->bytes,
		.counterDataImageSize = image->size,
	};
	CUptiResult result = cupti->cuptiPmSamplingGetCounterDataInfo(&parameters);

	image->count = result == CUPTI_SUCCESS ? parameters.numCompletedSamples : 0;
	return result;
}

CUptiResult sample_session_decode(struct sample_session *session, struct sample_image *image)
{
	CUpti_PmSampling_DecodeData_Params parameters = {
		.structSize = CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE,
		.pPmSamplingObject = session->object,
		.pCounterDataImage = image->bytes,
		.counterDataImageSize = image->size,
	};
	CUptiResult result = session->cupti->cuptiPmSamplingDecodeData(&parameters);

	image->count = 0;
	if (result == CUPTI_SUCCESS && parameters.overflow)
		result = CUPTI_ERROR_OUT_OF_MEMORY;
	return result == CUPTI_SUCCESS ? count_samples(session->cupti, image) : result;
}

CUptiResult sample_image_size(struct sample_image *image, struct sample_session *session,
			      size_t capacity)
{
	CUptiResult result;

	*image = (struct sample_image){.capacity = capacity};
	pthread_rwlock_wrlock(&session->lock);
	result = size_image(session, session->config, capacity, &image->size);
	pthread_rwlock_unlock(&session->lock);
	return result;
}

/* Takes the lock with the size of the image being the one asked for last. */
static CUptiResult lock_size(struct sample_session *session, const struct sample_image *image)
{
	CUptiResult result;
	size_t size = 0;

	pthread_rwlock_rdlock(&session->lock);
	if (session->asked_capacity == image->capacity)
		return CUPTI_SUCCESS;
	pthread_rwlock_unlock(&session->lock);
	pthread_rwlock_wrlock(&session->lock);
	result = size_image(session, session->config, image->capacity, &size);
	return result == CUPTI_SUCCESS && size != image->size ? CUPTI_ERROR_UNKNOWN : result;
}

CUptiResult sample_image_reset(struct sample_image *image, struct sample_session *session)
{
	CUpti_PmSampling_CounterDataImage_Initialize_Params parameters = {
		.structSize = CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.pPmSamplingObject = session->object,
		.counterDataSize = image->size,
		.pCounterData = image->bytes,
	};
	CUptiResult result = lock_size(session, image);

	image->count = 0;
	if (result == CUPTI_SUCCESS)
		result = session->cupti->cuptiPmSamplingCounterDataImageInitialize(&parameters);
	pthread_rwlock_unlock(&session->lock);
	return result;
}

CUptiResult sample_image_make(struct sample_image *image, struct sample_session *session)
{
	size_t room = (image->size + HUGE_PAGE_BYTES) & ~(HUGE_PAGE_BYTES - 1);

	image->bytes = aligned_alloc(HUGE_PAGE_BYTES, room);
	if (!image->bytes)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	madvise(image->bytes, room, MADV_HUGEPAGE); /* samples are written all over it */
	return sample_image_reset(image, session);
}

CUptiResult sample_image_time(const struct sample_image *image, struct sample_session *session,
			      size_t sample, struct sample_time *time)
{
	CUpti_PmSampling_CounterData_GetSampleInfo_Params parameters = {
		.structSize = CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE,
		.pPmSamplingObject = session->object,
		.pCounterDataImage = image->bytes,
		.counterDataImageSize = image->size,
		.sampleIndex = sample,
	};
	CUptiResult result = session->cupti->cuptiPmSamplingCounterDataGetSampleInfo(&parameters);

	*time = (struct sample_time){(int64_t)parameters.startTimestamp,
				     (int64_t)parameters.endTimestamp};
	return result;
}

CUpti_Profiler_Host_Object *sample_evaluator_open(const struct cupti_api *cupti, const char *chip,
						  const uint8_t *availability,
						  const struct sample_config *config)
{
	CUpti_Profiler_Host_Object *host;

	if (profiler_host_open(cupti, CUPTI_PROFILER_TYPE_PM_SAMPLING, chip, availability, &host) !=
	    CUPTI_SUCCESS)
		return NULL;
	if (profiler_host_add(cupti, host, (const char **)config->names, config->name_count) ==
	    CUPTI_SUCCESS)
		return host;
	profiler_host_close(cupti, host);
	return NULL;
}

CUptiResult sample_evaluate(const struct cupti_api *cupti, CUpti_Profiler_Host_Object *evaluator,
			    const struct sample_config *config, const struct sample_image *image,
			    size_t sample, double *values)
{
	CUpti_Profiler_Host_EvaluateToGpuValues_Params parameters = {
		.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
		.pHostObject = evaluator,
		.pCounterDataImage = image->bytes,
		.counterDataImageSize = image->size,
		.rangeIndex = sample,
		.ppMetricNames = (const char **)config->names,
		.numMetrics = config->name_count,
		.pMetricValues = values,
	};

	return cupti->cuptiProfilerHostEvaluateToGpuValues(&parameters);
}
