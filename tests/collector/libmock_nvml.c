/*
 * libmock_nvml.c - the few functions of libnvidia-ml.so.1 that the collector calls, for one GPU.
 *
 *   MOCK_NVML_INIT      what nvmlInit_v2 returns (0)
 *   MOCK_NVML_SLOW_MS   what reading the power takes (0)
 *   MOCK_NVML_REFUSED   when set, clocks of the memory are not supported
 *
 * Each reading is of a clock 10 MHz above the one before.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetClockInfo(void *device, int which, unsigned int *mhz);
int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts);
int nvmlDeviceGetTemperature(void *device, int which, unsigned int *celsius);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons);

enum { OK, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static unsigned int reading_count;
static int is_started;

static long number_of(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtol(text, NULL, 10) : 0;
}

int nvmlInit_v2(void)
{
	is_started = 1;
	return (int)number_of("MOCK_NVML_INIT");
}

int nvmlShutdown(void)
{
	is_started = 0;
	return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	if (!is_started)
		abort();
	if (strcmp(uuid, "GPU-00000000-0000-0000-0000-000000000000") != 0)
		return NOT_FOUND;
	*device = &reading_count;
	return OK;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned int *mhz)
{
	if (device != &reading_count)
		abort();
	if (which == 1)
		*mhz = 1000 + 10 * reading_count++;
	else if (getenv("MOCK_NVML_REFUSED"))
		return NOT_SUPPORTED;
	else
		*mhz = 2619;
	return OK;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts)
{
	(void)device;
	usleep((useconds_t)number_of("MOCK_NVML_SLOW_MS") * 1000);
	*milliwatts = 300250;
	return OK;
}

int nvmlDeviceGetTemperature(void *device, int which, unsigned int *celsius)
{
	(void)device;
	*celsius = which == 0 ? 55 : 0;
	return OK;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = 4;
	return OK;
}
