#define _GNU_SOURCE
#include "sampling/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "clock.h"
#include "guard.h"
#include "inject.h"
#include "log.h"
#include "wait.h"
#include "writer/trace_writer.h"
#include "window.h"

/* Decoding that begins so many halves of a batch after the last one is late: an image in reserve is taken. */
#define LATE_HALVES 3
/* The decoding thread is made so much nicer to itself, where that is allowed. */
#define DECODER_NICE (-10)
/* Of the longest window: how long one goes on after its NVTX range. */
#define RANGE_LINGER_PART 4
/* Times that a session is opened anew: in windows, where only the one that overflowed is lost, and without
 * end, where each takes longer intervals than the last. */
#define REOPEN_LIMIT_WINDOWS 20
#define REOPEN_LIMIT_CONTINUOUS 6

void sampler_give_up(struct sampler *sampler, const char *what, CUptiResult result)
{
	struct trace_rows *rows = trace_rows_get();
	const char *text = cupti_error_text(sampler->cupti, result);

	log_warn_once("no samples: %s: %s (%d): %s; the trace is still recorded", what, text,
		      (int)result, cupti_error_remedy(result));
	trace_property_format(rows, "sample_problem", "%s: %s (%d)", what, text, (int)result);
	trace_rows_put(rows);
	sampler->is_over = true;
}

void sampler_warn_slower(const struct sampler *sampler, double decode_ns, int64_t interval_ns,
			 const char *consequence)
{
	double asked_us = (double)sampler->options->sample_ns / 1e3;

	log_warn_once(
		"GPU %u: decoding a sample takes up to %.3g us here, too long for an interval "
		"of %.4g us: it is %.4g us, continuously%s. For %.4g us choose fewer metrics, or "
		"windows (--sample-windows=100ms/1s)",
		sampler->device, decode_ns / 1e3, asked_us, (double)interval_ns / 1e3, consequence,
		asked_us);
}

/* The program waits at its end until we have left CUPTI, or for so long as it can; then CUPTI goes away. */
static bool is_abandoned(const struct sampler *sampler)
{
	return __atomic_load_n(&sampler->workers.is_abandoned, __ATOMIC_ACQUIRE);
}

static bool is_stopping(const struct sampler *sampler)
{
	return __atomic_load_n(&sampler->is_stopping, __ATOMIC_ACQUIRE);
}

/* ---- decoding ---- */

/* From when on more may have been sampled than the images have room for that are in use all the time. */
static int64_t late_ns(const struct sampler *sampler)
{
	if (!sampler->plan.is_continuous)
		return INT64_MAX;
	return sampler->decoded_ns + LATE_HALVES * sampler->plan.batch_ns / 2;
}

/* Time without samples between this image and the one before. */
static void count_hole(struct sampler *sampler, int64_t start_ns)
{
	int64_t hole_ns = start_ns - sampler->last_end_ns;

	if (sampler->plan.is_continuous && sampler->last_end_ns &&
	    hole_ns > sampler->plan.interval_ns / 2 && window_contains(sampler->last_end_ns))
		trace_loss_add(LOSS_lost_sample_ns, (uint64_t)hole_ns);
}

/* Hands a decoded image to the workers. */
static void submit(struct sampler *sampler, struct pooled_image *image)
{
	struct sample_time first = {0}, last = {0};

	if (!image->image.count)
		return;
	image->image.is_after_start = sampler->is_after_start;
	sampler->is_after_start = false;
	if (sample_rows_bounds(&sampler->source, &image->image, &first, &last) == 0) {
		count_hole(sampler, first.start_ns);
		sampler->last_end_ns = last.end_ns;
	}
	image->image.start_ns = first.start_ns;
	image->image.end_ns = last.end_ns;
	sample_workers_submit_image(&sampler->workers, image);
}

