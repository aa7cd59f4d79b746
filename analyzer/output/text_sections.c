/* text_sections.c - one function per section of the text report; empty ones print nothing. */
#include "output/page.h"

#include "analysis/counters/occupancy.h"
#include "output/check_command.h"
#include "base/sums.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- what ran on what ---- */

static void put_versions(struct page *page, const struct profile_process *process)
{
	const char *driver = profile_property(process, "driver", "");
	const char *driver_name = profile_property(process, "driver_name", "");
	const char *cupti = profile_property(process, "cupti", "");
	const char *collector = profile_property(process, "collector", "");
	char text[256] = "";

	if (*driver)
		snprintf(text, sizeof(text), "CUDA %s ",
			 format_cuda_version(strtoull(driver, NULL, 10)).text);
	if (*driver_name)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "driver %s ",
			 driver_name);
	if (*cupti)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "CUPTI %s ", cupti);
	if (*collector)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "collector %s",
			 collector);
	if (*text)
		page_wrap(page, "            ", text, 12);
}

static void put_process(struct page *page, const struct profile_process *process)
{
	char command[512], text[640];

	format_text(command, sizeof(command), *process->command ? process->command : "(unknown)",
		    page->options->wide ? sizeof(command) : 3 * PAGE_WIDTH);
	if (process->rank >= 0)
		snprintf(text, sizeof(text), "%s on %s, rank %" PRId64 ": %s", process->folder,
			 process->host, process->rank, command);
	else
		snprintf(text, sizeof(text), "%s on %s: %s", process->folder,
			 *process->host ? process->host : "an unknown host", command);
	page_wrap(page, "  process   ", text, 12);
	put_versions(page, process);
	if (!process->sealed_ns)
		page_wrap(
			page, "  cut off   ",
			"the recording did not end properly: what happened in the last moments may "
			"be missing",
			12);
	if (process->is_filtered)
		page_wrap(
			page, "  filtered  ",
			"only a part was recorded, as asked: idle time includes what was left out",
			12);
}

/* A program that was recorded twice: the lines above are of its first run. */
static void put_second_run(struct page *page)
{
	const struct graph_join *join = page->report->graph_join;
	char text[sizeof(join->difference) + 64];

	if (!join)
		return;
	if (join->difference[0])
		snprintf(text, sizeof(text), "the runs differed: %s. This is the first run",
			 join->difference);
	else
		snprintf(text, sizeof(text),
			 "the second one, for whole graphs, launched the same: joined");
	page_wrap(page, "  two runs  ", text, 12);
}

void page_section_processes(struct page *page)
{
	const struct profile *profile = page->report->profile;
	size_t rows = page_rows(page, profile->process_count, PAGE_TOP);

	page_list_title(page, "Recording", profile->path, rows, profile->process_count);
	for (size_t i = 0; i < rows; i++)
		put_process(page, &profile->processes[i]);
	put_second_run(page);
}

/* ---- devices ---- */

static void put_share(struct page *page, const char *label, int64_t part_ns, int64_t wall_ns)
{
	fprintf(page->out, "  %-24s %9s %7s", label, format_ns((double)part_ns).text,
		format_percent((double)part_ns, (double)wall_ns).text);
	page_bar(page, part_ns, wall_ns, PAGE_WIDTH - 46);
}

/* Parts of the busy time: where there is one kind only, the line above says it all. */
static void put_kinds(struct page *page, const struct timeline_device *times)
{
	if (times->kernel_ns && (times->kernel_ns < times->busy_ns || times->kernel_shared_ns))
		put_share(page, "  kernels", times->kernel_ns, times->wall_ns);
	if (times->kernel_shared_ns)
		put_share(page, "    side by side", times->kernel_shared_ns, times->wall_ns);
	if (times->copy_ns)
		put_share(page, "  copies", times->copy_ns, times->wall_ns);
	if (times->copy_overlapped_ns) {
		char label[64];

		snprintf(label, sizeof(label), "    %s behind kernels",
			 format_percent((double)times->copy_overlapped_ns, (double)times->copy_ns)
				 .text);
		put_share(page, label, times->copy_overlapped_ns, times->wall_ns);
	}
	if (times->memset_ns)
		put_share(page, "  memsets", times->memset_ns, times->wall_ns);
}

