#define _GNU_SOURCE
#include "sampling/sampling.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "guard.h"
#include "inject.h"
#include "counters/launch_call.h"
#include "log.h"
#include "sampling/nvtx_match.h"
#include "sampling/sampler.h"
#include "wait.h"
#include "writer/trace_writer.h"

#define MAX_DEVICES 16
/* At the end of the program: for the last samples to be written, and then for our threads to leave CUPTI.
 * Together less than it waits for the whole recording to be closed. */
#define STOP_PATIENCE_S 6
#define LEAVE_PATIENCE_S 3
/* Copies and memsets that prepare what the program goes on with are few.  A window that began with them would be
 * over before the first kernel, so one begins with so many where there is no launch before; without end with one. */
#define PREPARING_CALLS 16

static const struct cupti_api *_Atomic cupti; /* NULL until started, and then for good */
static CUpti_SubscriberHandle subscriber;
static const struct options *options;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sampler *samplers[MAX_DEVICES];
static unsigned int
	waits_for[MAX_DEVICES]; /* so many copies, or a launch; 0: for nothing any more */
static size_t sampler_count;	/* atomic; what it counts stays as it is */
static bool is_anyone_waiting, is_stopped;
static bool is_range_known; /* the options name ranges by a regular expression that is one */

/* ---- what happens in the program ---- */

/* Under list_lock, as all of these: the number of a device's sampler, or -1. */
static int find_sampler(uint32_t device)
{
	for (size_t i = 0; i < sampler_count; i++)
		if (samplers[i]->device == device)
			return (int)i;
	return -1;
}

/* A new one is sampled from the first launch or copies on, or from the range on that is open already. */
static void begin_or_wait(size_t number)
{
	if (options->sample_range) {
		if (nvtx_match_is_open())
			sampler_begin_window(samplers[number]);
		return;
	}
	waits_for[number] = samplers[number]->plan.is_continuous ? 1 : PREPARING_CALLS;
	__atomic_store_n(&is_anyone_waiting, true, __ATOMIC_RELAXED);
	launch_call_enable(cupti, subscriber, LAUNCHES_AND_COPIES, true);
}

static void add_sampler(uint32_t device)
{
	size_t number = sampler_count;
	struct sampler *sampler = number < MAX_DEVICES ? calloc(1, sizeof(*sampler)) : NULL;
	bool is_open;

	if (!sampler) {
		log_warn_once("GPU %u is not sampled: %s", device,
			      number < MAX_DEVICES ? "out of memory"
						   : "there are too many of them");
		return;
	}
	is_open = sampler_open(sampler, cupti, options, device);
	inject_exit_first();
	samplers[number] = sampler;
	__atomic_store_n(&sampler_count, number + 1, __ATOMIC_RELEASE);
	if (is_open)
		begin_or_wait(number);
}

void sampling_on_context(CUcontext context)
{
	struct guard guard;
	uint32_t device = 0;

	if (!cupti || cupti->cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS)
		return;
	guard_enter_long(&guard); /* CUPTI takes half a second, or hangs with the driver */
	pthread_mutex_lock(&list_lock);
	if (!is_stopped && find_sampler(device) < 0)
		add_sampler(device);
	pthread_mutex_unlock(&list_lock);
	guard_leave(&guard);
}

static void begin_first_window(uint32_t device, bool is_launch)
{
	int number = find_sampler(device);
	bool is_any = false;

	if (number >= 0 && waits_for[number]) {
		waits_for[number] = is_launch ? 0 : waits_for[number] - 1;
		if (!waits_for[number])
			sampler_begin_window(samplers[number]);
	}
	for (size_t i = 0; i < sampler_count; i++)
		is_any |= waits_for[i] != 0;
	if (is_anyone_waiting && !is_any)
		launch_call_enable(cupti, subscriber, LAUNCHES_AND_COPIES, false);
	__atomic_store_n(&is_anyone_waiting, is_any, __ATOMIC_RELAXED);
}

static bool is_launch(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	enum launch_kind kind = launch_call_read(id, data).kind;

	return kind == LAUNCH_KERNEL || kind == LAUNCH_GRAPH || kind == LAUNCH_COOPERATIVE;
}

/* The first launch or copies on a device; afterwards they cost nothing again. */
void sampling_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	struct guard guard;
	uint32_t device = 0;

	if (!cupti || !__atomic_load_n(&is_anyone_waiting, __ATOMIC_RELAXED) ||
	    data->callbackSite != CUPTI_API_ENTER || !data->context ||
	    cupti->cuptiGetDeviceId(data->context, &device) != CUPTI_SUCCESS)
		return;
	guard_enter_long(&guard); /* another thread may be opening a device */
	pthread_mutex_lock(&list_lock);
	begin_first_window(device, is_launch(id, data));
	pthread_mutex_unlock(&list_lock);
	guard_leave(&guard);
}

