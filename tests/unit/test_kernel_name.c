/* test_kernel_name.c - names as people wrote them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/kernel_name.h"

static void expect(const char *mangled, const char *wanted)
{
	struct demangler demangler = {0};
	char *name = kernel_name_demangle(&demangler, mangled);

	assert_string_equal(name, wanted);
	free(name);
	demangler_close(&demangler);
}

static void test_plain(void **state)
{
	(void)state;
	expect("saxpy", "saxpy");
	expect("_Z5saxpyifPfS_", "saxpy(int, float, float*, float*)");
	expect("_Znonsense", "_Znonsense");
	expect("", "");
}

static void test_static(void **state)
{
	(void)state;
	expect("__nv_static_42__084772af_14_graph_chain_cu_c75fa264_17422__Z6kernelPi",
	       "kernel(int*)");
	expect("__nv_static_3_abc_plain", "plain");
	/* not of nvcc's making: as they are */
	expect("__nv_static_", "__nv_static_");
	expect("__nv_static_99_short", "__nv_static_99_short");
	expect("__nv_static_4_abc_plain", "__nv_static_4_abc_plain");
	expect("__nv_static_99999999999999999999999_a_b",
	       "__nv_static_99999999999999999999999_a_b");
}

static void test_anonymous(void **state)
{
	(void)state;
	expect("_ZN2at6native39_GLOBAL__N__d8ceb000_15_Distribution_cu6kernelEi",
	       "at::native::(anonymous namespace)::kernel(int)");
	expect("_ZN34_INTERNAL_084772af_4_x_cu_c75fa2646kernelEv",
	       "(anonymous namespace)::kernel()");
	/* a user's own names */
	expect("_ZN12_INTERNAL_mi6kernelEv", "_INTERNAL_mi::kernel()");
	expect("_ZN20my_INTERNAL_012345676kernelEv", "my_INTERNAL_01234567::kernel()");
}

/* A function of pointers to functions, each of two of the one before: 2^levels of them, written out. */
static void write_bomb(char *name, size_t size, unsigned levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t used = (size_t)snprintf(name, size, "_Z1fPFvvE");

	for (unsigned level = 0; level < levels; level++) {
		unsigned number = 2 * level;
		char reference[8];

		if (number < 36)
			snprintf(reference, sizeof(reference), "S%c_", digits[number]);
		else
			snprintf(reference, sizeof(reference), "S%c%c_", digits[number / 36],
				 digits[number % 36]);
		used += (size_t)snprintf(name + used, size - used, "PFv%s%sE", reference,
					 reference);
	}
}

static void test_bomb(void **state)
{
	struct demangler demangler = {0};
	char bomb[512], *name;

	(void)state;
	write_bomb(bomb, sizeof(bomb), 2);
	expect(bomb,
	       "f(void (*)(), void (*)(void (*)(), void (*)()), "
	       "void (*)(void (*)(void (*)(), void (*)()), void (*)(void (*)(), void (*)())))");
	write_bomb(bomb, sizeof(bomb), 26);
	expect(bomb, bomb);
	name = kernel_name_demangle(&demangler, "_Z5saxpyifPfS_");
	assert_string_equal(name, "saxpy(int, float, float*, float*)");
	free(name);
	demangler_close(&demangler);
}

/* What is repeated has to be searched for a pack, which is not there: 2^30 steps before the first character. */
static void test_silent_bomb(void **state)
{
	struct demangler demangler = {0};
	char parts[512], bomb[600];

	(void)state;
	write_bomb(parts, sizeof(parts), 30);
	snprintf(bomb, sizeof(bomb), "_Z1fDpFv%sE", strchr(parts, 'P'));
	for (int i = 0; i < 10; i++) { /* more than children may be lost */
		char *name = kernel_name_demangle(&demangler, bomb);

		assert_string_equal(name, bomb);
		free(name);
	}
	assert_in_range(demangler.lost_count, 1, 9);
	demangler_close(&demangler);
}

/* gemm<tile<tile<...>, tile<...>>, ...>: as CUTLASS has them, 4,000 characters with hundreds of references. */
static void test_long(void **state)
{
	struct demangler demangler = {0};
	char mangled[5000], *name;
	size_t used = (size_t)snprintf(mangled, sizeof(mangled),
				       "_ZN7cutlass6KernelINS_4gemm6kernel4TileILi128ELi64EEE");

	(void)state;
	while (used < 4000)
		used += (size_t)snprintf(mangled + used, sizeof(mangled) - used,
					 "NS2_ILi%zuELi32EEENS1_4WarpIS3_S3_EE", used);
	snprintf(mangled + used, sizeof(mangled) - used, "EEvNT_6ParamsE");
	name = kernel_name_demangle(&demangler, mangled);
	assert_memory_equal(name, "void cutlass::Kernel<cutlass::gemm::kernel::Tile<128, 64>", 57);
	assert_true(strlen(name) > 4000);
	free(name);
	demangler_close(&demangler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"C, C++ and broken names are told apart", test_plain, NULL, NULL, NULL},
		{"a static kernel loses the module in front of its name", test_static, NULL, NULL,
		 NULL},
		{"nvcc's anonymous namespaces are called anonymous", test_anonymous, NULL, NULL,
		 NULL},
		{"a name that stands for gigabytes stays as it is, and the next one is demangled",
		 test_bomb, NULL, NULL, NULL},
		{"names that would take hours stay as they are, and soon are not tried",
		 test_silent_bomb, NULL, NULL, NULL},
		{"an honest name of 4,000 characters is demangled", test_long, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
