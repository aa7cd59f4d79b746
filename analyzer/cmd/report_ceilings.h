/*
 * report_ceilings.h - gives a report the roofs of its GPU.
 */
#ifndef ROOFLINE_REPORT_CEILINGS_H
#define ROOFLINE_REPORT_CEILINGS_H

#include "analysis/report.h"

/*
 * Chooses ceilings for the GPU that was busy longest and hands them to the
 * report with the note where they are from.  path: the file asked for with
 * --ceilings, or NULL.  A stored file that would have fitted and cannot be used
 * is told on stderr, after who ("rooflinectl report").  Fails (described in err)
 * when the file asked for cannot be read, or memory runs out.
 */
int report_choose_ceilings(struct report *report, const char *path, const char *who,
			   struct err *err);

#endif
