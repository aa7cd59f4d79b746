/* device_graphs.c - graphs that the device launched, and the two runs of --graphs=both. */
#include "output/page.h"
#include "output/sections/why_empty.h"
#include "output/sections/losses.h"

#include <inttypes.h>
#include <string.h>

/* ---- columns ---- */

static const struct graph_pair *launcher_of(const struct row *row,
					    const struct device_launches *launches)
{
	return graph_join_find(row->report->graph_join, launches->process,
			       launches->launcher_graph);
}

static struct value graph_of(const struct graph_pair *pair)
{
	return pair ? value_integer(pair->graph) : value_none();
}

static struct value kernel_of(const struct row *row, const struct graph_pair *pair)
{
	if (!pair || pair->signature == PROFILE_NONE)
		return value_none();
	return value_text(row->report->profile->signatures[pair->signature].name);
}

GETTER(get_process, struct device_launches, launches,
       value_text(row->report->device_graphs->profile->processes[launches->process].folder));

static struct value get_first_run_launcher(struct row *row, const void *from)
{
	return graph_of(launcher_of(row, from));
}

GETTER(get_first_run_graph, struct device_launches, launches,
       graph_of(graph_join_find(row->report->graph_join, launches->process, launches->graph)));

static struct value get_launcher_kernel(struct row *row, const void *from)
{
	return kernel_of(row, launcher_of(row, from));
}

GETTER(get_mode, struct device_launches, launches,
       value_text(device_graphs_mode_key(launches->launch_mode)));

static const struct column columns[] = {COMPUTED("process", get_process),
					FIELD(struct device_launches, launcher_graph),
					FIELD(struct device_launches, graph),
					COMPUTED("first_run_launcher_graph",
						 get_first_run_launcher),
					COMPUTED("first_run_graph", get_first_run_graph),
					COMPUTED("launcher_kernel", get_launcher_kernel),
					COMPUTED("mode", get_mode),
					FIELD(struct device_launches, is_host_launched),
					INLINE(struct device_launches, time, distribution_columns),
					GROUP("latency", NULL, struct device_launches, latency,
					      distribution_columns),
					{0}};

ARRAY(launches_at, device_graphs, launches, count);

/* ---- how the two runs belong together: JSON only ---- */

GETTER(get_pair_process, struct graph_pair, pair,
       value_text(row->report->profile->processes[pair->process].folder));
GETTER(get_second_run_process, struct graph_pair, pair,
       value_text(row->report->profile->graph_run->processes[pair->run_process].folder));

static struct value get_pair_kernel(struct row *row, const void *from)
{
	return kernel_of(row, from);
}

static const struct column pair_columns[] = {COMPUTED("process", get_pair_process),
					     FIELD(struct graph_pair, graph),
					     COMPUTED("second_run_process", get_second_run_process),
					     {FIELD_AS("second_run_graph", struct graph_pair,
						       run_graph)},
					     FIELD(struct graph_pair, launch_count),
					     FIELD(struct graph_pair, node_count),
					     COMPUTED("kernel", get_pair_kernel),
					     {0}};

static const void *pair_at(const struct row *parent, size_t index)
{
	const struct graph_join *join = parent->report->graph_join;

	return join && index < join->pair_count ? &join->pairs[index] : NULL;
}

GETTER(get_is_second_run, struct report, report, value_bool(report->graph_join != NULL));

static struct value get_is_joined(struct row *row, const void *from)
{
	const struct graph_join *join = row->report->graph_join;

	(void)from;
	return join ? value_bool(!join->difference[0]) : value_none();
}

static struct value get_difference(struct row *row, const void *from)
{
	const struct graph_join *join = row->report->graph_join;

	(void)from;
	return value_text(join && join->difference[0] ? join->difference : NULL);
}

static bool second_run_loss_at(const struct row *row, const void *from, size_t index,
			       struct entry *entry)
{
	(void)from;
	return row->report->graph_join &&
	       loss_sum_at(row->report->profile->graph_run, index, entry);
}

static const struct column object[] = {COMPUTED("is_second_run", get_is_second_run),
				       COMPUTED("is_joined", get_is_joined),
				       COMPUTED("difference", get_difference),
				       MAP("second_run_losses", second_run_loss_at),
				       ROWS("joined_graphs", pair_columns, pair_at),
				       ROWS("launches", columns, launches_at),
				       {0}};

/* ---- text ---- */

/* The first run's id where the runs are joined; '*' for a graph that only the device launches. */
static void name_graph(const struct page *page, uint32_t process, uint32_t graph,
		       bool is_host_launched, char *text, size_t size)
{
	const struct graph_pair *pair = graph_join_find(page->report->graph_join, process, graph);

	snprintf(text, size, "%u%s", pair ? pair->graph : graph, is_host_launched ? "" : "*");
}

