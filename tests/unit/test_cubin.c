/* collector/cubin.h: what is read of a file that is made up here.  tests/collector/machine_code.bats has real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/cubin.c"

/* Words as cuobjdump -sass prints them, for sm_90 unless another is named. */
#define CONSTANT                                       \
	{                                              \
		0x00000000ff057435, 0x000fe200000001ff \
	} /* HFMA2.MMA R5, -RZ, RZ, 0, 0 */
#define CONSTANT_100                                   \
	{                                              \
		0x3c00ff00ff057431, 0x000fe200000001ff \
	} /* sm_100: HFMA2 R5, -RZ, RZ, 1, 0 */
#define MULTIPLY_ADD                                   \
	{                                              \
		0x0000000302057231, 0x000fe20000000004 \
	} /* HFMA2 R5, R2, R3, R4 */
#define MULTIPLY                                       \
	{                                              \
		0x0000000302057232, 0x000fe20000000000 \
	} /* HMUL2 R5, R2, R3 */
#define ADD                                            \
	{                                              \
		0x0000000302057230, 0x000fe20000000000 \
	} /* HADD2 R5, R2, R3 */
#define CONVERSION                                     \
	{                                              \
		0x20000002ff057230, 0x000fe20000004100 \
	} /* HADD2.F32 R5, -RZ, R2.H0_H0 */
#define SINGLE                                         \
	{                                              \
		0x0000000302057223, 0x000fe20000000004 \
	} /* FFMA R5, R2, R3, R4 */
#define CALL                                           \
	{                                              \
		0x0000001000007944, 0x000fea0003c00000 \
	} /* CALL.REL.NOINC */
#define RETURN                                         \
	{                                              \
		0x000000000000794d, 0x000fea0003800000 \
	} /* EXIT */

/* clang-format off */
#define DEPENDENCY_WAIT {0x000000000000782e, 0x000fe20000000000}
#define LAUNCH_DEPENDENTS {0x000000000000782d, 0x000fe20000000000}
#define LOAD_GLOBAL {0x0000000404047981, 0x000ea8000c1e1900} /* LDG.E R4, desc[UR4][R4.64] */
#define LOAD_GENERIC {0x000000040a0a7980, 0x001ea8000c101900} /* LD.E R10, desc[UR4][R10.64] */
#define LOAD_TO_SHARED {0x0000000006117fae, 0x0001e8000b901c44} /* LDGSTS.E.BYPASS.128 [R17], desc[UR4][R6.64] */
#define LOAD_SHARED {0x0000000007077984, 0x000e280000000800} /* LDS R7, [R7] */
#define LOAD_CONSTANT {0x00000a00ff017b82, 0x000e220000000800} /* LDC R1, c[0x0][0x28] */
/* clang-format on */

typedef uint64_t instruction[2];

/* ---- a cubin ---- */

struct file {
	unsigned char bytes[8192];
	size_t size;
	Elf64_Shdr sections[16];
	size_t section_count;
	char names[512], texts[512];
	size_t name_bytes, text_bytes;
	Elf64_Sym symbols[16];
	size_t symbol_count;
	unsigned char info[256];
	size_t info_bytes;
};

static uint32_t add_text(char *texts, size_t *used, const char *text)
{
	uint32_t at = (uint32_t)*used;

	*used += (size_t)snprintf(texts + at, 512 - at, "%s", text) + 1;
	return at;
}

static Elf64_Shdr *add_section(struct file *file, const char *name, uint32_t type,
			       const void *bytes, size_t size)
{
	Elf64_Shdr *section = &file->sections[file->section_count++];

	*section = (Elf64_Shdr){.sh_name = add_text(file->names, &file->name_bytes, name),
				.sh_type = type,
				.sh_offset = file->size,
				.sh_size = size};
	if (size)
		memcpy(file->bytes + file->size, bytes, size);
	file->size += size;
	return section;
}

