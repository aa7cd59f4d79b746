/*
 * record_output.h - the folder of a recording, and whether it is free for this run.
 */
#ifndef ROOFLINE_RECORD_OUTPUT_H
#define ROOFLINE_RECORD_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct record_output {
	char folder[2 * PATH_MAX]; /* absolute */
	bool is_nested; /* another record above this one has chosen the same folder: this is what it writes into */
};

/* Notes what a record above this one has set; before options are read. */
void record_output_note(void);

/* Writes the folder that record_output_choose() would choose.  Returns 0, or the exit code after one line. */
int record_output_folder(char *folder, size_t size, const char *who);

/* Chooses the folder and tells it to the collector.  who: "rooflinectl record".  Returns 0, or the exit code after one
 * line. */
int record_output_choose(struct record_output *output, const char *who);

#endif
