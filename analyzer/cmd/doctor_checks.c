#include "cmd/doctor_checks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "roofline/cupti_versions.h"

#define DRIVER_OLDEST_OF_12 12000 /* as cuDriverGetVersion says: branch 525 */
#define DRIVER_OLDEST_OF_13 13000 /* branch 580 */
#define FOLDER_LOW_BYTES (1ull << 30)

static const char fix_counters[] =
	"echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' |"
	" sudo tee /etc/modprobe.d/nvidia-profiling.conf, then reboot; or run with CAP_SYS_ADMIN"
	" (docker run --cap-add=SYS_ADMIN, and as root inside)";

static const char fix_cupti[] =
	"install the package cuda-cupti-13-0, or for an older driver cuda-cupti-12-4 or newer,"
	" or set ROOFLINE_CUPTI to the path of its library";

/* Sets the status and what was found; a fix is added with finding_fix. */
__attribute__((format(printf, 3, 4))) static void
finding_set(struct doctor_finding *finding, enum doctor_status status, const char *format, ...)
{
	va_list arguments;

	finding->status = status;
	finding->fix[0] = '\0';
	va_start(arguments, format);
	vsnprintf(finding->found, sizeof(finding->found), format, arguments);
	va_end(arguments);
}

static void finding_fix(struct doctor_finding *finding, const char *fix)
{
	snprintf(finding->fix, sizeof(finding->fix), "%s", fix);
}

bool doctor_has_gpu(const struct doctor_system *system)
{
	return system->driver.gpu_count > 0 || system->kernel_driver[0];
}

/* The kernel module is there but libcuda.so.1 is not: typical for containers. */
static void driver_without_library(const struct doctor_system *system,
				   struct doctor_finding *finding)
{
	finding_set(finding, DOCTOR_MISSING, "kernel driver %s, but %s", system->kernel_driver,
		    system->driver.load_error);
	finding_fix(finding, "install libcuda of that same version; in a container: docker run"
			     " --gpus all with the NVIDIA Container Toolkit");
}

void doctor_check_driver(const struct doctor_system *system, struct doctor_finding *finding)
{
	const struct doctor_driver *driver = &system->driver;

	if (driver->end != PROBE_FINISHED) {
		finding_set(finding, DOCTOR_MISSING, "libcuda.so.1 %s when asked to start",
			    driver->end == PROBE_HUNG ? "hung" : "crashed");
		finding_fix(finding,
			    "reinstall the NVIDIA driver, or reboot if it was just updated");
	} else if (driver->load_error[0] && system->kernel_driver[0]) {
		driver_without_library(system, finding);
	} else if (driver->load_error[0]) {
		finding_set(finding, DOCTOR_MISSING, "no NVIDIA driver");
		finding_fix(finding,
			    "on a machine with an NVIDIA GPU: install driver 580 or newer");
	} else if (driver->init_result != 0) {
		finding_set(finding, DOCTOR_MISSING, "libcuda.so.1 is there, but cuInit says %s",
			    driver->init_text);
		finding_fix(finding, "check nvidia-smi and that /dev/nvidia* are readable; reboot"
				     " if the driver was just updated");
	} else {
		finding_set(finding, DOCTOR_OK, "%s%sCUDA %d.%d", system->kernel_driver,
			    system->kernel_driver[0] ? ", " : "", driver->cuda_version / 1000,
			    driver->cuda_version % 1000 / 10);
	}
}

/* "NVIDIA H200, NVIDIA H200" for the GPUs that were asked. */
static void list_gpus(const struct doctor_driver *driver, char *list, size_t size)
{
	size_t used = 0;

	list[0] = '\0';
	for (int i = 0; i < driver->gpu_count && i < DOCTOR_MAX_GPUS && used < size; i++)
		used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "",
					 driver->gpus[i].name);
}

void doctor_check_gpus(const struct doctor_system *system, struct doctor_finding *finding)
{
	char list[768];

	if (system->driver.gpu_count > 0) {
		list_gpus(&system->driver, list, sizeof(list));
		finding_set(finding, DOCTOR_OK, "%d: %s", system->driver.gpu_count, list);
	} else if (doctor_has_gpu(system)) {
		finding_set(finding, DOCTOR_MISSING, "none that CUDA can use");
		finding_fix(finding, "check nvidia-smi -L and CUDA_VISIBLE_DEVICES");
	} else {
		finding_set(finding, DOCTOR_MISSING, "none");
		finding_fix(finding,
			    "record on a machine with an NVIDIA GPU, then copy the folder here");
	}
}

