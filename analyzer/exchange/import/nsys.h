/*
 * nsys.h - the file of Nsight Systems that is being read, for the files of its reader.
 *
 * nsys.c knows the tables of what ran, nsys_target.c those of the machine and of the recording itself.
 */
#ifndef ROOFLINE_NSYS_H
#define ROOFLINE_NSYS_H

#include "base/groups.h"
#include "exchange/import/imported.h"
#include "exchange/import/sqlite_table.h"

struct nsys {
	struct imported *imported;
	struct sqlite_file *file;
	const char *path;
	struct groups string_ids; /* of StringIds, and their texts */
	char **strings;
	size_t string_capacity, string_count;
	int64_t began_ns; /* what their times count from */
	char source[160], host[128], driver[64];
	unsigned cuda_version;	  /* 13000, 0: unknown */
	uint64_t only_pid;	  /* of rows that do not name a process */
	uint32_t memory_kinds[8]; /* by their number: CUpti_ActivityMemoryKind */
	uint32_t sync_kinds[8]; /* likewise CUpti_ActivitySynchronizationType; 0: the call tells */
	bool has_events;	/* which events were recorded when */
	struct err *err;
};

/* The process of a globalPid or globalTid; NULL after a failure. */
struct imported_process *nsys_process(struct nsys *nsys, sqlite3_stmt *row, int column);

/* The same where it used CUDA; else NULL. */
struct imported_process *nsys_known_process(struct nsys *nsys, sqlite3_stmt *row, int column);

/* StringIds.value; "" where there is none.  Valid until the file is closed. */
const char *nsys_string(struct nsys *nsys, sqlite3_int64 id);

void nsys_free_strings(struct nsys *nsys);

/* Reads what other tables need: when it began, which tool, what its numbers mean. */
int nsys_read_facts(struct nsys *nsys);

/* Reads contexts and streams, before what ran there. */
int nsys_read_contexts(struct nsys *nsys);

/* Reads the GPUs, and the names of processes and threads: after what ran, of what used CUDA alone. */
int nsys_read_target(struct nsys *nsys);

#endif
