/*
 * host_memory.c - copies memory of the program, and says so where that cannot be read or written.
 *
 * The kernel is asked to make the pages readable or writable, as touching them would (MADV_POPULATE, Linux 5.14).  That takes about
 * as long as copying them, which is why several threads share it.  Where it cannot be asked the kernel copies (process_vm_readv).
 */
#define _GNU_SOURCE
#include "host_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	POPULATE_READ = 22,
	POPULATE_WRITE = 23
}; /* not in every version of the C library's headers */

static size_t page_bytes;
static bool can_populate;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool populate(const void *address, size_t bytes, int advice)
{
	uintptr_t start = (uintptr_t)address & ~(page_bytes - 1);
	uintptr_t end = ((uintptr_t)address + bytes + page_bytes - 1) & ~(page_bytes - 1);
	int rc;

	do
		rc = madvise((void *)start, end - start, advice);
	while (rc != 0 && (errno == EINTR || errno == EAGAIN));
	return rc == 0;
}

/* Believed only where it tells a page that can be touched from one that cannot. */
static void find_out(void)
{
	unsigned char *pages;

	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED)
		return;
	can_populate = mprotect(pages + page_bytes, page_bytes, PROT_NONE) == 0 &&
		       populate(pages, page_bytes, POPULATE_READ) &&
		       populate(pages, page_bytes, POPULATE_WRITE) &&
		       !populate(pages + page_bytes, page_bytes, POPULATE_READ) &&
		       !populate(pages + page_bytes, page_bytes, POPULATE_WRITE);
	munmap(pages, 2 * page_bytes);
}

static bool is_there(const void *address, size_t bytes, int advice)
{
	pthread_once(&once, find_out);
	return can_populate && populate(address, bytes, advice);
}

bool host_memory_read(void *to, const void *from, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)from, bytes};

	if (is_there(from, bytes, POPULATE_READ)) {
		memcpy(to, from, bytes);
		return true;
	}
	return !can_populate &&
	       process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

bool host_memory_write(void *to, const void *from, size_t bytes)
{
	struct iovec local = {(void *)from, bytes}, remote = {to, bytes};

	if (is_there(to, bytes, POPULATE_WRITE)) {
		memcpy(to, from, bytes);
		return true;
	}
	return !can_populate &&
	       process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

bool host_memory_can_check(void)
{
	pthread_once(&once, find_out);
	return can_populate;
}

bool host_memory_is_there(const void *address, size_t bytes, bool is_written)
{
	return is_there(address, bytes, is_written ? POPULATE_WRITE : POPULATE_READ);
}

static bool has_byte(const void *address, bool is_written)
{
	unsigned char byte;
	struct iovec local = {&byte, 1}, remote = {(void *)address, 1};

	if (is_there(address, 1, is_written ? POPULATE_WRITE : POPULATE_READ))
		return true;
	return !can_populate && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

bool host_memory_has_ends(const void *address, size_t bytes, bool is_written)
{
	uintptr_t start = (uintptr_t)address;

	return start && bytes && start + bytes > start && has_byte(address, is_written) &&
	       has_byte((const char *)address + bytes - 1, is_written);
}
