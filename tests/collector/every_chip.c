/*
 * every_chip.c - the main program of metric_table and sample_table.
 */
#define _GNU_SOURCE
#include "every_chip.h"

#include <dlfcn.h>
#include <stdio.h>

struct cupti_api real_cupti;
unsigned int wrong_count;

static int check_every_chip(void *library)
{
	CUpti_Profiler_Host_GetSupportedChips_Params parameters = {
		.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE};
	__typeof__(&cuptiProfilerHostGetSupportedChips) get_chips;

	*(void **)&get_chips = dlsym(library, "cuptiProfilerHostGetSupportedChips");
	if (!get_chips || get_chips(&parameters) != CUPTI_SUCCESS || !parameters.numChips)
		return 2;
	for (size_t i = 0; i < parameters.numChips; i++)
		check_chip(parameters.ppChipNames[i]);
	return wrong_count > 0;
}

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return NULL;
	}
#define FIND(function) *(void **)&real_cupti.function = dlsym(library, #function);
	CUPTI_COUNTER_FUNCTIONS(FIND)
	return real_cupti.cuptiProfilerHostInitialize ? library : NULL;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? load(argv[1]) : NULL;

	if (!library)
		return 2;
	if (argc == 2)
		return check_every_chip(library);
	for (int i = 2; i < argc; i++)
		check_chip(argv[i]);
	return wrong_count > 0;
}
