/*
 * chart_strips.h - which hardware samples a timeline shows, how they are scaled and reduced.
 *
 * A device has a strip for each row of the table in chart_strips.c whose metrics
 * were sampled.  Strips of one kind have one scale for all devices, so that they
 * can be compared.  It must not know how a strip is drawn.
 */
#ifndef ROOFLINE_CHART_STRIPS_H
#define ROOFLINE_CHART_STRIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/samples/sm_activity.h"
#include "base/format.h"
#include "charts/timelines/strip.h"
#include "trace/profile.h"

enum chart_strip_kind {
	STRIP_GPU, /* only where the SMs were not sampled */
	STRIP_SM,
	STRIP_DRAM,
	STRIP_L2,
	STRIP_PCIE_IN,
	STRIP_PCIE_OUT,
	STRIP_NVLINK_IN,
	STRIP_NVLINK_OUT,
	STRIP_KIND_COUNT
};

/* What a kind's values are called and where they go. */
struct chart_strip_style {
	const char *label;
	const char *part, *rest; /* of the legend; NULL: values have no parts */
	int part_color, rest_color;
	double height; /* in rows */
};

const struct chart_strip_style *chart_strip_style(enum chart_strip_kind kind);

bool chart_strip_is_sampled(const struct profile_device *device, enum chart_strip_kind kind);
bool chart_strip_has_part(const struct profile_device *device, enum chart_strip_kind kind);

/* What the full height of a strip stands for, by kind. */
struct chart_strip_scales {
	const struct sm_activity
		*activity; /* knows what sampling itself writes over PCIe; NULL: nobody does */
	int64_t from_ns, to_ns;
	double full[STRIP_KIND_COUNT];
	bool is_peak[STRIP_KIND_COUNT]; /* the hardware's, not the largest value in the window */
	int64_t sampled_ns, window_ns;	/* summed over the devices with samples */
};

/* activity: of the same profile, or NULL.  Returns 0, or what sample_cursor_close() does. */
int chart_strip_measure(struct chart_strip_scales *scales, const struct profile *profile,
			const struct sm_activity *activity, int64_t from_ns, int64_t to_ns);

/* Bytes a second that sampling itself writes over PCIe, which no strip shows; 0 where it is not known. */
double chart_strip_own_traffic(const struct chart_strip_scales *scales, uint32_t device);

/* "0 to 100%", "of 4.81 TB/s" for what the hardware can do, "up to 24.1 GB/s", "none" */
void chart_strip_describe(char *text, size_t size, const struct chart_strip_scales *scales,
			  enum chart_strip_kind kind);

/* "100%", "4.81 TB/s" */
struct figure chart_strip_full(const struct chart_strip_scales *scales, enum chart_strip_kind kind);

/* Adds a device's samples of that kind.  scales: measured for this profile.  Returns likewise. */
int chart_strip_fill(struct strip *strip, const struct profile *profile,
		     const struct chart_strip_scales *scales, uint32_t device,
		     enum chart_strip_kind kind);

#endif
