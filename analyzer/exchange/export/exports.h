/*
 * exports.h - every format that recordings are written in for other tools, once.
 *
 * To add one: write analyzer/exchange/export/foo.c with export_foo(), which takes what events_walk() (events.h) gives or
 * reads the report itself, and add its EXPORT row here and its row in docs/commands/export.md.
 */
#ifndef ROOFLINE_EXPORTS_H
#define ROOFLINE_EXPORTS_H

#include "analysis/report.h"
#include "exchange/export/export_target.h"

/* EXPORT(name, suffix, title) */
#define EXPORTS(EXPORT)                                                                            \
	EXPORT(perfetto, ".pftrace", "protobuf, for ui.perfetto.dev and trace_processor")          \
	EXPORT(chrome, ".json", "JSON, for ui.perfetto.dev, chrome://tracing and what reads such") \
	EXPORT(sqlite, ".sqlite", "a database with a table for each kind of row")                  \
	EXPORT(speedscope, ".speedscope.json", "JSON, for speedscope.app")

/* " perfetto chrome ...", for sentences that list them. */
#define EXPORT_NAME(name, suffix, title) " " #name
#define EXPORT_NAMES EXPORTS(EXPORT_NAME)

typedef int (*export_function)(const struct report *report, const struct export_target *target,
			       struct err *err);

#define EXPORT_PROTOTYPE(name, suffix, title)                                              \
	int export_##name(const struct report *report, const struct export_target *target, \
			  struct err *err);
EXPORTS(EXPORT_PROTOTYPE)
#undef EXPORT_PROTOTYPE

/* The format of that name; NULL when there is none. */
export_function exports_find(const char *name);

/* The format that a file of that name has, by its suffix; NULL: none.  The longest suffix that fits decides. */
export_function exports_of_file(const char *path);

#endif
