#include "charts/chart_colors.h"

#include <stdlib.h>
#include <string.h>

#include "base/format.h"

/* Causes below this share of the idle time are not named in a title. */
#define NAMED_CAUSE_RATIO 0.03
#define LEGEND_NAME_LIMIT 34
#define LEGEND_NAME_SIZE (4 * LEGEND_NAME_LIMIT + 1) /* UTF-8 */

char chart_colour_letter(int colour)
{
	static const char letters[COLOUR_END] = {
		[COLOUR_KERNEL] = 'A',
		'B',
		'C',
		'D',
		'E',
		'F',
		'G',
		[COLOUR_OTHER_KERNEL] = 'X',
		[COLOUR_GRAPH] = '@',
		[COLOUR_HTOD] = '>',
		[COLOUR_DTOH] = '<',
		[COLOUR_DTOD] = '=',
		[COLOUR_OTHER_COPY] = '~',
		[COLOUR_MEMSET] = '0',
		[COLOUR_RANGE] = '-',
		'=',
		[COLOUR_BURST] = 'K',
		[COLOUR_ASIDE] = '.',
		[COLOUR_CAUSE + GAP_LAUNCH] = 'L',
		[COLOUR_CAUSE + GAP_SYNC] = 'S',
		[COLOUR_CAUSE + GAP_HOST] = 'H',
		[COLOUR_CAUSE + GAP_DECISION] = 'I', /* if */
		[COLOUR_CAUSE + GAP_COPY] = 'B',
		[COLOUR_CAUSE + GAP_STAGING] = 'T',
		[COLOUR_CAUSE + GAP_DEPENDENCY] = 'W',
		[COLOUR_CAUSE + GAP_ALLOCATION] = 'M',
		[COLOUR_CAUSE + GAP_JIT] = 'J',
		[COLOUR_CAUSE + GAP_CAPTURE] = 'R',
		[COLOUR_CAUSE + GAP_INSTANTIATE] = 'N',
		[COLOUR_CAUSE + GAP_UPDATE] = 'U',
		[COLOUR_CAUSE + GAP_GRAPH] = 'G',
		[COLOUR_CAUSE + GAP_MODULE] = 'C',
		[COLOUR_CAUSE + GAP_DEVICE] = 'D',
		[COLOUR_CAUSE + GAP_PROFILER] = 'P',
		[COLOUR_CAUSE + GAP_UNKNOWN] = '?',
	};

	return letters[colour] ? letters[colour] : '#';
}

uint8_t *chart_kernel_colours(const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct statistics *statistics = report->statistics;
	uint8_t *colours = malloc(profile->kernel_name_count + 1);

	if (!colours)
		return NULL;
	memset(colours, COLOUR_OTHER_KERNEL, profile->kernel_name_count + 1);
	for (size_t i = 0; i < statistics->kernel_count && i < CHART_KERNEL_COLOURS; i++)
		for (size_t k = 0; k < profile->kernel_name_count; k++)
			if (!strcmp(profile->kernel_names[k], statistics->kernels[i].name))
				colours[k] = (uint8_t)(COLOUR_KERNEL + i);
	return colours;
}

unsigned chart_op_class(const struct profile *profile, const uint8_t *kernel_colours,
			const struct profile_op *op, const char **label)
{
	const struct profile_signature *signature;

	*label = NULL;
	if (op->kind == OP_GRAPH) {
		*label = "graph";
		return COLOUR_GRAPH - COLOUR_KERNEL;
	}
	if (op->kind != OP_KERNEL)
		return 0;
	signature = &profile->signatures[op->detail];
	*label = signature->name;
	return kernel_colours[signature->kernel] - COLOUR_KERNEL;
}

/* The cause with the largest share among those not yet told, or GAP_CAUSE_COUNT. */
static int largest_cause(const struct chart_idle *idle, const bool told[GAP_CAUSE_COUNT])
{
	int largest = GAP_CAUSE_COUNT;

	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		if (!told[i] && idle->by_cause_ns[i] > 0 &&
		    (largest == GAP_CAUSE_COUNT ||
		     idle->by_cause_ns[i] > idle->by_cause_ns[largest]))
			largest = i;
	return largest;
}

void chart_describe_causes(char *text, size_t size, const struct chart_idle *idle)
{
	bool told[GAP_CAUSE_COUNT] = {false};
	size_t length = 0;
	int cause;

	text[0] = '\0';
	while ((cause = largest_cause(idle, told)) < GAP_CAUSE_COUNT) {
		double part = (double)idle->by_cause_ns[cause], whole = (double)idle->idle_ns;
		char entry[96];
		int entry_length = snprintf(entry, sizeof(entry), "%s%s %s", length ? ", " : "",
					    gap_cause_title((enum gap_cause)cause),
					    format_percent(part, whole).text);

		if ((length > 0 && part < NAMED_CAUSE_RATIO * whole) ||
		    length + (size_t)entry_length >= size)
			break;
		told[cause] = true;
		memcpy(text + length, entry, (size_t)entry_length + 1);
		length += (size_t)entry_length;
	}
}

void chart_begin_legend(struct chart_file *file, int title_count)
{
	int size = COLOUR_END + title_count;

	fprintf(file->stream,
		"array legend_text[%d]\narray legend_colour[%d]\narray legend_letter[%d]\n", size,
		size, size);
}

void chart_set_legend(struct chart_file *file, int number, int colour, const char *text)
{
	char name[64];

	snprintf(name, sizeof(name), "legend_text[%d]", number);
	chart_set_text(file, name, text);
	snprintf(name, sizeof(name), "legend_colour[%d]", number);
	chart_set_number(file, name, colour);
	if (!colour)
		return;
	snprintf(name, sizeof(name), "legend_letter[%d]", number);
	chart_set_text(file, name, (char[]){chart_colour_letter(colour), '\0'});
}

int chart_set_cause_legend(struct chart_file *file, int first, const struct chart_idle *idle)
{
	int number = first;

	for (int i = 0; i < GAP_CAUSE_COUNT; i++)
		if (idle->by_cause_ns[i] > 0)
			chart_set_legend(file, number++, COLOUR_CAUSE + i, gap_cause_title(i));
	return number;
}

int chart_set_kernel_legend(struct chart_file *file, int first, const struct statistics *statistics,
			    const bool colours_seen[COLOUR_END])
{
	char name[LEGEND_NAME_SIZE];
	int number = first + 1;

	chart_set_legend(file, first, 0, "kernels");
	for (int i = 0; i < CHART_KERNEL_COLOURS; i++) {
		if (!colours_seen[COLOUR_KERNEL + i])
			continue;
		format_kernel_name(name, sizeof(name), statistics->kernels[i].name,
				   LEGEND_NAME_LIMIT);
		chart_set_legend(file, number++, COLOUR_KERNEL + i, name);
	}
	if (colours_seen[COLOUR_OTHER_KERNEL])
		chart_set_legend(file, number++, COLOUR_OTHER_KERNEL, "other kernels");
	if (colours_seen[COLOUR_GRAPH])
		chart_set_legend(file, number++, COLOUR_GRAPH, "graph launch");
	return number > first + 1 ? number
				  : first; /* the title is taken back where nothing follows it */
}
