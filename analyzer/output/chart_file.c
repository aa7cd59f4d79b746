#include "output/chart_file.h"

#include <errno.h>
#include <string.h>

int chart_file_open(struct chart_file *file, const char *folder, const char *name, struct err *err)
{
	file->stream = NULL;
	if ((size_t)snprintf(file->path, sizeof(file->path), "%s/%s", folder, name) >=
	    sizeof(file->path))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", folder);
	file->stream = fopen(file->path, "w");
	if (!file->stream)
		return err_set(err, -errno, "%s: cannot write: %s", file->path, strerror(errno));
	return 0;
}

int chart_file_close(struct chart_file *file, int rc, struct err *err)
{
	int failed;

	if (!file->stream)
		return rc;
	failed = ferror(file->stream);
	failed |= fclose(file->stream);
	file->stream = NULL;
	if (rc < 0 || !failed)
		return rc;
	return err_set(err, -EIO, "%s: cannot write: disk full?", file->path);
}

void chart_put_text(struct chart_file *file, const char *text)
{
	if (!*text) /* gnuplot has no empty last column */
		fputs("\"\"", file->stream);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"')
			c = '\'';
		else if (c == '\\')
			c = '/';
		else if (c < ' ' || c == 0x7f)
			c = ' ';
		putc(c, file->stream);
	}
}

/* Between single quotes gnuplot expands nothing; only the quote itself is doubled. */
void chart_set_text(struct chart_file *file, const char *name, const char *text)
{
	fprintf(file->stream, "%s = '", name);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\'')
			putc(c, file->stream);
		putc(c < ' ' || c == 0x7f ? ' ' : c, file->stream);
	}
	fputs("'\n", file->stream);
}

void chart_set_number(struct chart_file *file, const char *name, double value)
{
	fprintf(file->stream, "%s = %.9g\n", name, value);
}

void chart_set_data(struct chart_file *file, const char *name, const char *folder)
{
	char path[sizeof(file->path)];

	snprintf(path, sizeof(path), "%s/%s.dat", folder, name);
	chart_set_text(file, name, path);
}
