#include "analysis/statistics/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/groups.h"
#include "base/stable_sort.h"
#include "base/sums.h"

/* What is found out of each row of profile->allocations. */
struct step {
	uint32_t kind; /* kinds[] */
	uint32_t site; /* sites[], of one that allocates */
	uint32_t ends; /* the row that allocated what this one frees or replaces, or PROFILE_NONE */
};

struct pass {
	const struct profile *profile;
	struct memory *memory;
	struct step *steps; /* as profile->allocations */
	struct groups kind_groups, site_groups;
	size_t kind_capacity, site_capacity;
	uint32_t *pool_counts; /* as profile->processes */
};

static void pass_close(struct pass *pass)
{
	free(pass->steps);
	free(pass->pool_counts);
	groups_free(&pass->kind_groups);
	groups_free(&pass->site_groups);
}

/* ---- what is freed where it was allocated ---- */

struct place {
	uint64_t address;
	uint32_t process, row;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Rows of one address stand together, in the order of time.  Static variables, whose address is not known, are never
 * freed. */
static void link_places(struct pass *pass, const struct place *places)
{
	const struct profile_allocation *rows = pass->profile->allocations;
	uint32_t live = PROFILE_NONE;

	for (size_t i = 0; i < pass->profile->allocation_count; i++) {
		if (i && compare_places(&places[i - 1], &places[i]))
			live = PROFILE_NONE;
		pass->steps[places[i].row].ends = live;
		live = rows[places[i].row].is_free || !places[i].address ? PROFILE_NONE
									 : places[i].row;
	}
}

static int link_rows(struct pass *pass)
{
	size_t count = pass->profile->allocation_count;
	struct place *places = malloc(count * sizeof(*places));
	int rc;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){pass->profile->allocations[i].address,
					   pass->profile->allocations[i].process, (uint32_t)i};
	rc = stable_sort(places, count, sizeof(*places), compare_places);
	if (rc == 0)
		link_places(pass, places);
	free(places);
	return rc;
}

/* ---- kinds ---- */

struct kind_key {
	uint64_t pool;
	uint32_t device, memory, process, unused;
};

/* Memory of a pool is of that kind alone. */
static int add_kind(struct pass *pass, const struct kind_key *key)
{
	struct memory *memory = pass->memory;
	struct memory_kind *kind =
		ARRAY_NEXT(memory->kinds, pass->kind_capacity, memory->kind_count);

	if (!kind)
		return -ENOMEM;
	*kind = (struct memory_kind){.device = key->device,
				     .memory = key->memory,
				     .process = key->process,
				     .pool = key->pool};
	if (key->pool)
		kind->pool_number = ++pass->pool_counts[key->process];
	memory->kind_count++;
	return 0;
}

static int find_kind(struct pass *pass, const struct profile_allocation *row, uint32_t *kind)
{
	const struct kind_key key = {row->pool, row->device, row->memory,
				     row->pool ? row->process : PROFILE_NONE, 0};
	int rc = groups_find(&pass->kind_groups, &key, sizeof(key), kind);

	return rc == 0 && *kind == pass->memory->kind_count ? add_kind(pass, &key) : rc;
}

static int find_kinds(struct pass *pass)
{
	const struct profile *profile = pass->profile;
	int rc = 0;

	for (size_t i = 0; i < profile->allocation_count && rc == 0; i++) {
		struct step *step = &pass->steps[i];

		if (profile->allocations[i].is_free && step->ends != PROFILE_NONE)
			step->kind = pass->steps[step->ends].kind;
		else
			rc = find_kind(pass, &profile->allocations[i], &step->kind);
	}
	return rc;
}

/* ---- sites ---- */

struct called {
	uint32_t call, row;
};

static int compare_called(const void *left, const void *right)
{
	const struct called *a = left, *b = right;

	return (a->call > b->call) - (a->call < b->call);
}

/* Ranges that are open while one goes through the calls of a thread after the other. */
struct open_ranges {
	const struct profile *profile;
	uint32_t *ranges;
	size_t depth, next;
	uint32_t thread;
};

/* NULL outside of all ranges.  Calls come as in calls[]. */
static const struct profile_range *innermost_range(struct open_ranges *open,
						   const struct profile_call *call)
{
	const struct profile_range *ranges = open->profile->ranges;
	const struct profile_thread *thread = &open->profile->threads[call->thread];

	if (open->thread != call->thread) {
		open->thread = call->thread;
		open->depth = 0;
		open->next = thread->first_range;
	}
	while (open->next < thread->first_range + thread->range_count &&
	       ranges[open->next].start_ns <= call->start_ns)
		open->ranges[open->depth++] = (uint32_t)open->next++;
	while (open->depth && ranges[open->ranges[open->depth - 1]].end_ns <= call->start_ns)
		open->depth--;
	return open->depth ? &ranges[open->ranges[open->depth - 1]] : NULL;
}

