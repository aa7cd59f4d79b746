/* packed.c - a packed recording: read by a report, and unpacked into a folder. */
#include "targets.h"

#include <limits.h>
#include <stdio.h>

#include "base/temporary.h"
#include "cmd/commands.h"
#include "trace/pack.h"

void fuzz_packed(const uint8_t *bytes, size_t size)
{
	const char *path = fuzz_file("packed.roofline", bytes, size);
	char folder[PATH_MAX];
	struct err err = {""};

	snprintf(folder, sizeof(folder), "%s/unpacked", fuzz_folder());
	(void)pack_extract(path, folder, &err);
	temporary_remove(folder);
	fuzz_command(cmd_report, "--section", "kernels", path, NULL);
}
