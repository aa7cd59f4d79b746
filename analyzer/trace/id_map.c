#include "trace/id_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(node) ((node)->is_lost = true)
#include <uthash.h>

/* Thread ids of Linux end below 2^22 (PID_MAX_LIMIT); the array takes at most 16 MiB. */
#define DENSE_LIMIT ((size_t)1 << 22)

struct id_map_node {
	uint32_t id, index;
	bool is_lost; /* uthash found no memory for it */
	UT_hash_handle hh;
};

static int id_map_grow(struct id_map *map, uint32_t id)
{
	size_t size = map->dense_size ? map->dense_size : 64;
	uint32_t *dense;

	while (size <= id)
		size *= 2;
	dense = calloc(size, sizeof(*dense)); /* pages never touched cost nothing */
	if (!dense)
		return -ENOMEM;
	if (map->dense)
		memcpy(dense, map->dense, map->dense_size * sizeof(*dense));
	free(map->dense);
	map->dense = dense;
	map->dense_size = size;
	return 0;
}

static int id_map_put_sparse(struct id_map *map, uint32_t id, uint32_t index)
{
	struct id_map_node *node;

	HASH_FIND(hh, map->sparse, &id, sizeof(id), node);
	if (node) {
		node->index = index;
		return 0;
	}
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->id = id;
	node->index = index;
	HASH_ADD(hh, map->sparse, id, sizeof(id), node);
	if (node->is_lost) {
		free(node);
		return -ENOMEM;
	}
	return 0;
}

int id_map_put(struct id_map *map, uint32_t id, uint32_t index)
{
	if (id >= DENSE_LIMIT)
		return id_map_put_sparse(map, id, index);
	if (id >= map->dense_size && id_map_grow(map, id) < 0)
		return -ENOMEM;
	map->dense[id] = index + 1;
	return 0;
}

uint32_t id_map_get_sparse(const struct id_map *map, uint32_t id)
{
	struct id_map_node *node;

	HASH_FIND(hh, map->sparse, &id, sizeof(id), node);
	return node ? node->index : PROFILE_NONE;
}

void id_map_clear(struct id_map *map)
{
	struct id_map_node *node, *next;

	HASH_ITER(hh, map->sparse, node, next)
	{
		HASH_DEL(map->sparse, node);
		free(node);
	}
	free(map->dense);
	memset(map, 0, sizeof(*map));
}
