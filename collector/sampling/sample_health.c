#include "sampling/sample_health.h"

#include "writer/trace_writer.h"

static void keep_larger(int64_t *kept, int64_t other)
{
	if (other > *kept)
		*kept = other;
}

void sample_health_note(struct sample_health *health, const struct sample_decoding *decoding)
{
	health->decode_count++;
	health->sample_count += decoding->sample_count;
	health->decoding_ns += (uint64_t)decoding->decode_ns;
	health->full_count += decoding->is_full;
	health->reserve_count += decoding->is_reserve;
	keep_larger(&health->gap_ns, decoding->gap_ns);
	keep_larger(&health->wait_ns, decoding->wait_ns);
	keep_larger(&health->decode_ns, decoding->decode_ns);
}

void sample_health_merge(struct sample_health *sum, const struct sample_health *other)
{
	if (other->buffer_bytes > sum->buffer_bytes)
		sum->buffer_bytes = other->buffer_bytes;
	if (other->image_samples > sum->image_samples)
		sum->image_samples = other->image_samples;
	keep_larger(&sum->interval_ns, other->interval_ns);
	sum->decode_count += other->decode_count;
	sum->sample_count += other->sample_count;
	sum->decoding_ns += other->decoding_ns;
	sum->full_count += other->full_count;
	sum->reserve_count += other->reserve_count;
	keep_larger(&sum->gap_ns, other->gap_ns);
	keep_larger(&sum->wait_ns, other->wait_ns);
	keep_larger(&sum->decode_ns, other->decode_ns);
}

static uint64_t mean_decode_ns(const struct sample_health *health)
{
	return health->sample_count ? health->decoding_ns / health->sample_count : 0;
}

void sample_health_write(const struct sample_health *health)
{
	const struct {
		const char *key;
		long long value;
	} properties[] = {
		{"sample_used_ns", health->interval_ns},
		{"sample_decode_ns", (long long)mean_decode_ns(health)},
		{"sample_buffer_bytes", (long long)health->buffer_bytes},
		{"sample_image_samples", (long long)health->image_samples},
		{"sample_decodes", (long long)health->decode_count},
		{"sample_reserve_decodes", (long long)health->reserve_count},
		{"sample_full_images", (long long)health->full_count},
		{"sample_decode_gap_max_ns", health->gap_ns},
		{"sample_image_wait_max_ns", health->wait_ns},
		{"sample_decode_max_ns", health->decode_ns},
	};
	struct trace_rows *rows;

	if (!health->decode_count)
		return;
	rows = trace_rows_get();
	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++)
		trace_property_format(rows, properties[i].key, "%lld", properties[i].value);
	trace_rows_put(rows);
}
