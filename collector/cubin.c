#include "cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190 /* EM_CUDA */
#define ENTRY_POINT 0x10 /* STO_CUDA_ENTRY of a symbol: a kernel, not a function that one calls */
#define MANAGED 0x04	 /* in st_other of a __managed__ variable, as nvcc 13.0 sets it */
#define ABI_WITH_SM_ABOVE 8  /* from this ABI version on flags hold the SM one byte further up */
#define INSTRUCTION_BYTES 16 /* since Volta */
#define INFO_SIZED_VALUE 4   /* EIFMT_SVAL: a record of .nv.info with its own length */
#define INFO_FRAME_SIZE 0x11 /* EIATTR_FRAME_SIZE: symbol and bytes of its stack frame */
#define SECTIONS_MOST (1u << 20) /* more than the largest library has */

struct section {
	const char *name;
	uint64_t offset, size;
	uint32_t type, link;
	uint32_t local_bytes; /* of its kernel, for each thread */
	bool is_kernel;
};

struct cubin {
	const unsigned char *bytes;
	size_t size;
	uint32_t sm;
	struct section *sections;
	size_t section_count;
	const struct section *symbols;
	uint64_t code_left; /* bytes: in a sound file no two sections overlap */
};

/* ---- the file ---- */

/* NULL when some of it lies outside. */
static const unsigned char *part(const struct cubin *cubin, uint64_t offset, uint64_t length)
{
	if (offset > cubin->size || length > cubin->size - offset)
		return NULL;
	return cubin->bytes + offset;
}

/* The text at offset of a section; "" when it does not end inside. */
static const char *text_at(const struct cubin *cubin, const struct section *texts, uint64_t offset)
{
	const unsigned char *text;

	if (offset >= texts->size)
		return "";
	text = part(cubin, texts->offset + offset, texts->size - offset);
	return text && memchr(text, '\0', texts->size - offset) ? (const char *)text : "";
}

static uint32_t sm_of(const Elf64_Ehdr *header)
{
	return (header->e_ident[EI_ABIVERSION] >= ABI_WITH_SM_ABOVE ? header->e_flags >> 8
								    : header->e_flags) &
	       0xff;
}

static bool is_cubin(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == MACHINE_CUDA && header->e_shentsize == sizeof(Elf64_Shdr);
}

static bool read_section_header(const struct cubin *cubin, const Elf64_Ehdr *header, uint64_t index,
				Elf64_Shdr *out)
{
	const unsigned char *from =
		header->e_shoff > cubin->size
			? NULL
			: part(cubin, header->e_shoff + index * sizeof(*out), sizeof(*out));

	if (from)
		memcpy(out, from, sizeof(*out));
	return from != NULL;
}

/* A file of very many sections keeps their number, and which has the names, in the first. */
static uint64_t count_sections(const struct cubin *cubin, const Elf64_Ehdr *header, uint64_t *names)
{
	Elf64_Shdr first;

	if (!header->e_shoff || !read_section_header(cubin, header, 0, &first))
		return 0;
	*names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
	return header->e_shnum ? header->e_shnum : first.sh_size;
}

static bool read_sections(struct cubin *cubin, const Elf64_Ehdr *header)
{
	uint64_t names = 0, count = count_sections(cubin, header, &names);
	uint32_t *name_offsets;

	if (!count || count > SECTIONS_MOST || names >= count ||
	    !part(cubin, header->e_shoff, count * sizeof(Elf64_Shdr)))
		return false;
	cubin->sections = calloc(count, sizeof(*cubin->sections));
	name_offsets = calloc(count, sizeof(*name_offsets));
	for (uint64_t i = 0; cubin->sections && name_offsets && i < count; i++) {
		Elf64_Shdr from;

		if (!read_section_header(cubin, header, i, &from))
			break;
		name_offsets[i] = from.sh_name;
		cubin->sections[i] = (struct section){.offset = from.sh_offset,
						      .size = from.sh_size,
						      .type = from.sh_type,
						      .link = from.sh_link};
		cubin->section_count++;
	}
	for (size_t i = 0; i < cubin->section_count; i++)
		cubin->sections[i].name = text_at(cubin, &cubin->sections[names], name_offsets[i]);
	free(name_offsets);
	return cubin->section_count > 0;
}

/* ---- symbols: which code is a kernel's, and how large its stack frame is ---- */

