/*
 * recording.h - the processes of a recording and the bytes of their tables, whichever form it has.
 *
 * A recording is a folder with a folder for each process, or one such folder alone, or all of it packed into one file
 * (packed.h).  The tables of a packed one are written, one behind the other, into a file without a name, which
 * is gone with the last descriptor.  Several tables may be read at once, each by its own thread.
 */
#ifndef ROOFLINE_RECORDING_H
#define ROOFLINE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "roofline/runs.h"
#include "roofline/trace_schema.h"

/* Where in the file without a name. */
struct recording_slice {
	bool is_there;
	int64_t begin_byte, end_byte;
};

struct recording_process {
	char *name;   /* host.pid */
	char *path;   /* of its folder; packed: for messages */
	dev_t device; /* of its folder */
	ino_t inode;  /* likewise: a link to it is the same one */
	bool is_link;
	int unpacked_fd; /* -1: it is a folder, and the slices are empty */
	struct recording_slice slices[TRACE_TABLE_COUNT];
	enum roofline_run run; /* this and what follows: of process_facts.h */
	size_t copy_count;     /* other folders with the same process, which were left out */
	char *copy_name;       /* of the first of them */
};

struct recording {
	struct recording_process *processes; /* by name, numbers by value */
	size_t process_count, process_capacity;
	bool is_process; /* a process folder named by itself */
	int unpacked_fd; /* -1: a folder */
};

/* Whether there is anything that recording_open may take for one. */
bool recording_is_there(const char *path);

/* Whether path is a folder with processes in it, which are not read for that.  True as well where there is no memory to
 * look: what reads it tells so. */
bool recording_is_folder(const char *path);

/* path: a folder; a packed recording, without its suffix where no folder is called so; or "-" for a packed one on
 * stdin.  Without a process there it succeeds and finds none.  The caller frees with recording_close, also after a
 * failure. */
int recording_open(struct recording *recording, const char *path, struct err *err);
void recording_close(struct recording *recording);

/* Leaves a process out, which stands at index; those behind it move up. */
void recording_remove_process(struct recording *recording, size_t index);

/* One table, while it is read. */
struct recording_table {
	int fd;
	struct recording_slice slice; /* of a packed one what is left; otherwise not there */
};

/* -ENOENT: there is no such table; another negative errno when it cannot be opened.  Neither is described. */
int recording_open_table(struct recording_table *out, const struct recording_process *process,
			 enum trace_table table);

/* How long it is; 0: it is not there. */
size_t recording_table_bytes(const struct recording_process *process, enum trace_table table);

/* Like read(2). */
ssize_t recording_read_table(struct recording_table *table, void *buffer, size_t size);

/* Where of its descriptor what is left to read lies; false where that cannot be read out of order, as of a pipe. */
bool recording_find_rest(const struct recording_table *table, int64_t *begin_byte,
			 int64_t *end_byte);
/* Reading goes on there. */
int recording_seek_table(struct recording_table *table, int64_t byte);

void recording_close_table(struct recording_table *table);

#endif
