#include "html/html_samples.h"

#include <errno.h>

#include "charts/timelines/chart_strips.h"

#define SAMPLE_COLUMNS 32768

static unsigned byte_of(double value, double full)
{
	double share = full > 0 ? value / full : 0;

	return share >= 1 ? 255 : share <= 0 ? 0 : (unsigned)(255 * share + 0.5);
}

static unsigned sampled_byte(const struct strip *strip, int column)
{
	int64_t length_ns = strip_edge(strip, column + 1) - strip_edge(strip, column);

	return byte_of((double)strip->columns[column].sampled_ns, (double)length_ns);
}

static int put_columns(struct html_bytes *to, const struct strip *strip, double full)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < strip->column_count; i++)
		rc = html_put_byte(to, sampled_byte(strip, i));
	for (int i = 0; rc == 0 && i < strip->column_count; i++)
		rc = html_put_byte(to, byte_of(strip_mean(&strip->columns[i]), full));
	for (int i = 0; rc == 0 && i < strip->column_count; i++)
		rc = html_put_byte(to, byte_of(strip_part(&strip->columns[i]), full));
	for (int i = 0; rc == 0 && i < strip->column_count; i++)
		rc = html_put_byte(to, byte_of(strip->columns[i].most, full));
	return rc;
}

static void describe(const struct html_names *names, json_t *object,
		     const struct chart_strip_scales *scales, const struct profile_device *device,
		     enum chart_strip_kind kind, const char *name)
{
	const struct chart_strip_style *style = chart_strip_style(kind);
	char text[64];

	chart_strip_describe(text, sizeof(text), scales, kind);
	json_builder_put(names->json, object, "block", json_string(name));
	json_builder_put(names->json, object, "scale", html_text(text));
	json_builder_put(names->json, object, "full", json_real(scales->full[kind]));
	json_builder_put(names->json, object, "is_share",
			 json_boolean(kind == STRIP_GPU || kind == STRIP_SM));
	if (style->part && chart_strip_has_part(device, kind)) {
		json_builder_put(names->json, object, "part", json_string(style->part));
		json_builder_put(names->json, object, "rest", json_string(style->rest));
	}
}

int html_write_samples(const struct html_names *names, const struct html_row *row,
		       struct html_window window, int number, json_t *object, FILE *out)
{
	const struct report *report = names->report;
	const struct profile_device *device = &report->profile->devices[row->device];
	struct chart_strip_scales scales;
	struct html_bytes bytes = {0}, packed;
	struct strip strip;
	char name[16];
	int rc = strip_open(&strip, window.from_ns, window.to_ns, SAMPLE_COLUMNS);

	if (rc == 0)
		rc = chart_strip_measure(&scales, report->profile, report->sm_activity,
					 window.from_ns, window.to_ns);
	if (rc == 0)
		rc = chart_strip_fill(&strip, report->profile, &scales, row->device, row->strip);
	if (rc == 0)
		rc = put_columns(&bytes, &strip, scales.full[row->strip]);
	if (rc == 0)
		rc = html_compress(&packed, &bytes);
	if (rc == 0) {
		snprintf(name, sizeof(name), "s%d", number);
		describe(names, object, &scales, device, row->strip, name);
		json_builder_put(names->json, object, "columns", json_integer(strip.column_count));
		html_write_block(out, name, &packed);
		html_bytes_free(&packed);
	}
	html_bytes_free(&bytes);
	strip_close(&strip);
	return rc;
}