/* Time that counts as busy: kernels ran, and SMs had nothing to do. */
static void put_inside_kernels(struct page *page, size_t index)
{
	const struct report *report = page->report;
	int64_t wall_ns = report->timeline->devices[index].wall_ns;
	int64_t tail_ns = report->sm_activity->devices[index].kernel_tail_ns;
	int64_t wait_ns = report->collectives->devices[index].wait_ns;

	if (!tail_ns && !wait_ns)
		return;
	fprintf(page->out, "  %-24s %9s %7s  %s\n", "inside kernels", "", "",
		"busy, and SMs waited");
	if (tail_ns)
		put_share(page, "  tails", tail_ns, wall_ns);
	if (wait_ns)
		put_share(page, "  collective wait", wait_ns, wall_ns);
}

static void put_device(struct page *page, size_t index)
{
	const struct profile_device *device = &page->report->profile->devices[index];
	const struct timeline_device *times = &page->report->timeline->devices[index];
	const struct gap_device *gaps = &page->report->gaps->devices[index];
	char title[256], note[128] = "";

	snprintf(title, sizeof(title), "GPU %zu  %s", index, device->name);
	if (device->sm_count)
		snprintf(note, sizeof(note), "compute capability %u.%u, %u SMs",
			 device->compute_major, device->compute_minor, device->sm_count);
	page_title(page, title, note);
	if (!device->op_count) {
		fputs("  no work recorded\n", page->out);
		return;
	}
	fprintf(page->out, "  %-24s %9s %7s  %s\n", "wall", format_ns((double)times->wall_ns).text,
		"", "first operation to the last's end");
	put_share(page, "busy", times->busy_ns, times->wall_ns);
	put_kinds(page, times);
	put_share(page, "idle", times->idle_ns, times->wall_ns);
	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
		char label[64];

		snprintf(label, sizeof(label), "  %s", gap_cause_title(cause));
		if (gaps->by_cause_ns[cause])
			put_share(page, label, gaps->by_cause_ns[cause], times->wall_ns);
	}
	put_inside_kernels(page, index);
}

void page_section_devices(struct page *page)
{
	for (size_t i = 0; i < page->report->profile->device_count; i++)
		put_device(page, i);
}

/* ---- kernels ---- */

/* "4096" or "64x64" or "8x8x8" */
static void put_dimensions(char *buffer, size_t size, const uint32_t dimensions[3])
{
	if (dimensions[2] > 1)
		snprintf(buffer, size, "%ux%ux%u", dimensions[0], dimensions[1], dimensions[2]);
	else if (dimensions[1] > 1)
		snprintf(buffer, size, "%ux%u", dimensions[0], dimensions[1]);
	else
		snprintf(buffer, size, "%u", dimensions[0]);
}

/* How often the blocks that fit on the device at once follow each other; nothing when that is unknown. */
static int put_waves(const struct profile_device *device, const struct profile_signature *launch,
		     char *buffer, size_t size)
{
	struct occupancy occupancy;

	if (!occupancy_of(&occupancy, device, launch))
		return 0;
	if (occupancy.waves < 0.01)
		return snprintf(buffer, size, ", <0.01 waves");
	return snprintf(buffer, size, ", %.*f waves", occupancy.waves < 9.95 ? 2 : 0,
			occupancy.waves);
}

