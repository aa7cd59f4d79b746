#include "analysis/counters/ceilings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every chip since Volta: 32 lanes of 4 bytes a clock and multiprocessor (CUDA C++ Programming
 * Guide, "Shared Memory" of each compute capability: 32 banks of 32 bits per clock). */
#define L1_BYTE_PER_CLOCK_AND_SM 128

/* ---- names ---- */

const struct ceiling_kind *ceiling_kind(enum ceiling_id id)
{
#define KIND_ROW(name, program, unit, parameter, meaning) \
	{#name, CEILING_PROGRAM_##program, unit, parameter, meaning},
	static const struct ceiling_kind kinds[] = {CEILINGS(KIND_ROW)};
#undef KIND_ROW
	return &kinds[id];
}

const struct ceiling_program_kind *ceiling_program_kind(enum ceiling_program program)
{
#define PROGRAM_ROW(name, what) {#name, what},
	static const struct ceiling_program_kind programs[] = {CEILING_PROGRAMS(PROGRAM_ROW)};
#undef PROGRAM_ROW
	return &programs[program];
}

int ceiling_find(const char *name)
{
	for (int i = 0; i < CEILING_COUNT; i++)
		if (!strcmp(ceiling_kind((enum ceiling_id)i)->name, name))
			return i;
	return -1;
}

int ceiling_program_find(const char *name)
{
	for (int i = 0; i < CEILING_PROGRAM_COUNT; i++)
		if (!strcmp(ceiling_program_kind((enum ceiling_program)i)->name, name))
			return i;
	return -1;
}

bool ceiling_parameter_fits(enum ceiling_id id, uint64_t parameter)
{
	return (ceiling_kind(id)->parameter[0] != '\0') == (parameter != 0);
}

/* ---- values ---- */

const struct ceiling *ceilings_get(const struct ceilings *ceilings, enum ceiling_id id,
				   uint64_t parameter)
{
	for (size_t i = 0; i < ceilings->count; i++)
		if (ceilings->rows[i].id == id && ceilings->rows[i].parameter == parameter)
			return &ceilings->rows[i];
	return NULL;
}

static double interpolate(const struct ceiling *below, const struct ceiling *above,
			  uint64_t parameter)
{
	double way = log((double)parameter / (double)below->parameter) /
		     log((double)above->parameter / (double)below->parameter);

	return below->value * pow(above->value / below->value, way);
}

double ceilings_at(const struct ceilings *ceilings, enum ceiling_id id, uint64_t parameter)
{
	const struct ceiling *below = NULL, *above = NULL;

	for (size_t i = 0; i < ceilings->count; i++) {
		const struct ceiling *row = &ceilings->rows[i];

		if (row->id != id)
			continue;
		if (row->parameter <= parameter && (!below || row->parameter > below->parameter))
			below = row;
		if (row->parameter >= parameter && (!above || row->parameter < above->parameter))
			above = row;
	}
	if (!below || !above)
		return below ? below->value : above ? above->value : 0;
	return below == above ? below->value : interpolate(below, above, parameter);
}

double ceilings_ns_at(const struct ceilings *ceilings, enum ceiling_id id, uint64_t bytes)
{
	double ns = ceilings_at(ceilings, id, bytes);
	uint64_t largest = 0;

	for (size_t i = 0; i < ceilings->count; i++)
		if (ceilings->rows[i].id == id && ceilings->rows[i].parameter > largest)
			largest = ceilings->rows[i].parameter;
	return largest && bytes > largest ? ns * ((double)bytes / (double)largest) : ns;
}

const struct ceiling *ceilings_dram(const struct ceilings *ceilings)
{
	static const enum ceiling_id modes[] = {CEILING_dram_read, CEILING_dram_write,
						CEILING_dram_copy, CEILING_dram_triad};
	const struct ceiling *best = NULL;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const struct ceiling *row = ceilings_get(ceilings, modes[i], 0);

		if (row && (!best || row->value > best->value))
			best = row;
	}
	return best;
}

double ceiling_spread(const struct ceiling *ceiling)
{
	return ceiling->value > 0 ? (ceiling->high - ceiling->low) / 2 / ceiling->value : 0;
}

double ceiling_share(const struct ceiling *ceiling, const struct datasheet *sheet)
{
	double promised = datasheet_value(sheet, ceiling->id);

	return promised > 0 ? ceiling->value / promised : 0;
}

static size_t doubt(struct ceiling_doubt *doubt, const struct ceiling *row,
		    const struct datasheet *sheet, double least_share)
{
	double share = row ? ceiling_share(row, sheet) : 0;

	if (share <= 0 || share >= least_share)
		return 0;
	*doubt = (struct ceiling_doubt){row, share, least_share};
	return 1;
}

size_t ceilings_doubts(struct ceiling_doubt doubts[CEILING_DOUBTS_MOST],
		       const struct ceilings *ceilings, const struct datasheet *sheet)
{
	/* A plain kernel without cleverness gets further than this; a naive sweep of FMAs was seen
	 * at 64% of FP32, and BF16 on random data stays at 78 to 81% because of power. */
	static const struct {
		enum ceiling_id id;
		double least_share;
	} limits[] = {
		{CEILING_fp64_fma, 0.80},
		{CEILING_fp32_fma, 0.80},
		{CEILING_tensor_bf16, 0.75},
	};
	size_t count = doubt(doubts, ceilings_dram(ceilings), sheet, 0.85);

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		count += doubt(&doubts[count], ceilings_get(ceilings, limits[i].id, 0), sheet,
			       limits[i].least_share);
	return count;
}

/* ---- building ---- */

