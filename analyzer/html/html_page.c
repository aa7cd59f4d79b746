#include "html/html_page.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"

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

/* Up to the mark; returns what comes behind it. */
static const char *write_up_to(FILE *out, const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	(void)fwrite(text, 1, (size_t)(at - text), out);
	return at + strlen(mark);
}

static int write_page(html_data_writer write, const void *from, const char *page, FILE *out,
		      struct err *err)
{
	char *blocks = NULL;
	size_t size = 0;
	FILE *later = open_memstream(&blocks, &size);
	const char *rest = write_up_to(out, page, DATA_MARK);
	int rc = later ? write(from, out, later, err) : -ENOMEM;

	if (later && fclose(later) && rc == 0)
		rc = -ENOMEM;
	rest = write_up_to(out, rest, BLOCKS_MARK);
	if (rc == 0)
		fwrite(blocks, 1, size, out);
	fputs(rest, out);
	free(blocks);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory for the page") : rc;
}

int html_page_write(html_data_writer write, const void *from, FILE *out, struct err *err)
{
	char *page = read_page(err);
	int rc;

	if (!page)
		return -ENOENT;
	rc = write_page(write, from, page, out, err);
	free(page);
	if (rc == 0 && (fflush(out) || ferror(out)))
		rc = err_set(err, -EIO, "the page could not be written: %s", strerror(errno));
	return rc;
}