static void describe_shape(const struct page *page, const struct kernel_statistics *kernel,
			   char *buffer, size_t size)
{
	const struct profile_signature *signature =
		&page->report->profile->signatures[kernel->signature];
	uint64_t shared_bytes =
		(uint64_t)signature->static_shared_bytes + signature->dynamic_shared_bytes;
	char grid[40], block[40];
	int used;

	put_dimensions(grid, sizeof(grid), signature->grid);
	put_dimensions(block, sizeof(block), signature->block);
	used = snprintf(buffer, size, "grid %s block %s, %u regs", grid, block,
			signature->registers_per_thread);
	if (shared_bytes)
		used += snprintf(buffer + used, size - (size_t)used, ", %s shared",
				 format_bytes((double)shared_bytes).text);
	if (signature->local_bytes_per_thread)
		used += snprintf(buffer + used, size - (size_t)used, ", %s local",
				 format_bytes(signature->local_bytes_per_thread).text);
	used += put_waves(&page->report->profile->devices[kernel->device], signature, buffer + used,
			  size - (size_t)used);
	if (kernel->signature_count > 1)
		snprintf(buffer + used, size - (size_t)used, ", +%u shapes",
			 kernel->signature_count - 1);
}

static int64_t total_kernel_ns(const struct statistics *statistics)
{
	int64_t total_ns = 0;

	for (size_t i = 0; i < statistics->kernel_count; i++)
		sum_add_ns(&total_ns, statistics->kernels[i].time.total_ns);
	return total_ns;
}

static void put_kernel(struct page *page, const struct kernel_statistics *kernel, int64_t all_ns)
{
	const struct distribution *time = &kernel->time;
	char shape[256];

	describe_shape(page, kernel, shape, sizeof(shape));
	fputs("  ", page->out);
	if (page->options->wide || strlen(shape) > PAGE_WIDTH - 34) {
		page_kernel(page, kernel->name, PAGE_WIDTH - 2);
		fprintf(page->out, "\n%*s\n", PAGE_WIDTH, shape);
	} else {
		page_kernel(page, kernel->name, PAGE_WIDTH - 4 - strlen(shape));
		fprintf(page->out, "  %s\n", shape);
	}
	fprintf(page->out, "  %9s %6s %11s %9s %9s %9s %9s %9s\n",
		format_ns((double)time->total_ns).text,
		format_percent((double)time->total_ns, (double)all_ns).text,
		format_count(time->count).text, format_ns(time->mean_ns).text,
		format_ns((double)time->p50_ns).text, format_ns((double)time->p99_ns).text,
		format_ns((double)time->min_ns).text, format_ns((double)time->max_ns).text);
}

/* Reading counters takes time around a launch, which must not look like the program's own. */
static void put_counted(struct page *page)
{
	const struct profile *profile = page->report->profile;
	uint64_t count = 0;
	char text[160];

	for (size_t i = 0; i < profile->op_count; i++)
		count += profile->ops[i].counted != NOT_COUNTED;
	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "counters were read at %s launch%s: the waits beside them are profiler overhead",
		 format_count(count).text, count == 1 ? "" : "es");
	page_wrap(page, "  ", text, 2);
}

void page_section_kernels(struct page *page)
{
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->kernel_count, PAGE_TOP);
	int64_t all_ns = total_kernel_ns(statistics);

	if (!rows)
		return;
	page_list_title(page, "Kernels", "% of all kernels' time", rows, statistics->kernel_count);
	page_heads(page, "       time      %       count      mean    median       p99       min "
			 "      max");
	for (size_t i = 0; i < rows; i++)
		put_kernel(page, &statistics->kernels[i], all_ns);
	put_counted(page);
}

/* ---- graphs ---- */

static void put_graph(struct page *page, const struct graph_statistics *graph)
{
	const struct distribution *time = &graph->time;
	char name[64];

	if (page->report->profile->process_count > 1)
		snprintf(name, sizeof(name), "%u of %s", graph->graph,
			 page->report->profile->processes[graph->process].folder);
	else
		snprintf(name, sizeof(name), "%u", graph->graph);
	fputs("  ", page->out);
	page_text(page, name, 11);
	fprintf(page->out, " %9s %9s %7s %9s %9s %9s %7s\n", format_ns((double)time->total_ns).text,
		format_count(graph->launch_count).text,
		graph->node_count ? format_count(graph->node_count).text : "-",
		format_ns(time->mean_ns).text, format_ns((double)time->p50_ns).text,
		format_ns((double)time->p99_ns).text,
		graph->is_device_launched ? "device" : "host");
}

