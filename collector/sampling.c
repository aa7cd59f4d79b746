#define _GNU_SOURCE
#include "sampling.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"
#include "launch_call.h"
#include "log.h"
#include "nvtx_match.h"
#include "sample_health.h"
#include "sample_plan.h"
#include "sample_rows.h"
#include "trace_writer.h"
#include "window.h"

#define MAX_DEVICES 16
/* Decoding that begins so many halves of a batch after the last one is late: an image in reserve is taken. */
#define LATE_HALVES 3
/* The decoding thread is made so much nicer to itself, where that is allowed. */
#define DECODER_NICE (-10)
/* Of the longest window: how long one goes on after its NVTX range. */
#define RANGE_LINGER_PART 4
/* Times that a session is opened anew after its buffer overflowed. */
#define REOPEN_LIMIT 20
/* At the end of the program; less than it waits for the whole recording to be closed. */
#define STOP_PATIENCE_S 8

enum image_state { IMAGE_FREE, IMAGE_DECODED, IMAGE_BUSY, IMAGE_UNUSABLE };

struct filled_image {
	struct sample_image image;
	enum image_state state;
	uint64_t age; /* order of decoding */
};

/* One device.  lock guards all but what opening sets once. */
struct sampler {
	uint32_t device;
	char chip[64];
	uint8_t *availability;
	struct sample_config config;
	struct sample_source source;
	size_t sample_bytes;
	struct sample_plan plan;
	struct filled_image images[IMAGE_LIMIT]; /* those in reserve come last */
	size_t image_count;			 /* of both kinds */
	pthread_t thread, workers[WORKER_LIMIT];
	CUpti_Profiler_Host_Object *evaluators[WORKER_LIMIT];
	size_t worker_count; /* that could be started */
	bool has_threads;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* anything below */
	bool is_waiting;	/* for the first launch */
	bool is_running;	/* the hardware samples */
	bool is_after_start;	/* and nothing has been decoded since it was started */
	bool is_decoding;
	bool is_stopping, is_drained, has_failed;
	int64_t started_ns;   /* CLOCK_MONOTONIC: this window */
	int64_t decoded_ns;   /* CLOCK_MONOTONIC: the last decoding began, or else this window */
	int64_t range_end_ns; /* of the last NVTX range; 0 while one is open, or without them */
	int64_t last_end_ns;  /* of the last sample, 0 before the first */
	uint64_t decoded_count;
	unsigned int reopen_count;
	struct sample_health health;
};

static const struct cupti_api *cupti; /* NULL until started, and then for good */
static CUpti_SubscriberHandle subscriber;
static const struct options *options;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sampler *samplers[MAX_DEVICES];
static size_t sampler_count;
static bool is_anyone_waiting, is_stopped;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ns / 1000000000, ns % 1000000000};
}

/* Says once why there are no samples, and records it.  The trace goes on. */
static void give_up(struct sampler *sampler, const char *what, CUptiResult result)
{
	struct trace_rows *rows = trace_rows_take();

	log_warn_once("no samples: %s: %s (%d): %s; the trace is still recorded", what,
		      cupti_error_text(cupti, result), (int)result, cupti_error_remedy(result));
	trace_property_format(rows, "sample_problem", "%s: %s (%d)", what,
			      cupti_error_text(cupti, result), (int)result);
	trace_rows_give(rows);
	sampler->has_failed = true;
}

/* ---- evaluating: threads that turn images into rows ---- */

/* Under the lock: the decoded image that waits longest, or NULL. */
static struct filled_image *take_decoded(struct sampler *sampler)
{
	struct filled_image *oldest = NULL;

	for (size_t i = 0; i < sampler->image_count; i++) {
		struct filled_image *image = &sampler->images[i];

		if (image->state == IMAGE_DECODED && (!oldest || image->age < oldest->age))
			oldest = image;
	}
	if (oldest)
		oldest->state = IMAGE_BUSY;
	return oldest;
}

static bool is_reserve(const struct sampler *sampler, const struct filled_image *image)
{
	return image >= sampler->images + sampler->plan.image_count;
}

