/* kernels.c - kernels by total time, and the launch shape that took most of it. */
#include "output/page.h"

#include "analysis/counters/occupancy.h"
#include "base/sums.h"
#include "output/once_text.h"

#include <string.h>

#define OPERATOR_WIDTH 48

/* ---- columns ---- */

FINDER(shape_of, struct kernel_statistics, kernel,
       &row->report->profile->signatures[kernel->signature]);

/* NULL where the recording does not tell. */
static const void *occupancy_found(struct row *row, const void *from)
{
	const struct kernel_statistics *kernel = from;
	struct occupancy *occupancy = (void *)row->scratch.bytes;

	_Static_assert(sizeof(*occupancy) <= sizeof(row->scratch), "scratch holds an occupancy");
	return occupancy_of(occupancy, &row->report->profile->devices[kernel->device],
			    shape_of(row, from))
		       ? occupancy
		       : NULL;
}

GETTER(get_occupancy_limit, struct occupancy, occupancy,
       value_text(occupancy_limit_name(occupancy->limit)));

static const struct column shape_columns[] = {
	FIELD(struct profile_signature, grid),
	FIELD(struct profile_signature, block),
	{FIELD_AS("registers", struct profile_signature, registers_per_thread)},
	FIELD(struct profile_signature, static_shared_bytes),
	FIELD(struct profile_signature, dynamic_shared_bytes),
	FIELD(struct profile_signature, local_bytes_per_thread),
	{0}};

static const struct column occupancy_columns[] = {FIELD(struct occupancy, blocks_per_sm),
						  {FIELD_AS("theoretical_occupancy",
							    struct occupancy, warps_ratio)},
						  FIELD(struct occupancy, waves),
						  COMPUTED("occupancy_limit", get_occupancy_limit),
						  {0}};

GETTER(get_cooperative, struct kernel_statistics, kernel,
       value_bool(kernel->cooperative_count > 0));
GETTER(get_highest, struct kernel_statistics, kernel, value_integer(kernel->highest_priority));
GETTER(get_lowest, struct kernel_statistics, kernel, value_integer(kernel->lowest_priority));

GETTER(get_short_name, struct kernel_statistics, kernel,
       value_text(kernel_label(row->report->profile->kernel_labels, kernel->name, LABEL_WIDE)));

static const struct column further_shape_columns[] = {FIELD(struct profile_signature, mangled),
						      FIELD(struct profile_signature, cluster),
						      {0}};

static const struct column columns[] = {
	FIELD(struct kernel_statistics, name),
	INLINE(struct kernel_statistics, time, distribution_columns),
	INLINE_FOUND(shape_of, shape_columns),
	{FIELD_AS("shape_count", struct kernel_statistics, signature_count)},
	FIELD(struct kernel_statistics, device_count),
	INLINE_FOUND(occupancy_found, occupancy_columns),
	INLINE_FOUND(shape_of, further_shape_columns),
	COMPUTED("is_cooperative", get_cooperative),
	{FIELD_AS("dependent_launch_count", struct kernel_statistics, dependent_count)},
	COMPUTED("highest_priority", get_highest),
	COMPUTED("lowest_priority", get_lowest),
	COMPUTED("short_name", get_short_name),
	{FIELD_AS("operator", struct kernel_statistics, operator_name)},
	FIELD_ABOVE_ZERO(struct kernel_statistics, operator_ns),
	INLINE(struct kernel_statistics, split, split_columns),
	{0}};

ARRAY(kernel_at, statistics, kernels, kernel_count);

/* ---- text ---- */

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