/* One that began at begun_ns, after a wait for its image, and has just ended. */
static void note_decoding(struct sampler *sampler, const struct pooled_image *image,
			  int64_t asked_ns, int64_t begun_ns)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct sample_decoding decoding = {
		.sample_count = image->image.count,
		.gap_ns = sampler->plan.is_continuous ? begun_ns - sampler->decoded_ns : 0,
		.wait_ns = begun_ns - asked_ns,
		.decode_ns = now_ns - begun_ns,
		.is_full = image->image.count >= image->image.capacity,
		.is_reserve = sample_workers_is_reserve(&sampler->workers, image),
	};

	sample_health_note(&sampler->health, &decoding);
	sample_pace_note(&sampler->pace, image->image.count, now_ns - asked_ns, decoding.is_full);
	sampler->decoded_ns = begun_ns;
}

/* Without an image: none can be emptied any more, or the program does not wait for us any longer. */
static void end_without_image(struct sampler *sampler)
{
	if (sampler->workers.failure)
		sampler_give_up(sampler, "an image cannot be emptied", sampler->workers.failure);
	sampler->is_over = true;
}

/* The lock is let go meanwhile.  False when nothing was decoded: the hardware's buffer had been full, or it
 * is over. */
static bool decode(struct sampler *sampler)
{
	int64_t asked_ns = clock_ns(CLOCK_MONOTONIC), begun_ns, when_late_ns = late_ns(sampler);
	CUptiResult result = CUPTI_SUCCESS;
	struct pooled_image *image;

	sampler->is_decoding = true;
	pthread_mutex_unlock(&sampler->lock);
	image = sample_workers_get_image(&sampler->workers, when_late_ns);
	begun_ns = clock_ns(CLOCK_MONOTONIC);
	if (image)
		result = sample_session_decode(sampler->source.session, &image->image);
	pthread_mutex_lock(&sampler->lock);
	sampler->is_decoding = false;
	if (!image || is_abandoned(sampler)) {
		end_without_image(sampler);
		return false;
	}
	note_decoding(sampler, image, asked_ns, begun_ns);
	if (result == CUPTI_SUCCESS)
		submit(sampler, image);
	else if (result != CUPTI_ERROR_OUT_OF_MEMORY)
		sampler_give_up(sampler, "they cannot be decoded", result);
	return result == CUPTI_SUCCESS;
}

/* ---- windows; all under the lock ---- */

static void start_window(struct sampler *sampler)
{
	CUptiResult result = sample_session_start(sampler->source.session);

	if (result != CUPTI_SUCCESS) {
		sampler_give_up(sampler, "sampling cannot be started", result);
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
	if (!is_abandoned(sampler))
		sample_session_stop(sampler->source.session);
	sampler->is_running = false;
	pthread_cond_broadcast(&sampler->changed);
}

/* Waits until the time or until anything changes. */
static void wait_for_change(struct sampler *sampler, int64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);

	pthread_cond_timedwait(&sampler->changed, &sampler->lock, &until);
}

/* ---- another session ---- */

/* Nobody else may use the session meanwhile.  A program that ends waits for one call at most. */
static CUptiResult open_again(struct sampler *sampler)
{
	struct sample_source *source = &sampler->source;
	CUptiResult result = CUPTI_SUCCESS;

	sample_session_close(source->session);
	inject_exit_first();
	source->session = NULL;
	source->interval_ns = (uint64_t)sampler->plan.interval_ns;
	if (!is_stopping(sampler))
		result = sample_session_open(&source->session, sampler->cupti, sampler->device);
	if (result == CUPTI_SUCCESS && !is_stopping(sampler))
		result = sample_session_configure(source->session, &sampler->config,
						  source->interval_ns, sampler->plan.buffer_bytes);
	if (result == CUPTI_SUCCESS && !is_stopping(sampler))
		result = sample_workers_reset_images(&sampler->workers);
	inject_exit_first();
	return result;
}

/* Opening another session takes a third of a second, without the lock: the program's NVTX ranges must not
 * wait for it.  What was to be sampled meanwhile is a hole. */
