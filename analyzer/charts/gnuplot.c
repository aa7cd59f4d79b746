#define _GNU_SOURCE /* pipe2 */
#include "charts/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/temporary.h"
#include "charts/chart_file.h"
#include "charts/text_width.h"

extern char **environ;

const char *gnuplot_format_name(enum gnuplot_format format)
{
#define FORMAT_NAME(name, meaning) #name,
	static const char *const names[] = {GNUPLOT_FORMATS(FORMAT_NAME)};
#undef FORMAT_NAME

	return names[format];
}

/* Assignments of where to draw: target.gp in folder. */
static int write_target(const char *folder, const char *script, const struct gnuplot_target *target,
			struct err *err)
{
	char plots[PATH_MAX];
	struct chart_file file;
	int rc = chart_file_open(&file, folder, "target.gp", err);

	if (rc < 0)
		return rc;
	snprintf(plots, sizeof(plots), "%.*s", (int)(strrchr(script, '/') - script), script);
	chart_set_text(&file, "plots", plots);
	chart_set_text(&file, "format", gnuplot_format_name(target->format));
	chart_set_number(&file, "columns", target->columns);
	chart_set_number(&file, "has_color", target->has_color);
	chart_set_text(&file, "chart_part", target->part ? target->part : "");
	text_width_set(&file);
	return chart_file_close(&file, 0, err);
}

/* The last line with text of what gnuplot wrote to stderr: before it come the command
 * and a pointer to its column. */
static void read_error(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	char line[512];

	snprintf(text, size, "no reason given");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[strspn(line, " ^\t")])
			snprintf(text, size, "%s", line);
	}
	fclose(file);
}

/* Returns 0 or a negative errno. */
static int start(pid_t *pid, char *const arguments[], const char *errors_path, int output)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors_path,
						      O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!rc)
		rc = posix_spawnp(pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* All that comes, which is drained also when it cannot be kept: who writes waits for us. */
static void copy(FILE *out, int from)
{
	char buffer[BUFSIZ];
	ssize_t count;

	while ((count = read(from, buffer, sizeof(buffer))) > 0 || (count < 0 && errno == EINTR))
		if (count > 0)
			(void)fwrite(buffer, 1, (size_t)count, out);
}

/* Returns gnuplot's wait status, or a negative errno when it could not be started.  What it draws comes through a pipe: it
 * does not look whether what it writes is on the disk. */
static int run(char *const arguments[], const char *errors_path, FILE *out)
{
	int status = 0, ends[2] = {-1, -1}, rc;
	pid_t pid = -1;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	rc = start(&pid, arguments, errors_path, ends[1]);
	close(ends[1]);
	if (rc == 0)
		copy(out, ends[0]);
	close(ends[0]);
	if (rc < 0)
		return rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

int gnuplot_draw(const char *name, const char *folder, const struct gnuplot_target *target,
		 FILE *out, struct err *err)
{
	char script[PATH_MAX], relative[128], where[PATH_MAX], what[PATH_MAX],
		errors_path[PATH_MAX];
	char *arguments[] = {"gnuplot", "--default-settings", where, what, script, NULL};
	char message[512];
	int rc;

	snprintf(relative, sizeof(relative), "share/rooflinectl/plots/%s.gp", name);
	if (path_resource(script, sizeof(script), relative) < 0)
		return err_set(err, -ENOENT,
			       "%s: missing; install rooflinectl with its share folder", script);
	rc = write_target(folder, script, target, err);
	if (rc < 0)
		return rc;
	snprintf(where, sizeof(where), "%s/target.gp", folder);
	snprintf(what, sizeof(what), "%s/%s.gp", folder, name);
	snprintf(errors_path, sizeof(errors_path), "%s/errors.txt", folder);
	rc = run(arguments, errors_path, out);
	if (rc == -ENOENT)
		return err_set(err, rc,
			       "gnuplot is not installed; fix: apt-get install gnuplot-nox");
	if (rc < 0)
		return err_set(err, rc, "gnuplot: cannot start: %s", strerror(-rc));
	if (rc == 0)
		return 0;
	read_error(errors_path, message, sizeof(message));
	return err_set(err, -EIO, "gnuplot could not draw %s: %s", name, message);
}
