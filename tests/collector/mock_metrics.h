/*
 * mock_metrics.h - what the stand-in for CUPTI counts in a launch: so much for each thread block.
 *
 * counters.bats computes the same from the grid, to see that values were joined to the right launch.
 */
#ifndef ROOFLINE_TESTS_MOCK_METRICS_H
#define ROOFLINE_TESTS_MOCK_METRICS_H

#include <stddef.h>
#include <string.h>

/* COUNTS(part of the name, for each block): the first that fits */
#define MOCK_COUNTS(COUNTS)              \
	COUNTS("dram__bytes_read", 1000) \
	COUNTS("dram__bytes_write", 500) \
	COUNTS("gpu__time_duration", 10) \
	COUNTS("op_ffma", 32)            \
	COUNTS("__sass_", 3)             \
	COUNTS("src_bf16", 4096)         \
	COUNTS("tensor", 64)             \
	COUNTS("", 1)

static inline double mock_value(const char *name, double blocks)
{
	static const struct {
		const char *part;
		double each;
	} counts[] = {
#define MOCK_COUNT(part, each) {part, each},
		MOCK_COUNTS(MOCK_COUNT)
#undef MOCK_COUNT
	};
	size_t i = 0;

	while (!strstr(name, counts[i].part))
		i++;
	return counts[i].each * blocks;
}

#endif
