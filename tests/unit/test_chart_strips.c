/* test_chart_strips.c - which samples a timeline shows, at which scale, and what it says of holes. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "charts/timelines/chart_rows.h"
#include "charts/charts.h"
#include "base/temporary.h"
#include "charts/gnuplot.h"
#include "profile_builder.h"

#define ROLE(role) (UINT32_C(1) << SAMPLED_##role)

/* Two devices with a kernel each from 1000 to 9000 ns, and samples of 1000 ns. */
struct sampled {
	struct builder *builder;
	struct profile_sample samples[16];
	struct profile_sampled_span spans[4];
	struct burst bursts[2];
	struct device_work work; /* nothing, unless a test says what */
	struct report report;
	char folder[PATH_MAX];
};

static struct sampled *sampled_new(uint32_t roles)
{
	struct sampled *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->builder = builder_new(1, 2);
	for (uint32_t device = 0; device < 2; device++) {
		builder_kernel(s->builder, device, "k", 1000, 9000, PROFILE_NONE);
		s->builder->devices[device].sampled = roles;
	}
	s->builder->profile.samples = s->samples;
	s->builder->profile.sampled_spans = s->spans;
	return s;
}

/* The next sample of a device; devices in order. */
static struct profile_sample *add_sample(struct sampled *s, uint32_t device, int64_t start_ns)
{
	struct profile_device *info = &s->builder->devices[device];
	size_t i = s->builder->profile.sample_count++;

	assert_in_range(i, 0, 15);
	if (!info->sample_count++)
		info->first_sample = i;
	s->samples[i] = (struct profile_sample){.start_ns = start_ns,
						.length_ns = 1000,
						.device = device,
						.sample_count = 1};
	return &s->samples[i];
}

static void add_span(struct sampled *s, uint32_t device, int64_t start_ns, int64_t end_ns)
{
	struct profile_device *info = &s->builder->devices[device];
	size_t i = s->builder->profile.sampled_span_count++;

	assert_in_range(i, 0, 3);
	if (!info->span_count++)
		info->first_span = i;
	s->spans[i] = (struct profile_sampled_span){device, start_ns, end_ns, 1000};
}

static void sampled_free(struct sampled *s)
{
	temporary_remove(s->folder);
	timeline_free(s->report.timeline);
	statistics_free(s->report.statistics);
	gaps_free(s->report.gaps);
	free(s->builder);
	free(s);
}

static void draw(struct sampled *s, const struct chart_options *options)
{
	s->report.profile = &s->builder->profile;
	s->report.device_work = &s->work;
	builder_finish(s->builder);
	assert_int_equal(timeline_build(&s->report.timeline, s->report.profile, NULL), 0);
	assert_int_equal(statistics_collect(&s->report.statistics, s->report.profile, NULL, NULL),
			 0);
	assert_int_equal(gaps_analyze(&s->report.gaps, s->report.profile, s->report.timeline, 0,
				      NULL),
			 0);
	assert_int_equal(temporary_make_work_folder(s->folder, sizeof(s->folder), NULL), 0);
	assert_int_equal(chart_timeline(&s->report, options, s->folder, NULL), 0);
}

/* Whether a file of the drawing has that text. */
static void expect(const struct sampled *s, const char *name, const char *expected)
{
	static char text[65536];
	char path[PATH_MAX + 16];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	if (!strstr(text, expected))
		fail_msg("no '%s' in %s:\n%s", expected, name, text);
}

static const struct chart_options picture = {.to_ns = -1};

static void only_what_was_sampled_has_a_strip_and_links_stand_under_the_copies(void **state)
{
	static const struct {
		enum chart_row_kind kind;
		enum chart_strip_kind strip;
	} expected[] = {{ROW_STREAM, 0},
			{ROW_BURSTS, 0},
			{ROW_STRIP, STRIP_SM},
			{ROW_STRIP, STRIP_DRAM},
			{ROW_COPIES, 0},
			{ROW_STRIP, STRIP_PCIE_IN},
			{ROW_STRIP, STRIP_PCIE_OUT},
			{ROW_GAPS, 0},
			{ROW_STREAM, 0},
			{ROW_GAPS, 0}};
	const struct chart_window all_time = {INT64_MIN, INT64_MAX};
	const bool has_bursts[] = {true, false};
	struct sampled *s = sampled_new(ROLE(sm_cycles) | ROLE(compute_cycles) |
					ROLE(dram_read_bytes) | ROLE(dram_write_bytes) |
					ROLE(pcie_read_bytes) | ROLE(pcie_write_bytes));
	struct chart_rows rows;

	(void)state;
	builder_copy(s->builder, 0, (struct profile_copy){.kind = 1}, 9000, 9100, PROFILE_NONE);
	add_sample(s, 0, 1000);
	builder_finish(s->builder);
	assert_int_equal(chart_rows_choose(&rows, &s->builder->profile, all_time, has_bursts), 0);
	assert_int_equal(rows.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < rows.count; i++) {
		assert_int_equal(rows.rows[i].kind, expected[i].kind);
		assert_int_equal(rows.rows[i].strip, expected[i].strip);
	}
	assert_string_equal(rows.rows[3].label, "GPU 0 DRAM");
	chart_rows_free(&rows);
	sampled_free(s);
}

