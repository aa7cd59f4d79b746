#include "analysis/samples/sm_activity.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/samples/sm_activity_kernels.h"
#include "base/ns.h"
#include "base/spans.h"
#include "base/sums.h"
#include "base/ranked_value.h"
#include "trace/samples.h"

/* Records and samples agree to about this (docs/results/device-work.txt). */
#define EDGE_NS 2000
static const struct {
	const char *key, *title, *meaning;
} differences[] = {
#define DIFFERENCE_ROW(constant, key, title, meaning) {key, title, meaning},
	SM_DIFFERENCES(DIFFERENCE_ROW)
#undef DIFFERENCE_ROW
};

const char *sm_difference_key(enum sm_difference difference)
{
	return differences[difference].key;
}

const char *sm_difference_title(enum sm_difference difference)
{
	return differences[difference].title;
}

const char *sm_difference_meaning(enum sm_difference difference)
{
	return differences[difference].meaning;
}

/* ---- devices ---- */

/* What the trace has of one device. */
struct trace_spans {
	struct spans all, kernels, near; /* near: all, with EDGE_NS around */
};

static int trace_spans_build(struct trace_spans *trace, const struct profile *profile,
			     const struct profile_device *device)
{
	int rc = 0;

	*trace = (struct trace_spans){0};
	for (size_t i = 0; i < device->op_count && rc == 0; i++) {
		const struct profile_op *op = &profile->ops[device->first_op + i];

		rc = spans_add(&trace->all, op->start_ns, op->end_ns);
		if (rc == 0)
			rc = spans_add(&trace->near, op->start_ns - EDGE_NS, op->end_ns + EDGE_NS);
		if (rc == 0 && (op->kind == OP_KERNEL || op->kind == OP_GRAPH))
			rc = spans_add(&trace->kernels, op->start_ns, op->end_ns);
	}
	spans_seal(&trace->all);
	spans_seal(&trace->kernels);
	spans_seal(&trace->near);
	return rc;
}

static void trace_spans_free(struct trace_spans *trace)
{
	spans_free(&trace->all);
	spans_free(&trace->kernels);
	spans_free(&trace->near);
}

static void add_difference(struct sm_activity_device *device, const struct trace_spans *trace,
			   const struct profile_sample *sample, int64_t trace_ns, int64_t active_ns)
{
	int64_t start_ns = sample->start_ns, end_ns = sample_end_ns(sample), part_ns;

	if (trace_ns > active_ns) {
		part_ns = min_ns(spans_covered(&trace->kernels, start_ns, end_ns),
				 trace_ns - active_ns);
		device->difference_ns[SM_INSIDE] += part_ns;
		device->difference_ns[SM_COPY] += trace_ns - active_ns - part_ns;
	} else if (active_ns > trace_ns) {
		part_ns = min_ns(spans_covered(&trace->near, start_ns, end_ns) - trace_ns,
				 active_ns - trace_ns);
		device->difference_ns[SM_EDGE] += part_ns;
		device->difference_ns[SM_UNTRACED] += active_ns - trace_ns - part_ns;
	}
}

static void add_traffic(struct sm_activity_device *device, const struct profile_sample *sample)
{
	device->dram_bytes += (double)sample->dram_read_bytes + (double)sample->dram_write_bytes;
	device->l2_bytes += (double)sample->l2_bytes;
	device->atomic_bytes += (double)sample->atomic_bytes;
	device->pcie_read_bytes += (double)sample->pcie_read_bytes;
	device->pcie_write_bytes += (double)sample->pcie_write_bytes;
	device->nvlink_rx_bytes += (double)sample->nvlink_rx_bytes;
	device->nvlink_tx_bytes += (double)sample->nvlink_tx_bytes;
}

static void add_sample(struct sm_activity_device *device, const struct trace_spans *trace,
		       const struct profile_sample *sample)
{
	int64_t length_ns = (int64_t)sample->length_ns;
	int64_t active_ns = (int64_t)((double)sample->sm_max * (double)length_ns + 0.5);
	int64_t trace_ns = spans_covered(&trace->all, sample->start_ns, sample_end_ns(sample));

	sum_add_ns(&device->sampled_ns, length_ns);
	add_traffic(device, sample);
	if (!device->has_sms)
		return;
	active_ns = min_ns(active_ns, length_ns);
	device->traced_ns += trace_ns;
	device->active_ns += active_ns;
	device->both_ns += min_ns(trace_ns, active_ns);
	device->neither_ns += length_ns - max_ns(trace_ns, active_ns);
	device->mean_sms += (double)sample->sm * (double)length_ns;
	add_difference(device, trace, sample, trace_ns, active_ns);
}

/* The part of a sample that lies within a span: its traffic is assumed to be spread evenly. */
static struct profile_sample clip_sample(const struct profile_sample *sample,
					 const struct profile_sampled_span *span)
{
	int64_t start_ns = max_ns(sample->start_ns, span->start_ns);
	int64_t length_ns = min_ns(sample_end_ns(sample), span->end_ns) - start_ns;
	float part = (float)((double)length_ns / (double)sample->length_ns);
	struct profile_sample clipped = *sample;

	clipped.start_ns = start_ns;
	clipped.length_ns = (uint64_t)length_ns;
	if (length_ns == (int64_t)sample->length_ns)
		return clipped;
	clipped.dram_read_bytes *= part;
	clipped.dram_write_bytes *= part;
	clipped.l2_bytes *= part;
	clipped.atomic_bytes *= part;
	clipped.pcie_read_bytes *= part;
	clipped.pcie_write_bytes *= part;
	clipped.nvlink_rx_bytes *= part;
	clipped.nvlink_tx_bytes *= part;
	return clipped;
}

