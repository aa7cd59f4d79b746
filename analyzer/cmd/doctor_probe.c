#define _GNU_SOURCE /* dladdr */
#include "cmd/doctor_probe.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/paths.h"
#include "roofline/collector_env.h"
#include "roofline/cupti_versions.h"

/* A first cuInit on a machine with many GPUs and no persistence daemon takes several seconds. */
#define PROBE_TIMEOUT_MS 30000

#define CAP_SYS_ADMIN_BIT 21 /* linux/capability.h */

/* CUdevice_attribute of cuda.h, fixed by its ABI. */
enum { ATTRIBUTE_COMPUTE_MAJOR = 75, ATTRIBUTE_COMPUTE_MINOR = 76 };

/* What is asked of libcuda.so.1; CUresult and CUdevice are int in its ABI. */
struct driver_calls {
	int (*init)(unsigned int flags);
	int (*driver_version)(int *version);
	int (*device_count)(int *count);
	int (*device)(int *device, int ordinal);
	int (*device_name)(char *name, int length, int device);
	int (*device_attribute)(int *value, int attribute, int device);
	int (*error_name)(int result, const char **name);
};

static bool driver_resolve(struct driver_calls *calls, void *library)
{
	calls->init = dlsym(library, "cuInit");
	calls->driver_version = dlsym(library, "cuDriverGetVersion");
	calls->device_count = dlsym(library, "cuDeviceGetCount");
	calls->device = dlsym(library, "cuDeviceGet");
	calls->device_name = dlsym(library, "cuDeviceGetName");
	calls->device_attribute = dlsym(library, "cuDeviceGetAttribute");
	calls->error_name = dlsym(library, "cuGetErrorName");
	return calls->init && calls->driver_version && calls->device_count && calls->device &&
	       calls->device_name && calls->device_attribute && calls->error_name;
}

static void driver_ask_gpu(struct doctor_gpu *gpu, const struct driver_calls *calls, int ordinal)
{
	int device;

	if (calls->device(&device, ordinal) != 0)
		return;
	(void)calls->device_name(gpu->name, sizeof(gpu->name), device);
	(void)calls->device_attribute(&gpu->compute_major, ATTRIBUTE_COMPUTE_MAJOR, device);
	(void)calls->device_attribute(&gpu->compute_minor, ATTRIBUTE_COMPUTE_MINOR, device);
}

static void driver_ask(struct doctor_driver *driver, const struct driver_calls *calls)
{
	const char *name = NULL;

	(void)calls->driver_version(&driver->cuda_version);
	driver->init_result = calls->init(0);
	if (driver->init_result != 0) {
		(void)calls->error_name(driver->init_result, &name);
		snprintf(driver->init_text, sizeof(driver->init_text), "%s", name ? name : "?");
		return;
	}
	(void)calls->device_count(&driver->gpu_count);
	for (int i = 0; i < driver->gpu_count && i < DOCTOR_MAX_GPUS; i++)
		driver_ask_gpu(&driver->gpus[i], calls, i);
}

/* We only ask: neither our collector nor another profiler shall attach to this process. */
static void detach_profilers(void)
{
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
}

static void driver_work(void *result, const void *context)
{
	struct doctor_driver *driver = result;
	struct driver_calls calls;
	void *library;

	(void)context;
	detach_profilers();
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		snprintf(driver->load_error, sizeof(driver->load_error), "%s", dlerror());
	else if (!driver_resolve(&calls, library))
		snprintf(driver->load_error, sizeof(driver->load_error),
			 "libcuda.so.1 lacks a function that every CUDA driver has");
	else
		driver_ask(driver, &calls);
}

static enum probe_end probe_end(int rc)
{
	if (rc == 0)
		return PROBE_FINISHED;
	return rc == -ETIMEDOUT ? PROBE_HUNG : PROBE_CRASHED;
}

void doctor_probe_driver(struct doctor_driver *driver)
{
	memset(driver, 0, sizeof(*driver));
	driver->end =
		probe_end(child_call(driver_work, NULL, driver, sizeof(*driver), PROBE_TIMEOUT_MS));
}

static const char *variable_default(enum roofline_variable variable)
{
#define VARIABLE_DEFAULT(constant, name, fallback, meaning) [constant] = fallback,
	static const char *const defaults[] = {ROOFLINE_VARIABLES(VARIABLE_DEFAULT)};
#undef VARIABLE_DEFAULT
	return defaults[variable];
}

