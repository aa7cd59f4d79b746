/* cmd/doctor_checks.h: the judgement of machines that are described here by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/doctor_checks.h"

/* An imitation of /proc, one file at a time. */
static char proc[] = "/tmp/test_doctor.XXXXXX";

static void proc_write(const char *path, const char *text)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", proc, path);
	for (char *slash = name + sizeof(proc); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(name, 0755);
		*slash = '/';
	}
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A machine on which everything is as it should be. */
static struct doctor_system healthy_machine(void)
{
	struct doctor_system machine = {
		.proc = proc,
		.kernel_driver = "580.95.05",
		.driver = {.cuda_version = 13000,
			   .gpu_count = 1,
			   .gpus = {{"Imaginary GPU", 9, 0}}},
		.cupti = {.is_found = true,
			  .version = 130001,
			  .has_counters = true,
			  .has_sampling = true,
			  .path = "/lib/libcupti.so.13"},
		.gnuplot = {"gnuplot 5.4", " dumb pdfcairo pngcairo svg "},
		.has_collector = true,
		.profiling_admin_only = 1,
	};

	return machine;
}

static void expect(doctor_check check, const struct doctor_system *machine,
		   enum doctor_status status, const char *found, const char *fix)
{
	struct doctor_finding finding = {0};

	check(machine, &finding);
	assert_int_equal(finding.status, status);
	if (!strstr(finding.found, found))
		fail_msg("found '%s' lacks '%s'", finding.found, found);
	if (fix ? !strstr(finding.fix, fix) : finding.fix[0])
		fail_msg("fix '%s' instead of '%s'", finding.fix, fix ? fix : "");
}

static void counters_are_refused_to_ordinary_users(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	expect(doctor_check_counters, &machine, DOCTOR_MISSING, "RmProfilingAdminOnly is 1",
	       "NVreg_RestrictProfilingToAdminUsers=0");
	expect(doctor_check_sampling, &machine, DOCTOR_MISSING, "RmProfilingAdminOnly is 1",
	       "--cap-add=SYS_ADMIN");
}

static void a_privilege_or_an_open_driver_allows_counters(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	machine.is_admin = true;
	expect(doctor_check_counters, &machine, DOCTOR_OK, "CAP_SYS_ADMIN", NULL);
	machine.is_admin = false;
	machine.profiling_admin_only = 0;
	expect(doctor_check_counters, &machine, DOCTOR_OK, "every user", NULL);
	machine.profiling_admin_only = -1;
	expect(doctor_check_counters, &machine, DOCTOR_LIMITED, "does not tell", "NVreg_");
}

static void sampling_is_limited_on_ga100(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	machine.is_admin = true;
	expect(doctor_check_sampling, &machine, DOCTOR_OK, "allowed", NULL);
	machine.driver.gpus[0].compute_major = 8;
	expect(doctor_check_sampling, &machine, DOCTOR_LIMITED, "Imaginary GPU", "--counters");
	expect(doctor_check_counters, &machine, DOCTOR_OK, "allowed", NULL);
}

static void sampling_needs_a_cupti_that_can(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	machine.is_admin = true;
	machine.cupti.has_sampling = false;
	expect(doctor_check_sampling, &machine, DOCTOR_MISSING, "no PM sampling",
	       "install CUPTI 12.6");
	expect(doctor_check_counters, &machine, DOCTOR_OK, "allowed", NULL);
	machine.cupti.has_counters = false;
	expect(doctor_check_counters, &machine, DOCTOR_MISSING, "no range profiler",
	       "install CUPTI 12.6");
}