/* Under the lock: an image that was emptied, or not.  One in reserve can be done without. */
static void put_back(struct sampler *sampler, struct filled_image *image, CUptiResult result)
{
	image->state = IMAGE_FREE;
	if (result == CUPTI_SUCCESS)
		return;
	if (is_reserve(sampler, image))
		image->state = IMAGE_UNUSABLE;
	else if (!sampler->has_failed)
		give_up(sampler, "an image cannot be emptied", result);
}

/* The sampler and the number of the worker. */
struct worker {
	struct sampler *sampler;
	size_t number;
};

static void *worker_main(void *data)
{
	struct worker worker = *(struct worker *)data;
	struct sampler *sampler = worker.sampler;
	struct filled_image *image;
	CUptiResult result;

	free(data);
	pthread_mutex_lock(&sampler->lock);
	while ((image = take_decoded(sampler)) || !sampler->is_drained) {
		if (!image) {
			pthread_cond_wait(&sampler->changed, &sampler->lock);
			continue;
		}
		pthread_mutex_unlock(&sampler->lock);
		sample_rows_write(&sampler->source, sampler->evaluators[worker.number],
				  &image->image);
		result = sample_image_reset(&image->image, sampler->source.session);
		pthread_mutex_lock(&sampler->lock);
		put_back(sampler, image, result);
		pthread_cond_broadcast(&sampler->changed);
	}
	pthread_mutex_unlock(&sampler->lock);
	return NULL;
}

/* ---- decoding ---- */

/* More may have been sampled than the images have room for that are in use all the time. */
static bool is_late(const struct sampler *sampler)
{
	return sampler->plan.is_continuous &&
	       2 * (clock_ns(CLOCK_MONOTONIC) - sampler->decoded_ns) >
		       LATE_HALVES * sampler->plan.batch_ns;
}

static struct filled_image *find_free(struct sampler *sampler, bool from_reserve)
{
	size_t begin = from_reserve ? sampler->plan.image_count : 0;
	size_t end = from_reserve ? sampler->image_count : sampler->plan.image_count;

	for (size_t i = begin; i < end; i++)
		if (sampler->images[i].state == IMAGE_FREE)
			return &sampler->images[i];
	return NULL;
}

/* Under the lock, which is let go while it waits: an image to decode into. */
static struct filled_image *wait_for_image(struct sampler *sampler)
{
	for (;;) {
		bool from_reserve = is_late(sampler);
		struct filled_image *image = find_free(sampler, from_reserve);

		if (!image)
			image = find_free(sampler, !from_reserve);
		if (image)
			return image;
		pthread_cond_wait(&sampler->changed, &sampler->lock);
	}
}

static bool are_images_free(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->image_count; i++)
		if (sampler->images[i].state == IMAGE_DECODED ||
		    sampler->images[i].state == IMAGE_BUSY)
			return false;
	return true;
}

/* Time without samples between this image and the one before. */
static void count_hole(struct sampler *sampler, const struct sample_image *image)
{
	struct sample_time first = {0}, last = {0};
	int64_t hole_ns;

	if (sample_rows_bounds(&sampler->source, image, &first, &last) < 0)
		return;
	hole_ns = first.start_ns - sampler->last_end_ns;
	if (sampler->plan.is_continuous && sampler->last_end_ns &&
	    hole_ns > options->sample_ns / 2 && window_contains(sampler->last_end_ns))
		trace_loss_add(LOSS_lost_sample_ns, (uint64_t)hole_ns);
	sampler->last_end_ns = last.end_ns;
}

/* Hands a decoded image to the workers. */
static void submit(struct sampler *sampler, struct filled_image *image)
{
	if (!image->image.count)
		return;
	image->image.is_after_start = sampler->is_after_start;
	sampler->is_after_start = false;
	count_hole(sampler, &image->image);
	image->state = IMAGE_DECODED;
	image->age = ++sampler->decoded_count;
	pthread_cond_broadcast(&sampler->changed);
}

