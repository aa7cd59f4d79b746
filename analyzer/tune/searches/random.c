/* random.c - points by chance, none of them twice. */
#include "tune/search.h"

size_t tune_search_random(struct tune_task *task)
{
	return tune_pick_random(task);
}
