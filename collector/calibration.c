#define _GNU_SOURCE
#include "calibration.h"

#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "process_facts.h"

/* Reading the clock takes as long as a few calls, so several are timed together; the median of the batches is none that
 * an interrupt made long, nor the first, in which CUPTI asks for a buffer. */
#define BATCHES 15
#define CALLS 32

static uint32_t measuring_thread; /* system thread id, 0 until then */

/* The program's own calls of it are not recorded otherwise: those that come meanwhile are left out, too. */
static bool is_only_for_this;

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static double call_ns(void)
{
	int64_t batches_ns[BATCHES], median_ns;

	for (int i = 0; i < BATCHES; i++) {
		int64_t start_ns = clock_ns(CLOCK_MONOTONIC);

		for (int call = 0; call < CALLS; call++)
			(void)process_facts_driver_version();
		batches_ns[i] = clock_ns(CLOCK_MONOTONIC) - start_ns;
	}
	qsort(batches_ns, BATCHES, sizeof(*batches_ns), compare_ns);
	median_ns = batches_ns[BATCHES / 2];
	return (double)median_ns / CALLS;
}

static CUptiResult enable(const struct cupti_api *cupti, bool is_on)
{
	return cupti->cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
						   is_on);
}

/* With more calls enabled CUPTI 13.0 refuses hardware counters (program_calls.h); with all of them there is no moment
 * without. */
static bool can_measure(const struct options *options)
{
	return options->is_calibrated && options->api == API_CHOSEN && !options->counters &&
	       !options->sample_ns && process_facts_driver_version();
}

void calibration_measure(struct trace_rows *rows, const struct cupti_api *cupti,
			 const struct options *options)
{
	double bare_ns, recorded_ns;

	__atomic_store_n(&measuring_thread, (uint32_t)gettid(), __ATOMIC_RELAXED);
	if (!can_measure(options))
		return;
	bare_ns = call_ns();
	__atomic_store_n(&is_only_for_this, true, __ATOMIC_RELAXED);
	if (enable(cupti, true) != CUPTI_SUCCESS)
		return;
	recorded_ns = call_ns();
	enable(cupti, false);
	trace_property_format(rows, "call_bare_ns", "%.1f", bare_ns);
	trace_property_format(rows, "call_recorded_ns", "%.1f", recorded_ns);
}

bool calibration_is_own(CUpti_CallbackDomain domain, const CUpti_ActivityAPI *call)
{
	uint32_t thread = __atomic_load_n(&measuring_thread, __ATOMIC_RELAXED);

	return (thread && call->threadId == thread) ||
	       (domain == CUPTI_CB_DOMAIN_DRIVER_API &&
		call->cbid == CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion &&
		__atomic_load_n(&is_only_for_this, __ATOMIC_RELAXED));
}
