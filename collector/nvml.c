#define _GNU_SOURCE
#include "nvml.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"

static void *open_in_folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	char path[PATH_MAX + sizeof(LIBRARY) + 1];

	if (!slash)
		return NULL;
	snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - file), file, LIBRARY);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Some containers have the driver's libraries in a folder that the linker does not search, or only a link to libcuda
 * in one that it does. */
static void *open_beside_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *library;
	void *function = driver ? dlsym(driver, "cuInit") : NULL;
	char resolved[PATH_MAX];
	Dl_info info;

	if (!function || !dladdr(function, &info))
		return NULL;
	library = open_in_folder_of(info.dli_fname);
	if (!library && realpath(info.dli_fname, resolved))
		library = open_in_folder_of(resolved);
	return library;
}

bool nvml_load(struct nvml *nvml)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		library = open_beside_driver();
	if (!library)
		return false;
	*(void **)&nvml->init = dlsym(library, "nvmlInit_v2");
	*(void **)&nvml->shutdown = dlsym(library, "nvmlShutdown");
	*(void **)&nvml->find = dlsym(library, "nvmlDeviceGetHandleByUUID");
	*(void **)&nvml->clock = dlsym(library, "nvmlDeviceGetClockInfo");
	*(void **)&nvml->power = dlsym(library, "nvmlDeviceGetPowerUsage");
	*(void **)&nvml->temperature = dlsym(library, "nvmlDeviceGetTemperature");
	*(void **)&nvml->reasons = dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons");
	if (!nvml->reasons) /* its name before driver 535 */
		*(void **)&nvml->reasons =
			dlsym(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
	return nvml->init && nvml->shutdown && nvml->find && nvml->clock && nvml->power &&
	       nvml->temperature && nvml->reasons;
}
