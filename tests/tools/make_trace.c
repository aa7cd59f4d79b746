/*
 * make_trace.c - writes a synthetic recording: make_trace DIR KERNELS [SAMPLE_NS [DEVICES] | decisions]
 *
 * One process, one GPU, three streams, the given number of kernels with one
 * launch call each 3 us apart, now and then a copy and a wait, and an NVTX
 * range around every 1000 kernels.  With SAMPLE_NS there are samples of so many
 * nanoseconds that fit the kernels, but for a tenth of the time that was not
 * sampled, and one sample with more DRAM traffic than any other; further devices
 * have samples and no kernels.  With the word decisions so many operations of loops
 * instead, all in the legacy default stream: each iteration copies pageable memory in,
 * launches two kernels, reads 4 bytes back, waits for them, and every 100 iterations
 * other kernels are launched; so every piece of advice has something to re-simulate.
 * The same arguments give the same bytes.
 * Columns come from the schema, so what it writes is always a valid recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "roofline/sampled.h"
#include "roofline/trace_schema.h"

#define ORIGIN_NS INT64_C(1760000000000000000)
#define LAUNCH_PERIOD_NS 3000
#define THREAD 4242
#define SM_COUNT 132
#define MEMORY_BYTE_PER_NS 3350

/* ---- one append function per table, generated from the schema ---- */

static char *put_u64(char *to, uint64_t number)
{
	char digits[20];
	int count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		*to++ = digits[--count];
	return to;
}

static char *put_u32(char *to, uint32_t number)
{
	return put_u64(to, number);
}

static char *put_i64(char *to, int64_t number)
{
	return put_u64(to, (uint64_t)number); /* none is negative here */
}

static char *put_f64(char *to, double number)
{
	return to + sprintf(to, "%.17g", number);
}

static char *put_text(char *to, const char *text)
{
	*to++ = '"';
	for (; *text; text++) {
		if (*text == '"')
			*to++ = '"';
		*to++ = *text;
	}
	*to++ = '"';
	return to;
}

#define PUT_COLUMN(type, name, meaning) \
	to = put_##type(to, row->name); \
	*to++ = ',';
#define PUT_FUNCTION(table, columns)                                                           \
	__attribute__((unused)) static void put_##table(FILE *file,                            \
							const struct trace_##table##_row *row) \
	{                                                                                      \
		char line[4096], *to = line;                                                   \
		columns(PUT_COLUMN) to[-1] = '\n';                                             \
		fwrite(line, 1, (size_t)(to - line), file);                                    \
	}
TRACE_TABLES(PUT_FUNCTION)

#define HEADER_COLUMN(type, name, meaning) #name ","
#define HEADER_ROW(table, columns) columns(HEADER_COLUMN),
static const char *const headers[] = {TRACE_TABLES(HEADER_ROW)};

#define FILE_NAME(table, columns) #table ".csv",
static const char *const file_names[] = {TRACE_TABLES(FILE_NAME)};

/* ---- the recording ---- */

static FILE *files[TRACE_TABLE_COUNT];

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("make_trace: ", stderr);
	vfprintf(stderr, format, arguments);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(arguments);
	exit(1);
}

static void open_tables(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/host.4242", folder);
	if ((mkdir(folder, 0777) < 0 && errno != EEXIST) ||
	    (mkdir(path, 0777) < 0 && errno != EEXIST))
		die("%s", path);
	for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
		snprintf(path, sizeof(path), "%s/host.4242/%s", folder, file_names[table]);
		files[table] = fopen(path, "w");
		if (!files[table])
			die("%s", path);
		setvbuf(files[table], NULL, _IOFBF, 1 << 20);
		fprintf(files[table], "%.*s\n", (int)strlen(headers[table]) - 1, headers[table]);
	}
}

static void close_tables(void)
{
	for (int table = 0; table < TRACE_TABLE_COUNT; table++)
		if (ferror(files[table]) | fclose(files[table]))
			die("%s", file_names[table]);
}

enum { NAME_LAUNCH = 1, NAME_COPY, NAME_SYNC, NAME_FLUSH, NAME_RANGE, NAME_KERNEL };

