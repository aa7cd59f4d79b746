/* collector/counters/counter_queue.h: rows of launches wait for our thread, and there is no room for any number of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/writer/row_queue.c"

#include "collector/counters/counter_queue.c"

static unsigned int wakes;
static uint64_t lost, written, names, filtered;
static uint32_t last_counted;

static void wake(void)
{
	wakes++;
}

/* ---- in the writer's place ---- */

void trace_loss_add(enum trace_loss kind, uint64_t count_lost)
{
	assert_int_equal(kind, LOSS_unwritten_rows);
	lost += count_lost;
}

struct trace_rows *trace_rows_get(void)
{
	return NULL;
}

void trace_rows_put(struct trace_rows *rows)
{
	(void)rows;
}

uint32_t trace_name(const char *text)
{
	(void)text;
	return (uint32_t)++names;
}

uint32_t trace_signature(const struct trace_signatures_row *row, const char *name)
{
	(void)row;
	filtered += strcmp(name, "other") == 0;
	return strcmp(name, "other") == 0 ? TRACE_SIGNATURE_FILTERED : 1;
}

void trace_property(struct trace_rows *rows, const char *key, const char *value)
{
	(void)rows;
	assert_string_equal(key, "counters_passes");
	assert_string_equal(value, "2");
	written++;
}

void trace_write_counters(struct trace_rows *rows, const struct trace_counters_row *row)
{
	(void)rows;
	assert_int_equal(row->counted, last_counted++); /* in the order in which they came */
	written++;
}

#define COUNT_ROW(table)                                                                         \
	void trace_write_##table(struct trace_rows *rows, const struct trace_##table##_row *row) \
	{                                                                                        \
		(void)rows;                                                                      \
		(void)row;                                                                       \
		written++;                                                                       \
	}
COUNT_ROW(counted)
COUNT_ROW(overheads)
COUNT_ROW(metrics)
COUNT_ROW(kernels)

/* ---- the tests ---- */

static void put_values(uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		counter_queue_put_value(&(struct trace_counters_row){.counted = i});
}

static void test_without_memory(void **state)
{
	(void)state;
	put_values(0, 3); /* as if it had not been allocated */
	assert_int_equal(lost, 3);
	counter_queue_write();
	assert_int_equal(written, 0);
}

static void test_full(void **state)
{
	(void)state;
	counter_queue_init(wake);
	lost = 0;
	put_values(0, QUEUE_ROWS + 10);
	assert_int_equal(lost, 10);
	assert_int_equal(wakes, 1);
	counter_queue_write();
	assert_int_equal(written, QUEUE_ROWS);
	put_values(QUEUE_ROWS, QUEUE_ROWS + 5); /* there is room again */
	counter_queue_write();
	assert_int_equal(written, QUEUE_ROWS + 5);
	assert_int_equal(lost, 10);
}

static void test_every_kind(void **state)
{
	(void)state;
	written = 0;
	counter_queue_put_counted(&(struct trace_counted_row){.id = 1});
	counter_queue_put_overhead(&(struct trace_overheads_row){.end_ns = 1});
	counter_queue_put_metric(&(struct trace_metrics_row){.role = ""}, "lts__t_bytes.sum");
	counter_queue_put_metric(&(struct trace_metrics_row){.role = ""}, "");
	counter_queue_put_property("counters_passes", "2");
	counter_queue_put_kernel(&(struct trace_kernels_row){.end_ns = 1},
				 &(struct trace_signatures_row){.grid_x = 1}, "wanted");
	counter_queue_put_kernel(&(struct trace_kernels_row){.end_ns = 1},
				 &(struct trace_signatures_row){.grid_x = 1}, "other");
	counter_queue_write();
	assert_int_equal(written, 6);
	assert_int_equal(names, 2); /* of the overhead, and of one metric */
	assert_int_equal(filtered, 1);
	free(queue.halves[0]);
	free(queue.halves[1]);
}

#define TEST(name, function)                     \
	{                                        \
		name, function, NULL, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("without memory rows are counted as lost", test_without_memory),
		TEST("a full queue counts what it loses, and takes rows again when written",
		     test_full),
		TEST("every kind of row is written as it was put", test_every_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