/* Under the lock: one that began at begun_ns, after a wait for its image, and has just ended. */
static void note_decoding(struct sampler *sampler, const struct filled_image *image,
			  int64_t asked_ns, int64_t begun_ns)
{
	struct sample_decoding decoding = {
		.gap_ns = sampler->plan.is_continuous ? begun_ns - sampler->decoded_ns : 0,
		.wait_ns = begun_ns - asked_ns,
		.decode_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns,
		.is_full = image->image.count >= image->image.capacity,
		.is_reserve = is_reserve(sampler, image),
	};

	sample_health_note(&sampler->health, &decoding);
	sampler->decoded_ns = begun_ns;
}

/* Under the lock, which is let go meanwhile.  False when nothing was decoded: the hardware's buffer had
 * been full, or it has failed. */
static bool decode(struct sampler *sampler)
{
	int64_t asked_ns = clock_ns(CLOCK_MONOTONIC), begun_ns;
	struct filled_image *image;
	CUptiResult result;

	sampler->is_decoding = true;
	image = wait_for_image(sampler);
	if (sampler->has_failed) { /* a worker has given up meanwhile */
		sampler->is_decoding = false;
		return false;
	}
	pthread_mutex_unlock(&sampler->lock);
	begun_ns = clock_ns(CLOCK_MONOTONIC);
	result = sample_session_decode(sampler->source.session, &image->image);
	pthread_mutex_lock(&sampler->lock);
	note_decoding(sampler, image, asked_ns, begun_ns);
	sampler->is_decoding = false;
	if (result == CUPTI_SUCCESS)
		submit(sampler, image);
	else if (result != CUPTI_ERROR_OUT_OF_MEMORY)
		give_up(sampler, "they cannot be decoded", result);
	return result == CUPTI_SUCCESS;
}

/* ---- windows; all under the lock ---- */

static void start_window(struct sampler *sampler)
{
	CUptiResult result = sample_session_start(sampler->source.session);

	if (result != CUPTI_SUCCESS) {
		give_up(sampler, "sampling cannot be started", result);
		return;
	}
	sampler->is_running = true;
	sampler->is_after_start = true;
	sampler->started_ns = clock_ns(CLOCK_MONOTONIC);
	sampler->decoded_ns = sampler->started_ns;
	pthread_cond_broadcast(&sampler->changed);
}

static void stop_window(struct sampler *sampler)
{
	if (!sampler->is_running)
		return;
	sample_session_stop(sampler->source.session);
	sampler->is_running = false;
	pthread_cond_broadcast(&sampler->changed);
}

/* Nobody else may use the session meanwhile. */
static CUptiResult open_again(struct sampler *sampler)
{
	CUptiResult result;

	sample_session_close(sampler->source.session);
	sampler->source.session = NULL;
	result = sample_session_open(&sampler->source.session, cupti, sampler->device);
	if (result == CUPTI_SUCCESS)
		result = sample_session_configure(sampler->source.session, &sampler->config,
						  (uint64_t)options->sample_ns,
						  sampler->plan.buffer_bytes);
	for (size_t i = 0; result == CUPTI_SUCCESS && i < sampler->image_count; i++)
		if (sampler->images[i].state != IMAGE_UNUSABLE)
			result = sample_image_reset(&sampler->images[i].image,
						    sampler->source.session);
	return result;
}

/* An overflow left the session useless.  Opening another takes a third of a second, without the lock:
 * the program's NVTX ranges must not wait for it.  What was to be sampled meanwhile is a hole. */
static void reopen(struct sampler *sampler)
{
	CUptiResult result = CUPTI_ERROR_OUT_OF_MEMORY;

	sampler->is_decoding = true; /* no range begins a window */
	while (!are_images_free(sampler))
		pthread_cond_wait(&sampler->changed, &sampler->lock);
	stop_window(sampler);
	if (++sampler->reopen_count <= REOPEN_LIMIT) {
		log_warn_once(
			"GPU %u: sampling was too fast to be decoded and its buffer overflowed; "
			"what was lost is counted. Choose a longer interval, fewer metrics, or "
			"windows",
			sampler->device);
		pthread_mutex_unlock(&sampler->lock);
		result = open_again(sampler);
		pthread_mutex_lock(&sampler->lock);
	}
	sampler->is_decoding = false;
	if (sampler->reopen_count > REOPEN_LIMIT)
		give_up(sampler, "its buffer overflowed again and again", result);
	else if (result != CUPTI_SUCCESS)
		give_up(sampler, "sampling cannot be opened again", result);
}