static bool read_symbol(const struct cubin *cubin, uint64_t index, Elf64_Sym *out)
{
	const unsigned char *from = NULL;

	if (cubin->symbols && index < cubin->symbols->size / sizeof(*out))
		from = part(cubin, cubin->symbols->offset + index * sizeof(*out), sizeof(*out));
	if (from)
		memcpy(out, from, sizeof(*out));
	return from != NULL;
}

static void find_kernels(struct cubin *cubin)
{
	Elf64_Sym symbol;

	for (size_t i = 0; i < cubin->section_count; i++)
		if (cubin->sections[i].type == SHT_SYMTAB)
			cubin->symbols = &cubin->sections[i];
	for (uint64_t i = 0; read_symbol(cubin, i, &symbol); i++)
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & ENTRY_POINT) &&
		    symbol.st_shndx < cubin->section_count)
			cubin->sections[symbol.st_shndx].is_kernel = true;
}

static void set_frame_size(struct cubin *cubin, const unsigned char *value)
{
	uint32_t words[2];
	Elf64_Sym symbol;

	memcpy(words, value, sizeof(words));
	if (read_symbol(cubin, words[0], &symbol) && symbol.st_shndx < cubin->section_count &&
	    cubin->sections[symbol.st_shndx].is_kernel)
		cubin->sections[symbol.st_shndx].local_bytes = words[1];
}

/* .nv.info is a row of records: format, attribute, then a value of two bytes, or the length of what follows. */
static void read_frame_sizes(struct cubin *cubin, const struct section *info)
{
	const unsigned char *bytes = part(cubin, info->offset, info->size);
	uint64_t at = 0;

	while (bytes && info->size - at >= 4) {
		const unsigned char *record = bytes + at;
		uint64_t length =
			record[0] == INFO_SIZED_VALUE ? record[2] | (uint64_t)record[3] << 8 : 0;

		at += 4;
		if (length > info->size - at)
			return;
		if (record[1] == INFO_FRAME_SIZE && length >= 8)
			set_frame_size(cubin, record + 4);
		at += length;
	}
}

/* ---- instructions ---- */

#define OPCODE(word) ((word)&0x1ff) /* without the form of its operands */
#define FORM(word) ((word)&0xfff)
#define REGISTER_A(word) ((word) >> 24 & 0xff)
#define REGISTER_C(word) ((word)&0xff) /* of the second word */
#define ZERO 0xff		       /* the register that is always 0 */

enum {
	HADD2 = 0x30,
	HFMA2 = 0x31,
	HMUL2 = 0x32,
	HFMA2_MMA = 0x35,
	LD = 0x180,
	LDG = 0x181,
	LDGSTS = 0x1ae,
	CALL_ABSOLUTE = 0x143,
	CALL_RELATIVE = 0x144,
	HFMA2_IMMEDIATE = 0x431,     /* how constants are set on sm_100 and later */
	HFMA2_MMA_IMMEDIATE = 0x435, /* and before */
	PREEXIT = 0x82d,	     /* griddepcontrol.launch_dependents */
	ACQBULK = 0x82e,	     /* griddepcontrol.wait */
};

static void count_half(struct cubin_counts *counts, uint64_t low, uint64_t high, uint32_t sm)
{
	uint32_t constant = sm >= 100 ? HFMA2_IMMEDIATE : HFMA2_MMA_IMMEDIATE;

	if (FORM(low) == constant && REGISTER_A(low) == ZERO && REGISTER_C(high) == ZERO)
		counts->half_constants++;
	else if (OPCODE(low) == HADD2 && REGISTER_A(low) == ZERO)
		counts->half_conversions++;
	else
		counts->half_arithmetic++;
}

static void count_instruction(struct cubin_counts *counts, uint64_t low, uint64_t high, uint32_t sm)
{
	uint32_t opcode = OPCODE(low), form = FORM(low);

	if (opcode == HADD2 || opcode == HFMA2 || opcode == HMUL2 || opcode == HFMA2_MMA)
		count_half(counts, low, high, sm);
	counts->loads += opcode == LD || opcode == LDG || opcode == LDGSTS;
	if (form == ACQBULK && sm >= 90 && !counts->dependency_waits++)
		counts->loads_before_wait = counts->loads;
	counts->dependent_launches += form == PREEXIT && sm >= 90;
}