/* "5 -> 2*", "14 -> itself" */
static void name_launch(const struct page *page, const struct device_launches *row, char *text,
			size_t size)
{
	char launcher[16], launched[16] = "itself";

	name_graph(page, row->process, row->launcher_graph, row->is_launcher_host_launched,
		   launcher, sizeof(launcher));
	if (row->graph != row->launcher_graph)
		name_graph(page, row->process, row->graph, row->is_host_launched, launched,
			   sizeof(launched));
	snprintf(text, size, "%s -> %s", launcher, launched);
}

/* Which process, where there are several. */
static void put_process(struct page *page, const struct device_launches *row,
			const struct graph_pair *launcher)
{
	const struct profile *profile = page->report->device_graphs->profile;
	const char *folder = profile->processes[row->process].folder;

	if (profile->process_count < 2)
		return;
	if (launcher)
		folder = page->report->profile->processes[launcher->process].folder;
	page_wrap(page, "    in ", folder, 7);
}

/* What the launcher is made of: the first run saw its nodes. */
static void put_launcher(struct page *page, const struct graph_pair *launcher)
{
	const struct profile *profile = page->report->profile;
	char label[64], name[512];

	if (!launcher || launcher->signature == PROFILE_NONE)
		return;
	snprintf(label, sizeof(label), "    graph %u, %s node%s: ", launcher->graph,
		 format_count(launcher->node_count).text, launcher->node_count == 1 ? "" : "s");
	if (page->options->wide)
		format_text(name, sizeof(name), profile->signatures[launcher->signature].name,
			    sizeof(name));
	else
		snprintf(name, sizeof(name), "%s",
			 kernel_label(profile->kernel_labels,
				      profile->signatures[launcher->signature].name, LABEL_WIDE));
	page_wrap(page, label, name, 6);
}

static void put_launches(struct page *page, const struct device_launches *row)
{
	const struct graph_pair *launcher =
		graph_join_find(page->report->graph_join, row->process, row->launcher_graph);
	bool is_timed = row->latency.count > 0;
	char name[64];

	name_launch(page, row, name, sizeof(name));
	fprintf(page->out, "  %-15s %-15s %9s %8s %8s %8s %8s\n", name,
		device_graphs_mode_name(row->launch_mode), format_count(row->time.count).text,
		is_timed ? format_ns((double)row->latency.p50_ns).text : "-",
		is_timed ? format_ns((double)row->latency.p99_ns).text : "-",
		format_ns((double)row->time.p50_ns).text,
		format_ns((double)row->time.total_ns).text);
	put_process(page, row, launcher);
	put_launcher(page, launcher);
}

static bool has_device_only(const struct device_graphs *graphs, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (!graphs->launches[i].is_host_launched ||
		    !graphs->launches[i].is_launcher_host_launched)
			return true;
	return false;
}

static void put_legend(struct page *page, size_t rows)
{
	const struct graph_join *join = page->report->graph_join;

	page_wrap(page, "  latency: ",
		  "from the launcher's start to the launched graph's; of tail launches from the "
		  "launcher's end",
		  11);
	if (has_device_only(page->report->device_graphs, rows))
		page_wrap(page, "  *        ",
			  join && !join->difference[0]
				  ? "only the device launches it; the id is that of the second run"
				  : "only the device launches it",
			  11);
}

/* How the two runs of --graphs=both belong together. */
static void put_join(struct page *page)
{
	const struct graph_join *join = page->report->graph_join;
	char text[128];

	if (!join)
		return;
	if (join->difference[0])
		snprintf(text, sizeof(text),
			 "not joined, as the runs differed: graph ids are those of the second");
	else
		snprintf(text, sizeof(text), "joined by launch order, %s graph launch%s in each",
			 format_count(join->launch_count).text,
			 join->launch_count == 1 ? "" : "es");
	page_wrap(page, "  two runs ", text, 11);
}

static void print_device_graphs(struct page *page)
{
	const struct device_graphs *graphs = page->report->device_graphs;
	size_t rows = page_rows(page, graphs->count, PAGE_TOP);

	if (!rows && !page->report->graph_join)
		return;
	page_list_title(page, "Graphs launched by the device", NULL, rows, graphs->count);
	if (rows)
		page_heads(page, "  launcher, graph mode             launches  latency      p99   "
				 "median     time");
	else
		page_wrap(page, "  ", "none", 2);
	for (size_t i = 0; i < rows; i++)
		put_launches(page, &graphs->launches[i]);
	if (rows)
		put_legend(page, rows);
	put_join(page);
}

static struct sentence why_no_device_graphs(const struct report *report)
{
	static const char *const launches[] = {"GraphLaunch", NULL};
	const char *graphs = why_property(report, "graphs");

	if (!profile_has_call(report->profile, launches) && !report->profile->graph_launch_count)
		return why("no CUDA graph was launched, and only a graph can launch others");
	if (graphs && !strcmp(graphs, "graph"))
		return why("the host launched every graph");
	return why("graphs were recorded node by node, which does not tell who launched them: "
		   "record with --graphs=both");
}

const struct section section_device_graphs = {.key = "device_graphs",
					      .title = "Graphs launched by the device",
					      .columns = columns,
					      .at = launches_at,
					      .object = object,
					      .print = print_device_graphs,
					      .why_empty = why_no_device_graphs};
