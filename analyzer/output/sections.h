/*
 * sections.h - every section of a report, once, in the order of every format.
 *
 * To add a section: analyzer/output/sections/foo.c with a struct section called
 *                   section_foo, a SECTION row here, a line in docs/commands/report.md.
 * To add a column:  one line in the table of its section; see columns.h.
 */
#ifndef ROOFLINE_SECTIONS_H
#define ROOFLINE_SECTIONS_H

#include "analysis/needs.h"
#include "output/columns.h"

#define SECTIONS(SECTION)        \
	SECTION(verdict)         \
	SECTION(processes)       \
	SECTION(job)             \
	SECTION(collectives)     \
	SECTION(message_sizes)   \
	SECTION(transfers)       \
	SECTION(devices)         \
	SECTION(steady_state)    \
	SECTION(kernels)         \
	SECTION(roofline)        \
	SECTION(launch_roofline) \
	SECTION(atomics)         \
	SECTION(counters)        \
	SECTION(graphs)          \
	SECTION(device_graphs)   \
	SECTION(jit)             \
	SECTION(power)           \
	SECTION(memory)          \
	SECTION(allocations)     \
	SECTION(managed_memory)  \
	SECTION(kernel_memory)   \
	SECTION(sampling)        \
	SECTION(sm_activity)     \
	SECTION(device_work)     \
	SECTION(bursts)          \
	SECTION(copies)          \
	SECTION(memsets)         \
	SECTION(api)             \
	SECTION(ranges)          \
	SECTION(gaps)            \
	SECTION(events)          \
	SECTION(concurrency)     \
	SECTION(streams)         \
	SECTION(plan)            \
	SECTION(advice)          \
	SECTION(rejected)        \
	SECTION(next)            \
	SECTION(losses)          \
	SECTION(not_visible)

/* " processes devices ...", for sentences that list them. */
#define SECTION_NAME(name) " " #name
#define SECTION_NAMES SECTIONS(SECTION_NAME)

struct page;
struct output_options;
struct sentence;

struct section {
	const char *key, *title;
	/* The rows: the table of CSV, and in JSON a list of objects, or of values with is_plain. */
	const struct column *columns;
	row_function at;
	/* In JSON, where it is more than a list: an object with these columns, of the report, which
	 * hold the rows as well. */
	const struct column *object;
	bool is_plain;
	struct report_needs needs; /* to show it alone; nothing said: everything */
	bool is_of_advice;	   /* of report->advice, which no other section asks for */
	bool is_on_request;	   /* only where it is named: as long as the recording itself */
	bool is_of_samples; /* of the run with samples, which may be another one (report_with_samples) */
	bool takes_order;		  /* print follows options->order, too */
	void (*print)(struct page *page); /* for people; nothing where there is nothing to tell */
	/* Why there may be nothing to tell, and the remedy: "nothing was copied"; or, of several reasons, which it is
	 * (sections/why_empty.h).  Neither: print says itself that there is nothing. */
	const char *empty;
	struct sentence (*why_empty)(const struct report *report);
};

#define SECTION_DECLARATION(name) extern const struct section section_##name;
SECTIONS(SECTION_DECLARATION)
#undef SECTION_DECLARATION

/* All of them; NULL after the last. */
extern const struct section *const sections[];

/* The section of that name; NULL when there is none. */
const struct section *section_find(const char *name);

/* The report that the section is written from. */
const struct report *section_report(const struct section *section, const struct report *report);

/* Why nothing is told in it, as a sentence; "" where print says it.  report: what section_report() gives. */
struct sentence section_why_empty(const struct section *section, const struct report *report);

/* Whether that section was named, not only not left out. */
bool section_is_asked(const struct section *section, const struct output_options *options);

/* The rows of a section, in the order that the options ask for; NULL after the last. */
const void *section_row(const struct section *section, const struct row *root, size_t index);

/* How many rows of its list --top leaves out. */
size_t section_left_out(const struct section *section, const struct report *report,
			const struct output_options *options);

/* Whether the options ask for that section. */
bool section_is_wanted(const struct section *section, const struct output_options *options);

/* What has to be read and computed for the sections that the options ask for. */
struct report_needs sections_needs(const struct output_options *options);

/* Whether they ask for one that advice has to be found for, which takes longer than all else. */
bool sections_want_advice(const struct output_options *options);

#endif
