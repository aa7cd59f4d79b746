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

static void ask_version(void)
{
	if (!api.version && api.cuptiGetVersion(&api.version) != CUPTI_SUCCESS)
		api.version = 0;
}

/* CUPTI 13.3 and newer tell nothing without a driver: whether they can be used, the subscription says. */
static bool is_new_enough(void)
{
	ask_version();
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

/* ---- sharing ---- */

static CUpti_SubscriberHandle self;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;

static CUptiResult enable_shared(CUpti_ActivityKind kind)
{
	return api.cuptiActivityEnable_v2(self, kind, NULL);
}

static CUptiResult disable_shared(CUpti_ActivityKind kind)
{
	return api.cuptiActivityDisable_v2(self, kind, NULL);
}

static CUptiResult dump_shared(CUpti_ActivityKind kind)
{
	return api.cuptiActivityEnableAndDump_v2(self, kind, NULL);
}

static CUptiResult enable_runtime_shared(CUpti_CallbackId id, uint8_t is_on)
{
	return api.cuptiActivityEnableRuntimeApi_v2(self, id, is_on);
}

static CUptiResult enable_driver_shared(CUpti_CallbackId id, uint8_t is_on)
{
	return api.cuptiActivityEnableDriverApi_v2(self, id, is_on);
}

static CUptiResult set_attribute_shared(CUpti_ActivityAttribute attribute, size_t *size,
					void *value)
{
	return api.cuptiActivitySetAttribute_v2(self, attribute, size, value);
}

/* Attributes of a subscriber that 13.4 has and the headers of CUDA 13.0 lack (cupti_activity.h of CUDA 13.5). */
enum {
	ALL_SYNC_RECORDS = 16,
	DEVICE_GRAPH_TRACE = 19,
	GRAPHS_AS_A_WHOLE = 20,
	THREAD_ID_TYPE = 21
};

static CUptiResult set_flag_shared(int attribute, uint8_t value)
{
	size_t size = sizeof(value);

	return api.cuptiActivitySetAttribute_v2(self, (CUpti_ActivityAttribute)attribute, &size,
						&value);
}

static CUptiResult all_sync_records_shared(uint8_t is_on)
{
	return set_flag_shared(ALL_SYNC_RECORDS, is_on);
}

static CUptiResult device_graph_shared(uint8_t is_on)
{
	CUptiResult result = set_flag_shared(GRAPHS_AS_A_WHOLE, is_on);

	return result == CUPTI_SUCCESS ? set_flag_shared(DEVICE_GRAPH_TRACE, is_on) : result;
}

static CUptiResult thread_id_type_shared(CUpti_ActivityThreadIdType type)
{
	size_t size = sizeof(type);

	return api.cuptiActivitySetAttribute_v2(self, (CUpti_ActivityAttribute)THREAD_ID_TYPE,
						&size, &type);
}

static void CUPTIAPI request_shared(uint8_t **buffer, size_t *size, size_t *most_records,
				    void *info)
{
	(void)info;
	request(buffer, size, most_records);
}

static void CUPTIAPI complete_shared(uint8_t *buffer, size_t size, size_t valid_bytes, void *info)
{
	(void)info;
	complete(NULL, 0, buffer, size, valid_bytes);
}

static CUptiResult register_shared(CUpti_BuffersCallbackRequestFunc on_request,
				   CUpti_BuffersCallbackCompleteFunc on_complete)
{
	request = on_request;
	complete = on_complete;
	return api.cuptiActivityRegisterCallbacks_v2(self, request_shared, complete_shared);
}

static CUptiResult next_record_shared(uint8_t *buffer, size_t valid_bytes, CUpti_Activity **record)
{
	return api.cuptiActivityGetNextRecord_v2(self, buffer, valid_bytes, record);
}

static CUptiResult dropped_shared(CUcontext context, uint32_t stream, size_t *count)
{
	return api.cuptiActivityGetNumDroppedRecords_v2(self, context, stream, count);
}

static bool has_sharing(void)
{
#define CUPTI_HAS(function) &&api.function
	return api.version >= CUPTI_WITH_SHARING &&
	       api.cuptiSubscribe_v2 CUPTI_SHARING_FUNCTIONS(CUPTI_HAS);
#undef CUPTI_HAS
}

static void share(CUpti_SubscriberHandle subscriber)
{
	self = subscriber;
	api.cuptiActivityEnable = enable_shared;
	api.cuptiActivityDisable = disable_shared;
	api.cuptiActivityEnableAndDump = dump_shared;
	api.cuptiActivityEnableRuntimeApi = enable_runtime_shared;
	api.cuptiActivityEnableDriverApi = enable_driver_shared;
	api.cuptiActivityEnableAllSyncRecords = all_sync_records_shared;
	api.cuptiActivityEnableDeviceGraph = device_graph_shared;
	api.cuptiSetThreadIdType = thread_id_type_shared;
	api.cuptiActivitySetAttribute = set_attribute_shared;
	api.cuptiActivityRegisterCallbacks = register_shared;
	api.cuptiActivityGetNextRecord = next_record_shared;
	api.cuptiActivityGetNumDroppedRecords = dropped_shared;
}

/* CUPTI 12 does not name the one that was there before. */
CUptiResult cupti_api_subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
				char *other, size_t other_size)
{
	bool is_shared = has_sharing();
	struct cupti_shared_params parameters = {
		.first = {.structSize = is_shared ? offsetof(struct cupti_shared_params, padding) +
							    sizeof(parameters.padding)
						  : CUpti_SubscriberParams_STRUCT_SIZE,
			  .subscriberName = "rooflinectl",
			  .oldSubscriberName = other,
			  .oldSubscriberSize = other_size},
		.allow_multiple_subscribers = is_shared};
	CUptiResult result = api.cuptiSubscribe_v2 ? api.cuptiSubscribe_v2(subscriber, callback,
									   NULL, &parameters.first)
						   : api.cuptiSubscribe(subscriber, callback, NULL);

	if (result != CUPTI_SUCCESS)
		return result;
	if (is_shared)
		share(*subscriber);
	ask_version();
	return result;
}

/* ---- counters and samples ---- */

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
