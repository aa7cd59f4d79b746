#include "analysis/samples/sample_runs.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/samples/sample_time.h"
#include "base/array.h"

/* SMs that are active on average during a sample: work of two blocks is above, what launches it below: a
 * kernel of one block, and two or three where that many were seen to begin. */
#define RUN_SMS 0.3
#define LAUNCHERS_MAX 3
/* Such a kernel takes a few microseconds: so many samples back it is looked for. */
#define LAUNCHER_SAMPLES 4
/* A kernel that follows another: activity falls to this part of what it was before, and after. */
#define DIP_PART 0.6

/* One device while its runs are found. */
struct finder {
	const struct profile_sample *samples;
	size_t first, end; /* of the samples that follow each other without a hole */
	double sm_count;
	struct sample_runs *runs;
	size_t free;	 /* behind the last run */
	double peak_sms; /* of the run that is open */
};

static double sms(const struct finder *finder, size_t i)
{
	return finder->samples[i].sm * finder->sm_count;
}

/* Kernels of one block that began in sample i, as far as samples show: as many blocks as kernels, which
 * may be counted one sample earlier.  A few blocks and no kernel are the device runtime's own. */
static double launchers_in(const struct finder *finder, size_t i)
{
	double kernels = (double)finder->samples[i].dispatches;
	double blocks = (double)finder->samples[i].blocks;

	if (i > finder->first)
		kernels += (double)finder->samples[i - 1].dispatches;
	return blocks <= (kernels > 0 ? kernels : LAUNCHERS_MAX) ? blocks : 0;
}

/* The level that launching alone may reach in sample last, from what began since sample first. */
static double level_of_launchers(const struct finder *finder, size_t first, size_t last)
{
	double count = 0;

	first = first > finder->first + LAUNCHER_SAMPLES ? first - LAUNCHER_SAMPLES : finder->first;
	for (size_t i = first; i <= last; i++)
		count += launchers_in(finder, i);
	count = count < 1 ? 1 : count > LAUNCHERS_MAX ? LAUNCHERS_MAX : count;
	return RUN_SMS + count;
}

/* The part of sample i that is as active as its neighbor, which is all active. */
static double part_of(const struct finder *finder, size_t i, size_t neighbor)
{
	double whole = sms(finder, neighbor), part = sms(finder, i);

	return whole > part ? part / whole : 1;
}

static int64_t find_start_ns(const struct finder *finder, size_t i)
{
	const struct profile_sample *sample = &finder->samples[i];
	double part = i + 1 < finder->end ? part_of(finder, i, i + 1) : 1;

	return sample_end_ns(sample) - (int64_t)(part * (double)sample->length_ns);
}

/* last is the last sample of the run. */
static int64_t find_end_ns(const struct finder *finder, size_t first, size_t last)
{
	const struct profile_sample *sample = &finder->samples[last];
	double part = last > first ? part_of(finder, last, last - 1) : 1;

	return sample->start_ns + (int64_t)(part * (double)sample->length_ns);
}

static void add_samples(const struct finder *finder, struct sample_run *run)
{
	for (size_t i = run->first; i <= run->last; i++) {
		const struct profile_sample *sample = &finder->samples[i];

		run->dispatch_count += (uint64_t)sample->dispatches;
		run->block_count += (uint64_t)sample->blocks;
		run->dram_bytes +=
			(double)sample->dram_read_bytes + (double)sample->dram_write_bytes;
	}
}

static int add_run(struct finder *finder, size_t first, size_t last)
{
	struct sample_runs *runs = finder->runs;
	struct sample_run *run = ARRAY_NEXT(runs->items, runs->capacity, runs->count);

	if (!run)
		return -ENOMEM;
	*run = (struct sample_run){
		.start_ns = find_start_ns(finder, first),
		.end_ns = find_end_ns(finder, first, last),
		.first = first,
		.last = last,
	};
	if (run->end_ns <= run->start_ns) /* shorter than a sample */
		run->end_ns = sample_end_ns(&finder->samples[last]);
	add_samples(finder, run);
	runs->count++;
	return 0;
}

