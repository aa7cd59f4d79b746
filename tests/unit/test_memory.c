/* From what a program allocated and freed to what the sections memory and allocations tell.  The figures are worked out
 * by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analysis/statistics/memory.h"
#include "fixture_profile.h"
#include "fixture_random.h"
#include "profile_builder.h"

#define MEMORY_DEVICE 3
#define MEMORY_MANAGED 5
#define ROOM 512

/* A second of one process, and what it allocates. */
struct story {
	struct builder *b;
	struct profile_allocation rows[ROOM];
	struct memory *memory;
};

static void begin(struct story *story)
{
	*story = (struct story){.b = builder_new(2, 2)};
	for (int i = 0; i < 2; i++) {
		story->b->processes[i].first_ns = 1000;
		story->b->processes[i].last_ns = 1000 + 3200 - 1;
	}
	story->b->profile.allocations = story->rows;
}

static struct profile_allocation *add(struct story *story, int64_t time_ns, uint64_t address,
				      uint64_t bytes)
{
	size_t i = story->b->profile.allocation_count++;

	assert_true(i < ROOM);
	story->rows[i] = (struct profile_allocation){.time_ns = time_ns,
						     .address = address,
						     .bytes = bytes,
						     .call = PROFILE_NONE,
						     .memory = MEMORY_DEVICE};
	return &story->rows[i];
}

static struct profile_allocation *add_free(struct story *story, int64_t time_ns, uint64_t address)
{
	struct profile_allocation *row = add(story, time_ns, address, 0);

	row->is_free = true;
	return row;
}

static const struct memory_kind *build(struct story *story, size_t kind_count)
{
	struct err err = {""};

	assert_int_equal(memory_build(&story->memory, builder_finish(story->b), &err), 0);
	assert_int_equal(story->memory->kind_count, kind_count);
	return story->memory->kinds;
}

static void end(struct story *story)
{
	memory_free(story->memory);
	free(story->b);
}

static void test_peak(void **state)
{
	struct story story;
	const struct memory_kind *kind;

	(void)state;
	begin(&story);
	add(&story, 1100, 4096, 100);
	add(&story, 1200, 8192, 50);
	add_free(&story, 1300, 4096);
	add(&story, 1400, 4096, 60); /* 110 */
	kind = build(&story, 1);
	assert_int_equal(kind->use.allocation_count, 3);
	assert_int_equal(kind->use.free_count, 1);
	assert_int_equal(kind->use.allocated_bytes, 210);
	assert_int_equal(kind->use.peak_bytes, 150);
	assert_int_equal(kind->use.peak_ns, 1200);
	assert_int_equal(kind->use.live_count, 2);
	assert_int_equal(kind->use.live_bytes, 110);
	assert_int_equal(kind->use.unseen_free_count, 0);
	assert_int_equal(kind->unseen_allocation_count, 0);
	end(&story);
}

static void test_kinds(void **state)
{
	struct story story;
	const struct memory_kind *kinds;

	(void)state;
	begin(&story);
	add(&story, 1100, 1, 10)->device = 1;
	add(&story, 1200, 2, 20)->memory = MEMORY_MANAGED;
	add(&story, 1300, 3, 30)->pool = 77;
	add(&story, 1400, 4, 40)->pool = 66;
	add(&story, 1500, 5, 50)->pool = 77;
	add(&story, 1600, 6, 60);
	kinds = build(&story, 5);
	assert_int_equal(kinds[0].use.live_bytes, 60);
	assert_int_equal(kinds[0].pool_number, 0);
	assert_int_equal(kinds[1].use.live_bytes, 80); /* the pool of 77 came first */
	assert_int_equal(kinds[1].pool_number, 1);
	assert_int_equal(kinds[2].use.live_bytes, 40);
	assert_int_equal(kinds[2].pool_number, 2);
	assert_int_equal(kinds[3].memory, MEMORY_MANAGED);
	assert_int_equal(kinds[4].device, 1);
	end(&story);
}

/* Their address is not known: each is one of its own. */
static void test_static_variables(void **state)
{
	struct story story;
	const struct memory_kind *kind;

	(void)state;
	begin(&story);
	add(&story, 1100, 0, 10);
	add(&story, 1200, 0, 20);
	kind = build(&story, 1);
	assert_int_equal(kind->use.live_bytes, 30);
	assert_int_equal(kind->use.live_count, 2);
	assert_int_equal(kind->use.unseen_free_count, 0);
	end(&story);
}

/* The record of a free may lack the pool. */
static void test_kind_of_free(void **state)
{
	struct story story;
	const struct memory_kind *kind;

	(void)state;
	begin(&story);
	add(&story, 1100, 1, 10)->pool = 77;
	add_free(&story, 1200, 1)->memory = 0;
	kind = build(&story, 1);
	assert_int_equal(kind->use.free_count, 1);
	assert_int_equal(kind->use.live_bytes, 0);
	end(&story);
}

