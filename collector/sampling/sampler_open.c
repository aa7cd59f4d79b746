#define _GNU_SOURCE
#include "sampling/sampler.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "wait.h"
#include "writer/trace_writer.h"

/* Decoding is tried at most this many times: less time than this can be an accident, more cannot. */
#define TRIALS 3
/* A trial is this long at least. */
#define TRIAL_NS_MIN 100000
/* Room for what a trial may take beyond its time. */
#define TRIAL_SAMPLES_MORE 256

/* ---- what is sampled ---- */

static CUptiResult find_chip(struct sampler *sampler)
{
	const struct cupti_api *cupti = sampler->cupti;
	CUpti_Device_GetChipName_Params naming = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
		.deviceIndex = sampler->device};
	CUpti_PmSampling_GetCounterAvailability_Params asking = {
		.structSize = CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE,
		.deviceIndex = sampler->device};
	CUptiResult result = cupti_start_profiler(cupti);

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
	result = sample_config_build(&sampler->config, sampler->cupti, sampler->chip,
				     sampler->availability, sets);
	if (result == CUPTI_SUCCESS)
		sampler->sample_bytes =
			sample_session_bytes(sampler->source.session, &sampler->config);
	return result == CUPTI_SUCCESS && !sampler->sample_bytes ? CUPTI_ERROR_UNKNOWN : result;
}

/* What was asked for, or everything; without end or at fixed times, as much of it as can be expected to be
 * decoded until the next. */
static CUptiResult choose_metrics(struct sampler *sampler)
{
	unsigned int sets = sampler->options->sample_sets;
	CUptiResult result;

	if (sets)
		return configure(sampler, sets);
	sets = (1u << SAMPLE_SET_COUNT) - 1;
	result = configure(sampler, sets);
	for (int last = SAMPLE_SET_COUNT - 1;
	     result == CUPTI_SUCCESS && sampler->options->sample_windows != WINDOWS_AUTO &&
	     !sample_plan_fits(sampler->options, sampler->sample_bytes) && last > SAMPLE_SET_front;
	     last--) {
		sets &= ~(1u << last);
		result = configure(sampler, sets);
	}
	return result;
}

/* ---- how much, and how often ---- */

/* decode_ns: what a sample was measured to take, 0 before that. */
static void plan(struct sampler *sampler, double decode_ns)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct sample_facts facts = {
		.sample_bytes = sampler->sample_bytes,
		.counter_count = sampler->config.name_count,
		.processors = processors > 0 ? (size_t)processors : 1,
		.decode_ns = decode_ns,
	};
	struct sample_source *source = &sampler->source;

	sampler->plan = sample_plan_make(sampler->options, &facts);
	source->interval_ns = (uint64_t)sampler->plan.interval_ns;
	source->is_continuous = sampler->plan.is_continuous;
}

/* Of a session that was just opened. */
static CUptiResult set_up(struct sampler *sampler)
{
	CUptiResult result =
		sample_session_configure(sampler->source.session, &sampler->config,
					 sampler->source.interval_ns, sampler->plan.buffer_bytes);

	return result == CUPTI_SUCCESS
		       ? sample_workers_plan_images(&sampler->workers, &sampler->plan)
		       : result;
}

static CUptiResult sample_for(struct sampler *sampler, int64_t length_ns)
{
	struct timespec length = {length_ns / 1000000000, length_ns % 1000000000};
	CUptiResult result = sample_session_start(sampler->source.session);

	if (result != CUPTI_SUCCESS)
		return result;
	nanosleep(&length, NULL);
	return sample_session_stop(sampler->source.session);
}

static CUptiResult evaluate_last(struct sampler *sampler, const struct sample_image *image)
{
	double values[SAMPLE_NAME_LIMIT];
	struct sample_time time;

	if (!image->count)
		return CUPTI_SUCCESS;
	sample_image_time(image, sampler->source.session, image->count - 1, &time);
	return sample_evaluate(sampler->cupti, sampler->workers.evaluators[0], &sampler->config,
			       image, image->count - 1, values);
}

