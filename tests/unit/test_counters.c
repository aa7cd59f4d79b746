/* From metrics.csv, counted.csv and counters.csv to struct profile. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "trace/profile.h"

#define KERNELS_HEAD \
	"start_ns,end_ns,signature,device,context,stream,correlation,graph,graph_node\n"
#define COUNTED_HEAD "id,correlation,like,device,context,pass,is_graph\n"
#define COUNTERS_HEAD "counted,metric,value\n"

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture_small(fixture);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	fixture_remove(*state);
	free(*state);
	return 0;
}

static void write_table(const struct fixture *fixture, const char *file, const char *text)
{
	fixture_write(fixture, FIXTURE_PROCESS, file, text);
}

static struct profile *load(const struct fixture *fixture)
{
	struct profile *profile = NULL;
	struct err err = {""};

	if (profile_load(&profile, fixture->path, &err) < 0)
		fail_msg("%s", err.text);
	return profile;
}

static const struct profile_loss *orphans(const struct profile *profile)
{
	for (size_t i = 0; i < profile->loss_count; i++)
		if (!strcmp(profile->losses[i].kind, "orphan_ids"))
			return &profile->losses[i];
	return NULL;
}

static void assert_orphans(const struct profile *profile, uint64_t count, const char *detail)
{
	const struct profile_loss *loss = orphans(profile);

	assert_non_null(loss);
	assert_int_equal(loss->count, count);
	assert_string_equal(loss->detail, detail);
}

static void assert_counter(const struct profile_counter *counter, uint64_t count, double mean,
			   double min, double max)
{
	assert_int_equal(counter->sample_count, count);
	assert_true(counter->mean == mean);
	assert_true(counter->min == min);
	assert_true(counter->max == max);
}

static const struct profile_op *op_at(const struct profile *profile, int64_t start_ns)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].start_ns == start_ns)
			return &profile->ops[i];
	fail_msg("no operation starts at %lld", (long long)start_ns);
	return NULL;
}

static void test_small(void **state)
{
	struct profile *profile = load(*state);

	assert_null(orphans(profile));
	assert_int_equal(profile->metric_count, 3);
	assert_string_equal(profile->metrics[0].name, "dram__bytes_read.sum");
	assert_int_equal(profile->metrics[0].role, METRIC_dram_read_bytes);
	assert_string_equal(profile->metrics[2].name, "");
	assert_int_equal(profile->metrics[2].role, METRIC_tensor_fp8_ops);
	assert_int_equal(profile->counter_count, 2);
	assert_false(profile->counters[0].is_graph);
	assert_int_equal(profile->counters[0].subject, op_at(profile, 2000)->detail);
	assert_counter(&profile->counters[0], 1, 4096, 4096, 4096);
	assert_int_equal(op_at(profile, 2000)->counted, COUNTED);
	assert_int_equal(op_at(profile, 4000)->counted, NOT_COUNTED);
	profile_free(profile);
}

static void test_graph(void **state)
{
	struct profile *profile;

	write_table(*state, "kernels.csv",
		    KERNELS_HEAD "2000,2500,1,0,1,7,101,0,0\n"
				 "3000,3300,2,0,1,13,103,5,77\n"
				 "3400,3700,1,0,1,13,103,5,78\n"
				 "4400,4700,1,0,1,13,104,5,78\n");
	profile = load(*state);
	assert_null(orphans(profile));
	assert_int_equal(profile->counted_graph_count, 1);
	assert_int_equal(profile->counted_graphs[0].process, 0);
	assert_int_equal(profile->counted_graphs[0].graph, 5);
	assert_true(profile->counters[1].is_graph);
	assert_int_equal(profile->counters[1].subject, 0);
	assert_int_equal(profile->counters[1].metric, 1);
	assert_counter(&profile->counters[1], 1, 12.5, 12.5, 12.5);
	assert_int_equal(op_at(profile, 3000)->counted, COUNTED);
	assert_int_equal(op_at(profile, 3400)->counted, COUNTED);
	assert_int_equal(op_at(profile, 4400)->counted, NOT_COUNTED);
	profile_free(profile);
}

static void test_sums(void **state)
{
	struct profile *profile;

	write_table(*state, "kernels.csv",
		    KERNELS_HEAD "2000,2500,2,0,1,7,101,0,0\n"
				 "3000,3300,1,0,1,7,102,0,0\n"
				 "4000,4300,1,0,1,7,103,0,0\n"
				 "5000,5300,1,0,1,7,104,0,0\n");
	write_table(*state, "counted.csv",
		    COUNTED_HEAD "7,102,102,0,1,0,0\n"
				 "8,103,103,0,1,0,0\n"
				 "9,104,104,0,1,0,0\n"
				 "10,101,101,0,1,0,0\n");
	write_table(*state, "counters.csv",
		    COUNTERS_HEAD "10,1,5\n"
				  "9,2,100\n"
				  "7,1,10\n"
				  "8,1,40\n"
				  "9,1,1\n");
	profile = load(*state);
	assert_int_equal(profile->counter_count, 3);
	assert_counter(&profile->counters[0], 2, 20.5, 1, 40); /* without the 10, which was first */
	assert_int_equal(profile->counters[0].metric, 0);
	assert_counter(&profile->counters[1], 1, 100, 100, 100);
	assert_int_equal(profile->counters[1].metric, 1);
	assert_counter(&profile->counters[2], 1, 5, 5, 5);
	assert_int_equal(profile->counters[1].subject, op_at(profile, 3000)->detail);
	assert_int_equal(profile->counters[2].subject, op_at(profile, 2000)->detail);
	assert_int_equal(op_at(profile, 5000)->counted, COUNTED);
	profile_free(profile);
}

