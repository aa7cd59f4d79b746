#include <errno.h>
#include <stdlib.h>

#include "trace/loader.h"

/* Which code has a kernel; older recordings do not tell. */
static int add_module_kernel(struct loader *all, uint64_t code, uint32_t kernel)
{
	struct profile_module_kernel *added;

	if (!code)
		return 0;
	added = ARRAY_NEXT(all->profile->module_kernels, all->capacity.module_kernels,
			   all->profile->module_kernel_count);
	if (!added)
		return -ENOMEM;
	*added = (struct profile_module_kernel){.code = code, .kernel = kernel};
	all->profile->module_kernel_count++;
	return 0;
}

int loader_add_machine_code(const union trace_row *row, const struct reader_place *place,
			    void *context)
{
	struct loader_task *task = context;
	struct loader *all = task->owner->loader;
	const struct trace_machine_code_row *from = &row->machine_code;
	uint32_t kernel = id_map_get(&task->owner->name_kernels, from->name);
	struct profile_machine_code *code;

	if (kernel == PROFILE_NONE) {
		reader_count_loss(&task->losses, READER_orphan_ids, place,
				  "name %u is that of no kernel in signatures.csv", from->name);
		return 0;
	}
	code = ARRAY_NEXT(all->profile->machine_codes, all->capacity.machine_codes,
			  all->profile->machine_code_count);
	if (!code)
		return -ENOMEM;
	*code = (struct profile_machine_code){
		.kernel = kernel,
		.sm = from->sm,
		.instruction_count = from->instruction_count,
		.half_constant_count = from->half_constant_count,
		.half_conversion_count = from->half_conversion_count,
		.half_arithmetic_count = from->half_arithmetic_count,
		.dependency_wait_count = from->dependency_wait_count,
		.dependent_launch_count = from->dependent_launch_count,
		.load_count = from->load_count,
		.load_before_wait_count = from->load_before_wait_count,
	};
	all->profile->machine_code_count++;
	return add_module_kernel(all, from->code, kernel);
}

static int compare_codes(const void *left, const void *right)
{
	const struct profile_machine_code *a = left, *b = right;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return (a->sm > b->sm) - (a->sm < b->sm);
}

static int compare_module_kernels(const void *left, const void *right)
{
	const struct profile_module_kernel *a = left, *b = right;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static void keep_larger(uint32_t *value, uint32_t other)
{
	if (other > *value)
		*value = other;
}

/* What any of them has, the kernel may have. */
static void merge(struct profile_machine_code *into, const struct profile_machine_code *from)
{
	keep_larger(&into->instruction_count, from->instruction_count);
	keep_larger(&into->half_constant_count, from->half_constant_count);
	keep_larger(&into->half_conversion_count, from->half_conversion_count);
	keep_larger(&into->half_arithmetic_count, from->half_arithmetic_count);
	keep_larger(&into->dependency_wait_count, from->dependency_wait_count);
	keep_larger(&into->dependent_launch_count, from->dependent_launch_count);
	keep_larger(&into->load_count, from->load_count);
	keep_larger(&into->load_before_wait_count, from->load_before_wait_count);
}

void loader_sort_machine_codes(struct profile *profile)
{
	struct profile_machine_code *codes = profile->machine_codes;
	size_t kept = 0;

	if (profile->module_kernel_count)
		qsort(profile->module_kernels, profile->module_kernel_count,
		      sizeof(*profile->module_kernels), compare_module_kernels);
	if (!profile->machine_code_count)
		return;
	qsort(codes, profile->machine_code_count, sizeof(*codes), compare_codes);
	for (size_t i = 1; i < profile->machine_code_count; i++) {
		if (compare_codes(&codes[kept], &codes[i]) == 0)
			merge(&codes[kept], &codes[i]);
		else
			codes[++kept] = codes[i];
	}
	profile->machine_code_count = kept + 1;
}

const struct profile_machine_code *profile_machine_code(const struct profile *profile,
							uint32_t kernel, uint32_t sm)
{
	struct profile_machine_code wanted = {.kernel = kernel, .sm = sm};

	if (!profile->machine_code_count)
		return NULL;
	return bsearch(&wanted, profile->machine_codes, profile->machine_code_count, sizeof(wanted),
		       compare_codes);
}
