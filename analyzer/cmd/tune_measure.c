/* tune_measure.c - the figure of one trial. */
#define _GNU_SOURCE
#include "cmd/tune_measure.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/doctor_probe.h"
#include "cmd/record_options.h"
#include "cmd/record_output.h"
#include "cmd/record_run.h"
#include "cmd/tune_explain.h"
#include "cmd/tune_run.h"

#define POINT_BYTES 1024
#define FNV_START UINT64_C(14695981039346656037)

/* ---- the fingerprint ---- */

/* FNV-1a: no one has a reason to make two programs alike here. */
static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * UINT64_C(1099511628211);
	return hash;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
	return add_bytes(hash, text, strlen(text) + 1);
}

static uint64_t add_file(uint64_t hash, const char *path)
{
	FILE *file = fopen(path, "re");
	char bytes[65536];
	size_t count;

	if (!file)
		return hash;
	while ((count = fread(bytes, 1, sizeof(bytes), file)) > 0)
		hash = add_bytes(hash, bytes, count);
	fclose(file);
	return hash;
}

/* As execvp finds it. */
static uint64_t add_program(uint64_t hash, const char *name)
{
	const char *folders = strchr(name, '/') ? NULL : getenv("PATH");
	char *list = strdup(folders ? folders : ""), *rest = list, *folder;
	char path[PATH_MAX];

	if (!folders)
		hash = add_file(hash, name);
	while (folders && list && (folder = strsep(&rest, ":"))) {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (access(path, X_OK) == 0) {
			hash = add_file(hash, path);
			break;
		}
	}
	free(list);
	return hash;
}

/* Words of the command that name files are of the program as well: a script behind its interpreter. */
static uint64_t add_command(uint64_t hash, char **command)
{
	struct stat status;

	hash = add_program(hash, command[0]);
	for (char **word = command; *word; word++) {
		hash = add_text(hash, *word);
		if (word > command && stat(*word, &status) == 0 && S_ISREG(status.st_mode))
			hash = add_file(hash, *word);
	}
	return hash;
}

/* Variables of a terminal, a login, a shell or a batch job, which another one has otherwise; "SSH_" stands for all that begin
 * so. */
static const char *const session_variables[] = {
	"_=",
	"COLORTERM=",
	"COLUMNS=",
	"DBUS_",
	"DISPLAY=",
	"GPG_",
	"INVOCATION_ID=",
	"JOURNAL_STREAM=",
	"LINES=",
	"LSB_",
	"LS_COLORS=",
	"MAIL=",
	"OLDPWD=",
	"PBS_",
	"PS1=",
	"PWD=",
	"SESSION_MANAGER=",
	"SHLVL=",
	"SLURM",
	"SSH_",
	"STY=",
	"TERM",
	"TMUX",
	"VTE_",
	"WAYLAND_",
	"WINDOWID=",
	"XAUTHORITY=",
	"XDG_RUNTIME_DIR=",
	"XDG_SESSION_",
};

static bool is_of_session(const char *variable)
{
	for (size_t i = 0; i < sizeof(session_variables) / sizeof(*session_variables); i++)
		if (!strncmp(variable, session_variables[i], strlen(session_variables[i])))
			return true;
	return false;
}

/* All others: which of them a program heeds, only its author knows.  In whatever order they stand. */
static uint64_t add_environment(uint64_t hash)
{
	uint64_t sum = 0;

	for (char **variable = environ; variable && *variable; variable++)
		if (!is_of_session(*variable))
			sum += add_text(FNV_START, *variable);
	return add_bytes(hash, &sum, sizeof(sum));
}

static uint64_t fingerprint_of(const struct tune_options *options)
{
	uint64_t hash = add_text(FNV_START, options->objective.text);
	struct doctor_driver driver;

	doctor_probe_driver(&driver);
	for (int i = 0; i < driver.gpu_count && i < DOCTOR_MAX_GPUS; i++)
		hash = add_text(hash, driver.gpus[i].name);
	return add_command(add_environment(hash), options->command);
}

/* ---- opening ---- */

static void choose_folder(struct tune_bench *bench)
{
	time_t now = time(NULL);
	struct tm local;
	char when[32];

	if (bench->options->output) {
		snprintf(bench->folder, sizeof(bench->folder), "%s", bench->options->output);
	} else if (!bench->options->source) {
		strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
		snprintf(bench->folder, sizeof(bench->folder), "tune.%s.%d", when, (int)getpid());
	}
}