static void counters_need_a_cupti_that_is_not_newer_than_the_driver(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	machine.is_admin = true;
	machine.driver.cuda_version = 13000;
	machine.cupti.version = 130301;
	expect(doctor_check_counters, &machine, DOCTOR_MISSING,
	       "CUPTI 13.3 update 1 is newer than the driver, which is of CUDA 13.0",
	       "update the driver");
	expect(doctor_check_sampling, &machine, DOCTOR_MISSING, "newer than the driver",
	       "ROOFLINE_CUPTI");
	machine.driver.cuda_version = 13030;
	expect(doctor_check_counters, &machine, DOCTOR_OK, "allowed", NULL);
	machine.driver.cuda_version = 12080;
	machine.cupti.version = 28;
	expect(doctor_check_counters, &machine, DOCTOR_MISSING, "CUPTI 12.9", "update");
	machine.cupti.version = 26;
	expect(doctor_check_counters, &machine, DOCTOR_OK, "allowed", NULL);
}

static void tracing_needs_its_parts(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	expect(doctor_check_tracing, &machine, DOCTOR_OK, "no privilege", NULL);
	machine.driver.cuda_version = 12040;
	expect(doctor_check_tracing, &machine, DOCTOR_MISSING, "CUDA 12.4", "580");
	machine = healthy_machine();
	machine.has_collector = false;
	expect(doctor_check_tracing, &machine, DOCTOR_MISSING, "collector", NULL);
	machine = healthy_machine();
	machine.cupti.version = 21;
	expect(doctor_check_tracing, &machine, DOCTOR_MISSING, "CUPTI 12.4", NULL);
	expect(doctor_check_cupti, &machine, DOCTOR_LIMITED, "is CUPTI 12.3, older than 12.4",
	       "cuda-cupti-12-4");
	machine.cupti.version = 0;
	expect(doctor_check_cupti, &machine, DOCTOR_LIMITED, "tells no version", NULL);
	machine = healthy_machine();
	machine.driver.gpu_count = 0;
	expect(doctor_check_tracing, &machine, DOCTOR_MISSING, "no usable GPU", NULL);
}

static void cupti_12_needs_no_driver_of_cuda_13(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	machine.driver.cuda_version = 12040;
	machine.cupti.version = 22;
	expect(doctor_check_cupti, &machine, DOCTOR_OK, "12.4, /lib/libcupti", NULL);
	expect(doctor_check_tracing, &machine, DOCTOR_OK, "no privilege", NULL);
	machine.driver.cuda_version = 11080;
	expect(doctor_check_tracing, &machine, DOCTOR_MISSING, "CUDA 11.8, CUPTI 12 needs 12.0",
	       "525");
	machine.cupti.version = 130500;
	expect(doctor_check_cupti, &machine, DOCTOR_OK, "13.5, /lib", NULL);
	machine.driver.cuda_version = 12080;
	expect(doctor_check_tracing, &machine, DOCTOR_MISSING, "CUDA 12.8, CUPTI 13 needs 13.0",
	       "libcupti.so.12");
}

static void a_broken_driver_is_told_from_no_driver(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	expect(doctor_check_driver, &machine, DOCTOR_OK, "580.95.05, CUDA 13.0", NULL);
	snprintf(machine.driver.load_error, sizeof(machine.driver.load_error), "no libcuda.so.1");
	expect(doctor_check_driver, &machine, DOCTOR_MISSING, "kernel driver 580.95.05", "--gpus");
	machine.kernel_driver[0] = '\0';
	expect(doctor_check_driver, &machine, DOCTOR_MISSING, "no NVIDIA driver", "install");
	machine.driver.end = PROBE_HUNG;
	expect(doctor_check_driver, &machine, DOCTOR_MISSING, "hung", "reboot");
}

static void gnuplot_without_a_terminal_is_limited(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	expect(doctor_check_gnuplot, &machine, DOCTOR_OK, "svg", NULL);
	snprintf(machine.gnuplot.terminals, sizeof(machine.gnuplot.terminals), " dumb svg ");
	expect(doctor_check_gnuplot, &machine, DOCTOR_LIMITED, "pngcairo", "gnuplot-nox");
	machine.gnuplot.version[0] = '\0';
	expect(doctor_check_gnuplot, &machine, DOCTOR_MISSING, "no charts", "gnuplot-nox");
}

