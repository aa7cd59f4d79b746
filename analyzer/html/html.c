#include "html/html.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory_file.h"
#include "html/html_blocks.h"
#include "html/html_names.h"
#include "html/html_page.h"
#include "html/html_timeline.h"
#include "html/html_whatif.h"
#include "output/outputs.h"
#include "trace/samples.h"

static int write_report(const struct report *report, FILE *out, struct err *err)
{
	struct output_options options = {.has_holes = !report->advice};
	struct memory_file file;
	FILE *to = memory_file_open(&file);
	int rc = to ? output_json(report, to, &options, err) : -ENOMEM;
	char *text = to ? memory_file_close(&file) : NULL;

	if (rc == 0 && !text)
		rc = -ENOMEM;
	if (rc == 0)
		html_write_json(out, "report", text);
	free(text);
	return rc;
}

/* later: what comes behind the script */
static int write_data(const void *from, FILE *out, FILE *later, struct err *err)
{
	const struct report *report = from;
	struct json_builder json = {0};
	struct html_names names;
	int rc = write_report(report, out, err);

	if (rc < 0)
		return rc;
	rc = html_names_open(&names, report, &json);
	if (rc == 0)
		rc = html_write_timeline(report, &names, out, later);
	if (rc == 0)
		rc = html_write_whatif(report, &names, out);
	html_names_free(&names);
	return rc < 0 ? err_set(err, rc, "%s for the page", samples_why(rc)) : 0;
}

int html_write(const struct report *report, FILE *out, struct err *err)
{
	return html_page_write(write_data, report, out, err);
}
