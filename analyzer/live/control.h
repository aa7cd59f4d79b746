/*
 * control.h - asks the collector of a process that is being recorded (roofline/control.h says by which files).
 */
#ifndef ROOFLINE_LIVE_CONTROL_H
#define ROOFLINE_LIVE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "roofline/control.h"

/* What process.csv tells of the process of a folder. */
struct control_process {
	pid_t pid;	  /* 0: it does not tell */
	bool has_control; /* it was started so that it can be asked */
	bool is_sealed;
	bool is_alive;
};

struct control_process control_process(const char *folder);

/* The answer: 0 for what it lacks. */
struct control_status {
#define CONTROL_MEMBER(name, meaning) uint64_t name;
	CONTROL_VALUES(CONTROL_MEMBER)
#undef CONTROL_MEMBER
	uint64_t busy_ns[CONTROL_DEVICES];
};

/* Sends a command and waits for its answer, some seconds at most.  Returns 0; -ENOTSUP: it was not started so that it can
 * be asked; -ESRCH: it has ended; -ETIMEDOUT: it does not answer, as a program that is stopped; or another errno. */
int control_ask(const char *folder, enum control_command command, struct control_status *status,
		struct err *err);

/* The same in two steps, so that several can be asked at once; id tells which answer it is. */
int control_send(const char *folder, enum control_command command, uint64_t *id, struct err *err);
int control_wait(const char *folder, uint64_t id, struct control_status *status, struct err *err);

/* The file of a range that was slower than --when-slower, which is taken away.  Returns false when there is none. */
struct control_slow {
	uint64_t start_ns, end_ns, limit_ns, other_count;
};
bool control_take_slow(const char *folder, struct control_slow *slow);

#endif