static int open_file(struct tune_bench *bench, struct err *err)
{
	char path[2 * PATH_MAX];

	if (!*bench->folder)
		return 0;
	if (mkdir(bench->folder, 0777) < 0 && errno != EEXIST)
		return err_set(err, -errno, "%s: cannot make the folder: %s", bench->folder,
			       strerror(errno));
	snprintf(path, sizeof(path), "%s/" TUNE_RESULTS_FILE, bench->folder);
	bench->file = fopen(path, "ae");
	return bench->file ? 0
			   : err_set(err, -errno, "%s: cannot write: %s", path, strerror(errno));
}

/* Where results are added, sessions are counted on. */
static int find_session(struct tune_bench *bench, struct err *err)
{
	struct tune_results before = {0};
	int rc = *bench->folder ? tune_results_read(&before, bench->folder, err) : 0;

	for (size_t i = 0; i < before.count; i++)
		if (before.items[i].session > bench->session)
			bench->session = before.items[i].session;
	bench->session++;
	tune_results_free(&before);
	return rc;
}

static int read_stored(struct tune_bench *bench, struct err *err)
{
	const struct tune_options *options = bench->options;
	const char *folder = options->source ? options->source : bench->folder;
	int rc = *folder ? tune_results_read(&bench->stored, folder, err) : 0;

	if (rc < 0)
		return rc;
	if (options->source && !bench->stored.count)
		return err_set(err, -ENOENT, "%s holds no measurements (" TUNE_RESULTS_FILE ")",
			       folder);
	bench->is_taken = calloc(bench->stored.count + 1, sizeof(*bench->is_taken));
	return bench->is_taken ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* A trial that took too long may end now: --trial-timeout is longer than it was given then. */
static bool has_more_time(const struct tune_options *options, const struct tune_result *result)
{
	return result->outcome.status == TUNE_TIMED_OUT &&
	       options->trial_timeout_s > result->seconds;
}

/* Of --from what has this objective, from wherever it was measured. */
static bool is_usable(const struct tune_bench *bench, const struct tune_result *result)
{
	const struct tune_options *options = bench->options;

	if (result->is_stored || result->outcome.status == TUNE_NOT_STORED)
		return false;
	if (options->source)
		return !strcmp(result->objective, options->objective.text);
	return !options->is_fresh && result->fingerprint == bench->fingerprint &&
	       !has_more_time(options, result);
}

int tune_bench_open(struct tune_bench *bench, const struct tune_options *options, struct err *err)
{
	int rc;

	*bench = (struct tune_bench){.options = options};
	bench->device = calloc(1, sizeof(*bench->device));
	if (!bench->device)
		return err_set(err, -ENOMEM, "out of memory");
	choose_folder(bench);
	bench->fingerprint = fingerprint_of(options);
	rc = read_stored(bench, err);
	if (rc == 0)
		rc = find_session(bench, err);
	if (rc == 0)
		rc = open_file(bench, err);
	for (size_t i = 0; rc == 0 && i < bench->stored.count; i++) {
		bench->is_taken[i] = !is_usable(bench, &bench->stored.items[i]);
		bench->other_count += bench->is_taken[i] && !options->is_fresh &&
				      !bench->stored.items[i].is_stored;
	}
	return rc;
}

void tune_bench_close(struct tune_bench *bench)
{
	if (bench->file)
		fclose(bench->file);
	tune_results_free(&bench->stored);
	free(bench->is_taken);
	free(bench->device);
	*bench = (struct tune_bench){0};
}

/* ---- measuring ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

void tune_bench_remove(const char *folder)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int tune_bench_record(const struct tune_options *options, struct tune_run *run, const char *folder,
		      const char *counters, struct err *err)
{
	struct record_output output;

	record_set_variable(ENV_OUTPUT, folder);
	record_unset_variable(ENV_COUNTERS);
	if (counters)
		record_set_variable(ENV_COUNTERS, counters);
	if (record_output_choose(&output, WHO) || record_inject(WHO) < 0)
		return err_set(err, -EINVAL, "%s cannot be recorded, for the reason above",
			       options->objective.text);
	return tune_run(run, err);
}

static void complain(struct tune_bench *bench, const char *what)
{
	snprintf(bench->complaint, sizeof(bench->complaint), "%s", what);
}

/* What the run was like, before its figure is looked for. */
static enum tune_status status_of(struct tune_bench *bench, const struct tune_run *run)
{
	char end[64];

	if (run->process.interrupted_by)
		bench->interrupted_by = run->process.interrupted_by;
	if (run->process.is_timed_out) {
		complain(bench, "longer than --trial-timeout");
		return TUNE_TIMED_OUT;
	}
	if (!run->process.status)
		return TUNE_OK;
	record_describe_end(run->process.status, end, sizeof(end));
	snprintf(bench->complaint, sizeof(bench->complaint), "%s%s%s", end,
		 *run->complaint ? ": " : "", run->complaint);
	return TUNE_FAILED;
}

/* That nothing has the name, and the first name that there is. */
static void tell_names(struct tune_bench *bench, const struct profile *profile)
{
	const struct tune_objective *objective = &bench->options->objective;
	bool is_kernel = objective->kind == TUNE_OBJECTIVE_KERNEL;
	const char *what = is_kernel ? "kernel" : "NVTX range", *first = NULL;
	char shown[128];

	if (is_kernel && profile->kernel_name_count)
		first = profile->kernel_names[0];
	if (!is_kernel && profile->range_count)
		first = profile->ranges[0].name;
	format_text(shown, sizeof(shown), first ? first : "", 30);
	snprintf(bench->complaint, sizeof(bench->complaint), "no %s '%s' was recorded%s%s%s", what,
		 objective->argument, first ? ", but '" : ", nor any other", shown,
		 first ? "' was" : "");
}

static bool read_recording(struct tune_bench *bench, const char *folder, struct tune_trial *trial)
{
	const struct profile_device *device;
	struct profile *profile;
	struct err err = {""};
	bool is_found;

	if (profile_load(&profile, folder, &err) < 0) {
		complain(bench, "nothing was recorded: the program did not use CUDA");
		return false;
	}
	is_found = tune_objective_of_profile(&bench->options->objective, profile, &trial->value,
					     &trial->launch, &device);
	if (device && !bench->device->max_warps_per_sm) {
		*bench->device = *device;
		bench->device->name = bench->device->uuid = NULL;
	}
	if (!is_found)
		tell_names(bench, profile);
	profile_free(profile);
	return is_found;
}

static bool read_value(struct tune_bench *bench, const struct tune_run *run, const char *folder,
		       struct tune_trial *trial)
{
	const struct tune_objective *objective = &bench->options->objective;

	if (tune_objective_is_recorded(objective))
		return read_recording(bench, folder, trial);
	if (objective->kind == TUNE_OBJECTIVE_WALL) {
		trial->value = run->process.seconds * 1e9;
		return true;
	}
	if (tune_objective_of_output(objective, run->output, &trial->value))
		return true;
	complain(bench, "it printed no number where the regular expression matches");
	return false;
}

static int run_trial(struct tune_bench *bench, struct tune_trial *trial, double *seconds,
		     struct err *err)
{
	const struct tune_options *options = bench->options;
	struct tune_run run = {
		.process.command = tune_command_of(options->command, &options->space, trial->point),
		.process.timeout_s = options->trial_timeout_s,
		.is_shown = options->is_shown,
	};
	char folder[2 * PATH_MAX];
	int rc;

	if (!run.process.command)
		return err_set(err, -ENOMEM, "out of memory");
	snprintf(folder, sizeof(folder), "%s/trial.%d", bench->folder, (int)getpid());
	rc = tune_objective_is_recorded(&options->objective)
		     ? tune_bench_record(options, &run, folder, NULL, err)
		     : tune_run(&run, err);
	if (rc == 0) {
		trial->status = status_of(bench, &run);
		if (trial->status == TUNE_OK && !read_value(bench, &run, folder, trial))
			trial->status = TUNE_NO_VALUE;
		*seconds = run.process.seconds;
	}
	tune_bench_remove(folder);
	tune_run_free(&run);
	tune_command_free(run.process.command);
	return rc;
}

/* ---- stored ---- */

/* The first measurement of this point that was not used yet, or NULL. */
static const struct tune_result *take_stored(struct tune_bench *bench, const char *point)
{
	for (size_t i = 0; i < bench->stored.count; i++)
		if (!bench->is_taken[i] && !strcmp(bench->stored.items[i].point, point)) {
			bench->is_taken[i] = true;
			return &bench->stored.items[i];
		}
	return NULL;
}

/* With --from a point may be asked for more often than it was measured: it then begins again. */
static const struct tune_result *find_stored(struct tune_bench *bench, const char *point)
{
	const struct tune_result *found = take_stored(bench, point);

	if (found || !bench->options->source)
		return found;
	for (size_t i = 0; i < bench->stored.count; i++)
		if (!strcmp(bench->stored.items[i].point, point))
			bench->is_taken[i] = !is_usable(bench, &bench->stored.items[i]);
	return take_stored(bench, point);
}

static int store(struct tune_bench *bench, unsigned int round, const struct tune_trial *trial,
		 double seconds, bool is_stored, struct err *err)
{
	const struct tune_options *options = bench->options;
	struct tune_result result = {
		.objective = (char *)options->objective.text,
		.fingerprint = bench->fingerprint,
		.session = bench->session,
		.seed = options->settings.seed,
		.trial = round ? 0 : bench->trial_count,
		.round = round,
		.is_maximized = options->objective.is_maximized,
		.is_stored = is_stored,
		.seconds = seconds,
		.outcome = *trial,
		.device = *bench->device,
		.least_value = bench->least_value,
	};
	int rc;

	if (!bench->file)
		return 0;
	snprintf(result.search, sizeof(result.search), "%s", options->settings.search->name);
	rc = tune_results_write(bench->file, &result, &options->space);
	return rc < 0 ? err_set(err, rc, "%s: cannot write: %s", bench->folder, strerror(-rc)) : 0;
}

static void tell(const struct tune_bench *bench, unsigned int round, const struct tune_trial *trial,
		 const char *point, bool is_stored)
{
	const struct tune_options *options = bench->options;
	char head[32];

	if (options->is_quiet)
		return;
	if (round)
		snprintf(head, sizeof(head), "repeat %u", round);
	else
		snprintf(head, sizeof(head), "%u/%zu", bench->trial_count,
			 options->settings.most_trials);
	if (trial->status == TUNE_OK)
		fprintf(stderr, "%9s  %s  %s%s\n", head, point,
			tune_objective_format(&options->objective, trial->value).text,
			is_stored ? "  (stored)" : "");
	else
		fprintf(stderr, "%9s  %s  %s%s%s\n", head, point, tune_status_name(trial->status),
			*bench->complaint && !is_stored ? ": " : "",
			is_stored ? "" : bench->complaint);
}

/* The search model stops at the roof, for which one more run counts what the kernel computes. */
static void find_roof(struct tune_bench *bench, const struct tune_trial *trial)
{
	const struct tune_options *options = bench->options;
	char folder[2 * PATH_MAX];

	if (bench->is_roof_asked || bench->least_value > 0 || trial->status != TUNE_OK ||
	    options->settings.search->next != tune_search_model || options->source ||
	    options->objective.kind != TUNE_OBJECTIVE_KERNEL)
		return;
	bench->is_roof_asked = true;
	snprintf(folder, sizeof(folder), "%s/roof.%d", bench->folder, (int)getpid());
	bench->least_value = tune_roof(options, folder, trial->point);
	if (bench->least_value > 0 && !options->is_quiet)
		fprintf(stderr, "     roof  no point can take less than %s\n",
			format_ns(bench->least_value).text);
}

int tune_bench_measure(void *context, unsigned int round, struct tune_trial *trial, double *seconds,
		       struct err *err)
{
	struct tune_bench *bench = context;
	const struct tune_result *stored;
	char point[POINT_BYTES];
	size_t number = trial->point;
	int rc = 0;

	tune_space_describe(&bench->options->space, number, point, sizeof(point));
	bench->trial_count += !round;
	stored = find_stored(bench, point);
	if (stored) {
		*trial = stored->outcome;
		if (!bench->device->max_warps_per_sm)
			*bench->device = stored->device;
		if (!(bench->least_value > 0))
			bench->least_value = stored->least_value;
		/* What was measured before costs nothing now; a replay is as long as what it replays. */
		*seconds = bench->options->source ? stored->seconds : 0;
	} else if (bench->options->source) {
		trial->status = TUNE_NOT_STORED;
	} else {
		rc = run_trial(bench, trial, seconds, err);
	}
	trial->point = number;
	if (rc < 0)
		return rc;
	bench->stored_count += stored != NULL;
	bench->measured_count += !stored && trial->status != TUNE_NOT_STORED;
	if (bench->interrupted_by)
		return err_set(err, -EINTR, "interrupted");
	tell(bench, round, trial, point, stored != NULL);
	find_roof(bench, trial);
	return store(bench, round, trial, *seconds, stored || bench->options->source, err);
}
