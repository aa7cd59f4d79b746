#include "charts/chart_colors.h"

#include <stdlib.h>
#include <string.h>

#include "base/format.h"

/* Causes below this share of the idle time are not named in a title. */
#define NAMED_CAUSE_RATIO 0.03

char chart_color_letter(int color)
{
	static const char letters[COLOR_END] = {
		[COLOR_KERNEL] = 'A',
		'B',
		'C',
		'D',
		'E',
		'F',
		'G',
		[COLOR_OTHER_KERNEL] = 'X',
		[COLOR_GRAPH] = '@',
		[COLOR_HTOD] = '>',
		[COLOR_DTOH] = '<',
		[COLOR_DTOD] = '=',
		[COLOR_OTHER_COPY] = '~',
		[COLOR_MEMSET] = '0',
		[COLOR_RANGE] = '-',
		'=',
		[COLOR_BURST] = 'K',
		[COLOR_ASIDE] = '.',
		[COLOR_LINK] = 'N',
		'W',
		[COLOR_CAUSE + GAP_LAUNCH] = 'L',
		[COLOR_CAUSE + GAP_SYNC] = 'S',
		[COLOR_CAUSE + GAP_HOST] = 'H',
		[COLOR_CAUSE + GAP_DECISION] = 'I', /* if */
		[COLOR_CAUSE + GAP_COPY] = 'B',
		[COLOR_CAUSE + GAP_STAGING] = 'T',
		[COLOR_CAUSE + GAP_DEPENDENCY] = 'W',
		[COLOR_CAUSE + GAP_ALLOCATION] = 'M',
		[COLOR_CAUSE + GAP_MANAGED] = 'V', /* virtual */
		[COLOR_CAUSE + GAP_CREATION] = 'E',
		[COLOR_CAUSE + GAP_JIT] = 'J',
		[COLOR_CAUSE + GAP_CAPTURE] = 'R',
		[COLOR_CAUSE + GAP_INSTANTIATE] = 'N',
		[COLOR_CAUSE + GAP_UPDATE] = 'U',
		[COLOR_CAUSE + GAP_GRAPH] = 'G',
		[COLOR_CAUSE + GAP_MODULE] = 'C',
		[COLOR_CAUSE + GAP_DEVICE] = 'D',
		[COLOR_CAUSE + GAP_CHILDREN] = 'K',
		[COLOR_CAUSE + GAP_PROFILER] = 'P',
		[COLOR_CAUSE + GAP_UNKNOWN] = '?',
	};

	return letters[color] ? letters[color] : '#';
}

uint8_t *chart_kernel_colors(const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct statistics *statistics = report->statistics;
	uint8_t *colors = malloc(profile->kernel_name_count + 1);

	if (!colors)
		return NULL;
	memset(colors, COLOR_OTHER_KERNEL, profile->kernel_name_count + 1);
	for (size_t i = 0; i < statistics->kernel_count && i < CHART_KERNEL_COLORS; i++)
		for (size_t k = 0; k < profile->kernel_name_count; k++)
			if (!strcmp(profile->kernel_names[k], statistics->kernels[i].name))
				colors[k] = (uint8_t)(COLOR_KERNEL + i);
	return colors;
}

unsigned chart_op_class(const struct profile *profile, const uint8_t *kernel_colors,
			const struct profile_op *op, const char **label)
{
	const struct profile_signature *signature;

	*label = NULL;
	if (op->kind == OP_GRAPH) {
		*label = "graph";
		return COLOR_GRAPH - COLOR_KERNEL;
	}
	if (op->kind != OP_KERNEL)
		return 0;
	signature = &profile->signatures[op->detail];
	*label = signature->name;
	return kernel_colors[signature->kernel] - COLOR_KERNEL;
}

/* The cause with the largest share among those not yet listed, or GAP_CAUSE_COUNT. */
static int largest_cause(const struct chart_idle *idle, const bool listed[GAP_CAUSE_COUNT])
{
	int largest = GAP_CAUSE_COUNT;

	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		if (!listed[i] && idle->by_cause_ns[i] > 0 &&
		    (largest == GAP_CAUSE_COUNT ||
		     idle->by_cause_ns[i] > idle->by_cause_ns[largest]))
			largest = i;
	return largest;
}

