/*
 * export_target.h - where an export goes: a file, or what is only written from front to back, such as a pipe.
 */
#ifndef ROOFLINE_EXPORT_TARGET_H
#define ROOFLINE_EXPORT_TARGET_H

struct export_target {
	int fd;		  /* open for writing, and empty where it is a file; the caller closes it */
	const char *path; /* of the file; NULL: it is none */
	const char *name; /* for people */
};

#endif
