#include "analysis/samples/sm_activity_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"

uint32_t sm_activity_find_device(const struct profile *profile, const struct profile_device *device)
{
	for (size_t i = 0; i < profile->device_count; i++)
		if (!strcmp(profile->devices[i].uuid, device->uuid) &&
		    !strcmp(profile->devices[i].name, device->name))
			return (uint32_t)i;
	return PROFILE_NONE;
}

static void copy_devices(struct sm_activity *out, const struct profile *profile,
			 const struct sm_activity *sampled, const struct profile *run)
{
	for (size_t i = 0; i < sampled->device_count; i++) {
		uint32_t device = sm_activity_find_device(profile, &run->devices[i]);

		if (device != PROFILE_NONE)
			out->devices[device] = sampled->devices[i];
	}
}

/* Names are unique, so that groups number them as kernel_names[] does. */
static int copy_kernels(struct sm_activity *out, const struct profile *profile,
			const struct sm_activity *sampled, const struct profile *run)
{
	struct groups names = {0};
	uint32_t number;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < profile->kernel_name_count; i++)
		rc = groups_find(&names, profile->kernel_names[i], strlen(profile->kernel_names[i]),
				 &number);
	for (size_t i = 0; rc == 0 && i < sampled->kernel_count; i++) {
		const char *name = run->kernel_names[sampled->kernels[i].kernel];

		number = groups_look(&names, name, strlen(name));
		if (number == UINT32_MAX)
			continue;
		out->kernels[out->kernel_count] = sampled->kernels[i];
		out->kernels[out->kernel_count++].kernel = number;
	}
	groups_free(&names);
	return rc;
}

int sm_activity_join(struct sm_activity **out, const struct profile *profile,
		     const struct sm_activity *sampled, const struct profile *run)
{
	struct sm_activity *activity = calloc(1, sizeof(*activity));
	int rc = -ENOMEM;

	if (!activity)
		return rc;
	activity->device_count = profile->device_count;
	activity->devices = calloc(profile->device_count + 1, sizeof(*activity->devices));
	activity->kernels = calloc(sampled->kernel_count + 1, sizeof(*activity->kernels));
	if (activity->devices && activity->kernels) {
		copy_devices(activity, profile, sampled, run);
		rc = copy_kernels(activity, profile, sampled, run);
	}
	if (rc < 0)
		sm_activity_free(activity);
	else
		*out = activity;
	return rc;
}
