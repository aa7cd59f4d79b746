#include "analysis/samples/sample_runs.h"

#include "trace/samples.h"

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
	struct sample_cursor cursor;
	size_t first, end; /* of the samples that follow each other without a hole */
	double sm_count;
	sample_run_each each;
	void *context;
	uint64_t single_block_count;
	size_t free;	 /* behind the last run */
	double peak_sms; /* of the run that is open */
};

static const struct profile_sample *at(struct finder *finder, size_t i)
{
	return sample_at(&finder->cursor, i);
}

static double sms(struct finder *finder, size_t i)
{
	return at(finder, i)->sm * finder->sm_count;
}

/* Kernels of one block that began in sample i, as far as samples show: as many blocks as kernels, which
 * may be counted one sample earlier.  A few blocks and no kernel are the device runtime's own. */
static double launchers_in(struct finder *finder, size_t i)
{
	double kernels = (double)at(finder, i)->dispatches;
	double blocks = (double)at(finder, i)->blocks;

	if (i > finder->first)
		kernels += (double)at(finder, i - 1)->dispatches;
	return blocks <= (kernels > 0 ? kernels : LAUNCHERS_MAX) ? blocks : 0;
}

/* The level that launching alone may reach in sample last, from what began since sample first. */
static double level_of_launchers(struct finder *finder, size_t first, size_t last)
{
	double count = 0;

	first = first > finder->first + LAUNCHER_SAMPLES ? first - LAUNCHER_SAMPLES : finder->first;
	for (size_t i = first; i <= last; i++)
		count += launchers_in(finder, i);
	count = count < 1 ? 1 : count > LAUNCHERS_MAX ? LAUNCHERS_MAX : count;
	return RUN_SMS + count;
}

/* The part of sample i that is as active as its neighbor, which is all active. */
static double part_of(struct finder *finder, size_t i, size_t neighbor)
{
	double whole = sms(finder, neighbor), part = sms(finder, i);

	return whole > part ? part / whole : 1;
}

static int64_t find_start_ns(struct finder *finder, size_t i)
{
	const struct profile_sample *sample = at(finder, i);
	double part = i + 1 < finder->end ? part_of(finder, i, i + 1) : 1;

	return sample_end_ns(sample) - (int64_t)(part * (double)sample->length_ns);
}

/* last is the last sample of the run. */
static int64_t find_end_ns(struct finder *finder, size_t first, size_t last)
{
	const struct profile_sample *sample = at(finder, last);
	double part = last > first ? part_of(finder, last, last - 1) : 1;

	return sample->start_ns + (int64_t)(part * (double)sample->length_ns);
}

static void add_samples(struct finder *finder, struct sample_run *run)
{
	for (size_t i = run->first; i <= run->last; i++) {
		const struct profile_sample *sample = at(finder, i);

		run->dispatch_count += (uint64_t)sample->dispatches;
		run->block_count += (uint64_t)sample->blocks;
		run->dram_bytes +=
			(double)sample->dram_read_bytes + (double)sample->dram_write_bytes;
	}
}

static int add_run(struct finder *finder, size_t first, size_t last)
{
	struct sample_run run = {
		.start_ns = find_start_ns(finder, first),
		.end_ns = find_end_ns(finder, first, last),
		.first = first,
		.last = last,
		.first_length_ns = at(finder, first)->length_ns,
	};

	if (run.end_ns <= run.start_ns) /* shorter than a sample */
		run.end_ns = sample_end_ns(at(finder, last));
	add_samples(finder, &run);
	return finder->each(&run, finder->context);
}

/* Blocks are counted when they are launched: in the sample before, when it is so close to its end that
 * no SM shows them yet. */
static size_t with_its_launch(struct finder *finder, size_t i)
{
	bool is_launched_before = i > finder->free && at(finder, i - 1)->blocks >= 2;

	return is_launched_before ? i - 1 : i;
}

/* Whether a kernel that was launched in sample i, inside a run, began where another had ended. */
static bool is_new_kernel(struct finder *finder, size_t first, size_t i)
{
	double dip = sms(finder, i), after;

	if (at(finder, i)->blocks < 2 || i <= first + 1)
		return false;
	if (sms(finder, i - 1) < dip)
		dip = sms(finder, i - 1);
	after = i + 1 < finder->end ? sms(finder, i + 1) : 0;
	if (sms(finder, i) > after)
		after = sms(finder, i);
	return dip < DIP_PART * finder->peak_sms && dip < DIP_PART * after;
}

/* A run that begins with sample first, up to finder->free.  Returns what each() did. */
static int read_run(struct finder *finder, size_t first)
{
	double launchers = level_of_launchers(finder, first, first);
	size_t i = first, launch = with_its_launch(finder, first);

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
	finder->free = i;
	return add_run(finder, launch, i - 1);
}

/* Work of more than one block was launched in sample i, or just before or after, and not for the run
 * before. */
static bool is_launched_near(struct finder *finder, size_t i)
{
	size_t from = i > finder->free + 2 ? i - 2 : finder->free;

	for (size_t k = from; k <= i + 1 && k < finder->end; k++)
		if ((double)at(finder, k)->blocks > launchers_in(finder, k))
			return true;
	return false;
}

/* Runs among samples without a hole. */
static int find_in_stretch(struct finder *finder)
{
	int rc = 0;

	finder->free = finder->first;
	for (size_t i = finder->first; i < finder->end && rc == 0;) {
		if (sms(finder, i) > level_of_launchers(finder, i, i) &&
		    is_launched_near(finder, i)) {
			rc = read_run(finder, i);
			i = finder->free;
			continue;
		}
		if (at(finder, i)->blocks < 2)
			finder->single_block_count += (uint64_t)at(finder, i)->dispatches;
		i++;
	}
	return rc;
}

/* Whether sample i begins where the one before it ends, as far as it matters. */
static bool goes_on(struct finder *finder, size_t i)
{
	int64_t end_ns = sample_end_ns(at(finder, i - 1));

	return at(finder, i)->start_ns - end_ns < (int64_t)at(finder, i)->length_ns / 2;
}

int sample_runs_find(const struct profile *profile, uint32_t device, sample_run_each each,
		     void *context, uint64_t *single_block_count)
{
	const struct profile_device *of = &profile->devices[device];
	struct finder finder = {.cursor = sample_cursor_open(profile),
				.sm_count = of->sm_count,
				.each = each,
				.context = context};
	size_t end = of->first_sample + of->sample_count;
	int rc = 0, cursor_rc;

	*single_block_count = 0;
	if (!(of->sampled & 1u << SAMPLED_sm_cycles))
		return 0;
	for (size_t i = of->first_sample; i < end && rc == 0; i = finder.end) {
		finder.first = i;
		finder.end = i + 1;
		while (finder.end < end && goes_on(&finder, finder.end))
			finder.end++;
		rc = find_in_stretch(&finder);
	}
	*single_block_count = finder.single_block_count;
	cursor_rc = sample_cursor_close(&finder.cursor);
	return rc < 0 ? rc : cursor_rc;
}
