/* processes.c - what was recorded: processes, command lines and versions. */
#include "output/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

PREDICATE(is_moved, struct profile_process, process, process->clock_common_count > 0);
PREDICATE(has_rank, struct profile_process, process, process->rank >= 0);
GETTER(get_is_cut_off, struct profile_process, process, value_bool(!process->sealed_ns));

static bool property_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct profile_process *process = from;

	(void)row;
	if (index >= process->property_count)
		return false;
	entry->key = process->properties[index].key;
	entry->value = value_text(process->properties[index].value);
	return true;
}

/* What happened to its files, each with its place. */
static bool damage_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct profile *profile = row->report->profile;
	const struct profile_process *process = from;

	for (size_t i = 0; i < profile->loss_count; i++) {
		const struct profile_loss *loss = &profile->losses[i];

		if (&profile->processes[loss->process] != process ||
		    !profile_loss_is_damage(profile, loss) || index-- > 0)
			continue;
		entry->value = value_text(profile_loss_place(loss));
		return true;
	}
	return false;
}

static const struct column columns[] = {FIELD(struct profile_process, folder),
					FIELD(struct profile_process, host),
					FIELD(struct profile_process, pid),
					FIELD_IF(struct profile_process, rank, has_rank),
					FIELD(struct profile_process, command),
					MOMENT(struct profile_process, start),
					MOMENT(struct profile_process, first),
					MOMENT(struct profile_process, last),
					COMPUTED("is_cut_off", get_is_cut_off),
					FIELD_IF(struct profile_process, clock_host, is_moved),
					FIELD_IF(struct profile_process, clock_ahead_ns, is_moved),
					FIELD_IF(struct profile_process, clock_error_ns, is_moved),
					FIELD(struct profile_process, is_filtered),
					FIELD(struct profile_process, is_graph_level),
					LIST("damage", damage_at),
					MAP("properties", property_at),
					{0}};

ARRAY(process_at, profile, processes, process_count);

/* ---- text ---- */

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

/* What a flight recorder has kept. */
static void put_dump(struct page *page, const struct profile_process *process)
{
	const char *last = profile_property(process, "last", "");
	const char *reason = profile_property(process, "dump_reason", "");
	char shown[256], text[400];

	if (!*reason)
		return;
	format_text(shown, sizeof(shown), reason, sizeof(shown));
	snprintf(text, sizeof(text), "%s%s%s%s", shown, *last ? ": only the last " : "", last,
		 *last ? " were kept" : "");
	page_wrap(page, "  dump      ", text, 12);
}

static void put_damage(struct page *page, const struct profile_process *process)
{
	const struct row row = {.report = page->report};
	struct entry entry;

	for (size_t i = 0; damage_at(&row, process, i, &entry); i++)
		page_wrap(page, "  damaged   ", entry.value.text, 12);
}

static void put_process(struct page *page, const struct profile_process *process)
{
	const char *host = *process->host ? process->host : "an unknown host";
	char command[512], text[640];

	format_text(command, sizeof(command), *process->command ? process->command : "(unknown)",
		    page->options->wide ? sizeof(command) : 3 * PAGE_WIDTH);
	if (process->rank >= 0)
		snprintf(text, sizeof(text), "%s on %s, rank %" PRId64 ": %s", process->folder,
			 host, process->rank, command);
	else
		snprintf(text, sizeof(text), "%s on %s: %s", process->folder, host, command);
	page_wrap(page, "  process   ", text, 12);
	put_versions(page, process);
	if (!process->sealed_ns)
		page_wrap(
			page, "  cut off   ",
			"the recording did not end properly: what happened in the last moments may "
			"be missing",
			12);
	put_damage(page, process);
	put_dump(page, process);
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
			 "the second one, of whole graphs, made the same launches: joined");
	page_wrap(page, "  two runs  ", text, 12);
}

static void print_processes(struct page *page)
{
	const struct profile *profile = page->report->profile;
	size_t rows = page_rows(page, profile->process_count, PAGE_TOP);

	page_list_title(page, "Recording", profile->path, rows, profile->process_count);
	for (size_t i = 0; i < rows; i++)
		put_process(page, &profile->processes[i]);
	put_second_run(page);
}

const struct section section_processes = {.key = "processes",
					  .title = "Recording",
					  .columns = columns,
					  .at = process_at,
					  .print = print_processes,
					  .empty = "no process was recorded"};