/* Waits until the time or until anything changes. */
static void wait_for_change(struct sampler *sampler, int64_t until_ns)
{
	struct timespec until = timespec_of(until_ns);

	pthread_cond_clockwait(&sampler->changed, &sampler->lock, CLOCK_MONOTONIC, &until);
}

/* Where the hole begins when the first samples of all are lost. */
static void note_beginning(struct sampler *sampler)
{
	if (!sampler->last_end_ns)
		sampler->last_end_ns = clock_ns(CLOCK_REALTIME) -
				       (clock_ns(CLOCK_MONOTONIC) - sampler->started_ns);
}

/* From the beginning of one decoding to that of the next, for decoding may take more than half of the
 * time: a pause after each would leave the images room for little more than what is sampled anyway. */
static void run_continuous(struct sampler *sampler)
{
	while (!sampler->is_stopping && !sampler->has_failed) {
		int64_t next_ns = sampler->decoded_ns + sampler->plan.batch_ns;

		while (!sampler->is_stopping && clock_ns(CLOCK_MONOTONIC) < next_ns)
			wait_for_change(sampler, next_ns);
		if (decode(sampler) || sampler->has_failed)
			continue;
		note_beginning(sampler);
		reopen(sampler);
		if (!sampler->has_failed)
			start_window(sampler); /* the hole is found with the next sample */
	}
	stop_window(sampler);
	if (!sampler->has_failed)
		decode(sampler);
}

/* A window in an NVTX range goes on for a while after it: another may follow, and starting anew takes
 * until all of it has been decoded. */
static int64_t window_end_ns(const struct sampler *sampler)
{
	int64_t end_ns = sampler->started_ns + sampler->plan.window_ns;
	int64_t linger_ns = sampler->plan.window_ns / RANGE_LINGER_PART;

	if (sampler->range_end_ns && sampler->range_end_ns + linger_ns < end_ns)
		end_ns = sampler->range_end_ns + linger_ns;
	return end_ns;
}

static void run_window(struct sampler *sampler)
{
	while (sampler->is_running && !sampler->is_stopping &&
	       clock_ns(CLOCK_MONOTONIC) < window_end_ns(sampler))
		wait_for_change(sampler, window_end_ns(sampler));
	stop_window(sampler);
	if (decode(sampler) || sampler->has_failed)
		return;
	trace_loss_add(LOSS_lost_sample_ns,
		       (uint64_t)(clock_ns(CLOCK_MONOTONIC) - sampler->started_ns));
	reopen(sampler);
}

/* Waits until a window has begun; begins the next one where nobody else does.  False at the end. */
static bool wait_for_window(struct sampler *sampler, bool is_first)
{
	int64_t next_ns = sampler->started_ns + sampler->plan.period_ns;
	bool is_ours = !is_first && !options->sample_range;

	while (!sampler->is_running && !sampler->is_stopping && !sampler->has_failed) {
		struct timespec next = timespec_of(next_ns);

		if (is_ours && clock_ns(CLOCK_MONOTONIC) >= next_ns)
			start_window(sampler);
		else if (is_ours)
			pthread_cond_clockwait(&sampler->changed, &sampler->lock, CLOCK_MONOTONIC,
					       &next);
		else
			pthread_cond_wait(&sampler->changed, &sampler->lock);
	}
	return sampler->is_running && !sampler->has_failed;
}

