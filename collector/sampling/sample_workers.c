#define _GNU_SOURCE
#include "sampling/sample_workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "wait.h"

/* ---- images ---- */

void sample_workers_init(struct sample_workers *workers, struct sample_source *source)
{
	pthread_mutex_init(&workers->lock, NULL);
	wait_init_condition(&workers->changed);
	workers->source = source;
	source->is_abandoned = &workers->is_abandoned;
}

CUptiResult sample_workers_plan_images(struct sample_workers *workers,
				       const struct sample_plan *plan)
{
	struct sample_session *session = workers->source->session;
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; result == CUPTI_SUCCESS && i < plan->image_count; i++)
		result = sample_image_size(&workers->images[workers->image_count++].image, session,
					   plan->capacity);
	for (size_t i = 0; result == CUPTI_SUCCESS && i < plan->reserve_count; i++) {
		struct pooled_image *image = &workers->images[workers->image_count++];

		workers->reserve_count++;
		if (sample_image_size(&image->image, session, plan->reserve_capacity) !=
		    CUPTI_SUCCESS)
			image->state = IMAGE_UNUSABLE;
	}
	return result;
}

void sample_workers_forget_images(struct sample_workers *workers)
{
	memset(workers->images, 0, sizeof(workers->images));
	workers->image_count = workers->reserve_count = 0;
}

/* Those that are still planned are made for the new session anyway. */
CUptiResult sample_workers_reset_images(struct sample_workers *workers)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; result == CUPTI_SUCCESS && i < workers->image_count; i++)
		if (workers->images[i].state == IMAGE_FREE)
			result = sample_image_reset(&workers->images[i].image,
						    workers->source->session);
	return result;
}

bool sample_workers_is_reserve(const struct sample_workers *workers,
			       const struct pooled_image *image)
{
	return image >= workers->images + workers->image_count - workers->reserve_count;
}

/* ---- threads ---- */

/* Under the lock: the submitted image that waits longest, or NULL. */
static struct pooled_image *get_submitted(struct sample_workers *workers)
{
	struct pooled_image *oldest = NULL;

	for (size_t i = 0; i < workers->image_count; i++) {
		struct pooled_image *image = &workers->images[i];

		if (image->state == IMAGE_SUBMITTED && (!oldest || image->age < oldest->age))
			oldest = image;
	}
	return oldest;
}

/* Under the lock: the next image to make, those that are always in use first, or NULL. */
static struct pooled_image *get_planned(struct sample_workers *workers)
{
	for (size_t i = 0; i < workers->image_count && !workers->is_finished; i++)
		if (workers->images[i].state == IMAGE_PLANNED)
			return &workers->images[i];
	return NULL;
}

static bool has_work(struct sample_workers *workers)
{
	return get_submitted(workers) || get_planned(workers);
}

static bool is_abandoned(const struct sample_workers *workers)
{
	return __atomic_load_n(&workers->is_abandoned, __ATOMIC_ACQUIRE);
}

static bool is_over(struct sample_workers *workers)
{
	bool is_finished;

	pthread_mutex_lock(&workers->lock);
	is_finished = workers->is_finished;
	pthread_mutex_unlock(&workers->lock);
	return is_finished || is_abandoned(workers);
}

/* Returns what emptying it said.  At the end nobody needs it empty. */
static CUptiResult write_image(struct sample_workers *workers, struct pooled_image *image,
			       CUpti_Profiler_Host_Object *evaluator)
{
	sample_rows_write(workers->source, evaluator, &image->image);
	if (is_over(workers))
		return CUPTI_SUCCESS;
	return sample_image_reset(&image->image, workers->source->session);
}

/* Under the lock: an image that was made or emptied, or not.  One in reserve can be done without. */
static void put_back(struct sample_workers *workers, struct pooled_image *image, CUptiResult result)
{
	image->state = IMAGE_FREE;
	if (result == CUPTI_SUCCESS)
		return;
	if (sample_workers_is_reserve(workers, image))
		image->state = IMAGE_UNUSABLE;
	else
		workers->failure = result;
}

/* The number of a worker. */
struct worker {
	struct sample_workers *workers;
	size_t number;
};

/* Under the lock, which is let go meanwhile.  False when there is nothing to do. */
static bool do_next(const struct worker *worker)
{
	struct sample_workers *workers = worker->workers;
	struct pooled_image *submitted = get_submitted(workers);
	struct pooled_image *image = submitted ? submitted : get_planned(workers);
	CUptiResult result;

	if (!image)
		return false;
	image->state = submitted ? IMAGE_BUSY : IMAGE_MAKING;
	pthread_mutex_unlock(&workers->lock);
	if (submitted)
		result = write_image(workers, image, workers->evaluators[worker->number]);
	else
		result = sample_image_make(&image->image, workers->source->session);
	pthread_mutex_lock(&workers->lock);
	put_back(workers, image, result);
	pthread_cond_broadcast(&workers->changed);
	return true;
}

