/* test_kernel_name.c - names as people wrote them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/kernel_name.h"

static void expect(const char *mangled, const char *wanted)
{
	char *name = kernel_name_demangle(mangled);

	assert_string_equal(name, wanted);
	free(name);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"C, C++ and broken names are told apart", test_plain, NULL, NULL, NULL},
		{"a static kernel loses the module in front of its name", test_static, NULL, NULL,
		 NULL},
		{"nvcc's anonymous namespaces are called anonymous", test_anonymous, NULL, NULL,
		 NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
