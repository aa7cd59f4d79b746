#define _GNU_SOURCE
#include "counts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lookup.h"
#include "stubs.h"

static unsigned long counts[TRY_COUNT_COUNT], passed[TRY_REASON_COUNT], flushes[STUBS_COUNT];
static char output[PATH_MAX];
static bool is_child; /* of a fork: it writes only if it launched or copied anything */

static const char *const count_names[] = {
#define COUNT_NAME(constant, name, meaning) name,
	TRY_COUNTS(COUNT_NAME)};
static const char *const reason_names[] = {TRY_REASONS(COUNT_NAME)
#undef COUNT_NAME
};

void counts_add(enum try_count count, unsigned long more)
{
	__atomic_fetch_add(&counts[count], more, __ATOMIC_RELAXED);
}

void counts_set(enum try_count count, unsigned long value)
{
	__atomic_store_n(&counts[count], value, __ATOMIC_RELAXED);
}

void counts_add_passed(enum try_reason reason)
{
	__atomic_fetch_add(&passed[reason], 1, __ATOMIC_RELAXED);
}

void counts_add_flush(unsigned stub)
{
	__atomic_fetch_add(&flushes[stub], 1, __ATOMIC_RELAXED);
}

void counts_open(const char *path)
{
	char folder[PATH_MAX];

	if (!path || !*path)
		return;
	if (path[0] == '/' || !getcwd(folder, sizeof(folder))) /* the program may go elsewhere */
		folder[0] = '\0';
	snprintf(output, sizeof(output), "%s%s%s", folder, folder[0] ? "/" : "", path);
}

void counts_reset(void)
{
	is_child = true;
	memset(counts, 0, sizeof(counts));
	memset(passed, 0, sizeof(passed));
	memset(flushes, 0, sizeof(flushes));
}

/* dprintf, because it takes no memory: a signal handler that ends the program may have interrupted malloc. */
static void write_rows(int file)
{
	dprintf(file, "name,value\n");
	for (int i = 0; i < TRY_COUNT_COUNT; i++)
		dprintf(file, "%s,%lu\n", count_names[i], counts[i]);
	for (int i = 0; i < TRY_REASON_COUNT; i++)
		if (passed[i])
			dprintf(file, TRY_PASSED "%s,%lu\n", reason_names[i], passed[i]);
	for (unsigned i = 1; i < STUBS_COUNT; i++)
		if (flushes[i])
			dprintf(file, TRY_FLUSH "%s,%lu\n", lookup_stub_name(i), flushes[i]);
}

/* Another name first: whoever reads it sees all rows, or those of before. */
void counts_write(void)
{
	char path[PATH_MAX + 32], written[PATH_MAX + 64];
	int file;

	if (!output[0] || (is_child && !counts[TRY_LAUNCHES_SEEN] && !counts[TRY_COPIES_SEEN] &&
			   !counts[TRY_RUN_NS]))
		return;
	snprintf(path, sizeof(path), "%s.%d", output, (int)getpid());
	snprintf(written, sizeof(written), "%s.part.%d", path, (int)gettid());
	file = open(written, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0)
		return;
	write_rows(file);
	close(file);
	rename(written, path);
}