static void activity_of_the_front_end_is_shown_where_that_of_the_sms_is_not_known(void **state)
{
	struct sampled *s = sampled_new(ROLE(compute_cycles));

	(void)state;
	add_sample(s, 1, 1000);
	assert_true(chart_strip_is_sampled(&s->builder->devices[1], STRIP_GPU));
	assert_false(chart_strip_is_sampled(&s->builder->devices[0], STRIP_GPU)); /* no sample */
	s->builder->devices[1].sampled |= ROLE(sm_cycles);
	assert_false(chart_strip_is_sampled(&s->builder->devices[1], STRIP_GPU));
	sampled_free(s);
}

static void devices_share_the_scale_of_what_has_no_peak(void **state)
{
	struct sampled *s = sampled_new(ROLE(pcie_read_bytes) | ROLE(pcie_write_bytes));
	struct chart_strip_scales scales;
	char text[64];

	(void)state;
	add_sample(s, 0, 1000)->pcie_read_bytes = 20000;
	add_sample(s, 0, 5000)->pcie_read_bytes = 90000; /* outside the window */
	add_sample(s, 1, 1000)->pcie_write_bytes = 30000;
	assert_int_equal(chart_strip_measure(&scales, &s->builder->profile, NULL, 1000, 4000), 0);
	assert_string_equal(chart_strip_full(&scales, STRIP_PCIE_IN).text, "30.0 GB/s");
	assert_string_equal(chart_strip_full(&scales, STRIP_PCIE_OUT).text, "30.0 GB/s");
	chart_strip_describe(text, sizeof(text), &scales, STRIP_PCIE_IN);
	assert_string_equal(text, "up to 30.0 GB/s");
	chart_strip_describe(text, sizeof(text), &scales, STRIP_NVLINK_IN);
	assert_string_equal(text, "none");
	sampled_free(s);
}

static void what_sampling_itself_writes_over_pcie_is_not_shown(void **state)
{
	struct sm_activity_device device = {.pcie_own_bytes = 4000, .sampled_ns = 2000};
	const struct sm_activity activity = {.devices = &device, .device_count = 1};
	struct sampled *s = sampled_new(ROLE(pcie_read_bytes) | ROLE(pcie_write_bytes));
	struct chart_strip_scales scales;
	struct strip strip;

	(void)state;
	add_sample(s, 0, 1000)->pcie_write_bytes =
		30000; /* in 1 us, of which sampling writes 2000 */
	add_sample(s, 0, 2000)->pcie_write_bytes = 1500;
	s->samples[1].pcie_read_bytes = 1500;
	assert_int_equal(chart_strip_measure(&scales, &s->builder->profile, &activity, 1000, 3000),
			 0);
	assert_string_equal(chart_strip_full(&scales, STRIP_PCIE_OUT).text, "28.0 GB/s");
	assert_int_equal(chart_strip_measure(&scales, &s->builder->profile, &activity, 2000, 3000),
			 0);
	assert_string_equal(chart_strip_full(&scales, STRIP_PCIE_OUT).text,
			    "2.00 GB/s"); /* not less */
	assert_int_equal(strip_open(&strip, 1000, 3000, 2), 0);
	assert_int_equal(chart_strip_fill(&strip, &s->builder->profile, &scales, 0, STRIP_PCIE_OUT),
			 0);
	assert_float_equal(strip_mean(&strip.columns[0]), 28e9, 1);
	assert_float_equal(strip.columns[0].most, 28e9, 1);
	assert_float_equal(strip_mean(&strip.columns[1]), 0, 0);
	strip_close(&strip);
	assert_int_equal(strip_open(&strip, 1000, 3000, 2), 0);
	assert_int_equal(chart_strip_fill(&strip, &s->builder->profile, &scales, 0, STRIP_PCIE_IN),
			 0);
	assert_float_equal(strip_mean(&strip.columns[1]), 1.5e9, 1); /* it reads nothing */
	strip_close(&strip);
	sampled_free(s);
}

static void dram_is_shown_as_a_share_of_what_the_memory_can_do(void **state)
{
	struct sampled *s = sampled_new(ROLE(dram_read_bytes) | ROLE(dram_write_bytes));
	struct chart_strip_scales scales;
	char text[64];

	(void)state;
	add_sample(s, 0, 1000)->dram_read_bytes = 1000000;
	s->samples[0].dram_write_bytes = 500000;
	assert_int_equal(chart_strip_measure(&scales, &s->builder->profile, NULL, 0, 9000), 0);
	chart_strip_describe(text, sizeof(text), &scales, STRIP_DRAM);
	assert_string_equal(text, "up to 1.50 TB/s"); /* nobody knows the peak */
	s->builder->devices[0].memory_byte_per_s = UINT64_C(4800000000000);
	assert_int_equal(chart_strip_measure(&scales, &s->builder->profile, NULL, 0, 9000), 0);
	chart_strip_describe(text, sizeof(text), &scales, STRIP_DRAM);
	assert_string_equal(text, "of 4.80 TB/s");
	s->builder->devices[0].memory_byte_per_s = UINT64_C(1400000000000);
	assert_int_equal(chart_strip_measure(&scales, &s->builder->profile, NULL, 0, 9000), 0);
	chart_strip_describe(text, sizeof(text), &scales, STRIP_DRAM);
	assert_string_equal(text, "up to 1.50 TB/s"); /* no strip leaves its row */
	sampled_free(s);
}

