/*
 * images.h - whether the code of a module can tell the host something by itself: by printf and assert, whose text appears
 * when the host waits, or by managed variables, which the host reads.
 *
 * The names of what it calls stand in it as text: in PTX, and in the symbols of machine code.
 */
#ifndef ROOFLINE_TRY_IMAGES_H
#define ROOFLINE_TRY_IMAGES_H

#include <stdbool.h>
#include <stddef.h>

/* What cuModuleLoadData takes, for GPUs of that major compute capability, 0: of any.  False also where it is not known what it is. */
bool images_are_silent(const void *image, unsigned major);

/* What lies in a file, of that many bytes. */
bool images_bytes_are_silent(const unsigned char *bytes, size_t count, unsigned major);

#endif
