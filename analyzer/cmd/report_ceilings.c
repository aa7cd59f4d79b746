#include "cmd/report_ceilings.h"

#include <stdio.h>
#include <string.h>

#include "cmd/ceilings_choice.h"

/* The device that was busy longest, or one of which nothing is known. */
static const struct profile_device *main_device(const struct report *report)
{
	static const struct profile_device unknown;
	const struct profile_device *devices = report->profile->devices;
	size_t longest = 0;

	if (!report->profile->device_count)
		return &unknown;
	for (size_t i = 1; i < report->profile->device_count; i++)
		if (report->timeline->devices[i].busy_ns >
		    report->timeline->devices[longest].busy_ns)
			longest = i;
	return &devices[longest];
}

static bool has_other_gpu(const struct profile *profile, const struct profile_device *chosen)
{
	for (size_t i = 0; i < profile->device_count; i++)
		if (profile->devices[i].op_count && strcmp(profile->devices[i].name, chosen->name))
			return true;
	return false;
}

static int keep_note(struct report *report, const struct profile_device *device, const char *note,
		     struct err *err)
{
	char text[1280];

	snprintf(text, sizeof(text), "%s%s", note,
		 report->ceilings && has_other_gpu(report->profile, device)
			 ? "; other GPUs of this recording are compared with the same roofs"
			 : "");
	return report_set_ceilings_note(report, text, err);
}

int report_choose_ceilings(struct report *report, const char *path, const char *who,
			   struct err *err)
{
	const struct profile_device *device = main_device(report);
	struct ceilings_choice choice;
	int rc = ceilings_for(&choice, report->profile, device, path, err);

	if (choice.passed_over.text[0])
		fprintf(stderr, "%s: passed over: %s\n", who, choice.passed_over.text);
	if (rc == 0) {
		rc = report_set_ceilings(report, choice.ceilings, err);
		choice.ceilings = NULL; /* the report's */
	}
	if (rc == 0)
		rc = keep_note(
			report, device,
			report->ceilings || profile_is_nvidias(report->profile)
				? choice.note
				: "none: there are no ceilings of GPUs that are not NVIDIA's",
			err);
	ceilings_choice_close(&choice);
	return rc;
}
