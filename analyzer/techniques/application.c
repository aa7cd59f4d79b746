#include "techniques/application.h"

#include <errno.h>

#include "base/array.h"

int application_add_place(struct application *application, size_t first, size_t end_call)
{
	struct place *next = ARRAY_NEXT(application->places, application->place_capacity,
					application->place_count);

	if (!next)
		return -ENOMEM;
	*next = (struct place){first, end_call};
	application->place_count++;
	return 0;
}

int application_keep_calls(struct application *application, size_t first, size_t end_call)
{
	for (size_t i = first; i < end_call; i++)
		if (application->change.calls[i] != CALL_KEPT)
			application->is_changed[i] = true, application->taken_by[i] = TAKEN_ALONE;
	return application_add_place(application, first, end_call);
}