struct faults {
	char text[512]; /* "; FAULT; FAULT", "" where none is known */
};

static struct faults faults_of(uint32_t version)
{
	static const struct {
		uint32_t first, last;
		const char *text;
	} known[] = {
#define FAULT(first, last, text) {first, last, text},
		CUPTI_FAULTS(FAULT)
#undef FAULT
	};
	struct faults faults = {""};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (version >= known[i].first && version <= known[i].last &&
		    used < sizeof(faults.text))
			used += (size_t)snprintf(faults.text + used, sizeof(faults.text) - used,
						 "; %s", known[i].text);
	return faults;
}

void doctor_check_cupti(const struct doctor_system *system, struct doctor_finding *finding)
{
	const struct doctor_cupti *cupti = &system->cupti;

	if (cupti->end != PROBE_FINISHED) {
		finding_set(finding, DOCTOR_MISSING, "%s %s when loaded",
			    cupti->is_found ? cupti->path : "CUPTI",
			    cupti->end == PROBE_HUNG ? "hung" : "crashed");
		finding_fix(
			finding,
			"reinstall CUPTI (package cuda-cupti-13-0 or cuda-cupti-12-4 and newer)");
	} else if (!cupti->is_found) {
		finding_set(finding, DOCTOR_MISSING, "no libcupti.so.13 or libcupti.so.12 found");
		finding_fix(finding, fix_cupti);
	} else if (!cupti->version) {
		finding_set(finding, DOCTOR_LIMITED,
			    "%s tells no version: from 13.3 on it does only where a driver is",
			    cupti->path);
	} else if (cupti->version < CUPTI_OLDEST) {
		finding_set(finding, DOCTOR_LIMITED, "%s is CUPTI %s, older than 12.4", cupti->path,
			    cupti_release(cupti->version).text);
		finding_fix(finding, fix_cupti);
	} else {
		finding_set(finding, DOCTOR_OK, "%s, %s%s", cupti_release(cupti->version).text,
			    cupti->path, faults_of(cupti->version).text);
	}
}

void doctor_check_collector(const struct doctor_system *system, struct doctor_finding *finding)
{
	if (system->has_collector) {
		finding_set(finding, DOCTOR_OK, "%s", system->collector);
		return;
	}
	finding_set(finding, DOCTOR_MISSING, "%s is not there", system->collector);
	finding_fix(finding, "install CUDA toolkit 13 with CUPTI's headers, then: make collector");
}

static void check_driver_age(const struct doctor_system *system, struct doctor_finding *finding)
{
	bool is_13 = system->cupti.version >= CUPTI_OF_CUDA_13;
	int oldest = is_13 ? DRIVER_OLDEST_OF_13 : DRIVER_OLDEST_OF_12;

	if (system->driver.cuda_version >= oldest) {
		finding_set(finding, DOCTOR_OK, "allowed; it needs no privilege");
		return;
	}
	finding_set(finding, DOCTOR_MISSING, "the driver knows CUDA %d.%d, CUPTI %d needs %d.0",
		    system->driver.cuda_version / 1000, system->driver.cuda_version % 1000 / 10,
		    oldest / 1000, oldest / 1000);
	finding_fix(finding,
		    is_13 ? "update the NVIDIA driver to 580 or newer, or set ROOFLINE_CUPTI"
			    " to the path of CUDA 12's libcupti.so.12"
			  : "update the NVIDIA driver to 525 or newer");
}

void doctor_check_tracing(const struct doctor_system *system, struct doctor_finding *finding)
{
	if (system->driver.gpu_count == 0)
		finding_set(finding, DOCTOR_MISSING, "no usable GPU to trace");
	else if (!system->cupti.is_found || system->cupti.version < CUPTI_OLDEST ||
		 !system->has_collector)
		finding_set(finding, DOCTOR_MISSING,
			    "needs CUPTI 12.4 or newer and the collector, see above");
	else
		check_driver_age(system, finding);
}

