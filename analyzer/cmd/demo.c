/*
 * demo.c - a newcomer's first minute: from a slow program to a verified fix, on real recordings.
 *
 * Runs the toolkit's own commands one after another, as the reader will do next, so what is shown is what they
 * print.  Each screen is a row of `screens`.  On a machine with a GPU both variants of the program are recorded
 * first; elsewhere the recordings are the bundled ones.
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
#include "cmd/doctor_probe.h"
#include "cmd/usage.h"

#define DEMO_FOLDER "roofline-demo"
#define DEMO_COUNTED_FOLDER "roofline-demo/counted"
#define DEMO_PAGE "roofline-demo/report.html"
#define DEMO_WORKLOAD "lib/rooflinectl/workloads/graph_chain"

/* RECORDING(words of screens stand for it, the bundled one, variant of the workload or NULL: always the bundled one) */
#define RECORDINGS(RECORDING)                           \
	RECORDING(BEFORE, "graph_chain.naive", "naive") \
	RECORDING(AFTER, "graph_chain.graph", "graph")  \
	RECORDING(COUNTED, "atomic_batch.naive", NULL)

#define RECORDING_INDEX(word, bundled, variant) INDEX_##word,
enum { RECORDINGS(RECORDING_INDEX) RECORDING_COUNT };
#undef RECORDING_INDEX

static const struct {
	const char *word, *bundled, *variant;
} recordings[] = {
#define RECORDING_ROW(word, bundled, variant) {#word, bundled, variant},
	RECORDINGS(RECORDING_ROW)
#undef RECORDING_ROW
};

#define COMMANDS_MOST 3
#define WORDS_MOST 8

static const struct screen {
	const char *title, *text;
	const char *commands[COMMANDS_MOST][WORDS_MOST];
} screens[] = {
	{"1. Record it",
	 ("graph_chain, variant naive: an iteration launches three short kernels, and waits for\n"
	  "the GPU after each.  To be recorded it is neither changed nor built anew."),
	 {{"record", "-o", "BEFORE", "--", "WORKLOAD", "naive"}}},
	{"2. What limits it?",
	 "The GPU idles: see for how long, and why.",
	 {{"report", "--section", "verdict,devices", "BEFORE"},
	  {"plot", "BEFORE", "--format", "term", "timeline"}}},
	{"3. What would help, and how much?",
	 "The recorded run is re-simulated with each change, alone and together.",
	 {{"report", "--section", "plan", "BEFORE"},
	  {"whatif", "--fewer-waits", "--graph", "BEFORE"}}},
	{"4. The change",
	 ("The variant graph of the same program launches an iteration as one CUDA graph, and\n"
	  "waits once:\n\n"
	  "    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
	  "    ...                                  /* the three launches of an iteration */\n"
	  "    cudaStreamEndCapture(stream, &graph);\n"
	  "    cudaGraphInstantiate(&executable, graph, 0);\n"
	  "    for (int i = 0; i < iterations; i++)\n"
	  "        cudaGraphLaunch(executable, stream);\n"
	  "    cudaStreamSynchronize(stream);"),
	 {{NULL}}},
	{"5. Record again",
	 "The changed program, in the same way:",
	 {{"record", "-o", "AFTER", "--", "WORKLOAD", "graph"}}},
	{"6. Was it true?",
	 "What was predicted for the change, beside what was measured:",
	 {{"verify", "BEFORE", "AFTER"}}},
	{"And where kernels are the limit?",
	 ("Another program, recorded on an NVIDIA H200 with record --counters: atomic_batch,\n"
	  "variant naive, where every thread adds to the same counter.  Look at the nearest\n"
	  "roof, and at what the atomics advise."),
	 {{"report", "--section", "roofline", "COUNTED"},
	  {"report", "--section", "atomics", "COUNTED"}}},
	{"Pictures",
	 "Charts as SVG, and all of the report as one page for a browser.",
	 {{"plot", "BEFORE", "-o", DEMO_FOLDER, "timeline", "gaps", "kernels", "launch_roofline"},
	  {"plot", "COUNTED", "-o", DEMO_COUNTED_FOLDER, "roofline", "atomics"},
	  {"report", "BEFORE", "--html", DEMO_PAGE}}},
};

/* What words in capitals stand for. */
struct places {
	char recordings[RECORDING_COUNT][PATH_MAX];
	char workload[PATH_MAX];
	bool is_fresh; /* the program is recorded here; else the recordings are bundled ones */
};

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
	.doc = "From a slow program to a verified fix, on recordings of a real GPU, with a word on each"
	       " step.\vWithout a GPU it reads bundled recordings of an H200.  With one it first records"
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