void chart_describe_causes(char *text, size_t size, const struct chart_idle *idle)
{
	bool listed[GAP_CAUSE_COUNT] = {false};
	size_t length = 0;
	int cause;

	text[0] = '\0';
	while ((cause = largest_cause(idle, listed)) < GAP_CAUSE_COUNT) {
		double part = (double)idle->by_cause_ns[cause], whole = (double)idle->idle_ns;
		char entry[96];
		int entry_length = snprintf(entry, sizeof(entry), "%s%s %s", length ? ", " : "",
					    gap_cause_title((enum gap_cause)cause),
					    format_percent(part, (double)idle->wall_ns).text);

		if ((length > 0 && part < NAMED_CAUSE_RATIO * whole) ||
		    length + (size_t)entry_length >= size)
			break;
		listed[cause] = true;
		memcpy(text + length, entry, (size_t)entry_length + 1);
		length += (size_t)entry_length;
	}
}

void chart_describe_largest_cause(char *text, size_t size, const struct chart_idle *idle)
{
	bool listed[GAP_CAUSE_COUNT] = {[GAP_CHILDREN] = true};
	int cause = largest_cause(idle, listed);

	text[0] = '\0';
	if (cause < GAP_CAUSE_COUNT)
		snprintf(text, size, "largest cause %s, %s", gap_cause_title(cause),
			 format_percent((double)idle->by_cause_ns[cause], (double)idle->wall_ns)
				 .text);
}

void chart_begin_legend(struct chart_file *file, int title_count)
{
	int size = COLOR_END + title_count;

	fprintf(file->stream,
		"array legend_text[%d]\narray legend_color[%d]\narray legend_letter[%d]\n", size,
		size, size);
}

void chart_set_legend(struct chart_file *file, int number, int color, const char *text)
{
	char name[64];

	snprintf(name, sizeof(name), "legend_text[%d]", number);
	chart_set_text(file, name, text);
	snprintf(name, sizeof(name), "legend_color[%d]", number);
	chart_set_number(file, name, color);
	if (!color)
		return;
	snprintf(name, sizeof(name), "legend_letter[%d]", number);
	chart_set_text(file, name, (char[]){chart_color_letter(color), '\0'});
}

int chart_set_cause_legend(struct chart_file *file, int first, const struct chart_idle *idle,
			   const bool colors_seen[COLOR_END])
{
	bool listed[GAP_CAUSE_COUNT] = {false};
	int number = first, cause;

	while ((cause = largest_cause(idle, listed)) < GAP_CAUSE_COUNT) {
		listed[cause] = true;
		chart_set_legend(file, number++, COLOR_CAUSE + cause, gap_cause_title(cause));
	}
	for (cause = 0; colors_seen && cause < GAP_CAUSE_COUNT; cause++)
		if (!listed[cause] && colors_seen[COLOR_CAUSE + cause])
			chart_set_legend(file, number++, COLOR_CAUSE + cause,
					 gap_cause_title(cause));
	return number;
}

int chart_set_kernel_legend(struct chart_file *file, int first, const struct report *report,
			    const bool colors_seen[COLOR_END])
{
	int number = first + 1;

	chart_set_legend(file, first, 0, "kernels");
	for (int i = 0; i < CHART_KERNEL_COLORS; i++) {
		if (!colors_seen[COLOR_KERNEL + i])
			continue;
		chart_set_legend(file, number++, COLOR_KERNEL + i,
				 kernel_label(report->profile->kernel_labels,
					      report->statistics->kernels[i].name, LABEL_MEDIUM));
	}
	if (colors_seen[COLOR_OTHER_KERNEL])
		chart_set_legend(file, number++, COLOR_OTHER_KERNEL, "other kernels");
	if (colors_seen[COLOR_GRAPH])
		chart_set_legend(file, number++, COLOR_GRAPH, "graph launch");
	return number > first + 1 ? number
				  : first; /* the title is taken back where nothing follows it */
}
