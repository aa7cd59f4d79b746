/*
 * process_facts.h - who this process is: the rows of process.csv.
 */
#ifndef ROOFLINE_PROCESS_FACTS_H
#define ROOFLINE_PROCESS_FACTS_H

#include "cupti_api.h"
#include "options.h"
#include "writer/trace_writer.h"

/* Everything that is known when the collector is loaded. */
void process_facts_write(struct trace_rows *rows, const struct cupti_api *cupti,
			 const struct options *options, int64_t start_ns);

/* Finds what the next function calls.  Not on our own thread: the program may be starting CUDA while
 * it loads a library, which keeps every other thread from asking the dynamic linker. */
void process_facts_find_driver(void);

/* What must be asked of CUDA, which is not ready while it loads the collector. */
void process_facts_write_cuda(struct trace_rows *rows);

#endif