void page_section_graphs(struct page *page)
{
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->graph_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "CUDA graphs", "time from the first node's start to the last's end",
			rows, statistics->graph_count);
	page_heads(
		page,
		"  graph            time  launches   nodes      mean    median       p99    from");
	for (size_t i = 0; i < rows; i++)
		put_graph(page, &statistics->graphs[i]);
}

/* ---- copies and memsets ---- */

void page_section_copies(struct page *page)
{
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->copy_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "Copies", NULL, rows, statistics->copy_count);
	page_heads(page, "  what memory             call       time    count      mean     bytes "
			 "     rate");
	for (size_t i = 0; i < rows; i++) {
		const struct copy_statistics *copy = &statistics->copies[i];
		char memory[64];

		snprintf(memory, sizeof(memory), "%s to %s",
			 profile_memory_kind_name(copy->src_memory),
			 profile_memory_kind_name(copy->dst_memory));
		fprintf(page->out, "  %-4s %-18s %-5s %9s %8s %9s %9s %9s\n",
			profile_copy_kind_name(copy->kind), memory,
			copy->is_async ? "async" : "sync",
			format_ns((double)copy->time.total_ns).text,
			format_count(copy->time.count).text, format_ns(copy->time.mean_ns).text,
			format_bytes((double)copy->bytes).text, format_rate(copy->byte_per_s).text);
	}
}

void page_section_memsets(struct page *page)
{
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->memset_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "Memsets", NULL, rows, statistics->memset_count);
	page_heads(page, "  memory                         time       count      mean     bytes");
	for (size_t i = 0; i < rows; i++) {
		const struct memset_statistics *memset = &statistics->memsets[i];

		fprintf(page->out, "  %-25s %9s %11s %9s %9s\n",
			profile_memory_kind_name(memset->memory),
			format_ns((double)memset->time.total_ns).text,
			format_count(memset->time.count).text, format_ns(memset->time.mean_ns).text,
			format_bytes((double)memset->bytes).text);
	}
}

/* ---- host ---- */

static bool has_failed_calls(const struct statistics *statistics)
{
	for (size_t i = 0; i < statistics->call_count; i++)
		if (statistics->calls[i].failed_count)
			return true;
	return false;
}

void page_section_api(struct page *page)
{
	const struct profile *profile = page->report->profile;
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->call_count, PAGE_TOP);
	bool failed = has_failed_calls(statistics);

	if (!rows)
		return;
	page_list_title(page, "API calls", NULL, rows, statistics->call_count);
	page_heads(page, failed ? "  call                              time     count      mean"
				  "       max    failed"
				: "  call                              time     count      mean"
				  "       p99       max");
	for (size_t i = 0; i < rows; i++) {
		const struct call_statistics *call = &statistics->calls[i];

		fputs("  ", page->out);
		page_text(page, profile->call_names[call->name].text, 28);
		fprintf(page->out, " %9s %9s %9s", format_ns((double)call->time.total_ns).text,
			format_count(call->time.count).text, format_ns(call->time.mean_ns).text);
		if (!failed)
			fprintf(page->out, " %9s", format_ns((double)call->time.p99_ns).text);
		fprintf(page->out, " %9s", format_ns((double)call->time.max_ns).text);
		if (failed)
			fprintf(page->out, " %9s", format_count(call->failed_count).text);
		fputc('\n', page->out);
	}
}

