/*
 * outputs.h - every report format and every section of a report, once.
 *
 * To add a format:  write analyzer/output/foo.c with output_foo() and add its
 *                   OUTPUT row here.
 * To add a section: one SECTION row here, then its function in text_*.c,
 *                   json*.c and csv*.c, which the compiler asks for.
 */
#ifndef ROOFLINE_OUTPUTS_H
#define ROOFLINE_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "advice/advice.h"
#include "analysis/report.h"

/* Of JSON and CSV: raised when a key or column changes its meaning or goes; new ones do not. */
#define OUTPUT_SCHEMA 2

/* OUTPUT(name, summary) */
#define OUTPUTS(OUTPUT)                             \
	OUTPUT(text, "for people, 80 columns wide") \
	OUTPUT(json, "everything, for programs")    \
	OUTPUT(csv, "one section as a table, kernels unless --section says otherwise")

/* SECTION(name, title), in the order of every format */
#define SECTIONS(SECTION)                                       \
	SECTION(processes, "Recording")                         \
	SECTION(devices, "Devices")                             \
	SECTION(kernels, "Kernels")                             \
	SECTION(roofline, "Roofline")                           \
	SECTION(launch_roofline, "Launch roofline")             \
	SECTION(atomics, "Atomics")                             \
	SECTION(counters, "Counters")                           \
	SECTION(graphs, "CUDA graphs")                          \
	SECTION(device_graphs, "Graphs launched by the device") \
	SECTION(sampling, "Sampled")                            \
	SECTION(sm_activity, "SM activity of kernels")          \
	SECTION(device_work, "Work launched by the device")     \
	SECTION(bursts, "Longest device-launched bursts")       \
	SECTION(copies, "Copies")                               \
	SECTION(memsets, "Memsets")                             \
	SECTION(api, "API calls")                               \
	SECTION(ranges, "NVTX ranges")                          \
	SECTION(gaps, "Longest gaps")                           \
	SECTION(concurrency, "Concurrency")                     \
	SECTION(streams, "Streams")                             \
	SECTION(advice, "Advice")                               \
	SECTION(rejected, "Considered and rejected")            \
	SECTION(losses, "Lost")                                 \
	SECTION(not_visible, "Not visible")

#define SECTION_CONSTANT(name, title) SECTION_##name,
enum output_section { SECTIONS(SECTION_CONSTANT) SECTION_COUNT };
#undef SECTION_CONSTANT

struct output_options {
	int section;	     /* enum output_section, or -1 for all (CSV: kernels) */
	size_t top;	     /* rows of each list; 0 for the format's own choice */
	bool wide;	     /* text: names in full */
	bool color;	     /* text: emphasis by escape sequences */
	bool is_advice_only; /* with SECTION_advice also what was rejected (but in CSV), and with each
			      * recommendation the command that checks it */
	const char *range;   /* then: the NVTX range that was predicted; NULL: none */
};

/* Writes the report.  Fails with -EIO when the file cannot be written, or -ENOMEM. */
typedef int (*output_function)(const struct report *report, FILE *out,
			       const struct output_options *options, struct err *err);

#define OUTPUT_PROTOTYPE(name, summary)                           \
	int output_##name(const struct report *report, FILE *out, \
			  const struct output_options *options, struct err *err);
OUTPUTS(OUTPUT_PROTOTYPE)
#undef OUTPUT_PROTOTYPE

/* The format or section of that name; NULL or -1 when there is none. */
output_function output_find(const char *name);
int output_find_section(const char *name);

/* Whether the options ask for that section. */
bool output_wants_section(const struct output_options *options, int section);

#endif
