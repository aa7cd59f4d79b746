/* job.c - several ranks as one job: what each did, who was late, and the critical path. */
#include "output/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/limit_text.h"

/* ---- columns ---- */

/* "rank 3": also for the text of the other sections that are about ranks. */
static struct value get_name(struct row *row, const void *from)
{
	job_name_rank(row->scratch.bytes, sizeof(row->scratch.bytes), row->report->profile, from);
	return value_text(row->scratch.bytes);
}

FINDER(process_of, struct job_rank, rank, &row->report->profile->processes[rank->process]);
PREDICATE(has_number, struct profile_process, process, process->rank >= 0);
PREDICATE(has_causes, struct job_rank, rank, rank->has_causes);
PREDICATE(has_waits, struct job_rank, rank, rank->has_waits);

static const struct column process_columns[] = {{FIELD_AS("process", struct profile_process,
							  folder)},
						FIELD(struct profile_process, host),
						FIELD_IF(struct profile_process, rank, has_number),
						{0}};

#define TIME_COLUMN(member, meaning) FIELD(struct job_times, member),
#define NO_COLUMN(member, meaning)
static const struct column time_columns[] = {JOB_TIMES(TIME_COLUMN, TIME_COLUMN){0}};
static const struct column work_columns[] = {JOB_TIMES(TIME_COLUMN, NO_COLUMN){0}};
static const struct column wait_columns[] = {JOB_TIMES(NO_COLUMN, TIME_COLUMN){0}};

FINDER(waits_of, struct job_rank, rank, rank->has_waits ? &rank->times : NULL);

static const void *causes_of(struct row *row, const void *from)
{
	const struct job_rank *rank = from;

	return has_causes(row, from) ? rank->times.by_cause_ns : NULL;
}