/* A link in the demo's folder has a name that is short to type. */
static int link_bundled(char *path, const char *name)
{
	char resource[PATH_MAX], bundled[PATH_MAX];

	snprintf(resource, sizeof(resource), "share/rooflinectl/recordings/%s" PATH_PACKED_SUFFIX,
		 name);
	if (path_resource(bundled, sizeof(bundled), resource) != 0) {
		fprintf(stderr,
			"demo: no recording at %s; build with `make` in a full checkout, or reinstall\n",
			bundled);
		return -1;
	}
	snprintf(path, PATH_MAX, DEMO_FOLDER "/%s" PATH_PACKED_SUFFIX, name);
	if ((unlink(path) == 0 || errno == ENOENT) && symlink(bundled, path) == 0)
		return 0;
	snprintf(path, PATH_MAX, "%s", bundled);
	return 0;
}

static int take_bundled(struct places *places)
{
	places->is_fresh = false;
	for (size_t i = 0; i < RECORDING_COUNT; i++)
		if (link_bundled(places->recordings[i], recordings[i].bundled) < 0)
			return -1;
	return 0;
}

/* Folders for fresh recordings where a program can be recorded, else the bundled ones; negative when there are neither. */
static int choose_recordings(struct places *places)
{
	time_t now = time(NULL);
	struct tm local;
	char stamp[32];

	if (take_bundled(places) < 0)
		return -1;
	places->is_fresh = can_record(places->workload, sizeof(places->workload));
	if (!places->is_fresh) {
		snprintf(places->workload, sizeof(places->workload), "graph_chain");
		return 0;
	}
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	for (size_t i = 0; i < RECORDING_COUNT; i++)
		if (recordings[i].variant)
			snprintf(places->recordings[i], PATH_MAX, DEMO_FOLDER "/graph_chain.%s.%s",
				 recordings[i].variant, stamp);
	return 0;
}

static const char *word_for(const char *word, const struct places *places)
{
	if (!strcmp(word, "WORKLOAD"))
		return places->workload;
	for (size_t i = 0; i < RECORDING_COUNT; i++)
		if (!strcmp(word, recordings[i].word))
			return places->recordings[i];
	return word;
}

/* The command as it is typed; then what it does. */
static int show_command(const char *const words[], struct places *places)
{
	const char *arguments[WORDS_MOST + 2] = {"rooflinectl"};

	for (size_t i = 0; i < WORDS_MOST && words[i]; i++)
		arguments[i + 1] = word_for(words[i], places);
	printf("\n$");
	for (size_t i = 0; arguments[i]; i++)
		printf(" %s", arguments[i]);
	printf("\n\n");
	if (strcmp(words[0], "record") != 0 || places->is_fresh)
		return run_self(arguments);
	puts("This was done on an NVIDIA H200; the recording is bundled with rooflinectl, and now\n"
	     "linked under that name.  Reading it needs no GPU.");
	return 0;
}

static int show_screen(const struct screen *screen, struct places *places)
{
	int rc = 0;

	printf("\n---- %s ----\n\n%s\n", screen->title, screen->text);
	for (size_t i = 0; rc == 0 && i < COMMANDS_MOST && screen->commands[i][0]; i++)
		rc = show_command(screen->commands[i], places);
	return rc;
}

/* Where the first recording fails the bundled ones are shown. */
static int show_screens(struct places *places)
{
	int rc = show_screen(&screens[0], places);

	if (rc != 0 && places->is_fresh) {
		fputs("demo: recording failed, see above and rooflinectl doctor; going on with the "
		      "bundled recordings\n",
		      stderr);
		rc = take_bundled(places);
	}
	for (size_t i = 1; rc == 0 && i < sizeof(screens) / sizeof(screens[0]); i++)
		rc = show_screen(&screens[i], places);
	return rc;
}

static void print_next(void)
{
	puts("\n---- Now your own program ----\n\n"
	     "  rooflinectl doctor                      what works on this machine\n"
	     "  rooflinectl analyze -o DIR -- app args  record it as often as needed (needs a GPU),\n"
	     "                                          and give the verdict\n"
	     "  rooflinectl report DIR                  where the time went, and why it idled\n"
	     "  rooflinectl advise DIR                  what to change, and how\n"
	     "  rooflinectl plot DIR                    the same as charts");
}

int cmd_demo(int argc, char **argv)
{
	static struct places places;

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
	if (choose_recordings(&places) != 0)
		return EXIT_FAILED;
	if (show_screens(&places) != 0) {
		fputs("demo: stopped, see the complaint above; rooflinectl doctor tells more\n",
		      stderr);
		return EXIT_FAILED;
	}
	print_next();
	return EXIT_OK;
}