static void reopen(struct sampler *sampler, int64_t interval_ns)
{
	unsigned int limit =
		sampler->plan.is_continuous ? REOPEN_LIMIT_CONTINUOUS : REOPEN_LIMIT_WINDOWS;
	CUptiResult result = CUPTI_ERROR_OUT_OF_MEMORY;

	sampler->is_decoding = true; /* no range begins a window */
	stop_window(sampler);
	if (interval_ns != sampler->plan.interval_ns)
		sample_plan_slow_down(&sampler->plan, interval_ns);
	pthread_mutex_unlock(&sampler->lock);
	sample_workers_wait_idle(&sampler->workers);
	if (sampler->reopen_count < limit && !is_stopping(sampler))
		result = open_again(sampler);
	pthread_mutex_lock(&sampler->lock);
	sampler->is_decoding = false;
	sample_pace_begin(&sampler->pace, interval_ns);
	if (is_stopping(sampler))
		sampler->is_over = true;
	else if (sampler->reopen_count++ >= limit)
		sampler_give_up(sampler, "its buffer overflowed again and again", result);
	else if (result != CUPTI_SUCCESS)
		sampler_give_up(sampler, "sampling cannot be opened again", result);
}

/* An overflow left the session useless.  Returns the interval to go on with. */
static int64_t interval_after_overflow(struct sampler *sampler)
{
	static const char lost[] = "; what was lost until now is counted";
	double decode_ns = sample_pace_decode_ns(&sampler->pace);
	int64_t interval_ns = sample_pace_after_overflow(&sampler->pace);

	if (!sample_pace_keeps_up(decode_ns, sampler->plan.interval_ns))
		sampler_warn_slower(sampler, decode_ns, interval_ns, lost);
	else if (interval_ns == sampler->plan.interval_ns)
		log_warn_once("GPU %u: decoding was delayed until its buffer overflowed; what was "
			      "lost is counted",
			      sampler->device);
	else
		log_warn_once("GPU %u: decoding is delayed repeatedly: from now on the interval "
			      "is %.4g us",
			      sampler->device, (double)interval_ns / 1e3);
	return interval_ns;
}

/* ---- without end ---- */

/* Where the hole begins when the first samples of all are lost. */
static void note_beginning(struct sampler *sampler)
{
	if (!sampler->last_end_ns)
		sampler->last_end_ns = clock_ns(CLOCK_REALTIME) -
				       (clock_ns(CLOCK_MONOTONIC) - sampler->started_ns);
}

/* The hole is found with the next sample. */
static void go_on_with(struct sampler *sampler, int64_t interval_ns)
{
	note_beginning(sampler);
	reopen(sampler, interval_ns);
	if (!sampler->is_over)
		start_window(sampler);
}

/* Before the buffer overflows: what it holds is not lost, but for the time that opening takes. */
static void slow_down(struct sampler *sampler)
{
	double decode_ns = sample_pace_decode_ns(&sampler->pace);
	int64_t interval_ns = sample_pace_finest(decode_ns);

	sampler_warn_slower(sampler, decode_ns, interval_ns,
			    "; what was not sampled meanwhile is counted as lost");
	stop_window(sampler);
	decode(sampler);
	if (!sampler->is_over)
		go_on_with(sampler, interval_ns);
}

/* From the beginning of one decoding to that of the next, for decoding may take more than half of the
 * time: a pause after each would leave the images room for little more than what is sampled anyway. */
static void run_continuous(struct sampler *sampler)
{
	while (!is_stopping(sampler) && !sampler->is_over) {
		int64_t next_ns = sampler->decoded_ns + sampler->plan.batch_ns;

		while (!is_stopping(sampler) && clock_ns(CLOCK_MONOTONIC) < next_ns)
			wait_for_change(sampler, next_ns);
		if (is_stopping(sampler))
			break;
		if (!decode(sampler) && !sampler->is_over)
			go_on_with(sampler, interval_after_overflow(sampler));
		else if (!sampler->is_over && sample_pace_is_behind(&sampler->pace))
			slow_down(sampler);
	}
	stop_window(sampler);
	if (!sampler->is_over && !decode(sampler))
		sampler->is_over = true;
}

