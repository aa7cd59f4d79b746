#include "exchange/export/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"

int text_file_open(FILE **out, const struct export_target *target, struct err *err)
{
	int fd = fcntl(target->fd, F_DUPFD_CLOEXEC, 0), rc = -errno;

	*out = fd < 0 ? NULL : fdopen(fd, "w");
	if (*out)
		return 0;
	if (fd >= 0) {
		rc = -errno;
		close(fd);
	}
	return err_set(err, rc, "%s: cannot be written: %s", target->name, strerror(-rc));
}

int text_file_close(FILE *file, const struct export_target *target, int rc, struct err *err)
{
	bool has_failed = ferror(file);

	errno = 0;
	if ((fclose(file) || has_failed) && rc == 0)
		rc = err_set(err, errno ? -errno : -EIO, "%s: could not be written: %s",
			     target->name, strerror(errno ? errno : EIO));
	return rc;
}

void text_put_json(FILE *file, const char *text)
{
	putc('"', file);
	while (*text) {
		size_t length = format_character(text);

		if (*text == '"' || *text == '\\')
			putc('\\', file);
		if (length)
			fwrite(text, 1, length, file);
		else if ((unsigned char)*text < ' ')
			fprintf(file, "\\u%04x", (unsigned)*text);
		else
			putc('?', file);
		text += length ? length : 1;
	}
	putc('"', file);
}

void text_put_number(FILE *file, double number)
{
	if (isfinite(number))
		fprintf(file, "%.9g", number);
	else
		fputs("null", file);
}

void text_put_us(FILE *file, int64_t ns)
{
	fprintf(file, "%s%" PRId64 ".%03d", ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000,
		(int)((ns < 0 ? -ns : ns) % 1000));
}

void text_clean(char *buffer, size_t size, const char *text)
{
	size_t used = 0;

	while (*text) {
		size_t length = format_character(text), taken = length ? length : 1;

		if (used + taken + 1 > size)
			break;
		memcpy(buffer + used, length ? text : "?", taken);
		used += taken;
		text += taken;
	}
	buffer[used] = '\0';
}
