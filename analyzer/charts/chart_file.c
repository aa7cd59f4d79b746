#include "charts/chart_file.h"

#include <errno.h>
#include <string.h>

#include "base/format.h"

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
	errno = EIO;
	failed = ferror(file->stream);
	failed |= fclose(file->stream);
	file->stream = NULL;
	if (rc < 0 || !failed)
		return rc;
	return err_set(err, -errno, "%s: cannot write: %s; set TMPDIR to a folder with space",
		       file->path, strerror(errno));
}

/* A character that is none for people becomes a space: pictures hold valid text only, and "]]>" ends a part of XML, which
 * gnuplot does not know.  Returns the bytes it took. */
static size_t put_character(struct chart_file *file, const char *text)
{
	size_t length = format_character(text);

	if (!strncmp(text, "]]>", 3)) {
		fputs("]] >", file->stream);
		return 3;
	}

	if (!length) {
		putc(' ', file->stream);
		return 1;
	}
	fwrite(text, 1, length, file->stream);
	return length;
}

void chart_put_text(struct chart_file *file, const char *text)
{
	while (*text && (*text == ' ' || !format_character(text)))
		text++; /* gnuplot skips blanks at the front, and the end of a blank column too */
	if (!*text)	/* gnuplot has no empty last column */
		fputs("\"\"", file->stream);
	while (*text) {
		if (*text == '"' || *text == '\\')
			putc(*text++ == '"' ? '\'' : '/', file->stream);
		else
			text += put_character(file, text);
	}
}

/* Between single quotes gnuplot expands nothing; only the quote itself is doubled. */
void chart_set_text(struct chart_file *file, const char *name, const char *text)
{
	fprintf(file->stream, "%s = '", name);
	while (*text) {
		if (*text == '\'')
			putc(*text, file->stream);
		text += put_character(file, text);
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