/* Returns whether it calls a function. */
static bool count_code(struct cubin_counts *counts, const unsigned char *code, uint64_t size,
		       uint32_t sm)
{
	bool is_calling = false;

	for (uint64_t at = 0; size - at >= INSTRUCTION_BYTES; at += INSTRUCTION_BYTES) {
		uint64_t words[2];

		memcpy(words, code + at, sizeof(words));
		is_calling |=
			OPCODE(words[0]) == CALL_ABSOLUTE || OPCODE(words[0]) == CALL_RELATIVE;
		count_instruction(counts, words[0], words[1], sm);
	}
	counts->instructions += (uint32_t)(size / INSTRUCTION_BYTES);
	return is_calling;
}

static void add_counts(struct cubin_counts *to, const struct cubin_counts *from)
{
	to->instructions += from->instructions;
	to->half_constants += from->half_constants;
	to->half_conversions += from->half_conversions;
	to->half_arithmetic += from->half_arithmetic;
	to->dependency_waits += from->dependency_waits;
	to->dependent_launches += from->dependent_launches;
	to->loads += from->loads;
	to->loads_before_wait += from->loads_before_wait;
}

/* NULL for a section that is no code. */
static const char *function_of(const struct section *section)
{
	static const char prefix[] = ".text.";

	if (section->type != SHT_PROGBITS ||
	    strncmp(section->name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	return section->name + sizeof(prefix) - 1;
}

/* NULL when some of it lies outside, or in other code. */
static const unsigned char *code_of(struct cubin *cubin, const struct section *section)
{
	if (section->size > cubin->code_left)
		return NULL;
	cubin->code_left -= section->size;
	return part(cubin, section->offset, section->size);
}

/* Of the functions that kernels may call: which of them calls which is not asked. */
static struct cubin_counts count_functions(struct cubin *cubin)
{
	struct cubin_counts counts = {0};

	for (size_t i = 0; i < cubin->section_count; i++) {
		const struct section *section = &cubin->sections[i];
		const unsigned char *code = NULL;

		if (function_of(section) && !section->is_kernel)
			code = code_of(cubin, section);
		if (code)
			count_code(&counts, code, section->size, cubin->sm);
	}
	return counts;
}

static void visit_kernel(struct cubin *cubin, const struct section *section,
			 const struct cubin_counts *functions, const struct cubin_visitor *visitor,
			 void *context)
{
	struct cubin_kernel kernel = {.name = function_of(section),
				      .sm = cubin->sm,
				      .local_bytes_per_thread = section->local_bytes};
	const unsigned char *code = code_of(cubin, section);

	if (code && count_code(&kernel.counts, code, section->size, cubin->sm))
		add_counts(&kernel.counts, functions);
	if (visitor->kernel)
		visitor->kernel(&kernel, context);
}

static size_t visit_kernels(struct cubin *cubin, const struct cubin_visitor *visitor, void *context)
{
	struct cubin_counts functions = count_functions(cubin);
	size_t count = 0;

	for (size_t i = 0; i < cubin->section_count; i++)
		if (cubin->sections[i].is_kernel && function_of(&cubin->sections[i])) {
			visit_kernel(cubin, &cubin->sections[i], &functions, visitor, context);
			count++;
		}
	return count;
}

/* They lie in .nv.global and, with a value, in .nv.global.init. */
static void visit_variables(const struct cubin *cubin, const struct cubin_visitor *visitor,
			    void *context)
{
	static const char global[] = ".nv.global";
	Elf64_Sym symbol;

	for (uint64_t i = 0; read_symbol(cubin, i, &symbol); i++)
		if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size &&
		    symbol.st_shndx < cubin->section_count &&
		    !strncmp(cubin->sections[symbol.st_shndx].name, global, strlen(global)))
			visitor->variable(&(struct cubin_variable){symbol.st_size,
								   (symbol.st_other & MANAGED) !=
									   0},
					  context);
}

size_t cubin_read(const void *bytes, size_t size, const struct cubin_visitor *visitor,
		  void *context)
{
	struct cubin cubin = {.bytes = bytes, .size = size, .code_left = size};
	Elf64_Ehdr header;
	size_t count = 0;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	if (is_cubin(&header) && read_sections(&cubin, &header)) {
		cubin.sm = sm_of(&header);
		find_kernels(&cubin);
		for (size_t i = 0; i < cubin.section_count; i++)
			if (!strcmp(cubin.sections[i].name, ".nv.info"))
				read_frame_sizes(&cubin, &cubin.sections[i]);
		count = visit_kernels(&cubin, visitor, context);
		if (visitor->variable)
			visit_variables(&cubin, visitor, context);
	}
	free(cubin.sections);
	return count;
}
