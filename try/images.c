#define _GNU_SOURCE
#include "images.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	WRAPPER_MAGIC = 0x466243b1,
	WRAPPER_LINKED = 2, /* version: made of several, which follow */
	LINKED_MOST = 4096,
	FATBIN_MAGIC = (int)0xba55ed50,
	KIND_PTX = 1,
	KIND_ELF = 2,
	FLAG_LZ4 = 0x2000,
	FLAG_ZSTD = 0x8000,
	SYMBOL_IS_MANAGED = 4 /* in st_other */
};

/* Looking through more takes longer than it may: 100 MB take about 0.1 s. */
static const size_t most_bytes = 64 << 20;

/* What cudart registers: fatBinaryCtl.h of the toolkit. */
struct wrapper {
	int magic, version;
	const void *data;
	const void *const *linked;
};

struct fatbin {
	int magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};

/* From what fatbinary writes; each is followed by its data. */
struct entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes;
	uint32_t packed_bytes, options;
	uint16_t minor, major;
	uint32_t arch, name, name_bytes;
	uint64_t flags, unused, unpacked_bytes;
};

/* ---- code ---- */

static bool contains(const unsigned char *bytes, size_t count, const char *text)
{
	return memmem(bytes, count, text, strlen(text)) != NULL;
}

static bool text_is_silent(const unsigned char *bytes, size_t count)
{
	return !contains(bytes, count, "vprintf") && !contains(bytes, count, "__assertfail") &&
	       !contains(bytes, count, ".managed");
}

static bool symbols_are_silent(const unsigned char *bytes, size_t count, const Elf64_Shdr *section)
{
	if (section->sh_offset > count || section->sh_size > count - section->sh_offset ||
	    section->sh_entsize != sizeof(Elf64_Sym))
		return false;
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, bytes + section->sh_offset + at, sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
		    symbol.st_other & SYMBOL_IS_MANAGED)
			return false;
	}
	return true;
}

static bool read_elf(Elf64_Ehdr *header, const unsigned char *bytes, size_t count)
{
	if (count < sizeof(*header))
		return false;
	memcpy(header, bytes, sizeof(*header));
	return header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shnum &&
	       header->e_shoff <= count &&
	       header->e_shnum * sizeof(Elf64_Shdr) <= count - header->e_shoff;
}

static bool elf_is_silent(const unsigned char *bytes, size_t count)
{
	Elf64_Ehdr header;
	bool has_symbols = false;

	if (!read_elf(&header, bytes, count) || !text_is_silent(bytes, count))
		return false;
	for (unsigned i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;

		memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_SYMTAB)
			continue;
		has_symbols = true;
		if (!symbols_are_silent(bytes, count, &section))
			return false;
	}
	return has_symbols;
}

/* Where the last section or the table of sections ends. */
static size_t elf_bytes(const unsigned char *bytes)
{
	Elf64_Ehdr header;
	size_t end;

	if (!read_elf(&header, bytes, most_bytes))
		return 0;
	end = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
	for (unsigned i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;

		memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOBITS && section.sh_offset < most_bytes &&
		    section.sh_size < most_bytes && section.sh_offset + section.sh_size > end)
			end = section.sh_offset + section.sh_size;
	}
	return end;
}

static bool code_is_silent(const unsigned char *bytes, size_t count)
{
	if (count >= SELFMAG && !memcmp(bytes, ELFMAG, SELFMAG))
		return elf_is_silent(bytes, count);
	/* Text, which the driver compiles. */
	return count && contains(bytes, count, ".version") && text_is_silent(bytes, count);
}

/* ---- packed code ---- */

/* A length of 15 or more goes on in the bytes that follow. */
static bool add_length(const unsigned char **from, const unsigned char *end, size_t *length)
{
	unsigned char more;

	do {
		if (*from == end)
			return false;
		more = *(*from)++;
		*length += more;
	} while (more == 255);
	return true;
}

/* Bytes that end so far back: where these are fewer they come again and again. */
static void copy_again(unsigned char *to, size_t back, size_t count)
{
	while (count) {
		size_t some = count < back ? count : back;

		memcpy(to, to - back, some);
		to += some;
		count -= some;
		back += some;
	}
}

/* A block of LZ4, as its specification says: bytes as they are, and bytes that were there before, in turn. */
static bool unpack_lz4(unsigned char *to, size_t room, const unsigned char *from, size_t count)
{
	const unsigned char *end = from + count;
	size_t used = 0;

	while (from < end) {
		unsigned token = *from++;
		size_t plain = token >> 4, again = token & 15, back;

		if (plain == 15 && !add_length(&from, end, &plain))
			return false;
		if (plain > (size_t)(end - from) || plain > room - used)
			return false;
		memcpy(to + used, from, plain);
		used += plain;
		from += plain;
		if (from == end)
			break;
		if (end - from < 2)
			return false;
		back = from[0] | (size_t)from[1] << 8;
		from += 2;
		if (again == 15 && !add_length(&from, end, &again))
			return false;
		again += 4;
		if (!back || back > used || again > room - used)
			return false;
		copy_again(to + used, back, again);
		used += again;
	}
	return used == room;
}