static void profilers_in_the_way_are_named(void **state)
{
	struct doctor_system machine = healthy_machine();

	(void)state;
	expect(doctor_check_profilers, &machine, DOCTOR_OK, "no other", NULL);
	proc_write("4242/comm", "nv-hostengine\n");
	expect(doctor_check_profilers, &machine, DOCTOR_LIMITED, "nv-hostengine", "dcgmi");
	setenv("CUDA_INJECTION64_PATH", "/opt/nsys/libToolsInjection64.so", 1);
	expect(doctor_check_profilers, &machine, DOCTOR_LIMITED, "libToolsInjection64",
	       "unset CUDA_INJECTION64_PATH");
	setenv("CUDA_INJECTION64_PATH", "/lib/librooflinecollector.so", 1);
	proc_write("4242/comm", "bash\n");
	expect(doctor_check_profilers, &machine, DOCTOR_OK, "no other", NULL);
	unsetenv("CUDA_INJECTION64_PATH");
	setenv("LD_PRELOAD", "/usr/lib/libjemalloc.so.2", 1);
	expect(doctor_check_profilers, &machine, DOCTOR_OK, "no other", NULL);
	unsetenv("LD_PRELOAD");
}

static void the_files_of_the_driver_are_understood(void **state)
{
	struct doctor_system machine = {0};

	(void)state;
	proc_write("driver/nvidia/version",
		   "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release\n"
		   "GCC version:  gcc 12.3.0\n");
	proc_write("driver/nvidia/params", "ResmanDebugLevel: 42\nRmProfilingAdminOnly: 1\n");
	proc_write("self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	doctor_probe_files(&machine, proc);
	assert_string_equal(machine.kernel_driver, "580.95.05");
	assert_int_equal(machine.profiling_admin_only, 1);
	assert_true(machine.is_admin);

	proc_write("driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	proc_write("self/status", "CapEff:\t00000000a80425fb\n"); /* Docker's default set */
	doctor_probe_files(&machine, proc);
	assert_int_equal(machine.profiling_admin_only, 0);
	assert_false(machine.is_admin);
}

static void a_machine_without_any_of_it_is_no_error(void **state)
{
	struct doctor_system machine;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	doctor_probe_files(&machine, "/nonexistent");
	assert_string_equal(machine.kernel_driver, "");
	assert_int_equal(machine.profiling_admin_only, -1);
	assert_false(machine.is_admin);
	assert_false(doctor_has_gpu(&machine));
	expect(doctor_check_gpus, &machine, DOCTOR_MISSING, "none", "record on a machine");
}

static int make_proc(void **state)
{
	(void)state;
	return mkdtemp(proc) ? 0 : -1;
}

static int remove_proc(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", proc);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name, function) {name, function, NULL, NULL, NULL}
		TEST("counters are refused to ordinary users, with the fix",
		     counters_are_refused_to_ordinary_users),
		TEST("CAP_SYS_ADMIN or an open driver allows counters",
		     a_privilege_or_an_open_driver_allows_counters),
		TEST("sampling is limited on GA100", sampling_is_limited_on_ga100),
		TEST("sampling needs a CUPTI that can", sampling_needs_a_cupti_that_can),
		TEST("counters need a CUPTI that is not newer than the driver",
		     counters_need_a_cupti_that_is_not_newer_than_the_driver),
		TEST("CUPTI 12 needs no driver of CUDA 13", cupti_12_needs_no_driver_of_cuda_13),
		TEST("tracing needs a GPU, CUPTI 13, the collector and a new driver",
		     tracing_needs_its_parts),
		TEST("a broken driver is told from no driver",
		     a_broken_driver_is_told_from_no_driver),
		TEST("gnuplot without one of its terminals is limited",
		     gnuplot_without_a_terminal_is_limited),
		TEST("profilers in the way are named, other preloads are not",
		     profilers_in_the_way_are_named),
		TEST("the driver's files in /proc are understood",
		     the_files_of_the_driver_are_understood),
		TEST("a machine without any of it is no error",
		     a_machine_without_any_of_it_is_no_error),
	};

	return cmocka_run_group_tests_name("doctor", tests, make_proc, remove_proc);
}