static const char *const names[] = {
	[NAME_LAUNCH] = "cudaLaunchKernel_v7000",
	[NAME_COPY] = "cudaMemcpyAsync_v3020",
	[NAME_SYNC] = "cudaStreamSynchronize_v3020",
	[NAME_FLUSH] = "buffer flush",
	[NAME_RANGE] = "step",
	[NAME_KERNEL] = "_Z5saxpyfPKfPfi",
	[NAME_KERNEL + 1] = "_Z6reduceIfLi256EEvPKT_PS0_i",
	[NAME_KERNEL + 2] = "_ZN4gemm6kernelI6__halfEEvPKT_S4_PS2_iii",
	[NAME_KERNEL + 3] = "softmax",
};
#define KERNEL_NAMES 4
#define SIGNATURES 8

static void write_small_tables(uint32_t devices, bool has_samples)
{
	const struct trace_process_row facts[] = {
		{"schema", "1"},   {"collector", "synthetic"}, {"host", "host"},
		{"pid", "4242"},   {"command", "make_trace"},  {"start_ns", "1759999999000000000"},
		{"graphs", "node"}};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		put_process(files[TRACE_TABLE_process], &facts[i]);
	for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		put_names(files[TRACE_TABLE_names], &(struct trace_names_row){i, names[i]});
	for (uint32_t i = 0; i < devices; i++) {
		char uuid[64];

		snprintf(uuid, sizeof(uuid), "GPU-00000000-0000-0000-0000-%012u", i + 1);
		put_devices(files[TRACE_TABLE_devices],
			    &(struct trace_devices_row){
				    .device = i,
				    .name = "Synthetic GPU",
				    .uuid = uuid,
				    .compute_major = 9,
				    .sm_count = SM_COUNT,
				    .memory_bytes = UINT64_C(80) << 30,
				    .memory_byte_per_s =
					    has_samples ? MEMORY_BYTE_PER_NS * UINT64_C(1000000000)
							: 0,
				    .max_warps_per_sm = 64,
				    .max_blocks_per_sm = 32});
	}
	put_contexts(files[TRACE_TABLE_contexts],
		     &(struct trace_contexts_row){.context = 1, .null_stream = 7});
	for (uint32_t i = 0; i < SIGNATURES; i++)
		put_signatures(files[TRACE_TABLE_signatures],
			       &(struct trace_signatures_row){.id = i + 1,
							      .name = NAME_KERNEL +
								      i % KERNEL_NAMES,
							      .grid_x = 132 << i % 3,
							      .grid_y = 1,
							      .grid_z = 1,
							      .block_x = 256,
							      .block_y = 1,
							      .block_z = 1,
							      .registers_per_thread = 32 + i});
}

/* A small generator of its own: rand() differs between C libraries. */
static uint32_t random_below(uint32_t limit)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % limit;
}

/* What ran when, for the samples. */
struct activity {
	int64_t start_ns, end_ns;
	uint32_t signature; /* 0 for a copy */
};

static struct activity *activities;
static size_t activity_count, activity_room;

static void remember(int64_t start_ns, int64_t end_ns, uint32_t signature)
{
	if (activity_count == activity_room) {
		activity_room = 2 * activity_room + 1000;
		activities = realloc(activities, activity_room * sizeof(*activities));
		if (!activities)
			die("%zu operations", activity_room);
	}
	activities[activity_count++] = (struct activity){start_ns, end_ns, signature};
}

struct clock {
	int64_t host_ns, device_ns;
	uint32_t correlation;
};

static void write_call(const struct clock *clock, int64_t duration_ns, uint32_t name)
{
	put_api(files[TRACE_TABLE_api],
		&(struct trace_api_row){.start_ns = clock->host_ns,
					.end_ns = clock->host_ns + duration_ns,
					.name = name,
					.thread = THREAD,
					.correlation = clock->correlation});
}

static void write_launch(struct clock *clock, uint64_t number)
{
	uint32_t duration_ns = 1200 + random_below(1600);

	clock->correlation++;
	write_call(clock, 1500 + random_below(600), NAME_LAUNCH);
	if (clock->device_ns < clock->host_ns + 2000)
		clock->device_ns = clock->host_ns + 2000;
	put_kernels(files[TRACE_TABLE_kernels],
		    &(struct trace_kernels_row){.start_ns = clock->device_ns,
						.end_ns = clock->device_ns + duration_ns,
						.signature = 1 + (uint32_t)(number % SIGNATURES),
						.context = 1,
						.stream = 7 + (uint32_t)(number % 3) * 6,
						.correlation = clock->correlation});
	remember(clock->device_ns, clock->device_ns + duration_ns,
		 1 + (uint32_t)(number % SIGNATURES));
	clock->device_ns += duration_ns + 300;
	clock->host_ns += LAUNCH_PERIOD_NS;
}

