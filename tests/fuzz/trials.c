/* trials.c - what tune measured: read, and drawn without gnuplot. */
#include "targets.h"

#include "analysis/report.h"
#include "charts/charts.h"
#include "tune/results.h"

void fuzz_trials(const uint8_t *bytes, size_t size)
{
	const struct report no_report = {0};
	struct tune_results results;
	struct chart_options options = {.results = &results, .to_ns = -1};
	struct err err = {""};

	(void)fuzz_file(TUNE_RESULTS_FILE, bytes, size);
	if (tune_results_read(&results, fuzz_folder(), &err) == 0 && results.count)
		(void)chart_tune(&no_report, &options, fuzz_folder(), &err);
	tune_results_free(&results);
}
