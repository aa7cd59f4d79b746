/* steady_state.c - what repeats, apart from what happens once. */
#include "output/sections/steady_state.h"

#include "output/page.h"

#include <string.h>

/* ---- columns ---- */

const struct column run_part_columns[] = {FIELD(struct run_part, wall_ns),
					  FIELD(struct run_part, busy_ns),
					  FIELD(struct run_part, idle_ns),
					  FIELD(struct run_part, kernel_ns),
					  GROUP("idle_by_cause", "", struct run_part, by_cause_ns,
						cause_columns),
					  FIELD(struct run_part, launch_count),
					  FIELD(struct run_part, operation_count),
					  {0}};

const struct steady_device *steady_state_of(const struct report *report, size_t device)
{
	const struct steady_device *found = &report->steady_state->devices[device];

	return found->is_found ? found : NULL;
}

/* A share of what the usual iterations took together. */
static struct value per_iteration(const struct steady_device *steady, double sum)
{
	return value_real(sum / (double)steady->usual_count);
}

#define PER_ITERATION(function, field)                 \
	GETTER(function, struct steady_device, steady, \
	       per_iteration(steady, (double)steady->usual.field))

PER_ITERATION(get_mean_ns, wall_ns);
PER_ITERATION(get_busy_ns, busy_ns);
PER_ITERATION(get_idle_ns, idle_ns);
PER_ITERATION(get_kernel_ns, kernel_ns);
GETTER(get_launch_count, struct steady_device, steady,
       value_real((double)steady->steady.launch_count / (double)steady->loop.count));
GETTER(get_operation_count, struct steady_device, steady,
       value_real((double)steady->steady.operation_count / (double)steady->loop.count));