/* The next operation in the legacy default stream, after the call that submits it. */
static int64_t start_next(struct clock *clock, int64_t busy_ns)
{
	int64_t start_ns = clock->host_ns + 5000;

	if (start_ns < clock->device_ns + 1000)
		start_ns = clock->device_ns + 1000;
	clock->device_ns = start_ns + busy_ns;
	clock->host_ns += LAUNCH_PERIOD_NS;
	return start_ns;
}

static void write_loop_copy(struct clock *clock, uint32_t kind, uint64_t bytes, int64_t busy_ns)
{
	int64_t start_ns;

	clock->correlation++;
	write_call(clock, 2500, NAME_COPY);
	start_ns = start_next(clock, busy_ns);
	put_copies(files[TRACE_TABLE_copies],
		   &(struct trace_copies_row){.start_ns = start_ns,
					      .end_ns = clock->device_ns,
					      .kind = kind,
					      .src_memory = kind == 1 ? 1 : 3,
					      .dst_memory = kind == 1 ? 3 : 2,
					      .bytes = bytes,
					      .is_async = 1,
					      .context = 1,
					      .stream = 7,
					      .correlation = clock->correlation,
					      .copy_count = 1});
}

static void write_loop_kernel(struct clock *clock, uint32_t signature)
{
	int64_t start_ns;

	clock->correlation++;
	write_call(clock, 2000, NAME_LAUNCH);
	start_ns = start_next(clock, 5000 + random_below(1000));
	put_kernels(files[TRACE_TABLE_kernels],
		    &(struct trace_kernels_row){.start_ns = start_ns,
						.end_ns = clock->device_ns,
						.signature = signature,
						.context = 1,
						.stream = 7,
						.correlation = clock->correlation});
}

static void write_copy(struct clock *clock)
{
	clock->correlation++;
	write_call(clock, 2500, NAME_COPY);
	clock->device_ns = clock->host_ns + 4000;
	put_copies(files[TRACE_TABLE_copies],
		   &(struct trace_copies_row){.start_ns = clock->device_ns,
					      .end_ns = clock->device_ns + 20000,
					      .kind = 2,
					      .src_memory = 3,
					      .dst_memory = 2,
					      .bytes = 1 << 20,
					      .is_async = 1,
					      .context = 1,
					      .stream = 7,
					      .correlation = clock->correlation,
					      .copy_count = 1});
	remember(clock->device_ns, clock->device_ns + 20000, 0);
	clock->device_ns += 20000;
	clock->host_ns += LAUNCH_PERIOD_NS;
}

/* The host waits for the device and then computes for a while: a gap. */
static void write_wait(struct clock *clock)
{
	int64_t end_ns = clock->device_ns + 3000;

	clock->correlation++;
	write_call(clock, end_ns - clock->host_ns, NAME_SYNC);
	put_syncs(files[TRACE_TABLE_syncs],
		  &(struct trace_syncs_row){.start_ns = clock->host_ns,
					    .end_ns = end_ns,
					    .kind = 3,
					    .context = 1,
					    .stream = 7,
					    .event = UINT32_MAX,
					    .correlation = clock->correlation});
	clock->host_ns = end_ns + 50000;
}

static void write_marker(const struct clock *clock, uint64_t step, uint32_t phase)
{
	put_markers(files[TRACE_TABLE_markers],
		    &(struct trace_markers_row){.time_ns = clock->host_ns,
						.id = (uint32_t)step + 1,
						.phase = phase,
						.is_thread = 1,
						.thread = THREAD,
						.name = phase == 1 ? NAME_RANGE : 0});
}

static void write_chain(struct clock *clock, uint64_t kernels)
{
	for (uint64_t i = 0; i < kernels; i++) {
		if (i % 1000 == 0)
			write_marker(clock, i / 1000, 1);
		write_launch(clock, i);
		if (i % 1000 != 999 && i + 1 != kernels)
			continue;
		write_copy(clock);
		write_wait(clock);
		write_marker(clock, i / 1000, 2);
	}
}

