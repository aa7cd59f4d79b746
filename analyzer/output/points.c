#include "output/points.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum point_kind point_kind(const struct report *report, const struct roofline_point *point)
{
	const struct roofline *roofline = report->roofline;

	if (point == &roofline->application)
		return POINT_APPLICATION;
	return *point->name || (point >= roofline->kernels &&
				point < roofline->kernels + roofline->kernel_count)
		       ? POINT_KERNEL
		       : POINT_GRAPH;
}

const char *point_kind_key(enum point_kind kind)
{
	static const char *const keys[] = {"application", "kernel", "graph"};

	return keys[kind];
}

const struct profile_counted_graph *point_graph(const struct report *report,
						const struct roofline_point *point)
{
	return &report->profile->counted_graphs[point->subject];
}

void point_name(char *buffer, size_t size, const struct report *report,
		const struct roofline_point *point)
{
	const struct profile_counted_graph *graph;

	switch (point_kind(report, point)) {
	case POINT_KERNEL:
		snprintf(buffer, size, "%s", point->name);
		return;
	case POINT_GRAPH:
		graph = point_graph(report, point);
		snprintf(buffer, size, "graph %" PRIu32 "%s%s", graph->graph,
			 report->profile->process_count > 1 ? " of " : "",
			 report->profile->process_count > 1
				 ? report->profile->processes[graph->process].folder
				 : "");
		return;
	default:
		snprintf(buffer, size, "application");
	}
}

void point_label(char buffer[POINT_LABEL_SIZE], const struct report *report,
		 const struct roofline_point *point, enum kernel_label width)
{
	char whole[4096];

	point_name(whole, sizeof(whole), report, point);
	if (point_kind(report, point) == POINT_KERNEL)
		snprintf(buffer, POINT_LABEL_SIZE, "%s",
			 kernel_label(report->profile->kernel_labels, point->name, width));
	else
		format_text(buffer, POINT_LABEL_SIZE, whole, kernel_label_columns(width));
}

const struct roofline_point *point_at(const struct report *report, size_t index)
{
	const struct roofline *roofline = report->roofline;

	if (index == 0)
		return &roofline->application;
	index--;
	if (index < roofline->kernel_count)
		return &roofline->kernels[index];
	index -= roofline->kernel_count;
	return index < roofline->graph_count ? &roofline->graphs[index] : NULL;
}

struct figure point_rate(enum roofline_roof roof, double per_s)
{
	if (roof < ROOF_MEMORY_END)
		return format_rate(per_s);
	return format_per_s(per_s, roof == ROOF_atomic_unit   ? "/s"
				   : roof == ROOF_tensor_int8 ? "OP/s"
							      : "FLOP/s");
}

struct figure point_amount(enum roofline_roof roof, double amount)
{
	if (roof < ROOF_MEMORY_END)
		return format_bytes(amount);
	return format_per_s(amount, roof == ROOF_atomic_unit   ? ""
				    : roof == ROOF_tensor_int8 ? "OP"
							       : "FLOP");
}

struct figure point_intensity(double flop_per_byte)
{
	struct figure figure = {"-"};

	if (flop_per_byte > 0)
		snprintf(figure.text, sizeof(figure.text), "%.*f",
			 flop_per_byte < 9.995	 ? 2
			 : flop_per_byte < 99.95 ? 1
						 : 0,
			 flop_per_byte);
	if (flop_per_byte > 0 && flop_per_byte < 0.0995)
		snprintf(figure.text, sizeof(figure.text), "%.2g", flop_per_byte);
	return figure;
}

struct figure point_samples(uint64_t least, uint64_t most)
{
	struct figure figure;

	if (least == most)
		snprintf(figure.text, sizeof(figure.text), "%" PRIu64, least);
	else
		snprintf(figure.text, sizeof(figure.text), "%" PRIu64 "-%" PRIu64, least, most);
	return figure;
}

struct figure point_count(double count)
{
	struct figure figure;

	if (count >= 999999.5)
		return format_per_s(count, "");
	figure = format_count((uint64_t)(count + 0.5));
	if (count > 0 && count < 9.995 && count != (double)(uint64_t)count)
		snprintf(figure.text, sizeof(figure.text), "%.2f", count);
	return figure;
}