static void *sampler_main(void *data)
{
	struct sampler *sampler = data;
	bool is_first = true;

	if (sampler->plan.is_continuous) /* of this thread alone, or refused */
		setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + DECODER_NICE);
	pthread_mutex_lock(&sampler->lock);
	while (wait_for_window(sampler, is_first)) {
		if (sampler->plan.is_continuous)
			run_continuous(sampler);
		else
			run_window(sampler);
		is_first = false;
	}
	stop_window(sampler);
	sampler->is_drained = true;
	pthread_cond_broadcast(&sampler->changed);
	pthread_mutex_unlock(&sampler->lock);
	return NULL;
}

/* ---- opening a device ---- */

static CUptiResult find_chip(struct sampler *sampler)
{
	CUpti_Profiler_Initialize_Params initializing = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
	CUpti_Device_GetChipName_Params naming = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
		.deviceIndex = sampler->device};
	CUpti_PmSampling_GetCounterAvailability_Params asking = {
		.structSize = CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE,
		.deviceIndex = sampler->device};
	CUptiResult result = cupti->cuptiProfilerInitialize(&initializing);

	if (result == CUPTI_SUCCESS)
		result = cupti->cuptiDeviceGetChipName(&naming);
	if (result != CUPTI_SUCCESS)
		return result;
	snprintf(sampler->chip, sizeof(sampler->chip), "%s", naming.pChipName);
	result = cupti->cuptiPmSamplingGetCounterAvailability(&asking);
	if (result != CUPTI_SUCCESS)
		return result;
	sampler->availability = calloc(1, asking.counterAvailabilityImageSize + 1);
	if (!sampler->availability)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	asking.pCounterAvailabilityImage = sampler->availability;
	return cupti->cuptiPmSamplingGetCounterAvailability(&asking);
}

static CUptiResult configure(struct sampler *sampler, unsigned int sets)
{
	CUptiResult result;

	sample_config_free(&sampler->config);
	result = sample_config_build(&sampler->config, cupti, sampler->chip, sampler->availability,
				     sets);
	if (result == CUPTI_SUCCESS)
		sampler->sample_bytes =
			sample_session_bytes(sampler->source.session, &sampler->config);
	return result == CUPTI_SUCCESS && !sampler->sample_bytes ? CUPTI_ERROR_UNKNOWN : result;
}

/* What was asked for, or everything; without end or at fixed times, as much of it as can be decoded
 * until the next. */
static CUptiResult choose_metrics(struct sampler *sampler)
{
	unsigned int sets = options->sample_sets;
	CUptiResult result;

	if (sets)
		return configure(sampler, sets);
	sets = (1u << SAMPLE_SET_COUNT) - 1;
	result = configure(sampler, sets);
	for (int last = SAMPLE_SET_COUNT - 1;
	     result == CUPTI_SUCCESS && options->sample_windows != WINDOWS_AUTO &&
	     !sample_plan_fits(options, sampler->sample_bytes) && last > SAMPLE_SET_front;
	     last--) {
		sets &= ~(1u << last);
		result = configure(sampler, sets);
	}
	return result;
}

static void warn_of_cut(const struct sampler *sampler)
{
	log_warn_once("GPU %u: a window of %.1f ms would take %.1f GiB; windows are %.1f ms. "
		      "Choose fewer metrics, a longer interval, or a larger "
		      "ROOFLINE_SAMPLE_BUFFER_MB",
		      sampler->device, (double)options->window_ns / 1e6,
		      (double)options->window_ns / (double)options->sample_ns *
			      (double)sample_plan_record_bytes(sampler->sample_bytes) / (1 << 30),
		      (double)sampler->plan.window_ns / 1e6);
}

static void plan(struct sampler *sampler)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct sample_facts facts = {
		.sample_bytes = sampler->sample_bytes,
		.counter_count = sampler->config.name_count,
		.processors = processors > 0 ? (size_t)processors : 1,
	};

	sampler->plan = sample_plan_make(options, &facts);
	if (sampler->plan.is_continuous && !sampler->plan.keeps_up)
		log_warn_once(
			"GPU %u: a sample takes about %.1f us to decode, more than the interval; "
			"samples will be lost. Choose a longer interval, fewer metrics, or "
			"windows",
			sampler->device, sample_plan_decode_ns(sampler->sample_bytes) / 1000);
	if (sampler->plan.is_window_cut)
		warn_of_cut(sampler);
}

