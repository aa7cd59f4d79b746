/* run_time.c - from the first launch to the end of the last wait. */
#include "run_time.h"

#include <stdbool.h>

#include "clock.h"
#include "counts.h"

static uint64_t begin_ns; /* 0: nothing was launched yet */

void run_time_begin(void)
{
	uint64_t none = 0;

	if (!__atomic_load_n(&begin_ns, __ATOMIC_RELAXED))
		__atomic_compare_exchange_n(&begin_ns, &none, clock_ns(), false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

void run_time_end(void)
{
	uint64_t begin = __atomic_load_n(&begin_ns, __ATOMIC_RELAXED);

	if (begin)
		counts_set(TRY_RUN_NS, clock_ns() - begin);
}

void run_time_wait_later(uint64_t took_ns)
{
	if (__atomic_load_n(&begin_ns, __ATOMIC_RELAXED))
		counts_add(TRY_RUN_NS, took_ns);
}

void run_time_forked(void)
{
	begin_ns = 0;
}
