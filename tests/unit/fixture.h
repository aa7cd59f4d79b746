/*
 * fixture.h - small recordings in a temporary folder, for tests.
 *
 * fixture_small() is one process that has rows in every table and nothing
 * lost; a test writes other files over its tables, or adds further processes.
 * A call that cannot write aborts the test program: nothing else would hold.
 */
#ifndef ROOFLINE_FIXTURE_H
#define ROOFLINE_FIXTURE_H

#include <stddef.h>

#include "roofline/trace_schema.h"

struct fixture {
	char path[64]; /* of the recording */
};

/* The process folder that fixture_small writes. */
#define FIXTURE_PROCESS "host.100"

void fixture_create(struct fixture *fixture); /* an empty folder */
void fixture_small(struct fixture *fixture);  /* a recording with a row in every table */
void fixture_remove(struct fixture *fixture);

/* Writes process/name with exactly these bytes, over what is there; makes the process folder. */
void fixture_write_bytes(const struct fixture *fixture, const char *process, const char *name,
			 const void *bytes, size_t length);
void fixture_write(const struct fixture *fixture, const char *process, const char *name,
		   const char *text);

/* Writes all tables of fixture_small into another process folder. */
void fixture_add_process(const struct fixture *fixture, const char *process);

/* What fixture_small writes into a table. */
const char *fixture_table(enum trace_table table);

#endif