static void write_decisions(struct clock *clock, uint64_t operations)
{
	for (uint64_t i = 0; i < operations / 4; i++) {
		uint32_t kernel = 1 + i / 100 % (SIGNATURES - 1);

		write_loop_copy(clock, 1, 1 << 16, 12000);
		write_loop_kernel(clock, kernel);
		write_loop_kernel(clock, kernel + 1);
		write_loop_copy(clock, 2, 4, 1500);
		write_wait(clock);
	}
}

static int64_t write_events(void (*write)(struct clock *clock, uint64_t operations),
			    uint64_t operations)
{
	struct clock clock = {ORIGIN_NS, ORIGIN_NS, 100};
	char sealed[24];

	write(&clock, operations);
	snprintf(sealed, sizeof(sealed), "%" PRId64, clock.host_ns);
	put_process(files[TRACE_TABLE_process], &(struct trace_process_row){"sealed_ns", sealed});
	return clock.host_ns;
}

/* ---- samples ---- */

static const char *const sampled_roles[] = {
#define ROLE_NAME(role, set, meaning) #role,
	SAMPLED_ROLES(ROLE_NAME)
#undef ROLE_NAME
};

/* What an operation does to a sample that it overlaps for so long. */
static void add_activity(struct trace_samples_row *row, const struct activity *activity,
			 int64_t overlap_ns)
{
	uint32_t kernel = activity->signature % KERNEL_NAMES;
	uint64_t cycles = (uint64_t)overlap_ns * 2;

	row->pcie_read_bytes += (uint64_t)overlap_ns / 4;
	if (!activity->signature) {
		row->pcie_write_bytes += (uint64_t)overlap_ns * 50;
		return;
	}
	row->dispatches += activity->start_ns >= row->start_ns;
	row->blocks += activity->start_ns >= row->start_ns ? SM_COUNT : 0;
	row->compute_cycles += cycles;
	row->sm_cycles += cycles * SM_COUNT * (4 + activity->signature) / 12;
	row->sm_cycles_max += cycles;
	row->tensor_cycles += kernel == 3 ? cycles * SM_COUNT / 2 : 0;
	row->dram_read_bytes += (uint64_t)overlap_ns * (300 + 500 * kernel);
	row->dram_write_bytes += (uint64_t)overlap_ns * (100 + 200 * kernel);
	row->l2_sectors += (uint64_t)overlap_ns * 100;
	row->atomic_sectors += kernel == 2 ? (uint64_t)overlap_ns * 60 : 0;
}

/* Further devices: a ramp up and down, with traffic between the devices at its top. */
static void add_ramp(struct trace_samples_row *row, int64_t length_ns)
{
	uint64_t at = (uint64_t)(row->start_ns - ORIGIN_NS) * 8 / (uint64_t)(length_ns / 100 + 1);
	uint64_t percent = at / 100 % 2 ? 100 - at % 100 : at % 100;

	row->compute_cycles = percent ? row->front_cycles : 0;
	row->sm_cycles = row->sm_elapsed_cycles * SM_COUNT * percent / 100;
	row->sm_cycles_max = percent ? row->sm_elapsed_cycles : 0;
	row->dram_read_bytes = row->length_ns * 20 * percent;
	if (percent > 70) {
		row->nvlink_rx_bytes = row->length_ns * 4 * percent;
		row->nvlink_tx_bytes = row->length_ns * 2 * percent;
	}
}

static bool is_idle(const struct trace_samples_row *row)
{
	return !row->compute_cycles && !row->dram_read_bytes && !row->pcie_read_bytes &&
	       !row->pcie_write_bytes;
}

/* Idle samples in a row are one row. */
static void write_sample(struct trace_samples_row *kept, const struct trace_samples_row *row)
{
	bool goes_on = kept->start_ns + (int64_t)kept->length_ns == row->start_ns;

	if (kept->sample_count && goes_on && is_idle(kept) && is_idle(row)) {
		kept->length_ns += row->length_ns;
		kept->sample_count++;
		kept->front_cycles += row->front_cycles;
		kept->sm_elapsed_cycles += row->sm_elapsed_cycles;
		return;
	}
	if (kept->sample_count)
		put_samples(files[TRACE_TABLE_samples], kept);
	*kept = *row;
}

