/*
 * arguments.h - which addresses kernels are launched with (record --args).
 *
 * The driver's calls that launch a kernel, or make it a node of a graph, are followed by callbacks, and the words of
 * its parameters read that may be addresses of device memory: also the members of structs.  The analyzer finds the
 * allocations that they lie in.  Only what the driver itself is about to read is read.
 */
#ifndef ROOFLINE_ARGUMENTS_H
#define ROOFLINE_ARGUMENTS_H

#include "cupti_api.h"
#include "options.h"

/* Enables the callbacks, with options->args.  Called once, when the recording is open; options are borrowed. */
void arguments_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
		     const struct options *options);

/* Every driver callback. */
void arguments_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data);

/* The call that this thread is in has made a node that runs a kernel. */
void arguments_on_graph_node(uint64_t node);

/* A module or a context is about to go. */
void arguments_on_unload(void);

#endif
