/* try_memory.c - whether memory of the GPU contained the same, bare and with a strategy. */
#define _GNU_SOURCE
#include "cmd/try_memory.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bare runs come first: two, to know what differs from run to run. */
static const int sides[] = {TRIAL_BARE, TRIAL_BARE, TRIAL_TRIED};

enum { RUNS = sizeof(sides) / sizeof(sides[0]) };

bool try_memory_add(struct trial *trial)
{
	return trial_add_channel(trial, "device memory", true, RUNS);
}

static struct trial_channel *channel_of(struct trial *trial)
{
	return &trial->channels[trial->channel_count - 1];
}

/* ---- what the processes of a run wrote ---- */

static bool append_file(FILE *out, const char *path)
{
	FILE *in = fopen(path, "re");
	char block[1 << 14];
	size_t length;
	bool is_read;

	if (!in)
		return false;
	while ((length = fread(block, 1, sizeof(block), in)) > 0)
		fwrite(block, 1, length, out);
	is_read = !ferror(in);
	fclose(in);
	return is_read;
}

static long process_of(const char *path)
{
	return strtol(strrchr(path, '.') + 1, NULL, 10);
}

static int by_process(const void *one, const void *other)
{
	long a = process_of(*(char *const *)one), b = process_of(*(char *const *)other);

	return (a > b) - (a < b);
}

/* All of them, the first process first. */
static bool append_files(FILE *out, const char *pattern)
{
	glob_t found = {0};
	bool is_read = true;
	int rc = glob(pattern, GLOB_NOSORT, NULL, &found);

	if (rc == 0)
		qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv), by_process);
	for (size_t i = 0; rc == 0 && is_read && i < found.gl_pathc; i++)
		is_read = append_file(out, found.gl_pathv[i]);
	globfree(&found);
	return is_read && (rc == 0 || rc == GLOB_NOMATCH);
}

static int read_lists(const struct try_bench *bench, struct trial_text *text, struct err *err)
{
	char pattern[sizeof(bench->memory) + 8];
	FILE *all = tmpfile();
	int rc = all ? 0 : -EIO;

	snprintf(pattern, sizeof(pattern), "%s.[0-9]*", bench->memory);
	if (rc == 0 && (!append_files(all, pattern) || fflush(all) != 0))
		rc = -EIO;
	if (rc == 0)
		rc = trial_text_read(text, fileno(all), NULL, 0, TRIAL_MOST_KEPT_BYTES);
	if (all)
		fclose(all);
	return rc < 0 ? err_set(err, rc, "cannot read what memory of the GPU contained: %s",
				strerror(-rc))
		      : 0;
}

/* ---- runs ---- */

/* Of what could not be read nothing is compared. */
static int note_unknown(struct trial *trial, const struct trial_text *text)
{
	size_t unknown = 0;

	for (const char *at = text->bytes; at && (at = strstr(at, ", not known: ")); at++)
		unknown++;
	if (!unknown)
		return 0;
	return sentences_add(&trial->notes,
			     "what %zu allocation%s of the GPU's memory contained is not known",
			     unknown, unknown == 1 ? "" : "s") < 0
		       ? -ENOMEM
		       : 0;
}

static int keep_lists(struct try_bench *bench, int side, struct err *err)
{
	struct trial *trial = bench->trial;
	struct trial_text text = {0};
	int rc = read_lists(bench, &text, err);

	if (rc == 0 && side == TRIAL_TRIED && note_unknown(trial, &text) < 0)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		trial_add_text(channel_of(trial), side, &text);
	trial_text_free(&text);
	return rc;
}

static int run(struct try_bench *bench, int side, struct err *err)
{
	struct try_end end;
	int rc;

	snprintf(bench->memory, sizeof(bench->memory), "%s/memory.%zu", bench->folder,
		 bench->run_count);
	bench->is_watched = side == TRIAL_BARE;
	rc = try_bench_run_once(bench, side, &end, err);
	bench->is_watched = false;
	if (rc == 0)
		rc = keep_lists(bench, side, err);
	*bench->memory = '\0';
	return rc;
}

int try_memory_check(struct try_bench *bench, struct err *err)
{
	int rc = 0;

	if (!bench->options->is_memory_checked || try_bench_has_ended_otherwise(bench))
		return 0;
	for (size_t i = 0; rc == 0 && i < RUNS; i++)
		rc = run(bench, sides[i], err);
	return rc;
}
