#include "cmd/plot_pictures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "base/new_file.h"
#include "base/paths.h"
#include "base/temporary.h"
#include "cmd/progress.h"

#define LEAST_COLUMNS 40
#define MOST_COLUMNS 400

/* ---- where to ---- */

/* COLUMNS, else the terminal's own width, else 80. */
static int terminal_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = {0};
	int columns = text ? atoi(text) : 0;

	if (columns <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (columns <= 0)
		columns = 80;
	return columns < LEAST_COLUMNS	? LEAST_COLUMNS
	       : columns > MOST_COLUMNS ? MOST_COLUMNS
					: columns;
}

int pictures_columns(const struct pictures *pictures)
{
	return pictures->format == GNUPLOT_FORMAT_term ? terminal_columns() : 0;
}

static bool terminal_has_color(void)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

/* With the suffix of a packed recording, which may be left out. */
static bool find_real(char real[PATH_MAX], const char *recording)
{
	char packed[PATH_MAX];

	if (realpath(recording, real))
		return true;
	return (size_t)snprintf(packed, sizeof(packed), "%s" PATH_PACKED_SUFFIX, recording) <
		       sizeof(packed) &&
	       realpath(packed, real);
}

static void drop_suffix(char *path)
{
	size_t length = strlen(path), suffix = strlen(PATH_PACKED_SUFFIX);

	if (length > suffix && !strcmp(path + length - suffix, PATH_PACKED_SUFFIX))
		path[length - suffix] = '\0';
}

/* The part of real after the current folder, or NULL where it lies elsewhere. */
static const char *path_from_here(const char *real)
{
	char here[PATH_MAX];
	size_t length;

	if (!getcwd(here, sizeof(here)))
		return NULL;
	if (!strcmp(real, here))
		return strrchr(real, '/') + 1;
	length = strcmp(here, "/") ? strlen(here) : 0;
	return !strncmp(real, here, length) && real[length] == '/' ? real + length + 1 : NULL;
}

/* charts/ and the recording's path from the current folder; of one that lies elsewhere charts/ beside it, where who draws it
 * there has it: no two have the same.  Returns what snprintf does. */
static int name_folder(char *folder, size_t size, const char *recording)
{
	char real[PATH_MAX];
	const char *path, *name;

	if (!find_real(real, recording))
		return snprintf(folder, size, "charts/stdin");
	drop_suffix(real);
	path = path_from_here(real);
	if (path)
		return snprintf(folder, size, "charts/%s", path);
	name = strrchr(real, '/') + 1;
	return snprintf(folder, size, "%.*scharts/%s", (int)(name - real), real, name);
}

static int make_folder(struct pictures *pictures, const char *recording, struct err *err)
{
	size_t size = sizeof(pictures->folder);
	int rc;

	rc = pictures->asked_folder ? snprintf(pictures->folder, size, "%s", pictures->asked_folder)
				    : name_folder(pictures->folder, size, recording);
	if ((size_t)rc >= size)
		return err_set(err, -ENAMETOOLONG,
			       "%s: name too long for a folder of charts; choose one with -o DIR",
			       recording);
	rc = path_make_parents(pictures->folder, 1);
	if (rc == 0 && mkdir(pictures->folder, 0777) < 0 && errno != EEXIST)
		rc = -errno;
	if (rc < 0)
		return err_set(err, rc,
			       "%s: cannot make the folder: %s; choose another with -o DIR",
			       pictures->folder, strerror(-rc));
	return 0;
}

int pictures_open(struct pictures *pictures, const char *recording, struct err *err)
{
	return pictures->format == GNUPLOT_FORMAT_term ? 0 : make_folder(pictures, recording, err);
}

/* ---- drawing ---- */

/* An old picture must not pass for a new one. */
static int end_picture(const char *path, int rc)
{
	if (rc < 0)
		unlink(path);
	else
		puts(strncmp(path, "./", 2) ? path : path + 2);
	return rc;
}

static int draw_picture(const char *path, const char *chart, const struct gnuplot_target *target,
			const char *columns, struct err *err)
{
	struct progress progress;
	struct new_file file;
	FILE *out;
	int rc = new_file_open(&file, path, err);

	if (rc < 0)
		return rc;
	out = new_file_stream(&file, err);
	progress_begin(&progress, "drawing");
	rc = out ? gnuplot_draw(chart, columns, target, out, err) : -ENOMEM;
	progress_end(&progress);
	return end_picture(path, new_file_close(&file, rc, err));
}

/* Without the form feed that gnuplot begins with and the spaces that it ends lines with. */
static void print_drawing(char *text)
{
	for (char *line = strsep(&text, "\n"); line && (text || *line);
	     line = strsep(&text, "\n")) {
		size_t length;

		line += *line == '\f';
		length = strlen(line);

		while (length > 0 && line[length - 1] == ' ')
			line[--length] = '\0';
		puts(line);
	}
}

static int draw_text(const char *chart, const struct gnuplot_target *target, const char *columns,
		     struct err *err)
{
	struct memory_file file;
	struct progress progress;
	FILE *out = memory_file_open(&file);
	char *text;
	int rc;

	if (!out)
		return err_set(err, -ENOMEM, "out of memory for the chart");
	progress_begin(&progress, "drawing");
	rc = gnuplot_draw(chart, columns, target, out, err);
	progress_end(&progress);
	text = memory_file_close(&file);
	if (rc == 0 && !text)
		rc = err_set(err, -ENOMEM, "out of memory for the chart");
	if (rc == 0 && text)
		print_drawing(text);
	free(text);
	return rc;
}

/* Each chart gets a folder of its own: their column files have the same names. */
int pictures_draw(const struct pictures *pictures, const char *chart, chart_writer write,
		  const struct report *report, const struct chart_options *options, struct err *err)
{
	bool is_text = pictures->format == GNUPLOT_FORMAT_term;
	struct gnuplot_target target = {.format = pictures->format,
					.columns = options->text_columns,
					.has_color = is_text && terminal_has_color(),
					.part = report ? report->part.head : NULL};
	char columns[PATH_MAX] = "", path[PATH_MAX] = "";
	struct progress progress;
	int rc = 0;

	if (!is_text && (size_t)snprintf(path, sizeof(path), "%s/roofline-%s%s.%s",
					 pictures->folder, chart, pictures->part_name,
					 gnuplot_format_name(pictures->format)) >= sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", pictures->folder);
	rc = temporary_make_work_folder(columns, sizeof(columns), err);
	progress_begin(&progress, "drawing");
	if (rc == 0)
		rc = write(report, options, columns, err);
	progress_end(&progress);
	if (rc == -ENODATA && path[0])
		(void)end_picture(path, rc);
	if (rc == 0)
		rc = path[0] ? draw_picture(path, chart, &target, columns, err)
			     : draw_text(chart, &target, columns, err);
	temporary_remove(columns);
	return rc;
}
