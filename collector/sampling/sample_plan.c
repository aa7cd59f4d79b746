#include "sampling/sample_plan.h"

#include "sampling/sample_pace.h"

/* Of CUPTI 13.0's decoding on an H200, whatever was sampled: 0.5 us for a sample, and 1.2 us for each KB
 * that it takes of an image beyond 1.5, which counters of the whole GPU stay below; evaluating it 0.7 us
 * a counter (docs/collector.md).  What to sample is chosen by it; how often, by what was measured. */
#define DECODE_NS 500.0
#define DECODE_NS_PER_BYTE 1.2
#define DECODE_FREE_BYTES 1536
#define EVALUATE_NS_PER_COUNTER 700
/* A call that decodes costs about 1 ms however little there is, so it is made this rarely. */
#define BATCH_NS INT64_C(20000000)
#define BATCH_SAMPLES_MIN 256
/* Decoding is measured by a batch, or by fewer samples that take about so long. */
#define TRIAL_NS 40e6
/* Fewer say more of the call than of the samples. */
#define TRIAL_SAMPLES_MIN 20
/* An image has room for so many batches, and the buffer for twice as many. */
#define IMAGE_BATCHES 4
/* What an image in reserve has room for, where memory allows; one that is less than so many times as
 * large as the others is not worth it. */
#define RESERVE_NS INT64_C(250000000)
#define RESERVE_TIMES_MIN 2
/* The hardware's records are smaller than what becomes of them, but for the fewest counters. */
#define RECORD_BYTES_MIN 1024
#define BUFFER_BYTES_MIN ((size_t)16 << 20)
/* Times ROOFLINE_SAMPLE_BUFFER_MB that a window may take whose length was asked for. */
#define WINDOW_BUFFERS 4

static size_t smaller(size_t left, size_t right)
{
	return left < right ? left : right;
}

static size_t larger(size_t left, size_t right)
{
	return left > right ? left : right;
}

double sample_plan_decode_ns(size_t sample_bytes)
{
	return DECODE_NS +
	       (sample_bytes > DECODE_FREE_BYTES
			? (double)(sample_bytes - DECODE_FREE_BYTES) * DECODE_NS_PER_BYTE
			: 0);
}

static bool fits(const struct options *options, double decode_ns)
{
	double passes_ns = (double)options->sample_ns; /* until there is another one */

	if (options->sample_windows == WINDOWS_PERIODIC)
		passes_ns *= (double)options->window_period_ns / (double)options->window_ns;
	return sample_pace_keeps_up(decode_ns, (int64_t)passes_ns);
}

bool sample_plan_fits(const struct options *options, size_t sample_bytes)
{
	return fits(options, sample_plan_decode_ns(sample_bytes));
}

size_t sample_plan_record_bytes(size_t sample_bytes)
{
	return larger(sample_bytes, RECORD_BYTES_MIN);
}

/* Samples that ROOFLINE_SAMPLE_BUFFER_MB has room for. */
static size_t buffered_samples(const struct options *options, const struct sample_facts *facts)
{
	return options->sample_buffer_bytes / sample_plan_record_bytes(facts->sample_bytes);
}

/* Two, for what piles up while the first is decoded into takes another one, or one where memory has no
 * room for two that are worth it.  Together they take ROOFLINE_SAMPLE_BUFFER_MB at most. */
static void plan_reserve(struct sample_plan *plan, const struct options *options,
			 const struct sample_facts *facts)
{
	size_t most = options->sample_buffer_bytes / facts->sample_bytes;
	size_t wanted = (size_t)(RESERVE_NS / plan->interval_ns);

	for (plan->reserve_count = RESERVE_LIMIT; plan->reserve_count; plan->reserve_count--) {
		plan->reserve_capacity = smaller(wanted, most / plan->reserve_count);
		if (plan->reserve_capacity >= RESERVE_TIMES_MIN * plan->capacity)
			return;
	}
	plan->reserve_capacity = 0;
}

static size_t plan_trial(const struct sample_plan *plan, const struct sample_facts *facts)
{
	size_t decodable = (size_t)(TRIAL_NS / sample_plan_decode_ns(facts->sample_bytes));
	size_t samples = smaller((size_t)(BATCH_NS / plan->interval_ns), decodable);

	samples = smaller(samples, plan->capacity / 2);
	return samples >= TRIAL_SAMPLES_MIN ? samples : 0;
}

