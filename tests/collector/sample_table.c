/*
 * sample_table.c - asks the real CUPTI what the sets of collector/sampling/sample_config.c mean on every chip.
 *
 * sample_table LIBRARY [CHIP...]   one line for each chip and set, and one for all of them:
 *
 *   CHIP SET passes N counters N gaps ROLE,ROLE...     gaps of the set and of front, which is always there
 *   CHIP unsampled               CUPTI has no PM sampling of it
 *
 * Needs no GPU and no driver.  Says on stderr what is wrong; exits 1 when something is, 2 when it cannot
 * ask.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "every_chip.h"

#include "collector/counters/profiler_host.c"
#include "collector/sampling/sample_config.c"

static const char *const role_names[] = {
#define ROLE_NAME(role, set, meaning) #role,
	SAMPLED_ROLES(ROLE_NAME)
#undef ROLE_NAME
};

static const char *const set_names[] = {
#define SET_NAME(name, meaning) #name,
	SAMPLE_SETS(SET_NAME)
#undef SET_NAME
};

static void print_gaps(const struct sample_config *config, unsigned int sets)
{
	const char *separator = "";

	for (int role = 0; role < SAMPLED_ROLE_COUNT; role++)
		if (sets & 1u << set_of_role[role] && !config->roles[role].count) {
			printf("%s%s", separator, role_names[role]);
			separator = ",";
		}
	puts(*separator ? "" : "none");
}

/* Whether an evaluator, which is asked by the same names, knows all of them. */
static CUptiResult try_evaluator(const struct sample_config *config, const char *name)
{
	CUpti_Profiler_Host_Object *host = NULL;
	CUptiResult result =
		profiler_host_open(&real_cupti, CUPTI_PROFILER_TYPE_PM_SAMPLING, name, NULL, &host);

	if (result == CUPTI_SUCCESS)
		result = profiler_host_add(&real_cupti, host, (const char **)config->names,
					   config->name_count);
	profiler_host_close(&real_cupti, host);
	return result;
}

/* What is handed out must be one pass: hardware that runs by itself cannot be asked twice. */
static void check_sets(const char *name, const char *set, unsigned int sets)
{
	struct sample_config config;
	CUptiResult result = sample_config_build(&config, &real_cupti, name, NULL, sets);

	if (result == CUPTI_SUCCESS)
		result = try_evaluator(&config, name);
	if (result != CUPTI_SUCCESS || config.image.pass_count != 1 || !config.image.size) {
		fprintf(stderr, "%s %s: result %d, %zu counters in %zu passes\n", name, set,
			(int)result, config.name_count, config.image.pass_count);
		wrong_count++;
	}
	printf("%s %s passes %zu counters %zu gaps ", name, set, config.image.pass_count,
	       config.name_count);
	print_gaps(&config, sets | 1u << SAMPLE_SET_front);
	sample_config_free(&config);
}

void check_chip(const char *name)
{
	CUpti_Profiler_Host_Object *host;

	if (profiler_host_open(&real_cupti, CUPTI_PROFILER_TYPE_PM_SAMPLING, name, NULL, &host) !=
	    CUPTI_SUCCESS) {
		printf("%s unsampled\n", name);
		return;
	}
	profiler_host_close(&real_cupti, host);
	for (unsigned int set = 0; set < SAMPLE_SET_COUNT; set++)
		check_sets(name, set_names[set], 1u << set);
	check_sets(name, "all", (1u << SAMPLE_SET_COUNT) - 1);
}
