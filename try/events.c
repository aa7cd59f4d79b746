#include "events.h"

#include <stdint.h>
#include <stdlib.h>

#include "work.h"

enum { LISTS = 1024 };

struct known {
	CUevent event;
	CUcontext context;
	struct kernel record, wait;
	struct known *next;
};

static struct known *lists[LISTS];
static struct known
	*unused; /* for the next ones: programs create and destroy events all the time */

static struct known **place_of(CUevent event)
{
	struct known **place = &lists[((uintptr_t)event * 0x9e3779b97f4a7c15u >> 32) % LISTS];

	while (*place && (*place)->event != event)
		place = &(*place)->next;
	return place;
}

void events_remove(CUevent event)
{
	struct known **place = place_of(event), *known = *place;

	if (!known)
		return;
	*place = known->next;
	known->next = unused;
	unused = known;
}

static struct known *take(void)
{
	struct known *known = unused;

	if (!known)
		return malloc(sizeof(*known));
	unused = known->next;
	return known;
}

/* An event that can be used by other processes, or whose time can be asked for, is not put off.  That a wait of the host for
 * it sleeps makes no difference. */
static bool is_plain(unsigned flags)
{
	return (flags & ~(unsigned)CU_EVENT_BLOCKING_SYNC) == CU_EVENT_DISABLE_TIMING;
}

void events_add(CUevent event, unsigned flags, CUcontext context)
{
	struct known *known;

	events_remove(event);
	if (!is_plain(flags) || !context)
		return;
	known = take();
	if (!known)
		return;
	*known = (struct known){.event = event,
				.context = context,
				.record = {.work = &work_record, .event = event},
				.wait = {.work = &work_wait, .event = event}};
	known->next = *place_of(event); /* the end of its list */
	*place_of(event) = known;
}

static struct known *find(CUevent event, CUcontext context)
{
	struct known *known = *place_of(event);

	return known && known->context == context ? known : NULL;
}

struct kernel *events_record(CUevent event, CUcontext context)
{
	struct known *known = find(event, context);

	return known ? &known->record : NULL;
}

struct kernel *events_wait(CUevent event, CUcontext context)
{
	struct known *known = find(event, context);

	return known ? &known->wait : NULL;
}

void events_forget(void)
{
	for (size_t i = 0; i < LISTS; i++)
		while (lists[i])
			events_remove(lists[i]->event);
}
