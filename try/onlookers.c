#define _GNU_SOURCE
#include "onlookers.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deferred.h"
#include "driver.h"
#include "process.h"
#include "waits.h"

#define EXPORT __attribute__((visibility("default")))
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* They give the memory of the GPU to other devices, to the network, to files or to encoders. */
static const char *const libraries[] = {
	"libibverbs.",	     "libfabric.",	   "libcxi.",		"libpsm2.",
	"libpsm3",	     "libpsm_infinipath.", "libgdrapi.",	"libcufile.",
	"libnvcuvid.",	     "libnvoptix.",	   "libnvidia-encode.", "libnvshmem_host.",
	"libdoca_gpunetio.", "librivermax.",	   "librte_gpudev.",
};

/* Functions of such libraries, which may be linked into others or into the program. */
static const char *const functions[] = {"ibv_reg_mr",	  "ibv_open_device", "gdr_open",
					"gdr_pin_buffer", "psm2_init",	     "psm2_ep_open",
					"fi_getinfo",	  "cuFileDriverOpen"};

/* They do so for who links such libraries statically. */
static const char *const devices[] = {"/dev/infiniband/", "/dev/hfi1",	    "/dev/ipath",
				      "/dev/gdrdrv",	  "/dev/nvidia-fs", "/dev/cxi"};

static bool begins_with_any(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(text, list[i], strlen(list[i])))
			return true;
	return false;
}

/* ---- libraries and functions ---- */

/* The table of an object by which its functions are found (DT_GNU_HASH): words of a filter, buckets, and a chain of hashes, in
 * which the last of a bucket is odd. */
struct table {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool has_function(const struct table *table, const char *name)
{
	uint32_t bucket_count = table->hash[0], first = table->hash[1], words = table->hash[2];
	const uint32_t *buckets = table->hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = buckets + bucket_count;
	uint32_t hash = hash_of(name), i = bucket_count ? buckets[hash % bucket_count] : 0;

	if (i < first)
		return false;
	do {
		const ElfW(Sym) *symbol = &table->symbols[i];

		if ((chain[i - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    !strcmp(table->names + symbol->st_name, name))
			return true;
	} while (!(chain[i++ - first] & 1));
	return false;
}

static struct table table_of(const struct dl_phdr_info *info)
{
	struct table table = {0};
	const ElfW(Dyn) *entry = NULL;

	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SYMTAB)
			table.symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRTAB)
			table.names = (const char *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_GNU_HASH)
			table.hash = (const uint32_t *)entry->d_un.d_ptr;
	return table;
}

static int look_at_object(struct dl_phdr_info *info, size_t bytes, void *found)
{
	const char *slash = strrchr(info->dlpi_name, '/'),
		   *name = slash ? slash + 1 : info->dlpi_name;
	struct table table = table_of(info);

	(void)bytes;
	if (begins_with_any(name, libraries, LENGTH(libraries)))
		*(bool *)found = true;
	/* The kernel's own object (linux-vdso.so.1) has addresses that were not relocated. */
	if (!table.symbols || !table.names || (uintptr_t)table.hash < info->dlpi_addr)
		return *(bool *)found;
	for (size_t i = 0; i < LENGTH(functions) && table.hash && !*(bool *)found; i++)
		*(bool *)found = has_function(&table, functions[i]);
	return *(bool *)found;
}

static int look_at_count(struct dl_phdr_info *info, size_t bytes, void *count)
{
	(void)bytes;
	*(unsigned long long *)count = info->dlpi_adds;
	return 1;
}

/* ---- devices ---- */

static bool is_device_open(int file)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	return begins_with_any(path, devices, LENGTH(devices));
}

/* Opened before this library could see it, or by another program that this one was. */
static bool is_any_device_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	bool is_open = false;

	while (folder && !is_open && (entry = readdir(folder)) != NULL)
		is_open = is_device_open(atoi(entry->d_name));
	if (folder)
		closedir(folder);
	return is_open;
}

enum try_reason onlookers_find(void)
{
	static unsigned long long seen;
	unsigned long long count = 0;
	bool is_found = false;

	dl_iterate_phdr(look_at_count, &count);
	if (count == __atomic_load_n(&seen, __ATOMIC_ACQUIRE))
		return TRY_REASON_COUNT;
	dl_iterate_phdr(look_at_object, &is_found);
	if (is_found)
		return TRY_OTHER_LIBRARY;
	if (is_any_device_open())
		return TRY_OTHER_DEVICE;
	__atomic_store_n(&seen, count, __ATOMIC_RELEASE);
	return TRY_REASON_COUNT;
}

/* ---- what the program is about to do ---- */

/* Libraries in another namespace call another copy of the driver's library, and open files by another C library. */
void try_before_dlmopen(long namespace)
{
	try_before_dlopen();
	if (namespace == LM_ID_BASE || deferred_is_inside())
		return;
	if (process_wants(TRY_GRAPH))
		deferred_flush();
	waits_end_for(TRY_OTHER_NAMESPACE);
}

/* Nothing is given to a device before it is open. */
static int opened(int file, const char *path)
{
	struct stat about;
	int error = errno;

	if (file < 0 || !process_wants(TRY_FEWER_WAITS))
		return file;
	if (begins_with_any(path, devices, LENGTH(devices)) ||
	    (fstat(file, &about) == 0 && S_ISCHR(about.st_mode) && is_device_open(file)))
		waits_end_for(TRY_OTHER_DEVICE);
	errno = error;
	return file;
}

/* The mode is there only where a file may be made. */
#define TAKE_MODE(mode, flags)                                   \
	va_list rest;                                            \
	mode_t mode = 0;                                         \
                                                                 \
	va_start(rest, flags);                                   \
	if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) \
		mode = va_arg(rest, mode_t);                     \
	va_end(rest)

/* Each calls the next function of its name, which may belong to another preloaded library; the kernel, as long as that was not
 * found: in the constructors of such libraries. */
#define OPEN(name)                                                                                 \
	static int (*next_##name)(const char *, int, ...);                                         \
	EXPORT int name(const char *path, int flags, ...);                                         \
	EXPORT int name(const char *path, int flags, ...)                                          \
	{                                                                                          \
		TAKE_MODE(mode, flags);                                                            \
		return opened(next_##name ? next_##name(path, flags, mode)                         \
					  : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode), \
			      path);                                                               \
	}

#define OPEN_AT(name)                                                                            \
	static int (*next_##name)(int, const char *, int, ...);                                  \
	EXPORT int name(int folder, const char *path, int flags, ...);                           \
	EXPORT int name(int folder, const char *path, int flags, ...)                            \
	{                                                                                        \
		TAKE_MODE(mode, flags);                                                          \
		return opened(next_##name ? next_##name(folder, path, flags, mode)               \
					  : (int)syscall(SYS_openat, folder, path, flags, mode), \
			      path);                                                             \
	}

/* The last four are called where the compiler checks calls (_FORTIFY_SOURCE); they take no mode. */
#define OPENS(OPEN, OPEN_AT) \
	OPEN(open)           \
	OPEN(open64)         \
	OPEN_AT(openat)      \
	OPEN_AT(openat64)    \
	OPEN(__open_2)       \
	OPEN(__open64_2)     \
	OPEN_AT(__openat_2)  \
	OPEN_AT(__openat64_2)

OPENS(OPEN, OPEN_AT)

/* At the start, as in exec.c. */
__attribute__((constructor)) static void find_next(void)
{
#define FIND(name) next_##name = (__typeof__(next_##name))driver_dlsym(RTLD_NEXT, #name);
	OPENS(FIND, FIND)
}
