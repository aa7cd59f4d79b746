/*
 * churn.cuh - arithmetic that takes a kernel a chosen time and its reference none.
 *
 * churn applies so many steps of a linear congruential generator, one after the other.  Together
 * they are one multiplication and one addition, which churn_at_once computes for the host.
 */
#ifndef ROOFLINE_CHURN_CUH
#define ROOFLINE_CHURN_CUH

#include <cstdint>

#define CHURN_FACTOR 747796405u
#define CHURN_ADDEND 2891336453u

/* Not unrolled: the compiler would merge steps, too. */
static inline __device__ uint32_t churn(uint32_t value, int steps)
{
#pragma unroll 1
	for (int step = 0; step < steps; step++)
		value = value * CHURN_FACTOR + CHURN_ADDEND;
	return value;
}

struct churn_steps {
	uint32_t factor, addend;
};

static inline struct churn_steps churn_at_once(int steps)
{
	struct churn_steps all = {1, 0};

	for (int step = 0; step < steps; step++) {
		all.factor *= CHURN_FACTOR;
		all.addend = all.addend * CHURN_FACTOR + CHURN_ADDEND;
	}
	return all;
}

static inline uint32_t churn_apply(struct churn_steps all, uint32_t value)
{
	return value * all.factor + all.addend;
}

#endif
