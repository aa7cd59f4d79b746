#include "managed_memory.h"

#include <stdatomic.h>

#include "guard.h"
#include "log.h"
#include "window.h"

static const struct cupti_api *cupti; /* NULL: not asked for */
static atomic_bool is_done;

static void tell(const char *key, const char *value)
{
	struct trace_rows *rows = trace_rows_get();

	trace_property(rows, key, value);
	trace_rows_put(rows);
}

static CUptiResult configure(void)
{
	CUpti_ActivityUnifiedMemoryCounterConfig
		wanted[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT - 1];

	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		wanted[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
			.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
			.kind = (CUpti_ActivityUnifiedMemoryCounterKind)(i + 1),
			.enable = 1,
		};
	return cupti->cuptiActivityConfigureUnifiedMemoryCounter(wanted,
								 sizeof(wanted) / sizeof(*wanted));
}

static void enable(void)
{
	CUptiResult result = configure();

	if (result == CUPTI_SUCCESS)
		result = cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	if (result == CUPTI_SUCCESS) {
		tell("managed", "1");
		return;
	}
	trace_loss_add(LOSS_disabled_kinds, 1);
	tell("managed_problem", cupti_error_text(cupti, result));
	log_warn("--managed: CUPTI does not record what happens to managed memory (%s); the "
		 "recording lacks it",
		 cupti_error_text(cupti, result));
}

void managed_memory_on_context(void)
{
	struct guard guard;

	if (!cupti || atomic_exchange(&is_done, true))
		return;
	guard_enter_long(&guard);
	enable();
	guard_leave(&guard);
}

/* The host is CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID, the greatest number: where CUPTI 13.0 means it, it says 0 of what moves. */
static uint32_t source_of(const CUpti_ActivityUnifiedMemoryCounter3 *counter)
{
	return counter->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD ||
			       counter->counterKind ==
				       CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT
		       ? CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID
		       : counter->srcId;
}

static uint32_t destination_of(const CUpti_ActivityUnifiedMemoryCounter3 *counter)
{
	return counter->counterKind ==
			       CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH
		       ? CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID
		       : counter->dstId;
}

void managed_memory_decode(struct trace_rows *rows,
			   const CUpti_ActivityUnifiedMemoryCounter3 *counter)
{
	bool is_cpu_fault = counter->counterKind ==
			    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
	struct trace_managed_row row = {
		.start_ns = (int64_t)counter->start,
		.end_ns = counter->end > counter->start ? (int64_t)counter->end
							: (int64_t)counter->start,
		.kind = counter->counterKind,
		.value = is_cpu_fault ? 1 : counter->value, /* CUPTI: the program counter */
		.address = counter->address,
		.source = source_of(counter),
		.destination = destination_of(counter),
		.cause = counter->flags,
	};

	if (!counter->start)
		trace_loss_add(LOSS_invalid_times, 1);
	else if (!window_contains(row.start_ns))
		trace_loss_add(LOSS_outside_window, 1);
	else
		trace_write_managed(rows, &row);
}

void managed_memory_start(const struct cupti_api *api, const struct options *options)
{
	if (!options->managed)
		return;
	if (!api->cuptiActivityConfigureUnifiedMemoryCounter) {
		tell("managed_problem", "this CUPTI has no function for it");
		return;
	}
	cupti = api;
}
