/*
 * mock_sampling.h - the part of libcupti_mock.c that samples a whole GPU.  Included by it alone.
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
#include "mock_samples.h"

#define MOCK_GPUS 8
#define MOCK_SAMPLE_BYTES 1000 /* of the hardware's buffer, for one sample */

/* What the collector allocates: CUpti_PmSampling_GetCounterDataSize_Params.counterDataSize bytes. */
struct mock_sample_image {
	char mark[8];
	struct mock_config config;
	size_t most, count;
	struct mock_sample samples[];
};

struct mock_sampler {
	bool is_enabled, is_configured, is_started, has_overflowed;
	bool is_undecoded; /* stopped, and what it sampled not fetched */
	struct mock_config config;
	size_t asked_bytes; /* for an image, last */
	uint64_t enabled_ns, interval_ns;
	uint64_t sampled_ns;   /* samples are made until here */
	uint64_t first_ns;     /* what the next sample claims as its start */
	size_t capacity, held; /* samples in the hardware's buffer */
	struct mock_sample *buffer;
	struct mock_kernel *kernels; /* that may concern samples to come */
	size_t kernel_count, kernel_room;
};

static const char image_mark[8] = "sampled";

static pthread_mutex_t sampling = PTHREAD_MUTEX_INITIALIZER; /* samplers */
static struct mock_sampler samplers[MOCK_GPUS];

/* ---- the end of the process ---- */

static bool is_torn_down;

/* MOCK_TEARDOWN_MS: what taking it away takes, while threads go on. */
static void tear_down(void)
{
	if (__atomic_exchange_n(&is_torn_down, true, __ATOMIC_SEQ_CST))
		return;
	usleep((useconds_t)from_environment("MOCK_TEARDOWN_MS", 0) * 1000);
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
		FAULT_RETURN();                                  \
	} while (0)