/* Launches of later passes have no kernel record: they are what the first of their kind was. */
static void test_alike(void **state)
{
	struct profile *profile;

	write_table(*state, "counted.csv",
		    COUNTED_HEAD "1,101,101,0,1,0,0\n"
				 "2,777,101,0,1,1,0\n");
	profile = load(*state);
	assert_null(orphans(profile));
	assert_int_equal(profile->counter_count, 2);
	assert_int_equal(profile->counters[1].subject, op_at(profile, 2000)->detail);
	assert_counter(&profile->counters[1], 1, 12.5, 12.5, 12.5);
	assert_int_equal(profile->signatures[op_at(profile, 2000)->detail].unrecorded_count, 1);
	profile_free(profile);
}

static void test_replay(void **state)
{
	struct profile *profile;

	write_table(*state, "process.csv", "key,value\npid,100\ncounters_mode,replay\n");
	write_table(*state, "counted.csv",
		    COUNTED_HEAD "1,101,101,0,1,0,0\n"
				 "2,101,101,0,1,1,0\n");
	profile = load(*state);
	assert_null(orphans(profile));
	assert_int_equal(profile->counter_count, 2);
	assert_int_equal(profile->counters[0].subject, op_at(profile, 2000)->detail);
	assert_int_equal(profile->counters[1].subject, op_at(profile, 2000)->detail);
	assert_int_equal(op_at(profile, 2000)->counted, COUNTED_PATCHED);
	assert_int_equal(profile->signatures[op_at(profile, 2000)->detail].unrecorded_count, 0);
	profile_free(profile);
}

static void test_processes(void **state)
{
	struct profile *profile;

	fixture_add_process(*state, "host.101");
	fixture_write(*state, "host.101", "counters.csv", COUNTERS_HEAD "1,1,8192\n2,2,1\n");
	profile = load(*state);
	assert_null(orphans(profile));
	assert_int_equal(profile->metric_count, 3);
	assert_int_equal(profile->counter_count, 3);
	assert_counter(&profile->counters[0], 1, 8192, 8192, 8192); /* the same signature */
	assert_int_equal(profile->counted_graph_count, 2);	    /* but graphs of their own */
	assert_int_equal(profile->counted_graphs[1].process, 1);
	profile_free(profile);
}

static void test_missing_launch(void **state)
{
	struct profile *profile;

	write_table(*state, "counted.csv",
		    COUNTED_HEAD "1,999,999,0,1,0,0\n"
				 "2,0,0,0,1,0,0\n"	 /* no call: any operation could be meant */
				 "3,105,105,0,1,0,0\n"	 /* a copy */
				 "4,101,101,0,1,0,1\n"); /* not of a graph */
	write_table(*state, "counters.csv", COUNTERS_HEAD "1,1,4096\n2,1,1\n3,1,1\n4,1,1\n");
	profile = load(*state);
	assert_orphans(profile, 4, "host.100/counted.csv:2: no kernel has correlation 999");
	assert_int_equal(profile->counter_count, 0);
	for (size_t i = 0; i < profile->op_count; i++)
		assert_int_equal(profile->ops[i].counted, NOT_COUNTED);
	profile_free(profile);
}

static void test_missing_ids(void **state)
{
	struct profile *profile;

	write_table(*state, "counters.csv",
		    COUNTERS_HEAD "77,1,1\n"
				  "1,88,1\n"
				  "1,1,3\n");
	profile = load(*state);
	assert_orphans(profile, 2,
		       "host.100/counters.csv:2: counted launch 77 is not in counted.csv");
	assert_int_equal(profile->counter_count, 1);
	assert_counter(&profile->counters[0], 1, 3, 3, 3);
	profile_free(profile);
}

static void test_impossible_values(void **state)
{
	const struct profile_loss *loss = NULL;
	struct profile *profile;

	write_table(*state, "counters.csv",
		    COUNTERS_HEAD "1,1,-1\n"
				  "1,1,1e300\n"
				  "1,1,3\n");
	profile = load(*state);
	for (size_t i = 0; i < profile->loss_count; i++)
		if (!strcmp(profile->losses[i].kind, "unreadable_rows"))
			loss = &profile->losses[i];
	assert_non_null(loss);
	assert_int_equal(loss->count, 2);
	assert_string_equal(loss->detail, "host.100/counters.csv:2: value -1 is none of a counter");
	assert_int_equal(profile->counter_count, 1);
	assert_counter(&profile->counters[0], 1, 3, 3, 3);
	profile_free(profile);
}

