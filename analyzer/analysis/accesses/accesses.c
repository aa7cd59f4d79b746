#include "analysis/accesses/accesses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/accesses/live_memory.h"
#include "analysis/accesses/parameters.h"
#include "analysis/statistics/memory.h"
#include "base/array.h"
#include "base/groups.h"
#include "base/stable_sort.h"

/* What one launch was given, found in memory; the head of the key by which launches are alike. */
struct given_memory {
	uint32_t kernel, is_whole;
	struct kernel_access items[];
};

struct asked_kernel {
	bool is_asked;
	struct parameters parameters; /* then */
};

struct cached {
	uint64_t version; /* of live memory */
	uint32_t list;
};

struct pass {
	const struct profile *profile;
	struct accesses *accesses;
	struct live_memory live;
	struct asked_kernel *kernels; /* by kernel_names[]; owned */
	struct given_memory *found;   /* of the launch that is looked at */
	size_t found_count;
	struct groups list_groups, cache_groups;
	struct cached *cache;
	size_t cache_capacity, list_capacity, item_capacity;
	bool has_other_memory;	 /* such as is mapped, which no row of allocations tells */
	bool has_updated_graphs; /* nodes may have been given other arguments */
};

/* ---- what the program did ---- */

static bool calls_any(const struct profile *profile, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < profile->call_name_count; i++)
		for (size_t j = 0; j < count; j++)
			if (strstr(profile->call_names[i].text, parts[j]))
				return true;
	return false;
}

static void look_at_calls(struct pass *pass)
{
	static const char *const mapping[] = {
		"MemMap",	"IpcOpenMem",	 "ExternalMemory",     "MapResources",
		"HostRegister", "ImportPointer", "ImportFromShareable"};
	static const char *const updating[] = {"GraphExecUpdate"};

	pass->has_other_memory =
		calls_any(pass->profile, mapping, sizeof(mapping) / sizeof(mapping[0]));
	pass->has_updated_graphs = calls_any(pass->profile, updating, 1);
}

/* ---- what one launch was given ---- */

static const struct parameters *parameters_of(struct pass *pass, uint32_t kernel)
{
	struct asked_kernel *asked = &pass->kernels[kernel];

	if (!asked->is_asked)
		parameters_of_name(&asked->parameters, pass->profile->kernel_names[kernel]);
	asked->is_asked = true;
	return &asked->parameters;
}

/* What lies in a struct, and what a name does not tell, is a value. */
static enum parameter_kind kind_of(const struct parameters *parameters,
				   const struct profile_argument *argument)
{
	bool is_told = parameters->is_known && argument->parameter < parameters->count &&
		       !argument->offset;

	return is_told ? (enum parameter_kind)parameters->kinds[argument->parameter]
		       : PARAMETER_VALUE;
}

/* A number in a struct may look like an address and be none, unless there is memory that allocations do not tell. */
static bool may_be_number(const struct pass *pass, const struct parameters *parameters,
			  enum parameter_kind kind)
{
	return kind == PARAMETER_VALUE && parameters->is_known && !pass->has_other_memory;
}

static void find_argument(struct pass *pass, const struct parameters *parameters, uint32_t process,
			  const struct profile_argument *argument)
{
	static const enum access_kind accesses[] = {[PARAMETER_VALUE] = ACCESS_UNTOLD,
						    [PARAMETER_READ] = ACCESS_READ,
						    [PARAMETER_CHANGED] = ACCESS_CHANGED,
						    [PARAMETER_POINTERS] = ACCESS_UNTOLD};
	const struct live_block *block = live_memory_find(&pass->live, process, argument->address);
	enum parameter_kind kind = kind_of(parameters, argument);

	if (kind == PARAMETER_POINTERS || (!block && !may_be_number(pass, parameters, kind)))
		pass->found->is_whole = false;
	if (!block)
		return;
	pass->found->items[pass->found_count++] =
		(struct kernel_access){.offset = argument->address - block->address,
				       .allocation = block->allocation,
				       .kind = accesses[kind]};
}

/* T * that need not be for changing: of a kernel that declares nothing const, beside others of that sort. */
static void doubt_changes(struct pass *pass, const struct parameters *parameters)
{
	size_t unread = 0;

	for (size_t i = 0; i < pass->found_count; i++)
		unread += pass->found->items[i].kind != ACCESS_READ;
	if (parameters->has_const || (unread == 1 && pass->found->is_whole))
		return;
	for (size_t i = 0; i < pass->found_count; i++)
		if (pass->found->items[i].kind == ACCESS_CHANGED)
			pass->found->items[i].kind = ACCESS_UNTOLD;
}

