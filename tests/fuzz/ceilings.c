/* ceilings.c - a file of ceilings: shown, and a recording judged by it. */
#include "targets.h"

#include "cmd/commands.h"

/* Small, and of a GPU; the files of the repository lie there where a target runs. */
#define RECORDING "tests/recordings/atomic_batch.naive.roofline"

void fuzz_ceilings(const uint8_t *bytes, size_t size)
{
	const char *path = fuzz_file("ceilings.json", bytes, size);

	fuzz_command(cmd_ceilings, "--show", path, NULL);
	fuzz_command(cmd_ceilings, "--show", "--format", "json", path, NULL);
	fuzz_command(cmd_report, "--section", "roofline,advice", "--ceilings", path, RECORDING,
		     NULL);
}