static void test_unseen(void **state)
{
	struct story story;
	const struct memory_kind *kind;

	(void)state;
	begin(&story);
	add_free(&story, 1100, 1);
	add(&story, 1200, 2, 20);
	add(&story, 1300, 2, 30);
	add(&story, 1400, 3, 1)->process = 1;
	add_free(&story, 1500, 3); /* of the other process: another address */
	kind = build(&story, 1);
	assert_int_equal(kind->unseen_allocation_count, 2);
	assert_int_equal(kind->use.unseen_free_count, 1);
	assert_int_equal(kind->use.free_count, 0);
	assert_int_equal(kind->use.live_count, 2);
	assert_int_equal(kind->use.live_bytes, 31);
	assert_int_equal(kind->use.peak_bytes, 31);
	end(&story);
}

static void test_parts(void **state)
{
	struct story story;
	const struct memory_kind *kind;

	(void)state;
	begin(&story); /* parts of 100 ns from 1000 on */
	add(&story, 1000, 1, 10);
	add(&story, 1120, 2, 5);
	add_free(&story, 1130, 2);
	add_free(&story, 1450, 1);
	add(&story, 4199, 3, 7);
	kind = build(&story, 1);
	for (size_t i = 0; i < MEMORY_PARTS; i++)
		assert_int_equal(kind->parts_bytes[i], i == 0	 ? 10
						       : i == 1	 ? 15
						       : i <= 4	 ? 10
						       : i == 31 ? 7
								 : 0);
	end(&story);
}

static const struct memory_site *site_of(const struct story *story, const char *text)
{
	for (size_t i = 0; i < story->memory->site_count; i++) {
		const struct memory_site *site = &story->memory->sites[i];

		if (!strcmp(site->range ? site->range : site->call ? site->call : "", text))
			return site;
	}
	return NULL;
}

/* Calls are added in the order that they are sorted into, so that their indexes stay. */
static uint32_t add_call(struct story *story, uint32_t thread, const char *name, int64_t start_ns)
{
	return builder_call(story->b, thread, name, CALL_MEMORY, start_ns, start_ns + 10);
}

static void begin_ranges(struct story *story)
{
	begin(story);
	builder_range(story->b, 0, "outer", 1100, 1900);
	builder_range(story->b, 0, "inner", 1200, 1300);
	builder_range(story->b, 0, "over", 1250, 1400); /* ends after what it began in */
	builder_range(story->b, 1, "other thread", 1000, 4000);
	story->b->threads[0].range_count = 3;
	story->b->threads[1].first_range = 3;
	story->b->threads[1].range_count = 1;
}

static void test_sites(void **state)
{
	static const int64_t times_ns[] = {1050, 1150, 1210, 1260, 1350, 1500, 2000};
	struct story story;

	(void)state;
	begin_ranges(&story);
	for (size_t i = 0; i < 7; i++)
		add(&story, times_ns[i], i, UINT64_C(1) << i)->call =
			add_call(&story, 0, "cudaMalloc", times_ns[i]);
	add(&story, 2100, 100, 1000)->call = add_call(&story, 1, "cudaMalloc", 2100);
	add_free(&story, 2200, 1);
	build(&story, 1);
	assert_int_equal(story.memory->site_count, 5);
	assert_string_equal(story.memory->sites[0].range, "other thread");
	assert_int_equal(site_of(&story, "cudaMalloc")->use.allocated_bytes, 1 + 64);
	assert_int_equal(site_of(&story, "outer")->use.allocated_bytes, 2 + 32);
	assert_int_equal(site_of(&story, "outer")->use.live_bytes, 32);
	assert_int_equal(site_of(&story, "outer")->use.free_count, 1);
	assert_int_equal(site_of(&story, "inner")->use.allocated_bytes, 4);
	assert_int_equal(site_of(&story, "over")->use.allocated_bytes, 8 + 16);
	end(&story);
}

static void test_unknown_site(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	add(&story, 1100, 1, 10);
	build(&story, 1);
	assert_int_equal(story.memory->site_count, 1);
	assert_null(story.memory->sites[0].range);
	assert_null(story.memory->sites[0].call);
	end(&story);
}

static void test_call_time(void **state)
{
	struct story story;
	const struct memory_kind *kind;
	uint32_t call, launch;

	(void)state;
	begin(&story);
	call = add_call(&story, 0, "cudaMalloc", 1100);
	add(&story, 1101, 1, 10)->call = call;
	add(&story, 1102, 2, 10)->call = call;
	add_free(&story, 1201, 1)->call = add_call(&story, 0, "cudaFree", 1200);
	launch = builder_call(story.b, 0, "cudaGraphLaunch", CALL_GRAPH_LAUNCH, 1300, 1400);
	add(&story, 1301, 3, 10)->call = launch;
	kind = build(&story, 1);
	assert_int_equal(kind->call_ns, 20);
	end(&story);
}

