#include "exchange/export/exports.h"

#include <string.h>

static const struct {
	const char *name, *suffix;
	export_function write;
} formats[] = {
#define EXPORT_ENTRY(name, suffix, title) {#name, suffix, export_##name},
	EXPORTS(EXPORT_ENTRY)
#undef EXPORT_ENTRY
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

export_function exports_find(const char *name)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (!strcmp(formats[i].name, name))
			return formats[i].write;
	return NULL;
}

export_function exports_of_file(const char *path)
{
	export_function found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < FORMAT_COUNT; i++) {
		size_t length = strlen(formats[i].suffix);

		if (length > longest && strlen(path) > length &&
		    !strcmp(path + strlen(path) - length, formats[i].suffix)) {
			found = formats[i].write;
			longest = length;
		}
	}
	return found;
}
