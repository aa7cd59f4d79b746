/* json_scale.c - what several GPUs would bring, for programs.  Keys are stable: see OUTPUT_SCHEMA. */
#include "output/csv.h"
#include "output/json.h"
#include "output/scale.h"

static const struct column gain_columns[] = {{FIELD_AS("step_ns", struct data_parallel_gain,
						       iteration_ns)},
					     FIELD(struct data_parallel_gain, speedup),
					     FIELD(struct data_parallel_gain, low),
					     FIELD(struct data_parallel_gain, high),
					     {0}};

static const char *source_name(enum reduce_source source)
{
	static const char *const names[] = {[REDUCE_UNKNOWN] = NULL,
					    [REDUCE_MEASURED] = "measured",
					    [REDUCE_FORMULA] = "bus bandwidth",
					    [REDUCE_RATE] = "copies"};

	return names[source];
}

GETTER(get_samples, struct data_parallel_row, row_of,
       value_text(row_of->is_weak ? "kept" : "divided"));
GETTER(get_source, struct data_parallel_row, row_of, value_text(source_name(row_of->source)));

static const struct column row_columns[] = {
	FIELD(struct data_parallel_row, gpus),
	COMPUTED("samples", get_samples),
	FIELD(struct data_parallel_row, linear),
	{FIELD_AS("all_reduce_ns", struct data_parallel_row, reduce_ns)},
	COMPUTED("all_reduce_from", get_source),
	GROUP("in_turn", NULL, struct data_parallel_row, in_turn, gain_columns),
	GROUP("overlapped", NULL, struct data_parallel_row, overlapped, gain_columns),
	{0}};

static const void *row_at(const struct row *parent, size_t index)
{
	const struct data_parallel *found = parent->item;

	return index < found->row_count ? &found->rows[index] : NULL;
}

static bool kept_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct data_parallel *found = row->item;

	(void)from;
	if (index >= found->kept_count)
		return false;
	entry->value = value_text(found->kept[index]);
	return true;
}

FINDER(profile_of, struct data_parallel, found, found->profile);
GETTER(get_gpu, struct data_parallel, found,
       value_text(found->profile->devices[found->device].name));
GETTER(get_device, struct data_parallel, found, value_count(found->device));

static const struct column profile_columns[] = {{FIELD_AS("recording", struct profile, path)}, {0}};

static const struct column columns[] = {
	INLINE_FOUND(profile_of, profile_columns),
	COMPUTED("device", get_device),
	COMPUTED("gpu", get_gpu),
	{FIELD_AS("step_ns", struct data_parallel, iteration_ns)},
	{FIELD_AS("step_count", struct data_parallel, iteration_count)},
	{FIELD_AS("is_step_by_kernels", struct data_parallel, ends_with_kept)},
	{FIELD_AS("gradient_bytes", struct data_parallel, bytes)},
	FIELD(struct data_parallel, parts),
	{FIELD_AS("all_reduce_measured_of", struct data_parallel, measured_gpus),
	 .known = KNOWN_ABOVE_ZERO},
	{FIELD_AS("divided_kernel_ns", struct data_parallel, divided_ns)},
	{FIELD_AS("kept_kernel_ns", struct data_parallel, kept_ns)},
	LIST("kept_kernels", kept_at),
	ROWS("rows", row_columns, row_at),
	{0}};

int scale_write_json(const struct data_parallel *found, FILE *out,
		     const struct output_options *options, struct err *err)
{
	(void)options;
	return json_write(columns, found, out, "the prediction", err);
}

/* Each number of GPUs; what they have in common is in JSON. */
int scale_write_csv(const struct data_parallel *found, FILE *out,
		    const struct output_options *options, struct err *err)
{
	(void)options;
	return csv_table_write(row_columns, row_at, found, out, "the prediction", err);
}