/* Counters and sampling read the same hardware and need the same permission. */
static void check_permission(const struct doctor_system *system, struct doctor_finding *finding)
{
	if (system->driver.gpu_count == 0) {
		finding_set(finding, DOCTOR_MISSING, "no usable GPU");
	} else if (system->profiling_admin_only == 0) {
		finding_set(finding, DOCTOR_OK,
			    "allowed to every user (RmProfilingAdminOnly is 0)");
	} else if (system->is_admin) {
		finding_set(finding, DOCTOR_OK, "allowed to this process: it has CAP_SYS_ADMIN");
	} else if (system->profiling_admin_only < 0) {
		finding_set(finding, DOCTOR_LIMITED,
			    "perhaps not allowed: %s/driver/nvidia/params does not tell",
			    system->proc);
		finding_fix(finding, fix_counters);
	} else {
		finding_set(finding, DOCTOR_MISSING,
			    "only administrators may (RmProfilingAdminOnly is 1)");
		finding_fix(finding, fix_counters);
	}
}

static void find_no_function(struct doctor_finding *finding, const char *function,
			     const char *consequence)
{
	finding_set(finding, DOCTOR_MISSING, "this CUPTI has no %s, as 12.6 and newer have: %s",
		    function, consequence);
	finding_fix(finding,
		    "install CUPTI 12.6 or newer (package cuda-cupti-12-6 or cuda-cupti-13-0), or"
		    " set ROOFLINE_CUPTI to the path of its library");
}

/* Of counters and samples. */
static bool is_cupti_too_new(const struct doctor_system *system, struct doctor_finding *finding)
{
	const struct doctor_cupti *cupti = &system->cupti;
	int driver = system->driver.cuda_version;

	if (finding->status != DOCTOR_OK || !cupti->is_found ||
	    cupti_profiles_with(cupti->version, driver))
		return false;
	finding_set(finding, DOCTOR_MISSING,
		    "CUPTI %s is newer than the driver, which is of CUDA %d.%d: traces alone",
		    cupti_release(cupti->version).text, driver / 1000, driver % 1000 / 10);
	finding_fix(finding,
		    "update the driver, or set ROOFLINE_CUPTI to the path of a libcupti.so "
		    "of the driver's CUDA version");
	return true;
}

void doctor_check_counters(const struct doctor_system *system, struct doctor_finding *finding)
{
	check_permission(system, finding);
	if (is_cupti_too_new(system, finding))
		return;
	if (finding->status == DOCTOR_OK && system->cupti.is_found && !system->cupti.has_counters)
		find_no_function(finding, "range profiler", "no hardware counters");
}

/* CUpti's time-triggered sampling exists from GA10x on, not on GA100 (cupti_pmsampling.h). */
static bool can_sample(const struct doctor_gpu *gpu)
{
	return gpu->compute_major > 8 || (gpu->compute_major == 8 && gpu->compute_minor > 0);
}

void doctor_check_sampling(const struct doctor_system *system, struct doctor_finding *finding)
{
	check_permission(system, finding);
	if (is_cupti_too_new(system, finding) || finding->status != DOCTOR_OK)
		return;
	if (system->cupti.is_found && !system->cupti.has_sampling) {
		find_no_function(finding, "PM sampling", "no samples over time");
		return;
	}
	for (int i = 0; i < system->driver.gpu_count && i < DOCTOR_MAX_GPUS; i++)
		if (!can_sample(&system->driver.gpus[i])) {
			finding_set(finding, DOCTOR_LIMITED,
				    "%s cannot sample at a fixed interval: no samples over time",
				    system->driver.gpus[i].name);
			finding_fix(finding, "counters by launch work there: record --counters");
			return;
		}
}

/* Programs that hold what we need, by the name that /proc shows (15 characters). */
static const struct {
	const char *comm, *blocks;
} other_profilers[] = {
	{"nsys", "tracing of programs that it started"},
	{"nsys-launcher", "tracing of programs that it started"},
	{"ncu", "counters, and tracing of programs that it started"},
	{"nv-nsight-cu-cl", "counters, and tracing of programs that it started"},
	{"cuda-gdb", "tracing of programs that it debugs"},
	{"compute-sanitiz", "tracing of programs that it checks"},
	{"nv-hostengine", "counters and sampling, while DCGM profiles"},
	{"dcgm-exporter", "counters and sampling, while DCGM profiles"},
};

