#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/ns.h"
#include "trace/loader.h"

/*
 * loader_doubts.c - finds what cannot be true of an imported file.
 *
 * Other tools drop records, write times of clocks that differ, and durations that are damaged.  Three things are
 * impossible on a GPU and show that: a launch that succeeded without any operation, an operation that begins before the
 * call that launched it, and operations of one stream that overlap.  Operations whose times are impossible are left out;
 * what is missing or shifted is kept in the profile, so that no cause and no prediction is made of it.
 */

/* Times of old files are whole microseconds: two of them may be off by one each. */
#define SLACK_NS 2000
/* Less than this, and of few operations, is how exactly a GPU's clock is read. */
#define SMALL_OVERLAP_NS 20000
#define FEW_PART 100
/* A tenth of all operations begins early: the clocks differ.  Fewer are damaged rows. */
#define EARLY_PART 10
/* Leaving one out may show others: as often as that is looked again. */
#define PASSES_MOST 8

static const char *call_text(const struct profile *profile, uint32_t call)
{
	return call == PROFILE_NONE ? "" : profile->call_names[profile->calls[call].name].text;
}

static enum profile_call_class call_class(const struct profile *profile, uint32_t call)
{
	return profile->call_names[profile->calls[call].name].call_class;
}

static struct reader_place place_in(const struct process_loader *loader, enum trace_table table)
{
	return (struct reader_place){loader->source->name, table, 0};
}

/* Removes the marked operations; marks are from those of the process on. */
static void leave_out(struct process_loader *loader, const bool *is_out)
{
	struct loader *all = loader->loader;
	size_t kept = loader->first_op;

	for (size_t i = loader->first_op; i < all->op_count; i++)
		if (!is_out[i - loader->first_op])
			all->ops[kept++] = all->ops[i];
	all->op_count = kept;
}

/* ---- operations that begin before their launch ---- */

/* 0 where it does not, or where the call is not known. */
static int64_t early_ns(const struct profile *profile, const struct profile_op *op)
{
	enum profile_call_class class;
	int64_t ns;

	if (op->call == PROFILE_NONE)
		return 0;
	class = call_class(profile, op->call);
	if (class != CALL_LAUNCH && class != CALL_GRAPH_LAUNCH && class != CALL_COPY)
		return 0;
	ns = profile->calls[op->call].start_ns - op->start_ns;
	return ns > SLACK_NS ? ns : 0;
}

static void find_early(struct process_loader *loader, bool *is_out)
{
	const struct loader *all = loader->loader;
	struct profile_process *process = &all->profile->processes[loader->process];
	struct reader_place place = place_in(loader, TRACE_TABLE_kernels);
	size_t launched_count = 0, early_count = 0;
	int64_t most_ns = 0;

	for (size_t i = loader->first_op; i < all->op_count; i++) {
		int64_t ns = early_ns(all->profile, &all->ops[i].op);

		launched_count += all->ops[i].op.call != PROFILE_NONE;
		early_count += ns > 0;
		most_ns = max_ns(most_ns, ns);
	}
	if (early_count * EARLY_PART > launched_count) {
		process->early_ns = most_ns;
		process->early_count = early_count;
		return;
	}
	for (size_t i = loader->first_op; early_count && i < all->op_count; i++) {
		int64_t ns = early_ns(all->profile, &all->ops[i].op);

		if (!ns)
			continue;
		is_out[i - loader->first_op] = true;
		process->impossible_count++;
		reader_count_loss(&loader->others.losses, READER_impossible_times, &place,
				  "an operation begins %s before the call that launched it",
				  format_ns((double)ns).text);
	}
}

/* ---- operations of one stream that overlap ---- */

struct stream_op {
	size_t op; /* loader->ops[] */
	uint32_t stream;
	int64_t start_ns, end_ns;
	size_t overlap_count; /* others that it overlaps */
};

