/* From what kernels were launched with to the memory that they read and change, and to which depends on which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analysis/accesses/accesses.h"
#include "analysis/accesses/parameters.h"
#include "analysis/statistics/memory.h"
#include "profile_builder.h"
#include "trace/loader.h"

#define ROOM 64

/* ---- parameters of a name ---- */

/* v a value, r read, c changed, p pointers; ? not told. */
static void expect_parameters(const char *name, const char *expected)
{
	struct parameters found;
	char letters[PARAMETERS_MOST + 1] = "";

	parameters_of_name(&found, name);
	for (size_t i = 0; i < found.count; i++)
		letters[i] = "vrcp"[found.kinds[i]];
	letters[found.count] = '\0';
	assert_string_equal(found.is_known ? letters : "?", expected);
}

static void test_parameters(void **state)
{
	(void)state;
	expect_parameters("axpy(float*, int, float const*)", "cvr");
	expect_parameters("void (anonymous namespace)::axpy<float, 4>(float*, float const*)", "cr");
	expect_parameters("none()", "");
	expect_parameters("ptrs(float**, float const* const*, void*, float const* __restrict__)",
			  "ppcr");
	expect_parameters("void f<Array<char*, 2>, G<int(int, float*)> >(int, Array<char*, 2>, "
			  "G<int(int, float*)>, float4 const*)",
			  "vvvr");
	expect_parameters("rows(float const (*) [4], float (*) [4], void (*)(int, float*))", "rcv");
	expect_parameters("f(float*) [clone .constprop.0]", "c");
	expect_parameters("triton_poi_fused_add_0", "?");
	expect_parameters("f", "?");
	expect_parameters("", "?");
	expect_parameters("f)", "?");
	expect_parameters(")", "?");
}

static void test_parameters_by_chance(void **state)
{
	static const char letters[] = "f()<>[]{},* const&:";
	struct parameters found;
	char name[40];
	unsigned int seed = 7;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		size_t length = (size_t)rand_r(&seed) % (sizeof(name) - 1);

		for (size_t j = 0; j < length; j++)
			name[j] = letters[(size_t)rand_r(&seed) % (sizeof(letters) - 1)];
		name[length] = '\0';
		parameters_of_name(&found, name);
		assert_in_range(found.count, 0, sizeof(name));
	}
}

/* ---- a program, its memory and its launches ---- */

struct story {
	struct builder *b;
	struct profile_allocation rows[ROOM];
	struct profile_argument arguments[ROOM];
	struct profile_argument_set sets[ROOM];
	struct profile_given givens[ROOM];
	struct memory *memory;
	struct accesses *accesses;
	int64_t now_ns;
};

static void begin(struct story *story)
{
	struct profile *profile;

	*story = (struct story){.b = builder_new(1, 1), .now_ns = 1000};
	story->b->processes[0].first_ns = 1;
	story->b->processes[0].last_ns = 1000000;
	profile = &story->b->profile;
	profile->allocations = story->rows;
	profile->arguments = story->arguments;
	profile->argument_sets = story->sets;
	profile->givens = story->givens;
}

static void allocate(struct story *story, uint64_t address, uint64_t bytes)
{
	size_t i = story->b->profile.allocation_count++;

	assert_true(i < ROOM);
	story->rows[i] = (struct profile_allocation){.time_ns = story->now_ns,
						     .address = address,
						     .bytes = bytes,
						     .call = PROFILE_NONE,
						     .memory = 3,
						     .is_free = !bytes};
	story->now_ns += 100;
}

static void release(struct story *story, uint64_t address)
{
	allocate(story, address, 0);
}

/* Addresses of its first parameters, ended by 1; 0: none there. */
static void launch(struct story *story, const char *name, uint32_t others, ...)
{
	struct profile *profile = &story->b->profile;
	uint32_t set = (uint32_t)profile->argument_set_count++, count = 0;
	uint32_t call = builder_launch(story->b, 0, story->now_ns, story->now_ns + 10);
	uint64_t address;
	va_list addresses;

	va_start(addresses, others);
	for (uint32_t i = 0; (address = va_arg(addresses, uint64_t)) != 1; i++)
		if (address) {
			story->arguments[profile->argument_count++] =
				(struct profile_argument){.address = address,
							  .set = set,
							  .parameter = i};
			count++;
		}
	va_end(addresses);
	story->sets[set] = (struct profile_argument_set){.address_count = count};
	story->givens[profile->given_count++] =
		(struct profile_given){.subject = story->b->calls[call].correlation,
				       .set = set,
				       .others = others};
	builder_kernel(story->b, 0, name, story->now_ns + 20, story->now_ns + 80, call);
	story->now_ns += 100;
}

#define LAUNCH(story, name, ...) launch(story, name, 0, __VA_ARGS__, UINT64_C(1))
#define A UINT64_C(0x7f0000000000)
#define B UINT64_C(0x7f0000100000)
#define C UINT64_C(0x7f0000200000)
#define BYTES UINT64_C(0x100000)

