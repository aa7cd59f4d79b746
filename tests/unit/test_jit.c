/* Code that a program compiles or loads while it runs: what is told apart, and what it costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/compare/jit_return.h"
#include "profile_builder.h"

static struct jit *analyze(struct builder *b)
{
	struct jit *jit = NULL;
	struct err err = {""};

	builder_finish(b);
	assert_int_equal(jit_build(&jit, &b->profile, &err), 0);
	return jit;
}

static void end(struct builder *b, struct jit *jit)
{
	jit_free(jit);
	free(b);
}

static void add_kernel(struct builder *b, const char *name, int64_t now_ns)
{
	builder_kernel(b, 0, name, now_ns + 1000, now_ns + 3000,
		       builder_launch(b, 0, now_ns, now_ns + 500));
}

/* Code 5 is loaded at 1 ms, code 6 at 3 ms, and 5 again at 5 ms; before each the host is busy. */
static struct builder *three_loads(void)
{
	struct builder *b = builder_new(1, 1);

	builder_call(b, 0, "cudaMalloc", CALL_MEMORY, 0, 100000);
	for (int i = 0; i < 3; i++) {
		int64_t now_ns = 1000000 + 2000000 * i;

		builder_load(b, IMAGE_MACHINE_CODE, i == 1 ? 6 : 5, now_ns, now_ns + 20000);
		add_kernel(b, i == 1 ? "b" : "a", now_ns + 30000);
	}
	builder_module_kernel(b, 5, "a");
	builder_module_kernel(b, 6, "b");
	return b;
}

static void test_again(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit = analyze(b);

	(void)state;
	assert_int_equal(jit->load_count, 3);
	assert_int_equal(jit->known_count, 3);
	assert_int_equal(jit->again_count, 1);
	assert_false(jit->loads[0].is_again);
	assert_false(jit->loads[1].is_again);
	assert_true(jit->loads[2].is_again);
	assert_true(jit_is_any(jit));
	end(b, jit);
}

static void test_cost(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit = analyze(b);

	(void)state;
	assert_int_equal(jit->loads[0].host_ns, 900000);
	assert_int_equal(jit->loads[1].host_ns, 3000000 - 1030500);
	assert_int_equal(jit->load_ns, 60000);
	assert_int_equal((int64_t)jit_cost_ns(jit), 60000 + 900000 + 2 * 1969500);
	end(b, jit);
}

static void test_kernels(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit = analyze(b);

	(void)state;
	assert_int_equal(jit->kernel_count, 2);
	assert_string_equal(jit->kernels[0].name, "a");
	assert_int_equal(jit->kernels[0].load_count, 2);
	assert_int_equal(jit->kernels[0].again_count, 1);
	assert_int_equal(jit->kernels[0].launch_count, 2);
	assert_int_equal(jit->kernels[0].kernel_ns, 4000);
	assert_string_equal(jit->kernels[1].name, "b");
	assert_int_equal(jit->kernels[1].launch_count, 1);
	assert_int_equal(jit->launch_count, 3);
	end(b, jit);
}

/* What lies in the program is loaded by every one. */
static void test_embedded(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit;

	(void)state;
	for (size_t i = 0; i < b->profile.load_count; i++)
		b->loads[i].is_embedded = true;
	jit = analyze(b);
	assert_int_equal(jit->load_count, 0);
	assert_false(jit_is_any(jit));
	end(b, jit);
}

/* An older recording tells neither what was loaded nor where it lay: its host code may be anything. */
static void test_unknown(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit;

	(void)state;
	b->profile.load_count = b->profile.module_count = 0;
	jit = analyze(b);
	assert_int_equal(jit->load_count, 3);
	assert_int_equal(jit->known_count, 0);
	assert_int_equal(jit->host_ns, 0);
	assert_false(jit_is_any(jit));
	assert_int_equal(jit->kernel_count, 1);
	assert_null(jit->kernels[0].name);
	end(b, jit);
}

static void test_refused(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit;

	(void)state;
	b->calls[1].result = 209;
	jit = analyze(b);
	assert_int_equal(jit->refused_count, 1);
	assert_true(jit->loads[0].is_refused);
	end(b, jit);
}

