#include "analysis/statistics/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/search.h"
#include "base/sums.h"

/* CUpti_ActivityJitOperationType */
enum { DRIVER_CACHE_LOAD = 1, DRIVER_CACHE_STORE, DRIVER_COMPILE };

/* ---- calls ---- */

static const char *name_of(const struct profile *profile, const struct profile_call *call)
{
	return profile->call_names[call->name].text;
}

/* By the program itself: what CUDA loads lazily is no call. */
static bool is_load(const struct profile *profile, const struct profile_call *call)
{
	const char *name = name_of(profile, call);

	return profile->call_names[call->name].call_class == CALL_MODULE &&
	       (strstr(name, "LoadData") || strstr(name, "LoadFromFile") ||
		strstr(name, "LoadFatBinary") || strstr(name, "ModuleLoad"));
}

bool jit_is_unload(const struct profile *profile, const struct profile_call *call)
{
	return profile->call_names[call->name].call_class == CALL_MODULE &&
	       strstr(name_of(profile, call), "Unload");
}

/* Since the call before it; what a thread does before its first call is its start. */
static int64_t host_ns_before(const struct profile *profile, size_t call)
{
	const struct profile_call *load = &profile->calls[call];
	int64_t host_ns;

	if (call == profile->threads[load->thread].first_call)
		return 0;
	host_ns = load->start_ns - load[-1].end_ns;
	return host_ns > JIT_LEAST_HOST_NS ? host_ns : 0;
}

static void add_unload(struct jit *jit, const struct profile_call *call)
{
	jit->unload_count++;
	sum_add_ns(&jit->unload_ns, call->end_ns - call->start_ns);
}

static void add_call(struct jit *jit, const struct profile *profile, uint32_t index)
{
	const struct profile_load *given = profile_load_of(profile, index);

	if (given && given->is_embedded)
		return;
	jit->loads[jit->load_count++] = (struct jit_load){
		.call = index,
		.module = PROFILE_NONE,
		.image = given ? given->image : IMAGE_UNKNOWN,
		.is_refused = profile->calls[index].result != 0,
		.host_ns = given ? host_ns_before(profile, index) : 0,
	};
}

static int find_loads(struct jit *jit, const struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->call_count; i++)
		count += is_load(profile, &profile->calls[i]);
	jit->loads = calloc(count + 1, sizeof(*jit->loads));
	if (!jit->loads)
		return -ENOMEM;
	for (size_t i = 0; i < profile->call_count; i++) {
		const struct profile_call *call = &profile->calls[i];

		if (jit_is_unload(profile, call))
			add_unload(jit, call);
		else if (is_load(profile, call))
			add_call(jit, profile, (uint32_t)i);
	}
	return 0;
}

static bool is_from(size_t index, const void *context)
{
	const struct jit_load *const *wanted = context;

	return wanted[0][index].call >= wanted[1]->call;
}

const struct jit_load *jit_load_of(const struct jit *jit, uint32_t call)
{
	const struct jit_load key = {.call = call}, *const wanted[] = {jit->loads, &key};
	size_t at = search_first(0, jit->load_count, is_from, wanted);

	return at < jit->load_count && jit->loads[at].call == call ? &jit->loads[at] : NULL;
}

/* ---- what happened in them ---- */

struct moment {
	const struct profile *profile;
	int64_t time_ns;
};

static bool begins_after(size_t call, const void *context)
{
	const struct moment *moment = context;

	return moment->profile->calls[call].start_ns > moment->time_ns;
}

/* The call that a thread made last, or PROFILE_NONE. */
static uint32_t call_at(const struct profile *profile, uint32_t thread, int64_t time_ns)
{
	const struct moment moment = {profile, time_ns};
	const struct profile_thread *of = &profile->threads[thread];
	size_t next = search_first(of->first_call, of->first_call + of->call_count, begins_after,
				   &moment);

	return next == of->first_call ? PROFILE_NONE : (uint32_t)next - 1;
}

static struct jit_load *find_load(const struct jit *jit, uint32_t call)
{
	return (struct jit_load *)jit_load_of(jit, call);
}