static void build(struct story *story)
{
	struct profile *profile = (struct profile *)builder_finish(story->b);
	struct err err = {""};

	assert_int_equal(loader_sort_arguments(profile), 0);
	assert_int_equal(memory_build(&story->memory, profile, &err), 0);
	assert_int_equal(accesses_build(&story->accesses, profile, story->memory, &err), 0);
}

static void end(struct story *story)
{
	accesses_free(story->accesses);
	memory_free(story->memory);
	free(story->b);
}

static enum dependence judge(const struct story *story, size_t first, size_t second)
{
	return accesses_judge(story->accesses, story->accesses->of_op[first],
			      story->accesses->of_op[second]);
}

static void begin_with_memory(struct story *story)
{
	begin(story);
	allocate(story, A, BYTES);
	allocate(story, B, BYTES);
	allocate(story, C, BYTES);
}

static const char add_name[] = "add(float*, float const*)";

static void test_dependences(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	LAUNCH(&story, add_name, B, A);			     /* 0: A to B */
	LAUNCH(&story, "two(float*, float const*)", C, B);   /* 1: B to C */
	LAUNCH(&story, "three(float*, float const*)", C, A); /* 2: A to C */
	LAUNCH(&story, "read(float const*)", A);	     /* 3 */
	LAUNCH(&story, "read(float const*)", A);	     /* 4 */
	build(&story);
	assert_int_equal(judge(&story, 0, 1), DEPENDENCE_THERE); /* read after write */
	assert_int_equal(judge(&story, 1, 0), DEPENDENCE_THERE); /* write after read */
	assert_int_equal(judge(&story, 1, 2), DEPENDENCE_THERE); /* write after write */
	assert_int_equal(judge(&story, 0, 2), DEPENDENCE_NONE);
	assert_int_equal(judge(&story, 3, 4), DEPENDENCE_NONE);
	assert_int_equal(judge(&story, 0, 3), DEPENDENCE_NONE);
	assert_int_equal(story.accesses->known_count, 5);
	assert_int_equal(story.accesses->kernel_count, 5);
	end(&story);
}

static void test_parts(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	LAUNCH(&story, add_name, A, C);
	LAUNCH(&story, add_name, A + 4096, C);
	build(&story);
	assert_int_equal(judge(&story, 0, 1), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 0, 0), DEPENDENCE_THERE);
	end(&story);
}

/* kernel(data, offset) */
static void test_offsets(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	for (uint32_t i = 0; i < 3; i++)
		launch(&story, "part(float*, int)", i, A, UINT64_C(1));
	for (uint32_t i = 0; i < 3; i++)
		launch(&story, "all(float*, int)", 5, B, UINT64_C(1));
	build(&story);
	assert_int_equal(judge(&story, 0, 1), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 3, 4), DEPENDENCE_THERE);
	assert_int_equal(judge(&story, 0, 3), DEPENDENCE_NONE);
	end(&story);
}

static void test_doubts(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	LAUNCH(&story, "careless(float*, float*)", A, B); /* 0: which is changed? */
	LAUNCH(&story, "careless(float*, float*)", A, C); /* 1 */
	LAUNCH(&story, "only(float*)", A);		  /* 2: that one */
	LAUNCH(&story, "in_c", A);			  /* 3 */
	LAUNCH(&story, "in_struct(both)", B);		  /* 4 */
	build(&story);
	assert_int_equal(judge(&story, 0, 1), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 2, 0), DEPENDENCE_THERE);
	assert_int_equal(judge(&story, 2, 2), DEPENDENCE_THERE);
	assert_int_equal(judge(&story, 3, 3), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 3, 4), DEPENDENCE_NONE);
	assert_int_equal(judge(&story, 0, 4), DEPENDENCE_UNTOLD);
	end(&story);
}

static void test_unknown_memory(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	LAUNCH(&story, add_name, A, C + BYTES);		   /* 0: lies nowhere */
	LAUNCH(&story, "in_struct(both)", B, C + BYTES);   /* 1: a number, in a struct */
	LAUNCH(&story, "pointers(float**, float*)", B, C); /* 2 */
	LAUNCH(&story, "other(float*)", B + 4);		   /* 3 */
	build(&story);
	assert_int_equal(judge(&story, 0, 3), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 2, 0), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 0, 0), DEPENDENCE_THERE); /* the rest of it tells that */
	assert_int_equal(story.accesses->known_count, 2);
	assert_int_equal(accesses_judge(story.accesses, PROFILE_NONE, 0), DEPENDENCE_UNTOLD);
	end(&story);
}

/* Memory that is mapped has no row of allocations: what lies in a struct may be a pointer to it. */
static void test_mapped_memory(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	builder_call(story.b, 0, "cuMemMap", CALL_MEMORY, 10, 20);
	LAUNCH(&story, "in_struct(both)", B, C + BYTES);
	build(&story);
	assert_int_equal(story.accesses->known_count, 0);
	end(&story);
}

