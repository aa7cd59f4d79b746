/*
 * metric_table.c - asks the real CUPTI what the sets of collector/counters/metric_table.c mean on every chip.
 *
 * metric_table LIBRARY [CHIP...]   one line for each chip and request:
 *
 *   CHIP REQUEST passes N counters N gaps ROLE,ROLE...
 *   CHIP unusable               CUPTI lists it and cannot open it
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

#include "collector/counters/counter_config.c"
#include "collector/counters/metric_table.c"
#include "collector/counters/profiler_host.c"

static const char *const requests[] = {"roofline",
				       "atomics",
				       "shared",
				       "global",
				       "sm",
				       "stalls",
				       "roofline,atomics,shared,global,sm,stalls"};

#define ROLE_NAME(role, set, meaning) #role,
static const char *const role_names[] = {METRICS(ROLE_NAME)};

static void print_gaps(const struct metric_list *gaps_of)
{
	const char *separator = "";

	for (size_t i = 0; i < gaps_of->count; i++)
		if (!*gaps_of->choices[i].name) {
			printf("%s%s", separator, role_names[gaps_of->choices[i].role]);
			separator = ",";
		}
	puts(*separator ? "" : "none");
}

/* A chip's answers must each be one pass, as the rotation needs them, and go together. */
static void check_request(const char *chip, const char *request, enum metric_scope scope)
{
	struct counter_config config;
	char refused[256];
	CUptiResult result = counter_config_build(&config, &real_cupti, chip, NULL, request, scope,
						  1, refused, sizeof(refused));

	if (result != CUPTI_SUCCESS || *refused || !config.pass_count ||
	    config.pass_count > config.name_count) {
		fprintf(stderr, "%s %s: result %d, %zu counters in %zu passes %s\n", chip, request,
			(int)result, config.name_count, config.pass_count, refused);
		wrong_count++;
	}
	for (size_t i = 0; scope == SCOPE_ALL && i < config.name_count; i++)
		if (strchr(request, ',') &&
		    counter_config_passes(&real_cupti, chip, NULL, config.names[i]) != 1) {
			fprintf(stderr, "%s: %s is no counter of one pass\n", chip,
				config.names[i]);
			wrong_count++;
		}
	printf("%s %s%s passes %zu counters %zu gaps ", chip, request,
	       scope == SCOPE_ALL ? "" : "-without-tensor-types", config.pass_count,
	       config.name_count);
	print_gaps(&config.list);
	counter_config_free(&config, &real_cupti);
}

void check_chip(const char *name)
{
	struct chip chip = {&real_cupti, name, NULL};
	CUpti_Profiler_Host_Object *host;

	if (open_host(&chip, &host) != CUPTI_SUCCESS) {
		printf("%s unusable\n", name);
		return;
	}
	profiler_host_close(&real_cupti, host);
	check_request(name, "roofline", SCOPE_WITHOUT_TENSOR_TYPES);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		check_request(name, requests[i], SCOPE_ALL);
}
