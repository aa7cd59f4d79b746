/*
 * trial.cuh - what the trial programs of tests/gpu/ share.
 *
 * Each does one thing that the collector has to survive or to count, and prints what it did as
 * lines "name value", which a test compares with the recording and collector.sh reads.
 */
#ifndef ROOFLINE_TRIAL_CUH
#define ROOFLINE_TRIAL_CUH

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <getopt.h>

#include "cuda_check.cuh"

struct trial_option {
	const char *name;
	long *value;
};

/* Reads "--name N" options into their values; returns the index of the first other argument.  Ends
 * the program with 2 on anything else. */
static inline int trial_parse(int argc, char **argv, const std::vector<trial_option> &options)
{
	std::vector<option> table;
	int index = 0, key;

	for (const trial_option &one : options)
		table.push_back({one.name, required_argument, nullptr, 1});
	table.push_back({});
	while ((key = getopt_long(argc, argv, "+", table.data(), &index)) != -1) {
		char *end;

		if (key != 1)
			exit(2);
		*options[index].value = strtol(optarg, &end, 10);
		if (end == optarg || *end || *options[index].value < 0) {
			fprintf(stderr, "%s: --%s takes a whole number, not '%s'\n", argv[0],
				options[index].name, optarg);
			exit(2);
		}
	}
	return optind;
}

static inline long now_ns()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(
		       std::chrono::system_clock::now().time_since_epoch())
		.count();
}

static __global__ void empty_kernel()
{
}

/* Adds one to *counter, from every thread. */
static __global__ void count_kernel(unsigned long long *counter)
{
	atomicAdd(counter, 1ULL);
}

/* Some CUDA work whose result is known: launches kernels that count, and reads the count. */
static inline bool trial_count(long launches)
{
	unsigned long long *counter, counted = 0;

	CUDA_CHECK(cudaMalloc(&counter, sizeof(*counter)));
	CUDA_CHECK(cudaMemset(counter, 0, sizeof(*counter)));
	for (long i = 0; i < launches; i++)
		CUDA_LAUNCH(count_kernel<<<1, 1>>>(counter));
	CUDA_CHECK(cudaMemcpy(&counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaFree(counter));
	return counted == (unsigned long long)launches;
}

#endif
