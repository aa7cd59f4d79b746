/* text_device_graphs.c - graphs that the device launched, and the two runs of --graphs=both. */
#include "output/page.h"

#include <inttypes.h>
#include <string.h>

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
		format_kernel_name(name, sizeof(name),
				   profile->signatures[launcher->signature].name,
				   PAGE_WIDTH - strlen(label));
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
			 "not joined: the runs differed, and graphs have their ids of the second");
	else
		snprintf(text, sizeof(text), "joined by launch order, %s graph launch%s in each",
			 format_count(join->launch_count).text,
			 join->launch_count == 1 ? "" : "es");
	page_wrap(page, "  two runs ", text, 11);
}

void page_section_device_graphs(struct page *page)
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