static int find_memory(struct pass *pass, uint32_t kernel, uint32_t process,
		       const struct profile_argument_set *set)
{
	const struct parameters *parameters = parameters_of(pass, kernel);
	struct given_memory *found =
		realloc(pass->found, sizeof(*found) + set->count * sizeof(*found->items));

	if (found)
		pass->found = found;
	if (!found)
		return -ENOMEM;
	found->kernel = kernel;
	found->is_whole = set->is_whole;
	pass->found_count = 0;
	for (uint32_t i = 0; i < set->count; i++)
		find_argument(pass, parameters, process, &pass->profile->arguments[set->first + i]);
	doubt_changes(pass, parameters);
	return 0;
}

/* ---- launches that are alike ---- */

static int add_list(struct pass *pass)
{
	struct accesses *accesses = pass->accesses;
	struct access_list *list =
		ARRAY_NEXT(accesses->lists, pass->list_capacity, accesses->list_count);
	struct kernel_access *items =
		array_reserve(accesses->items, &pass->item_capacity,
			      accesses->item_count + pass->found_count + 1, sizeof(*items));

	if (items)
		accesses->items = items;
	if (!list || !items)
		return -ENOMEM;
	*list = (struct access_list){.kernel = pass->found->kernel,
				     .first = (uint32_t)accesses->item_count,
				     .count = (uint32_t)pass->found_count,
				     .is_whole = pass->found->is_whole};
	memcpy(items + accesses->item_count, pass->found->items,
	       pass->found_count * sizeof(*items));
	accesses->item_count += pass->found_count;
	accesses->list_count++;
	return 0;
}

static int find_list(struct pass *pass, uint32_t *list)
{
	size_t size = sizeof(*pass->found) + pass->found_count * sizeof(*pass->found->items);
	int rc = groups_find(&pass->list_groups, pass->found, size, list);

	return rc == 0 && *list == pass->accesses->list_count ? add_list(pass) : rc;
}

/* The same kernel and set, while no memory came or went: the same list. */
static int cached_of(struct pass *pass, uint32_t kernel, uint32_t set, struct cached **cached)
{
	const uint32_t key[2] = {kernel, set};
	uint32_t number, before = pass->cache_groups.count;
	int rc = groups_find(&pass->cache_groups, key, sizeof(key), &number);

	if (rc < 0 || !ARRAY_NEXT(pass->cache, pass->cache_capacity, number))
		return -ENOMEM;
	if (number == before)
		pass->cache[number] = (struct cached){0};
	*cached = &pass->cache[number];
	return 0;
}

static int find_list_of(struct pass *pass, const struct profile_op *op,
			const struct profile_given *given, uint32_t *list)
{
	uint32_t kernel = pass->profile->signatures[op->detail].kernel;
	uint64_t version = pass->live.version + 1;
	struct cached *cached;
	int rc = cached_of(pass, kernel, given->set, &cached);

	if (rc < 0)
		return rc;
	if (cached->version != version) {
		rc = find_memory(pass, kernel, given->process,
				 &pass->profile->argument_sets[given->set]);
		if (rc == 0)
			rc = find_list(pass, &cached->list);
		cached->version = version;
	}
	*list = cached->list;
	return rc;
}

static void count_launch(struct accesses *accesses, uint32_t list, uint32_t others)
{
	struct access_list *counted = &accesses->lists[list];

	if (!counted->launch_count++)
		counted->others = others;
	counted->varies |= counted->others != others;
	accesses->known_count += counted->is_whole;
}

static bool is_told(const struct pass *pass, const struct profile_op *op,
		    const struct profile_given *given)
{
	return given && given->set != PROFILE_NONE &&
	       !(pass->has_updated_graphs && profile_op_node(pass->profile, op));
}

static int take_launch(struct pass *pass, size_t index)
{
	const struct profile_op *op = &pass->profile->ops[index];
	const struct profile_given *given = profile_given_to(pass->profile, op);
	uint32_t list;
	int rc;

	pass->accesses->kernel_count++;
	if (!is_told(pass, op, given))
		return 0;
	rc = find_list_of(pass, op, given, &list);
	if (rc < 0)
		return rc;
	pass->accesses->of_op[index] = list;
	count_launch(pass->accesses, list, given->others);
	return 0;
}

