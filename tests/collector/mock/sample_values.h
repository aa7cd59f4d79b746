/*
 * sample_values.h - what the stand-in for CUPTI puts into a sample of the whole GPU, and under which names.
 *
 * Its GPU runs at 1 GHz: a cycle is a nanosecond, 1,000 of them a sample of 1 us.  Everything follows from
 * the kernels that ran: a sample counts those that start in it, their blocks, how long any of them
 * covered it, and memory traffic evenly over a kernel's time, as much a block as counters.c says.
 */
#ifndef ROOFLINE_TESTS_MOCK_SAMPLE_VALUES_H
#define ROOFLINE_TESTS_MOCK_SAMPLE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock_sample {
	uint64_t start_ns, end_ns;
	double one, is_active;
	double elapsed_ns;
	double covered_ns;	   /* some kernel ran */
	double tensor_ns;	   /* some kernel ran whose name has gemm in it */
	double dispatches, blocks; /* of the kernels that start in the sample */
	double spread_blocks;	   /* each kernel's, evenly over its time */
};

const char *mock_without_domain(const char *name);
bool mock_is_sampled(const char *name);
double mock_sampled_value(const char *name, const struct mock_sample *sample); /* of one that is */

#endif