void page_section_ranges(struct page *page)
{
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->range_count, PAGE_TOP);

	if (!rows)
		return;
	page_list_title(page, "NVTX ranges", "GPU columns: work launched inside", rows,
			statistics->range_count);
	page_heads(page, "  range                         time       count      mean    GPU ops "
			 " GPU time");
	for (size_t i = 0; i < rows; i++) {
		const struct range_statistics *range = &statistics->ranges[i];
		char name[1024];

		snprintf(name, sizeof(name), "%s%s%s%s", range->domain, *range->domain ? ": " : "",
			 range->name, range->open_count ? " (open)" : "");
		fputs("  ", page->out);
		page_text(page, name, 23);
		fprintf(page->out, " %9s %11s %9s %10s %9s\n",
			format_ns((double)range->time.total_ns).text,
			format_count(range->time.count).text, format_ns(range->time.mean_ns).text,
			format_count(range->op_count).text, format_ns((double)range->gpu_ns).text);
	}
}

/* ---- gaps ---- */

/* The largest share that was not told yet, or -1 when less than one percent is left. */
static int largest_untold(const struct gap *gap, const bool *is_told)
{
	int64_t largest_ns = (gap->end_ns - gap->start_ns) / 100;
	int largest = -1;

	for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++) {
		if (is_told[cause] || gap->by_cause_ns[cause] <= largest_ns)
			continue;
		largest_ns = gap->by_cause_ns[cause];
		largest = cause;
	}
	return largest;
}

/* "host compute 80%, launch 20%", the largest share first. */
static void describe_causes(const struct gap *gap, char *buffer, size_t size)
{
	double length_ns = (double)(gap->end_ns - gap->start_ns);
	bool is_told[GAP_CAUSE_COUNT] = {false};
	size_t used = 0;
	int cause;

	buffer[0] = '\0';
	while (used < size && (cause = largest_untold(gap, is_told)) >= 0) {
		used += (size_t)snprintf(buffer + used, size - used, "%s%s %.0f%%",
					 used ? ", " : "", gap_cause_title(cause),
					 100 * (double)gap->by_cause_ns[cause] / length_ns);
		is_told[cause] = true;
	}
}

static int64_t first_moment(const struct report *report)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < report->profile->device_count; i++)
		if (report->profile->devices[i].op_count &&
		    report->timeline->devices[i].first_ns < first_ns)
			first_ns = report->timeline->devices[i].first_ns;
	return first_ns;
}

/* Names of templates grow to thousands of characters; --wide shows them in full. */
#define GAP_NAME_SIZE 16384

static void put_gap(struct page *page, const struct gap *gap, int64_t first_ns)
{
	const struct profile *profile = page->report->profile;
	char label[160], gpu[32] = "", causes[256], before[GAP_NAME_SIZE], after[GAP_NAME_SIZE];

	if (profile->device_count > 1)
		snprintf(gpu, sizeof(gpu), " on GPU %u", profile->ops[gap->after].device);
	describe_causes(gap, causes, sizeof(causes));
	page_describe_op(page, &profile->ops[gap->before], before, sizeof(before), 60);
	page_describe_op(page, &profile->ops[gap->after], after, sizeof(after), 60);
	snprintf(label, sizeof(label),
		 "  %9s  at %s%s: ", format_ns((double)(gap->end_ns - gap->start_ns)).text,
		 format_ns((double)(gap->start_ns - first_ns)).text, gpu);
	page_wrap(page, label, causes, 13);
	fprintf(page->out, "             after  %s\n             before %s\n", before, after);
}

void page_section_gaps(struct page *page)
{
	const struct gap_analysis *gaps = page->report->gaps;
	/* three lines each: half as many as elsewhere */
	size_t rows = page_rows(page, gaps->longest_count, PAGE_TOP / 2);
	uint64_t count = 0;

	if (!rows)
		return;
	for (size_t i = 0; i < gaps->device_count; i++)
		count += gaps->devices[i].gap_count;
	page_list_title(page, "Longest gaps", "counted from the first operation", rows, count);
	for (size_t i = 0; i < rows; i++)
		put_gap(page, &gaps->longest[i], first_moment(page->report));
}

/* ---- concurrency ---- */

