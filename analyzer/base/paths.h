/*
 * paths.h - where the toolkit's own files lie, in a build tree and installed.
 *
 * Everything is found relative to the running executable: bin/rooflinectl has
 * ../lib/librooflinecollector.so, ../lib/rooflinectl/{workloads,ceilings}/,
 * and ../share/rooflinectl/{plots,recordings,ceilings}/ beside it.
 */
#ifndef ROOFLINE_PATHS_H
#define ROOFLINE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the absolute path of a resource ("lib/librooflinecollector.so") into buffer.
 * Returns 0, -ENOENT when it does not exist (the path is still written), or -ENAMETOOLONG. */
int path_resource(char *buffer, size_t size, const char *relative);

/* Opens a file of a disk to be read, whatever links lead to it.  A device may have no end and a pipe no writer: -EINVAL.
 * Returns 0 or a negative errno, which path_problem() words. */
int path_open_file(int *fd, const char *path);
const char *path_problem(int rc);

/* Makes the folders above path; those that end before from are there.  Returns 0, or a negative errno and path ends
 * with the folder that could not be made. */
int path_make_parents(char *path, size_t from);

#define PATH_PACKED_SUFFIX ".roofline" /* of a recording in one file */

/* What stands for the recording in a command that is shown: its path, or of one that came on stdin, which is gone, a
 * word that says so. */
/* Whether the name ends so: ".sqlite". */
bool path_has_suffix(const char *path, const char *suffix);

const char *path_named(const char *recording);

/* Finds the newest recording directly under folder: a packed one, a folder that holds a process folder with a
 * process.csv, or such a folder itself.  Returns 0 and writes its path, -ENOENT or -ENOMEM. */
int path_newest_recording(char *buffer, size_t size, const char *folder);

#endif
