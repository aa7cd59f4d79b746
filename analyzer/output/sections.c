#include "output/sections.h"

#include <string.h>

#include "output/outputs.h"

#define SECTION_ROW(name) &section_##name,
const struct section *const sections[] = {SECTIONS(SECTION_ROW) NULL};
#undef SECTION_ROW

const struct section *section_find(const char *name)
{
	for (size_t i = 0; sections[i]; i++)
		if (!strcmp(name, sections[i]->key))
			return sections[i];
	return NULL;
}

bool section_is_wanted(const struct section *section, const struct output_options *options)
{
	return !options->section || options->section == section ||
	       (options->is_advice_only &&
		(section == &section_verdict || section == &section_plan ||
		 section == &section_rejected || section == &section_next));
}