/* Its library is not part of every system: without it this is not known. */
static bool unpack_zstd(unsigned char *to, size_t room, const unsigned char *from, size_t count)
{
	size_t (*unpack)(void *, size_t, const void *, size_t);
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	unpack = (__typeof__(unpack))dlsym(library, "ZSTD_decompress");
	return unpack && unpack(to, room, from, count) == room;
}

static bool packed_is_silent(const struct entry *entry, const unsigned char *data)
{
	size_t room = entry->unpacked_bytes;
	unsigned char *unpacked = room && room <= most_bytes ? malloc(room) : NULL;
	bool is_silent = false;

	if (!unpacked)
		return false;
	if (entry->flags & FLAG_ZSTD)
		is_silent = unpack_zstd(unpacked, room, data, entry->packed_bytes);
	else
		is_silent = unpack_lz4(unpacked, room, data, entry->packed_bytes);
	is_silent = is_silent && code_is_silent(unpacked, room);
	free(unpacked);
	return is_silent;
}

/* Machine code of another major compute capability no driver takes; it compiles any text. */
static bool is_for_other_gpus(const struct entry *entry, unsigned major)
{
	return major && entry->kind == KIND_ELF && entry->arch / 10 != major;
}

static bool entry_is_silent(const unsigned char *bytes, size_t left, unsigned major, size_t *used)
{
	struct entry entry;

	if (left < sizeof(entry))
		return false;
	memcpy(&entry, bytes, sizeof(entry));
	if (entry.header_bytes < sizeof(entry) || entry.header_bytes > left ||
	    entry.bytes > left - entry.header_bytes || entry.packed_bytes > entry.bytes)
		return false;
	*used = entry.header_bytes + entry.bytes;
	if (entry.kind != KIND_PTX && entry.kind != KIND_ELF)
		return false;
	if (is_for_other_gpus(&entry, major))
		return true;
	if (entry.flags & (FLAG_LZ4 | FLAG_ZSTD))
		return packed_is_silent(&entry, bytes + entry.header_bytes);
	return code_is_silent(bytes + entry.header_bytes, entry.bytes);
}

/* All that the driver may take: which part of it is its own choice. */
static bool fatbin_is_silent(const unsigned char *bytes, size_t room, unsigned major)
{
	struct fatbin header;

	if (room < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != FATBIN_MAGIC || header.version != 1 || header.bytes > most_bytes ||
	    header.header_bytes > room || header.bytes > room - header.header_bytes)
		return false;
	bytes += header.header_bytes;
	for (size_t at = 0, used; at < header.bytes; at += used)
		if (!entry_is_silent(bytes + at, header.bytes - at, major, &used))
			return false;
	return true;
}

/* ---- what programs hand over ---- */

bool images_bytes_are_silent(const unsigned char *bytes, size_t count, unsigned major)
{
	int magic = 0;

	if (count < sizeof(magic) || count > most_bytes)
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == FATBIN_MAGIC ? fatbin_is_silent(bytes, count, major)
				     : code_is_silent(bytes, count);
}

static bool wrapped_is_silent(const struct wrapper *wrapper, unsigned major)
{
	if ((wrapper->version != 1 && wrapper->version != WRAPPER_LINKED) || !wrapper->data ||
	    !fatbin_is_silent(wrapper->data, SIZE_MAX, major))
		return false;
	if (wrapper->version != WRAPPER_LINKED || !wrapper->linked)
		return true;
	for (size_t i = 0; i < LINKED_MOST; i++) {
		if (!wrapper->linked[i])
			return true;
		if (!fatbin_is_silent(wrapper->linked[i], SIZE_MAX, major))
			return false;
	}
	return false;
}

bool images_are_silent(const void *image, unsigned major)
{
	int magic;

	if (!image)
		return false;
	if (!memcmp(image, ELFMAG, SELFMAG))
		return elf_is_silent(image, elf_bytes(image));
	memcpy(&magic, image, sizeof(magic));
	if (magic == WRAPPER_MAGIC)
		return wrapped_is_silent(image, major);
	if (magic == FATBIN_MAGIC)
		return fatbin_is_silent(image, SIZE_MAX, major);
	return images_bytes_are_silent(image, strnlen(image, most_bytes), major);
}
