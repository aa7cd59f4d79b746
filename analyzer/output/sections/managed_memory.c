/* managed_memory.c - page faults and migrations of managed memory. */
#include "output/page.h"
#include "output/sections/why_empty.h"

static struct value place(struct row *row, uint32_t device, bool is_host)
{
	if (device == PROFILE_NONE)
		return is_host ? value_text("host") : value_none();
	snprintf(row->scratch.bytes, sizeof(row->scratch.bytes), "GPU %u", device);
	return value_text(row->scratch.bytes);
}

PREDICATE(has_bytes, struct managed_row, managed, managed_kind_has_bytes(managed->kind));
GETTER(get_kind, struct managed_row, managed, value_text(managed_kind_key(managed->kind)));
GETTER(get_source, struct managed_row, managed, place(row, managed->source, true));
GETTER(get_destination, struct managed_row, managed,
       place(row, managed->destination, managed_kind_is_move(managed->kind)));
GETTER(get_cause, struct managed_row, managed, value_text(managed_cause_name(managed->cause)));
GETTER(get_faults, struct managed_row, managed,
       managed->kind == MANAGED_CPU_FAULT || managed->kind == MANAGED_GPU_FAULTS
	       ? value_count(managed->value)
	       : value_none());

static const struct column columns[] = {COMPUTED("kind", get_kind),
					COMPUTED("source", get_source),
					COMPUTED("destination", get_destination),
					COMPUTED("cause", get_cause),
					FIELD(struct managed_row, count),
					COMPUTED("fault_count", get_faults),
					{FIELD_AS("bytes", struct managed_row, value),
					 .is_known = has_bytes},
					FIELD_ABOVE_ZERO(struct managed_row, time_ns),
					{0}};

ARRAY(row_at, managed_memory, rows, row_count);

GETTER(get_device, struct managed_device, device, value_count(row->index));

static const struct column device_columns[] = {COMPUTED("device", get_device),
					       FIELD(struct managed_device, kernel_ns),
					       FIELD(struct managed_device, faulting_ns),
					       {0}};

ARRAY(device_at, managed_memory, devices, device_count);

static const struct column object[] = {ROWS("devices", device_columns, device_at),
				       ROWS("kinds", columns, row_at),
				       {0}};

/* "moved host to GPU 0", "page faults on GPU 0" */
static struct value get_title(struct row *row, const void *from)
{
	const struct managed_row *managed = from;
	char *text = row->scratch.bytes, to[32] = "host", source[32] = "host";
	size_t size = sizeof(row->scratch.bytes);

	if (managed->source != PROFILE_NONE)
		snprintf(source, sizeof(source), "GPU %u", managed->source);
	if (managed->destination != PROFILE_NONE)
		snprintf(to, sizeof(to), "GPU %u", managed->destination);
	if (managed_kind_is_move(managed->kind))
		snprintf(text, size, "%s %s to %s", managed_kind_title(managed->kind), source, to);
	else if (managed->kind == MANAGED_GPU_FAULTS)
		snprintf(text, size, "%s %s", managed_kind_title(managed->kind), source);
	else
		snprintf(text, size, "%s", managed_kind_title(managed->kind));
	return value_text(text);
}

static void put_devices(struct page *page)
{
	const struct managed_memory *managed = page->report->managed_memory;

	for (size_t i = 0; i < managed->device_count; i++) {
		const struct managed_device *device = &managed->devices[i];

		if (device->faulting_ns)
			fprintf(page->out,
				"  GPU %zu: for %s of its kernels' %s page faults were served (%s)\n",
				i, format_ns((double)device->faulting_ns).text,
				format_ns((double)device->kernel_ns).text,
				format_percent((double)device->faulting_ns,
					       (double)device->kernel_ns)
					.text);
	}
}

static void print_managed_memory(struct page *page)
{
	static const struct text_column text_columns[] = {{"what", -30, .get = get_title},
							  {"cause", -15, .key = "cause"},
							  {"count", 9, .key = "count"},
							  {"bytes", 10, .key = "bytes"},
							  {"time", 10, .key = "time_ns"},
							  {0}};

	page_table(page, &section_managed_memory, "page faults, and what the driver moved",
		   text_columns);
	put_devices(page);
}

static struct sentence why_nothing_moved(const struct report *report)
{
	const char *problem = why_property(report, "managed_problem");

	if (problem)
		return why("page faults were asked for and could not be recorded: %s", problem);
	if (managed_memory_is_missing(report->profile))
		return why("the program uses managed memory, and when its pages moved was not "
			   "recorded: record with --managed");
	return why(why_property(report, "managed")
			   ? "no page of managed memory moved"
			   : "no use of managed memory is seen in what was recorded");
}

const struct section section_managed_memory = {.key = "managed_memory",
					       .title = "Managed memory",
					       .columns = columns,
					       .at = row_at,
					       .object = object,
					       .takes_order = true,
					       .print = print_managed_memory,
					       .why_empty = why_nothing_moved};