#define LATE_COLUMN(constant, key, words) \
	{FIELD_AS(key "_ns", struct job_late, by_cause_ns[JOB_LATE_##constant])},
static const struct column late_cause_columns[] = {JOB_LATE_CAUSES(LATE_COLUMN){0}};

static const struct column late_columns[] = {FIELD(struct job_late, matched_count),
					     FIELD(struct job_late, last_count),
					     FIELD(struct job_late, caused_wait_ns),
					     FIELD(struct job_late, most_ns),
					     {.key = "caused_by",
					      .csv = "caused_by_",
					      .type = COLUMN_GROUP,
					      .columns = late_cause_columns},
					     {0}};

static const void *late_of(struct row *row, const void *from)
{
	const struct job_rank *rank = from;

	return has_waits(row, from) ? &rank->late : NULL;
}

#define PATH_COLUMN(constant, key, title) COMPUTED(key "_ns", get_path_##constant),
#define PATH_GETTER(constant, key, title) \
	GETTER(get_path_##constant, int64_t, path_ns, value_integer(path_ns[JOB_PATH_##constant]));
JOB_PATH_KINDS(PATH_GETTER)
static const struct column path_columns[] = {JOB_PATH_KINDS(PATH_COLUMN){0}};

static const struct column rank_columns[] = {COMPUTED("name", get_name),
					     INLINE_FOUND(process_of, process_columns),
					     FIELD(struct job_rank, device),
					     MOMENT(struct job_rank, first),
					     MOMENT(struct job_rank, last),
					     INLINE(struct job_rank, times, work_columns),
					     INLINE_FOUND(waits_of, wait_columns),
					     GROUP_FOUND("idle_by_cause", causes_of, cause_columns),
					     GROUP_FOUND("late", late_of, late_columns),
					     GROUP("critical_path", NULL, struct job_rank, path_ns,
						   path_columns),
					     {0}};

ARRAY(rank_at, job, ranks, rank_count);

static bool problem_at(const struct row *row, const void *from, size_t index, struct entry *entry)
{
	const struct sentences *problems = &row->report->job->problems;

	(void)from;
	if (index < problems->count)
		entry->value = value_text(problems->items[index]);
	return index < problems->count;
}

FINDER(job_of, struct report, report, report->job->rank_count ? report->job : NULL);
FINDER(all_of, struct report, report, report->job->rank_count ? &report->job->all : NULL);
FINDER(path_of, struct report, report, report->job->rank_count ? report->job->path_ns : NULL);

static const struct column job_columns[] = {MOMENT(struct job, first),
					    MOMENT(struct job, last),
					    FIELD(struct job, host_count),
					    {FIELD_AS("critical_path_hop_count", struct job,
						      path_hop_count)},
					    FIELD(struct job, unknown_transfer_count),
					    {0}};

static const struct column object[] = {INLINE_FOUND(job_of, job_columns),
				       GROUP_FOUND("all", all_of, time_columns),
				       GROUP_FOUND("critical_path", path_of, path_columns),
				       ROWS("ranks", rank_columns, rank_at),
				       LIST("problems", problem_at),
				       {0}};

/* ---- text: all ranks ---- */

static const char *share(int64_t part_ns, int64_t whole_ns, struct figure *out)
{
	*out = format_percent((double)part_ns, (double)whole_ns);
	return out->text;
}

static void put_sum(struct page *page, const struct job *job)
{
	const struct job_times *all = &job->all;
	int64_t copies_ns = all->busy_ns - all->computation_ns - all->exposed_ns;
	struct sentence sentence = {""};
	struct figure figure;

	sentence_append(&sentence, "computation %s, ",
			share(all->computation_ns, all->wall_ns, &figure));
	sentence_append(&sentence, "exposed communication %s",
			share(all->exposed_ns, all->wall_ns, &figure));
	if (all->exposed_wait_ns)
		sentence_append(&sentence, " (waiting for late ranks %s)",
				share(all->exposed_wait_ns, all->wall_ns, &figure));
	if (copies_ns > all->wall_ns / 1000)
		sentence_append(&sentence, ", other copies %s",
				share(copies_ns, all->wall_ns, &figure));
	sentence_append(&sentence, ", idle %s", share(all->idle_ns, all->wall_ns, &figure));
	if (all->communication_ns)
		sentence_append(&sentence, "; %s of communication runs beside computation",
				share(all->overlapped_ns, all->communication_ns, &figure));
	page_wrap(page, "  all ranks  ", sentence.text, 13);
}

/* The largest causes of idle time, those of at least a percent of the wall time. */
static void put_idle(struct page *page, const struct job *job)
{
	bool is_told[GAP_CAUSE_COUNT] = {false};
	struct sentence sentence = {""};

	for (int told = 0; told < 3; told++) {
		int most = -1;
		struct figure figure;

		for (int cause = 0; cause < GAP_CAUSE_COUNT; cause++)
			if (!is_told[cause] &&
			    job->all.by_cause_ns[cause] > job->all.wall_ns / 100 &&
			    (most < 0 || job->all.by_cause_ns[cause] > job->all.by_cause_ns[most]))
				most = cause;
		if (most < 0)
			break;
		is_told[most] = true;
		sentence_append(&sentence, "%s%s %s", told ? ", " : "",
				gap_cause_title((enum gap_cause)most),
				share(job->all.by_cause_ns[most], job->all.wall_ns, &figure));
	}
	if (*sentence.text)
		page_wrap(page, "  idle       ", sentence.text, 13);
}

/* ---- text: who is late, and the path ---- */

/* Why, the causes of at least a twentieth. */
static void append_causes(struct sentence *sentence, const struct job_late *late)
{
	bool is_first = true;

	for (int cause = 0; cause < JOB_LATE_CAUSE_COUNT; cause++) {
		struct figure figure;

		if (late->by_cause_ns[cause] < late->caused_wait_ns / 20)
			continue;
		sentence_append(sentence, "%s %s (%s)", is_first ? ":" : ",",
				job_late_words((enum job_late_cause)cause),
				share(late->by_cause_ns[cause], late->caused_wait_ns, &figure));
		is_first = false;
	}
}

static void put_late_rank(struct page *page, const struct job_rank *rank)
{
	const struct job_late *late = &rank->late;
	struct sentence sentence = {""};
	char name[256];

	job_name_rank(name, sizeof(name), page->report->profile, rank);
	sentence_append(&sentence, "%s comes last in %s of %s collectives", name,
			format_count(late->last_count).text,
			format_count(late->matched_count).text);
	sentence_append(&sentence, "; the others wait %s for it in all, %s at most",
			format_ns((double)late->caused_wait_ns).text,
			format_ns((double)late->most_ns).text);
	append_causes(&sentence, late);
	page_wrap(page, "  late       ", sentence.text, 13);
}

struct late_rank {
	const struct job_rank *rank;
};

static int compare_late(const void *left, const void *right)
{
	const struct job_rank *a = ((const struct late_rank *)left)->rank,
			      *b = ((const struct late_rank *)right)->rank;

	if (a->late.caused_wait_ns != b->late.caused_wait_ns)
		return a->late.caused_wait_ns > b->late.caused_wait_ns ? -1 : 1;
	return (a > b) - (a < b);
}

/* A few, each with at least a tenth of all waits. */
#define LATE_RANKS 3

static void put_late(struct page *page, const struct job *job)
{
	struct late_rank *ranks = calloc(job->rank_count + 1, sizeof(*ranks));
	int64_t all_ns = 0;

	page->has_failed |= !ranks;
	for (size_t i = 0; ranks && i < job->rank_count; i++) {
		ranks[i].rank = &job->ranks[i];
		all_ns += job->ranks[i].late.caused_wait_ns;
	}
	if (ranks)
		qsort(ranks, job->rank_count, sizeof(*ranks), compare_late);
	for (size_t i = 0; ranks && i < job->rank_count && i < LATE_RANKS; i++)
		if (ranks[i].rank->late.caused_wait_ns > all_ns / 10)
			put_late_rank(page, ranks[i].rank);
	free(ranks);
}

/* A part of the critical path: one kind of work on one rank. */
struct part {
	const struct job_rank *rank;
	enum job_path_kind kind;
};

static int64_t part_ns(const struct part *part)
{
	return part->rank->path_ns[part->kind];
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (part_ns(a) != part_ns(b))
		return part_ns(a) > part_ns(b) ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

#define PATH_PARTS 5

static void describe_parts(struct page *page, struct part *parts, size_t count, int64_t whole_ns,
			   struct sentence *sentence)
{
	qsort(parts, count, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < count && i < PATH_PARTS; i++) {
		struct figure figure;
		char name[256];

		if (part_ns(&parts[i]) < whole_ns / 100)
			break;
		job_name_rank(name, sizeof(name), page->report->profile, parts[i].rank);
		sentence_append(sentence, "%s %s of %s %s", i ? "," : ":",
				job_path_title(parts[i].kind), name,
				share(part_ns(&parts[i]), whole_ns, &figure));
	}
}

static void put_path(struct page *page, const struct job *job)
{
	struct part *parts = calloc(job->rank_count * JOB_PATH_KIND_COUNT + 1, sizeof(*parts));
	struct sentence sentence = {""};
	int64_t whole_ns = 0;
	size_t count = 0;

	page->has_failed |= !parts;
	for (size_t i = 0; parts && i < job->rank_count; i++)
		for (int kind = 0; kind < JOB_PATH_KIND_COUNT; kind++)
			parts[count++] = (struct part){&job->ranks[i], (enum job_path_kind)kind};
	for (int kind = 0; kind < JOB_PATH_KIND_COUNT; kind++)
		whole_ns += job->path_ns[kind];
	sentence_append(&sentence, "%s, %s hop%s between ranks", format_ns((double)whole_ns).text,
			format_count(job->path_hop_count).text,
			job->path_hop_count == 1 ? "" : "s");
	if (parts)
		describe_parts(page, parts, count, whole_ns, &sentence);
	if (job->unknown_transfer_count)
		sentence_append(&sentence,
				"; which rank %s copies from the host came from is not known, at "
				"these it stays on their rank",
				format_count(job->unknown_transfer_count).text);
	page_wrap(page, "  path       ", sentence.text, 13);
	free(parts);
}

/* ---- text ---- */

/* Processes are by the names of their folders, which begin with the host's. */
static bool is_first_of_host(const struct profile *profile, size_t index)
{
	return !index || strcmp(profile->processes[index - 1].host, profile->processes[index].host);
}

#define CLOCKS_SHOWN 4

static void put_clock(struct page *page, const struct profile_process *process)
{
	char text[512], host[128], base[128];
	int64_t ahead_ns = process->clock_ahead_ns;

	format_text(host, sizeof(host), process->host, 31);
	format_text(base, sizeof(base), process->clock_host, 31);
	snprintf(
		text, sizeof(text),
		"%s's is %s %s %s's by %s collectives, off by %s at most in half of them; its times are "
		"moved by that",
		host, format_ns((double)llabs(ahead_ns)).text, ahead_ns < 0 ? "behind" : "ahead of",
		base, format_count(process->clock_common_count).text,
		format_ns((double)process->clock_error_ns).text);
	page_wrap(page, "  clocks     ", text, 13);
}

static void put_clocks(struct page *page)
{
	const struct profile *profile = page->report->profile;
	size_t compared_count = 0, alone_count = 0;
	char text[160];

	for (size_t i = 0; i < profile->process_count; i++) {
		if (!*profile->processes[i].host || !is_first_of_host(profile, i))
			continue;
		if (!profile->processes[i].clock_common_count)
			alone_count++;
		else if (compared_count++ < CLOCKS_SHOWN)
			put_clock(page, &profile->processes[i]);
	}
	if (compared_count > CLOCKS_SHOWN) {
		snprintf(text, sizeof(text), "of %zu more hosts they were compared as well",
			 compared_count - CLOCKS_SHOWN);
		page_wrap(page, "  clocks     ", text, 13);
	}
	if (alone_count > 1)
		page_wrap(
			page, "  clocks     ",
			"those of hosts that have no collectives in common are taken as they are: "
			"times from one host to another are off by as much as they differ",
			13);
}

static void put_notes(struct page *page, const struct job *job)
{
	put_sum(page, job);
	put_idle(page, job);
	put_late(page, job);
	put_path(page, job);
	if (job->host_count > 1)
		put_clocks(page);
	for (size_t i = 0; i < job->problems.count; i++)
		page_wrap(page, "  problem    ", job->problems.items[i], 13);
}

static void print_job(struct page *page)
{
	static const struct text_column text_columns[] = {
		{"rank", -17, .get = get_name},		 {"wall", 8, .key = "wall_ns"},
		{"idle", 8, .key = "idle_ns"},		 {"computes", 8, .key = "computation_ns"},
		{"comm.", 8, .key = "communication_ns"}, {"exposed", 8, .key = "exposed_ns"},
		{"waits", 8, .key = "wait_ns"},		 {0}};
	const struct job *job = page->report->job;
	char note[128];

	if (!job->rank_count)
		return;
	snprintf(note, sizeof(note),
		 "%zu ranks on %zu host%s, %s from the first start to the last end",
		 job->rank_count, job->host_count, job->host_count == 1 ? "" : "s",
		 format_ns((double)(job->last_ns - job->first_ns)).text);
	page_table(page, &section_job, note, text_columns);
	put_notes(page, job);
}

const struct section section_job = {
	.key = "job",
	.title = "Job",
	.columns = rank_columns,
	.at = rank_at,
	.object = object,
	.print = print_job,
	.empty =
		"one rank was recorded: a job is several GPUs, or several processes that a launcher "
		"numbers; record the launcher: rooflinectl record -- mpirun -n 4 ./app"};
