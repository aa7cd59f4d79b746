/* analysis/ceilings.h and datasheets.h: rows from samples, values between them, doubts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counters/ceilings.h"

#define assert_near(value, expected) \
	assert_true(fabs((value) - (expected)) <= 1e-9 * fabs((double)(expected)))

static struct ceiling_sample sample_of(enum ceiling_id id, uint64_t parameter, double value,
				       double sm_mhz)
{
	return (struct ceiling_sample){id, parameter, value, sm_mhz};
}

static void add(struct ceilings *ceilings, enum ceiling_id id, uint64_t parameter, double value)
{
	struct ceiling row = {
		.id = id, .parameter = parameter, .value = value, .low = value, .high = value};

	assert_int_equal(ceilings_add(ceilings, &row), 0);
}

static struct ceilings *empty(void)
{
	return calloc(1, sizeof(struct ceilings));
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < CEILING_COUNT; i++)
		assert_int_equal(ceiling_find(ceiling_kind((enum ceiling_id)i)->name), i);
	assert_int_equal(ceiling_find("dram"), -1);
	assert_int_equal(ceiling_kind(CEILING_grid_barrier)->program,
			 CEILING_PROGRAM_device_launches);
	assert_int_equal(ceiling_program_find("tensor"), CEILING_PROGRAM_tensor);
	assert_int_equal(ceiling_program_find(""), -1);
	assert_true(ceiling_parameter_fits(CEILING_dram_read, 0));
	assert_false(ceiling_parameter_fits(CEILING_dram_read, 1));
	assert_true(ceiling_parameter_fits(CEILING_atomic_add, 1));
	assert_false(ceiling_parameter_fits(CEILING_atomic_add, 0));
}

static void test_samples(void **state)
{
	static const double values[] = {30, 10, 50, 20, 40};
	struct ceiling_sample samples[11];
	struct ceilings *ceilings = empty();
	const struct ceiling *row;
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		samples[count++] = sample_of(CEILING_atomic_add, 8, values[i], 1900 + values[i]);
		samples[count++] = sample_of(CEILING_dram_read, 0, 7, 0);
	}
	samples[count++] = sample_of(CEILING_atomic_add, 16, 1, 1900); /* one is too few */
	assert_int_equal(ceilings_add_samples(ceilings, samples, count), 0);
	assert_int_equal(ceilings->count, 2);
	row = ceilings_get(ceilings, CEILING_atomic_add, 8);
	assert_non_null(row);
	assert_near(row->value, 30);
	assert_near(row->low, 14); /* four tenths of the way from the least to the second */
	assert_near(row->high, 46);
	assert_near(ceiling_spread(row), 16.0 / 30);
	assert_int_equal(row->sample_count, 5);
	assert_near(row->sm_mhz_low, 1910);
	assert_near(row->sm_mhz_high, 1950);
	assert_null(ceilings_get(ceilings, CEILING_atomic_add, 16));
	assert_near(ceiling_spread(ceilings_get(ceilings, CEILING_dram_read, 0)), 0);
	ceilings_free(ceilings);
}

static void test_even_median(void **state)
{
	struct ceiling_sample samples[6];
	struct ceilings *ceilings = empty();

	(void)state;
	for (size_t i = 0; i < 6; i++)
		samples[i] = sample_of(CEILING_launch_call, 0, 10.0 * (double)(6 - i), 0);
	assert_int_equal(ceilings_add_samples(ceilings, samples, 6), 0);
	assert_near(ceilings->rows[0].value, 35);
	assert_int_equal(ceilings_add_samples(ceilings, NULL, 0), 0);
	assert_int_equal(ceilings->count, 1);
	ceilings_free(ceilings);
}

static void test_interpolation(void **state)
{
	struct ceilings *ceilings = empty();

	(void)state;
	add(ceilings, CEILING_atomic_add, 1024, 64e9);
	add(ceilings, CEILING_atomic_add, 1, 1e9);
	add(ceilings, CEILING_atomic_add, 4, 4e9);
	add(ceilings, CEILING_atomic_cas, 2, 5e8);
	assert_near(ceilings_at(ceilings, CEILING_atomic_add, 4), 4e9);
	assert_near(ceilings_at(ceilings, CEILING_atomic_add, 2), 2e9);
	/* 4 to 1024 is 2^8, 4e9 to 64e9 2^4: at 64, half way, 2^2 */
	assert_near(ceilings_at(ceilings, CEILING_atomic_add, 64), 16e9);
	assert_near(ceilings_at(ceilings, CEILING_atomic_add, 1 << 20), 64e9);
	assert_near(ceilings_at(ceilings, CEILING_atomic_add, 0), 1e9);
	assert_near(ceilings_at(ceilings, CEILING_atomic_cas, 1), 5e8);
	assert_near(ceilings_at(ceilings, CEILING_atomic_shared_add, 1), 0);
	ceilings_free(ceilings);
}

