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

static void *open_in_folders(const char *library)
{
#define CUPTI_FOLDER(path) path,
	static const char *const folders[] = {CUPTI_FOLDERS(CUPTI_FOLDER)};
#undef CUPTI_FOLDER
	char path[512];
	void *handle = NULL;

	for (size_t i = 0; !handle && i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], library);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

/* The usual search, then CUDA's own folders. */
static void *open_named(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	return handle || strchr(library, '/') ? handle : open_in_folders(library);
}

/* False also where nobody has loaded it yet: CUPTI 13 is then as good as any. */
static bool is_driver_before_13(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	return driver && !dlsym(driver, CUPTI_13_DRIVER_FUNCTION);
}

static void *open_any(void)
{
#define CUPTI_LIBRARY(name) name,
	static const char *const names[] = {CUPTI_LIBRARIES(CUPTI_LIBRARY)};
#undef CUPTI_LIBRARY
	const size_t count = sizeof(names) / sizeof(*names);
	size_t first = is_driver_before_13() ? 1 : 0;
	void *handle = NULL;

	for (size_t i = 0; !handle && i < count; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	for (size_t i = 0; !handle && i < count; i++)
		handle = open_named(names[(first + i) % count]);
	return handle;
}

/* Prefers the copy that the application has already loaded. */
static void *open_library(const char *library)
{
	void *handle;

	if (!strcmp(library, CUPTI_ANY_LIBRARY))
		return open_any();
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	return handle ? handle : open_named(library);
}

/* Of the file that was loaded, for what one asked for may not tell. */
static const char *path_of(void *handle)
{
	void *function = dlsym(handle, "cuptiGetVersion");
	Dl_info info;

	return function && dladdr(function, &info) ? info.dli_fname : library_name;
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
	log_warn("%s has no %s; nothing is recorded. Install CUPTI 12.4 or newer", path_of(handle),
		 missing);
	return false;
}

void cupti_api_ask_version(void)
{
	if (!api.version && api.cuptiGetVersion(&api.version) != CUPTI_SUCCESS)
		api.version = 0;
}

/* CUPTI 13.3 and newer tell nothing without a driver: whether they can be used, the subscription says. */
static bool is_new_enough(void)
{
	cupti_api_ask_version();
	if (api.version >= CUPTI_OLDEST || (!api.version && api.cuptiSubscribe_v2))
		return true;
	log_warn("%s is CUPTI %s, 12.4 is needed; nothing is recorded. Install a newer one, or set "
		 "ROOFLINE_CUPTI to its path",
		 api.path, cupti_release(api.version).text);
	return false;
}

static void load_once(void)
{
	void *handle = open_library(library_name);

	if (!handle) {
		log_warn(
			"cannot load %s (%s); nothing is recorded. Install CUPTI (package "
			"cuda-cupti-13-0, or cuda-cupti-12-4 and newer) or set LD_LIBRARY_PATH to its "
			"folder, or ROOFLINE_CUPTI to its path",
			strcmp(library_name, CUPTI_ANY_LIBRARY) ? library_name : "libcupti.so",
			dlerror());
		return;
	}
	if (!resolve(handle))
		return;
	api.path = path_of(handle);
	is_usable = is_new_enough();
}

const struct cupti_api *cupti_api_load(const char *library)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!library_name)
		library_name = library;
	pthread_once(&once, load_once);
	return is_usable ? &api : NULL;
}

static int driver_cuda_version(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*ask)(int *) = NULL;
	int version = 0;

	if (driver)
		*(void **)&ask = dlsym(driver, "cuDriverGetVersion");
	return ask && ask(&version) == 0 ? version : 0;
}

CUptiResult cupti_start_profiler(const struct cupti_api *cupti)
{
	CUpti_Profiler_Initialize_Params parameters = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};

	if (!cupti_profiles_with(cupti->version, driver_cuda_version()))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	return cupti->cuptiProfilerInitialize(&parameters);
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
	case CUPTI_ERROR_NOT_COMPATIBLE:
		return "this CUPTI is newer than the driver: update the driver, or set ROOFLINE_CUPTI to the "
		       "path of a libcupti.so of the driver's CUDA version";
	case CUPTI_ERROR_INVALID_METRIC_NAME:
		return "this chip has none of them";
	default:
		return "run rooflinectl doctor";
	}
}
