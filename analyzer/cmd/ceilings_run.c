#define _GNU_SOURCE /* ppoll */
#include "cmd/ceilings_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.h"
#include "base/paths.h"

/* The slowest sample takes some seconds, the driver's start on a big machine half a minute. */
#define SILENCE_MOST_S 180
#define LINE_MOST 512
#define BAR_WIDTH 30

/* What a program has said so far. */
struct printed {
	enum ceiling_program program;
	const char *name;
	bool has_plan, is_cut; /* is_cut: its last line has no end */
	uint64_t planned;
	size_t first_sample, first_skip; /* of this program, in the run's lists */
};

static volatile sig_atomic_t caught_signal;
static sigset_t outside_mask; /* signals that were blocked before us */
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction outside_actions[3];

static void remember_signal(int number)
{
	caught_signal = number;
}

/* The signals stay blocked except while we wait for a program's output, so none comes between a
 * look at caught_signal and the wait.  One that our parent ignores (nohup) stays ignored. */
void ceilings_run_open(struct ceilings_run *run, struct ceilings *ceilings, bool is_quick,
		       size_t program_count)
{
	struct sigaction action = {.sa_handler = remember_signal};
	sigset_t blocked;

	*run = (struct ceilings_run){.is_quick = is_quick,
				     .ceilings = ceilings,
				     .program_count = program_count};
	caught_signal = 0;
	sigemptyset(&blocked);
	for (size_t i = 0; i < 3; i++) {
		sigaction(ending_signals[i], NULL, &outside_actions[i]);
		if (outside_actions[i].sa_handler == SIG_IGN)
			continue;
		sigaddset(&blocked, ending_signals[i]);
		sigaction(ending_signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, &outside_mask);
}

int ceilings_run_close(struct ceilings_run *run)
{
	free(run->samples);
	run->samples = NULL;
	sigprocmask(SIG_SETMASK, &outside_mask, NULL);
	for (size_t i = 0; i < 3; i++)
		sigaction(ending_signals[i], &outside_actions[i], NULL);
	return caught_signal;
}

/* ---- progress ---- */

void ceilings_run_clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* Programs tell their plans only when they run: each has the same share of the bar. */
static void show_progress(const struct ceilings_run *run, const struct printed *printed)
{
	size_t samples = run->sample_count - printed->first_sample;
	double part = printed->planned ? fmin((double)samples / (double)printed->planned, 1) : 0;
	int filled =
		(int)(BAR_WIDTH * ((double)run->programs_done + part) / (double)run->program_count);

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r[%.*s%*s] %s %zu/%" PRIu64 "\033[K", filled,
		"##############################", BAR_WIDTH - filled, "", printed->name, samples,
		printed->planned);
	fflush(stderr);
}

/* ---- lines ---- */

/* Splits a line at blanks, in place; the last of most words keeps what is left.  Returns their
 * number. */
static size_t split(char *line, char **words, size_t most)
{
	size_t count = 0;

	while (count < most) {
		line += strspn(line, " ");
		if (!*line)
			break;
		words[count++] = line;
		if (count == most)
			break;
		line += strcspn(line, " ");
		if (*line)
			*line++ = '\0';
	}
	return count;
}

static bool parse_whole(uint64_t *value, const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !*end && !errno && *value <= INT64_MAX; /* JSON has no more */
}

static bool parse_real(double *value, const char *text)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value) && *value >= 0;
}

/* The row and parameter of a sample or skip.  false when this program has no such row. */
static bool parse_place(enum ceiling_id *id, uint64_t *parameter, const struct printed *printed,
			const char *name, const char *text, struct err *err)
{
	int found = ceiling_find(name);

	if (found < 0) {
		err_set(err, -EINVAL, "%s: prints '%.64s', which is no ceiling", printed->name,
			name);
		return false;
	}
	*id = (enum ceiling_id)found;
	if (ceiling_kind(*id)->program != printed->program) {
		err_set(err, -EINVAL, "%s: prints %s, which is for the program %s", printed->name,
			name, ceiling_program_kind(ceiling_kind(*id)->program)->name);
		return false;
	}
	if (!parse_whole(parameter, text) || !ceiling_parameter_fits(*id, *parameter)) {
		err_set(err, -EINVAL, "%s: %s cannot have the parameter '%.32s'", printed->name,
			name, text);
		return false;
	}
	return true;
}