static void test_order(void **state)
{
	struct ceilings *ceilings = empty();
	const struct ceiling *twice;

	(void)state;
	add(ceilings, CEILING_atomic_add, 1024, 3);
	add(ceilings, CEILING_atomic_add, 1, 2);
	add(ceilings, CEILING_dram_read, 0, 1);
	assert_null(ceilings_sort(ceilings));
	assert_int_equal(ceilings->rows[0].id, CEILING_dram_read);
	assert_int_equal(ceilings->rows[1].parameter, 1);
	assert_int_equal(ceilings->rows[2].parameter, 1024);
	add(ceilings, CEILING_atomic_add, 1, 9);
	twice = ceilings_sort(ceilings);
	assert_non_null(twice);
	assert_int_equal(twice->id, CEILING_atomic_add);
	assert_int_equal(twice->parameter, 1);
	ceilings_free(ceilings);
}

static void expect_sheet(const char *gpu, const char *expected)
{
	const struct datasheet *sheet = datasheet_find(gpu);

	if (!expected) {
		assert_null(sheet);
		return;
	}
	assert_non_null(sheet);
	assert_string_equal(sheet->gpu, expected);
}

static void test_datasheet_names(void **state)
{
	(void)state;
	expect_sheet("NVIDIA H200", "NVIDIA H200");
	expect_sheet("NVIDIA H200 NVL", "NVIDIA H200 NVL");
	expect_sheet("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3");
	expect_sheet("NVIDIA H100 80GB HBM3e", NULL);
	expect_sheet("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB");
	expect_sheet("A100-SXM4-40GB", "A100-SXM4-40GB"); /* as older drivers print it */
	expect_sheet("NVIDIA A10", "A10");
	expect_sheet("NVIDIA A10G", NULL);
	expect_sheet("NVIDIA A100X", NULL);
	expect_sheet("NVIDIA L4", "L4");
	expect_sheet("NVIDIA L40", NULL);
	expect_sheet("NVIDIA L40S", "L40S");
	expect_sheet("Tesla V100-SXM2-16GB", "V100-SXM2");
	expect_sheet("NVIDIA GeForce RTX 4090", "GeForce RTX 4090");
	expect_sheet("Imaginary GPU 0", NULL);
	expect_sheet("", NULL);
}

static void test_datasheet_variants(void **state)
{
	(void)state;
	expect_sheet("NVIDIA H200 MIG 1g.18gb", NULL);
	expect_sheet("NVIDIA GeForce RTX 4090 Laptop GPU", NULL);
	expect_sheet("NVIDIA GeForce RTX 4090 D", NULL);
	expect_sheet("NVIDIA GeForce RTX 3090 Ti", NULL);
}

static void test_datasheet_values(void **state)
{
	const struct datasheet *h200 = datasheet_find("NVIDIA H200");
	const struct datasheet *v100 = datasheet_find("Tesla V100-PCIE-32GB");

	(void)state;
	assert_near(datasheet_value(h200, CEILING_dram_triad), 4.8e12);
	assert_near(datasheet_value(h200, CEILING_fp64_fma), 33.5e12);
	assert_near(datasheet_value(h200, CEILING_fp32_fma), 66.9e12);
	assert_near(datasheet_value(h200, CEILING_fp16_fma), 133.8e12);
	assert_near(datasheet_value(h200, CEILING_tensor_fp64), 66.9e12);
	assert_near(datasheet_value(h200, CEILING_tensor_tf32), 495e12);
	assert_near(datasheet_value(h200, CEILING_tensor_bf16), 989e12);
	assert_near(datasheet_value(h200, CEILING_tensor_fp16), 989e12);
	assert_near(datasheet_value(h200, CEILING_tensor_fp8), 1979e12);
	assert_near(datasheet_value(h200, CEILING_l2_read), 0);
	assert_near(datasheet_value(h200, CEILING_launch_call), 0);
	assert_near(datasheet_value(v100, CEILING_tensor_fp16), 112e12);
	assert_near(datasheet_value(v100, CEILING_tensor_bf16), 0); /* Volta has none */
	assert_near(datasheet_value(NULL, CEILING_dram_read), 0);
}

