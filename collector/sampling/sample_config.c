#include "sampling/sample_config.h"

#include <stdlib.h>
#include <string.h>

/* ANSWER(role, names): in the order of preference; names are added up.  As the host interface of
 * CUPTI 13.0 knows them; tests/collector/metric_table.c asks it about every chip. */
#define ANSWERS(ANSWER)                                                               \
	ANSWER(dispatches, "gr__dispatch_count.sum", NULL)                            \
	ANSWER(blocks, "gr__ctas_launched.sum", NULL)                                 \
	ANSWER(blocks, "gr__ctas_launched_realtime.sum", NULL)                        \
	ANSWER(compute_cycles, "gr__compute_cycles_active.sum", NULL)                 \
	ANSWER(front_cycles, "gr__cycles_elapsed.sum", NULL)                          \
	ANSWER(pcie_read_bytes, "pcie__read_bytes.sum", NULL)                         \
	ANSWER(pcie_write_bytes, "pcie__write_bytes.sum", NULL)                       \
	ANSWER(sm_elapsed_cycles, "gpc__cycles_elapsed.avg", NULL)                    \
	ANSWER(sm_cycles, "sm__cycles_active.sum", NULL)                              \
	ANSWER(sm_cycles_min, "sm__cycles_active.min", NULL)                          \
	ANSWER(sm_cycles_max, "sm__cycles_active.max", NULL)                          \
	ANSWER(dram_read_bytes, "dram__bytes_read.sum", NULL)                         \
	ANSWER(dram_write_bytes, "dram__bytes_write.sum", NULL)                       \
	ANSWER(tensor_cycles, "sm__pipe_tensor_cycles_active_realtime.sum", NULL)     \
	ANSWER(tensor_cycles, "sm__pipe_tensor_cycles_active.sum", NULL)              \
	ANSWER(l2_sectors, "lts__t_sectors.sum", NULL)                                \
	/* Shares of the sectors: there is no count of them over time. */             \
	ANSWER(atomic_sectors, "lts__average_t_sector_op_atom.ratio",                 \
	       "lts__average_t_sector_op_red.ratio")                                  \
	ANSWER(atomic_sectors, "lts__average_t_sector_aperture_device_op_atom.ratio", \
	       "lts__average_t_sector_aperture_device_op_red.ratio")                  \
	ANSWER(nvlink_rx_bytes, "nvlrx__bytes.sum", NULL)                             \
	ANSWER(nvlink_tx_bytes, "nvltx__bytes.sum", NULL)

struct answer {
	enum sampled_role role;
	const char *names[SAMPLE_NAMES_PER_ROLE];
};

static const struct answer answers[] = {
#define ANSWER_ROW(role, name, second) {SAMPLED_##role, {name, second}},
	ANSWERS(ANSWER_ROW)
#undef ANSWER_ROW
};

static const enum sample_set set_of_role[] = {
#define ROLE_SET(role, set, meaning) SAMPLE_SET_##set,
	SAMPLED_ROLES(ROLE_SET)
#undef ROLE_SET
};

struct chip {
	const struct cupti_api *cupti;
	const char *name;
	const uint8_t *availability;
};

/* The host object, a megabyte, stays until the process ends. */
static CUptiResult configure(const struct sample_config *config, const struct chip *chip,
			     struct profiler_image *image)
{
	CUpti_Profiler_Host_Object *host;
	CUptiResult result = profiler_host_open(chip->cupti, CUPTI_PROFILER_TYPE_PM_SAMPLING,
						chip->name, chip->availability, &host);

	*image = (struct profiler_image){0};
	if (result == CUPTI_SUCCESS)
		result = profiler_host_configure(chip->cupti, host, (const char **)config->names,
						 config->name_count, image);
	return result;
}

static void add_names(struct sample_config *config, const struct answer *answer)
{
	config->roles[answer->role].first = config->name_count;
	for (size_t i = 0; i < SAMPLE_NAMES_PER_ROLE && answer->names[i]; i++)
		config->names[config->name_count++] = answer->names[i];
	config->roles[answer->role].count = config->name_count - config->roles[answer->role].first;
}

/* Keeps what was added when it still leaves one pass; otherwise it is as it was before. */
static CUptiResult keep_or_undo(struct sample_config *config, const struct chip *chip,
				const struct sample_config *before)
{
	struct profiler_image image;
	CUptiResult result = configure(config, chip, &image);

	if (result == CUPTI_SUCCESS && image.pass_count == 1) {
		free(config->image.bytes);
		config->image = image;
		return CUPTI_SUCCESS;
	}
	free(image.bytes);
	*config = *before;
	return result == CUPTI_SUCCESS ? CUPTI_ERROR_NOT_SUPPORTED : result;
}

/* The first answers of all roles of a set at once: what most chips have. */
static CUptiResult try_set(struct sample_config *config, const struct chip *chip,
			   enum sample_set set)
{
	struct sample_config before = *config;

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (set_of_role[answers[i].role] == set && !config->roles[answers[i].role].count)
			add_names(config, &answers[i]);
	return keep_or_undo(config, chip, &before);
}

/* One answer after the other, each where it can be had. */
static CUptiResult try_answers(struct sample_config *config, const struct chip *chip,
			       enum sample_set set)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct sample_config before = *config;

		if (set_of_role[answers[i].role] != set || config->roles[answers[i].role].count)
			continue;
		add_names(config, &answers[i]);
		result = keep_or_undo(config, chip, &before);
	}
	return result;
}

CUptiResult sample_config_build(struct sample_config *config, const struct cupti_api *cupti,
				const char *chip, const uint8_t *availability, unsigned int sets)
{
	const struct chip asked = {cupti, chip, availability};
	CUptiResult result = CUPTI_SUCCESS;

	memset(config, 0, sizeof(*config));
	sets |= 1u << SAMPLE_SET_front;
	for (int set = 0; set < SAMPLE_SET_COUNT; set++)
		if (sets & 1u << set && try_set(config, &asked, set) != CUPTI_SUCCESS)
			result = try_answers(config, &asked, set);
	return config->name_count ? CUPTI_SUCCESS : result;
}

void sample_config_free(struct sample_config *config)
{
	free(config->image.bytes);
	memset(config, 0, sizeof(*config));
}

static uint64_t rounded(double value)
{
	return value > 0 && value < 1e18 ? (uint64_t)(value + 0.5) : 0;
}

void sample_config_counts(const struct sample_config *config, const double *values,
			  uint64_t counts[SAMPLED_ROLE_COUNT])
{
	for (int role = 0; role < SAMPLED_ROLE_COUNT; role++) {
		double sum = 0;

		for (size_t i = 0; i < config->roles[role].count; i++)
			sum += values[config->roles[role].first + i];
		if (role == SAMPLED_atomic_sectors)
			sum *= (double)counts[SAMPLED_l2_sectors];
		counts[role] = rounded(sum);
	}
}