/* ---- in the order of time ---- */

struct launch {
	int64_t time_ns;
	uint32_t op;
};

static int compare_launches(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* Memory is allocated and freed by calls, so a kernel was given what there was when it was launched. */
static size_t collect_launches(struct launch *launches, const struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];

		if (op->kind == OP_KERNEL)
			launches[count++] =
				(struct launch){op->call == PROFILE_NONE
							? op->start_ns
							: profile->calls[op->call].start_ns,
						(uint32_t)i};
	}
	return count;
}

static int take_launches(struct pass *pass)
{
	const struct profile *profile = pass->profile;
	struct launch *launches = malloc((profile->op_count + 1) * sizeof(*launches));
	size_t count = launches ? collect_launches(launches, profile) : 0;
	int rc = launches ? stable_sort(launches, count, sizeof(*launches), compare_launches)
			  : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = live_memory_advance(&pass->live, launches[i].time_ns);
		if (rc == 0)
			rc = take_launch(pass, launches[i].op);
	}
	free(launches);
	return rc;
}

static void pass_close(struct pass *pass)
{
	free(pass->kernels);
	free(pass->found);
	free(pass->cache);
	groups_free(&pass->list_groups);
	groups_free(&pass->cache_groups);
	live_memory_free(&pass->live);
}

static int build(struct accesses *accesses, const struct profile *profile)
{
	struct pass pass = {.profile = profile, .accesses = accesses, .live.profile = profile};
	int rc = -ENOMEM;

	look_at_calls(&pass);
	pass.kernels = calloc(profile->kernel_name_count + 1, sizeof(*pass.kernels));
	accesses->of_op = malloc((profile->op_count + 1) * sizeof(*accesses->of_op));
	if (pass.kernels && accesses->of_op) {
		memset(accesses->of_op, 0xff, profile->op_count * sizeof(*accesses->of_op));
		rc = take_launches(&pass);
	}
	pass_close(&pass);
	return rc;
}

/* ---- by kernel and allocation, over all launches ---- */

struct total_key {
	uint64_t bytes;
	uint32_t kernel, kind, site, memory;
};

struct totals {
	const struct profile *profile;
	const struct memory *memory;
	struct accesses *accesses;
	struct groups groups, allocations;
	size_t capacity;
};

static int find_total(struct totals *it, const struct total_key *key, uint32_t allocation,
		      uint32_t *number)
{
	struct accesses *accesses = it->accesses;
	struct access_total *total;
	int rc = groups_find(&it->groups, key, sizeof(*key), number);

	if (rc < 0 || *number < accesses->total_count)
		return rc;
	total = ARRAY_NEXT(accesses->totals, it->capacity, accesses->total_count);
	if (!total)
		return -ENOMEM;
	*total = (struct access_total){.kernel = key->kernel,
				       .allocation = allocation,
				       .kind = key->kind,
				       .site = key->site,
				       .bytes = key->bytes,
				       .memory = key->memory};
	accesses->total_count++;
	return 0;
}

static int add_to_total(struct totals *it, const struct access_list *list,
			const struct kernel_access *access)
{
	const struct profile_allocation *allocation = &it->profile->allocations[access->allocation];
	const struct total_key key = {allocation->bytes, list->kernel, access->kind,
				      it->memory->row_sites[access->allocation],
				      allocation->memory};
	uint32_t pair[2], number, before = it->allocations.count;
	int rc = find_total(it, &key, access->allocation, &number);

	if (rc < 0)
		return rc;
	pair[0] = number;
	pair[1] = access->allocation;
	rc = groups_find(&it->allocations, pair, sizeof(pair), &pair[0]);
	it->accesses->totals[number].allocation_count += it->allocations.count > before;
	it->accesses->totals[number].launch_count += list->launch_count;
	return rc;
}

/* A launch that is given two places of one allocation counts once. */
static int add_list_to_totals(struct totals *it, const struct access_list *list)
{
	struct groups seen = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < list->count; i++) {
		const struct kernel_access *access = &it->accesses->items[list->first + i];
		const uint32_t key[2] = {access->allocation, access->kind};
		uint32_t before = seen.count, number;

		rc = groups_find(&seen, key, sizeof(key), &number);
		if (rc == 0 && seen.count > before)
			rc = add_to_total(it, list, access);
	}
	groups_free(&seen);
	return rc;
}

