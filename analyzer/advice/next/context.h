/*
 * context.h - what a next step is chosen and written from, and how one is added.
 *
 * It knows the recording's name and the program's command line as words of a shell, and what limits the run.
 */
#ifndef ROOFLINE_NEXT_CONTEXT_H
#define ROOFLINE_NEXT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "advice/limit.h"
#include "advice/next/next.h"
#include "advice/rules/rules.h"

#define STEP_CONSTANT(name, meaning) STEP_##name,
enum next_step_id { NEXT_STEPS(STEP_CONSTANT) STEP_COUNT };
#undef STEP_CONSTANT

struct next_context {
	struct advice *advice;
	const struct facts *facts;
	const struct report *report;
	struct limit limit;
	char *recording, *program; /* owned; words of a shell */
	char *range;		   /* owned; "--range run " of verify, or "" */
	const char *
		selection; /* likewise borrowed, of report: what part of the recording is looked at, or "" */
	char *name; /* owned; of the recording, without folder and suffix: what others are named after */
	bool is_python;
	bool is_counted, is_sampled;
};

/* Returns 0 or -ENOMEM; to be closed in both cases. */
int next_context_open(struct next_context *context, struct advice *advice,
		      const struct facts *facts, const char *range);
void next_context_close(struct next_context *context);

/* The format is that of the command; why is a sentence, without its full stop.  Returns 0 or -ENOMEM. */
__attribute__((format(printf, 4, 5))) int next_add(struct next_context *context,
						   enum next_step_id id, const char *why,
						   const char *format, ...);

/* Whether there is one already. */
bool next_has_step(const struct next_context *context, enum next_step_id id);

/* `record` with options, into a folder that is named after this recording and what is in it.  Returns 0 or -ENOMEM. */
int next_add_record(struct next_context *context, enum next_step_id id, const char *options,
		    const char *what, const char *why);

/* Why a step is taken, to be copied by next_add. */
struct next_reason {
	char text[512];
};

__attribute__((format(printf, 1, 2))) struct next_reason next_reason(const char *format, ...);

/* "42.1% of the time", or of the steady state. */
struct next_share {
	char text[64];
};

struct next_share next_share_of(const struct next_context *context, int64_t part_ns);

/* Whether some process has this property: mostly, was asked for it. */
bool next_has_property(const struct profile *profile, const char *key);

/* Kernels are what to look into where they take the time, and beside a host that is busy outside CUDA, about which nothing
 * of ours tells more. */
bool next_are_kernels_meant(const struct limit *limit);

/* Whether the kernel that takes the time was counted and is not at a roof. */
bool next_is_below_roofs(const struct limit *limit);

/* Time of child kernels, waits that go on when all that is recorded has ended, longer than it takes a host to notice, and
 * queued work that begins later than if it had only then been launched.  Between nodes of a graph the device decides, too.
 * 0 where other time is more. */
int64_t next_waiting_for_more_ns(const struct next_context *context);

#endif