static int64_t trial_ns(const struct sampler *sampler)
{
	int64_t length_ns = (int64_t)sampler->plan.trial_samples * sampler->plan.interval_ns;

	return length_ns > TRIAL_NS_MIN ? length_ns : TRIAL_NS_MIN;
}

/* Samples and decodes, and forgets it.  *decode_ns: what a sample took, 0 without any. */
static CUptiResult try_once(struct sampler *sampler, struct sample_image *image, double *decode_ns)
{
	CUptiResult result = sample_for(sampler, trial_ns(sampler));
	int64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

	if (result == CUPTI_SUCCESS)
		result = sample_session_decode(sampler->source.session, image);
	if (result != CUPTI_SUCCESS)
		return result;
	*decode_ns = image->count
			     ? sample_pace_busy_ns((double)(clock_ns(CLOCK_MONOTONIC) - begun_ns) /
						   (double)image->count)
			     : 0;
	evaluate_last(sampler, image);
	return sample_image_reset(image, sampler->source.session);
}

/* An image of its own.  A trial ends late when this thread is: twice as large, and more. */
static CUptiResult make_trial_image(const struct sampler *sampler, struct sample_image *image)
{
	struct sample_session *session = sampler->source.session;
	size_t samples = (size_t)(trial_ns(sampler) / sampler->plan.interval_ns);
	CUptiResult result = sample_image_size(image, session, 2 * samples + TRIAL_SAMPLES_MORE);

	return result == CUPTI_SUCCESS ? sample_image_make(image, session) : result;
}

/* *least_ns: what decoding a sample may take on this machine now, by the least of some trials, for the first
 * touches the image's memory, and any may be held up; 0 where it does not matter.  One trial is made in any
 * case: what CUPTI makes at first use has been made then (see inject_exit_first). */
static CUptiResult try_decoding(struct sampler *sampler, double *least_ns)
{
	struct sample_image image;
	CUptiResult result = make_trial_image(sampler, &image);
	double decode_ns = 0;

	*least_ns = 0;
	for (int i = 0; i < TRIALS && result == CUPTI_SUCCESS; i++) {
		result = try_once(sampler, &image, &decode_ns);
		if (result != CUPTI_SUCCESS || !sampler->plan.trial_samples)
			break;
		if (!i || decode_ns < *least_ns)
			*least_ns = decode_ns;
		if (sample_pace_keeps_up(*least_ns, sampler->plan.interval_ns))
			break;
	}
	free(image.bytes);
	return result;
}

/* A session is configured once: for anything else another one is opened. */
static CUptiResult set_up_anew(struct sampler *sampler, double decode_ns)
{
	CUptiResult result;

	sample_workers_forget_images(&sampler->workers);
	sample_session_close(sampler->source.session);
	result = sample_session_open(&sampler->source.session, sampler->cupti, sampler->device);
	if (result != CUPTI_SUCCESS)
		return result;
	plan(sampler, decode_ns);
	return set_up(sampler);
}

static CUptiResult set_up_first(struct sampler *sampler)
{
	CUptiResult result;

	plan(sampler, 0);
	result = set_up(sampler);
	if (result == CUPTI_SUCCESS)
		result = sample_workers_open_evaluators(&sampler->workers,
							sampler->plan.worker_count, sampler->chip,
							sampler->availability);
	return result;
}

/* Before the program launches anything, so that nothing is lost: without end no faster than this machine
 * decodes.  A buffer that overflowed meanwhile takes another session, and another trial. */
static CUptiResult settle(struct sampler *sampler)
{
	CUptiResult result = set_up_first(sampler);
	double decode_ns = 0;

	if (result != CUPTI_SUCCESS)
		return result;
	result = try_decoding(sampler, &decode_ns);
	if (result == CUPTI_ERROR_OUT_OF_MEMORY) {
		result = set_up_anew(sampler, 0);
		if (result == CUPTI_SUCCESS)
			result = try_decoding(sampler, &decode_ns);
	}
	if (result == CUPTI_SUCCESS && !sample_pace_keeps_up(decode_ns, sampler->plan.interval_ns))
		result = set_up_anew(sampler, decode_ns);
	if (result == CUPTI_SUCCESS && sampler->plan.interval_ns != sampler->options->sample_ns)
		sampler_warn_slower(sampler, decode_ns, sampler->plan.interval_ns, "");
	return result;
}

