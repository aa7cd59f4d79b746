/* excerpt_select.c - an excerpt as it is read: what was kept around its part is put where an analysis expects it. */
#include <errno.h>
#include <stdlib.h>

#include "trace/excerpt.h"
#include "trace/profile_select.h"

/* The moment that all processes tell alike; fallback where none does. */
static int64_t find_moment(const struct profile *profile, const char *key, int64_t fallback)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		const char *text = profile_property(&profile->processes[i], key, "");
		char *end;
		long long moment = strtoll(text, &end, 10);

		if (*text && !*end && moment > 0)
			return moment;
	}
	return fallback;
}

static const char *find_told(const struct profile *profile)
{
	const char *told = "";

	for (size_t i = 0; i < profile->process_count && !*told; i++)
		told = profile_property(&profile->processes[i], "excerpt", "");
	return *told ? told : NULL;
}

static int select_part(struct profile *profile, struct profile_part *part)
{
	bool *keeps_op = calloc(profile->op_count + 1, sizeof(*keeps_op));
	bool *keeps_process = calloc(profile->process_count + 1, sizeof(*keeps_process));
	struct profile_outside *outside = calloc(profile->device_count + 1, sizeof(*outside));
	int rc = -ENOMEM;

	if (keeps_op && keeps_process && outside) {
		for (size_t i = 0; i < profile->device_count; i++)
			outside[i] = (struct profile_outside){PROFILE_NONE, PROFILE_NONE};
		for (size_t i = 0; i < profile->op_count; i++)
			keeps_op[i] = profile_part_takes(
				part, profile, (uint32_t)i,
				&outside[profile_op_device(profile, &profile->ops[i])]);
		for (size_t i = 0; i < profile->process_count; i++)
			keeps_process[i] = true;
		part->keeps_op = keeps_op;
		part->keeps_process = keeps_process;
		part->outside = outside;
		rc = profile_select(profile, part);
	}
	free(keeps_op);
	free(keeps_process);
	free(outside);
	return rc;
}

int excerpt_select(struct profile *profile)
{
	struct profile_part part = {.from_ns = find_moment(profile, "excerpt_from_ns", INT64_MIN),
				    .to_ns = find_moment(profile, "excerpt_to_ns", INT64_MAX),
				    .first_ns = find_moment(profile, "excerpt_first_ns", 0)};
	const char *told = find_told(profile);
	int rc;

	if (!told || !part.first_ns || part.to_ns <= part.from_ns)
		return 0;
	rc = select_part(profile, &part);
	profile->window.told = told;
	profile->window.is_without_samples = find_moment(profile, "excerpt_without_samples", 0) > 0;
	return rc;
}