static void test_driver(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit;

	(void)state;
	b->jits[b->profile.jit_count++] =
		(struct profile_jit){.start_ns = 1001000, .end_ns = 1011000, .operation = 3};
	b->jits[b->profile.jit_count++] =
		(struct profile_jit){.start_ns = 1011000, .end_ns = 1012000, .operation = 2};
	b->jits[b->profile.jit_count++] =
		(struct profile_jit){.start_ns = 5001000, .end_ns = 5003000, .operation = 1};
	jit = analyze(b);
	assert_int_equal(jit->driver_count, 1);
	assert_int_equal(jit->store_count, 1);
	assert_int_equal(jit->hit_count, 1);
	assert_int_equal(jit->loads[0].driver_ns, 11000);
	assert_int_equal(jit->loads[2].driver_ns, 2000);
	assert_int_equal(jit->driver_ns, 13000);
	end(b, jit);
}

/* CUDA 13's compilers leave records between calls. */
static void test_compiler(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit;

	(void)state;
	b->jits[b->profile.jit_count++] =
		(struct profile_jit){.start_ns = 4900000, .end_ns = 4950000, .operation = 2};
	jit = analyze(b);
	assert_false(jit->loads[1].is_compiled);
	assert_true(jit->loads[2].is_compiled);
	assert_int_equal(jit->compiled_count, 1);
	assert_int_equal(jit->driver_ns, 0);
	assert_int_equal(jit->store_count, 0);
	end(b, jit);
}

/* Code that the driver loads during a launch (lazy loading) is not a load by the program. */
static void test_lazy(void **state)
{
	struct builder *b = three_loads();
	struct jit *jit;

	(void)state;
	b->modules[1].time_ns = 1030200; /* in the launch */
	jit = analyze(b);
	assert_int_equal(jit->known_count, 2);
	assert_int_equal(jit->loads[1].module, PROFILE_NONE);
	end(b, jit);
}

/* ---- what it returns ---- */

/* Three launches of that long, by a program that compiles nothing. */
static struct builder *uncompiled(int64_t kernel_ns)
{
	struct builder *b = builder_new(1, 1);

	for (int i = 0; i < 3; i++)
		builder_kernel(b, 0, "any", 10000000 * i, 10000000 * i + kernel_ns,
			       builder_launch(b, 0, 10000000 * i - 900, 10000000 * i - 100));
	return b;
}

static struct jit_return return_of(struct builder *before, struct builder *after)
{
	struct jit *jits[] = {analyze(before), analyze(after)};
	struct jit_return found =
		jit_return_of(&before->profile, jits[0], &after->profile, jits[1]);

	end(before, jits[0]);
	end(after, jits[1]);
	return found;
}

/* 4.899 ms of compiling and loading for three launches of 2 us. */
static void test_return(void **state)
{
	const double cost_ns = 60000 + 900000 + 2 * 1969500;
	struct jit_return found = return_of(uncompiled(102000), three_loads());

	(void)state;
	assert_int_equal(found.launch_count, 3);
	assert_int_equal((int64_t)found.cost_ns, (int64_t)cost_ns);
	assert_int_equal((int64_t)found.saved_ns, 100000);
	assert_true(found.ratio > 300000 / cost_ns - 1 - 1e-9 &&
		    found.ratio < 300000 / cost_ns - 1 + 1e-9);
	assert_int_equal((int64_t)found.least_launches, 49);
	found = return_of(uncompiled(5000000), three_loads());
	assert_true(found.ratio > 2);
	assert_int_equal((int64_t)found.least_launches, 1);
}

static void test_no_return(void **state)
{
	struct jit_return found = return_of(uncompiled(1500), three_loads());

	(void)state;
	assert_true(found.saved_ns < 0 && found.ratio < -1);
	assert_true(found.least_launches == 0);
	assert_int_equal(return_of(uncompiled(1500), uncompiled(1000)).launch_count, 0);
	assert_int_equal(return_of(three_loads(), three_loads()).launch_count, 0);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("code that was loaded before is known by its hash", test_again),
		SENTENCE("what compiling costs is the host's time right before, and the load",
			 test_cost),
		SENTENCE("what is loaded is told by kernel, with the launches that it is for",
			 test_kernels),
		SENTENCE("code that lies in the program is not counted", test_embedded),
		SENTENCE("an older recording claims nothing of what it does not know",
			 test_unknown),
		SENTENCE("loads that the driver refuses are counted", test_refused),
		SENTENCE("what the driver compiles, and its cache, belong to their load",
			 test_driver),
		SENTENCE("a compiler of the program is known by its records before the load",
			 test_compiler),
		SENTENCE("lazy loading during a launch is not a load by the program", test_lazy),
		SENTENCE(
			"compiling returns what its kernels save less what it takes, by what it takes",
			test_return),
		SENTENCE("compiling never pays where its kernels are no faster", test_no_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
