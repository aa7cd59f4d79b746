/*
 * consumer.cuh - the host's part in a pipeline: it takes a result and makes the next input.
 *
 * The input depends on all results so far and on their order.  So a copy that ran too early or too
 * late, and a result that was taken twice or never, change everything that comes after.
 *
 * consumer_take can be a callback (cudaLaunchHostFunc, a host node): it calls nothing of CUDA,
 * which a callback must not, and allocates nothing.  Its buffers are pinned and stay where they are
 * from consumer_make to consumer_release: a graph may name them, and must not outlive them.
 */
#ifndef ROOFLINE_CONSUMER_CUH
#define ROOFLINE_CONSUMER_CUH

#include <algorithm>
#include <cstdint>
#include <vector>

#include "churn.cuh"
#include "workload.cuh"

struct consumer {
	uint32_t *input, *result;
	size_t input_count, result_count;
	std::vector<uint32_t> log; /* a digest of all results so far, after each */
};

static inline void consumer_make(struct consumer *consumer, size_t input_count, size_t result_count)
{
	consumer->input_count = input_count;
	consumer->result_count = result_count;
	CUDA_CHECK(cudaMallocHost(&consumer->input, input_count * sizeof(*consumer->input)));
	CUDA_CHECK(cudaMallocHost(&consumer->result, result_count * sizeof(*consumer->result)));
}

static inline void consumer_release(struct consumer *consumer)
{
	CUDA_CHECK(cudaFreeHost(consumer->input));
	CUDA_CHECK(cudaFreeHost(consumer->result));
}

static inline void consumer_make_input(struct consumer *consumer, uint32_t digest)
{
	for (size_t i = 0; i < consumer->input_count; i++)
		consumer->input[i] = (digest ^ (uint32_t)i) * CHURN_FACTOR;
}

/* To where a run of so many iterations starts. */
static inline void consumer_reset(struct consumer *consumer, int iterations)
{
	consumer->log.clear();
	consumer->log.reserve(iterations);
	consumer_make_input(consumer, 0);
	std::fill_n(consumer->result, consumer->result_count, 0);
}

/* data: a struct consumer */
static inline void CUDART_CB consumer_take(void *data)
{
	struct consumer *consumer = (struct consumer *)data;
	uint32_t digest = consumer->log.empty() ? 0 : consumer->log.back() * CHURN_FACTOR;

	for (size_t i = 0; i < consumer->result_count; i++)
		digest += consumer->result[i] * (2 * (uint32_t)i + 1);
	consumer->log.push_back(digest);
	consumer_make_input(consumer, digest);
}

/* A digest that is missing or too many counts as 0. */
static inline uint32_t consumer_digest(const struct consumer &consumer, size_t i)
{
	return i < consumer.log.size() ? consumer.log[i] : 0;
}

/* The index is that of the first result that was not as expected, or, where only the last one is
 * known to differ, that of the value in it. */
static inline struct difference consumer_difference(const struct consumer &found,
						    const struct consumer &expected)
{
	size_t count = std::max(found.log.size(), expected.log.size());

	for (size_t i = 0; i < count; i++)
		if (consumer_digest(found, i) != consumer_digest(expected, i))
			return {(long)i, consumer_digest(found, i), consumer_digest(expected, i)};
	for (size_t i = 0; i < expected.result_count; i++)
		if (found.result[i] != expected.result[i])
			return {(long)i, found.result[i], expected.result[i]};
	return {-1, 0, 0};
}

#endif
