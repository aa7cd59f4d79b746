/* watch.c - the kernel tells when memory of the program is unmapped, moved or emptied. */
#define _GNU_SOURCE
#include "watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum {
	EVENTS_MOST = 16, /* that are read at a time */
	FILES_OF_PROGRAM = 200,
	TOLD_MS = 100,	/* until all is told, unless the machine is at a standstill */
	EMPTIED_MS = 10 /* pages that are emptied may still be there when that was told */
};

static int file = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static watch_gone_fn *tell;
static uintptr_t own_page; /* of ours, watched as well */
static size_t page_bytes;
static unsigned long begun, ended; /* times that events were read */
static uint64_t emptied_ns;	   /* when that was told last */

/* ---- the thread ---- */

static void tell_event(const struct uffd_msg *message)
{
	if (message->event == UFFD_EVENT_REMAP)
		tell(message->arg.remap.from, message->arg.remap.from + message->arg.remap.len);
	if (message->event == UFFD_EVENT_REMOVE)
		__atomic_store_n(&emptied_ns, clock_ns(), __ATOMIC_SEQ_CST);
	if (message->event == UFFD_EVENT_REMOVE || message->event == UFFD_EVENT_UNMAP)
		tell(message->arg.remove.start, message->arg.remove.end);
}

/* Who has caused an event goes on once it was read: what is told before that is seen by whoever waits until ended is begun. */
static void read_events(void)
{
	struct uffd_msg messages[EVENTS_MOST];
	ssize_t bytes;

	__atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
	bytes = read(file, messages, sizeof(messages));
	for (ssize_t i = 0; i < bytes / (ssize_t)sizeof(messages[0]); i++)
		tell_event(&messages[i]);
	__atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

static void *watch(void *unused)
{
	struct pollfd polled = {.fd = file, .events = POLLIN};

	(void)unused;
	for (;;) {
		if (poll(&polled, 1, -1) < 1)
			continue;
		if (polled.revents & (POLLERR | POLLHUP | POLLNVAL))
			break;
		if (polled.revents & POLLIN)
			read_events();
	}
	tell(0, UINTPTR_MAX); /* the program has closed it: nothing is told any more */
	file = -1;
	return NULL;
}

/* No signal of the program is handled in it. */
static bool start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attributes, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return rc == 0;
}

/* ---- what is watched ---- */

static bool add_mapping(const struct mapping *mapping)
{
	struct uffdio_register added = {.range = {.start = mapping->start,
						  .len = mapping->end - mapping->start},
					.mode = UFFDIO_REGISTER_MODE_WP};

	return ioctl(file, UFFDIO_REGISTER, &added) == 0;
}

/* Memory of the process alone: neither of a file nor shared, and not the stack of the first thread. */
static bool is_plain(const char *mode, unsigned long inode, const char *name)
{
	return !strcmp(mode, "rw-p") && inode == 0 &&
	       (!*name || !strcmp(name, "[heap]") || !strncmp(name, "[anon", 5));
}

/* The mapping that these pages lie in.  False: they do not lie in one of that kind. */
static bool find_mapping(uintptr_t start, uintptr_t end, struct mapping *mapping)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool is_found = false;

	while (maps && !is_found && fgets(line, sizeof(line), maps)) {
		char mode[8] = "", name[16] = "";
		unsigned long inode = 1;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %lu %15s", &mapping->start,
			   &mapping->end, mode, &inode, name) < 4)
			continue;
		if (mapping->start > start)
			break;
		is_found = mapping->end >= end && is_plain(mode, inode, name);
	}
	if (maps)
		fclose(maps);
	return is_found;
}

static bool make_own_page(void)
{
	unsigned char *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	own_page = (uintptr_t)page;
	return page != MAP_FAILED &&
	       add_mapping(&(struct mapping){own_page, own_page + page_bytes});
}

/* Not among the first numbers, which the program gets for its own files. */
static int open_high(void)
{
	int low = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FILES_OF_PROGRAM);

	if (high >= 0)
		close(low);
	return high >= 0 ? high : low;
}

static void open_file(void)
{
	struct uffdio_api api = {.api = UFFD_API,
				 .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP |
					     UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP |
					     UFFD_FEATURE_EVENT_REMOVE};

	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	file = open_high();
	if (file >= 0 && ioctl(file, UFFDIO_API, &api) == 0 && make_own_page() && start_thread())
		return;
	if (file >= 0)
		close(file);
	file = -1;
}

bool watch_open(watch_gone_fn *gone)
{
	tell = gone;
	pthread_once(&once, open_file);
	return file >= 0;
}

bool watch_add(uintptr_t start, uintptr_t end, struct mapping *mapping)
{
	struct mapping again;

	/* Looked at again: what becomes of it from now on is told. */
	return find_mapping(start, end, mapping) && add_mapping(mapping) &&
	       find_mapping(start, end, &again) &&
	       clock_ns() - __atomic_load_n(&emptied_ns, __ATOMIC_SEQ_CST) >
		       EMPTIED_MS * 1000000ull;
}

void watch_remove(const struct mapping *mapping)
{
	struct uffdio_range range = {.start = mapping->start, .len = mapping->end - mapping->start};

	if (mapping->end)
		ioctl(file, UFFDIO_UNREGISTER, &range);
}

/* The kernel refuses to change protection while something is unmapped that was not read yet. */
static bool is_all_read(void)
{
	struct uffdio_writeprotect none = {.range = {.start = own_page, .len = page_bytes}};

	return ioctl(file, UFFDIO_WRITEPROTECT, &none) == 0;
}

bool watch_is_current(void)
{
	uint64_t start_ns = clock_ns();

	for (;;) {
		if (is_all_read() && __atomic_load_n(&ended, __ATOMIC_SEQ_CST) ==
					     __atomic_load_n(&begun, __ATOMIC_SEQ_CST))
			return true;
		if (file < 0 || clock_ns() - start_ns > TOLD_MS * 1000000ull)
			return false;
		sched_yield();
	}
}

void watch_forked(void)
{
	if (file >= 0)
		close(file);
	file = -1;
}