static void put_concurrency(struct page *page, size_t index)
{
	const struct timeline_device *times = &page->report->timeline->devices[index];
	char label[64], gpu[32] = "";

	if (page->report->profile->device_count > 1)
		snprintf(gpu, sizeof(gpu), "GPU %zu: ", index);
	for (size_t i = 1; i <= TIMELINE_MAX_CONCURRENCY; i++) {
		snprintf(label, sizeof(label), "%s%zu%s operation%s", gpu, i,
			 i == TIMELINE_MAX_CONCURRENCY ? "+" : "", i == 1 ? "" : "s");
		if (times->concurrency_ns[i])
			put_share(page, label, times->concurrency_ns[i], times->wall_ns);
	}
}

/* Whether two operations ever ran at once on the device. */
static bool is_concurrent(const struct timeline_device *times)
{
	return times->busy_ns > times->concurrency_ns[1];
}

void page_section_concurrency(struct page *page)
{
	const struct timeline *timeline = page->report->timeline;
	bool any = false;

	for (size_t i = 0; i < timeline->device_count; i++)
		any |= is_concurrent(&timeline->devices[i]);
	if (!any)
		return;
	page_title(page, "Concurrency", "how long that many ran at once, of wall time");
	for (size_t i = 0; i < timeline->device_count; i++)
		put_concurrency(page, i);
}

void page_section_streams(struct page *page)
{
	const struct profile *profile = page->report->profile;
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->stream_count, PAGE_TOP);

	if (statistics->stream_count < 2 && page->options->section < 0)
		return; /* one stream is what the device's lines tell already */
	page_list_title(page, "Streams", NULL, rows, statistics->stream_count);
	page_heads(page, "  stream                        busy  operations");
	for (size_t i = 0; i < rows; i++) {
		const struct stream_statistics *stream = &statistics->streams[i];
		const struct profile_stream *who = &profile->streams[stream->stream];
		char name[128];

		snprintf(name, sizeof(name), "GPU %u stream %u%s", who->device, who->stream,
			 who->is_null ? " (null)" : "");
		fputs("  ", page->out);
		page_text(page, name, 23);
		fprintf(page->out, " %9s %11s\n", format_ns((double)stream->busy_ns).text,
			format_count(stream->op_count).text);
	}
}

/* ---- advice, losses, limits ---- */

static void put_pattern(struct page *page, const char *pattern)
{
	while (*pattern) {
		size_t length = strcspn(pattern, "\n");

		fprintf(page->out, "        %.*s\n", (int)length, pattern);
		pattern += length + (pattern[length] == '\n');
	}
}

static void put_predicted(struct page *page, const char *what,
			  const struct predicted_speedup *predicted)
{
	char text[128];

	if (predicted->speedup <= 0)
		return;
	snprintf(text, sizeof(text), "%s%.2fx (%.2fx to %.2fx)", what, predicted->speedup,
		 predicted->low, predicted->high);
	page_wrap(page, "      - ", text, 8);
}

/* On a line of its own, however long, so that it can be copied. */
static void put_check_command(struct page *page, const struct recommendation *item)
{
	char *command = check_command(page->report, item, page->options->range);
	char text[PATH_MAX + 1024] = "";

	if (command)
		format_text(text, sizeof(text), command, sizeof(text) / 4 - 1);
	fprintf(page->out, "      check it: %s\n", text);
	free(command);
}

/* Nothing where a mistake was found that costs no time that anybody could tell. */
static void put_stake(struct page *page, const struct recommendation *item)
{
	char stake[128];

	snprintf(stake, sizeof(stake), "at stake: at most %s, %.1f%% of wall time",
		 format_ns((double)item->at_stake_ns).text, 100 * item->at_stake_ratio);
	if (item->at_stake_ns)
		page_wrap(page, "      - ", stake, 8);
}

