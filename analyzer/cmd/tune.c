/* tune.c - rooflinectl tune: finds the parameters with which a program is fastest. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"
#include "cmd/record_signals.h"
#include "cmd/tune_explain.h"
#include "cmd/tune_measure.h"
#include "cmd/tune_options.h"
#include "cmd/tune_text.h"

/* What was found before it was interrupted is told as well. */
static int tell(const struct tune_bench *bench, const struct tune_session *session, struct err *err)
{
	if (bench->options->is_json)
		return tune_json_result(stdout, bench, session, err);
	tune_text_result(stdout, bench, session);
	return 0;
}

static int explain(const struct tune_bench *bench, const struct tune_session *session,
		   struct err *err)
{
	const struct tune_options *options = bench->options;
	size_t first = options->settings.first_point;

	if (!options->is_explained || !session->finalist_count)
		return 0;
	fflush(stdout);
	return tune_explain(options, bench->folder, first == TUNE_NO_POINT ? 0 : first,
			    session->finalists[0].point, err);
}

static int tune(const struct tune_options *options, struct tune_bench *bench, struct err *err)
{
	struct tune_settings settings = options->settings;
	struct tune_session session = {0};
	int rc = tune_bench_open(bench, options, err), told;

	if (rc < 0)
		return rc;
	settings.device = bench->device;
	settings.least_value = &bench->least_value;
	if (!options->is_quiet)
		tune_text_head(stderr, options);
	rc = tune_session_run(&session, &options->space, options->objective.is_maximized, &settings,
			      tune_bench_measure, bench, err);
	told = session.history.count ? tell(bench, &session, err) : 0;
	if (rc == 0)
		rc = told < 0 ? told : explain(bench, &session, err);
	if (rc == 0 && !session.finalist_count)
		rc = err_set(err, -ENODATA, "no trial worked%s%s", *bench->complaint ? ": " : "",
			     bench->complaint);
	tune_session_free(&session);
	return rc;
}

int cmd_tune(int argc, char **argv)
{
	struct tune_options options;
	struct tune_bench bench;
	struct err err = {""};
	int rc;

	if (!tune_options_parse(&options, argc, argv)) {
		tune_options_free(&options);
		return EXIT_USAGE;
	}
	rc = tune(&options, &bench, &err);
	if (rc < 0)
		fprintf(stderr, WHO ": %s\n", err.text);
	fflush(stdout);
	if (rc < 0 && bench.interrupted_by)
		signals_die_of(bench.interrupted_by);
	tune_bench_close(&bench);
	tune_options_free(&options);
	return rc == 0 ? EXIT_OK : EXIT_FAILED;
}
