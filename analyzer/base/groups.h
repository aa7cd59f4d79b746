/*
 * groups.h - numbers equal keys 0, 1, 2, ... in the order of their first appearance.
 *
 * Keys are byte strings.  uthash underneath.
 */
#ifndef ROOFLINE_GROUPS_H
#define ROOFLINE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

struct group;

struct groups {
	struct group *table; /* owned */
	uint32_t count;
};

/* Number of the key's group, a new one when it was not seen yet.  Returns 0 or -ENOMEM. */
int groups_find(struct groups *groups, const void *key, size_t size, uint32_t *number);

/* The same without making one: UINT32_MAX when it was not seen yet. */
uint32_t groups_look(const struct groups *groups, const void *key, size_t size);

void groups_free(struct groups *groups);

#endif
