/*
 * targets.h - every way for untrusted bytes into the analyzer, once.
 *
 * To add one: write tests/fuzz/foo.c with fuzz_foo(), add its TARGET row here, and its seeds to tests/fuzz/seeds.py.
 *
 * A target takes any bytes and comes back: what ends the program, or is found by a sanitizer, is a fault.
 */
#ifndef ROOFLINE_FUZZ_TARGETS_H
#define ROOFLINE_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

/* TARGET(name, what the bytes are) */
#define FUZZ_TARGETS(TARGET)                                                            \
	TARGET(recording, "tables of a recording, for every command that reads one")    \
	TARGET(packed, "a packed recording, to be read and to be unpacked")             \
	TARGET(ceilings, "a file of ceilings, to be shown and to judge a recording by") \
	TARGET(imported, "a file of another tool, to be imported and then reported")    \
	TARGET(names, "names of kernels, a line each, to be demangled and shortened")   \
	TARGET(trials, "what tune measured, to be read and drawn")                      \
	TARGET(summaries, "the text of a summary of ranks, to be merged and shown")     \
	TARGET(outputs, "what a program writes that strategies are tried on")           \
	TARGET(live, "the folder of a process under way, to be asked, read and dumped")

#define FUZZ_PROTOTYPE(name, what) void fuzz_##name(const uint8_t *bytes, size_t size);
FUZZ_TARGETS(FUZZ_PROTOTYPE)
#undef FUZZ_PROTOTYPE

/* The folder for what a target writes: made by the first call, and gone when the program ends. */
const char *fuzz_folder(void);

/* Writes the bytes to the file of that name there; its path is valid until the next call. */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size);

/* Runs a command as main() does, with these arguments, at most FUZZ_ARGUMENTS without its name. */
#define FUZZ_ARGUMENTS 8
#define FUZZ_COMMAND(command, ...) fuzz_command(command, (const char *const[]){__VA_ARGS__, NULL})
void fuzz_command(int (*command)(int argc, char **argv), const char *const *arguments);

#endif
