/*
 * mock_app_nvtx.c - the steps of mock_app that start NVTX, the real one; without a tool it does nothing.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "mock_app.h"

static pthread_t nvtx_thread;

/* nvtx - the program's first NVTX call; of further ones the first is like any other */
static void step_nvtx(const char *argument)
{
	nvtxMarkA(argument ? argument : "first");
	find_mock();
}

static void *nvtx_main(void *unused)
{
	nvtxMarkA("first");
	return unused;
}

/* MOCK_CALLS of the stand-in for CUPTI has that function, or a minute is over. */
static void wait_for_call(const char *function)
{
	bool is_there = false;
	char line[128];

	for (int ms = 0; !is_there && ms < 60000; ms++) {
		FILE *calls = fopen(getenv("MOCK_CALLS"), "re");

		while (calls && !is_there && fgets(line, sizeof(line), calls))
			is_there = strncmp(line, function, strlen(function)) == 0;
		if (calls)
			fclose(calls);
		usleep(1000);
	}
}

/*
 * nvtx_in_thread:MS - another thread calls NVTX; goes on when that attaches to CUPTI, or, where that is not noted, so much later,
 * whether the call has returned or not
 */
static void step_nvtx_in_thread(const char *argument)
{
	if (pthread_create(&nvtx_thread, NULL, nvtx_main, NULL))
		fail("nvtx_in_thread", "cannot start a thread");
	if (getenv("MOCK_CALLS") && getenv("NVTX_INJECTION64_PATH"))
		wait_for_call("cuptiSubscribe");
	else
		usleep((useconds_t)number(argument) * 1000);
}

static void step_join_nvtx(const char *argument)
{
	(void)argument;
	pthread_join(nvtx_thread, NULL);
	find_mock();
}

const struct step nvtx_steps[] = {
	{"nvtx", step_nvtx},
	{"nvtx_in_thread", step_nvtx_in_thread},
	{"join_nvtx", step_join_nvtx},
	{NULL, NULL},
};
