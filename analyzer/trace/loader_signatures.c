#include <stdlib.h>
#include <string.h>

#include "trace/kernel_name.h"
#include "trace/loader.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(node) ((node)->is_lost = true)
#include <uthash.h>

struct signature_key {
	const char *mangled;		   /* interned: equal texts, equal pointers */
	struct trace_signatures_row shape; /* id and name cleared */
};

struct signature_node {
	struct signature_key key;
	uint32_t index;
	bool is_lost; /* uthash found no memory for it */
	UT_hash_handle hh;
};

/* kernel_names[] of a mangled name, or PROFILE_NONE. */
static uint32_t loader_kernel_name(struct loader *loader, const char *mangled)
{
	struct profile *profile = loader->profile;
	char *demangled = kernel_name_demangle(&loader->demangler, mangled);
	const char *text = demangled ? strings_intern(loader->texts, demangled) : NULL;
	uint32_t number = text ? strings_number(loader->kernel_texts, text) : PROFILE_NONE;
	char **name;

	free(demangled);
	if (number == PROFILE_NONE || number < profile->kernel_name_count)
		return number;
	name = ARRAY_NEXT(profile->kernel_names, loader->capacity.kernel_names,
			  profile->kernel_name_count);
	if (!name)
		return PROFILE_NONE;
	*name = (char *)text;
	profile->kernel_name_count++;
	return number;
}

static void signature_fill(struct profile_signature *signature,
			   const struct trace_signatures_row *row)
{
	*signature = (struct profile_signature){
		.grid = {row->grid_x, row->grid_y, row->grid_z},
		.block = {row->block_x, row->block_y, row->block_z},
		.cluster = {row->cluster_x, row->cluster_y, row->cluster_z},
		.registers_per_thread = row->registers_per_thread,
		.static_shared_bytes = row->static_shared_bytes,
		.dynamic_shared_bytes = row->dynamic_shared_bytes,
		.local_bytes_per_thread = row->local_bytes_per_thread,
		.launch_type = row->launch_type,
	};
}

static uint32_t signature_append(struct loader *loader, const struct trace_signatures_row *row,
				 const char *mangled)
{
	struct profile *profile = loader->profile;
	struct profile_signature *signature =
		ARRAY_NEXT(profile->signatures, loader->capacity.signatures,
			   profile->signature_count);
	uint32_t kernel = loader_kernel_name(loader, mangled);

	if (!signature || kernel == PROFILE_NONE)
		return PROFILE_NONE;
	signature_fill(signature, row);
	signature->mangled = mangled;
	signature->kernel = kernel;
	signature->name = profile->kernel_names[kernel];
	return (uint32_t)profile->signature_count++;
}

uint32_t loader_signature(struct loader *loader, const struct trace_signatures_row *row,
			  const char *name)
{
	struct signature_key key;
	struct signature_node *node;

	memset(&key, 0, sizeof(key)); /* padding is part of the key */
	key.mangled = strings_intern(loader->texts, name);
	key.shape = *row;
	key.shape.id = key.shape.name = 0;
	if (!key.mangled)
		return PROFILE_NONE;
	HASH_FIND(hh, loader->signature_set, &key, sizeof(key), node);
	if (node)
		return node->index;
	node = calloc(1, sizeof(*node));
	if (!node)
		return PROFILE_NONE;
	node->key = key;
	HASH_ADD(hh, loader->signature_set, key, sizeof(key), node);
	if (node->is_lost) {
		free(node);
		return PROFILE_NONE;
	}
	node->index = signature_append(loader, row, key.mangled);
	return node->index;
}

void loader_free_signatures(struct loader *loader)
{
	struct signature_node *node, *next;

	HASH_ITER(hh, loader->signature_set, node, next)
	{
		HASH_DEL(loader->signature_set, node);
		free(node);
	}
}