static void test_datasheet_ceilings(void **state)
{
	struct ceilings *ceilings;

	(void)state;
	assert_int_equal(ceilings_of_datasheet(&ceilings, "NVIDIA H200", 132, 1980000), 0);
	assert_non_null(ceilings);
	assert_true(ceilings->is_datasheet);
	assert_string_equal(ceilings->gpu, "NVIDIA H200");
	assert_near(ceilings_dram(ceilings)->value, 4.8e12);
	assert_near(ceilings_get(ceilings, CEILING_l1_read, 0)->value, 128.0 * 132 * 1.98e9);
	assert_near(ceilings_get(ceilings, CEILING_shared_read, 0)->value, 128.0 * 132 * 1.98e9);
	assert_null(ceilings_get(ceilings, CEILING_l2_read, 0));
	assert_null(ceilings_get(ceilings, CEILING_launch_call, 0));
	assert_null(ceilings_sort(ceilings));
	ceilings_free(ceilings);
	assert_int_equal(ceilings_of_datasheet(&ceilings, "NVIDIA A30", 0, 0), 0);
	assert_null(ceilings_get(ceilings, CEILING_l1_read, 0));
	assert_null(ceilings_get(ceilings, CEILING_tensor_fp8, 0));
	ceilings_free(ceilings);
	assert_int_equal(ceilings_of_datasheet(&ceilings, "Imaginary GPU 0", 132, 1980000), 0);
	assert_null(ceilings);
}

static void test_dram(void **state)
{
	struct ceilings *ceilings = empty();

	(void)state;
	assert_null(ceilings_dram(ceilings));
	add(ceilings, CEILING_dram_read, 0, 3);
	add(ceilings, CEILING_dram_copy, 0, 5);
	add(ceilings, CEILING_dram_triad, 0, 4);
	add(ceilings, CEILING_l2_read, 0, 9);
	assert_int_equal(ceilings_dram(ceilings)->id, CEILING_dram_copy);
	ceilings_free(ceilings);
}

static void test_doubts(void **state)
{
	const struct datasheet *sheet = datasheet_find("NVIDIA H200");
	struct ceiling_doubt doubts[CEILING_DOUBTS_MOST];
	struct ceilings *ceilings = empty();

	(void)state;
	add(ceilings, CEILING_dram_write, 0, 0.50 * 4.8e12); /* another mode is good */
	add(ceilings, CEILING_dram_read, 0, 0.86 * 4.8e12);
	add(ceilings, CEILING_fp64_fma, 0, 0.81 * 33.5e12);
	add(ceilings, CEILING_fp32_fma, 0, 0.81 * 66.9e12);
	add(ceilings, CEILING_tensor_bf16, 0, 0.76 * 989e12);
	assert_int_equal(ceilings_doubts(doubts, ceilings, sheet), 0);
	ceilings->rows[1].value = 0.84 * 4.8e12;
	ceilings->rows[2].value = 0.79 * 33.5e12;
	ceilings->rows[3].value = 0.79 * 66.9e12;
	ceilings->rows[4].value = 0.74 * 989e12;
	assert_int_equal(ceilings_doubts(doubts, ceilings, NULL), 0);
	assert_int_equal(ceilings_doubts(doubts, ceilings, sheet), 4);
	assert_int_equal(doubts[0].ceiling->id, CEILING_dram_read);
	assert_near(doubts[0].share, 0.84);
	assert_near(doubts[0].least_share, 0.85);
	assert_int_equal(doubts[1].ceiling->id, CEILING_fp64_fma);
	assert_int_equal(doubts[2].ceiling->id, CEILING_fp32_fma);
	assert_int_equal(doubts[3].ceiling->id, CEILING_tensor_bf16);
	assert_near(doubts[3].least_share, 0.75);
	ceilings_free(ceilings);
}

#define SENTENCE(text, function)                 \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENTENCE("every ceiling and program is found by its name, and by no other",
			 test_names),
		SENTENCE("samples become a median, percentiles and clocks; fewer than five become "
			 "nothing",
			 test_samples),
		SENTENCE("the median of an even number of samples lies between two of them",
			 test_even_median),
		SENTENCE("between two measured parameters the line is straight in log-log, beyond "
			 "them flat",
			 test_interpolation),
		SENTENCE("rows are ordered, and a pair that is there twice is found", test_order),
		SENTENCE("a GPU finds the datasheet that shares most whole words with its name",
			 test_datasheet_names),
		SENTENCE("a part or a variant of a GPU has no datasheet", test_datasheet_variants),
		SENTENCE("a datasheet's figure is told in the unit of the ceiling",
			 test_datasheet_values),
		SENTENCE("a datasheet's ceilings have L1 from clock and multiprocessors, and no "
			 "launch costs",
			 test_datasheet_ceilings),
		SENTENCE("device memory's ceiling is the best of its modes", test_dram),
		SENTENCE("a ceiling far under the datasheet is doubted, one just above the limit "
			 "not",
			 test_doubts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