/* An address that comes again is other memory, and one that was freed none. */
static void test_time(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	LAUNCH(&story, "only(float*)", A + 8);
	release(&story, A);
	allocate(&story, A, BYTES);
	LAUNCH(&story, "only(float*)", A + 8);
	release(&story, A);
	LAUNCH(&story, "only(float*)", A + 8);
	allocate(&story, A - 4096, BYTES); /* the free of B was not seen */
	allocate(&story, B - 4096, BYTES);
	LAUNCH(&story, "only(float*)", B);
	build(&story);
	assert_int_equal(judge(&story, 0, 1), DEPENDENCE_NONE);
	assert_int_equal(judge(&story, 0, 2), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 2, 2), DEPENDENCE_UNTOLD);
	assert_int_equal(judge(&story, 3, 3), DEPENDENCE_THERE);
	assert_int_equal(story.accesses->items[story.accesses->lists[3].first].offset, 4096);
	end(&story);
}

static void test_lost_rows(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	LAUNCH(&story, add_name, A, C);
	LAUNCH(&story, add_name, B, C);
	story.sets[0].address_count = 3;
	build(&story);
	assert_int_equal(judge(&story, 0, 1), DEPENDENCE_UNTOLD);
	end(&story);
}

/* A node that runs is a clone; one that was given something else later is not known. */
static void test_nodes(void **state)
{
	struct story story;
	struct profile_clone clones[] = {{1001, 1, 0}, {2001, 1001, 0}, {1002, 2, 0}};

	(void)state;
	begin_with_memory(&story);
	for (uint32_t i = 0; i < 4; i++) {
		LAUNCH(&story, add_name, i % 2 ? B : A, C);
		builder_ids(story.b, &story.b->ops[i])->graph_node =
			(uint64_t[]){2001, 1002, 1, 9}[i];
		story.givens[i].is_node = true;
		story.givens[i].subject = (uint64_t[]){1, 2, 2, 1}[i];
	}
	story.givens[2].set = PROFILE_NONE;
	story.givens[3].set = 0;
	story.b->profile.clones = clones;
	story.b->profile.clone_count = 3;
	build(&story);
	assert_int_equal(story.accesses->of_op[0], story.accesses->of_op[2]);
	assert_int_not_equal(story.accesses->of_op[0], PROFILE_NONE);
	assert_int_equal(story.accesses->of_op[1], PROFILE_NONE);
	assert_int_equal(story.accesses->of_op[3], PROFILE_NONE);
	end(&story);
}

/* By kernel, what is done, and where it was allocated. */
static void test_totals(void **state)
{
	struct story story;
	const struct access_total *totals;

	(void)state;
	begin_with_memory(&story);
	for (int i = 0; i < 3; i++)
		LAUNCH(&story, add_name, i == 2 ? B : A, C);
	LAUNCH(&story, "pair(float const*, float const*)", A, A + 16);
	build(&story);
	totals = story.accesses->totals;
	assert_int_equal(story.accesses->total_count, 3);
	assert_int_equal(totals[0].kind, ACCESS_READ);
	assert_int_equal(totals[0].launch_count, 3);
	assert_int_equal(totals[0].allocation_count, 1);
	assert_int_equal(totals[1].kind, ACCESS_CHANGED);
	assert_int_equal(totals[1].launch_count, 3);
	assert_int_equal(totals[1].allocation_count, 2);
	assert_int_equal(totals[1].bytes, BYTES);
	assert_int_equal(totals[2].launch_count, 1);
	assert_int_equal(totals[0].kernel_launch_count, 3);
	end(&story);
}

static void test_shared_memory(void **state)
{
	struct story story;

	(void)state;
	begin_with_memory(&story);
	story.rows[1].memory = MEMORY_PINNED;
	LAUNCH(&story, "read(float const*)", A);
	LAUNCH(&story, "read(float const*)", B);
	build(&story);
	assert_false(accesses_share_with_host(story.accesses, &story.b->profile,
					      story.accesses->of_op[0]));
	assert_true(accesses_share_with_host(story.accesses, &story.b->profile,
					     story.accesses->of_op[1]));
	end(&story);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("a kernel's name tells what is done with its parameters", test_parameters),
		SENTENCE("no name is read beyond its end", test_parameters_by_chance),
		SENTENCE("kernels depend on each other where one changes what the other was given",
			 test_dependences),
		SENTENCE("of parts of one allocation nothing is told", test_parts),
		SENTENCE("nor of kernels that are launched with several numbers", test_offsets),
		SENTENCE(
			"T * changes what it points to where nothing else can be changed, or const "
			"is used",
			test_doubts),
		SENTENCE("a kernel with memory that is not known is not told independent",
			 test_unknown_memory),
		SENTENCE("where memory is mapped, a word in a struct may point there",
			 test_mapped_memory),
		SENTENCE("an address is the memory that was there when the kernel was launched",
			 test_time),
		SENTENCE("a set that lacks rows tells no independence", test_lost_rows),
		SENTENCE("nodes of graphs were given what their originals were", test_nodes),
		SENTENCE("launches are counted by kernel, kind and allocation", test_totals),
		SENTENCE("pinned and managed memory is the host's as well", test_shared_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
