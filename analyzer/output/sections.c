#include "output/sections.h"

#include <string.h>

#include "output/order.h"
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

const struct report *section_report(const struct section *section, const struct report *report)
{
	return section->is_of_samples ? report_with_samples(report) : report;
}

/* What goes with the verdict, and with the advice. */
static bool is_with_verdict(const struct section *section)
{
	return section == &section_verdict || section == &section_plan || section == &section_next;
}

bool section_is_asked(const struct section *section, const struct output_options *options)
{
	for (size_t i = 0; options->sections && options->sections[i]; i++)
		if (options->sections[i] == section)
			return true;
	return false;
}

const void *section_row(const struct section *section, const struct row *root, size_t index)
{
	const struct row_order *order = root->options ? root->options->order : NULL;

	if (!order || order->section != section)
		return section->at(root, index);
	return index < order->count ? order->items[index] : NULL;
}

size_t section_left_out(const struct section *section, const struct report *report,
			const struct output_options *options)
{
	struct row root = {.report = section_report(section, report), .options = options};
	size_t count = options->top;

	root.item = root.report;
	if (!options->top || !section->at)
		return 0;
	for (size_t i = 0; i < options->top; i++)
		if (!section->at(&root, i))
			return 0;
	while (section->at(&root, count))
		count++;
	return count - options->top;
}

bool section_is_wanted(const struct section *section, const struct output_options *options)
{
	if (options->has_holes && section->is_of_advice)
		return false;
	if (!options->sections)
		return !section->is_on_request;
	if (section_is_asked(section, options))
		return true;
	if (options->is_advice_only && section == &section_rejected)
		return true;
	return (options->is_advice_only || options->is_verdict_only) && is_with_verdict(section);
}

struct report_needs sections_needs(const struct output_options *options)
{
	struct report_needs all = {.tables =
					   TABLES_OPERATIONS}; /* JSON tells when the first began */
	bool needs_everything = false;

	for (size_t i = 0; sections[i]; i++) {
		const struct report_needs *needs = &sections[i]->needs;

		if (!section_is_wanted(sections[i], options))
			continue;
		needs_everything |= !needs->tables;
		all.tables |= needs->tables;
		all.analyses |= needs->analyses;
	}
	if (needs_everything)
		return (struct report_needs){.analyses = all.analyses & ANALYSES_ON_REQUEST};
	return all;
}

bool sections_want_advice(const struct output_options *options)
{
	for (size_t i = 0; sections[i]; i++)
		if (sections[i]->is_of_advice && section_is_wanted(sections[i], options))
			return true;
	return false;
}
