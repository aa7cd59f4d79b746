/*
 * make_trace.c - writes a synthetic recording: make_trace DIR KERNELS
 *
 * One process, one GPU, three streams, the given number of kernels with one
 * launch call each 3 us apart, now and then a copy and a wait, and an NVTX
 * range around every 1000 kernels.  The same arguments give the same bytes.
 * Columns come from the schema, so what it writes is always a valid recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "roofline/trace_schema.h"

#define ORIGIN_NS INT64_C(1760000000000000000)
#define LAUNCH_PERIOD_NS 3000
#define THREAD 4242

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

static void write_small_tables(void)
{
	const struct trace_process_row facts[] = {
		{"schema", "1"},   {"collector", "synthetic"}, {"host", "host"},
		{"pid", "4242"},   {"command", "make_trace"},  {"start_ns", "1759999999000000000"},
		{"graphs", "node"}};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		put_process(files[TRACE_TABLE_process], &facts[i]);
	for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		put_names(files[TRACE_TABLE_names], &(struct trace_names_row){i, names[i]});
	put_devices(files[TRACE_TABLE_devices],
		    &(struct trace_devices_row){.name = "Synthetic GPU",
						.uuid = "GPU-00000000-0000-0000-0000-000000000001",
						.compute_major = 9,
						.sm_count = 132,
						.memory_bytes = UINT64_C(80) << 30,
						.max_warps_per_sm = 64,
						.max_blocks_per_sm = 32});
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
	clock->device_ns += duration_ns + 300;
	clock->host_ns += LAUNCH_PERIOD_NS;
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

static void write_events(uint64_t kernels)
{
	struct clock clock = {ORIGIN_NS, ORIGIN_NS, 100};
	char sealed[24];

	for (uint64_t i = 0; i < kernels; i++) {
		if (i % 1000 == 0)
			write_marker(&clock, i / 1000, 1);
		write_launch(&clock, i);
		if (i % 1000 != 999 && i + 1 != kernels)
			continue;
		write_copy(&clock);
		write_wait(&clock);
		write_marker(&clock, i / 1000, 2);
	}
	snprintf(sealed, sizeof(sealed), "%" PRId64, clock.host_ns);
	put_process(files[TRACE_TABLE_process], &(struct trace_process_row){"sealed_ns", sealed});
}

int main(int argc, char **argv)
{
	char *end = NULL;
	uint64_t kernels = argc == 3 ? strtoull(argv[2], &end, 10) : 0;

	if (argc != 3 || !end || *end || end == argv[2]) {
		fputs("Usage: make_trace DIR KERNELS\n", stderr);
		return 2;
	}
	open_tables(argv[1]);
	write_small_tables();
	write_events(kernels);
	close_tables();
	return 0;
}
