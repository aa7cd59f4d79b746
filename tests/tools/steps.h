/* steps.h - included first in each file of the analyzer that is compiled with -fsanitize-coverage=trace-cmp: two functions
 * that gcc's libasan lacks.  tests/unit/test_scaling.c has others in their place, which count. */
#ifndef ROOFLINE_TEST_STEPS_H
#define ROOFLINE_TEST_STEPS_H

void __sanitizer_cov_trace_cmpf(float a, float b);
void __sanitizer_cov_trace_cmpd(double a, double b);

__attribute__((weak)) void __sanitizer_cov_trace_cmpf(float a, float b)
{
	(void)a;
	(void)b;
}

__attribute__((weak)) void __sanitizer_cov_trace_cmpd(double a, double b)
{
	(void)a;
	(void)b;
}

#endif