/* Those in reserve are done without where memory or CUPTI refuses them. */
static CUptiResult make_images(struct sampler *sampler)
{
	const struct sample_plan *plan = &sampler->plan;
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; result == CUPTI_SUCCESS && i < plan->image_count; i++) {
		result = sample_image_make(&sampler->images[i].image, sampler->source.session,
					   plan->capacity);
		sampler->image_count = i + 1;
	}
	for (size_t i = 0; result == CUPTI_SUCCESS && i < plan->reserve_count; i++) {
		struct filled_image *image = &sampler->images[sampler->image_count++];

		if (sample_image_make(&image->image, sampler->source.session,
				      plan->reserve_capacity) != CUPTI_SUCCESS)
			image->state = IMAGE_UNUSABLE;
	}
	return result;
}

static CUptiResult open_hardware(struct sampler *sampler)
{
	CUptiResult result =
		sample_session_configure(sampler->source.session, &sampler->config,
					 (uint64_t)options->sample_ns, sampler->plan.buffer_bytes);

	if (result == CUPTI_SUCCESS)
		result = make_images(sampler);
	for (size_t i = 0; result == CUPTI_SUCCESS && i < sampler->plan.worker_count; i++) {
		sampler->evaluators[i] =
			sample_evaluator_open(cupti, sampler->chip, sampler->availability,
					      &sampler->config);
		if (!sampler->evaluators[i])
			result = CUPTI_ERROR_UNKNOWN;
	}
	return result;
}

/* What was made of them before one could not be. */
static void free_images(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->image_count; i++) {
		free(sampler->images[i].image.bytes);
		sampler->images[i].image.bytes = NULL;
	}
}

static bool start_worker(struct sampler *sampler, size_t number)
{
	struct worker *worker = malloc(sizeof(*worker));

	if (!worker)
		return false;
	*worker = (struct worker){sampler, number};
	if (pthread_create(&sampler->workers[number], NULL, worker_main, worker) == 0)
		return true;
	free(worker);
	return false;
}

/* Application threads handle their signals themselves: ours take none. */
static bool start_threads(struct sampler *sampler)
{
	size_t started = 0;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < sampler->plan.worker_count && start_worker(sampler, started))
		started++;
	sampler->worker_count = started;
	sampler->has_threads =
		started && pthread_create(&sampler->thread, NULL, sampler_main, sampler) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return sampler->has_threads;
}

static void write_plan(const struct sampler *sampler)
{
	struct trace_rows *rows = trace_rows_take();

	trace_property_format(rows, "sample_ns", "%lld", (long long)options->sample_ns);
	if (sampler->plan.is_continuous)
		trace_property(rows, "sample_windows", "continuous");
	else
		trace_property_format(rows, "sample_windows", "%lld ns at most%s",
				      (long long)sampler->plan.window_ns,
				      options->sample_range ? ", in NVTX ranges" : "");
	trace_rows_give(rows);
	sample_rows_write_metrics(&sampler->source);
}

static void open_sampler(struct sampler *sampler)
{
	CUptiResult result = find_chip(sampler);

	pthread_mutex_init(&sampler->lock, NULL);
	pthread_cond_init(&sampler->changed, NULL);
	if (result == CUPTI_SUCCESS)
		result = sample_session_open(&sampler->source.session, cupti, sampler->device);
	if (result == CUPTI_SUCCESS)
		result = choose_metrics(sampler);
	if (result != CUPTI_SUCCESS) {
		give_up(sampler, "this GPU cannot be sampled", result);
		return;
	}
	plan(sampler);
	sampler->source.cupti = cupti;
	sampler->source.config = &sampler->config;
	sampler->source.device = sampler->device;
	sampler->source.interval_ns = (uint64_t)options->sample_ns;
	sampler->source.is_continuous = sampler->plan.is_continuous;
	sampler->source.own_bytes = 2 * sample_plan_record_bytes(sampler->sample_bytes) + 4096;
	result = open_hardware(sampler);
	if (result != CUPTI_SUCCESS) {
		free_images(sampler);
		give_up(sampler, "sampling cannot be set up", result);
		return;
	}
	write_plan(sampler);
	if (!start_threads(sampler)) {
		give_up(sampler, "no thread can be started", CUPTI_ERROR_OUT_OF_MEMORY);
		return;
	}
	sampler->is_waiting = true;
}

