/* html_compare.c - a comparison as a page: all figures as `compare --format json` has them. */
#include <errno.h>
#include <stdlib.h>

#include "base/memory_file.h"
#include "html/html.h"
#include "html/html_blocks.h"
#include "html/html_page.h"
#include "output/compare.h"

/* What idle time is called and colored by. */
static int write_causes(FILE *out)
{
	json_t *titles = json_array();
	char *text = NULL;
	int rc = 0;

	for (int i = 0; i < GAP_CAUSE_COUNT && rc == 0; i++)
		rc = json_array_append_new(titles, json_string(gap_cause_title((enum gap_cause)i)));
	if (rc == 0)
		text = json_dumps(titles, JSON_COMPACT);
	json_decref(titles);
	if (!text)
		return -ENOMEM;
	html_write_json(out, "causes", text);
	free(text);
	return 0;
}

static int write_figures(const struct sides *sides, FILE *out, struct err *err)
{
	static const struct output_options options = {0};
	struct memory_file file;
	FILE *to = memory_file_open(&file);
	int rc = to ? compare_write_json(sides, to, &options, err) : -ENOMEM;
	char *text = to ? memory_file_close(&file) : NULL;

	if (rc == 0 && !text)
		rc = -ENOMEM;
	if (rc == 0)
		html_write_json(out, "comparison", text);
	free(text);
	return rc;
}

static int write_data(const void *from, FILE *out, FILE *later, struct err *err)
{
	int rc = write_figures(from, out, err);

	(void)later;
	if (rc == 0)
		rc = write_causes(out);
	return rc < 0 ? err_set(err, rc, "out of memory for the page") : 0;
}

int html_write_comparison(const struct sides *sides, FILE *out, struct err *err)
{
	return html_page_write(write_data, sides, out, err);
}