static void *cupti_open_named(const char *name)
{
#define CUPTI_FOLDER(path) path,
	static const char *const folders[] = {CUPTI_FOLDERS(CUPTI_FOLDER)};
#undef CUPTI_FOLDER
	char path[PATH_MAX];
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0;
	     !library && !strchr(name, '/') && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

static bool is_driver_before_13(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	return driver && !dlsym(driver, CUPTI_13_DRIVER_FUNCTION);
}

/* Searches where and in the order in which collector/cupti_api.c searches, so that both find the same library. */
static void *cupti_open(void)
{
#define CUPTI_LIBRARY(name) name,
	static const char *const names[] = {CUPTI_LIBRARIES(CUPTI_LIBRARY)};
#undef CUPTI_LIBRARY
	const size_t count = sizeof(names) / sizeof(names[0]);
	const char *wanted = getenv("ROOFLINE_CUPTI");
	const char *name = wanted && *wanted ? wanted : variable_default(ENV_CUPTI);
	size_t first = is_driver_before_13() ? 1 : 0;
	void *library = NULL;

	if (strcmp(name, CUPTI_ANY_LIBRARY) != 0)
		return cupti_open_named(name);
	for (size_t i = 0; !library && i < count; i++)
		library = cupti_open_named(names[(first + i) % count]);
	return library;
}

static void cupti_work(void *result, const void *context)
{
	struct doctor_cupti *cupti = result;
	int (*get_version)(uint32_t * version);
	void *library;
	Dl_info info;

	(void)context;
	detach_profilers();
	library = cupti_open();
	if (!library || !(get_version = dlsym(library, "cuptiGetVersion")))
		return;
	cupti->is_found = true;
	if (dladdr((void *)get_version, &info) && info.dli_fname)
		snprintf(cupti->path, sizeof(cupti->path), "%s", info.dli_fname);
	if (get_version(&cupti->version) != 0)
		cupti->version = 0;
	cupti->has_counters = dlsym(library, "cuptiRangeProfilerEnable") != NULL;
	cupti->has_sampling = dlsym(library, "cuptiPmSamplingEnable") != NULL;
}

void doctor_probe_cupti(struct doctor_cupti *cupti)
{
	memset(cupti, 0, sizeof(*cupti));
	cupti->end =
		probe_end(child_call(cupti_work, NULL, cupti, sizeof(*cupti), PROBE_TIMEOUT_MS));
}

/* First line that command prints, without its newline; "" when it fails. */
static void first_line_of(const char *command, char *line, size_t size)
{
	FILE *pipe = popen(command, "r");

	line[0] = '\0';
	if (!pipe)
		return;
	if (fgets(line, (int)size, pipe))
		line[strcspn(line, "\n")] = '\0';
	if (pclose(pipe) != 0)
		line[0] = '\0';
}

static void probe_gnuplot(struct doctor_gnuplot *gnuplot)
{
	char names[sizeof(gnuplot->terminals) - 2];

	first_line_of("timeout 20 gnuplot --version 2>/dev/null </dev/null", gnuplot->version,
		      sizeof(gnuplot->version));
	first_line_of("timeout 20 gnuplot -e 'set print \"-\"; print GPVAL_TERMINALS' 2>/dev/null"
		      " </dev/null",
		      names, sizeof(names));
	snprintf(gnuplot->terminals, sizeof(gnuplot->terminals), " %s ", names);
}

/* The line of proc/path that begins with key, behind the key; false when there is none. */
static bool proc_line(const char *proc, const char *path, const char *key, char *rest, size_t size)
{
	char name[PATH_MAX], line[1024];
	bool is_found = false;
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", proc, path);
	file = fopen(name, "r");
	if (!file)
		return false;
	while (!is_found && fgets(line, sizeof(line), file))
		is_found = !strncmp(line, key, strlen(key));
	fclose(file);
	if (is_found)
		snprintf(rest, size, "%s", line + strlen(key));
	return is_found;
}

/* "NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue ..." -> "580.95.05" */
static void probe_kernel_driver(struct doctor_system *system)
{
	char line[1024], *rest = line, *word;

	system->kernel_driver[0] = '\0';
	if (!proc_line(system->proc, "driver/nvidia/version", "NVRM version:", line, sizeof(line)))
		return;
	snprintf(system->kernel_driver, sizeof(system->kernel_driver), "of unknown version");
	while ((word = strsep(&rest, " \t\n")))
		if (isdigit((unsigned char)word[0]) && strchr(word, '.')) {
			snprintf(system->kernel_driver, sizeof(system->kernel_driver), "%s", word);
			return;
		}
}

void doctor_probe_files(struct doctor_system *system, const char *proc)
{
	char text[DOCTOR_TEXT];

	system->proc = proc;
	probe_kernel_driver(system);
	system->has_collector = path_resource(system->collector, sizeof(system->collector),
					      "lib/librooflinecollector.so") == 0;
	system->profiling_admin_only = -1;
	if (proc_line(proc, "driver/nvidia/params", "RmProfilingAdminOnly:", text, sizeof(text)))
		system->profiling_admin_only = strtol(text, NULL, 10) != 0;
	system->is_admin = proc_line(proc, "self/status", "CapEff:", text, sizeof(text)) &&
			   (strtoull(text, NULL, 16) >> CAP_SYS_ADMIN_BIT & 1);
}

void doctor_probe(struct doctor_system *system, const char *proc)
{
	memset(system, 0, sizeof(*system));
	doctor_probe_files(system, proc);
	doctor_probe_driver(&system->driver);
	doctor_probe_cupti(&system->cupti);
	probe_gnuplot(&system->gnuplot);
}
