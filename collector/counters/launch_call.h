/*
 * launch_call.h - which driver calls launch work, and what they launch.
 */
#ifndef ROOFLINE_LAUNCH_CALL_H
#define ROOFLINE_LAUNCH_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_api.h"
#include "roofline/trace_schema.h"

enum launch_kind {
	LAUNCH_NONE,
	LAUNCH_KERNEL,
	LAUNCH_GRAPH,
	LAUNCH_COOPERATIVE, /* its thread blocks, or those of several devices, wait for each other */
	LAUNCH_MEMSET,	    /* a kernel of the driver's own, maybe */
	CAPTURE_BEGIN,	    /* until its end, launches in that stream run nothing */
	CAPTURE_END,
};

struct launch_call {
	enum launch_kind kind;
	uint64_t signature;  /* equal for equal launches: function, grid, block, shared memory */
	CUfunction function; /* of a kernel, as the next three */
	uint64_t kernel; /* function and name: a handle may come again when a module is unloaded */
	unsigned int grid[3], block[3];
	unsigned int dynamic_shared_bytes;
	uint64_t warps;	  /* of a kernel: thread blocks * threads / 32, 0 for a graph */
	const char *name; /* of the kernel, mangled; "" for a graph.  Borrowed */
};

/* What gives a GPU work: each takes in those before it. */
enum launch_calls { LAUNCHES, LAUNCHES_AND_MEMSETS, LAUNCHES_AND_COPIES };

/* Enables callbacks for these calls, or disables them. */
void launch_call_enable(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
			enum launch_calls which, bool is_enabled);

/* From now on disabling leaves the callbacks of kernels' launches, which somebody else needs. */
void launch_call_keep(void);

/* The launch signature of a kernel, as CUPTI's own records would tell it, but for clusters. */
struct trace_signatures_row launch_call_signature(const struct launch_call *call);

/* The driver's answer to how much local memory its threads take each; 0 when it does not tell. */
uint32_t launch_call_local_bytes(const struct launch_call *call);

/* A hash that goes on with another word. */
static inline uint64_t launch_call_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* True for the calls that begin or end a capture. */
bool launch_call_is_capture(CUpti_CallbackId id);

/* What a driver callback is about. */
struct launch_call launch_call_read(CUpti_CallbackId id, const CUpti_CallbackData *data);

#endif
