/*
 * A stand-in for libcuda.so.1, for tests of `rooflinectl doctor` on machines without a GPU.
 *
 * FAKE_CUDA says how it behaves: "two_gpus" (the default), "old_driver", "no_device" or "crash";
 * FAKE_CUDA_NAME names the GPUs.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NO_DEVICE = 100 };
enum { COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76 };

static bool is_mode(const char *mode)
{
	const char *wanted = getenv("FAKE_CUDA");

	return wanted && !strcmp(wanted, mode);
}

int cuInit(unsigned int flags);
int cuInit(unsigned int flags)
{
	(void)flags;
	puts("a driver that chats on stdout");
	if (is_mode("crash"))
		raise(SIGSEGV);
	return is_mode("no_device") ? NO_DEVICE : SUCCESS;
}

int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
	*version = is_mode("old_driver") ? 12040 : 13000;
	return SUCCESS;
}

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
	*count = 2;
	return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetName(char *name, int length, int device)
{
	const char *wanted = getenv("FAKE_CUDA_NAME");

	if (wanted)
		snprintf(name, (size_t)length, "%s", wanted);
	else
		snprintf(name, (size_t)length, "Imaginary GPU %d", device);
	return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute == COMPUTE_MAJOR ? 9 : 0;
	return attribute == COMPUTE_MAJOR || attribute == COMPUTE_MINOR ? SUCCESS : 1;
}

int cuGetErrorName(int result, const char **name);
int cuGetErrorName(int result, const char **name)
{
	*name = result == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_SUCCESS";
	return SUCCESS;
}
