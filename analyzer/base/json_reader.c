#include "base/json_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static _Thread_local bool has_no_memory;

static void *remember(size_t size)
{
	void *memory = malloc(size);

	has_no_memory |= !memory;
	return memory;
}

static void begin(void)
{
	json_set_alloc_funcs(remember, free);
	has_no_memory = false;
	errno = 0;
}

/* jansson goes on where a byte of a text found no memory, without it.  A file that cannot be opened has no line. */
static int judge(json_t **root, const json_error_t *problem)
{
	if (has_no_memory) {
		json_decref(*root);
		*root = NULL;
		return -ENOMEM;
	}
	if (*root)
		return 0;
	return problem->line < 0 && errno ? -errno : -EINVAL;
}

int json_reader_file(json_t **root, const char *path, size_t flags, json_error_t *problem)
{
	struct stat status;

	*root = NULL;
	if (stat(path, &status) == 0 && status.st_size > (off_t)JSON_READER_MOST_BYTES)
		return -EFBIG;
	begin();
	*root = json_load_file(path, flags, problem);
	return judge(root, problem);
}

int json_reader_text(json_t **root, const char *text, size_t flags, json_error_t *problem)
{
	*root = NULL;
	if (strlen(text) > JSON_READER_MOST_BYTES)
		return -EFBIG;
	begin();
	*root = json_loads(text, flags, problem);
	return judge(root, problem);
}
