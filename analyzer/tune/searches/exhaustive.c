/* exhaustive.c - every point, in order. */
#include "tune/search.h"

size_t tune_search_exhaustive(struct tune_task *task)
{
	for (size_t i = 0; i < task->history->space->point_count; i++)
		if (tune_is_open(task, i))
			return i;
	return TUNE_NO_POINT;
}
