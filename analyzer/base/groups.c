#include "base/groups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A failed allocation must not end the program: the entry is left out and reported. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) (*(entry)->failed = true)
#include <uthash.h>

struct group {
	UT_hash_handle hh;
	uint32_t number;
	bool *failed;
	unsigned char key[];
};

static int add_group(struct groups *groups, const void *key, size_t size, uint32_t *number)
{
	struct group *group = malloc(sizeof(*group) + size);
	bool failed = false;

	if (!group)
		return -ENOMEM;
	memcpy(group->key, key, size);
	group->number = groups->count;
	group->failed = &failed;
	group->failed = &failed;
	HASH_ADD_KEYPTR(hh, groups->table, group->key, size, group);
	if (failed) {
		free(group);
		return -ENOMEM;
	}
	*number = groups->count++;
	return 0;
}

int groups_find(struct groups *groups, const void *key, size_t size, uint32_t *number)
{
	struct group *group;

	HASH_FIND(hh, groups->table, key, size, group);
	if (!group)
		return add_group(groups, key, size, number);
	*number = group->number;
	return 0;
}

uint32_t groups_look(const struct groups *groups, const void *key, size_t size)
{
	struct group *group;

	HASH_FIND(hh, groups->table, key, size, group);
	return group ? group->number : UINT32_MAX;
}

void groups_free(struct groups *groups)
{
	struct group *group, *next;

	HASH_ITER(hh, groups->table, group, next)
	{
		HASH_DEL(groups->table, group);
		free(group);
	}
	*groups = (struct groups){0};
}
