#include "charts/timelines/chart_strips.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "charts/chart_colors.h"

#include "trace/samples.h"

#define ROLE(role) (UINT32_C(1) << SAMPLED_##role)
#define FIELD(name) offsetof(struct profile_sample, name)
#define NO_FIELD SIZE_MAX

/* SHARE: the value is one.  PEAK and LARGEST: bytes, of what the memory can do or of the largest. */
enum unit { SHARE, PEAK, LARGEST };

static const struct kind {
	struct chart_strip_style style;
	uint32_t roles, part_roles;
	size_t value, second, part; /* floats of struct profile_sample; value + second is shown */
	enum unit unit;
	enum chart_strip_kind scale; /* the kind that it shares its scale with, or itself */
} kinds[STRIP_KIND_COUNT] = {
	[STRIP_GPU] = {.style = {"GPU activity", NULL, NULL, COLOR_SM, COLOR_SM + 1, 2},
		       .roles = ROLE(compute_cycles),
		       .value = FIELD(compute),
		       .second = NO_FIELD,
		       .part = NO_FIELD,
		       .unit = SHARE,
		       .scale = STRIP_GPU},
	[STRIP_SM] = {.style = {"SM activity", "tensor cores active", "SMs active", COLOR_SM,
				COLOR_SM + 1, 2},
		      .roles = ROLE(sm_cycles),
		      .part_roles = ROLE(tensor_cycles),
		      .value = FIELD(sm),
		      .second = NO_FIELD,
		      .part = FIELD(tensor),
		      .unit = SHARE,
		      .scale = STRIP_SM},
	[STRIP_DRAM] = {.style = {"DRAM", "DRAM read", "DRAM written", COLOR_DRAM, COLOR_DRAM + 1,
				  2},
			.roles = ROLE(dram_read_bytes) | ROLE(dram_write_bytes),
			.part_roles = ROLE(dram_read_bytes) | ROLE(dram_write_bytes),
			.value = FIELD(dram_read_bytes),
			.second = FIELD(dram_write_bytes),
			.part = FIELD(dram_read_bytes),
			.unit = PEAK,
			.scale = STRIP_DRAM},
	[STRIP_L2] = {.style = {"L2", "L2 atomics", "other L2", COLOR_L2, COLOR_L2 + 1, 1.7},
		      .roles = ROLE(l2_sectors),
		      .part_roles = ROLE(atomic_sectors),
		      .value = FIELD(l2_bytes),
		      .second = NO_FIELD,
		      .part = FIELD(atomic_bytes),
		      .unit = LARGEST,
		      .scale = STRIP_L2},
	[STRIP_PCIE_IN] = {.style = {"PCIe in", NULL, NULL, COLOR_LINK, COLOR_LINK + 1, 1.7},
			   .roles = ROLE(pcie_read_bytes),
			   .value = FIELD(pcie_read_bytes),
			   .second = NO_FIELD,
			   .part = NO_FIELD,
			   .unit = LARGEST,
			   .scale = STRIP_PCIE_IN},
	[STRIP_PCIE_OUT] = {.style = {"PCIe out", NULL, NULL, COLOR_LINK, COLOR_LINK + 1, 1.7},
			    .roles = ROLE(pcie_write_bytes),
			    .value = FIELD(pcie_write_bytes),
			    .second = NO_FIELD,
			    .part = NO_FIELD,
			    .unit = LARGEST,
			    .scale = STRIP_PCIE_IN},
	[STRIP_NVLINK_IN] = {.style = {"NVLink in", NULL, NULL, COLOR_LINK, COLOR_LINK + 1, 1.7},
			     .roles = ROLE(nvlink_rx_bytes),
			     .value = FIELD(nvlink_rx_bytes),
			     .second = NO_FIELD,
			     .part = NO_FIELD,
			     .unit = LARGEST,
			     .scale = STRIP_NVLINK_IN},
	[STRIP_NVLINK_OUT] = {.style = {"NVLink out", NULL, NULL, COLOR_LINK, COLOR_LINK + 1, 1.7},
			      .roles = ROLE(nvlink_tx_bytes),
			      .value = FIELD(nvlink_tx_bytes),
			      .second = NO_FIELD,
			      .part = NO_FIELD,
			      .unit = LARGEST,
			      .scale = STRIP_NVLINK_IN},
};

