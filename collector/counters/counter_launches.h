/*
 * counter_launches.h - the launches of each signature: how many, when one is next worth a question to the
 * policy, and how much of the kernels' time they take.
 *
 * Read and written without a lock by every launch.  The time comes from CUPTI's records, which our thread
 * decodes: each launch leaves its correlation id in a ring, by which its record finds the signature again.
 */
#ifndef ROOFLINE_COUNTER_LAUNCHES_H
#define ROOFLINE_COUNTER_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_api.h"

struct counter_launches; /* of one signature in one context */

/* At a launch, whatever becomes of it.  NULL when there are too many signatures. */
struct counter_launches *counter_launches_add(CUcontext context, uint64_t signature,
					      uint32_t correlation);

/* False when the policy need not be asked now. */
bool counter_launches_are_due(const struct counter_launches *launches);

/* What the policy has to know: launches since it was told last, this one left out; the share of all time
 * seen that is this signature's, negative while none of its records has come.  One caller at a time. */
uint64_t counter_launches_take_news(struct counter_launches *launches, double *time_share);

/* Not to be asked about before so many launches (UINT64_MAX: never).  One that was refused is not asked about
 * for some time either, longer each time. */
void counter_launches_put_off(struct counter_launches *launches, uint64_t until_launches,
			      bool is_refused);

/* From now on all are due: other counters are counted. */
void counter_launches_renew(void);

/* The context is about to go. */
void counter_launches_forget(CUcontext context);

/* A record of a kernel, or of a node of a graph.  On our thread. */
void counter_launches_note_time(uint32_t correlation, int64_t ns);

#endif
