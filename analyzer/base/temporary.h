/*
 * temporary.h - files and folders that are ours for a while, and gone when we are: also when a signal ends us, or exit().
 *
 * HUP, INT and TERM remove them and then do what they do otherwise; from the moment on when one is made.  A program that
 * handles these signals itself has to remove them itself.
 */
#ifndef ROOFLINE_TEMPORARY_H
#define ROOFLINE_TEMPORARY_H

#include <stddef.h>

#include "base/err.h"

/* Beyond so many at a time a signal leaves them. */
#define TEMPORARY_MOST 8

/* mkdtemp(3) and mkostemp(3) with O_CLOEXEC.  path ends in XXXXXX, which they replace.  Return 0, or the file's descriptor,
 * or a negative errno. */
int temporary_make_folder(char *path);
int temporary_make_file(char *path);

/* Where temporary files belong: TMPDIR, or /tmp without it. */
const char *temporary_parent(void);

/* Makes an empty folder there; folder is its path, "" where that fails.  Returns 0, or a negative errno with err set. */
int temporary_make_work_folder(char *folder, size_t size, struct err *err);

/* A file without a name, in a folder: its space is free again when its last descriptor is closed.  Returns that, or a
 * negative errno. */
int temporary_make_nameless(const char *folder);

/* It is no temporary one any more: it was renamed. */
void temporary_forget(const char *path);

/* Removes it, a folder with all that is in it, and forgets it.  "" is fine; links are not followed. */
void temporary_remove(const char *path);

#endif