#define CAUSE_GETTER(constant, name, title, meaning) \
	PER_ITERATION(get_##constant##_ns, by_cause_ns[GAP_##constant]);
GAP_CAUSES(CAUSE_GETTER)

#define CAUSE_COLUMN(constant, name, title, meaning) \
	{.key = (name), .csv = name "_ns", .type = COLUMN_COMPUTED, .get = get_##constant##_ns},
static const struct column iteration_cause_columns[] = {GAP_CAUSES(CAUSE_COLUMN){0}};

static const struct column iteration_columns[] = {
	COMPUTED("mean_ns", get_mean_ns),
	{FIELD_AS("p10_ns", struct steady_device, loop.low_ns)},
	{FIELD_AS("p50_ns", struct steady_device, loop.median_ns)},
	{FIELD_AS("p90_ns", struct steady_device, loop.high_ns)},
	COMPUTED("busy_ns", get_busy_ns),
	COMPUTED("idle_ns", get_idle_ns),
	COMPUTED("kernel_ns", get_kernel_ns),
	{.key = "idle_by_cause",
	 .csv = "",
	 .type = COLUMN_GROUP,
	 .columns = iteration_cause_columns},
	COMPUTED("launch_count", get_launch_count),
	COMPUTED("operation_count", get_operation_count),
	{0}};

#define ONCE_COLUMN(constant, name, title) \
	{.key = (name),                    \
	 .csv = name "_ns",                \
	 .type = COLUMN_I64,               \
	 .offset = ONCE_##constant * sizeof(int64_t)},
static const struct column once_columns[] = {ONCE_CAUSES(ONCE_COLUMN){0}};

static const struct loop *loop_of(const struct report *report, const struct steady_device *steady)
{
	return &report->steady_state->repeated.items[steady->loop.members[0]];
}

GETTER(get_device, struct steady_device, steady, value_count(steady->loop.device));
GETTER(get_thread, struct steady_device, steady,
       value_count(row->report->profile->threads[loop_of(row->report, steady)->thread].thread));
GETTER(get_count, struct steady_device, steady, value_count(steady->loop.count));
GETTER(get_warm_up_count, struct steady_device, steady, value_count(steady->loop.warm_up_count));

static const struct column columns[] = {
	COMPUTED("device", get_device),
	COMPUTED("thread", get_thread),
	FIELD(struct steady_device, run_ns),
	COMPUTED("iteration_count", get_count),
	COMPUTED("warm_up_iteration_count", get_warm_up_count),
	FIELD(struct steady_device, pause_ns),
	{.key = "iteration", .type = COLUMN_GROUP, .columns = iteration_columns},
	GROUP("once_by_cause", "once_", struct steady_device, once_ns, once_columns),
	{0}};

/* Of the devices on which something repeats. */
static const void *steady_at(const struct row *parent, size_t index)
{
	const struct report *report = parent->report;

	for (size_t i = 0; i < report->profile->device_count; i++)
		if (steady_state_of(report, i) && !index--)
			return steady_state_of(report, i);
	return NULL;
}

/* ---- text ---- */

/* Parts of a whole in words, the largest first: "host compute 1.20 ms, launch 300 us".  Those below one percent are left
 * out. */
struct parts {
	const int64_t *ns;
	int count;
	int64_t whole_ns;
	double divisor; /* of each, as it is shown */
};

static int largest_below(const struct parts *parts, int64_t limit_ns, int limit)
{
	int largest = -1;

	for (int i = 0; i < parts->count; i++) {
		bool is_left = parts->ns[i] < limit_ns || (parts->ns[i] == limit_ns && i > limit);

		if (is_left && (largest < 0 || parts->ns[i] > parts->ns[largest]))
			largest = i;
	}
	return largest;
}

/* after: what stands before the first of them. */
static void list_parts(char *text, size_t size, const struct parts *parts, const char *after,
		       const char *(*title)(int part))
{
	int part = largest_below(parts, INT64_MAX, -1);
	size_t used = strlen(text);

	for (; part >= 0 && used < size && parts->ns[part] > parts->whole_ns / 100;
	     part = largest_below(parts, parts->ns[part], part)) {
		used += (size_t)snprintf(text + used, size - used, "%s%s %s", after, title(part),
					 format_ns((double)parts->ns[part] / parts->divisor).text);
		after = ", ";
	}
}

static const char *gap_title(int cause)
{
	return gap_cause_title((enum gap_cause)cause);
}

static const char *once_title(int cause)
{
	return once_cause_title((enum once_cause)cause);
}

/* Worth telling: a part of the steady state that no iteration's own time shows. */
#define LEAST_PAUSE_PART 0.05

static void put_whole(struct page *page, const struct steady_device *steady)
{
	size_t kind_count =
		page->report->steady_state->repeated.items[steady->loop.members[0]].kind_count;
	char label[32] = "  ", text[320];

	if (page->report->profile->device_count > 1)
		snprintf(label, sizeof(label), "  GPU %zu: ", steady->loop.device);
	snprintf(text, sizeof(text),
		 "%s of the program's %s: %s iterations of %s (median; p10 %s, p90 %s)",
		 format_ns((double)steady->steady.wall_ns).text,
		 format_ns((double)steady->run_ns).text, format_count(steady->loop.count).text,
		 format_ns((double)steady->loop.median_ns).text,
		 format_ns((double)steady->loop.low_ns).text,
		 format_ns((double)steady->loop.high_ns).text);
	if (kind_count > 1)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "; iterations are of %zu kinds", kind_count);
	if ((double)steady->pause_ns > LEAST_PAUSE_PART * (double)steady->steady.wall_ns)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "; pauses take %s of it",
			 format_ns((double)steady->pause_ns).text);
	page_wrap(page, label, text, 4);
}

static void put_iteration(struct page *page, const struct steady_device *steady)
{
	const struct run_part *usual = &steady->usual;
	const struct parts parts = {usual->by_cause_ns, GAP_CAUSE_COUNT, usual->wall_ns,
				    (double)steady->usual_count};
	double launch_count = (double)steady->steady.launch_count / (double)steady->loop.count;
	char text[512];

	snprintf(text, sizeof(text), "%.3g launch%s, busy %s", launch_count,
		 launch_count == 1 ? "" : "es",
		 format_ns((double)usual->busy_ns / parts.divisor).text);
	list_parts(text, sizeof(text), &parts, "; not busy: ", gap_title);
	page_wrap(page, "  an iteration: ", text, 4);
}

/* If clocks differ, it is not known which calls lie before and after the steady state. */
static bool has_early(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].early_ns)
			return true;
	return false;
}

static void put_once(struct page *page, const struct steady_device *steady)
{
	const struct parts parts = {steady->once_ns, ONCE_CAUSE_COUNT, steady->once.wall_ns, 1};
	char text[768];

	snprintf(text, sizeof(text), "%s", format_ns((double)steady->once.wall_ns).text);
	if (!has_early(page->report->profile))
		list_parts(text, sizeof(text), &parts, ", of which ", once_title);
	page_wrap(page, "  what happens once: ", text, 4);
}

static void print_steady_state(struct page *page)
{
	const struct row root = {.report = page->report};
	const struct steady_device *steady;

	if (steady_at(&root, 0))
		page_title(page, "Steady state", "what repeats; the rest happens once");
	for (size_t i = 0; (steady = steady_at(&root, i)); i++) {
		put_whole(page, steady);
		put_iteration(page, steady);
		put_once(page, steady);
	}
}

const struct section section_steady_state = {
	.key = "steady_state",
	.title = "Steady state",
	.columns = columns,
	.at = steady_at,
	.print = print_steady_state,
	.empty =
		"no loop of kernels takes most of the time, so there is no steady state: what happens once is in the other sections"};
