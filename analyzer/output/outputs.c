#include "output/outputs.h"

#include <string.h>

#define OUTPUT_ROW(name, summary) {#name, output_##name},
static const struct {
	const char *name;
	output_function function;
} outputs[] = {OUTPUTS(OUTPUT_ROW)};
#undef OUTPUT_ROW

#define SECTION_NAME(name, title) #name,
static const char *const section_names[] = {SECTIONS(SECTION_NAME)};
#undef SECTION_NAME

output_function output_find(const char *name)
{
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (!strcmp(name, outputs[i].name))
			return outputs[i].function;
	return NULL;
}

int output_find_section(const char *name)
{
	for (int i = 0; i < SECTION_COUNT; i++)
		if (!strcmp(name, section_names[i]))
			return i;
	return -1;
}

bool output_wants_section(const struct output_options *options, int section)
{
	return options->section < 0 || options->section == section ||
	       (options->is_advice_only && section == SECTION_rejected);
}
