#include "base/json_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

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

/* A file that cannot be opened has no line. */
static int judge(const json_t *root, const json_error_t *problem)
{
	if (root)
		return 0;
	if (has_no_memory)
		return -ENOMEM;
	return problem->line < 0 && errno ? -errno : -EINVAL;
}

int json_reader_file(json_t **root, const char *path, size_t flags, json_error_t *problem)
{
	begin();
	*root = json_load_file(path, flags, problem);
	return judge(*root, problem);
}

int json_reader_text(json_t **root, const char *text, size_t flags, json_error_t *problem)
{
	begin();
	*root = json_loads(text, flags, problem);
	return judge(*root, problem);
}
