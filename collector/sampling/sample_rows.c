#include "sampling/sample_rows.h"

#include <stdio.h>

#include "writer/trace_writer.h"
#include "window.h"

/* The rows of one image while they are made. */
struct writing {
	const struct sample_source *source;
	struct trace_rows *rows;
	struct trace_samples_row quiet;	    /* sample_count 0: none is pending */
	int64_t span_start_ns, span_end_ns; /* 0: no span is open */
};

static void sample_fill(struct trace_samples_row *row, const struct sample_time *time,
			uint32_t device, const uint64_t counts[SAMPLED_ROLE_COUNT])
{
	*row = (struct trace_samples_row){.start_ns = time->start_ns,
					  .length_ns = (uint64_t)(time->end_ns - time->start_ns),
					  .device = device,
					  .sample_count = 1,
#define ROLE_COLUMN(role, set, meaning) .role = (__typeof__(row->role))counts[SAMPLED_##role],
					  SAMPLED_ROLES(ROLE_COLUMN)
#undef ROLE_COLUMN
	};
}

/* Nothing ran, as far as it is known; what sampling itself moves does not count. */
static bool is_quiet(const struct sample_source *source, const struct trace_samples_row *row)
{
	return !row->dispatches && !row->blocks && !row->compute_cycles && !row->sm_cycles &&
	       !row->tensor_cycles && !row->nvlink_rx_bytes && !row->nvlink_tx_bytes &&
	       row->dram_read_bytes <= source->own_bytes &&
	       row->dram_write_bytes <= source->own_bytes &&
	       row->pcie_read_bytes <= source->own_bytes &&
	       row->pcie_write_bytes <= source->own_bytes;
}

static void quiet_flush(struct writing *writing)
{
	if (writing->quiet.sample_count)
		trace_write_samples(writing->rows, &writing->quiet);
	writing->quiet.sample_count = 0;
}

static void quiet_add(struct writing *writing, const struct trace_samples_row *row)
{
	struct trace_samples_row *sum = &writing->quiet;

	if (!sum->sample_count) {
		*sum = *row;
		return;
	}
	sum->length_ns += row->length_ns;
	sum->sample_count++;
#define ROLE_SUM(role, set, meaning) sum->role += row->role;
	SAMPLED_ROLES(ROLE_SUM)
#undef ROLE_SUM
}

static void span_close(struct writing *writing)
{
	struct trace_sampled_spans_row row = {
		.device = writing->source->device,
		.start_ns = writing->span_start_ns,
		.end_ns = writing->span_end_ns,
		.interval_ns = writing->source->interval_ns,
	};

	quiet_flush(writing);
	if (row.start_ns)
		trace_write_sampled_spans(writing->rows, &row);
	writing->span_start_ns = 0;
}

static void span_go_on(struct writing *writing, const struct sample_time *time)
{
	int64_t hole_ns = writing->span_start_ns ? time->start_ns - writing->span_end_ns : 0;

	if (hole_ns > (int64_t)writing->source->interval_ns / 2) {
		if (writing->source->is_continuous)
			trace_loss_add(LOSS_lost_sample_ns, (uint64_t)hole_ns);
		span_close(writing);
	}
	if (!writing->span_start_ns)
		writing->span_start_ns = time->start_ns;
	writing->span_end_ns = time->end_ns;
}

static void sample_add(struct writing *writing, const struct sample_time *time,
		       const double *values)
{
	uint64_t counts[SAMPLED_ROLE_COUNT];
	struct trace_samples_row row;

	sample_config_counts(writing->source->config, values, counts);
	sample_fill(&row, time, writing->source->device, counts);
	span_go_on(writing, time);
	if (is_quiet(writing->source, &row)) {
		quiet_add(writing, &row);
		return;
	}
	quiet_flush(writing);
	trace_write_samples(writing->rows, &row);
}

/* False for what is no sample: the one after a start, and what CUPTI gives no times of. */
static bool find_time(const struct sample_source *source, const struct sample_image *image,
		      size_t sample, struct sample_time *time)
{
	return sample_image_time(image, source->session, sample, time) == CUPTI_SUCCESS &&
	       time->end_ns > time->start_ns &&
	       time->end_ns - time->start_ns <= (int64_t)(2 * source->interval_ns);
}

int sample_rows_bounds(const struct sample_source *source, const struct sample_image *image,
		       struct sample_time *first, struct sample_time *last)
{
	size_t i = image->is_after_start, end = image->count;

	while (i < end && !find_time(source, image, i, first))
		i++;
	while (end > i && !find_time(source, image, end - 1, last))
		end--;
	return i < end ? 0 : -1;
}

static bool is_abandoned(const struct sample_source *source)
{
	return __atomic_load_n(source->is_abandoned, __ATOMIC_ACQUIRE);
}

/* From done_ns on: all samples that the image holds beyond it. */
static void count_abandoned(const struct sample_image *image, int64_t done_ns)
{
	int64_t from_ns = done_ns > image->start_ns ? done_ns : image->start_ns;

	if (image->end_ns > from_ns && window_contains(from_ns))
		trace_loss_add(LOSS_lost_sample_ns, (uint64_t)(image->end_ns - from_ns));
}

void sample_rows_write(const struct sample_source *source, CUpti_Profiler_Host_Object *evaluator,
		       const struct sample_image *image)
{
	struct writing writing = {.source = source, .rows = trace_rows_get()};
	double values[SAMPLE_NAME_LIMIT];
	struct sample_time time = {0};

	for (size_t i = image->is_after_start; i < image->count; i++) {
		if (is_abandoned(source)) {
			count_abandoned(image, time.end_ns);
			break;
		}
		if (!find_time(source, image, i, &time) ||
		    sample_evaluate(source->cupti, evaluator, source->config, image, i, values) !=
			    CUPTI_SUCCESS)
			continue; /* a hole, which the next one finds */
		if (window_contains(time.start_ns))
			sample_add(&writing, &time, values);
		else
			span_close(&writing);
	}
	span_close(&writing);
	trace_rows_put(writing.rows);
}

void sample_rows_write_metrics(const struct sample_source *source)
{
	static const char *const roles[] = {
#define ROLE_NAME(role, set, meaning) #role,
		SAMPLED_ROLES(ROLE_NAME)
#undef ROLE_NAME
	};
	struct trace_rows *rows = trace_rows_get();
	char name[512];

	for (int role = 0; role < SAMPLED_ROLE_COUNT; role++) {
		struct trace_sampled_metrics_row row = {source->device, roles[role], name};
		size_t used = 0;

		*name = '\0';
		for (size_t i = 0; i < source->config->roles[role].count; i++)
			used += (size_t)snprintf(
				name + used, sizeof(name) - used, "%s%s", i ? "+" : "",
				source->config->names[source->config->roles[role].first + i]);
		trace_write_sampled_metrics(rows, &row);
	}
	trace_rows_put(rows);
}