/* Whether nothing ran for several samples in a row. */
static bool is_quiet(const struct profile_sample *sample)
{
	return sample->sample_count > 1 && sample->length_ns;
}

/* Only what lies within sampled time; both are in order of time. */
static int add_samples(struct sm_activity_device *device, uint64_t *quiet_count,
		       const struct trace_spans *trace, const struct profile *profile,
		       const struct profile_device *of)
{
	struct sample_cursor cursor = sample_cursor_open(profile);
	const struct profile_sampled_span *span = profile->sampled_spans + of->first_span;
	const struct profile_sampled_span *last = span + of->span_count;

	for (size_t i = 0; i < of->sample_count; i++) {
		const struct profile_sample *sample = sample_at(&cursor, of->first_sample + i);
		bool is_inside = false;

		*quiet_count += is_quiet(sample);
		while (span < last && span->end_ns <= sample->start_ns)
			span++;
		for (const struct profile_sampled_span *next = span;
		     next < last && next->start_ns < sample_end_ns(sample); next++) {
			struct profile_sample part = clip_sample(sample, next);

			add_sample(device, trace, &part);
			is_inside = true;
		}
		device->sample_count += is_inside ? sample->sample_count : 0;
	}
	return sample_cursor_close(&cursor);
}

static void add_spans(struct sm_activity_device *device, const struct profile *profile,
		      const struct profile_device *of)
{
	for (size_t i = 0; i < of->span_count; i++) {
		const struct profile_sampled_span *span =
			&profile->sampled_spans[of->first_span + i];

		if (!device->interval_ns || span->interval_ns < device->interval_ns)
			device->interval_ns = span->interval_ns;
		if (span->interval_ns > device->longest_interval_ns)
			device->longest_interval_ns = span->interval_ns;
	}
	device->window_count = of->span_count;
}

struct quiet_rows {
	struct sample_cursor cursor;
	size_t first;
};

/* What a quiet row has of bytes written in a nanosecond. */
static bool quiet_rate(size_t index, double *rate, void *context)
{
	struct quiet_rows *rows = context;
	const struct profile_sample *sample = sample_at(&rows->cursor, rows->first + index);

	if (!is_quiet(sample))
		return false;
	*rate = (double)sample->pcie_write_bytes / (double)sample->length_ns;
	return true;
}

/* What reading the counters itself writes over PCIe: so much as in the median quiet row, all the time. */
static int find_own_traffic(struct sm_activity_device *device, uint64_t quiet_count,
			    const struct profile *profile, const struct profile_device *of)
{
	struct quiet_rows rows = {sample_cursor_open(profile), of->first_sample};
	const struct ranked_values rates = {of->sample_count, quiet_rate, &rows};
	double rate, own_bytes;
	int rc, cursor_rc;

	if (!quiet_count)
		return 0;
	rc = ranked_value(&rate, &rates, quiet_count / 2);
	cursor_rc = sample_cursor_close(&rows.cursor);
	if (rc < 0 || cursor_rc < 0)
		return rc < 0 ? rc : cursor_rc;
	own_bytes = rate * (double)device->sampled_ns;
	device->pcie_own_bytes =
		own_bytes < device->pcie_write_bytes ? own_bytes : device->pcie_write_bytes;
	return 0;
}

static int build_device(struct sm_activity_device *device, const struct profile *profile,
			const struct profile_device *of)
{
	struct trace_spans trace;
	uint64_t quiet_count = 0;
	int rc;

	if (!of->sample_count || !of->span_count)
		return 0;
	rc = trace_spans_build(&trace, profile, of);
	device->has_sms = of->sampled & 1u << SAMPLED_sm_cycles;
	add_spans(device, profile, of);
	if (rc == 0)
		rc = add_samples(device, &quiet_count, &trace, profile, of);
	if (rc == 0)
		rc = find_own_traffic(device, quiet_count, profile, of);
	if (device->active_ns)
		device->mean_active_sms = device->mean_sms / (double)device->active_ns;
	if (device->sampled_ns)
		device->mean_sms /= (double)device->sampled_ns;
	trace_spans_free(&trace);
	return rc;
}

/* ---- all of it ---- */

int sm_activity_build(struct sm_activity **out, const struct profile *profile, struct err *err)
{
	struct sm_activity *activity = calloc(1, sizeof(*activity));
	int rc = activity ? 0 : -ENOMEM;

	if (rc == 0) {
		activity->devices = calloc(profile->device_count + 1, sizeof(*activity->devices));
		activity->device_count = profile->device_count;
		rc = activity->devices ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < profile->device_count && rc == 0; i++)
		rc = build_device(&activity->devices[i], profile, &profile->devices[i]);
	if (rc == 0)
		rc = sm_activity_build_kernels(activity, profile);
	if (rc < 0) {
		sm_activity_free(activity);
		return err_set(err, rc, "%s for the activity of the SMs", samples_why(rc));
	}
	*out = activity;
	return 0;
}

void sm_activity_free(struct sm_activity *activity)
{
	if (!activity)
		return;
	free(activity->devices);
	free(activity->kernels);
	free(activity);
}
