/* names.c - names of kernels, a line each. */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/library_kernel.h"
#include "base/format.h"
#include "trace/api_class.h"
#include "trace/kernel_name.h"

static struct demangler demangler;

static void try(const char *name)
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
	free(demangled);
}

void fuzz_names(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *line;

	memcpy(text, bytes, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")))
		try(line);
	free(text);
	demangler_close(&demangler);
}
