#define _GNU_SOURCE
#include "counters/counter_queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "writer/trace_writer.h"

#define WAKE_ROWS (QUEUE_ROWS / 4)

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

/* Launches put into one half while our thread writes the other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queued_row *filling, *writing;
static size_t count;
static void (*wake_writer)(void);

void counter_queue_init(void (*wake)(void))
{
	wake_writer = wake;
	filling = malloc(QUEUE_ROWS * sizeof(*filling));
	writing = malloc(QUEUE_ROWS * sizeof(*writing));
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
	bool has_room, must_wake;

	pthread_mutex_lock(&lock);
	has_room = filling && writing && count < QUEUE_ROWS;
	if (has_room)
		filling[count++] = *row;
	must_wake = has_room && count == WAKE_ROWS;
	pthread_mutex_unlock(&lock);
	if (must_wake)
		wake_writer();
	if (has_room)
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

static void write_row(struct trace_rows *out, struct queued_row *row)
{
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

/* Our half of the queue, full; launches go on with the other. */
static size_t take_all(void)
{
	struct queued_row *taken;
	size_t taken_count;

	pthread_mutex_lock(&lock);
	taken = filling;
	taken_count = count;
	filling = writing;
	writing = taken;
	count = 0;
	pthread_mutex_unlock(&lock);
	return taken_count;
}

void counter_queue_write(void)
{
	/* A thread that brings records after ours has gone may come at the same time as another. */
	static pthread_mutex_t one_writer = PTHREAD_MUTEX_INITIALIZER;
	struct trace_rows *out;
	size_t row_count;

	pthread_mutex_lock(&one_writer);
	row_count = take_all();
	out = row_count ? trace_rows_get() : NULL;
	for (size_t i = 0; i < row_count; i++)
		write_row(out, &writing[i]);
	trace_rows_put(out);
	pthread_mutex_unlock(&one_writer);
}