/* ---- what happens in the program ---- */

static struct sampler *find_sampler(uint32_t device)
{
	for (size_t i = 0; i < sampler_count; i++)
		if (samplers[i]->device == device)
			return samplers[i];
	return NULL;
}

static void begin_window(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	sampler->range_end_ns = 0;
	if (!sampler->is_running && !sampler->is_decoding && !sampler->is_stopping &&
	    !sampler->has_failed && are_images_free(sampler))
		start_window(sampler);
	pthread_mutex_unlock(&sampler->lock);
}

static void end_range(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	sampler->range_end_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_cond_broadcast(&sampler->changed);
	pthread_mutex_unlock(&sampler->lock);
}

/* Under list_lock. */
static void add_sampler(uint32_t device)
{
	struct sampler *sampler = sampler_count < MAX_DEVICES ? calloc(1, sizeof(*sampler)) : NULL;

	if (!sampler) {
		log_warn_once("GPU %u is not sampled: %s", device,
			      sampler_count < MAX_DEVICES ? "out of memory"
							  : "there are too many of them");
		return;
	}
	sampler->device = device;
	open_sampler(sampler);
	samplers[sampler_count++] = sampler;
	if (sampler->is_waiting && options->sample_range) {
		if (nvtx_match_is_open())
			begin_window(sampler);
	} else if (sampler->is_waiting) {
		__atomic_store_n(&is_anyone_waiting, true, __ATOMIC_RELAXED);
		launch_call_enable(cupti, subscriber, false, true);
	}
}

void sampling_on_context(CUcontext context)
{
	struct guard guard;
	uint32_t device = 0;

	if (!cupti || cupti->cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS)
		return;
	guard_enter(&guard);
	pthread_mutex_lock(&list_lock);
	if (!is_stopped && !find_sampler(device))
		add_sampler(device);
	pthread_mutex_unlock(&list_lock);
	guard_leave(&guard);
}

/* Under list_lock. */
static void begin_first_window(uint32_t device)
{
	struct sampler *sampler = find_sampler(device);
	bool is_waiting = false;

	if (sampler && sampler->is_waiting) {
		sampler->is_waiting = false;
		begin_window(sampler);
	}
	for (size_t i = 0; i < sampler_count; i++)
		is_waiting |= samplers[i]->is_waiting;
	if (is_anyone_waiting && !is_waiting)
		launch_call_enable(cupti, subscriber, false, false);
	__atomic_store_n(&is_anyone_waiting, is_waiting, __ATOMIC_RELAXED);
}

/* The first launch on a device; afterwards launches cost nothing again. */
void sampling_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	struct guard guard;
	uint32_t device = 0;

	(void)id;
	if (!cupti || !__atomic_load_n(&is_anyone_waiting, __ATOMIC_RELAXED) ||
	    data->callbackSite != CUPTI_API_ENTER || !data->context ||
	    cupti->cuptiGetDeviceId(data->context, &device) != CUPTI_SUCCESS)
		return;
	guard_enter(&guard);
	pthread_mutex_lock(&list_lock);
	begin_first_window(device);
	pthread_mutex_unlock(&list_lock);
	guard_leave(&guard);
}

void sampling_on_nvtx(CUpti_CallbackId id, const CUpti_NvtxData *data)
{
	enum nvtx_edge edge;
	struct guard guard;

	if (!cupti || !options->sample_range)
		return;
	edge = nvtx_match(id, data);
	if (edge == NVTX_NO_EDGE)
		return;
	guard_enter(&guard);
	pthread_mutex_lock(&list_lock);
	for (size_t i = 0; i < sampler_count; i++)
		(edge == NVTX_FIRST_BEGINS ? begin_window : end_range)(samplers[i]);
	pthread_mutex_unlock(&list_lock);
	guard_leave(&guard);
}

