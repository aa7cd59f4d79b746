#include "fixture_roofs.h"

#include "analysis/time/gap_finder.h"

#include <stdio.h>

static void die(const char *what)
{
	fprintf(stderr, "fixture: %s\n", what);
	abort();
}

struct ceilings *fixture_ceilings(void)
{
	static const struct {
		enum ceiling_id id;
		uint64_t parameter;
		double value;
	} values[] = {
		{CEILING_dram_read, 0, 4e12},	   {CEILING_dram_write, 0, 3e12},
		{CEILING_dram_copy, 0, 3.5e12},	   {CEILING_l2_read, 0, 8e12},
		{CEILING_l1_read, 0, 20e12},	   {CEILING_shared_read, 0, 20e12},
		{CEILING_fp64_fma, 0, 30e12},	   {CEILING_fp32_fma, 0, 60e12},
		{CEILING_fp16_fma, 0, 120e12},	   {CEILING_tensor_fp64, 0, 60e12},
		{CEILING_tensor_tf32, 0, 500e12},  {CEILING_tensor_bf16, 0, 1000e12},
		{CEILING_tensor_fp16, 0, 1000e12}, {CEILING_tensor_fp8, 0, 2000e12},
		{CEILING_atomic_add, 1, 1.25e9},   {CEILING_atomic_add, 1 << 20, 80e9},
		{CEILING_atomic_cas, 1, 1e9},	   {CEILING_launch_period, 0, 2500},
		{CEILING_graph_launch, 0, 5000},   {CEILING_graph_node, 0, 800},
	};
	struct ceilings *ceilings = calloc(1, sizeof(*ceilings));

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct ceiling row = {.id = values[i].id,
				      .parameter = values[i].parameter,
				      .value = values[i].value};

		if (!ceilings || ceilings_add(ceilings, &row) < 0)
			die("out of memory");
	}
	if (ceilings_sort(ceilings))
		die("a ceiling is there twice");
	return ceilings;
}

static int add_gap(const struct gap *gap, void *counted)
{
	counted_add_gap(counted, gap);
	return 0;
}

static int add_gaps(struct counted *counted, const struct profile *profile)
{
	struct gap_finder *finder;
	int rc = gap_finder_open(&finder, profile, NULL);

	for (size_t i = 0; rc == 0 && i < profile->device_count; i++)
		rc = gap_finder_visit(finder, i, add_gap, counted);
	gap_finder_close(finder);
	return rc;
}

struct placed fixture_place(const struct profile *profile, const struct ceilings *ceilings)
{
	struct placed placed = {0};
	struct err err = {""};

	if (counted_build(&placed.counted, profile, &err) < 0 ||
	    add_gaps(placed.counted, profile) < 0 ||
	    roofline_build(&placed.roofline, profile, placed.counted, ceilings, &err) < 0 ||
	    atomics_build(&placed.atomics, profile, placed.counted, placed.roofline, ceilings,
			  &err) < 0)
		die(err.text);
	return placed;
}

void fixture_placed_free(struct placed *placed)
{
	atomics_free(placed->atomics);
	roofline_free(placed->roofline);
	counted_free(placed->counted);
}

const struct roofline_point *fixture_point(const struct placed *placed, const char *name)
{
	for (size_t i = 0; i < placed->roofline->kernel_count; i++)
		if (!strcmp(placed->roofline->kernels[i].name, name))
			return &placed->roofline->kernels[i];
	die(name);
	return NULL;
}

static bool is_of_roofline_set(enum metric_role role)
{
#define METRIC_SET(role, set, meaning) COUNTER_SET_##set,
	static const enum counter_set sets[] = {METRICS(METRIC_SET)};
#undef METRIC_SET
	return sets[role] == COUNTER_SET_roofline;
}

static bool is_counted(const struct builder *b, uint32_t signature, enum metric_role role)
{
	for (size_t i = 0; i < b->profile.counter_count; i++)
		if (!b->counters[i].is_graph && b->counters[i].subject == signature &&
		    b->metrics[b->counters[i].metric].role == (uint32_t)role)
			return true;
	return false;
}

void fixture_count_nothing_else(struct builder *b, uint32_t signature, uint64_t sample_count)
{
	for (int i = 0; i < METRIC_ROLE_COUNT; i++) {
		enum metric_role role = (enum metric_role)i;

		if (is_of_roofline_set(role) && !is_counted(b, signature, role))
			builder_counter(b, false, signature, role, sample_count, 0);
	}
}
