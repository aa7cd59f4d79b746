/*
 * new_folder.h - a folder that is there complete or not at all.
 *
 * It is filled beside its place under another, hidden name, and renamed once everything is in it.
 */
#ifndef ROOFLINE_NEW_FOLDER_H
#define ROOFLINE_NEW_FOLDER_H

#include <limits.h>

#include "base/err.h"

struct new_folder {
	const char *path; /* where it will be: borrowed */
	char temporary[PATH_MAX];
};

/* Fails where something is called path already. */
int new_folder_open(struct new_folder *folder, const char *path, struct err *err);

/* With rc 0 puts the folder into its place, with a negative one removes it and all that is in it.  Returns rc, or why
 * that failed. */
int new_folder_close(struct new_folder *folder, int rc, struct err *err);

#endif
