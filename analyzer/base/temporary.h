/*
 * temporary.h - files and folders that are ours for a while, and gone when we are: also when a signal ends us.
 *
 * HUP, INT and TERM remove them and then do what they do otherwise.  A program that handles these signals itself has to
 * remove them itself.
 */
#ifndef ROOFLINE_TEMPORARY_H
#define ROOFLINE_TEMPORARY_H

/* It was just made.  Beyond TEMPORARY_MOST at a time a signal leaves them. */
#define TEMPORARY_MOST 8
void temporary_add(const char *path);

/* It is no temporary one any more: it was renamed. */
void temporary_forget(const char *path);

/* Removes it, a folder with all that is in it, and forgets it.  "" is fine; links are not followed. */
void temporary_remove(const char *path);

#endif
