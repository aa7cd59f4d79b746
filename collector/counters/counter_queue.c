#define _GNU_SOURCE
#include "counters/counter_queue.h"

#include <stdlib.h>
#include <string.h>

#include "writer/row_queue.h"
#include "writer/trace_writer.h"

struct replayed_kernel {
	struct trace_kernels_row row;
	struct trace_signatures_row signature;
};

struct queued_row {
	enum { COUNTED, VALUE, OVERHEAD, METRIC, PROPERTY, KERNEL } kind;
	union {
		struct trace_counted_row counted;
		struct trace_counters_row value;
		struct trace_overheads_row overhead;
		struct trace_metrics_row metric;
		const char *key;		/* of a property */
		struct replayed_kernel *kernel; /* our copy */
	};
	char *text; /* ours, or NULL */
};

static struct row_queue queue = ROW_QUEUE_INITIALIZER;

void counter_queue_init(void (*wake)(void))
{
	row_queue_init(&queue, sizeof(struct queued_row), QUEUE_ROWS, wake);
}

/* ---- launches ---- */

static void release(const struct queued_row *row)
{
	free(row->text);
	if (row->kind == KERNEL)
		free(row->kernel);
}

static void put(const struct queued_row *row)
{
	if (row_queue_put(&queue, row))
		return;
	trace_loss_add(LOSS_unwritten_rows, 1);
	release(row);
}

void counter_queue_put_counted(const struct trace_counted_row *row)
{
	put(&(struct queued_row){.kind = COUNTED, .counted = *row});
}

void counter_queue_put_value(const struct trace_counters_row *row)
{
	put(&(struct queued_row){.kind = VALUE, .value = *row});
}

void counter_queue_put_overhead(const struct trace_overheads_row *row)
{
	put(&(struct queued_row){.kind = OVERHEAD, .overhead = *row});
}

void counter_queue_put_metric(const struct trace_metrics_row *row, const char *name)
{
	put(&(struct queued_row){.kind = METRIC, .metric = *row, .text = strdup(name)});
}

void counter_queue_put_property(const char *key, const char *value)
{
	put(&(struct queued_row){.kind = PROPERTY, .key = key, .text = strdup(value)});
}

void counter_queue_put_kernel(const struct trace_kernels_row *row,
			      const struct trace_signatures_row *signature, const char *name)
{
	struct replayed_kernel *kernel = malloc(sizeof(*kernel));

	if (!kernel) {
		trace_loss_add(LOSS_unwritten_rows, 1);
		return;
	}
	*kernel = (struct replayed_kernel){*row, *signature};
	put(&(struct queued_row){.kind = KERNEL, .kernel = kernel, .text = strdup(name)});
}

/* ---- our thread ---- */

static void write_metric(struct trace_rows *out, struct queued_row *row)
{
	row->metric.name = row->text && *row->text ? trace_name(row->text) : 0;
	trace_write_metrics(out, &row->metric);
}

static void write_kernel(struct trace_rows *out, struct queued_row *row)
{
	struct trace_kernels_row *kernel = &row->kernel->row;

	kernel->signature = trace_signature(&row->kernel->signature, row->text);
	if (kernel->signature != TRACE_SIGNATURE_FILTERED)
		trace_write_kernels(out, kernel);
}

static void write_row(void *rows, void *queued)
{
	struct trace_rows *out = rows;
	struct queued_row *row = queued;

	switch (row->kind) {
	case COUNTED:
		trace_write_counted(out, &row->counted);
		break;
	case VALUE:
		trace_write_counters(out, &row->value);
		break;
	case OVERHEAD:
		row->overhead.name = trace_name("hardware counters");
		trace_write_overheads(out, &row->overhead);
		break;
	case METRIC:
		write_metric(out, row);
		break;
	case PROPERTY:
		trace_property(out, row->key, row->text);
		break;
	case KERNEL:
		write_kernel(out, row);
		break;
	}
	release(row);
}

void counter_queue_write(void)
{
	struct trace_rows *out = trace_rows_get();

	row_queue_take(&queue, write_row, out);
	trace_rows_put(out);
}

void counter_queue_write_last(void)
{
	struct trace_rows *out = trace_rows_get();

	trace_loss_add(LOSS_unwritten_rows, row_queue_take_last(&queue, write_row, out));
	trace_rows_put(out);
}
