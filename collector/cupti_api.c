#define _GNU_SOURCE
#include "cupti_api.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

static struct cupti_api api;
static bool is_usable;
static const char *library_name;

/* Prefer the copy that the application has already loaded; then the usual search; then CUDA's own
 * folders, for toolkits that were installed without telling the dynamic linker. */
static void *open_library(const char *library)
{
	static const char *const folders[] = {"/usr/local/cuda/lib64",
					      "/usr/local/cuda/extras/CUPTI/lib64",
					      "/usr/local/cuda/targets/x86_64-linux/lib",
					      "/usr/local/cuda/lib"};
	char path[512];
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (!handle)
		handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0;
	     !handle && !strchr(library, '/') && i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], library);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

static bool resolve(void *handle)
{
	const char *missing = NULL;

#define CUPTI_NEED(function)                                               \
	api.function = (__typeof__(api.function))dlsym(handle, #function); \
	if (!api.function)                                                 \
		missing = #function;
#define CUPTI_MAY(function) api.function = (__typeof__(api.function))dlsym(handle, #function);
	CUPTI_FUNCTIONS(CUPTI_NEED, CUPTI_MAY)
	if (!missing)
		return true;
	log_warn("%s has no %s; nothing is recorded. Install CUPTI 13.0 or newer", library_name,
		 missing);
	return false;
}

static void load_once(void)
{
	void *handle = open_library(library_name);
	Dl_info info;

	if (!handle) {
		log_warn("cannot load %s (%s); nothing is recorded. Install CUPTI (package "
			 "cuda-cupti-13-0) or set LD_LIBRARY_PATH to its folder",
			 library_name, dlerror());
		return;
	}
	if (!resolve(handle))
		return;
	if (api.cuptiGetVersion(&api.version) != CUPTI_SUCCESS ||
	    api.version < CUPTI_VERSION_MINIMUM) {
		log_warn("%s is version %u, %u is needed; nothing is recorded", library_name,
			 api.version, CUPTI_VERSION_MINIMUM);
		return;
	}
	api.path = dladdr((void *)api.cuptiGetVersion, &info) ? info.dli_fname : library_name;
	is_usable = true;
}

const struct cupti_api *cupti_api_load(const char *library)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!library_name)
		library_name = library;
	pthread_once(&once, load_once);
	return is_usable ? &api : NULL;
}

bool cupti_has_counters(const struct cupti_api *cupti)
{
#define CUPTI_HAS(function) &&cupti->function
	return true CUPTI_COUNTER_FUNCTIONS(CUPTI_HAS);
#undef CUPTI_HAS
}

bool cupti_has_sampling(const struct cupti_api *cupti)
{
#define CUPTI_HAS(function) &&cupti->function
	return cupti_has_counters(cupti) CUPTI_SAMPLING_FUNCTIONS(CUPTI_HAS);
#undef CUPTI_HAS
}

/* CUPTI opens this library itself, with RTLD_DEEPBIND, when it first needs it.  Opened so, CUPTI 13.0 frees
 * what it never allocated when PM sampling is disabled, and the heap is damaged before (docs/collector.md);
 * opened first in the usual way, it is bound like any other. */
void cupti_open_host_library(const struct cupti_api *cupti)
{
	char path[PATH_MAX];
	const char *slash = strrchr(cupti->path, '/');
	int folder_length = slash ? (int)(slash + 1 - cupti->path) : 0;

	snprintf(path, sizeof(path), "%.*slibnvperf_host.so", folder_length, cupti->path);
	if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
		dlopen("libnvperf_host.so", RTLD_NOW | RTLD_LOCAL);
}

const char *cupti_error_text(const struct cupti_api *cupti, CUptiResult result)
{
	const char *text = NULL;

	cupti->cuptiGetResultString(result, &text);
	return text ? text : "unknown error";
}

const char *cupti_error_remedy(CUptiResult result)
{
	switch ((int)result) {
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
		return "the driver gives counters to administrators only: run as root or with "
		       "CAP_SYS_ADMIN (containers: --cap-add=SYS_ADMIN), or load the driver with "
		       "NVreg_RestrictProfilingToAdminUsers=0";
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
		return "this virtual GPU has no profiling: ask its administrator to enable it";
	case CUPTI_ERROR_INVALID_METRIC_NAME:
		return "this chip has none of them";
	default:
		return "run rooflinectl doctor";
	}
}
