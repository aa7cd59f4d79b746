#include "html/html.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_file.h"
#include "base/paths.h"
#include "html/html_blocks.h"
#include "html/html_names.h"
#include "html/html_timeline.h"
#include "html/html_whatif.h"
#include "output/outputs.h"

#define PAGE "share/rooflinectl/html/page.html"
#define DATA_MARK "<!-- data -->"     /* stands in the page where data go, once */
#define BLOCKS_MARK "<!-- blocks -->" /* likewise, behind the script, those that can wait */

/* The whole page; NULL, described in err, where there is none. */
static char *read_page(struct err *err)
{
	char path[PATH_MAX], *page = NULL;
	size_t size = 0;
	FILE *in;
	int rc = path_resource(path, sizeof(path), PAGE);

	in = rc == 0 ? fopen(path, "r") : NULL;
	if (!in || getdelim(&page, &size, '\0', in) < 0 || !strstr(page, DATA_MARK) ||
	    !strstr(page, BLOCKS_MARK)) {
		err_set(err, -ENOENT,
			"%s: the page is missing or damaged; install rooflinectl again", path);
		free(page);
		page = NULL;
	}
	if (in)
		fclose(in);
	return page;
}

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
static int write_data(const struct report *report, FILE *out, FILE *later, struct err *err)
{
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
	return rc < 0 ? err_set(err, rc, "out of memory for the page") : 0;
}

/* Up to the mark; returns what comes behind it. */
static const char *write_up_to(FILE *out, const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	(void)fwrite(text, 1, (size_t)(at - text), out);
	return at + strlen(mark);
}

static int write_page(const struct report *report, const char *page, FILE *out, struct err *err)
{
	char *blocks = NULL;
	size_t size = 0;
	FILE *later = open_memstream(&blocks, &size);
	const char *rest = write_up_to(out, page, DATA_MARK);
	int rc = later ? write_data(report, out, later, err) : -ENOMEM;

	if (later && fclose(later) && rc == 0)
		rc = -ENOMEM;
	rest = write_up_to(out, rest, BLOCKS_MARK);
	if (rc == 0)
		fwrite(blocks, 1, size, out);
	fputs(rest, out);
	free(blocks);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory for the page") : rc;
}

int html_write(const struct report *report, FILE *out, struct err *err)
{
	char *page = read_page(err);
	int rc;

	if (!page)
		return -ENOENT;
	rc = write_page(report, page, out, err);
	free(page);
	if (rc == 0 && (fflush(out) || ferror(out)))
		rc = err_set(err, -EIO, "the page could not be written: %s", strerror(errno));
	return rc;
}