static int compare_totals(const void *left, const void *right)
{
	const struct access_total *a = left, *b = right;

	if (a->kernel_launch_count != b->kernel_launch_count)
		return a->kernel_launch_count > b->kernel_launch_count ? -1 : 1;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	if (a->launch_count != b->launch_count)
		return a->launch_count > b->launch_count ? -1 : 1;
	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static int count_kernels(struct accesses *accesses, const struct profile *profile)
{
	uint64_t *counts = calloc(profile->kernel_name_count + 1, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < accesses->list_count; i++)
		counts[accesses->lists[i].kernel] += accesses->lists[i].launch_count;
	for (size_t i = 0; i < accesses->total_count; i++)
		accesses->totals[i].kernel_launch_count = counts[accesses->totals[i].kernel];
	free(counts);
	return 0;
}

static int add_up(struct accesses *accesses, const struct profile *profile,
		  const struct memory *memory)
{
	struct totals it = {.profile = profile, .memory = memory, .accesses = accesses};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < accesses->list_count; i++)
		rc = add_list_to_totals(&it, &accesses->lists[i]);
	groups_free(&it.groups);
	groups_free(&it.allocations);
	if (rc == 0)
		rc = count_kernels(accesses, profile);
	if (rc == 0 && accesses->total_count)
		qsort(accesses->totals, accesses->total_count, sizeof(*accesses->totals),
		      compare_totals);
	return rc;
}

int accesses_build(struct accesses **out, const struct profile *profile,
		   const struct memory *memory, struct err *err)
{
	struct accesses *accesses = calloc(1, sizeof(*accesses));
	int rc = accesses ? 0 : -ENOMEM;

	*out = accesses;
	if (rc == 0 && profile->given_count)
		rc = build(accesses, profile);
	if (rc == 0)
		rc = add_up(accesses, profile, memory);
	return rc < 0 ? err_set(err, rc, "out of memory for what kernels were given") : 0;
}

void accesses_free(struct accesses *accesses)
{
	if (!accesses)
		return;
	free(accesses->of_op);
	free(accesses->lists);
	free(accesses->items);
	free(accesses->totals);
	free(accesses);
}

/* ---- which depends on which ---- */

/* Memory of two launches, of which other numbers may say what they do there. */
static enum dependence judge_pair(const struct kernel_access *first,
				  const struct kernel_access *second, bool varies)
{
	bool is_changed = first->kind == ACCESS_CHANGED || second->kind == ACCESS_CHANGED;

	if (first->allocation != second->allocation ||
	    (first->kind == ACCESS_READ && second->kind == ACCESS_READ))
		return DEPENDENCE_NONE;
	return is_changed && first->offset == second->offset && !varies ? DEPENDENCE_THERE
									: DEPENDENCE_UNTOLD;
}

enum dependence accesses_judge(const struct accesses *accesses, uint32_t first, uint32_t second)
{
	enum dependence found = DEPENDENCE_NONE;
	const struct access_list *a, *b;

	if (first == PROFILE_NONE || second == PROFILE_NONE)
		return DEPENDENCE_UNTOLD;
	a = &accesses->lists[first];
	b = &accesses->lists[second];
	if (!a->is_whole || !b->is_whole)
		found = DEPENDENCE_UNTOLD;
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t j = 0; j < b->count; j++) {
			enum dependence pair =
				judge_pair(&accesses->items[a->first + i],
					   &accesses->items[b->first + j], a->varies || b->varies);

			if (pair == DEPENDENCE_THERE)
				return pair;
			found = pair > found ? pair : found;
		}
	return found;
}

bool accesses_share_with_host(const struct accesses *accesses, const struct profile *profile,
			      uint32_t list)
{
	const struct access_list *given = &accesses->lists[list];

	for (uint32_t i = 0; i < given->count; i++) {
		uint32_t row = accesses->items[given->first + i].allocation;
		uint32_t memory = profile->allocations[row].memory;

		if (memory == MEMORY_PINNED || memory == MEMORY_MANAGED)
			return true;
	}
	return false;
}

const char *access_kind_title(enum access_kind kind)
{
	static const char *const titles[] = {[ACCESS_READ] = "reads",
					     [ACCESS_CHANGED] = "reads and writes",
					     [ACCESS_UNTOLD] = "not told"};

	return titles[kind];
}

const char *access_kind_key(enum access_kind kind)
{
	static const char *const keys[] = {[ACCESS_READ] = "read",
					   [ACCESS_CHANGED] = "read_write",
					   [ACCESS_UNTOLD] = "unknown"};

	return keys[kind];
}