const struct chart_strip_style *chart_strip_style(enum chart_strip_kind kind)
{
	return &kinds[kind].style;
}

bool chart_strip_is_sampled(const struct profile_device *device, enum chart_strip_kind kind)
{
	if (!device->sample_count || (kind == STRIP_GPU && device->sampled & ROLE(sm_cycles)))
		return false;
	return (device->sampled & kinds[kind].roles) == kinds[kind].roles;
}

bool chart_strip_has_part(const struct profile_device *device, enum chart_strip_kind kind)
{
	return kinds[kind].part != NO_FIELD &&
	       (device->sampled & kinds[kind].part_roles) == kinds[kind].part_roles;
}

/* ---- values of a sample ---- */
static double field(const struct profile_sample *sample, size_t offset)
{
	float value = 0;

	if (offset != NO_FIELD)
		memcpy(&value, (const char *)sample + offset, sizeof(value));
	return (double)value;
}

/* A share, or bytes in a second. */
static double rate(const struct kind *kind, const struct profile_sample *sample, double amount)
{
	return kind->unit == SHARE
		       ? amount
		       : amount * 1e9 / (double)(sample_end_ns(sample) - sample->start_ns);
}

double chart_strip_own_traffic(const struct chart_strip_scales *scales, uint32_t device)
{
	const struct sm_activity_device *of;

	if (!scales->activity || device >= scales->activity->device_count)
		return 0;
	of = &scales->activity->devices[device];
	return of->sampled_ns > 0 ? of->pcie_own_bytes * 1e9 / (double)of->sampled_ns : 0;
}

/* own: what sampling itself writes in a second */
static double value_of(const struct kind *kind, const struct profile_sample *sample, double own)
{
	double value = rate(kind, sample, field(sample, kind->value) + field(sample, kind->second));

	if (kind != &kinds[STRIP_PCIE_OUT])
		return value;
	return value > own ? value - own : 0;
}

/* The samples of a device that reach into a time, one after the other. */
struct walk {
	struct sample_cursor cursor;
	size_t next, end;
	int64_t to_ns;
};

static struct walk walk_open(const struct profile *profile, uint32_t device, int64_t from_ns,
			     int64_t to_ns)
{
	const struct profile_device *of = &profile->devices[device];
	struct walk walk = {sample_cursor_open(profile), 0, of->first_sample + of->sample_count,
			    to_ns};

	walk.next = sample_search(&walk.cursor, of, SAMPLE_ENDS_AFTER, from_ns);
	return walk;
}

/* NULL behind the last. */
static const struct profile_sample *walk_next(struct walk *walk)
{
	const struct profile_sample *sample =
		walk->next < walk->end ? sample_at(&walk->cursor, walk->next) : NULL;

	walk->next++;
	return sample && sample->start_ns < walk->to_ns ? sample : NULL;
}

/* ---- scales ---- */

/* Of all kinds that are no share; most[] of the others stays 0. */
static int find_largest(double *most, const struct chart_strip_scales *scales,
			const struct profile *profile, uint32_t device)
{
	struct walk walk = walk_open(profile, device, scales->from_ns, scales->to_ns);
	double own = chart_strip_own_traffic(scales, device);
	const struct profile_sample *sample;

	while ((sample = walk_next(&walk)))
		for (int kind = 0; kind < STRIP_KIND_COUNT; kind++) {
			double value =
				kinds[kind].unit == SHARE ? 0 : value_of(&kinds[kind], sample, own);

			most[kind] = value > most[kind] ? value : most[kind];
		}
	return sample_cursor_close(&walk.cursor);
}

