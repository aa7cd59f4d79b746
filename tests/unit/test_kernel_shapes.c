/* A launch is found again whatever way a tool writes its kernel's name. */
#include "exchange/import/kernel_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_alike(const char *one, const char *other, bool are_alike)
{
	char *plain = kernel_shapes_plain_name(one), *same = kernel_shapes_plain_name(other);

	assert_non_null(plain);
	assert_non_null(same);
	assert_int_equal(!strcmp(plain, same), are_alike);
	free(plain);
	free(same);
}

static void blanks_and_casts_do_not_make_another_name(void **state)
{
	(void)state;
	assert_alike("void f<4>(float*)", "void f<(int)4>(float *)", true);
	assert_alike("void f<true, 8u>(int)", "void f<(bool)1, (unsigned int)8>(int)", true);
	assert_alike("void f<-1l>(int)", "void f<(long)-1>(int)", true);
	assert_alike("void f<float, 2>(float*)", "void f<float, (int)3>(float *)", false);
	assert_alike("void f<trueish>(int)", "void f<1ish>(int)",
		     true); /* no identifier begins so */
}

static void a_mangled_name_is_the_same_as_the_demangled_one(void **state)
{
	(void)state;
	assert_alike("_Z5saxpyifPf", "saxpy(int, float, float *)", true);
	assert_alike("_Z1fILi4EEvPf", "void f<(int)4>(float *)", true);
	assert_alike("triton_poi_fused_add_0", "triton_poi_fused_add_0", true);
}

static void launches_of_another_shape_are_not_found(void **state)
{
	const struct trace_signatures_row look = {
		.grid_x = 4, .grid_y = 1, .grid_z = 1, .block_x = 64, .dynamic_shared_bytes = 96};
	struct trace_signatures_row asked = {.grid_x = 4, .grid_y = 1, .grid_z = 1, .block_x = 64};
	struct kernel_shapes shapes = {0};
	const struct kernel_shape *found;

	(void)state;
	assert_int_equal(kernel_shapes_add(&shapes, "_Z5saxpyifPf", &look), 0);
	found = kernel_shapes_find(&shapes, "saxpy(int, float, float *)", &asked);
	assert_non_null(found);
	assert_string_equal(found->name, "_Z5saxpyifPf");
	assert_int_equal(found->look.dynamic_shared_bytes, 96);
	asked.block_x = 128;
	assert_null(kernel_shapes_find(&shapes, "saxpy(int, float, float *)", &asked));
	kernel_shapes_free(&shapes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_and_casts_do_not_make_another_name),
		cmocka_unit_test(a_mangled_name_is_the_same_as_the_demangled_one),
		cmocka_unit_test(launches_of_another_shape_are_not_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
