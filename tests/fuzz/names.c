/* names.c - names of kernels, a line each. */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "base/names/kernel_labels.h"
#include "trace/api_class.h"
#include "trace/kernel_name.h"

static struct demangler demangler;

#define NAMES_MOST 4096

struct names {
	char *items[NAMES_MOST]; /* demangled */
	size_t count;
};

static void try(struct names *names, const char *name)
{
	char *demangled = kernel_name_demangle(&demangler, name);
	char shown[512];

	if (!demangled)
		abort();
	for (int width = 1; width <= 81; width += 20)
		format_text(shown, sizeof(shown), demangled, (size_t)width);
	(void)library_kernel_of(demangled);
	(void)library_kernel_is_elementwise(demangled);
	(void)library_kernel_is_reduction(demangled);
	(void)api_class(name);
	if (names->count < NAMES_MOST)
		names->items[names->count++] = demangled;
	else
		free(demangled);
}

/* No two kernels are called the same. */
static void label(struct names *names)
{
	struct kernel_labels *labels =
		kernel_labels_create((const char *const *)names->items, names->count);

	if (!labels)
		abort();
	for (size_t i = 1; i < names->count; i++)
		for (int width = 0; width < LABEL_COUNT; width++)
			if (strcmp(names->items[0], names->items[i]) != 0 &&
			    !strcmp(kernel_label(labels, names->items[0], (enum kernel_label)width),
				    kernel_label(labels, names->items[i],
						 (enum kernel_label)width)))
				abort();
	kernel_labels_free(labels);
}

void fuzz_names(const uint8_t *bytes, size_t size)
{
	struct names names = {.count = 0};
	char *text = malloc(size + 1), *rest = text, *line;

	memcpy(text, bytes, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")))
		try(&names, line);
	label(&names);
	while (names.count)
		free(names.items[--names.count]);
	free(text);
	demangler_close(&demangler);
}
