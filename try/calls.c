#define _GNU_SOURCE
#include "calls.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "roofline/runs.h"
#include "roofline/trace_schema.h"

/* Later ones are counted only: of a program that makes that many calls the first ones tell what a call takes. */
#define CALLS_MOST (1u << 20)

struct kept_call {
	int64_t start_ns, end_ns; /* start_ns 0: not yet written */
	uint32_t thread, call;
};

static struct kept_call *kept; /* CALLS_MOST of them; NULL: calls are not kept */
static size_t seen_count;
static int64_t opened_ns;
static char recording[PATH_MAX];
static __thread uint32_t own_thread;

static const char *const call_names[] = {
#define CALL_NAME(constant, name) name,
	WATCHED_CALLS(CALL_NAME)
#undef CALL_NAME
};

/* As the times of a recording. */
static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void calls_open(const char *folder)
{
	char here[PATH_MAX];
	void *memory;

	if (!folder || !*folder)
		return;
	if (folder[0] == '/' || !getcwd(here, sizeof(here))) /* the program may go elsewhere */
		here[0] = '\0';
	snprintf(recording, sizeof(recording), "%s%s%s", here, here[0] ? "/" : "", folder);
	memory = mmap(NULL, CALLS_MOST * sizeof(*kept), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	kept = memory == MAP_FAILED ? NULL : memory;
	opened_ns = now_ns();
}

void calls_forked(void)
{
	if (!kept)
		return;
	__atomic_store_n(&seen_count, 0, __ATOMIC_RELAXED);
	own_thread = 0;
	opened_ns = now_ns();
}

int64_t calls_begin(void)
{
	return kept ? now_ns() : 0;
}

void calls_end(enum watched_call call, int64_t begin_ns)
{
	struct kept_call *own;
	size_t index;

	if (!begin_ns)
		return;
	index = __atomic_fetch_add(&seen_count, 1, __ATOMIC_RELAXED);
	if (index >= CALLS_MOST)
		return;
	if (!own_thread)
		own_thread = (uint32_t)gettid();
	own = &kept[index];
	own->end_ns = now_ns();
	own->thread = own_thread;
	own->call = call;
	__atomic_store_n(&own->start_ns, begin_ns, __ATOMIC_RELEASE);
}

/* ---- the process's folder, without taking memory (counts.c) ---- */

/* Returns a file of the folder, or -1. */
static int create(int folder, const char *name)
{
	return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static void write_process(int file, const char *host)
{
	uint64_t identity = 0;

	if (getrandom(&identity, sizeof(identity), GRND_NONBLOCK) < 0)
		identity = (uint64_t)opened_ns;
	dprintf(file,
		"key,value\nschema,%d\nhost,%s\npid,%d\nparent_pid,%d\nstart_ns,%" PRId64
		"\nidentity,%016" PRIx64 "\nrun,%d\nsealed_ns,%" PRId64 "\n",
		TRACE_SCHEMA_VERSION, host, (int)getpid(), (int)getppid(), opened_ns, identity,
		(int)RUN_UNTRACED, now_ns());
}

static void write_names(int file)
{
	dprintf(file, "id,text\n");
	for (int i = 0; i < WATCHED_CALL_COUNT; i++)
		dprintf(file, "%d,%s\n", i + 1, call_names[i]);
}

/* Many rows in one write. */
static void write_calls(int file, size_t count)
{
	char text[16384];
	size_t length = (size_t)snprintf(text, sizeof(text),
					 "start_ns,end_ns,name,thread,correlation,result\n");

	for (size_t i = 0; i < count; i++) {
		const struct kept_call *call = &kept[i];
		int64_t start_ns = __atomic_load_n(&call->start_ns, __ATOMIC_ACQUIRE);

		if (!start_ns)
			continue;
		length +=
			(size_t)snprintf(text + length, sizeof(text) - length,
					 "%" PRId64 ",%" PRId64 ",%" PRIu32 ",%" PRIu32 ",%zu,0\n",
					 start_ns, call->end_ns, call->call + 1, call->thread,
					 i + 1);
		if (length < sizeof(text) - 128 && i + 1 < count)
			continue;
		if (write(file, text, length) != (ssize_t)length)
			return;
		length = 0;
	}
	if (length && write(file, text, length) < 0)
		return;
}

static void write_losses(int file, size_t lost)
{
	dprintf(file, "kind,count\n");
	if (lost)
		dprintf(file, "unwritten_rows,%zu\n", lost);
}

/* process.csv last: without it the folder is none of a recording. */
static void write_tables(int folder, const char *host, size_t seen)
{
	size_t count = seen < CALLS_MOST ? seen : CALLS_MOST;
	const char *const names[] = {"names.csv", "api.csv", "losses.csv", "process.csv"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int file = create(folder, names[i]);

		if (file < 0)
			return;
		if (i == 0)
			write_names(file);
		else if (i == 1)
			write_calls(file, count);
		else if (i == 2)
			write_losses(file, seen - count);
		else
			write_process(file, host);
		close(file);
	}
}

void calls_write(void)
{
	size_t seen = __atomic_load_n(&seen_count, __ATOMIC_ACQUIRE);
	char host[256] = "host", path[PATH_MAX + 300];
	int folder;

	if (!kept || !seen)
		return;
	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/%s.%d", recording, host, (int)getpid());
	if (mkdir(path, 0700) < 0)
		return;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	write_tables(folder, host, seen);
	close(folder);
}
