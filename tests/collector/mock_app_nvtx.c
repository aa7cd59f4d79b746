/*
 * mock_app_nvtx.c - the steps of mock_app that start NVTX, the real one; without a tool it does nothing.
 */
#include <pthread.h>
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

/* nvtx_in_thread:MS - another thread calls NVTX; goes on so much later, whether it has returned or not */
static void step_nvtx_in_thread(const char *argument)
{
	if (pthread_create(&nvtx_thread, NULL, nvtx_main, NULL))
		fail("nvtx_in_thread", "cannot start a thread");
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
