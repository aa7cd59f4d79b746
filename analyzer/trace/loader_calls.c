#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/api_class.h"
#include "trace/loader.h"
#include "base/search.h"
#include "base/stable_sort.h"

/* Correlation ids are counted upwards for all calls, recorded or not; an array is good while at
 * least one id in this many is recorded. */
#define DENSE_SPREAD 4

/* ---- names ---- */

/* call_names[] of a raw name, or PROFILE_NONE without memory. */
static uint32_t call_name_index(struct loader *loader, const char *raw)
{
	struct profile *profile = loader->profile;
	char text[256];
	struct profile_call_name *name;
	uint32_t number;

	api_plain_name(text, sizeof(text), raw);
	number = strings_number(loader->call_texts, text);
	if (number == PROFILE_NONE || number < profile->call_name_count)
		return number;
	if (number == CALL_NAMES_MOST)
		return PROFILE_NONE;
	name = ARRAY_NEXT(profile->call_names, loader->capacity.call_names,
			  profile->call_name_count);
	if (!name)
		return PROFILE_NONE;
	*name = (struct profile_call_name){strdup(text), api_class(text)};
	profile->call_name_count++;
	return name->text ? number : PROFILE_NONE;
}

static uint32_t loader_call_name(struct loader_task *task, uint32_t id,
				 const struct reader_place *place)
{
	struct process_loader *loader = task->owner;
	uint32_t index = id_map_get(&loader->names, id);

	if (index == PROFILE_NONE) {
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "name %u is not in names.csv", id);
		return call_name_index(loader->loader, "unknown call");
	}
	if (loader->name_calls[index] == PROFILE_NONE)
		loader->name_calls[index] =
			call_name_index(loader->loader, loader->name_texts[index]);
	return loader->name_calls[index];
}

/* ---- rows ---- */

static int add_call(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_api_row *from = &row->api;
	struct profile_call *call;
	uint32_t name, thread;

	if (!loader_check_times(task, from->start_ns, from->end_ns, place))
		return 0;
	call = ARRAY_NEXT(all->profile->calls, all->capacity.calls, all->profile->call_count);
	name = loader_call_name(task, from->name, place);
	thread = loader_thread(task->owner, from->thread);
	if (!call || name == PROFILE_NONE || thread == PROFILE_NONE)
		return -ENOMEM;
	*call = (struct profile_call){
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.name = name,
		.thread = thread,
		.correlation = from->correlation,
		.result = from->result < CALL_RESULT_MOST ? from->result : CALL_RESULT_MOST,
	};
	all->profile->call_count++;
	return 0;
}

/* ---- order and nesting ---- */