/* How it was launched, where that is unusual: ", cluster 2x1, cooperative, dependent, priority -5". */
static int put_attributes(const struct kernel_statistics *kernel,
			  const struct profile_signature *launch, char *buffer, size_t size)
{
	char cluster[40] = "", priority[32] = "";

	if ((uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1)
		put_dimensions(cluster, sizeof(cluster), launch->cluster);
	if (kernel->highest_priority != kernel->lowest_priority)
		snprintf(priority, sizeof(priority), ", priority %d to %d", kernel->lowest_priority,
			 kernel->highest_priority);
	else if (kernel->highest_priority)
		snprintf(priority, sizeof(priority), ", priority %d", kernel->highest_priority);
	return snprintf(buffer, size, "%s%s%s%s%s", *cluster ? ", cluster " : "", cluster,
			kernel->cooperative_count ? ", cooperative" : "",
			kernel->dependent_count ? ", dependent" : "", priority);
}

/* Which operator of PyTorch it is of. */
static void put_operator(const struct kernel_statistics *kernel, char *buffer, size_t size)
{
	char name[4 * OPERATOR_WIDTH + 1];

	if (!kernel->operator_name)
		return;
	format_text(name, sizeof(name), kernel->operator_name, OPERATOR_WIDTH);
	snprintf(buffer, size, ", %sin %s",
		 kernel->operator_ns < kernel->time.total_ns ? "mostly " : "", name);
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
	used += put_attributes(kernel, signature, buffer + used, size - (size_t)used);
	used += put_waves(&page->report->profile->devices[kernel->device], signature, buffer + used,
			  size - (size_t)used);
	if (kernel->signature_count > 1)
		used += snprintf(buffer + used, size - (size_t)used, ", +%u shapes",
				 kernel->signature_count - 1);
	put_operator(kernel, buffer + used, size - (size_t)used);
}

static int64_t total_kernel_ns(const struct statistics *statistics)
{
	int64_t total_ns = 0;

	for (size_t i = 0; i < statistics->kernel_count; i++)
		sum_add_ns(&total_ns, statistics->kernels[i].time.total_ns);
	return total_ns;
}

/* At the right, in edge columns; what is too long for one line goes on behind a comma. */
static void put_shape(struct page *page, char *shape, size_t edge)
{
	size_t at = edge;
	int width = (int)at;

	if (page->screen) {
		page_wrap(page, "      ", shape, 6);
		return;
	}
	if (strlen(shape) <= at) {
		fprintf(page->out, "%*s\n", width, shape);
		return;
	}
	while (at > 1 && shape[at - 1] != ' ')
		at--;
	fprintf(page->out, "%*.*s\n%*s\n", width, (int)at - 1, shape, width, shape + at);
}

/* Where lines of a kernel and its shape end: not farther right than the longest needs. */
static size_t find_edge(const struct page *page, const struct row *root, size_t rows)
{
	size_t edge = page->screen ? page_columns(page) : PAGE_WIDTH;
	char shape[512];

	for (size_t i = 0; i < rows; i++) {
		const struct kernel_statistics *kernel = section_row(&section_kernels, root, i);
		size_t needed;

		describe_shape(page, kernel, shape, sizeof(shape));
		needed = strlen(shape) + 4 + page_kernel_columns(page, kernel->name);
		edge = needed > edge && needed <= page_width(page) ? needed : edge;
	}
	return edge;
}

static void put_kernel(struct page *page, const struct kernel_statistics *kernel, int64_t all_ns,
		       size_t edge)
{
	const struct distribution *time = &kernel->time;
	char shape[512];

	describe_shape(page, kernel, shape, sizeof(shape));
	if (page->options->wide ||
	    strlen(shape) + 4 + page_kernel_columns(page, kernel->name) > edge) {
		page_kernel_line(page, kernel->name);
		put_shape(page, shape, edge);
	} else {
		fputs("  ", page->out);
		page_kernel(page, kernel->name, edge - 4 - strlen(shape));
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
		 "counters were read for %s launch%s: waits around them are profiler overhead",
		 format_count(count).text, count == 1 ? "" : "es");
	page_wrap(page, "  ", text, 2);
}

static const struct steady_split *split_of(const struct page *page, size_t index, char *name,
					   size_t size)
{
	const struct statistics *statistics = page->report->statistics;

	if (index >= statistics->kernel_count)
		return NULL;
	snprintf(name, size, "%s",
		 kernel_label(page->report->profile->kernel_labels, statistics->kernels[index].name,
			      LABEL_WIDE));
	return &statistics->kernels[index].split;
}

static void print_kernels(struct page *page)
{
	const struct statistics *statistics = page->report->statistics;
	size_t rows = page_rows(page, statistics->kernel_count, PAGE_TOP);
	int64_t all_ns = total_kernel_ns(statistics);
	const struct row root = {.report = page->report, .options = page->options};
	size_t edge;

	if (!rows)
		return;
	page_list_title(page, "Kernels", "% of all kernels' time", rows, statistics->kernel_count);
	page_heads(page, "       time      %       count      mean    median       p99       min "
			 "      max");
	edge = find_edge(page, &root, rows);
	for (size_t i = 0; i < rows; i++)
		put_kernel(page, section_row(&section_kernels, &root, i), all_ns, edge);
	once_put(page, split_of);
	put_counted(page);
}

const struct section section_kernels = {.key = "kernels",
					.needs = {TABLES_KERNELS | TABLES_STEADY,
						  NEED_kernel_statistics},
					.title = "Kernels",
					.columns = columns,
					.at = kernel_at,
					.takes_order = true,
					.print = print_kernels,
					.empty = "no kernel was recorded"};
