/* steps.h - included first in each file of the analyzer that is compiled with -fsanitize-coverage=trace-cmp: what each
 * comparison calls.  tests/unit/test_scaling.c has functions in their place that count. */
#ifndef ROOFLINE_TEST_STEPS_H
#define ROOFLINE_TEST_STEPS_H

#include <stdint.h>

/* STEP(what is compared, its type) */
#define STEPS(STEP)                \
	STEP(cmp1, uint8_t)        \
	STEP(cmp2, uint16_t)       \
	STEP(cmp4, uint32_t)       \
	STEP(cmp8, uint64_t)       \
	STEP(const_cmp1, uint8_t)  \
	STEP(const_cmp2, uint16_t) \
	STEP(const_cmp4, uint32_t) \
	STEP(const_cmp8, uint64_t) \
	STEP(cmpf, float)          \
	STEP(cmpd, double)         \
	STEP(switch, uint64_t)

#ifndef COUNTS_STEPS
#define STEP_IGNORED(name, type)                                                \
	void __sanitizer_cov_trace_##name(type a, type b);                      \
	__attribute__((weak)) void __sanitizer_cov_trace_##name(type a, type b) \
	{                                                                       \
		(void)a;                                                        \
		(void)b;                                                        \
	}
STEPS(STEP_IGNORED)
#undef STEP_IGNORED
#endif

#endif
