/*
 * sample_values.c - sample_values.h tells.
 */
#include "sample_values.h"

#include <string.h>

/* SAMPLED(name, member of mock_sample, each of it, instances on the chip) */
#define MOCK_SAMPLED(SAMPLED)                                                  \
	SAMPLED("gr__dispatch_count", dispatches, 1, 1)                        \
	SAMPLED("gr__ctas_launched", blocks, 1, 1)                             \
	SAMPLED("gr__ctas_launched_realtime", blocks, 1, 1)                    \
	SAMPLED("gr__compute_cycles_active", covered_ns, 1, 1)                 \
	SAMPLED("gr__cycles_active", elapsed_ns, 1, 1)                         \
	SAMPLED("gr__cycles_elapsed", elapsed_ns, 1, 1)                        \
	SAMPLED("fe__cycles_active", dispatches, 100, 1)                       \
	SAMPLED("gpc__cycles_elapsed", elapsed_ns, 1, 8)                       \
	SAMPLED("gpc__cycles_active", covered_ns, 1, 8)                        \
	SAMPLED("sm__cycles_elapsed", elapsed_ns, 1, 132)                      \
	SAMPLED("sm__cycles_active", covered_ns, 1, 132)                       \
	SAMPLED("sm__pipe_tensor_cycles_active", tensor_ns, 0.5, 132)          \
	SAMPLED("sm__pipe_tensor_cycles_active_realtime", tensor_ns, 0.5, 132) \
	SAMPLED("sm__inst_executed_pipe_tensor", tensor_ns, 0.125, 132)        \
	SAMPLED("dram__bytes_read", spread_blocks, 1000, 1)                    \
	SAMPLED("dram__bytes_write", spread_blocks, 500, 1)                    \
	SAMPLED("lts__t_sectors", spread_blocks, 48, 1)                        \
	SAMPLED("lts__average_t_sector_op_atom", is_active, 0.25, 1)           \
	SAMPLED("lts__average_t_sector_op_red", is_active, 0.125, 1)           \
	SAMPLED("pcie__read_bytes", dispatches, 100, 1)                        \
	SAMPLED("pcie__write_bytes", one, 5000, 1)                             \
	SAMPLED("nvlrx__bytes", spread_blocks, 64, 1)                          \
	SAMPLED("nvltx__bytes", spread_blocks, 32, 1)

/* The busiest of several has so much more than their mean, unless it is always busy; the least busy half. */
#define MOCK_BUSIEST 1.25
#define MOCK_LEAST 0.5

struct sampled {
	const char *name;
	size_t member;
	double each, instances;
};

static const struct sampled sampled_counters[] = {
#define MOCK_SAMPLED_ROW(name, member, each, instances) \
	{name, offsetof(struct mock_sample, member), each, instances},
	MOCK_SAMPLED(MOCK_SAMPLED_ROW)
#undef MOCK_SAMPLED_ROW
};

/* The unit's own name: FE_A.TriageCompute.gr__dispatch_count.sum begins at gr. */
const char *mock_without_domain(const char *name)
{
	const char *unit = strstr(name, "__");

	while (unit && unit > name && unit[-1] != '.')
		unit--;
	return unit ? unit : name;
}

static bool is_rollup(const char *rollup)
{
	static const char *const rollups[] = {".sum", ".avg", ".min", ".max", ".ratio", ".pct"};

	for (size_t i = 0; i < sizeof(rollups) / sizeof(*rollups); i++)
		if (!strcmp(rollup, rollups[i]))
			return true;
	return false;
}

/* NULL when there is no such metric. */
static const struct sampled *find_sampled(const char *name)
{
	const char *own = mock_without_domain(name);
	size_t length = strcspn(own, ".");

	for (size_t i = 0; i < sizeof(sampled_counters) / sizeof(*sampled_counters); i++)
		if (strlen(sampled_counters[i].name) == length &&
		    !strncmp(sampled_counters[i].name, own, length))
			return is_rollup(own + length) ? &sampled_counters[i] : NULL;
	return NULL;
}

bool mock_is_sampled(const char *name)
{
	return find_sampled(name) != NULL;
}

double mock_sampled_value(const char *name, const struct mock_sample *sample)
{
	const struct sampled *sampled = find_sampled(name);
	const char *rollup = strrchr(name, '.') + 1;
	double mean;

	memcpy(&mean, (const char *)sample + sampled->member, sizeof(mean));
	mean *= sampled->each;
	if (!strcmp(rollup, "sum"))
		return mean * sampled->instances;
	if (!strcmp(rollup, "min") && sampled->member != offsetof(struct mock_sample, elapsed_ns))
		return mean * MOCK_LEAST;
	if (!strcmp(rollup, "max"))
		return mean * MOCK_BUSIEST < sample->elapsed_ns ? mean * MOCK_BUSIEST
								: sample->elapsed_ns;
	return !strcmp(rollup, "pct") ? mean * 100 : mean;
}
