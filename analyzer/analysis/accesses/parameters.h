/*
 * parameters.h - what the demangled name of a kernel tells of its parameters.
 *
 * A name of C++ has their types, with those of templates filled in: "void add<float>(float*, float const*)".  One of
 * extern "C", or of a compiler that is not of C++, has none.
 */
#ifndef ROOFLINE_ANALYSIS_PARAMETERS_H
#define ROOFLINE_ANALYSIS_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#define PARAMETERS_MOST 256 /* looked at */

enum parameter_kind {
	PARAMETER_VALUE,    /* a number or a struct, which may hold pointers */
	PARAMETER_READ,	    /* const T * */
	PARAMETER_CHANGED,  /* T *: read and written, as far as its type tells */
	PARAMETER_POINTERS, /* T **: leads to memory that no argument tells of */
};

struct parameters {
	bool is_known; /* else the name does not tell them */
	size_t count;
	bool has_const;			      /* one of them is PARAMETER_READ */
	unsigned char kinds[PARAMETERS_MOST]; /* enum parameter_kind */
};

void parameters_of_name(struct parameters *out, const char *demangled);

#endif
