/* techniques.c - the table of all techniques. */
#include "techniques/techniques.h"

#define TECHNIQUE_ADDRESS(name) [TECHNIQUE_##name] = &technique_##name,
const struct technique *const techniques[TECHNIQUE_COUNT] = {TECHNIQUES(TECHNIQUE_ADDRESS)};

bool technique_contains(const struct technique *whole, const struct technique *part)
{
	for (size_t i = 0; i < TECHNIQUE_PARTS; i++)
		if (part && whole->contains[i] == part)
			return true;
	return false;
}

enum technique_id technique_id_of(const struct technique *technique)
{
	int id = 0;

	while (techniques[id] != technique)
		id++;
	return (enum technique_id)id;
}