static struct file file_begin(void)
{
	struct file file = {.size = sizeof(Elf64_Ehdr), .name_bytes = 1, .text_bytes = 1};

	add_section(&file, "", SHT_NULL, NULL, 0);
	return file;
}

/* A function with its frame in .nv.info; is_kernel: one that the host can launch. */
static void add_function(struct file *file, const char *name, bool is_kernel, uint32_t frame_bytes,
			 const instruction *code, size_t count)
{
	char section[64];
	uint32_t record[3] = {4 | 0x11 << 8 | 8 << 16, (uint32_t)file->symbol_count, frame_bytes};

	snprintf(section, sizeof(section), ".text.%s", name);
	file->symbols[file->symbol_count++] = (Elf64_Sym){
		.st_name = add_text(file->texts, &file->text_bytes, name),
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_other = is_kernel ? 0x10 : 0,
		.st_shndx = (Elf64_Section)file->section_count,
	};
	memcpy(file->info + file->info_bytes, record, sizeof(record));
	file->info_bytes += sizeof(record);
	add_section(file, section, SHT_PROGBITS, code, count * sizeof(*code));
}

/* A variable in the section that comes next; other: bits of st_other. */
static void add_variable(struct file *file, const char *name, uint64_t bytes, unsigned char other)
{
	file->symbols[file->symbol_count++] =
		(Elf64_Sym){.st_name = add_text(file->texts, &file->text_bytes, name),
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
			    .st_other = other,
			    .st_size = bytes,
			    .st_shndx = (Elf64_Section)file->section_count};
}

/* sm_above: newer files have the compute capability one byte further up. */
static void file_end(struct file *file, uint32_t sm, bool sm_above)
{
	Elf64_Ehdr header = {.e_machine = 190,
			     .e_flags = sm_above ? sm << 8 : sm | 0x50000,
			     .e_shentsize = sizeof(Elf64_Shdr)};

	add_section(file, ".nv.info", 0x70000000, file->info, file->info_bytes);
	add_section(file, ".symtab", SHT_SYMTAB, file->symbols,
		    file->symbol_count * sizeof(*file->symbols));
	add_section(file, ".strtab", SHT_STRTAB, file->texts, file->text_bytes);
	add_section(file, ".shstrtab", SHT_STRTAB, NULL, 0);
	file->sections[file->section_count - 1].sh_size = file->name_bytes;
	memcpy(file->bytes + file->size, file->names, file->name_bytes);
	file->size += file->name_bytes;
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_ABIVERSION] = sm_above ? 8 : 7;
	header.e_shoff = file->size;
	header.e_shnum = (Elf64_Half)file->section_count;
	header.e_shstrndx = (Elf64_Half)(file->section_count - 1);
	memcpy(file->bytes + file->size, file->sections,
	       file->section_count * sizeof(*file->sections));
	file->size += file->section_count * sizeof(*file->sections);
	memcpy(file->bytes, &header, sizeof(header));
}

/* ---- what was read ---- */

struct found {
	char names[4][64];
	struct cubin_kernel kernels[4];
	size_t count;
	uint64_t device_bytes, managed_bytes;
};

static void note(const struct cubin_kernel *kernel, void *context)
{
	struct found *found = context;

	assert_true(found->count < 4);
	snprintf(found->names[found->count], 64, "%s", kernel->name);
	found->kernels[found->count++] = *kernel;
}

static void count_variable(const struct cubin_variable *variable, void *context)
{
	struct found *found = context;

	if (variable->is_managed)
		found->managed_bytes += variable->bytes;
	else
		found->device_bytes += variable->bytes;
}

static const struct cubin_visitor noting = {note, count_variable};

static struct found read_file(const struct file *file)
{
	struct found found = {.count = 0};
	size_t count = cubin_read(file->bytes, file->size, &noting, &found);

	assert_int_equal(count, found.count);
	return found;
}

static const instruction mixed[] = {CONSTANT, CONSTANT,	    SINGLE, MULTIPLY_ADD, CONVERSION,
				    MULTIPLY, CONSTANT_100, ADD,    RETURN};

