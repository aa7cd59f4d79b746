/*
 * doctor_probe.h - what this machine has: driver, GPUs, CUPTI, gnuplot, permissions.
 *
 * Probes only ask; doctor_checks.h judges.  NVIDIA's libraries are loaded in a
 * child with a time limit and without CUDA headers, so that a broken driver
 * costs an answer and not the command.
 */
#ifndef ROOFLINE_DOCTOR_PROBE_H
#define ROOFLINE_DOCTOR_PROBE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define DOCTOR_MAX_GPUS 16
#define DOCTOR_TEXT 256

enum probe_end { PROBE_FINISHED, PROBE_CRASHED, PROBE_HUNG };

struct doctor_gpu {
	char name[96];
	int compute_major, compute_minor;
};

/* libcuda.so.1, asked step by step; a step that failed leaves the later members 0. */
struct doctor_driver {
	enum probe_end end;
	char load_error[DOCTOR_TEXT]; /* "" when libcuda.so.1 was loaded */
	int cuda_version;	      /* 13000 for 13.0 */
	int init_result;	      /* CUresult of cuInit */
	char init_text[DOCTOR_TEXT];  /* its name: CUDA_ERROR_NO_DEVICE */
	int gpu_count;
	struct doctor_gpu gpus[DOCTOR_MAX_GPUS]; /* the first of them */
};

struct doctor_cupti {
	enum probe_end end;
	bool is_found;
	uint32_t
		version; /* 130001 for 13.0 update 1; 0: it tells none, as of 13.3 without a driver */
	bool has_counters; /* the range profiler, which record --counters takes */
	bool has_sampling; /* PM sampling, which record --sample takes */
	char path[PATH_MAX];
};

struct doctor_gnuplot {
	char version[DOCTOR_TEXT]; /* "" when gnuplot does not run */
	char terminals[PATH_MAX];  /* " canvas dumb svg ", every name between blanks */
};

/* Everything that the checks look at.  Tests fill it in by hand. */
struct doctor_system {
	const char *proc;		 /* "/proc" */
	char kernel_driver[DOCTOR_TEXT]; /* version, "" without the nvidia kernel module */
	struct doctor_driver driver;
	struct doctor_cupti cupti;
	struct doctor_gnuplot gnuplot;
	char collector[PATH_MAX]; /* where it is expected */
	bool has_collector;
	int profiling_admin_only; /* RmProfilingAdminOnly: 0, 1, or -1 when it cannot be read */
	bool is_admin;		  /* CAP_SYS_ADMIN is effective */
};

/* proc is borrowed: "/proc", or a test's imitation of it. */
void doctor_probe_driver(struct doctor_driver *driver);
void doctor_probe_cupti(struct doctor_cupti *cupti);
void doctor_probe(struct doctor_system *system, const char *proc);

/* Only what lies under proc and beside us: no NVIDIA library is loaded, nothing is run. */
void doctor_probe_files(struct doctor_system *system, const char *proc);

#endif