void sampling_on_nvtx(CUpti_CallbackId id, const CUpti_NvtxData *data)
{
	enum nvtx_edge edge;
	struct guard guard;

	if (!is_range_known)
		return;
	edge = nvtx_match(id, data);
	if (edge == NVTX_NO_EDGE || !cupti)
		return;
	guard_enter_long(&guard); /* likewise */
	pthread_mutex_lock(&list_lock);
	for (size_t i = 0; i < sampler_count; i++)
		(edge == NVTX_FIRST_BEGINS ? sampler_begin_window : sampler_end_range)(samplers[i]);
	pthread_mutex_unlock(&list_lock);
	guard_leave(&guard);
}

/* ---- arriving and leaving ---- */

/* Strings may be registered long before CUDA starts. */
void sampling_prepare(const struct cupti_api *api, CUpti_SubscriberHandle subscription,
		      const struct options *asked)
{
	if (!asked->sample_ns || !asked->sample_range || !nvtx_match_init(asked->sample_range))
		return;
	is_range_known = true;
	api->cuptiEnableCallback(1, subscription, CUPTI_CB_DOMAIN_NVTX,
				 CUPTI_CBID_NVTX_nvtxDomainRegisterStringA);
}

void sampling_start(const struct cupti_api *api, CUpti_SubscriberHandle subscription,
		    const struct options *asked)
{
	if (!asked->sample_ns)
		return;
	if (asked->counters) {
		log_warn("no samples: --sample and --counters use the same hardware counters; make "
			 "two recordings");
		return;
	}
	if (!cupti_has_sampling(api) || !api->cuptiGetDeviceId ||
	    (asked->sample_range && !api->cuptiEnableDomain)) {
		trace_loss_add(LOSS_missing_features, 1);
		log_warn("no samples: this CUPTI lacks PM sampling, which 12.6 and newer have; the "
			 "trace is still recorded");
		return;
	}
	if (asked->sample_range && !is_range_known) {
		log_warn("no samples: '%s' is no extended regular expression", asked->sample_range);
		return;
	}
	cupti_open_host_library(api);
	cupti = api;
	subscriber = subscription;
	options = asked;
	if (asked->sample_range)
		api->cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_NVTX);
}

static struct timespec after_s(int seconds)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += seconds;
	return time;
}

/* From here on no device is added.  A context that is being made holds the lock, and so does who was
 * interrupted by a signal handler that exits: then it is done without.  Returns how many there are. */
static size_t close_list(const struct timespec *until)
{
	int rc = wait_lock(&list_lock, until);

	__atomic_store_n(&is_stopped, true, __ATOMIC_RELAXED);
	__atomic_store_n(&is_anyone_waiting, false, __ATOMIC_RELAXED);
	if (rc == 0)
		pthread_mutex_unlock(&list_lock);
	return __atomic_load_n(&sampler_count, __ATOMIC_ACQUIRE);
}

/* Returns how many have not ended until then. */
static size_t join_all(size_t count, const struct timespec *until)
{
	size_t late_count = 0;

	for (size_t i = 0; i < count; i++)
		late_count += sampler_join(samplers[i], until) != 0;
	return late_count;
}

/* CUPTI and the driver take themselves apart when the program goes on with its exit: a thread of ours that
 * still were in there would bring the program down. */
static void leave_cupti(size_t count)
{
	struct timespec until = after_s(LEAVE_PATIENCE_S);

	for (size_t i = 0; i < count; i++)
		sampler_abandon(samplers[i]);
	log_warn("the last samples were not written within %d s; they are lost, and counted",
		 STOP_PATIENCE_S);
	join_all(count, &until);
}

/* Devices are not waited for with list_lock held: CUPTI may be making a context for one of them, and
 * calls us back.  The hardware is given back when the process ends: closing the sessions takes time.
 * Memory is left too: threads of the program may be in a callback. */
void sampling_stop(void)
{
	struct timespec until = after_s(STOP_PATIENCE_S);
	struct sample_health sum = {0};
	size_t count;

	if (!cupti)
		return;
	count = close_list(&until);
	if (options->sample_range && !nvtx_match_was_any())
		log_warn("no samples: no NVTX range has a name that matches '%s' (--sample-range)",
			 options->sample_range);
	for (size_t i = 0; i < count; i++)
		sampler_stop(samplers[i], &until);
	if (join_all(count, &until))
		leave_cupti(count);
	for (size_t i = 0; i < count; i++) {
		struct sample_health health = sampler_finish(samplers[i]);

		sample_health_merge(&sum, &health);
	}
	sample_health_write(&sum);
}