/* Domain and name as texts, as two processes may have the same ones. */
static int group_of_site(struct pass *pass, const struct memory_site *site, uint32_t *number)
{
	const char *first = site->range ? site->domain : site->call ? site->call : "";
	const char *second = site->range ? site->range : "";
	size_t first_size = strlen(first) + 1, size = first_size + strlen(second) + 2;
	char *key = malloc(size);
	int rc;

	if (!key)
		return -ENOMEM;
	memcpy(key, first, first_size);
	memcpy(key + first_size, second, size - first_size - 1);
	key[size - 1] = site->range != NULL;
	rc = groups_find(&pass->site_groups, key, size, number);
	free(key);
	return rc;
}

static int find_site(struct pass *pass, struct open_ranges *open, const struct profile_call *call,
		     uint32_t *number)
{
	const struct profile_range *range = call ? innermost_range(open, call) : NULL;
	struct memory_site site = {0}, *added;
	int rc;

	if (range)
		site = (struct memory_site){.domain = range->domain, .range = range->name};
	else if (call)
		site.call = pass->profile->call_names[call->name].text;
	rc = group_of_site(pass, &site, number);
	if (rc < 0 || *number < pass->memory->site_count)
		return rc;
	added = ARRAY_NEXT(pass->memory->sites, pass->site_capacity, pass->memory->site_count);
	if (!added)
		return -ENOMEM;
	*added = site;
	added->number = *number;
	pass->memory->site_count++;
	return 0;
}

/* A launch of a graph may allocate, but that is not what its time is spent on. */
static void add_call_time(struct pass *pass, const struct profile_call *call, uint32_t kind)
{
	if (pass->profile->call_names[call->name].call_class == CALL_MEMORY)
		sum_add_ns(&pass->memory->kinds[kind].call_ns, call->end_ns - call->start_ns);
}

/* A call that does several things has one site, and counts its time once. */
static int find_sites_of(struct pass *pass, struct open_ranges *open, const struct called *called)
{
	const struct profile *profile = pass->profile;
	uint32_t site = 0;
	int rc = 0;

	for (size_t i = 0; i < profile->allocation_count && rc == 0; i++) {
		bool is_known = called[i].call != PROFILE_NONE;
		const struct profile_call *call = is_known ? &profile->calls[called[i].call] : NULL;

		if (!i || called[i - 1].call != called[i].call) {
			rc = find_site(pass, open, call, &site);
			if (rc == 0 && is_known)
				add_call_time(pass, call, pass->steps[called[i].row].kind);
		}
		pass->steps[called[i].row].site = site;
	}
	return rc;
}

static int find_sites(struct pass *pass)
{
	const struct profile *profile = pass->profile;
	size_t count = profile->allocation_count;
	struct called *called = malloc(count * sizeof(*called));
	struct open_ranges open = {.profile = profile, .thread = PROFILE_NONE};
	int rc = -ENOMEM;

	open.ranges = malloc((profile->range_count + 1) * sizeof(*open.ranges));
	if (called && open.ranges) {
		for (size_t i = 0; i < count; i++)
			called[i] = (struct called){profile->allocations[i].call, (uint32_t)i};
		rc = stable_sort(called, count, sizeof(*called), compare_called);
	}
	if (rc == 0)
		rc = find_sites_of(pass, &open, called);
	free(open.ranges);
	free(called);
	return rc;
}

/* ---- live bytes over time ---- */

static void use_begin(struct memory_use *use, const struct profile_allocation *row)
{
	use->allocation_count++;
	sum_add_count(&use->allocated_bytes, row->bytes);
	use->live_count++;
	sum_add_count(&use->live_bytes, row->bytes);
	if (use->live_bytes > use->peak_bytes) {
		use->peak_bytes = use->live_bytes;
		use->peak_ns = row->time_ns;
	}
}

static void use_end(struct memory_use *use, uint64_t bytes, bool is_free)
{
	use->free_count += is_free;
	use->unseen_free_count += !is_free;
	use->live_count--;
	use->live_bytes -= bytes < use->live_bytes ? bytes : use->live_bytes;
}

static size_t part_of(const struct memory *memory, int64_t time_ns)
{
	double share = (double)(time_ns - memory->first_ns) /
		       ((double)(memory->last_ns - memory->first_ns) + 1);

	/* of more than 2^53 ns the 1 is lost */
	return share < 1 ? (size_t)(share * MEMORY_PARTS) : MEMORY_PARTS - 1;
}

/* The parts after *part up to this one begin with what is live; then *part is this one. */
static void advance(struct memory_kind *kind, size_t *part, size_t to)
{
	while (*part < to)
		kind->parts_bytes[++*part] = kind->use.live_bytes;
	if (kind->use.live_bytes > kind->parts_bytes[*part])
		kind->parts_bytes[*part] = kind->use.live_bytes;
}