int ceilings_add(struct ceilings *ceilings, const struct ceiling *row)
{
	struct ceiling *rows =
		reallocarray(ceilings->rows, ceilings->count + 1, sizeof(*ceilings->rows));

	if (!rows)
		return -ENOMEM;
	ceilings->rows = rows;
	rows[ceilings->count++] = *row;
	return 0;
}

int ceilings_add_skip(struct ceilings *ceilings, enum ceiling_id id, uint64_t parameter,
		      const char *reason)
{
	struct ceiling_skip *skips =
		reallocarray(ceilings->skips, ceilings->skip_count + 1, sizeof(*ceilings->skips));
	char *copy = strdup(reason);

	if (skips)
		ceilings->skips = skips;
	if (!skips || !copy) {
		free(copy);
		return -ENOMEM;
	}
	skips[ceilings->skip_count++] =
		(struct ceiling_skip){.id = id, .parameter = parameter, .reason = copy};
	return 0;
}

static int compare_places(enum ceiling_id a_id, uint64_t a_parameter, enum ceiling_id b_id,
			  uint64_t b_parameter)
{
	if (a_id != b_id)
		return a_id < b_id ? -1 : 1;
	return (a_parameter > b_parameter) - (a_parameter < b_parameter);
}

static int compare_rows(const void *left, const void *right)
{
	const struct ceiling *a = left, *b = right;

	return compare_places(a->id, a->parameter, b->id, b->parameter);
}

const struct ceiling *ceilings_sort(struct ceilings *ceilings)
{
	if (ceilings->count)
		qsort(ceilings->rows, ceilings->count, sizeof(*ceilings->rows), compare_rows);
	for (size_t i = 1; i < ceilings->count; i++)
		if (compare_rows(&ceilings->rows[i - 1], &ceilings->rows[i]) == 0)
			return &ceilings->rows[i];
	return NULL;
}

static int compare_samples(const void *left, const void *right)
{
	const struct ceiling_sample *a = left, *b = right;
	int order = compare_places(a->id, a->parameter, b->id, b->parameter);

	return order ? order : (a->value > b->value) - (a->value < b->value);
}

/* Linear between the two nearest of sorted samples, so that five have a 10th percentile, too. */
static double percentile(const struct ceiling_sample *samples, size_t count, double percent)
{
	double place = percent / 100 * (double)(count - 1);
	size_t below = (size_t)place;

	if (below + 1 >= count)
		return samples[count - 1].value;
	return samples[below].value +
	       (place - (double)below) * (samples[below + 1].value - samples[below].value);
}

/* The row of samples that are all of one id and parameter, sorted. */
static struct ceiling row_of(const struct ceiling_sample *samples, size_t count)
{
	struct ceiling row = {
		.id = samples[0].id,
		.parameter = samples[0].parameter,
		.value = percentile(samples, count, 50),
		.low = percentile(samples, count, 10),
		.high = percentile(samples, count, 90),
		.sample_count = (uint32_t)count,
		.sm_mhz_low = samples[0].sm_mhz,
		.sm_mhz_high = samples[0].sm_mhz,
	};

	for (size_t i = 1; i < count; i++) {
		row.sm_mhz_low = fmin(row.sm_mhz_low, samples[i].sm_mhz);
		row.sm_mhz_high = fmax(row.sm_mhz_high, samples[i].sm_mhz);
	}
	return row;
}

int ceilings_add_samples(struct ceilings *ceilings, struct ceiling_sample *samples, size_t count)
{
	size_t end;
	int rc = 0;

	if (count)
		qsort(samples, count, sizeof(*samples), compare_samples);
	for (size_t first = 0; first < count && rc == 0; first = end) {
		struct ceiling row;

		for (end = first + 1; end < count && samples[end].id == samples[first].id &&
				      samples[end].parameter == samples[first].parameter;
		     end++)
			;
		if (end - first < CEILING_LEAST_SAMPLES)
			continue;
		row = row_of(samples + first, end - first);
		rc = ceilings_add(ceilings, &row);
	}
	return rc;
}

static int add_promise(struct ceilings *ceilings, enum ceiling_id id, double value)
{
	struct ceiling row = {.id = id, .value = value, .low = value, .high = value};

	return value > 0 ? ceilings_add(ceilings, &row) : 0;
}

int ceilings_of_datasheet(struct ceilings **out, const char *gpu, uint32_t sm_count,
			  uint32_t sm_clock_khz)
{
	const struct datasheet *sheet = datasheet_find(gpu);
	struct ceilings *ceilings;
	int rc = 0;

	*out = NULL;
	if (!sheet)
		return 0;
	ceilings = calloc(1, sizeof(*ceilings));
	if (!ceilings)
		return -ENOMEM;
	ceilings->is_datasheet = true;
	ceilings->gpu = strdup(gpu);
	for (int i = 0; i < CEILING_COUNT && rc == 0; i++) {
		enum ceiling_id id = (enum ceiling_id)i;
		bool is_l1 = id == CEILING_l1_read || id == CEILING_shared_read;
		double l1_byte_per_s = 1e3 * sm_clock_khz * sm_count * L1_BYTE_PER_CLOCK_AND_SM;

		rc = add_promise(ceilings, id, is_l1 ? l1_byte_per_s : datasheet_value(sheet, id));
	}
	if (rc < 0 || !ceilings->gpu) {
		ceilings_free(ceilings);
		return -ENOMEM;
	}
	*out = ceilings;
	return 0;
}

void ceilings_free(struct ceilings *ceilings)
{
	if (!ceilings)
		return;
	for (size_t i = 0; i < ceilings->skip_count; i++)
		free(ceilings->skips[i].reason);
	free(ceilings->skips);
	free(ceilings->rows);
	free(ceilings->gpu);
	free(ceilings->driver);
	free(ceilings->cuda);
	free(ceilings->date);
	free(ceilings->command);
	free(ceilings->path);
	free(ceilings);
}
