/*
 * record_fault.h - where a recorded program was when a fault ended it.
 *
 * What CUPTI and the collector add to a call may end a program that ends well without them.  The collector keeps in which
 * call each thread is (roofline/last_call.h), so that record can say that, and what to leave out.
 */
#ifndef ROOFLINE_RECORD_FAULT_H
#define ROOFLINE_RECORD_FAULT_H

#include <limits.h>
#include <sys/types.h>

#include "roofline/collector_env.h"

/* A part of recording that may be at fault, and how to leave it out. */
struct record_suspect {
	const char *call; /* how the names of calls begin in which it is done */
	enum roofline_variable variable;
	const char *without; /* the variable's value */
	const char *text;    /* what to try, for people */
};

struct record_fault {
	const struct record_suspect *suspect; /* NULL: nothing to leave out is known */
	char folder[2 * PATH_MAX];	      /* of the process that it ended; "": none did */
};

/* Looks at what the collector has kept in the folder of a recording (NULL: there is none), and removes that.  Prints one line
 * where the program, which had this pid and ended so, was ended by a fault. */
void record_fault_look(struct record_fault *fault, const char *who, const char *folder,
		       pid_t program, int status);

#endif