static void plan_continuous(struct sample_plan *plan, const struct options *options,
			    const struct sample_facts *facts)
{
	size_t most = buffered_samples(options, facts) / IMAGE_BATCHES;
	size_t record_bytes = sample_plan_record_bytes(facts->sample_bytes);
	size_t batch;

	if (facts->decode_ns > 0 && !plan->keeps_up)
		plan->interval_ns = sample_pace_finest(facts->decode_ns);
	batch = smaller((size_t)(BATCH_NS / plan->interval_ns), most);
	batch = larger(batch, BATCH_SAMPLES_MIN);
	plan->batch_ns = (int64_t)batch * plan->interval_ns;
	plan->capacity = IMAGE_BATCHES * batch;
	plan->trial_samples = plan_trial(plan, facts);
	plan_reserve(plan, options, facts);
	plan->buffer_bytes = larger(2 * plan->capacity * record_bytes,
				    smaller(2 * plan->reserve_capacity * record_bytes,
					    options->sample_buffer_bytes));
}

/* A window as long as was asked for, or as memory allows.  One that was asked for may take more, but not
 * everything: a second of a sample each microsecond would be 25 GB. */
static void plan_windows(struct sample_plan *plan, const struct options *options,
			 const struct sample_facts *facts)
{
	plan->window_ns = (int64_t)buffered_samples(options, facts) * options->sample_ns;
	plan->period_ns = options->window_period_ns;
	if (options->sample_windows == WINDOWS_PERIODIC) {
		plan->window_ns *= WINDOW_BUFFERS;
		plan->is_window_cut = options->window_ns > plan->window_ns;
		if (!plan->is_window_cut)
			plan->window_ns = options->window_ns;
	}
	/* A window ends late when our thread is: one in four more. */
	plan->capacity = (size_t)(plan->window_ns / options->sample_ns) * 5 / 4 + 1000;
	plan->buffer_bytes = plan->capacity * sample_plan_record_bytes(facts->sample_bytes);
}

/* How many threads evaluate: as many as it takes and one that empties images, at most half of the
 * processors. */
static size_t choose_worker_count(const struct sample_plan *plan, const struct sample_facts *facts)
{
	size_t limit = facts->processors > 2 ? facts->processors / 2 : 1;
	size_t wanted = 2 + facts->counter_count * EVALUATE_NS_PER_COUNTER * 3 / 2 /
				    (size_t)plan->interval_ns;

	return smaller(wanted, smaller(limit, WORKER_LIMIT));
}

struct sample_plan sample_plan_make(const struct options *options, const struct sample_facts *facts)
{
	double decode_ns = facts->decode_ns > 0 ? facts->decode_ns
						: sample_plan_decode_ns(facts->sample_bytes);
	struct sample_plan plan = {.keeps_up = fits(options, decode_ns),
				   .interval_ns = options->sample_ns};

	plan.is_continuous = !options->sample_range &&
			     (options->sample_windows == WINDOWS_CONTINUOUS ||
			      (options->sample_windows == WINDOWS_AUTO && plan.keeps_up));
	if (plan.is_continuous)
		plan_continuous(&plan, options, facts);
	else
		plan_windows(&plan, options, facts);
	plan.buffer_bytes = larger(plan.buffer_bytes, BUFFER_BYTES_MIN);
	plan.worker_count = choose_worker_count(&plan, facts);
	/* The next window is decoded while the last one is still being written. */
	plan.image_count = plan.is_continuous ? plan.worker_count + 2 : 2;
	return plan;
}

/* As many samples in a batch as in 20 ms, but no more than the images were made for. */
void sample_plan_slow_down(struct sample_plan *plan, int64_t interval_ns)
{
	size_t batch = smaller((size_t)(BATCH_NS / interval_ns), plan->capacity / IMAGE_BATCHES);

	plan->interval_ns = interval_ns;
	plan->batch_ns = (int64_t)larger(batch, BATCH_SAMPLES_MIN) * interval_ns;
}
