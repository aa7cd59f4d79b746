#define _GNU_SOURCE /* fopencookie */
#include "base/memory_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* There is always room for the zero at the end. */
static ssize_t add_bytes(void *cookie, const char *bytes, size_t count)
{
	struct memory_file *file = cookie;
	char *text = array_reserve(file->text, &file->capacity, file->length + count + 1, 1);

	if (!text) {
		file->has_failed = true;
		return 0;
	}
	memcpy(text + file->length, bytes, count);
	file->text = text;
	file->length += count;
	return (ssize_t)count;
}

/* Nothing was written. */
static bool keep_empty(struct memory_file *file)
{
	file->text = calloc(1, 1);
	return file->text;
}

FILE *memory_file_open(struct memory_file *file)
{
	*file = (struct memory_file){0};
	file->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = add_bytes});
	return file->stream;
}

char *memory_file_close(struct memory_file *file)
{
	if (fclose(file->stream) || (!file->text && !keep_empty(file)))
		file->has_failed = true;
	if (file->has_failed) {
		free(file->text);
		return NULL;
	}
	file->text[file->length] = '\0';
	return file->text;
}