/* "N" or "N@CALL" of the environment, for calls of a function from that one on (1); else 0. */
static unsigned long from_call_on(const char *variable, unsigned int call)
{
	const char *text = getenv(variable);
	unsigned long value, from = 1;
	char *end;

	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (*end == '@')
		from = strtoul(end + 1, NULL, 10);
	return call >= from ? value : 0;
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

static void note_kernel(const struct mock_kernel *kernel)
{
	const char *path = getenv("MOCK_SAMPLED_FILE");
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

	if (file < 0)
		return;
	dprintf(file, "%u,%llu,%llu,%u,%s,%s\n", kernel->device,
		(unsigned long long)kernel->start_ns, (unsigned long long)kernel->end_ns,
		kernel->blocks, kernel->name, kernel->is_recorded ? "recorded" : "unrecorded");
	close(file);
}

/* One that is heard of late, because its thread had to wait for a processor, moves to the samples to
 * come, so that every kernel is in exactly one. */
static void take_kernel(struct mock_kernel *kernel)
{
	struct mock_sampler *sampler = &samplers[kernel->device % MOCK_GPUS];

	if (!__atomic_load_n(&sampler->is_started, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&sampling);
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
		note_kernel(kernel);
	}
	pthread_mutex_unlock(&sampling);
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

/* What the hardware has sampled until now goes into its buffer, and no more than the buffer holds. */
static void fill_buffer(struct mock_sampler *sampler)
{
	uint64_t now_ns = realtime_ns();
	size_t count;

	if (!sampler->is_started || sampler->has_overflowed || now_ns < sampler->sampled_ns)
		return;
	count = (now_ns - sampler->sampled_ns) / sampler->interval_ns;
	sampler->has_overflowed = sampler->held + count > sampler->capacity;
	if (count && !sampler->has_overflowed)
		make_samples(sampler, count);
	forget_kernels(sampler);
}

/* ---- names, for the host interface in mock_counters.h ---- */

/* Metrics that are added by one call share a pass. */
static CUptiResult
add_sampled_metrics(struct mock_config *config,
		    const CUpti_Profiler_Host_ConfigAddMetrics_Params *parameters)
{
	const char *missing = getenv("MOCK_UNSAMPLED");
	unsigned int passes = 1;

	for (size_t i = 0; i < parameters->numMetrics; i++) {
		const char *name = parameters->ppMetricNames[i];

		if (!mock_find_sampled(name) || config->count + i >= MOCK_METRICS ||
		    has_word_of(missing ? missing : "nvlrx__,nvltx__", name) ||
		    is_mentioned("MOCK_NO_METRICS", name))
			return CUPTI_ERROR_INVALID_PARAMETER;
		passes += is_mentioned("MOCK_TWO_PASSES", name);
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

static CUptiResult evaluate_sample(const CUpti_Profiler_Host_EvaluateToGpuValues_Params *parameters)
{
	const struct mock_sample_image *image =
		sample_image(parameters->pCounterDataImage, parameters->counterDataImageSize);
	bool is_nan = getenv("MOCK_NAN") != NULL;
	const struct mock_sample *sample;

	abort_if_torn_down();
	usleep_us(from_environment("MOCK_EVALUATE_US", 0));
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
	pthread_mutex_lock(&sampling);
	for (size_t i = 0; i < MOCK_GPUS; i++)
		if (object == (const CUpti_PmSampling_Object *)&samplers[i] &&
		    samplers[i].is_enabled)
			return &samplers[i];
	pthread_mutex_unlock(&sampling);
	return NULL;
}

static CUptiResult unlock_sampler(CUptiResult result)
{
	pthread_mutex_unlock(&sampling);
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
	usleep_us(1000 *
		  from_call_on("MOCK_ENABLE_MS", __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED)));
	abort_if_torn_down();
	sampler = &samplers[parameters->deviceIndex];
	pthread_mutex_lock(&sampling);
	if (sampler->is_enabled)
		return unlock_sampler(CUPTI_ERROR_INVALID_OPERATION);
	sampler->is_enabled = true;
	sampler->enabled_ns = realtime_ns();
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
	    !parameters->samplingInterval || parameters->hardwareBufferSize < MOCK_SAMPLE_BYTES ||
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
	sampler->capacity = parameters->hardwareBufferSize / MOCK_SAMPLE_BYTES;
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
	sampler->sampled_ns = realtime_ns();
	sampler->first_ns = sampler->enabled_ns;
	sampler->kernel_count = 0;
	__atomic_store_n(&sampler->is_started, true, __ATOMIC_RELAXED);
	on_kernel = take_kernel;
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
	fill_buffer(sampler);
	sampler->is_undecoded = true;
	__atomic_store_n(&sampler->is_started, false, __ATOMIC_RELAXED);
	return unlock_sampler(CUPTI_SUCCESS);
}

/* Returns how many samples it moved. */
static size_t empty_into(struct mock_sampler *sampler, struct mock_sample_image *image)
{
	size_t count = earlier(sampler->held, image->most - image->count);

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
	fill_buffer(sampler);
	parameters->overflow = sampler->has_overflowed;
	parameters->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER;
	if (sampler->has_overflowed)
		return unlock_sampler(CUPTI_ERROR_OUT_OF_MEMORY);
	count = empty_into(sampler, image);
	sampler->is_undecoded = false;
	parameters->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
	unlock_sampler(CUPTI_SUCCESS);
	usleep_us(count *
		  from_call_on("MOCK_DECODE_NS", __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED)) /
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
	return later(bytes, sizeof(struct mock_sample));
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
	if (size != sampler->asked_bytes)
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
	FAULT_RETURN();
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
	FAULT_RETURN();
	image = sample_image(parameters->pCounterDataImage, parameters->counterDataImageSize);
	if (!lock_sampler(parameters->pPmSamplingObject))
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!image || parameters->sampleIndex >= image->count)
		return unlock_sampler(CUPTI_ERROR_INVALID_PARAMETER);
	parameters->startTimestamp = image->samples[parameters->sampleIndex].start_ns;
	parameters->endTimestamp = image->samples[parameters->sampleIndex].end_ns;
	return unlock_sampler(CUPTI_SUCCESS);
}

/* ---- the test program's side ---- */

void mock_device_launch(uint32_t device, const char *name, unsigned int blocks, uint64_t busy_ns)
{
	uint64_t now_ns = realtime_ns();
	struct mock_kernel kernel = {
		.device = device,
		.name = name,
		.blocks = blocks,
		.start_ns = now_ns,
		.end_ns = now_ns + busy_ns,
	};

	take_kernel(&kernel);
}
