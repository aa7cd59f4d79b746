/*
 * id_map.h - from the ids of a trace to indexes of ours.
 *
 * Ids are counted upwards by the collector or are thread ids, so an array is
 * the map; absurdly large ids of a damaged file go into a hash table beside
 * it.  Zeroed memory is an empty map.
 */
#ifndef ROOFLINE_ID_MAP_H
#define ROOFLINE_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "trace/profile.h"

struct id_map {
	uint32_t *dense; /* index + 1; 0: none */
	size_t dense_size;
	struct id_map_node *sparse;
};

/* Sets the index of id, replacing an earlier one.  Returns 0 or -ENOMEM. */
int id_map_put(struct id_map *map, uint32_t id, uint32_t index);

uint32_t id_map_get_sparse(const struct id_map *map, uint32_t id);

/* The index of id, or PROFILE_NONE. */
static inline uint32_t id_map_get(const struct id_map *map, uint32_t id)
{
	if (id < map->dense_size)
		return map->dense[id] - 1; /* 0 - 1 is PROFILE_NONE */
	return map->sparse ? id_map_get_sparse(map, id) : PROFILE_NONE;
}

void id_map_clear(struct id_map *map);

#endif
