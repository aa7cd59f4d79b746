/*
 * live_target.h - the recording under way that ctl and top are told of: by a process id, or by its folder.
 */
#ifndef ROOFLINE_LIVE_TARGET_H
#define ROOFLINE_LIVE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "trace/recording.h"

struct live_target {
	char folder[PATH_MAX]; /* holds the folders of its processes */
	char dumps[PATH_MAX];  /* of a ring: where dumps go; "" of any other recording */
	struct recording recording;
	const struct recording_process *one; /* the process that was named; NULL: all */
};

/* text: the id of a process that is recorded, or of `rooflinectl record` itself; or the folder of a recording, also of one
 * whose program is gone.  Only the owner's.  The caller frees with live_target_close, also after a failure. */
int live_target_find(struct live_target *target, const char *text, struct err *err);
void live_target_close(struct live_target *target);

/* In a recording: the processes that were meant, by their index; returns NULL behind the last. */
const struct recording_process *live_target_process(const struct live_target *target, size_t index);

/* Of a ring: the folder that its dumps go to.  Returns 0 or a negative errno. */
int live_dumps_of(char *dumps, size_t size, const char *ring);

#define LIVE_RING \
	".ring." /* and six characters: what --last keeps, or a link to it, in the folder of -o */
#define LIVE_DUMPS ".dumps_to" /* a file in it: the folder that dumps go to */

#endif
