#define _GNU_SOURCE
#include "counters/counter_rows.h"

#include <stdio.h>
#include <unistd.h>

#include "counters/counter_queue.h"
#include "writer/trace_writer.h"

/* ptxas sets constants with HFMA2.MMA, which the tensor cores count as theirs: a few a warp are no sign
 * of a matrix product. */
#define CONSTANTS_PER_WARP 4

static uint32_t next_counted, next_metric;

/* ---- metrics ---- */

void counter_rows_write_metrics(struct counter_rows *rows, const struct counter_config *config)
{
	static const char *const roles[] = {
#define ROLE_NAME(role, set, meaning) #role,
		METRICS(ROLE_NAME)
#undef ROLE_NAME
	};
	const struct metric_list *list = &config->list;
	char passes[24];

	for (size_t i = 0; i < list->count; i++) {
		const struct metric_choice *choice = &list->choices[i];
		struct trace_metrics_row row = {
			.id = ++next_metric,
			.role = choice->role < METRIC_NONE ? roles[choice->role] : "",
			.device = rows->device,
			.is_patched = choice->is_patched,
		};

		rows->metric_ids[i] = row.id;
		counter_queue_put_metric(&row, choice->name);
	}
	snprintf(passes, sizeof(passes), "%zu", config->pass_count);
	counter_queue_put_property("counters_passes", passes);
}

/* ---- launches and their values ---- */

/* The values of a pass on their way into rows. */
struct reading {
	struct counter_rows *rows;
	const struct metric_list *list;
	unsigned int pass;
	uint32_t first_id; /* counted.id of range 0 */
};

static void add_value(void *data, size_t range, size_t choice, double value)
{
	struct reading *reading = data;
	struct counter_rows *rows = reading->rows;
	const struct metric_choice *metric = &reading->list->choices[choice];
	struct trace_counters_row row = {
		.counted = reading->first_id + (uint32_t)range,
		.metric = rows->metric_ids[choice],
		.value = value,
	};

	if (range >= rows->launch_count || rows->launches[range].is_void)
		return;
	if (metric->is_patched && rows->launches[range].is_graph)
		return; /* graphs run the code that they were made with, and would read 0 */
	rows->has_tensor_kernels |=
		metric->role == METRIC_tensor_instructions &&
		value > CONSTANTS_PER_WARP * (double)rows->launches[range].warps;
	counter_queue_put_value(&row);
}

static void write_counted(const struct reading *reading)
{
	const struct counter_rows *rows = reading->rows;

	for (size_t i = 0; i < rows->launch_count; i++) {
		struct trace_counted_row row = {
			.id = reading->first_id + (uint32_t)i,
			.correlation = rows->launches[i].correlation,
			.like = rows->launches[i].like,
			.device = rows->device,
			.context = rows->context,
			.pass = reading->pass,
			.is_graph = rows->launches[i].is_graph,
		};

		if (rows->launches[i].is_void)
			trace_loss_add(LOSS_unusable_counts, 1);
		counter_queue_put_counted(&row);
	}
}

CUptiResult counter_rows_read_pass(struct counter_rows *rows, struct counter_session *session,
				   unsigned int pass, bool is_last)
{
	struct reading reading = {
		.rows = rows,
		.list = &counter_session_config(session)->list,
		.pass = pass,
		.first_id = next_counted + 1,
	};
	CUptiResult result = counter_session_read(session, is_last, add_value, &reading);

	for (size_t i = 0; result != CUPTI_SUCCESS && i < rows->launch_count; i++)
		rows->launches[i].is_void = true; /* some may have values already */
	write_counted(&reading);
	next_counted += (uint32_t)rows->launch_count;
	rows->launch_count = 0;
	return result;
}

void counter_rows_lose_pass(struct counter_rows *rows)
{
	trace_loss_add(LOSS_unusable_counts, rows->launch_count);
	rows->launch_count = 0;
}

/* ---- beside them ---- */

void counter_rows_write_overhead(uint32_t correlation, int64_t start_ns, int64_t end_ns)
{
	struct trace_overheads_row row = {
		.start_ns = start_ns,
		.end_ns = end_ns,
		.is_profiler = 1,
		.thread = (uint32_t)gettid(),
		.correlation = correlation,
	};

	counter_queue_put_overhead(&row);
}

/* CUPTI's own records of replayed kernels have no times, and a forced flush of them crashes it (13.0);
 * without that kind enabled it repeats nothing.  So they are left to it, and kernels have the time of
 * their call, all passes included. */
void counter_rows_write_replayed(const struct counter_rows *rows, const struct launch_call *call,
				 uint32_t correlation, int64_t start_ns, int64_t end_ns)
{
	struct trace_signatures_row signature = launch_call_signature(call);
	struct trace_kernels_row row = {
		.start_ns = start_ns,
		.end_ns = end_ns,
		.device = rows->device,
		.context = rows->context,
		.correlation = correlation,
	};

	counter_queue_put_kernel(&row, &signature, call->name);
}
