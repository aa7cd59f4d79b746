/*
 * mock_app.h - what the parts of mock_app share; mock_app.c says what the program is for.
 */
#ifndef ROOFLINE_TESTS_MOCK_APP_H
#define ROOFLINE_TESTS_MOCK_APP_H

#include "mock/mock_cupti.h"

#define KERNEL_NS 1000

/* The stand-in for CUPTI, all NULL without a collector. */
extern struct mock {
#define MOCK_MEMBER(result, name, parameters) result(*name) parameters;
	MOCK_FUNCTIONS(MOCK_MEMBER)
} mock;

extern int errno_at_start; /* what main found */

/* argument is what follows the colon, or NULL. */
struct step {
	const char *name; /* NULL ends a list */
	void (*run)(const char *argument);
};

extern const struct step record_steps[], launch_steps[], range_steps[], process_steps[],
	end_steps[], call_steps[], argument_steps[], nvtx_steps[];

void run_step(const char *text);
long number(const char *argument); /* 1 without one */
void fail(const char *what, const char *why) __attribute__((noreturn));

void find_mock(void); /* when the collector may have loaded it */
void step_cuda(const char *argument);
void step_kernels(const char *argument);
void *kernels_main(void *count); /* step_kernels on a thread */

#endif
