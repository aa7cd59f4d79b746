/*
 * last_call.h - the call of CUDA in which each thread of a recorded program is, for `rooflinectl record`, once it has died.
 *
 * A guest installs no handlers of signals.  So the collector keeps a file of a fixed size in the process's folder, which it
 * maps, and writes into it at each callback of CUPTI: what is written is there however the program ends.  record reads it
 * where the program was ended by a fault, and removes it in any case.  No reader of recordings knows it.
 *
 * Only calls for which the collector has a callback are there.  A call that a handler of the program has left by siglongjmp
 * stays there until the thread's next one.
 */
#ifndef ROOFLINE_LAST_CALL_H
#define ROOFLINE_LAST_CALL_H

#include <stdint.h>

#define LAST_CALL_FILE "last_call"
#define LAST_CALL_MAGIC 0x6c6c61635f747361ull

enum { LAST_CALL_SLOTS = 62, LAST_CALL_DEPTH = 3, LAST_CALL_NAME = 38 };

/* The collector does nothing in the thread, or serves a callback of this kind. */
enum last_call_work { LAST_CALL_NOTHING, LAST_CALL_API, LAST_CALL_RESOURCE, LAST_CALL_NVTX };

/* One for each thread, which another gets once that has ended; threads beyond have none. */
struct last_call_slot {
	uint32_t thread;
	uint16_t depth; /* calls that have begun and not ended, each within the one before */
	uint16_t work;
	char names[LAST_CALL_DEPTH][LAST_CALL_NAME]; /* of the calls, the call at depth 1 first */
	char unused[6];
};

struct last_call_file {
	uint64_t magic;
	uint32_t process;
	uint32_t has_ended; /* the recording is complete */
	char unused[112];
	struct last_call_slot slots[LAST_CALL_SLOTS];
};

#endif