/* What the driver did in a load. */
static void add_driver(struct jit *jit, struct jit_load *load, const struct profile_jit *entry)
{
	jit->driver_count += entry->operation == DRIVER_COMPILE;
	jit->hit_count += entry->operation == DRIVER_CACHE_LOAD;
	jit->store_count += entry->operation == DRIVER_CACHE_STORE;
	sum_add_ns(&jit->driver_ns, entry->end_ns - entry->start_ns);
	sum_add_ns(&load->driver_ns, entry->end_ns - entry->start_ns);
}

/* Between calls it is a compiler's of the program itself, for the load that comes next. */
static void add_record(struct jit *jit, const struct profile *profile,
		       const struct profile_jit *entry)
{
	uint32_t call = call_at(profile, entry->thread, entry->start_ns);
	const struct profile_thread *thread = &profile->threads[entry->thread];
	bool is_inside = call != PROFILE_NONE && entry->start_ns < profile->calls[call].end_ns;
	size_t next = call == PROFILE_NONE ? thread->first_call : (size_t)call + 1;
	struct jit_load *load = find_load(jit, is_inside ? call : (uint32_t)next);

	if (!load)
		return;
	if (is_inside)
		add_driver(jit, load, entry);
	else if (load->host_ns)
		load->is_compiled = true;
}

static void add_records(struct jit *jit, const struct profile *profile)
{
	for (size_t i = 0; i < profile->jit_count; i++)
		if (profile->jits[i].thread != PROFILE_NONE)
			add_record(jit, profile, &profile->jits[i]);
}

/* Modules come in the order of time.  Of a load that was the thread's last call: the driver may load code only when its
 * kernel is asked for, of which there is no record. */
static int add_modules(struct jit *jit, const struct profile *profile)
{
	struct groups codes = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->module_count; i++) {
		const struct profile_module *module = &profile->modules[i];
		uint64_t key[2] = {0, module->code};
		uint32_t seen_count = codes.count, number;
		struct jit_load *load;

		if (module->thread == PROFILE_NONE)
			continue;
		load = find_load(jit, call_at(profile, module->thread, module->time_ns));
		if (!load || load->module != PROFILE_NONE)
			continue;
		load->module = (uint32_t)i;
		key[0] = profile->threads[module->thread].process;
		rc = groups_find(&codes, key, sizeof(key), &number);
		load->is_again = rc == 0 && number < seen_count;
	}
	groups_free(&codes);
	return rc;
}

/* ---- by kernel ---- */

/* Of the kernels of some code. */
struct code_kernels {
	const struct profile_module_kernel *items;
	size_t count;
};

struct wanted_code {
	const struct profile_module_kernel *items;
	uint64_t code;
};

static bool is_code_from(size_t index, const void *context)
{
	const struct wanted_code *wanted = context;

	return wanted->items[index].code >= wanted->code;
}

static struct code_kernels kernels_of(const struct profile *profile, uint32_t module)
{
	struct wanted_code wanted = {.items = profile->module_kernels};
	struct code_kernels found = {0};
	size_t first, end;

	if (module == PROFILE_NONE || !profile->module_kernel_count)
		return found;
	wanted.code = profile->modules[module].code;
	first = search_first(0, profile->module_kernel_count, is_code_from, &wanted);
	for (end = first; end < profile->module_kernel_count &&
			  profile->module_kernels[end].code == wanted.code;)
		end++;
	return (struct code_kernels){profile->module_kernels + first, end - first};
}

/* Rows by the first kernel of what is loaded, and the row of each kernel, or PROFILE_NONE. */
struct rows {
	struct groups groups;
	uint32_t *of_kernel;
};