/* ---- arriving and leaving ---- */

void sampling_start(const struct cupti_api *api, CUpti_SubscriberHandle subscription,
		    const struct options *asked)
{
	if (!asked->sample_ns)
		return;
	if (asked->counters) {
		log_warn("no samples: counters of launches and samples over time use the same "
			 "hardware; make two recordings");
		return;
	}
	if (!cupti_has_sampling(api) || !api->cuptiGetDeviceId ||
	    (asked->sample_range && !api->cuptiEnableDomain)) {
		log_warn("no samples: this CUPTI lacks PM sampling; the trace is still recorded");
		return;
	}
	if (asked->sample_range && !nvtx_match_init(asked->sample_range)) {
		log_warn("no samples: '%s' is no extended regular expression", asked->sample_range);
		return;
	}
	cupti_open_host_library(api);
	cupti = api;
	subscriber = subscription;
	options = asked;
	api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				 CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	if (asked->sample_range)
		api->cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_NVTX);
}

static void stop_sampler(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	sampler->is_stopping = true;
	pthread_cond_broadcast(&sampler->changed);
	pthread_mutex_unlock(&sampler->lock);
}

/* What should have been sampled after it failed in the middle. */
static void count_the_rest(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	if (sampler->plan.is_continuous && sampler->has_failed && sampler->last_end_ns &&
	    window_contains(sampler->last_end_ns))
		trace_loss_add(LOSS_lost_sample_ns,
			       (uint64_t)(clock_ns(CLOCK_REALTIME) - sampler->last_end_ns));
	pthread_mutex_unlock(&sampler->lock);
}

/* Until then its threads may go on; the trace is sealed without what they had to write. */
static void join_sampler(struct sampler *sampler, const struct timespec *until)
{
	int rc;

	if (!sampler->has_threads)
		return;
	rc = pthread_clockjoin_np(sampler->thread, NULL, CLOCK_MONOTONIC, until);
	for (size_t i = 0; rc == 0 && i < sampler->worker_count; i++)
		rc = pthread_clockjoin_np(sampler->workers[i], NULL, CLOCK_MONOTONIC, until);
	if (rc != 0)
		log_warn("GPU %u: the last samples were not written within %d s; they are lost",
			 sampler->device, STOP_PATIENCE_S);
	else
		count_the_rest(sampler);
}

/* Of all devices, whether their threads have ended or not. */
static void write_health(size_t count)
{
	struct sample_health sum = {0};

	for (size_t i = 0; i < count; i++) {
		struct sampler *sampler = samplers[i];
		const struct sample_plan *plan = &sampler->plan;

		pthread_mutex_lock(&sampler->lock);
		sampler->health.buffer_bytes = plan->buffer_bytes;
		sampler->health.image_samples =
			plan->reserve_count ? plan->reserve_capacity : plan->capacity;
		sample_health_merge(&sum, &sampler->health);
		pthread_mutex_unlock(&sampler->lock);
	}
	sample_health_write(&sum);
}

/* Devices are not waited for with list_lock held: CUPTI may be making a context for one of them, and
 * calls us back.  The hardware is given back when the process ends: closing the sessions takes time.
 * Memory is left too: threads of the program may be in a callback. */
void sampling_stop(void)
{
	struct timespec until =
		timespec_of(clock_ns(CLOCK_MONOTONIC) + STOP_PATIENCE_S * INT64_C(1000000000));
	size_t count;

	if (!cupti)
		return;
	pthread_mutex_lock(&list_lock);
	is_stopped = true;
	__atomic_store_n(&is_anyone_waiting, false, __ATOMIC_RELAXED);
	count = sampler_count;
	pthread_mutex_unlock(&list_lock);
	for (size_t i = 0; i < count; i++)
		stop_sampler(samplers[i]);
	for (size_t i = 0; i < count; i++)
		join_sampler(samplers[i], &until);
	write_health(count);
}
