/*
 * live.c - the folder of a process that is being recorded: what its collector answers, and what it appended.
 *
 * A line "@kernels.csv" begins a file.
 */
#define _GNU_SOURCE /* memmem */
#include "targets.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/temporary.h"
#include "live/busy_kernels.h"
#include "live/control.h"
#include "live/dump.h"

static const char *const file_names[] = {CONTROL_STATUS, CONTROL_SLOW,	   "process.csv",
					 "kernels.csv",	 "signatures.csv", "names.csv"};

/* Before and after what is appended meanwhile. */
enum part { FIRST_HALF, ALL };

static void write_file(const char *folder, const char *name, const char *bytes, size_t size)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	if (!file)
		abort();
	fwrite(bytes, 1, size, file);
	fclose(file);
}

static void write_files(const char *folder, const char *text, size_t left, enum part part)
{
	while (left) {
		const char *next = memmem(text + 1, left - 1, "\n@", 2);
		size_t size = next ? (size_t)(next + 1 - text) : left;
		const char *line_end = memchr(text, '\n', size);

		for (size_t i = 0; line_end && i < sizeof(file_names) / sizeof(*file_names); i++) {
			size_t length = strlen(file_names[i]),
			       rest = size - (size_t)(line_end + 1 - text);

			if (length + 1 == (size_t)(line_end - text) &&
			    !memcmp(text + 1, file_names[i], length))
				write_file(folder, file_names[i], line_end + 1,
					   part == ALL ? rest : rest / 2);
		}
		text += size;
		left -= size;
	}
}

/* Asks for the answer that is there, as another one would be waited for. */
static void read_answer(const char *folder, const char *text, size_t size)
{
	static const char key[] = "answer ";
	const char *answer = memmem(text, size, key, sizeof(key) - 1);
	struct control_status status;
	struct control_slow slow;
	struct err err = {""};

	(void)control_process(folder);
	if (answer && (answer == text || answer[-1] == '\n'))
		(void)control_wait(folder, strtoull(answer + sizeof(key) - 1, NULL, 10), &status,
				   &err);
	(void)control_take_slow(folder, &slow);
}

static void read_kernels(const char *recording, const char *folder, const char *text, size_t size)
{
	struct busy_kernels *kernels = busy_kernels_open();
	struct busy_kernel out[BUSY_KERNELS_MOST];

	if (!kernels)
		abort();
	write_files(folder, text, size, FIRST_HALF);
	(void)busy_kernels_read(kernels, recording, out, BUSY_KERNELS_MOST);
	write_files(folder, text, size, ALL);
	(void)busy_kernels_read(kernels, recording, out, BUSY_KERNELS_MOST);
	busy_kernels_close(kernels);
}

static void dump(const char *recording)
{
	const struct dump_request request = {.source = recording, .reason = "fuzz"};
	char path[PATH_MAX];
	struct err err = {""};

	snprintf(path, sizeof(path), "%s/dumped", fuzz_folder());
	(void)dump_write(&request, path, &err);
	temporary_remove(path);
}

void fuzz_live(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1), recording[PATH_MAX / 2], folder[PATH_MAX];

	memcpy(text, bytes, size);
	text[size] = '\0';
	snprintf(recording, sizeof(recording), "%s/live", fuzz_folder());
	snprintf(folder, sizeof(folder), "%s/host.7", recording);
	if (mkdir(recording, 0700) < 0 || mkdir(folder, 0700) < 0)
		abort();
	read_kernels(recording, folder, text, size);
	dump(recording);
	read_answer(folder, text, size);
	temporary_remove(recording);
	free(text);
}