static int add_load(struct jit *jit, struct rows *rows, const struct profile *profile,
		    const struct jit_load *load)
{
	const struct profile_call *call = &profile->calls[load->call];
	struct code_kernels kernels = kernels_of(profile, load->module);
	uint32_t first = kernels.count ? kernels.items[0].kernel : PROFILE_NONE, number;
	struct jit_kernel *row;

	if (groups_find(&rows->groups, &first, sizeof(first), &number) < 0)
		return -ENOMEM;
	if (rows->groups.count > jit->kernel_count)
		jit->kernels[jit->kernel_count++].name =
			kernels.count ? profile->kernel_names[first] : NULL;
	row = &jit->kernels[number];
	row->load_count++;
	row->again_count += load->is_again;
	sum_add_ns(&row->host_ns, load->host_ns);
	sum_add_ns(&row->driver_ns, load->driver_ns);
	sum_add_ns(&row->load_ns, call->end_ns - call->start_ns);
	for (size_t i = 0; i < kernels.count; i++)
		rows->of_kernel[kernels.items[i].kernel] = number;
	return 0;
}

static void add_launches(struct jit *jit, const struct rows *rows, const struct profile *profile)
{
	for (size_t i = 0; i < profile->op_count; i++) {
		const struct profile_op *op = &profile->ops[i];
		uint32_t row;

		if (op->kind != OP_KERNEL)
			continue;
		row = rows->of_kernel[profile->signatures[op->detail].kernel];
		if (row == PROFILE_NONE)
			continue;
		jit->kernels[row].launch_count++;
		jit->launch_count++;
		sum_add_ns(&jit->kernels[row].kernel_ns, op->end_ns - op->start_ns);
	}
}

static int add_kernels(struct jit *jit, const struct profile *profile)
{
	size_t size = (profile->kernel_name_count + 1) * sizeof(uint32_t);
	struct rows rows = {.of_kernel = malloc(size)};
	int rc = rows.of_kernel ? 0 : -ENOMEM;

	jit->kernels = calloc(jit->load_count + 1, sizeof(*jit->kernels));
	if (!jit->kernels)
		rc = -ENOMEM;
	if (rc == 0)
		memset(rows.of_kernel, 0xff, size); /* PROFILE_NONE */
	for (size_t i = 0; rc == 0 && i < jit->load_count; i++)
		rc = add_load(jit, &rows, profile, &jit->loads[i]);
	if (rc == 0)
		add_launches(jit, &rows, profile);
	groups_free(&rows.groups);
	free(rows.of_kernel);
	return rc;
}

/* ---- the whole ---- */

static int compare_costs(const void *left, const void *right)
{
	const struct jit_kernel *a = left, *b = right;
	double a_ns = (double)a->host_ns + (double)a->load_ns;
	double b_ns = (double)b->host_ns + (double)b->load_ns;

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return a->name && b->name ? strcmp(a->name, b->name) : !a->name - !b->name;
}

static void add_up(struct jit *jit, const struct profile *profile)
{
	for (size_t i = 0; i < jit->load_count; i++) {
		const struct jit_load *load = &jit->loads[i];
		const struct profile_call *call = &profile->calls[load->call];

		jit->known_count += load->module != PROFILE_NONE;
		jit->again_count += load->is_again;
		jit->ptx_count += load->image == IMAGE_PTX;
		jit->compiled_count += load->is_compiled;
		jit->refused_count += load->is_refused;
		sum_add_ns(&jit->host_ns, load->host_ns);
		sum_add_ns(&jit->load_ns, call->end_ns - call->start_ns);
	}
	qsort(jit->kernels, jit->kernel_count, sizeof(*jit->kernels), compare_costs);
}

int jit_build(struct jit **out, const struct profile *profile, struct err *err)
{
	struct jit *jit = calloc(1, sizeof(*jit));
	int rc = jit ? find_loads(jit, profile) : -ENOMEM;

	if (rc == 0)
		add_records(jit, profile);
	if (rc == 0)
		rc = add_modules(jit, profile);
	if (rc == 0)
		rc = add_kernels(jit, profile);
	if (rc == 0)
		add_up(jit, profile);
	*out = jit;
	return rc < 0 ? err_set(err, rc, "out of memory for the code that was loaded") : 0;
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	free(jit->loads);
	free(jit->kernels);
	free(jit);
}

double jit_cost_ns(const struct jit *jit)
{
	return (double)jit->host_ns + (double)jit->load_ns;
}

bool jit_is_any(const struct jit *jit)
{
	return jit->host_ns || jit->driver_ns || jit->again_count || jit->refused_count;
}