static int compare_stream_ops(const void *left, const void *right)
{
	const struct stream_op *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Nodes of a graph run next to each other, wherever the graph was launched. */
static bool is_of_graph(const struct profile *profile, const struct loaded_op *op)
{
	return op->ids.graph_node || op->op.kind == OP_GRAPH ||
	       (op->op.call != PROFILE_NONE &&
		call_class(profile, op->op.call) == CALL_GRAPH_LAUNCH);
}

/* A launch with programmatic stream serialization begins before the kernel in front of it ends, and ends after it. */
static bool may_be_dependent(const struct profile *profile, const struct loaded_op *before,
			     const struct loaded_op *op)
{
	uint32_t major = profile->devices[op->device].compute_major;

	return before->op.kind == OP_KERNEL && op->op.kind == OP_KERNEL &&
	       op->op.end_ns + SLACK_NS >= before->op.end_ns && (!major || major >= 9) &&
	       (op->op.call == PROFILE_NONE || strstr(call_text(profile, op->op.call), "Ex"));
}

/* Return by how much the second operation of a stream overlaps the first, which is impossible; 0: not at all. */
static int64_t overlap_ns(const struct profile *profile, const struct loaded_op *before,
			  const struct loaded_op *op)
{
	int64_t ns = min_ns(before->op.end_ns, op->op.end_ns) - op->op.start_ns;

	if (before->op.end_ns - op->op.start_ns <= SLACK_NS || is_of_graph(profile, before) ||
	    is_of_graph(profile, op) || may_be_dependent(profile, before, op))
		return 0;
	return max_ns(ns, 1);
}

struct overlaps {
	size_t count, first; /* first: of the worst the operation in front */
	int64_t most_ns;
	bool is_small;
};

/* Counts those of items[first] to items[end], which are one stream. */
static struct overlaps count_overlaps(const struct loader *all, struct stream_op *items,
				      size_t first, size_t end)
{
	struct overlaps found = {.is_small = true};
	size_t open = first; /* ends last so far */

	for (size_t i = first + 1; i < end; i++) {
		int64_t ns =
			overlap_ns(all->profile, &all->ops[items[open].op], &all->ops[items[i].op]);

		if (ns) {
			items[open].overlap_count++;
			items[i].overlap_count++;
			found.count++;
			found.is_small = found.is_small && ns <= SMALL_OVERLAP_NS &&
					 items[i].end_ns >= items[open].end_ns;
		}
		if (ns > found.most_ns) {
			found.most_ns = ns;
			found.first = open;
		}
		if (items[i].end_ns >= items[open].end_ns)
			open = i;
	}
	found.is_small = found.is_small && found.count * FEW_PART <= end - first;
	return found;
}

/* One that overlaps several is wrong itself; of two that overlap either may be. */
static size_t mark_overlaps(bool *is_out, const struct process_loader *loader,
			    const struct stream_op *items, size_t first, size_t end)
{
	size_t most = 0, marked = 0;

	for (size_t i = first; i < end; i++)
		most = items[i].overlap_count > most ? items[i].overlap_count : most;
	for (size_t i = first; most && i < end; i++)
		if (items[i].overlap_count >= (most > 1 ? 2 : 1)) {
			is_out[items[i].op - loader->first_op] = true;
			marked++;
		}
	return marked;
}

static void tell_overlap(struct process_loader *loader, const struct stream_op *worst,
			 const struct overlaps *found, size_t marked)
{
	const struct profile *profile = loader->loader->profile;
	struct reader_place place = place_in(loader, TRACE_TABLE_kernels);

	reader_count_loss(
		&loader->others.losses, READER_impossible_times, &place,
		"stream %u: an operation of %s overlaps %zu others of its stream, by up to %s",
		profile->streams[worst->stream].stream,
		format_ns((double)(worst->end_ns - worst->start_ns)).text, worst->overlap_count,
		format_ns((double)found->most_ns).text);
	loader->others.losses.count[READER_impossible_times] += marked - 1;
	profile->processes[loader->process].impossible_count += marked;
}

/* Returns how many were marked. */
static size_t find_overlaps(struct process_loader *loader, struct stream_op *items, size_t count,
			    bool *is_out)
{
	size_t all_marked = 0;

	for (size_t first = 0, end; first < count; first = end) {
		struct overlaps found;
		size_t marked;

		for (end = first; end < count && items[end].stream == items[first].stream; end++)
			items[end].overlap_count = 0;
		found = count_overlaps(loader->loader, items, first, end);
		if (!found.count || found.is_small)
			continue;
		marked = mark_overlaps(is_out, loader, items, first, end);
		tell_overlap(loader, &items[found.first], &found, marked);
		all_marked += marked;
	}
	return all_marked;
}

static size_t list_by_stream(struct stream_op *items, const struct process_loader *loader,
			     const bool *is_out)
{
	const struct loader *all = loader->loader;
	size_t count = 0;

	for (size_t i = loader->first_op; i < all->op_count; i++)
		if (!is_out[i - loader->first_op])
			items[count++] = (struct stream_op){.op = i,
							    .stream = all->ops[i].op.stream,
							    .start_ns = all->ops[i].op.start_ns,
							    .end_ns = all->ops[i].op.end_ns};
	if (count)
		qsort(items, count, sizeof(*items), compare_stream_ops);
	return count;
}

static int find_impossible(struct process_loader *loader)
{
	size_t op_count = loader->loader->op_count - loader->first_op, left = 1;
	bool *is_out = calloc(op_count + 1, sizeof(*is_out));
	struct stream_op *items = malloc((op_count + 1) * sizeof(*items));

	if (!is_out || !items) {
		free(is_out);
		free(items);
		return -ENOMEM;
	}
	find_early(loader, is_out);
	for (int pass = 0; left && pass < PASSES_MOST; pass++)
		left = find_overlaps(loader, items, list_by_stream(items, loader, is_out), is_out);
	leave_out(loader, is_out);
	free(is_out);
	free(items);
	return 0;
}

/* ---- launches without an operation ---- */

struct capture {
	int64_t ns;
	int step; /* 1: one begins, -1: ends */
};

static int compare_captures(const void *left, const void *right)
{
	const struct capture *a = left, *b = right;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

struct captures {
	struct capture *items;
	size_t capacity, count;
};

/* Launches into a captured stream run when the graph does. */
static int find_captures(struct captures *captures, const struct process_loader *loader)
{
	const struct profile *profile = loader->loader->profile;

	for (size_t i = loader->first_call; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];
		const char *name = call_text(profile, (uint32_t)i);
		bool is_begin = strstr(name, "StreamBeginCapture") != NULL;
		struct capture *capture;

		if (!is_begin && !strstr(name, "StreamEndCapture"))
			continue;
		capture = ARRAY_NEXT(captures->items, captures->capacity, captures->count);
		if (!capture)
			return -ENOMEM;
		captures->items[captures->count++] =
			(struct capture){call->start_ns, is_begin ? 1 : -1};
	}
	if (captures->count)
		qsort(captures->items, captures->count, sizeof(*captures->items), compare_captures);
	return 0;
}

/* The file may begin within a capture, and end within one. */
static bool is_captured(const struct captures *captures, int64_t ns)
{
	int depth = 0, least = 0;

	for (size_t i = 0; i < captures->count; i++) {
		depth += captures->items[i].step;
		least = depth < least ? depth : least;
	}
	depth = -least;
	for (size_t i = 0; i < captures->count && captures->items[i].ns <= ns; i++)
		depth += captures->items[i].step;
	return depth > 0;
}

/* A host function leaves no record on a GPU, and a call that failed launched nothing. */
static bool is_launch(const struct profile *profile, uint32_t call)
{
	enum profile_call_class class = call_class(profile, call);

	if (profile->calls[call].result)
		return false;
	return class == CALL_GRAPH_LAUNCH ||
	       (class == CALL_LAUNCH && !strstr(call_text(profile, call), "Host") &&
		!strstr(call_text(profile, call), "Callback"));
}

static int compare_lost(const void *left, const void *right)
{
	const struct profile_lost_launch *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* has_op: by calls of the process.  A file that begins or ends between a launch and its operation lacks one of them:
 * only what was launched between launches whose operations are there leaves a hole. */
static int add_lost(struct process_loader *loader, const bool *has_op,
		    const struct captures *captures)
{
	struct loader *all = loader->loader;
	struct profile *profile = all->profile;
	struct profile_process *process = &profile->processes[loader->process];
	struct reader_place place = place_in(loader, TRACE_TABLE_api);
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	size_t first = profile->lost_launch_count;

	for (size_t i = loader->first_call; i < profile->call_count; i++)
		if (has_op[i - loader->first_call]) {
			first_ns = min_ns(first_ns, profile->calls[i].start_ns);
			last_ns = max_ns(last_ns, profile->calls[i].start_ns);
		}
	for (size_t i = loader->first_call; i < profile->call_count; i++) {
		int64_t start_ns = profile->calls[i].start_ns;
		struct profile_lost_launch *lost;

		if (!is_launch(profile, (uint32_t)i))
			continue;
		process->launch_count++;
		if (has_op[i - loader->first_call] || is_captured(captures, start_ns))
			continue;
		process->lost_launch_count++;
		reader_count_loss(&loader->others.losses, READER_lost_operations, &place,
				  "the first is of a call of %s", call_text(profile, (uint32_t)i));
		if (first_ns < last_ns && (start_ns < first_ns || start_ns > last_ns))
			continue;
		lost = ARRAY_NEXT(profile->lost_launches, all->capacity.lost_launches,
				  profile->lost_launch_count);
		if (!lost)
			return -ENOMEM;
		*lost = (struct profile_lost_launch){start_ns, loader->process};
		profile->lost_launch_count++;
	}
	if (profile->lost_launch_count > first)
		qsort(profile->lost_launches + first, profile->lost_launch_count - first,
		      sizeof(*profile->lost_launches), compare_lost);
	return 0;
}

static int find_lost(struct process_loader *loader)
{
	const struct loader *all = loader->loader;
	size_t call_count = all->profile->call_count - loader->first_call;
	bool *has_op = calloc(call_count + 1, sizeof(*has_op));
	struct captures captures = {0};
	int rc = has_op ? find_captures(&captures, loader) : -ENOMEM;

	for (size_t i = loader->first_op; rc == 0 && i < all->op_count; i++)
		if (all->ops[i].op.call != PROFILE_NONE)
			has_op[all->ops[i].op.call - loader->first_call] = true;
	if (rc == 0)
		rc = add_lost(loader, has_op, &captures);
	free(captures.items);
	free(has_op);
	return rc;
}

int loader_find_doubts(struct process_loader *loader)
{
	const struct profile_process *process =
		&loader->loader->profile->processes[loader->process];
	const uint64_t needed = TABLE(kernels) | TABLE(api);
	int rc;

	if (!*profile_property(process, "imported_from", "") || process->run == RUN_COUNTERS ||
	    (loader->tables & needed) != needed)
		return 0;
	rc = find_impossible(loader);
	return rc < 0 ? rc : find_lost(loader);
}
