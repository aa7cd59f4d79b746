/*
 * own_descriptor.h - descriptors of ours that take none of the program's.
 *
 * A program has as many as its limit (ulimit -n) allows, and numbers from there on are nobody's: the kernel looks at the limit
 * only when it hands out a number.  So the limit is raised for the moment in which a file of ours is opened, and its
 * descriptor lies behind it afterwards.  Where the limit cannot be raised, or is so high that the kernel's table would
 * become large, ours are among the program's, out of the way of those that count on low numbers.
 */
#ifndef ROOFLINE_OWN_DESCRIPTOR_H
#define ROOFLINE_OWN_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens a file on such a descriptor, closed by exec.  Returns it, or a negative errno. */
int own_descriptor_open(const char *path, int flags, mode_t mode);

/* Whether so many take none of the program's; *limit is how many that has. */
bool own_descriptors_are_extra(int *limit);

/* In a child that was forked while another thread had the limit raised. */
void own_descriptors_forget(void);

#endif
