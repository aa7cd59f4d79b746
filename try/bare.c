#define _GNU_SOURCE
#include "bare.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"
#include "lookup.h"

extern const ElfW(Ehdr) own_begin __asm__("__ehdr_start") __attribute__((visibility("hidden")));

bool bare_is_own(const void *address)
{
	uintptr_t begin = (uintptr_t)&own_begin, end = begin;
	const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(begin + own_begin.e_phoff);

	for (unsigned i = 0; i < own_begin.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD)
			end = begin + segments[i].p_vaddr + segments[i].p_memsz;
	return (uintptr_t)address >= begin && (uintptr_t)address < end;
}

static struct link_map *object_of(const void *address)
{
	struct link_map *object = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
}

/* An object that was opened finds what was opened with it, also where others do not. */
static void *find_with(const struct link_map *object, const char *name)
{
	void *(*open)(const char *, int) = (__typeof__(open))try_real_dlopen;
	void *library, *found;

	library = open && object && *object->l_name ? open(object->l_name, RTLD_LAZY | RTLD_NOLOAD)
						    : NULL;
	if (!library)
		return NULL;
	found = driver_dlsym(library, name);
	dlclose(library);
	return found;
}

void *bare_find(const char *name, const void *caller)
{
	void *found = driver_dlsym(RTLD_NEXT, name);

	if (!found)
		found = find_with(object_of(caller), name);
	return found ? found : driver_dlsym(RTLD_NEXT, name); /* for dlerror() */
}

bool bare_is_in_front(const void *caller)
{
	const struct link_map *object = object_of(caller);

	while (object && object->l_ld != _DYNAMIC)
		object = object->l_next;
	return object != NULL;
}

/* ---- weak references ---- */

/* An object that is loaded: what it refers to, and where the dynamic linker wrote that. */
struct object {
	const struct dl_phdr_info *info;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * relocations[2]; /* of variables, and of calls */
	size_t bytes[2];
};

static const ElfW(Phdr) * segment_at(const struct object *object, uintptr_t address, unsigned type)
{
	const struct dl_phdr_info *info = object->info;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == type && address >= start &&
		    address - start < segment->p_memsz)
			return segment;
	}
	return NULL;
}

static void find_tables(struct object *object, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SYMTAB)
			object->symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRTAB)
			object->names = (const char *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_RELA)
			object->relocations[0] = (const ElfW(Rela) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_RELASZ)
			object->bytes[0] = entry->d_un.d_val;
		else if (entry->d_tag == DT_JMPREL)
			object->relocations[1] = (const ElfW(Rela) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_PLTRELSZ)
			object->bytes[1] = entry->d_un.d_val;
}

/* The reference is to nothing.  Its page may be one that is only read since it was written. */
static void clear(const struct object *object, uintptr_t *place, uintptr_t value)
{
	uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)place & ~(bytes - 1));
	const ElfW(Phdr) *segment = segment_at(object, (uintptr_t)place, PT_LOAD);
	bool is_sealed = segment_at(object, (uintptr_t)place, PT_GNU_RELRO);

	if (!segment || !(segment->p_flags & PF_W) ||
	    (is_sealed && mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0))
		return;
	*place = value;
	if (is_sealed)
		mprotect(page, bytes, PROT_READ);
}

static void clear_if_weak(const struct object *object, const ElfW(Rela) * relocation)
{
	uintptr_t *place = (uintptr_t *)(object->info->dlpi_addr + relocation->r_offset);
	uintptr_t type = ELF64_R_TYPE(relocation->r_info), more = 0;
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];

	if (type == R_X86_64_64)
		more = (uintptr_t)relocation->r_addend;
	else if (type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT)
		return;
	if (bare_is_own((const void *)(*place - more)) &&
	    ELF64_ST_BIND(symbol->st_info) == STB_WEAK && symbol->st_shndx == SHN_UNDEF &&
	    lookup_is_driver_name(object->names + symbol->st_name))
		clear(object, place, more);
}

static int clear_weak(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	struct object object = {.info = info};

	(void)bytes, (void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			find_tables(&object, (const ElfW(Dyn) *)(info->dlpi_addr +
								 info->dlpi_phdr[i].p_vaddr));
	if (!object.symbols || !object.names)
		return 0;
	for (int table = 0; table < 2; table++)
		for (size_t i = 0;
		     object.relocations[table] && i < object.bytes[table] / sizeof(ElfW(Rela)); i++)
			clear_if_weak(&object, &object.relocations[table][i]);
	return 0;
}

/* Where no CUDA was loaded with the program its weak references to it are references to nothing.  They were resolved before
 * anything of this library ran. */
__attribute__((constructor(101))) static void clear_weak_references(void)
{
	if (!driver_dlsym(RTLD_NEXT, "cuInit")) {
		(void)dlerror(); /* none of the program's */
		dl_iterate_phdr(clear_weak, NULL);
	}
}
