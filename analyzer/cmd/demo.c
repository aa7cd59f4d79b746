/*
 * demo.c - a newcomer's first minute: the main job, shown on a real recording.
 *
 * Runs the toolkit's own commands one after another, as the reader will do
 * next, so what is shown is what they print.  On a machine with a GPU it
 * records a fresh run first; elsewhere it takes the bundled recording.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"
#include "cmd/commands.h"
#include "cmd/usage.h"
#include "cmd/doctor_probe.h"

#define DEMO_FOLDER "roofline-demo"
#define DEMO_COUNTED_FOLDER "roofline-demo/counted"
#define DEMO_RECORDING "share/rooflinectl/recordings/graph_chain.naive" PATH_PACKED_SUFFIX
#define DEMO_COUNTED "share/rooflinectl/recordings/atomic_batch.naive" PATH_PACKED_SUFFIX
#define DEMO_WORKLOAD "lib/rooflinectl/workloads/graph_chain"

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		usage_fail(state, "no argument is expected, got '%s'", argument);
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	usage_init(state);
	return 0;
}

static const struct argp parser = {
	.parser = parse_option,
	.doc = "The main job on a recording of a real GPU: a report and charts, with a word on each.\v"
	       "Without a GPU it reads the bundled recording of an H200.  With one it first records"
	       " the workload graph_chain here.  Files go to ./" DEMO_FOLDER ".",
};

/* Runs this same program with other arguments and waits for it.  0, or -1 when it failed. */
static int run_self(const char *const arguments[])
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execv("/proc/self/exe", (char *const *)arguments);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

#define RUN_SELF(...) run_self((const char *const[]){"rooflinectl", __VA_ARGS__, NULL})

/* True when a GPU answers and both the collector and the workload were built. */
static bool can_record(char *workload, size_t size)
{
	char collector[PATH_MAX];
	struct doctor_driver driver;

	if (path_resource(collector, sizeof(collector), "lib/librooflinecollector.so") != 0 ||
	    path_resource(workload, size, DEMO_WORKLOAD) != 0)
		return false;
	doctor_probe_driver(&driver);
	return driver.end == PROBE_FINISHED && driver.gpu_count > 0;
}

/* Records the naive graph_chain into a new folder.  Returns 0 and its path. */
static int record_fresh(char *recording, size_t size, const char *workload)
{
	time_t now = time(NULL);
	struct tm local;
	char stamp[32];

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	snprintf(recording, size, DEMO_FOLDER "/graph_chain.naive.%s", stamp);
	printf("This machine has a GPU, so the demo records on it:\n\n"
	       "$ rooflinectl record -o %s -- %s naive\n\n",
	       recording, workload);
	if (RUN_SELF("record", "-o", recording, "--", workload, "naive") == 0)
		return 0;
	fputs("demo: recording failed, see above and rooflinectl doctor;"
	      " going on with the bundled recording\n",
	      stderr);
	return -1;
}

/* A fresh recording where that is possible, else the bundled one; negative when there is neither. */
static int choose_recording(char *recording, size_t size)
{
	char workload[PATH_MAX];

	if (can_record(workload, sizeof(workload)) && record_fresh(recording, size, workload) == 0)
		return 0;
	if (path_resource(recording, size, DEMO_RECORDING) != 0) {
		fprintf(stderr,
			"demo: no recording at %s; build with `make` in a full checkout, or"
			" reinstall\n",
			recording);
		return -1;
	}
	puts("Recorded earlier on an NVIDIA H200 and bundled with rooflinectl; reading it needs"
	     " no GPU.");
	return 0;
}

static void print_subject(void)
{
	puts("\nThe program: graph_chain, variant naive.  An iteration launches three short\n"
	     "kernels and then waits for the GPU, so between iterations the GPU idles.\n"
	     "Look at how much of the time was idle, and at the causes.\n");
}

static int show(const char *recording)
{
	printf("$ rooflinectl report %s\n\n", recording);
	if (RUN_SELF("report", recording) != 0)
		return -1;
	printf("\n$ rooflinectl plot %s --format term timeline\n\n", recording);
	if (RUN_SELF("plot", recording, "--format", "term", "timeline") != 0)
		return -1;
	printf("\n$ rooflinectl plot %s -o " DEMO_FOLDER "    # for a browser\n\n", recording);
	if (RUN_SELF("plot", recording, "-o", DEMO_FOLDER) != 0)
		return -1;
	return 0;
}

/* Where kernels stand needs hardware counters, which the first recording does without: a second one. */
static int show_counted(void)
{
	char recording[PATH_MAX];

	if (path_resource(recording, sizeof(recording), DEMO_COUNTED) != 0) {
		fprintf(stderr,
			"demo: no recording at %s; build with `make` in a full checkout, or"
			" reinstall\n",
			recording);
		return -1;
	}
	puts("\nAnother program, recorded earlier on an NVIDIA H200 with record --counters:\n"
	     "atomic_batch, variant naive, where every thread adds to the same counter.\n"
	     "Look at the nearest roof, and at what the atomics advise.\n");
	printf("$ rooflinectl report --section roofline %s\n\n", recording);
	if (RUN_SELF("report", "--section", "roofline", recording) != 0)
		return -1;
	printf("\n$ rooflinectl report --section atomics %s\n\n", recording);
	if (RUN_SELF("report", "--section", "atomics", recording) != 0)
		return -1;
	printf("\n$ rooflinectl plot %s -o " DEMO_COUNTED_FOLDER " roofline atomics\n\n",
	       recording);
	if (RUN_SELF("plot", recording, "-o", DEMO_COUNTED_FOLDER, "roofline", "atomics") != 0)
		return -1;
	return 0;
}

static void print_next(void)
{
	puts("\nNow your own program:\n"
	     "  rooflinectl doctor                      what works on this machine\n"
	     "  rooflinectl record -o DIR -- app args   record it (needs a GPU)\n"
	     "  rooflinectl record --counters -o DIR -- app args\n"
	     "                                          the same with FLOPs, bytes and atomics\n"
	     "  rooflinectl report DIR                  where the time went, and why it idled\n"
	     "  rooflinectl plot DIR                    the same as charts");
}

int cmd_demo(int argc, char **argv)
{
	char recording[PATH_MAX];

	if (usage_parse(&parser, argc, argv, 0, NULL))
		return EXIT_USAGE;
	if ((mkdir(DEMO_FOLDER, 0777) != 0 && errno != EEXIST) ||
	    access(DEMO_FOLDER "/.", W_OK | X_OK) != 0) {
		fprintf(stderr,
			"demo: cannot write to ./" DEMO_FOLDER ": %s; go to a folder that"
			" can be written\n",
			strerror(errno));
		return EXIT_FAILED;
	}
	if (choose_recording(recording, sizeof(recording)) != 0)
		return EXIT_FAILED;
	print_subject();
	if (show(recording) != 0 || show_counted() != 0) {
		fputs("demo: stopped, see the complaint above; rooflinectl doctor tells more\n",
		      stderr);
		return EXIT_FAILED;
	}
	print_next();
	return EXIT_OK;
}
