/*
 * outputs.c - what a program writes that strategies are tried on: compared, and what they reached in it.
 *
 * A line "@@" ends the text of one run: there are two bare ones, and one with the strategy.
 */
#define _GNU_SOURCE /* memmem */
#include "targets.h"

#include <fcntl.h>
#include <regex.h>
#include <string.h>
#include <unistd.h>

#include "trial/difference.h"
#include "trial/reach.h"

enum { BARE_RUNS = 2, RUNS = 3 };

/* So little that large texts, of which a hash is kept alone, are there as well. */
#define MOST_BYTES 4096

static void read_text(struct trial_text *text, const char *bytes, size_t size, const regex_t *mask)
{
	int file = open(fuzz_file("output", (const uint8_t *)bytes, size), O_RDONLY | O_CLOEXEC);

	(void)trial_text_read(text, file, mask, 1, MOST_BYTES);
	close(file);
}

static void compare(const char *bytes, size_t left, const regex_t *mask)
{
	struct trial_text texts[RUNS] = {0};
	struct trial_difference difference;

	for (int i = 0; i < RUNS; i++) {
		const char *end = i + 1 < RUNS && left ? memmem(bytes, left, "\n@@\n", 4) : NULL;
		size_t size = end ? (size_t)(end + 1 - bytes) : left;

		read_text(&texts[i], bytes, size, mask);
		bytes += end ? size + 3 : size;
		left -= end ? size + 3 : size;
	}
	(void)trial_compare(&difference, texts, BARE_RUNS, texts + BARE_RUNS, RUNS - BARE_RUNS);
	trial_difference_free(&difference);
	for (int i = 0; i < RUNS; i++)
		trial_text_free(&texts[i]);
}

static void read_reach(const uint8_t *bytes, size_t size)
{
	struct trial_reach reach = {0};
	struct err err = {""};

	(void)fuzz_file("reached.7", bytes, size);
	(void)trial_reach_read(&reach, fuzz_folder(), "reached", &err);
	trial_reach_free(&reach);
}

void fuzz_outputs(const uint8_t *bytes, size_t size)
{
	static regex_t mask;
	static bool has_mask;

	if (!has_mask)
		has_mask = regcomp(&mask, "[0-9.]+ (ms|GB/s)", REG_EXTENDED) == 0;
	compare((const char *)bytes, size, &mask);
	read_reach(bytes, size);
}