/* Blocks are counted when they are launched: in the sample before, when it is so close to its end that
 * no SM shows them yet. */
static size_t with_its_launch(const struct finder *finder, size_t i)
{
	bool is_launched_before = i > finder->free && finder->samples[i - 1].blocks >= 2;

	return is_launched_before ? i - 1 : i;
}

/* Whether a kernel that was launched in sample i, inside a run, began where another had ended. */
static bool is_new_kernel(const struct finder *finder, size_t first, size_t i)
{
	double dip = sms(finder, i), after;

	if (finder->samples[i].blocks < 2 || i <= first + 1)
		return false;
	if (sms(finder, i - 1) < dip)
		dip = sms(finder, i - 1);
	after = i + 1 < finder->end ? sms(finder, i + 1) : 0;
	if (sms(finder, i) > after)
		after = sms(finder, i);
	return dip < DIP_PART * finder->peak_sms && dip < DIP_PART * after;
}

/* A run that begins with sample first.  Returns the sample behind it, or 0 without memory. */
static size_t read_run(struct finder *finder, size_t first)
{
	double launchers = level_of_launchers(finder, first, first);
	size_t i = first;

	finder->peak_sms = 0;
	while (i < finder->end && !is_new_kernel(finder, first, i)) {
		if (i > first && launchers < RUN_SMS + LAUNCHERS_MAX)
			launchers += launchers_in(finder, i);
		if (sms(finder, i) <= launchers)
			break;
		if (sms(finder, i) > finder->peak_sms)
			finder->peak_sms = sms(finder, i);
		i++;
	}
	if (add_run(finder, with_its_launch(finder, first), i - 1) < 0)
		return 0;
	finder->free = i;
	return i;
}

/* Work of more than one block was launched in sample i, or just before or after, and not for the run
 * before. */
static bool is_launched_near(const struct finder *finder, size_t i)
{
	size_t from = i > finder->free + 2 ? i - 2 : finder->free;

	for (size_t k = from; k <= i + 1 && k < finder->end; k++)
		if ((double)finder->samples[k].blocks > launchers_in(finder, k))
			return true;
	return false;
}

/* Runs among samples without a hole. */
static int find_in_stretch(struct finder *finder)
{
	finder->free = finder->first;
	for (size_t i = finder->first; i < finder->end;) {
		if (sms(finder, i) > level_of_launchers(finder, i, i) &&
		    is_launched_near(finder, i)) {
			i = read_run(finder, i);
			if (!i)
				return -ENOMEM;
			continue;
		}
		if (finder->samples[i].blocks < 2)
			finder->runs->single_block_count += (uint64_t)finder->samples[i].dispatches;
		i++;
	}
	return 0;
}

int sample_runs_find(struct sample_runs *runs, const struct profile *profile, uint32_t device)
{
	const struct profile_device *of = &profile->devices[device];
	struct finder finder = {.samples = profile->samples,
				.sm_count = of->sm_count,
				.runs = runs};
	size_t end = of->first_sample + of->sample_count;
	int rc = 0;

	*runs = (struct sample_runs){0};
	if (!(of->sampled & 1u << SAMPLED_sm_cycles))
		return 0;
	for (size_t i = of->first_sample; i < end && rc == 0; i = finder.end) {
		finder.first = i;
		finder.end = i + 1;
		while (finder.end < end &&
		       finder.samples[finder.end].start_ns -
				       sample_end_ns(&finder.samples[finder.end - 1]) <
			       (int64_t)finder.samples[finder.end].length_ns / 2)
			finder.end++;
		rc = find_in_stretch(&finder);
	}
	return rc;
}

void sample_runs_free(struct sample_runs *runs)
{
	free(runs->items);
	*runs = (struct sample_runs){0};
}