static void assert_counts(const struct cubin_kernel *kernel, const struct cubin_counts *wanted)
{
	assert_int_equal(kernel->counts.instructions, wanted->instructions);
	assert_int_equal(kernel->counts.half_constants, wanted->half_constants);
	assert_int_equal(kernel->counts.half_conversions, wanted->half_conversions);
	assert_int_equal(kernel->counts.half_arithmetic, wanted->half_arithmetic);
}

static void test_kernel(void **state)
{
	struct file file = file_begin();
	struct found found;

	(void)state;
	add_function(&file, "_Z4axpyPf", true, 312, mixed, 9);
	file_end(&file, 90, false);
	found = read_file(&file);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.names[0], "_Z4axpyPf");
	assert_int_equal(found.kernels[0].sm, 90);
	assert_int_equal(found.kernels[0].local_bytes_per_thread, 312);
	assert_counts(&found.kernels[0], &(struct cubin_counts){9, 2, 1, 4, 0, 0, 0, 0});
}

static void test_blackwell(void **state)
{
	struct file file = file_begin();
	struct found found;

	(void)state;
	add_function(&file, "k", true, 0, mixed, 9);
	file_end(&file, 100, true);
	found = read_file(&file);
	assert_int_equal(found.kernels[0].sm, 100);
	assert_counts(&found.kernels[0], &(struct cubin_counts){9, 1, 1, 5, 0, 0, 0, 0});
}

static void test_called_functions(void **state)
{
	static const instruction caller[] = {SINGLE, CALL, RETURN};
	static const instruction alone[] = {SINGLE, RETURN};
	static const instruction called[] = {ADD, RETURN};
	struct file file = file_begin();
	struct found found;

	(void)state;
	add_function(&file, "caller", true, 0, caller, 3);
	add_function(&file, "alone", true, 8, alone, 2);
	add_function(&file, "called", false, 16, called, 2);
	file_end(&file, 90, false);
	found = read_file(&file);
	assert_int_equal(found.count, 2);
	assert_counts(&found.kernels[0], &(struct cubin_counts){5, 0, 0, 1, 0, 0, 0, 0});
	assert_counts(&found.kernels[1], &(struct cubin_counts){2, 0, 0, 0, 0, 0, 0, 0});
	assert_int_equal(found.kernels[1].local_bytes_per_thread, 8);
}

static void test_dependent_launch(void **state)
{
	static const instruction code[] = {DEPENDENCY_WAIT, SINGLE, LAUNCH_DEPENDENTS,
					   LAUNCH_DEPENDENTS, RETURN};
	struct file hopper = file_begin(), ampere = file_begin();
	struct found found;

	(void)state;
	add_function(&hopper, "k", true, 0, code, 5);
	file_end(&hopper, 90, false);
	found = read_file(&hopper);
	assert_int_equal(found.kernels[0].counts.dependency_waits, 1);
	assert_int_equal(found.kernels[0].counts.dependent_launches, 2);
	add_function(&ampere, "k", true, 0, code, 5); /* where these words mean something else */
	file_end(&ampere, 80, false);
	found = read_file(&ampere);
	assert_int_equal(found.kernels[0].counts.dependency_waits, 0);
	assert_int_equal(found.kernels[0].counts.dependent_launches, 0);
}

static void test_loads_before_wait(void **state)
{
	static const instruction waiting[] = {LOAD_CONSTANT,   LOAD_GLOBAL, LOAD_TO_SHARED,
					      DEPENDENCY_WAIT, LOAD_SHARED, LOAD_GENERIC,
					      DEPENDENCY_WAIT, LOAD_GLOBAL, RETURN};
	static const instruction other[] = {LOAD_GLOBAL, RETURN};
	struct file file = file_begin();
	struct found found;

	(void)state;
	add_function(&file, "waiting", true, 0, waiting, 9);
	add_function(&file, "other", true, 0, other, 2);
	file_end(&file, 90, false);
	found = read_file(&file);
	assert_int_equal(found.kernels[0].counts.loads, 4);
	assert_int_equal(found.kernels[0].counts.loads_before_wait, 2);
	assert_int_equal(found.kernels[1].counts.loads, 1);
	assert_int_equal(found.kernels[1].counts.loads_before_wait, 0);
}