/* ---- by chance ---- */

/* Live bytes of an address after the first count rows, looking at each. */
static uint64_t live_of(const struct story *story, size_t count, uint64_t address)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		if (story->rows[i].address == address)
			bytes = story->rows[i].bytes;
	return bytes;
}

static void test_by_chance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct random random = random_of(seed);
		struct story story;
		const struct memory_kind *kind;
		uint64_t peak = 0, live = 0;

		begin(&story);
		for (size_t i = 0; i < 400; i++) {
			uint64_t address = 1 + random_below(&random, 20);
			int64_t time_ns = 1000 + (int64_t)i * 8;

			if (random_hits(&random, 50))
				add_free(&story, time_ns, address);
			else
				add(&story, time_ns, address, 1 + random_below(&random, 100));
			live = 0;
			for (uint64_t j = 1; j <= 20; j++)
				live += live_of(&story, i + 1, j);
			peak = live > peak ? live : peak;
		}
		kind = build(&story, 1);
		assert_int_equal(kind->use.peak_bytes, peak);
		assert_int_equal(kind->use.live_bytes, live);
		end(&story);
	}
}

/* ---- of a recording ---- */

static void test_recording(void **state)
{
	struct profile *profile = fixture_load(*state);
	struct err err = {""};
	struct memory *memory;

	assert_int_equal(profile->allocation_count, 3);
	assert_int_equal(profile->allocations[0].time_ns, 1200);
	assert_int_equal(profile->allocations[0].device, 0);
	assert_string_equal(call_text(profile, profile->allocations[0].call), "cudaLaunchKernel");
	assert_int_equal(memory_build(&memory, profile, &err), 0);
	assert_int_equal(memory->kind_count, 2);
	assert_int_equal(memory->kinds[0].use.live_bytes, 0);
	assert_int_equal(memory->kinds[0].use.peak_bytes, 4096);
	assert_int_equal(memory->kinds[0].use.free_count, 1);
	assert_int_equal(memory->kinds[1].pool_number, 1);
	assert_int_equal(memory->kinds[1].use.live_bytes, 1024);
	assert_int_equal(memory->site_count, 1);
	assert_string_equal(memory->sites[0].range, "outer");
	memory_free(memory);
	profile_free(profile);
}

static void test_damaged(void **state)
{
	struct profile *profile = fixture_load_with(
		*state, "allocations.csv",
		"time_ns,operation,memory,address,bytes,is_async,pool,device,context,stream,"
		"correlation\n"
		"0,1,3,1,10,0,0,0,1,0,0\n"
		"1200,9,3,1,10,0,0,0,1,0,0\n"
		"1300,1,3,1,18446744073709551615,0,0,0,1,0,0\n"
		"1400,1,3,2,18446744073709551615,0,0,5,1,0,9999\n");
	struct err err = {""};
	struct memory *memory;

	assert_int_equal(profile->allocation_count, 2);
	assert_loss(profile, "orphan_ids", 1,
		    FIXTURE_PROCESS "/allocations.csv:5: device 5 is not in devices.csv");
	assert_int_equal(memory_build(&memory, profile, &err), 0);
	assert_int_equal(memory->kind_count, 2);
	assert_int_equal(memory->kinds[1].device, PROFILE_NONE);
	assert_int_equal(memory->sites[0].use.live_bytes, UINT64_MAX);
	memory_free(memory);
	profile_free(profile);
}

static void test_nothing(void **state)
{
	struct profile profile = {.device_count = 0};
	struct err err = {""};
	struct memory *memory;

	(void)state;
	assert_int_equal(memory_build(&memory, &profile, &err), 0);
	assert_int_equal(memory->kind_count, 0);
	assert_int_equal(memory->site_count, 0);
	memory_free(memory);
	memory_free(NULL);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}
#define OF_RECORDING(text, function)                                    \
	{                                                               \
		text, function, fixture_set_up, fixture_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("what was allocated, the most that was live and what is not freed",
			 test_peak),
		SENTENCE("each GPU, kind of memory and pool has its own row", test_kinds),
		SENTENCE("static variables are live to the end", test_static_variables),
		SENTENCE("a free counts where its memory was allocated", test_kind_of_free),
		SENTENCE("frees and allocations that the recording lacks are counted", test_unseen),
		SENTENCE("the most live bytes in each part of the time", test_parts),
		SENTENCE("memory is of the innermost range of the thread that allocates it",
			 test_sites),
		SENTENCE("an allocation without a call has no site", test_unknown_site),
		SENTENCE("a call that allocates twice counts once, a graph launch not at all",
			 test_call_time),
		SENTENCE("by chance: live bytes and their peak agree with looking at every address",
			 test_by_chance),
		OF_RECORDING("a recording's allocations, by time, find call and range",
			     test_recording),
		OF_RECORDING("damaged rows are counted, and sums do not overflow", test_damaged),
		SENTENCE("without allocations there is nothing", test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