static void *worker_main(void *data)
{
	struct worker worker = *(struct worker *)data;
	struct sample_workers *workers = worker.workers;

	guard_own_thread();
	free(data);
	pthread_mutex_lock(&workers->lock);
	while (do_next(&worker) || !workers->is_finished)
		while (!has_work(workers) && !workers->is_finished)
			pthread_cond_wait(&workers->changed, &workers->lock);
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

static bool start_worker(struct sample_workers *workers, size_t number)
{
	struct worker *worker = malloc(sizeof(*worker));

	if (!worker)
		return false;
	*worker = (struct worker){workers, number};
	if (pthread_create(&workers->threads[number], NULL, worker_main, worker) == 0)
		return true;
	free(worker);
	return false;
}

CUptiResult sample_workers_open_evaluators(struct sample_workers *workers, size_t count,
					   const char *chip, const uint8_t *availability)
{
	const struct sample_source *source = workers->source;

	for (size_t i = 0; i < count; i++) {
		workers->evaluators[i] =
			sample_evaluator_open(source->cupti, chip, availability, source->config);
		if (!workers->evaluators[i])
			return CUPTI_ERROR_UNKNOWN;
	}
	return CUPTI_SUCCESS;
}

CUptiResult sample_workers_start(struct sample_workers *workers, size_t count)
{
	while (workers->thread_count < count && start_worker(workers, workers->thread_count))
		workers->thread_count++;
	return workers->thread_count ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

/* ---- the sampler's side ---- */

static struct pooled_image *find_free(struct sample_workers *workers, bool from_reserve)
{
	size_t first_reserve = workers->image_count - workers->reserve_count;
	size_t begin = from_reserve ? first_reserve : 0;
	size_t end = from_reserve ? workers->image_count : first_reserve;

	for (size_t i = begin; i < end; i++)
		if (workers->images[i].state == IMAGE_FREE)
			return &workers->images[i];
	return NULL;
}

static bool is_past(int64_t time_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec > time_ns;
}

struct pooled_image *sample_workers_get_image(struct sample_workers *workers, int64_t late_ns)
{
	struct pooled_image *image = NULL;

	pthread_mutex_lock(&workers->lock);
	while (!workers->failure && !is_abandoned(workers)) {
		bool from_reserve = is_past(late_ns);

		image = find_free(workers, from_reserve);
		if (!image)
			image = find_free(workers, !from_reserve);
		if (image)
			break;
		pthread_cond_wait(&workers->changed, &workers->lock);
	}
	pthread_mutex_unlock(&workers->lock);
	return image;
}

void sample_workers_submit_image(struct sample_workers *workers, struct pooled_image *image)
{
	pthread_mutex_lock(&workers->lock);
	image->state = IMAGE_SUBMITTED;
	image->age = ++workers->submit_count;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
}

/* Under the lock. */
static bool has_image(const struct sample_workers *workers, enum image_state state)
{
	for (size_t i = 0; i < workers->image_count; i++)
		if (workers->images[i].state == state)
			return true;
	return false;
}

/* Under the lock. */
static bool are_idle(const struct sample_workers *workers)
{
	return !has_image(workers, IMAGE_SUBMITTED) && !has_image(workers, IMAGE_BUSY);
}

bool sample_workers_are_idle(struct sample_workers *workers)
{
	bool idle;

	pthread_mutex_lock(&workers->lock);
	idle = are_idle(workers);
	pthread_mutex_unlock(&workers->lock);
	return idle;
}

void sample_workers_wait_idle(struct sample_workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	while (!are_idle(workers) || get_planned(workers) || has_image(workers, IMAGE_MAKING))
		pthread_cond_wait(&workers->changed, &workers->lock);
	pthread_mutex_unlock(&workers->lock);
}

/* ---- the end ---- */

void sample_workers_finish(struct sample_workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	workers->is_finished = true;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
}

void sample_workers_abandon(struct sample_workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	__atomic_store_n(&workers->is_abandoned, true, __ATOMIC_RELEASE);
	workers->is_finished = true;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
}

int sample_workers_join(struct sample_workers *workers, const struct timespec *until)
{
	while (workers->thread_count) {
		int rc = wait_join(workers->threads[workers->thread_count - 1], until);

		if (rc != 0)
			return rc;
		workers->thread_count--;
	}
	return 0;
}
