/*
 * doctor_checks.h - what `rooflinectl doctor` judges, one row a check.
 *
 * A check looks at what doctor_probe.h found and says in one line what is there
 * and in one line the exact fix.  It prints nothing and changes nothing.
 *
 * To add a check: one CHECK row here and its function in doctor_checks.c.
 */
#ifndef ROOFLINE_DOCTOR_CHECKS_H
#define ROOFLINE_DOCTOR_CHECKS_H

#include "cmd/doctor_probe.h"

enum doctor_status { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

/* When a missing thing makes doctor fail. */
enum doctor_need { NEED_NEVER, NEED_WITH_GPU, NEED_ALWAYS };

struct doctor_finding {
	enum doctor_status status;
	char found[1024]; /* one line */
	char fix[1024];	  /* one line, "" when there is nothing to fix */
};

typedef void (*doctor_check)(const struct doctor_system *system, struct doctor_finding *finding);

/* CHECK(name, need, title), in the order that doctor shows them */
#define DOCTOR_CHECKS(CHECK)                         \
	CHECK(driver, NEED_WITH_GPU, "driver")       \
	CHECK(gpus, NEED_WITH_GPU, "GPUs")           \
	CHECK(cupti, NEED_WITH_GPU, "CUPTI")         \
	CHECK(collector, NEED_WITH_GPU, "collector") \
	CHECK(tracing, NEED_WITH_GPU, "tracing")     \
	CHECK(counters, NEED_NEVER, "counters")      \
	CHECK(sampling, NEED_NEVER, "sampling")      \
	CHECK(profilers, NEED_NEVER, "profilers")    \
	CHECK(gnuplot, NEED_ALWAYS, "gnuplot")       \
	CHECK(folder, NEED_NEVER, "folder")

#define DOCTOR_CHECK_PROTOTYPE(name, need, title)                    \
	void doctor_check_##name(const struct doctor_system *system, \
				 struct doctor_finding *finding);
DOCTOR_CHECKS(DOCTOR_CHECK_PROTOTYPE)
#undef DOCTOR_CHECK_PROTOTYPE

/* True on a machine that has a GPU or the kernel driver of one, working or not. */
bool doctor_has_gpu(const struct doctor_system *system);

#endif