/* ---- in windows ---- */

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
	while (sampler->is_running && !is_stopping(sampler) &&
	       clock_ns(CLOCK_MONOTONIC) < window_end_ns(sampler))
		wait_for_change(sampler, window_end_ns(sampler));
	stop_window(sampler);
	if (decode(sampler))
		return;
	trace_loss_add(LOSS_lost_sample_ns,
		       (uint64_t)(clock_ns(CLOCK_MONOTONIC) - sampler->started_ns));
	if (sampler->is_over)
		return;
	log_warn_once("GPU %u: decoding of a window began so late that its buffer overflowed; "
		      "what was lost is counted",
		      sampler->device);
	reopen(sampler, sampler->plan.interval_ns);
}

/* ---- the thread ---- */

/* Waits until a window has begun; begins the next one where nobody else does.  False at the end. */
static bool wait_for_window(struct sampler *sampler, bool is_first)
{
	int64_t next_ns = sampler->started_ns + sampler->plan.period_ns;
	bool is_ours = !is_first && !sampler->options->sample_range;

	while (!sampler->is_running && !is_stopping(sampler) && !sampler->is_over) {
		if (is_ours && clock_ns(CLOCK_MONOTONIC) >= next_ns)
			start_window(sampler);
		else if (is_ours)
			wait_for_change(sampler, next_ns);
		else
			pthread_cond_wait(&sampler->changed, &sampler->lock);
	}
	return sampler->is_running && !sampler->is_over;
}

void *sampler_main(void *data)
{
	struct sampler *sampler = data;
	bool is_first = true;

	guard_own_thread();
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
	pthread_mutex_unlock(&sampler->lock);
	sample_workers_finish(&sampler->workers);
	return NULL;
}

/* ---- what the program does ---- */

void sampler_begin_window(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	sampler->range_end_ns = 0;
	if (!sampler->is_running && !sampler->is_decoding && !is_stopping(sampler) &&
	    !sampler->is_over && sample_workers_are_idle(&sampler->workers))
		start_window(sampler);
	pthread_mutex_unlock(&sampler->lock);
}

void sampler_end_range(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->lock);
	sampler->range_end_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_cond_broadcast(&sampler->changed);
	pthread_mutex_unlock(&sampler->lock);
}

/* A signal handler that exits may have interrupted who holds the lock: then it is done without. */
void sampler_stop(struct sampler *sampler, const struct timespec *until)
{
	int rc = wait_lock(&sampler->lock, until);

	__atomic_store_n(&sampler->is_stopping, true, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&sampler->changed);
	if (rc == 0)
		pthread_mutex_unlock(&sampler->lock);
}

void sampler_abandon(struct sampler *sampler)
{
	sample_workers_abandon(&sampler->workers);
}

int sampler_join(struct sampler *sampler, const struct timespec *until)
{
	if (sampler->has_thread) {
		int rc = wait_join(sampler->thread, until);

		if (rc != 0)
			return rc;
		sampler->has_thread = false;
	}
	return sample_workers_join(&sampler->workers, until);
}

/* What should have been sampled after the last sample. */
static void count_the_rest(const struct sampler *sampler)
{
	bool is_cut_off = sampler->is_over || (is_abandoned(sampler) && sampler->has_thread);

	if (sampler->plan.is_continuous && is_cut_off && sampler->last_end_ns &&
	    window_contains(sampler->last_end_ns))
		trace_loss_add(LOSS_lost_sample_ns,
			       (uint64_t)(clock_ns(CLOCK_REALTIME) - sampler->last_end_ns));
}

struct sample_health sampler_finish(struct sampler *sampler)
{
	const struct sample_plan *plan = &sampler->plan;
	struct sample_health health;

	pthread_mutex_lock(&sampler->lock);
	if (sampler->workers.failure && !sampler->is_over)
		end_without_image(sampler);
	count_the_rest(sampler);
	health = sampler->health;
	health.buffer_bytes = plan->buffer_bytes;
	health.image_samples = plan->reserve_count ? plan->reserve_capacity : plan->capacity;
	health.interval_ns = plan->interval_ns;
	pthread_mutex_unlock(&sampler->lock);
	return health;
}
