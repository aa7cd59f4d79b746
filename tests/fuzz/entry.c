/* entry.c - what libFuzzer calls: the target that FUZZ_TARGET names. */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *what;
	void (*run)(const uint8_t *bytes, size_t size);
} targets[] = {
#define TARGET_ROW(name, what) {#name, what, fuzz_##name},
	FUZZ_TARGETS(TARGET_ROW)
#undef TARGET_ROW
};

#define TARGET_COUNT (sizeof(targets) / sizeof(targets[0]))

static size_t chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");

	(void)argc;
	(void)argv;
	setenv("XDG_DATA_HOME", "/nonexistent", 1); /* ceilings of whoever runs it */
	setenv("NO_COLOR", "1", 1);
	for (chosen = 0; chosen < TARGET_COUNT; chosen++)
		if (name && !strcmp(name, targets[chosen].name))
			return 0;
	for (size_t i = 0; i < TARGET_COUNT; i++)
		fprintf(stderr, "FUZZ_TARGET=%s: %s\n", targets[i].name, targets[i].what);
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	targets[chosen].run(bytes, size);
	return 0;
}
