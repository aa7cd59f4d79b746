/* imported.c - a file of another tool: imported, and what became of it reported. */
#include "targets.h"

#include <limits.h>
#include <stdio.h>

#include "base/sentences.h"
#include "base/temporary.h"
#include "cmd/commands.h"
#include "exchange/import/imports.h"

void fuzz_imported(const uint8_t *bytes, size_t size)
{
	char *path = (char *)fuzz_file("foreign", bytes, size);
	char folder[PATH_MAX];
	struct sentences notes = {0};
	struct err err = {""};

	snprintf(folder, sizeof(folder), "%s/imported", fuzz_folder());
	if (imports_make(folder, &path, 1, &notes, &err) == 0)
		FUZZ_COMMAND(cmd_report, folder);
	sentences_free(&notes);
	temporary_remove(folder);
}