/* value: the largest in the window */
static void measure_kind(struct chart_strip_scales *scales, const struct profile *profile,
			 uint32_t device, enum chart_strip_kind kind, double value)
{
	double *full = &scales->full[kinds[kind].scale];
	double peak = (double)profile->devices[device].memory_byte_per_s;

	if (kinds[kind].unit == SHARE) {
		*full = 1;
		return;
	}
	if (kind == STRIP_PCIE_OUT) /* how much sampling writes varies: that must not fill a row */
		value = fmax(value, chart_strip_own_traffic(scales, device));
	if (kinds[kind].unit == PEAK && peak > value)
		value = peak;
	if (value > *full) {
		*full = value;
		scales->is_peak[kind] = kinds[kind].unit == PEAK && value == peak;
	}
}

static int64_t sampled_time(const struct profile *profile, const struct profile_device *device,
			    int64_t from_ns, int64_t to_ns)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < device->span_count; i++) {
		const struct profile_sampled_span *span =
			&profile->sampled_spans[device->first_span + i];
		int64_t start_ns = span->start_ns > from_ns ? span->start_ns : from_ns;
		int64_t end_ns = span->end_ns < to_ns ? span->end_ns : to_ns;

		sum_ns += end_ns > start_ns ? end_ns - start_ns : 0;
	}
	return sum_ns;
}

static int measure_device(struct chart_strip_scales *scales, const struct profile *profile,
			  uint32_t device)
{
	double most[STRIP_KIND_COUNT] = {0};
	int rc = find_largest(most, scales, profile, device);

	for (int kind = 0; kind < STRIP_KIND_COUNT; kind++)
		if (chart_strip_is_sampled(&profile->devices[device], kind))
			measure_kind(scales, profile, device, kind, most[kind]);
	return rc;
}

int chart_strip_measure(struct chart_strip_scales *scales, const struct profile *profile,
			const struct sm_activity *activity, int64_t from_ns, int64_t to_ns)
{
	int rc = 0;

	memset(scales, 0, sizeof(*scales));
	scales->activity = activity;
	scales->from_ns = from_ns;
	scales->to_ns = to_ns;
	for (uint32_t i = 0; i < profile->device_count && rc == 0; i++) {
		const struct profile_device *device = &profile->devices[i];

		if (!device->sample_count)
			continue;
		rc = measure_device(scales, profile, i);
		scales->sampled_ns += sampled_time(profile, device, from_ns, to_ns);
		scales->window_ns += to_ns - from_ns;
	}
	for (int kind = 0; kind < STRIP_KIND_COUNT; kind++)
		scales->full[kind] = scales->full[kinds[kind].scale];
	return rc;
}

struct figure chart_strip_full(const struct chart_strip_scales *scales, enum chart_strip_kind kind)
{
	if (kinds[kind].unit == SHARE)
		return (struct figure){"100%"};
	return format_rate(scales->full[kind]);
}

void chart_strip_describe(char *text, size_t size, const struct chart_strip_scales *scales,
			  enum chart_strip_kind kind)
{
	if (scales->full[kind] <= 0)
		snprintf(text, size, "none");
	else
		snprintf(text, size, "%s %s",
			 kinds[kind].unit == SHARE ? "0 to"
			 : scales->is_peak[kind]   ? "of"
						   : "up to",
			 chart_strip_full(scales, kind).text);
}

/* ---- reduction ---- */
int chart_strip_fill(struct strip *strip, const struct profile *profile,
		     const struct chart_strip_scales *scales, uint32_t device,
		     enum chart_strip_kind kind)
{
	struct walk walk = walk_open(profile, device, strip->from_ns, strip->to_ns);
	double own = chart_strip_own_traffic(scales, device);
	bool has_part = chart_strip_has_part(&profile->devices[device], kind);
	const struct profile_sample *sample;

	while ((sample = walk_next(&walk))) {
		double part = has_part ? field(sample, kinds[kind].part) : 0;

		strip_add(strip, sample->start_ns, sample_end_ns(sample),
			  value_of(&kinds[kind], sample, own), rate(&kinds[kind], sample, part));
	}
	return sample_cursor_close(&walk.cursor);
}