/* What ran during a sample; first: where the operations that matter begin, moved on. */
static void add_activities(struct trace_samples_row *row, size_t *first)
{
	int64_t end_ns = row->start_ns + (int64_t)row->length_ns;

	while (*first < activity_count && activities[*first].end_ns <= row->start_ns)
		(*first)++;
	for (size_t i = *first; i < activity_count && activities[i].start_ns < end_ns; i++) {
		const struct activity *at = &activities[i];
		int64_t from_ns = at->start_ns > row->start_ns ? at->start_ns : row->start_ns;
		int64_t to_ns = at->end_ns < end_ns ? at->end_ns : end_ns;

		if (to_ns > from_ns)
			add_activity(row, at, to_ns - from_ns);
	}
}

static void write_device_samples(uint32_t device, int64_t end_ns, int64_t sample_ns)
{
	int64_t count = (end_ns - ORIGIN_NS) / sample_ns;
	struct trace_samples_row kept = {0};
	size_t first = 0;

	for (int64_t i = 0; i < count; i++) {
		struct trace_samples_row row = {.start_ns = ORIGIN_NS + i * sample_ns,
						.length_ns = (uint64_t)sample_ns,
						.device = device,
						.sample_count = 1,
						.front_cycles = (uint64_t)sample_ns * 2,
						.sm_elapsed_cycles = (uint64_t)sample_ns * 2};

		if (i >= count * 6 / 10 && i < count * 7 / 10)
			continue;
		if (device)
			add_ramp(&row, end_ns - ORIGIN_NS);
		else
			add_activities(&row, &first);
		if (i == count / 3) {
			row.dram_read_bytes = (uint64_t)sample_ns * (MEMORY_BYTE_PER_NS - 50);
			row.dram_write_bytes = 0;
		}
		write_sample(&kept, &row);
	}
	if (kept.sample_count)
		put_samples(files[TRACE_TABLE_samples], &kept);
}

static void write_span(uint32_t device, int64_t start_ns, int64_t end_ns, int64_t sample_ns)
{
	put_sampled_spans(files[TRACE_TABLE_sampled_spans],
			  &(struct trace_sampled_spans_row){.device = device,
							    .start_ns = ORIGIN_NS + start_ns,
							    .end_ns = ORIGIN_NS + end_ns,
							    .interval_ns = (uint64_t)sample_ns});
}

static void write_samples(uint32_t devices, int64_t end_ns, int64_t sample_ns)
{
	int64_t count = (end_ns - ORIGIN_NS) / sample_ns;

	for (uint32_t device = 0; device < devices; device++) {
		for (size_t i = 0; i < sizeof(sampled_roles) / sizeof(sampled_roles[0]); i++)
			put_sampled_metrics(files[TRACE_TABLE_sampled_metrics],
					    &(struct trace_sampled_metrics_row){
						    device, sampled_roles[i],
						    device || strncmp(sampled_roles[i], "nvlink", 6)
							    ? "synthetic"
							    : ""});
		write_device_samples(device, end_ns, sample_ns);
		write_span(device, 0, count * 6 / 10 * sample_ns, sample_ns);
		write_span(device, count * 7 / 10 * sample_ns, count * sample_ns, sample_ns);
	}
}

/* A whole number of at least 1, or 0. */
static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	return *end || end == text ? 0 : number;
}

int main(int argc, char **argv)
{
	bool is_of_decisions = argc == 4 && !strcmp(argv[3], "decisions");
	uint64_t kernels = argc > 2 ? parse_number(argv[2]) : 0;
	int64_t sample_ns = argc > 3 && !is_of_decisions ? (int64_t)parse_number(argv[3]) : 0;
	uint32_t devices = argc > 4 ? (uint32_t)parse_number(argv[4]) : 1;
	int64_t end_ns;

	if (argc < 3 || argc > 5 || (!kernels && strcmp(argv[2], "0")) ||
	    (argc > 3 && !is_of_decisions && !sample_ns) || !devices) {
		fputs("Usage: make_trace DIR KERNELS [SAMPLE_NS [DEVICES] | decisions]\n", stderr);
		return 2;
	}
	open_tables(argv[1]);
	write_small_tables(devices, sample_ns > 0);
	end_ns = write_events(is_of_decisions ? write_decisions : write_chain, kernels);
	if (sample_ns)
		write_samples(devices, end_ns, sample_ns);
	close_tables();
	free(activities);
	return 0;
}
