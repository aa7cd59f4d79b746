/* streams.c - how long each stream was busy. */
#include "output/page.h"

FINDER(stream_of, struct stream_statistics, stream, &row->report->profile->streams[stream->stream]);
GETTER(get_process, struct profile_stream, stream,
       value_text(row->report->profile->processes[stream->process].folder));

/* CUDA's priorities are negative numbers, too. */
GETTER(get_priority, struct profile_stream, stream, value_integer((int32_t)stream->priority));

static const struct column stream_columns[] = {COMPUTED("process", get_process),
					       FIELD(struct profile_stream, device),
					       FIELD(struct profile_stream, context),
					       FIELD(struct profile_stream, stream),
					       COMPUTED("priority", get_priority),
					       FIELD(struct profile_stream, is_null),
					       {0}};

static const struct column columns[] = {INLINE_FOUND(stream_of, stream_columns),
					{FIELD_AS("operation_count", struct stream_statistics,
						  op_count)},
					FIELD(struct stream_statistics, busy_ns),
					INLINE(struct stream_statistics, split, split_time_columns),
					{0}};

ARRAY(stream_at, statistics, streams, stream_count);

/* "GPU 0 stream 7 (null)" */
static struct value get_title(struct row *row, const void *from)
{
	const struct profile_stream *stream = stream_of(row, from);

	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "GPU %u stream %u%s",
		 stream->device, stream->stream, stream->is_null ? " (null)" : "");
	return value_text(row->scratch.bytes);
}

static struct value get_priority_text(struct row *row, const void *from)
{
	const struct profile_stream *stream = stream_of(row, from);

	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "%d", (int)stream->priority);
	return value_text(row->scratch.bytes);
}

static void print_streams(struct page *page)
{
	static const struct text_column text_columns[] = {{"stream", -23, .get = get_title},
							  {"priority", 8, .get = get_priority_text},
							  {"busy", 9, .key = "busy_ns"},
							  {"operations", 11,
							   .key = "operation_count"},
							  {0}};

	if (page->report->statistics->stream_count < 2 &&
	    !section_is_asked(&section_streams, page->options))
		return; /* one stream is what the device's lines tell already */
	page_table(page, &section_streams, NULL, text_columns);
}

const struct section section_streams = {.key = "streams",
					.needs = {TABLES_STEADY, NEED_statistics},
					.title = "Streams",
					.columns = columns,
					.at = stream_at,
					.takes_order = true,
					.print = print_streams,
					.empty = "no operation was recorded"};