static void a_strip_has_its_samples_as_steps_and_its_parts_under_them(void **state)
{
	struct sampled *s = sampled_new(ROLE(sm_cycles) | ROLE(tensor_cycles));

	(void)state;
	add_sample(s, 0, 1000)->sm = 0.5f;
	s->samples[0].tensor = 0.25f;
	add_sample(s, 0, 2000)->sm = 1;
	add_sample(s, 0, 3000);
	add_span(s, 0, 1000, 4000);
	draw(s, &picture);
	/* the row reaches from 1 to 3, its strip from 2.9 up to 1.1; time in us from 1000 ns */
	expect(s, "areas.dat",
	       "# time\ty\n0\t2.9\t0\n0\t2\t0\n1\t2\t0\n1\t1.1\t0\n2\t1.1\t0\n"
	       "2\t2.9\t0\n3\t2.9\t0\n3\t2.9\t0\n");
	expect(s, "areas.dat", "# time\ty\n0\t2.9\t0\n0\t2.45\t0\n1\t2.45\t0\n1\t2.9\t0\n");
	expect(s, "unsampled.dat", "3\t8\t2.9\t1.1\n");
	expect(s, "rows.dat", "GPU 0 SM activity\t0 to 100%");
	expect(s, "timeline.gp", "'tensor cores active'");
	expect(s, "timeline.gp", "hatched: not sampled (62.5% of the time).");
	sampled_free(s);
}

static void in_characters_a_strip_is_a_row_of_blocks_with_its_scale_in_the_label(void **state)
{
	const struct chart_options options = {.to_ns = -1, .text_columns = 60};
	struct sampled *s = sampled_new(ROLE(sm_cycles));

	(void)state;
	for (int i = 0; i < 4; i++)
		add_sample(s, 0, 1000 + i * 1000)->sm = (float)i / 3;
	add_span(s, 0, 1000, 5000);
	draw(s, &options);
	expect(s, "rows.dat", "GPU 0 SM activity 100%");
	expect(s, "spans.dat", "\t1\t20\t█\n");
	expect(s, "spans.dat", "\t1\t8\t/\n");
	expect(s, "timeline.gp",
	       "▁ to █: mean, up to the figure beside it; /: not sampled (50.0% "
	       "of the time)");
	sampled_free(s);
}

static void a_recording_without_samples_says_nothing_of_them(void **state)
{
	struct sampled *s = sampled_new(0);

	(void)state;
	draw(s, &picture);
	expect(s, "timeline.gp", "strip_note = ''");
	expect(s, "timeline.gp", "area_count = 0");
	sampled_free(s);
}

static void bursts_of_a_device_have_a_row_under_its_streams(void **state)
{
	struct sampled *s = sampled_new(0);

	(void)state;
	s->bursts[0] = (struct burst){.device = 1, .start_ns = 2000, .end_ns = 3000};
	s->bursts[1] = (struct burst){.device = 1, .start_ns = 4000, .end_ns = 8000};
	s->work = (struct device_work){.bursts = s->bursts, .burst_count = 2};
	draw(s, &picture);
	expect(s, "rows.dat", "GPU 1 device-launched");
	/* the fourth row, after two of the other device and a stream; in us from 1000 ns */
	expect(s, "spans.dat", "1\t2\t3.9\t3.1\t17\t");
	expect(s, "spans.dat", "3\t7\t3.9\t3.1\t17\t");
	sampled_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			only_what_was_sampled_has_a_strip_and_links_stand_under_the_copies),
		cmocka_unit_test(
			activity_of_the_front_end_is_shown_where_that_of_the_sms_is_not_known),
		cmocka_unit_test(devices_share_the_scale_of_what_has_no_peak),
		cmocka_unit_test(what_sampling_itself_writes_over_pcie_is_not_shown),
		cmocka_unit_test(dram_is_shown_as_a_share_of_what_the_memory_can_do),
		cmocka_unit_test(a_strip_has_its_samples_as_steps_and_its_parts_under_them),
		cmocka_unit_test(
			in_characters_a_strip_is_a_row_of_blocks_with_its_scale_in_the_label),
		cmocka_unit_test(a_recording_without_samples_says_nothing_of_them),
		cmocka_unit_test(bursts_of_a_device_have_a_row_under_its_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