static int add_sample(struct ceilings_run *run, const struct ceiling_sample *sample)
{
	struct ceiling_sample *samples =
		reallocarray(run->samples, run->sample_count + 1, sizeof(*samples));

	if (!samples)
		return -ENOMEM;
	run->samples = samples;
	samples[run->sample_count++] = *sample;
	return 0;
}

/* words: sample NAME PARAMETER VALUE SM_MHZ */
static int read_sample(struct ceilings_run *run, const struct printed *printed,
		       char *const words[5], struct err *err)
{
	struct ceiling_sample sample = {0};

	if (!parse_place(&sample.id, &sample.parameter, printed, words[1], words[2], err))
		return -EINVAL;
	if (!parse_real(&sample.value, words[3]) || sample.value <= 0)
		return err_set(err, -EINVAL, "%s: %s cannot have the value '%.32s'", printed->name,
			       words[1], words[3]);
	if (!parse_real(&sample.sm_mhz, words[4]))
		return err_set(err, -EINVAL, "%s: %s cannot have the clock '%.32s'", printed->name,
			       words[1], words[4]);
	return add_sample(run, &sample) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* words: skip NAME PARAMETER REASON, where a row that has parameters may skip all of them with 0 */
static int read_skip(struct ceilings_run *run, const struct printed *printed, char *const words[4],
		     struct err *err)
{
	char reason[LINE_MOST];
	enum ceiling_id id;
	uint64_t parameter;
	int found = ceiling_find(words[1]);
	bool is_all = found >= 0 && !strcmp(words[2], "0");

	if (is_all && ceiling_kind((enum ceiling_id)found)->program == printed->program) {
		id = (enum ceiling_id)found;
		parameter = 0;
	} else if (!parse_place(&id, &parameter, printed, words[1], words[2], err)) {
		return -EINVAL;
	}
	format_text(reason, sizeof(reason), words[3], sizeof(reason));
	if (ceilings_add_skip(run->ceilings, id, parameter, reason) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int read_plan(struct printed *printed, const char *count, struct err *err)
{
	if (printed->has_plan)
		return err_set(err, -EINVAL, "%s: prints a second plan", printed->name);
	if (!parse_whole(&printed->planned, count))
		return err_set(err, -EINVAL, "%s: its plan '%.32s' is no number", printed->name,
			       count);
	printed->has_plan = true;
	return 0;
}

static int parse_line(struct ceilings_run *run, struct printed *printed, char *line,
		      struct err *err)
{
	char shown[80], copy[LINE_MOST], *words[6];
	size_t count;

	format_text(shown, sizeof(shown), line, 60);
	snprintf(copy, sizeof(copy), "%s", line);
	count = split(line, words, 6);
	if (count == 2 && !strcmp(words[0], "plan"))
		return read_plan(printed, words[1], err);
	if (!printed->has_plan)
		return err_set(err, -EINVAL, "%s: prints '%s' where its plan must stand",
			       printed->name, shown);
	if (count == 5 && !strcmp(words[0], "sample"))
		return read_sample(run, printed, words, err);
	if (split(copy, words, 4) == 4 && !strcmp(words[0], "skip"))
		return read_skip(run, printed, words, err);
	return err_set(err, -EINVAL, "%s: prints '%s', which is no sample", printed->name, shown);
}

/* ---- the program ---- */

int ceilings_run_find(char *path, size_t size, enum ceiling_program program, struct err *err)
{
	char relative[NAME_MAX];
	int rc;

	snprintf(relative, sizeof(relative), "lib/rooflinectl/ceilings/%s",
		 ceiling_program_kind(program)->name);
	rc = path_resource(path, size, relative);
	if (rc < 0)
		return err_set(err, rc,
			       "%s: not built, %s is missing: install the CUDA toolkit (nvcc) and "
			       "run make again",
			       ceiling_program_kind(program)->name, path);
	return 0;
}

/* Tracing costs a microsecond a launch, and launches are what is measured. */
static void leave_profilers(void)
{
	const char *preload = getenv("LD_PRELOAD");

	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
	if (preload && strstr(preload, "librooflinecollector"))
		unsetenv("LD_PRELOAD");
}

/* In the child: becomes the program, which ends when we are killed. */
static void become(const char *path, const char *name, bool is_quick, int output)
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	leave_profilers();
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	sigprocmask(SIG_SETMASK, &outside_mask, NULL);
	execl(path, name, is_quick ? "--quick" : NULL, NULL);
	_exit(127);
}

/* Returns the child's id and the end of the pipe that its stdout goes into, or a negative errno. */
static pid_t start(const char *path, const char *name, bool is_quick, int *output)
{
	int ends[2];
	pid_t pid;

	if (access(path, X_OK) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become(path, name, is_quick, ends[1]);
	if (pid < 0) {
		pid = -errno;
		close(ends[0]);
	}
	close(ends[1]);
	*output = ends[0];
	return pid;
}

/* Waits until there is something to read.  Returns 0, -EINTR for a signal that ends us, or
 * -ETIMEDOUT. */
static int await(int output)
{
	static const struct timespec silence = {.tv_sec = SILENCE_MOST_S};
	struct pollfd poll = {.fd = output, .events = POLLIN};
	int rc;

	do {
		rc = ppoll(&poll, 1, &silence, &outside_mask);
	} while (rc < 0 && errno == EINTR && !caught_signal);
	if (caught_signal)
		return -EINTR;
	return rc == 0 ? -ETIMEDOUT : 0;
}

/* Hands over the whole lines of text and moves the rest to its front.  Returns the rest's length. */
static size_t parse_lines(struct ceilings_run *run, struct printed *printed, char *text,
			  size_t length, struct err *err)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', length - (size_t)(line - text)))) {
		*end = '\0';
		(void)parse_line(run, printed, line, err);
		line = end + 1;
	}
	length -= (size_t)(line - text);
	memmove(text, line, length);
	return length;
}

/* Reads until the program closes its stdout; the first bad line is described and the others still
 * count.  Fails only when it must be killed. */
static int read_output(struct ceilings_run *run, struct printed *printed, int output,
		       struct err *err)
{
	char text[LINE_MOST];
	size_t length = 0;
	ssize_t got;
	int rc;

	show_progress(run, printed);
	while ((rc = await(output)) == 0 &&
	       (got = read(output, text + length, sizeof(text) - length)) > 0) {
		length = parse_lines(run, printed, text, length + (size_t)got, err);
		if (length == sizeof(text))
			return err_set(err, -EINVAL, "%s: prints a line without an end",
				       printed->name);
		show_progress(run, printed);
	}
	if (rc == -ETIMEDOUT)
		err_set(err, rc, "%s: silent for %d s, killed", printed->name, SILENCE_MOST_S);
	printed->is_cut = length > 0;
	return rc;
}

/* ---- what it lacks ---- */

static size_t count_samples(const struct ceilings_run *run, const struct printed *printed,
			    enum ceiling_id id, uint64_t parameter)
{
	size_t count = 0;

	for (size_t i = printed->first_sample; i < run->sample_count; i++)
		count += run->samples[i].id == id && run->samples[i].parameter == parameter;
	return count;
}

static bool has_result(const struct ceilings_run *run, const struct printed *printed,
		       enum ceiling_id id)
{
	for (size_t i = printed->first_sample; i < run->sample_count; i++)
		if (run->samples[i].id == id)
			return true;
	for (size_t i = printed->first_skip; i < run->ceilings->skip_count; i++)
		if (run->ceilings->skips[i].id == id)
			return true;
	return false;
}

static int check_rows(const struct ceilings_run *run, const struct printed *printed,
		      struct err *err)
{
	for (size_t i = printed->first_sample; i < run->sample_count; i++) {
		const struct ceiling_sample *sample = &run->samples[i];
		size_t count = count_samples(run, printed, sample->id, sample->parameter);

		if (count < CEILING_LEAST_SAMPLES)
			return err_set(err, -EINVAL, "%s: %zu samples of %s are too few, %d needed",
				       printed->name, count, ceiling_kind(sample->id)->name,
				       CEILING_LEAST_SAMPLES);
	}
	for (int i = 0; i < CEILING_COUNT; i++) {
		enum ceiling_id id = (enum ceiling_id)i;

		if (ceiling_kind(id)->program == printed->program && !has_result(run, printed, id))
			return err_set(err, -EINVAL, "%s: ended without a sample of %s",
				       printed->name, ceiling_kind(id)->name);
	}
	return 0;
}

/* A program that skips rows prints fewer samples than it planned with them. */
static int check_plan(const struct ceilings_run *run, const struct printed *printed,
		      struct err *err)
{
	size_t samples = run->sample_count - printed->first_sample;
	bool has_skipped = run->ceilings->skip_count > printed->first_skip;

	if (printed->is_cut)
		return err_set(err, -EINVAL, "%s: ended within a line", printed->name);
	if (!printed->has_plan)
		return err_set(err, -EINVAL, "%s: printed no plan", printed->name);
	if (samples == printed->planned || (has_skipped && samples < printed->planned))
		return check_rows(run, printed, err);
	return err_set(err, -EINVAL, "%s: ended after %zu of the %" PRIu64 " samples it planned",
		       printed->name, samples, printed->planned);
}

static int check_end(const struct ceilings_run *run, const struct printed *printed, int status,
		     struct err *err)
{
	size_t samples = run->sample_count - printed->first_sample;

	if (WIFSIGNALED(status))
		return err_set(err, -EIO,
			       "%s: killed by signal %d (%s) after %zu of %" PRIu64 " samples",
			       printed->name, WTERMSIG(status), strsignal(WTERMSIG(status)),
			       samples, printed->planned);
	if (WEXITSTATUS(status))
		return err_set(err, -EIO,
			       "%s: failed with exit code %d after %zu of %" PRIu64 " samples",
			       printed->name, WEXITSTATUS(status), samples, printed->planned);
	return check_plan(run, printed, err);
}

/* Lets a signal in that came while none could, as Ctrl-C does that has ended the program, too. */
static int check_signals(void)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, &outside_mask, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return caught_signal ? -EINTR : 0;
}

int ceilings_run_program(struct ceilings_run *run, enum ceiling_program program, struct err *err)
{
	struct printed printed = {.program = program,
				  .name = ceiling_program_kind(program)->name,
				  .first_sample = run->sample_count,
				  .first_skip = run->ceilings->skip_count};
	char path[PATH_MAX];
	int output = -1, status = 0, rc = ceilings_run_find(path, sizeof(path), program, err);
	pid_t pid;

	if (rc < 0)
		return rc;
	pid = start(path, printed.name, run->is_quick, &output);
	if (pid < 0)
		return err_set(err, pid, "%s: cannot start %s: %s", printed.name, path,
			       strerror(-pid));
	rc = read_output(run, &printed, output, err);
	if (rc < 0)
		kill(pid, SIGKILL);
	close(output);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	run->programs_done++;
	if (check_signals() < 0)
		return -EINTR;
	if (rc == 0)
		rc = check_end(run, &printed, status, err);
	return rc == 0 && err->text[0] ? -EINVAL : rc;
}
