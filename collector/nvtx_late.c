#define _GNU_SOURCE
#include "nvtx_late.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

struct late_module {
	struct late_module *next;
	enum nvtx_entry entry;
	void *table;
};

static struct late_module *_Atomic modules;

/* What NVTX calls a table is a function of the module. */
static void keep_module(void *table)
{
	Dl_info module;

	if (table && dladdr(table, &module) && module.dli_fname)
		dlopen(module.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool nvtx_late_add(enum nvtx_entry entry, void *table)
{
	struct late_module *module = calloc(1, sizeof(*module));

	if (!module)
		return false;
	keep_module(table);
	module->entry = entry;
	module->table = table;
	module->next = atomic_load(&modules);
	while (!atomic_compare_exchange_weak(&modules, &module->next, module))
		;
	return true;
}

void nvtx_late_take(void (*initialize)(enum nvtx_entry entry, void *table))
{
	struct late_module *module = atomic_exchange(&modules, NULL), *next;

	for (; module; module = next) {
		next = module->next;
		initialize(module->entry, module->table);
		free(module);
	}
}
