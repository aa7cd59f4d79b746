/* Which framework launches kernels, and what rules have to say to its users. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "advice/framework.h"
#include "advice/rules/rules.h"
#include "profile_builder.h"

/* Kernel names are separated by spaces; loaded is the key of process.csv, NULL: it is not there. */
static void expect(enum framework expected, const char *command, const char *loaded,
		   const char *kernels)
{
	struct builder *b = builder_new(1, 1);
	struct profile_property property = {(char *)"frameworks", (char *)loaded};
	char names[256], *rest = names, *name;

	snprintf(names, sizeof(names), "%s", kernels);
	for (int64_t now = 0; (name = strsep(&rest, " ")); now += 10)
		builder_kernel(b, 0, name, now, now + 5, builder_launch(b, 0, now, now + 1));
	b->profile.processes[0].command = command;
	b->profile.processes[0].properties = loaded ? &property : NULL;
	b->profile.processes[0].property_count = loaded != NULL;
	assert_int_equal(framework_of(builder_finish(b)), expected);
	free(b);
}

static void test_names(void **state)
{
	(void)state;
	expect(FRAMEWORK_NONE, "./app", NULL, "step");
	expect(FRAMEWORK_pytorch, "./app", NULL, "at::native::fill step");
	expect(FRAMEWORK_pytorch, "python3 a.py", NULL, "triton_poi_fused_add step");
	expect(FRAMEWORK_jax, "/venv/bin/python3.12 a.py", NULL,
	       "loop_add_fusion wrapped_tanh step");
	expect(FRAMEWORK_cupy, "python a.py", NULL, "cupy_add step");
	expect(FRAMEWORK_numba, "python a.py", NULL, "cudapy::step");
}

static void test_own_names(void **state)
{
	(void)state;
	expect(FRAMEWORK_NONE, "./app", NULL, "image_fusion");
	expect(FRAMEWORK_NONE, "./python_like/app", NULL, "image_fusion");
	expect(FRAMEWORK_cupy, "python a.py", "CuPy", "image_fusion");
}

static void test_loaded(void **state)
{
	(void)state;
	expect(FRAMEWORK_pytorch, "python a.py", "PyTorch CuPy", "step");
	expect(FRAMEWORK_cupy, "python a.py", "PyTorch CuPy", "cupy_add");
	expect(FRAMEWORK_jax, "python a.py", "PyTorch JAX",
	       "loop_add_fusion loop_mul_fusion at::native::fill");
}

#define RULE_ADDRESS(name, summary) &rule_##name,
static const struct rule *const rules[] = {RULES(RULE_ADDRESS)};
#undef RULE_ADDRESS

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		for (int j = 0; j < FRAMEWORK_COUNT; j++) {
			const struct rule_words *words = &rules[i]->in[j];

			assert_false((words->title || words->risk) && !words->pattern);
			assert_false(j == FRAMEWORK_NONE && words->pattern);
			if (words->pattern)
				assert_null(strstr(words->pattern, "cudaStream"));
		}
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a framework is known by the names of its kernels", test_names),
		SENTENCE("a program of another language has no framework by a name that is like it",
			 test_own_names),
		SENTENCE("what is loaded decides where names do not", test_loaded),
		SENTENCE("rules have code where they have words, and none of it is of CUDA C++",
			 test_words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