/* Index into other_profilers of the first one that runs, or -1. */
static int find_running_profiler(const char *proc)
{
	DIR *dir = opendir(proc);
	struct dirent *entry;
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir))) {
		char path[PATH_MAX], comm[64] = "";
		FILE *file;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%s/comm", proc, entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = '\0';
		fclose(file);
		for (size_t i = 0; i < sizeof(other_profilers) / sizeof(other_profilers[0]); i++)
			if (!strcmp(comm, other_profilers[i].comm))
				found = (int)i;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* LD_PRELOAD is used for much else, so it counts only with a profiler's name in it. */
static bool is_profiler_preload(const char *value)
{
	static const char *const names[] = {"nsys",  "nsight",	  "ncu",     "TreeLauncher",
					    "cupti", "Injection", "profiler"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(value, names[i]))
			return true;
	return false;
}

/* Name of a variable that makes CUDA programs load another tool, or NULL. */
static const char *find_injection(void)
{
	static const char *const names[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
					    "LD_PRELOAD"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (!value || !*value || strstr(value, "librooflinecollector"))
			continue;
		if (strcmp(names[i], "LD_PRELOAD") != 0 || is_profiler_preload(value))
			return names[i];
	}
	return NULL;
}

void doctor_check_profilers(const struct doctor_system *system, struct doctor_finding *finding)
{
	const char *variable = find_injection();
	int running = find_running_profiler(system->proc);

	if (variable) {
		finding_set(finding, DOCTOR_LIMITED,
			    "%s is set to %s: CUDA has room for one profiler", variable,
			    getenv(variable));
		snprintf(finding->fix, sizeof(finding->fix), "unset %s", variable);
	} else if (running >= 0) {
		finding_set(finding, DOCTOR_LIMITED, "%s is running; it can block %s",
			    other_profilers[running].comm, other_profilers[running].blocks);
		snprintf(finding->fix, sizeof(finding->fix),
			 "end %s before recording (DCGM: dcgmi profile --pause)",
			 other_profilers[running].comm);
	} else {
		finding_set(finding, DOCTOR_OK, "no other one in the way");
	}
}

void doctor_check_gnuplot(const struct doctor_system *system, struct doctor_finding *finding)
{
	static const char *const terminals[] = {"svg", "pngcairo", "pdfcairo", "dumb"};
	const struct doctor_gnuplot *gnuplot = &system->gnuplot;
	char word[32];

	if (!gnuplot->version[0]) {
		finding_set(finding, DOCTOR_MISSING, "gnuplot does not run: no charts");
		finding_fix(finding, "install the package gnuplot-nox (make setup)");
		return;
	}
	for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
		snprintf(word, sizeof(word), " %s ", terminals[i]);
		if (strstr(gnuplot->terminals, word))
			continue;
		finding_set(finding, DOCTOR_LIMITED, "%s without the terminal %s", gnuplot->version,
			    terminals[i]);
		finding_fix(finding, "install the package gnuplot-nox (make setup)");
		return;
	}
	finding_set(finding, DOCTOR_OK, "%s: svg, png, pdf and terminal", gnuplot->version);
}

void doctor_check_folder(const struct doctor_system *system, struct doctor_finding *finding)
{
	struct statvfs disk;
	unsigned long long free_bytes;

	(void)system;
	if (access(".", W_OK | X_OK) != 0) {
		finding_set(finding, DOCTOR_LIMITED, "the current folder cannot be written: %s",
			    strerror(errno));
		finding_fix(finding, "go to another folder, or give record and plot one with -o");
		return;
	}
	free_bytes =
		statvfs(".", &disk) == 0 ? (unsigned long long)disk.f_bavail * disk.f_frsize : 0;
	finding_set(finding, free_bytes < FOLDER_LOW_BYTES ? DOCTOR_LIMITED : DOCTOR_OK,
		    "the current folder is writable, %.1f GiB free",
		    (double)free_bytes / (double)(1ull << 30));
	if (finding->status == DOCTOR_LIMITED)
		finding_fix(finding, "free some space, or give record another disk with -o");
}