static void test_variables(void **state)
{
	struct file file = file_begin();
	struct found found;

	(void)state;
	add_variable(&file, "values", 4000, 0);
	add_variable(&file, "shared_with_host", 4, 0x4);
	add_section(&file, ".nv.global", SHT_NOBITS, NULL, 0);
	add_variable(&file, "table", 100, 0);
	add_section(&file, ".nv.global.init", SHT_PROGBITS, mixed, 100);
	add_variable(&file, "constant", 64, 0);
	add_section(&file, ".nv.constant3", SHT_PROGBITS, mixed, 64);
	add_function(&file, "k", true, 0, mixed, 9);
	file_end(&file, 90, false);
	found = read_file(&file);
	assert_int_equal(found.device_bytes, 4100);
	assert_int_equal(found.managed_bytes, 4);
	assert_int_equal(found.count, 1);
}

static void test_other_files(void **state)
{
	static const char text[] =
		"this is no cubin at all, only a text that is longer than the header of one";
	struct found found = {.count = 0};
	struct file file = file_begin();

	(void)state;
	add_function(&file, "k", true, 0, mixed, 9);
	file_end(&file, 90, false);
	assert_int_equal(cubin_read(text, sizeof(text), &noting, &found), 0);
	assert_int_equal(cubin_read("", 0, &noting, &found), 0);
	file.bytes[offsetof(Elf64_Ehdr, e_machine)] = 62; /* x86-64 */
	assert_int_equal(cubin_read(file.bytes, file.size, &noting, &found), 0);
	assert_int_equal(found.count, 0);
}

static void count_only(const struct cubin_kernel *kernel, void *context)
{
	*(size_t *)context += strlen(kernel->name); /* must end somewhere */
}

static void add_bytes(const struct cubin_variable *variable, void *context)
{
	*(size_t *)context += variable->bytes;
}

/* In memory of just that size, so that ASan sees a read beyond it. */
static void read_copy(const unsigned char *bytes, size_t size)
{
	unsigned char *copy = malloc(size ? size : 1);
	size_t sum = 0;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	cubin_read(copy, size, &(struct cubin_visitor){count_only, add_bytes}, &sum);
	free(copy);
}

static void test_damage(void **state)
{
	struct file file = file_begin();
	uint32_t random = 1;

	(void)state;
	add_function(&file, "_Z4axpyPf", true, 312, mixed, 9);
	add_function(&file, "called", false, 0, mixed, 9);
	file_end(&file, 90, false);
	assert_true(file.size > sizeof(Elf64_Ehdr));
	for (size_t size = 0; size < file.size; size++)
		read_copy(file.bytes, size);
	for (int i = 0; i < 20000; i++) {
		struct file damaged = file;

		for (int j = 0; j < 3; j++) {
			random = random * 1664525 + 1013904223;
			damaged.bytes[random / 256 % file.size] = (unsigned char)(random >> 24);
		}
		read_copy(damaged.bytes, damaged.size);
	}
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("half precision is told apart: constants, conversions, arithmetic",
		     test_kernel),
		TEST("from sm_100 on constants are set by another instruction", test_blackwell),
		TEST("a kernel that calls functions has theirs, another has not",
		     test_called_functions),
		TEST("waits and launches of dependent kernels are counted from sm_90 on",
		     test_dependent_launch),
		TEST("loads are counted, and those above the first wait", test_loads_before_wait),
		TEST("variables in global memory have their bytes, managed ones apart",
		     test_variables),
		TEST("what is no cubin has no kernels", test_other_files),
		TEST("cut off and damaged files are read as far as they go", test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
