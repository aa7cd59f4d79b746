#include "base/distribution.h"

#include "base/sums.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int durations_open(struct durations *durations, size_t group_count)
{
	*durations = (struct durations){.group_count = group_count};
	durations->first = calloc(group_count + 1, sizeof(*durations->first));
	durations->filled = calloc(group_count + 1, sizeof(*durations->filled));
	return durations->first && durations->filled ? 0 : -ENOMEM;
}

int durations_lay_out(struct durations *durations)
{
	for (size_t i = 0; i < durations->group_count; i++)
		durations->first[i + 1] += durations->first[i];
	durations->values_ns =
		calloc(durations->first[durations->group_count] + 1, sizeof(*durations->values_ns));
	return durations->values_ns ? 0 : -ENOMEM;
}

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int64_t median_of_three(int64_t a, int64_t b, int64_t c)
{
	if (a > b)
		return b > c ? b : a < c ? a : c;
	return a > c ? a : b < c ? b : c;
}

/* The value of the given rank, 0 the least.  Quickselect, linear; should the pivots stay bad
 * (values made to fool it), sorts what is left. */
static int64_t select_rank(int64_t *values, size_t count, size_t rank)
{
	for (int rounds = 0; count > 16 && rounds < 64; rounds++) {
		int64_t pivot = median_of_three(values[0], values[count / 2], values[count - 1]);
		size_t low = 0, high = count - 1;

		for (;;) { /* Hoare's partition: runs of equal values split in the middle */
			int64_t swap;

			while (values[low] < pivot)
				low++;
			while (values[high] > pivot)
				high--;
			if (low >= high)
				break;
			swap = values[low];
			values[low++] = values[high];
			values[high--] = swap;
		}
		if (rank <= high) {
			count = high + 1;
		} else {
			values += high + 1;
			count -= high + 1;
			rank -= high + 1;
		}
	}
	qsort(values, count, sizeof(*values), compare_ns);
	return values[rank];
}

/* Nearest rank: the least value that at least percent of the values do not exceed. */
static int64_t percentile(int64_t *values, size_t count, size_t percent)
{
	size_t rank = (count * percent + 99) / 100;

	return select_rank(values, count, rank ? rank - 1 : 0);
}

struct distribution durations_distribution(struct durations *durations, size_t group)
{
	int64_t *values = durations->values_ns + durations->first[group];
	size_t count = durations->filled[group];
	struct distribution time = {.count = count};

	if (count == 0)
		return time;
	time.min_ns = time.max_ns = values[0];
	for (size_t i = 0; i < count; i++) {
		sum_add_ns(&time.total_ns, values[i]);
		time.min_ns = values[i] < time.min_ns ? values[i] : time.min_ns;
		time.max_ns = values[i] > time.max_ns ? values[i] : time.max_ns;
	}
	time.mean_ns = (double)time.total_ns / (double)count;
	time.p50_ns = percentile(values, count, 50);
	time.p99_ns = percentile(values, count, 99);
	return time;
}

int64_t durations_percentile(struct durations *durations, size_t group, size_t percent)
{
	int64_t *values = durations->values_ns + durations->first[group];
	size_t count = durations->filled[group];

	return count ? percentile(values, count, percent) : 0;
}

void durations_median_interval(struct durations *durations, size_t group, int64_t *low_ns,
			       int64_t *high_ns)
{
	int64_t *values = durations->values_ns + durations->first[group];
	size_t count = durations->filled[group];
	double half = 1.96 * sqrt((double)count) / 2;
	double low = floor((double)count / 2 - half), high = ceil((double)count / 2 + half);

	*low_ns = *high_ns = 0;
	if (!count)
		return;
	*low_ns = select_rank(values, count, low > 0 ? (size_t)low : 0);
	*high_ns = select_rank(values, count, high < (double)count ? (size_t)high : count - 1);
}

void durations_free(struct durations *durations)
{
	free(durations->values_ns);
	free(durations->first);
	free(durations->filled);
	*durations = (struct durations){0};
}