static void test_newer_role(void **state)
{
	struct profile *profile;

	write_table(*state, "metrics.csv",
		    "id,name,role,device,is_patched\n"
		    "1,13,warp_drive_cycles,0,0\n"
		    "2,14,,0,0\n"
		    "3,99,fp64_fma,0,0\n");
	profile = load(*state);
	assert_orphans(profile, 2,
		       "host.100/metrics.csv:2: role warp_drive_cycles is none that this version "
		       "of rooflinectl knows");
	assert_int_equal(profile->metrics[0].role, METRIC_NONE);
	assert_string_equal(profile->metrics[0].name, "dram__bytes_read.sum");
	assert_int_equal(profile->metrics[1].role, METRIC_NONE);
	assert_string_equal(profile->metrics[2].name, "unknown counter");
	assert_counter(&profile->counters[0], 1, 4096, 4096, 4096);
	profile_free(profile);
}

static void test_metrics_merge(void **state)
{
	struct profile *profile;

	write_table(*state, "metrics.csv",
		    "id,name,role,device,is_patched\n"
		    "1,13,dram_read_bytes,0,0\n"
		    "2,13,dram_read_bytes,1,0\n"
		    "3,13,dram_write_bytes,0,0\n"
		    "4,14,dram_read_bytes,0,0\n");
	profile = load(*state);
	assert_int_equal(profile->metric_count, 3);
	assert_int_equal(profile->metrics[1].role, METRIC_dram_write_bytes);
	assert_int_equal(profile->metrics[2].role, METRIC_dram_read_bytes);
	profile_free(profile);
}

static void test_without(void **state)
{
	struct profile *profile;

	write_table(*state, "metrics.csv", "id,name,role,device,is_patched\n");
	write_table(*state, "counted.csv", COUNTED_HEAD);
	write_table(*state, "counters.csv", COUNTERS_HEAD);
	profile = load(*state);
	assert_null(orphans(profile));
	assert_int_equal(profile->metric_count + profile->counter_count, 0);
	assert_int_equal(op_at(profile, 2000)->counted, NOT_COUNTED);
	profile_free(profile);
}

/* 20,000 launches with a value each, in an order that helps nobody. */
static void test_many(void **state)
{
	enum { COUNT = 20000 };
	char *kernels, *counted, *counters;
	size_t size;
	FILE *files[3] = {open_memstream(&kernels, &size), open_memstream(&counted, &size),
			  open_memstream(&counters, &size)};
	struct profile *profile;

	fputs(KERNELS_HEAD, files[0]);
	fputs(COUNTED_HEAD, files[1]);
	fputs(COUNTERS_HEAD, files[2]);
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned mixed = i * 7919u % COUNT;

		fprintf(files[0], "%u,%u,1,0,1,7,%u,0,0\n", 1000 + i, 1001 + i, 1000000 + i);
		fprintf(files[1], "%u,%u,%u,0,1,0,0\n", mixed, 1000000 + i, 1000000 + i);
		fprintf(files[2], "%u,1,%u\n", mixed, mixed);
	}
	for (int i = 0; i < 3; i++)
		fclose(files[i]);
	write_table(*state, "kernels.csv", kernels);
	write_table(*state, "counted.csv", counted);
	write_table(*state, "counters.csv", counters);
	profile = load(*state);
	assert_int_equal(profile->counter_count, 1);
	assert_int_equal(profile->counters[0].sample_count, COUNT - 1);
	assert_true(profile->counters[0].mean > 9999.9 && profile->counters[0].mean < 10000.1);
	assert_true(profile->counters[0].min == 1 && profile->counters[0].max == COUNT - 1);
	profile_free(profile);
	free(kernels);
	free(counted);
	free(counters);
}

#define SENTENCE(text, function)                         \
	{                                                \
		text, function, set_up, tear_down, NULL, \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("counters of a kernel launch belong to its signature", test_small),
		SENTENCE("a graph launch is counted as a whole, with all its nodes", test_graph),
		SENTENCE("values of one signature but the first become count, mean, least and most",
			 test_sums),
		SENTENCE("a launch without a record is what the first of its kind was", test_alike),
		SENTENCE("a replayed launch has several passes", test_replay),
		SENTENCE("processes share signatures but not graphs", test_processes),
		SENTENCE("a counted launch that is not there is counted as lost",
			 test_missing_launch),
		SENTENCE("a value of an unknown launch or metric is counted as lost",
			 test_missing_ids),
		SENTENCE("a value below zero or beyond 64 bits is counted as lost",
			 test_impossible_values),
		SENTENCE("a role of a newer collector keeps its counter's name", test_newer_role),
		SENTENCE("metrics of equal name and role are one", test_metrics_merge),
		SENTENCE("a recording without counters has none", test_without),
		SENTENCE("many values in any order", test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