/* By thread, then start; of two that start together the longer, which contains the other, first. */
static int compare_calls(const void *left, const void *right)
{
	const struct profile_call *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

static bool call_contains(const struct profile_call *outer, const struct profile_call *call)
{
	return outer->thread == call->thread && outer->start_ns <= call->start_ns &&
	       call->end_ns <= outer->end_ns;
}

static bool is_runtimes(const struct profile *profile, const struct profile_call *call)
{
	const char *name = profile->call_names[call->name].text;

	return !strncmp(name, "cuda", 4) || !strncmp(name, "hip", 3);
}

/* How far apart two moments of the process may be that its file has as one: 0 for what we recorded ourselves. */
static int64_t slack_of(const struct process_loader *loader)
{
	const struct profile_process *process =
		&loader->loader->profile->processes[loader->process];

	if (!*profile_property(process, "imported_from", ""))
		return 0;
	return loader_property_number(process, "imported_resolution_ns", 1);
}

/* A call that is no longer than the moments of its file, at one end of another of the same kind: they follow each other,
 * where a call of the driver lies in one of the runtime. */
static bool is_beside(const struct profile *profile, const struct profile_call *outer,
		      const struct profile_call *call, int64_t slack_ns)
{
	return outer->thread == call->thread && call->end_ns - call->start_ns <= slack_ns &&
	       (call->start_ns == outer->start_ns || call->start_ns == outer->end_ns) &&
	       is_runtimes(profile, outer) == is_runtimes(profile, call);
}

static bool is_nested(const struct profile *profile, const struct profile_call *outer,
		      const struct profile_call *call, int64_t slack_ns)
{
	return call_contains(outer, call) &&
	       !(slack_ns && is_beside(profile, outer, call, slack_ns));
}

/* Among calls that begin at the same time the longer one is first, as it may contain the others; a short one of the same kind
 * came before it. */
static void put_short_first(struct process_loader *loader, int64_t slack_ns)
{
	struct profile *profile = loader->loader->profile;
	struct profile_call *calls = profile->calls;

	for (size_t i = loader->first_call + 1; slack_ns && i < profile->call_count; i++)
		for (size_t k = i;
		     k > loader->first_call && calls[k - 1].start_ns == calls[k].start_ns &&
		     calls[k - 1].end_ns > calls[k].end_ns &&
		     is_beside(profile, &calls[k - 1], &calls[k], slack_ns);
		     k--) {
			const struct profile_call longer = calls[k - 1];

			calls[k - 1] = calls[k];
			calls[k] = longer;
		}
}

static int correlations_prepare(struct process_loader *loader)
{
	struct correlation_map *map = &loader->correlations;
	const struct profile *profile = loader->loader->profile;
	size_t count = profile->call_count - loader->first_call;
	uint32_t first = UINT32_MAX, last = 0;

	for (size_t i = loader->first_call; i < profile->call_count; i++) {
		uint32_t correlation = profile->calls[i].correlation;

		first = correlation < first ? correlation : first;
		last = correlation > last ? correlation : last;
	}
	if (count && (last - first) / DENSE_SPREAD <= count) {
		map->first = first;
		map->dense_count = (size_t)(last - first) + 1;
		map->dense = malloc(map->dense_count * sizeof(*map->dense));
		if (map->dense)
			memset(map->dense, 0xff, map->dense_count * sizeof(*map->dense));
		return map->dense ? 0 : -ENOMEM;
	}
	map->pairs = malloc((count ? count : 1) * sizeof(*map->pairs));
	return map->pairs ? 0 : -ENOMEM;
}

/* The first call of a correlation id stays: it is the outermost. */
static void correlations_add(struct correlation_map *map, uint32_t correlation, uint32_t call)
{
	if (map->dense) {
		uint32_t *slot = &map->dense[correlation - map->first];

		*slot = *slot == PROFILE_NONE ? call : *slot;
		return;
	}
	map->pairs[map->pair_count++] = (struct correlation_pair){correlation, call};
}

static int compare_pairs(const void *left, const void *right)
{
	const struct correlation_pair *a = left, *b = right;

	return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

/* A thread is in one call at a time: a damaged call ends where the next one begins. */
static void end_before(struct loader_task *task, struct profile_call *call,
		       const struct profile_call *next, int64_t slack_ns)
{
	struct reader_place place = {task->owner->source->name, TRACE_TABLE_api, 0};

	if (call->thread != next->thread || call->end_ns <= next->start_ns)
		return;
	if (call->end_ns - next->start_ns <= slack_ns) { /* rounded */
		call->end_ns = next->start_ns;
		return;
	}
	reader_count_loss(&task->losses, READER_invalid_times, &place,
			  "a call that lasts until %lld, and one of its thread from %lld on",
			  (long long)call->end_ns, (long long)next->start_ns);
	call->end_ns = next->start_ns;
}

/* Keeps the outermost calls; the ids of the dropped ones lead to the call that contains them. */
static void drop_nested_calls(struct loader_task *task)
{
	struct process_loader *loader = task->owner;
	struct profile *profile = loader->loader->profile;
	struct profile_call *calls = profile->calls;
	size_t kept = loader->first_call;
	int64_t slack_ns = slack_of(loader);

	put_short_first(loader, slack_ns);
	for (size_t i = loader->first_call; i < profile->call_count; i++) {
		if (kept == loader->first_call ||
		    !is_nested(profile, &calls[kept - 1], &calls[i], slack_ns)) {
			if (kept > loader->first_call)
				end_before(task, &calls[kept - 1], &calls[i], slack_ns);
			calls[kept++] = calls[i];
		}
		correlations_add(&loader->correlations, calls[i].correlation, (uint32_t)kept - 1);
	}
	profile->call_count = kept;
}

int loader_sort_calls(struct process_loader *loader)
{
	struct profile *profile = loader->loader->profile;
	size_t count = profile->call_count - loader->first_call;

	return count ? stable_sort(profile->calls + loader->first_call, count,
				   sizeof(*profile->calls), compare_calls)
		     : 0;
}

int loader_read_calls(struct loader_task *task)
{
	struct process_loader *loader = task->owner;
	int rc = loader_read(task, TRACE_TABLE_api, add_call);

	if (rc == 0)
		rc = loader_sort_calls(loader);
	if (rc == 0)
		rc = loader_join_threads(loader);
	if (rc == 0)
		rc = correlations_prepare(loader);
	if (rc < 0)
		return rc;
	drop_nested_calls(task);
	return stable_sort(loader->correlations.pairs, loader->correlations.pair_count,
			   sizeof(*loader->correlations.pairs), compare_pairs);
}

struct correlation_search {
	const struct correlation_pair *pairs;
	uint32_t correlation;
};

static bool is_correlation_reached(size_t index, const void *context)
{
	const struct correlation_search *search = context;

	return search->pairs[index].correlation >= search->correlation;
}

uint32_t loader_call(const struct process_loader *loader, uint32_t correlation)
{
	const struct correlation_map *map = &loader->correlations;
	const struct correlation_search search = {map->pairs, correlation};
	size_t first;

	if (correlation == 0)
		return PROFILE_NONE;
	if (map->dense) {
		if (correlation < map->first || correlation - map->first >= map->dense_count)
			return PROFILE_NONE;
		return map->dense[correlation - map->first];
	}
	first = search_first(0, map->pair_count, is_correlation_reached, &search);
	return first < map->pair_count && map->pairs[first].correlation == correlation
		       ? map->pairs[first].call
		       : PROFILE_NONE;
}
