#include "window_switch.h"

#include <stdatomic.h>
#include <time.h>

#include "activity.h"
#include "clock.h"
#include "trace_writer.h"
#include "window.h"

static const struct cupti_api *_Atomic cupti; /* NULL until started */
static const struct options *options;
static atomic_bool is_busy; /* a thread is switching */
static atomic_bool is_off;
static _Atomic int64_t off_since_ns;

/* Only once the recording has ended.  Not outside of windows: with CUPTI 13.0 kernels that run while kinds are disabled
 * are lost (45 of 50), and kernels have other correlation ids than their calls once kinds are enabled again
 * (tests/gpu/check_guest.sh, H200, driver 580.159). */
static bool is_wanted_off(void)
{
	return trace_writer_has_ended();
}

void window_switch_count(void)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (atomic_load(&is_off))
		trace_loss_add(LOSS_switched_off_ns,
			       (uint64_t)(now_ns - atomic_exchange(&off_since_ns, now_ns)));
}

static void switch_to(bool off)
{
	if (off)
		atomic_store(&off_since_ns, clock_ns(CLOCK_MONOTONIC));
	else
		window_switch_count();
	activity_switch(cupti, options, !off);
	atomic_store(&is_off, off);
}

/* Who finds another at it may go on: that one looks again when it is done. */
void window_switch_follow(void)
{
	while (atomic_load(&cupti) && is_wanted_off() != atomic_load(&is_off)) {
		if (atomic_exchange(&is_busy, true))
			return;
		if (is_wanted_off() != atomic_load(&is_off))
			switch_to(!atomic_load(&is_off));
		atomic_store(&is_busy, false);
	}
}

int64_t window_switch_next_ns(void)
{
	return window_next_edge_ns(clock_ns(CLOCK_REALTIME));
}

void window_switch_start(const struct cupti_api *api, const struct options *asked)
{
	options = asked;
	atomic_store(&cupti, api);
	window_switch_follow();
}
