/*
 * imported_end.h - the two ends of a recording that is made of other tools' files, which imports.c alone needs.
 */
#ifndef ROOFLINE_IMPORTED_END_H
#define ROOFLINE_IMPORTED_END_H

#include <stddef.h>

#include "base/err.h"

struct imported;
struct sentences;

/* folder: where process folders go.  file_count: how many files will come.  notes: borrowed, of imported_note. */
struct imported *imported_open(const char *folder, size_t file_count, struct sentences *notes);

/* From here on processes are those of the next file. */
void imported_next_file(struct imported *imported);

/* Seals all processes.  Returns rc where that is negative, the first failure, or -ENODATA where nothing ran on a GPU. */
int imported_close(struct imported *imported, int rc, struct err *err);

#endif
