#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/source.h"
#include "fixture_two_gpus.h"

#define H200_CEILINGS "ceilings/NVIDIA_H200-580.159.04.json"

void two_gpus_open(struct two_gpus *two, const char *name)
{
	char path[256];
	const struct source source = {.path = path, .ceilings_path = H200_CEILINGS};
	struct err err = {""};

	*two = (struct two_gpus){0};
	snprintf(path, sizeof(path), "tests/recordings/%s.roofline", name);
	if (source_load(&two->report, &source, "test", &err) < 0)
		fail_msg("%s: %s", path, err.text);
	assert_int_equal(what_ifs_open_report(&two->what_ifs, two->report, "run"), 0);
	assert_int_equal(what_ifs_add_report(&two->what_ifs, two->report), 0);
}

void two_gpus_close(struct two_gpus *two)
{
	what_ifs_free(&two->what_ifs);
	report_free(two->report);
}

struct what_if two_gpus_try(struct two_gpus *two, enum technique_id id, uint64_t number)
{
	struct what_if found;

	two->what_ifs.numbers[id] = number;
	assert_int_equal(what_if_alone(&found, id, &two->what_ifs, 0), 0);
	return found;
}

static double measured_in(const char *path, const char *workload, const char *variant)
{
	FILE *file = fopen(path, "r");
	char line[256], name[64], of[64] = "";
	double us = 0, found_us = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s (H", name) == 1 && strstr(line, " (H"))
			snprintf(of, sizeof(of), "%s", name);
		if (sscanf(line, "%63s %lf", name, &us) == 2 && !strcmp(name, variant) &&
		    !strcmp(of, workload))
			found_us = us;
	}
	fclose(file);
	return found_us;
}

double two_gpus_measured_us(const char *workload, const char *variant)
{
	double us = measured_in("docs/results/workloads-links.txt", workload, variant);

	if (!(us > 0))
		us = measured_in("docs/results/workloads-shmem.txt", workload, variant);
	assert_true(us > 0);
	return us;
}

void two_gpus_expect(const struct prediction *prediction, double measured, double within)
{
	const struct predicted_ratio *place = &prediction->place;

	if (!(fabs(place->speedup / measured - 1) <= within))
		fail_msg("predicted %.2f, measured %.2f", place->speedup, measured);
	if (!(place->low <= measured && measured <= place->high))
		fail_msg("measured %.2f lies outside %.2f to %.2f", measured, place->low,
			 place->high);
}