static void take_step(struct pass *pass, size_t row)
{
	struct memory *memory = pass->memory;
	const struct profile_allocation *rows = pass->profile->allocations;
	const struct step *step = &pass->steps[row];

	if (step->ends != PROFILE_NONE) {
		const struct step *begun = &pass->steps[step->ends];

		use_end(&memory->kinds[begun->kind].use, rows[step->ends].bytes, rows[row].is_free);
		use_end(&memory->sites[begun->site].use, rows[step->ends].bytes, rows[row].is_free);
	}
	if (!rows[row].is_free) {
		use_begin(&memory->kinds[step->kind].use, &rows[row]);
		use_begin(&memory->sites[step->site].use, &rows[row]);
	} else if (step->ends == PROFILE_NONE) {
		memory->kinds[step->kind].unseen_allocation_count++;
	}
}

static int follow_time(struct pass *pass)
{
	struct memory *memory = pass->memory;
	size_t *parts = calloc(memory->kind_count, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < pass->profile->allocation_count; i++) {
		const struct step *step = &pass->steps[i];
		uint32_t begun = pass->steps[step->ends == PROFILE_NONE ? i : step->ends].kind;
		size_t part = part_of(memory, pass->profile->allocations[i].time_ns);

		advance(&memory->kinds[step->kind], &parts[step->kind], part);
		advance(&memory->kinds[begun], &parts[begun], part);
		take_step(pass, i);
		advance(&memory->kinds[step->kind], &parts[step->kind], part);
	}
	for (size_t i = 0; i < memory->kind_count; i++)
		advance(&memory->kinds[i], &parts[i], MEMORY_PARTS - 1);
	free(parts);
	return 0;
}

/* ---- all of it ---- */

static int compare_kinds(const void *left, const void *right)
{
	const struct memory_kind *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->memory != b->memory)
		return a->memory < b->memory ? -1 : 1;
	if (!a->pool_number != !b->pool_number)
		return a->pool_number ? 1 : -1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->pool_number > b->pool_number) - (a->pool_number < b->pool_number);
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_sites(const void *left, const void *right)
{
	const struct memory_site *a = left, *b = right;
	int order;

	if (a->use.peak_bytes != b->use.peak_bytes)
		return a->use.peak_bytes > b->use.peak_bytes ? -1 : 1;
	order = compare_texts(a->range, b->range);
	if (!order)
		order = compare_texts(a->domain, b->domain);
	return order ? order : compare_texts(a->call, b->call);
}

/* Sites that freed only hold nothing. */
static void sort(struct memory *memory)
{
	size_t kept = 0;

	for (size_t i = 0; i < memory->site_count; i++)
		if (memory->sites[i].use.allocation_count)
			memory->sites[kept++] = memory->sites[i];
	memory->site_count = kept;
	qsort(memory->kinds, memory->kind_count, sizeof(*memory->kinds), compare_kinds);
	qsort(memory->sites, memory->site_count, sizeof(*memory->sites), compare_sites);
}

/* Once sites are sorted. */
static int keep_sites(struct memory *memory, const struct pass *pass)
{
	size_t count = pass->profile->allocation_count;
	uint32_t *places = malloc((pass->site_groups.count + 1) * sizeof(*places));

	memory->row_sites = malloc(count * sizeof(*memory->row_sites));
	if (places && memory->row_sites) {
		for (size_t i = 0; i < memory->site_count; i++)
			places[memory->sites[i].number] = (uint32_t)i;
		for (size_t i = 0; i < count; i++)
			memory->row_sites[i] = pass->profile->allocations[i].is_free
						       ? PROFILE_NONE
						       : places[pass->steps[i].site];
	}
	free(places);
	return memory->row_sites && places ? 0 : -ENOMEM;
}

static void set_bounds(struct memory *memory, const struct profile *profile)
{
	memory->first_ns = memory->last_ns = profile->allocations[0].time_ns;
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].last_ns > memory->last_ns)
			memory->last_ns = profile->processes[i].last_ns;
}

static int build(struct memory *memory, const struct profile *profile)
{
	struct pass pass = {.profile = profile, .memory = memory};
	int rc = -ENOMEM;

	set_bounds(memory, profile);
	pass.steps = calloc(profile->allocation_count, sizeof(*pass.steps));
	pass.pool_counts = calloc(profile->process_count, sizeof(*pass.pool_counts));
	if (pass.steps && pass.pool_counts)
		rc = link_rows(&pass);
	if (rc == 0)
		rc = find_kinds(&pass);
	if (rc == 0)
		rc = find_sites(&pass);
	if (rc == 0)
		rc = follow_time(&pass);
	if (rc == 0) {
		sort(memory);
		rc = keep_sites(memory, &pass);
	}
	pass_close(&pass);
	return rc;
}

int memory_build(struct memory **out, const struct profile *profile, struct err *err)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	int rc = memory ? 0 : -ENOMEM;

	*out = memory;
	if (rc == 0 && profile->allocation_count)
		rc = build(memory, profile);
	return rc < 0 ? err_set(err, rc, "out of memory for what the program allocated") : 0;
}

void memory_free(struct memory *memory)
{
	if (!memory)
		return;
	free(memory->kinds);
	free(memory->sites);
	free(memory->row_sites);
	free(memory);
}
