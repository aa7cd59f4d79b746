/*
 * machine_code.h - what the machine code of modules tells: rows of modules, of machine_code of kernels that ran, and local
 * memory.
 *
 * Code is read when its module is loaded, so no launch waits for it, and kept as a few numbers; libraries have
 * thousands of kernels, so only those that ran get a row.  CUPTI's kernel records have a member for local memory that
 * stays 0 (CUPTI 13.0 on an H200), so it is taken from here.
 */
#ifndef ROOFLINE_MACHINE_CODE_H
#define ROOFLINE_MACHINE_CODE_H

#include "cupti_api.h"
#include "writer/trace_writer.h"

/* Asks CUPTI to tell of modules, and the trace writer of signatures. */
void machine_code_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber);

/* Call it in the callback of CUPTI_CBID_RESOURCE_MODULE_LOADED, on any thread.  context: into which the module was loaded. */
void machine_code_on_module(CUcontext context, const CUpti_ModuleResourceData *module);

/* The rows of kernels that ran and have none yet. */
void machine_code_write(struct trace_rows *rows);

#endif