/* ---- opening ---- */

static void warn_of_cut(const struct sampler *sampler)
{
	const struct options *options = sampler->options;

	log_warn_once("GPU %u: a window of %.1f ms would take %.1f GiB; windows are %.1f ms. "
		      "Choose fewer metrics, a longer interval, or a larger "
		      "ROOFLINE_SAMPLE_BUFFER_MB",
		      sampler->device, (double)options->window_ns / 1e6,
		      (double)options->window_ns / (double)options->sample_ns *
			      (double)sample_plan_record_bytes(sampler->sample_bytes) / (1 << 30),
		      (double)sampler->plan.window_ns / 1e6);
}

static void write_plan(const struct sampler *sampler)
{
	struct trace_rows *rows = trace_rows_get();

	trace_property_format(rows, "sample_ns", "%lld", (long long)sampler->options->sample_ns);
	if (sampler->plan.is_continuous)
		trace_property(rows, "sample_windows", "continuous");
	else
		trace_property_format(rows, "sample_windows", "%lld ns at most%s",
				      (long long)sampler->plan.window_ns,
				      sampler->options->sample_range ? ", in NVTX ranges" : "");
	trace_rows_put(rows);
	sample_rows_write_metrics(&sampler->source);
}

static CUptiResult choose(struct sampler *sampler)
{
	CUptiResult result = find_chip(sampler);

	if (result == CUPTI_SUCCESS)
		result = sample_session_open(&sampler->source.session, sampler->cupti,
					     sampler->device);
	if (result == CUPTI_SUCCESS)
		result = choose_metrics(sampler);
	return result;
}

/* Application threads handle their signals themselves: ours take none. */
static CUptiResult start_threads(struct sampler *sampler)
{
	CUptiResult result;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = sample_workers_start(&sampler->workers, sampler->plan.worker_count);
	if (result == CUPTI_SUCCESS &&
	    pthread_create(&sampler->thread, NULL, sampler_main, sampler) == 0)
		sampler->has_thread = true;
	else if (result == CUPTI_SUCCESS)
		result = CUPTI_ERROR_OUT_OF_MEMORY;
	if (!sampler->has_thread)
		sample_workers_finish(&sampler->workers);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

static void fill_in(struct sampler *sampler, const struct cupti_api *cupti,
		    const struct options *options, uint32_t device)
{
	sampler->cupti = cupti;
	sampler->options = options;
	sampler->device = device;
	sampler->source.cupti = cupti;
	sampler->source.config = &sampler->config;
	sampler->source.device = device;
	pthread_mutex_init(&sampler->lock, NULL);
	wait_init_condition(&sampler->changed);
	sample_workers_init(&sampler->workers, &sampler->source);
}

bool sampler_open(struct sampler *sampler, const struct cupti_api *cupti,
		  const struct options *options, uint32_t device)
{
	const char *what = "this GPU cannot be sampled";
	CUptiResult result;

	fill_in(sampler, cupti, options, device);
	result = choose(sampler);
	if (result == CUPTI_SUCCESS) {
		what = "sampling cannot be set up";
		sampler->source.own_bytes =
			2 * sample_plan_record_bytes(sampler->sample_bytes) + 4096;
		result = settle(sampler);
		if (result != CUPTI_SUCCESS)
			sample_workers_forget_images(&sampler->workers);
	}
	if (result == CUPTI_SUCCESS) {
		sample_pace_begin(&sampler->pace, sampler->plan.interval_ns);
		write_plan(sampler);
		if (sampler->plan.is_window_cut)
			warn_of_cut(sampler);
		result = start_threads(sampler);
	}
	if (result != CUPTI_SUCCESS)
		sampler_give_up(sampler, what, result);
	return result == CUPTI_SUCCESS;
}