static void put_recommendation(struct page *page, size_t number, const struct recommendation *item)
{
	char label[32];

	snprintf(label, sizeof(label), "  %zu.  ", number);
	page_wrap(page, label, item->title, 6);
	page_wrap(page, "      for: ", item->target, 11);
	for (size_t i = 0; i < item->evidence_count; i++)
		page_wrap(page, "      - ", item->evidence[i], 8);
	put_stake(page, item);
	put_predicted(page,
		      page->options->range ? "predicted: the range " : "predicted: this part ",
		      &item->place);
	put_predicted(page, "predicted: the whole run ", &item->program);
	put_pattern(page, item->pattern);
	page_wrap(page, "      watch: ", item->risk, 13);
	if (item->workload)
		fprintf(page->out, "      try it: rooflinectl workloads %s\n", item->workload);
	if (page->options->is_advice_only)
		put_check_command(page, item);
}

void page_section_advice(struct page *page)
{
	const struct advice *advice = page->report->advice;

	if (!advice || (!advice->count && !page->options->is_advice_only))
		return;
	page_title(page, "Advice", NULL);
	if (!advice->count)
		page_wrap(page, "  ", "nothing to recommend", 2);
	for (size_t i = 0; i < advice->count; i++)
		put_recommendation(page, i + 1, &advice->items[i]);
}

void page_section_rejected(struct page *page)
{
	const struct advice *advice = page->report->advice;

	if (!advice || !advice->rejection_count)
		return;
	page_title(page, "Considered and rejected", NULL);
	for (size_t i = 0; i < advice->rejection_count; i++) {
		const struct rejection *item = &advice->rejections[i];
		char text[512];

		snprintf(text, sizeof(text), "%s: %s", item->strategy, item->reason);
		page_wrap(page, "  - ", text, 4);
	}
}

static void describe_loss(const struct profile *profile, size_t first, char *buffer, size_t size)
{
	const char *kind = profile->losses[first].kind, *meaning = profile_loss_meaning(kind);
	uint64_t count = 0;

	for (size_t i = first; i < profile->loss_count; i++)
		if (!strcmp(profile->losses[i].kind, kind))
			sum_add_count(&count, profile->losses[i].count);
	snprintf(buffer, size, "%s %s%s%s%s", format_count(count).text, kind, *meaning ? " (" : "",
		 meaning, *meaning ? ")" : "");
}

/* Whether an earlier row has the same kind: it was told there. */
static bool is_told(const struct profile *profile, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(profile->losses[i].kind, profile->losses[index].kind))
			return true;
	return false;
}

/* Each kind once.  Returns the label of what follows. */
static const char *put_losses(struct page *page, const struct profile *profile, const char *label,
			      const char *run)
{
	char text[512];

	for (size_t i = 0; i < profile->loss_count; i++) {
		size_t used = strlen(run);

		if (is_told(profile, i))
			continue;
		memcpy(text, run, used);
		describe_loss(profile, i, text + used, sizeof(text) - used);
		page_wrap(page, label, text, 8);
		if (*profile_loss_place(&profile->losses[i]))
			page_wrap(page, "        first: ", profile_loss_place(&profile->losses[i]),
				  15);
		label = "      ";
	}
	return label;
}

void page_section_losses(struct page *page)
{
	const struct profile *profile = page->report->profile;
	const char *label = "Lost: ";

	if (page->is_begun)
		fputc('\n', page->out);
	page->is_begun = true;
	if (!profile->loss_count) {
		page_wrap(page, label, "nothing", 8);
		label = "      ";
	}
	label = put_losses(page, profile, label, "");
	if (profile->graph_run)
		put_losses(page, profile->graph_run, label, "in the second run: ");
}

void page_section_not_visible(struct page *page)
{
	const struct report *report = page->report;
	const char *label = "Not visible: ";

	for (size_t i = 0; i < report->not_visible_count; i++) {
		page_wrap(page, label, report->not_visible[i], 15);
		label = "             ";
	}
	if (!report->not_visible_count)
		page_wrap(page, label, "nothing that is known of", 15);
}
