/*
 * imported.h - the recording that is made of other tools' files: what readers of formats add to.
 *
 * Ids are the source's own.  Every function that adds may fail in memory or on the disk: the failure is kept, and
 * imported_failure() or the end of the import tells of it.
 */
#ifndef ROOFLINE_IMPORTED_H
#define ROOFLINE_IMPORTED_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/import/kernel_shapes.h"
#include "trace/process_writer.h"

struct imported;
struct imported_process;

/* The file's process of that id, made when it comes for the first time; NULL without memory or room on the disk.
 * source: "Nsight Systems 2024.5.1".  lacks: what that tool does not tell, "a, b and c". */
struct imported_process *imported_process(struct imported *imported, uint64_t pid,
					  const char *source, const char *lacks);

/* The same for tools that write several files of one process: the set is what their names have in common. */
struct imported_process *imported_process_of_set(struct imported *imported, const char *set,
						 uint64_t pid, const char *source,
						 const char *lacks);

/* The same for a file of several processes, such as merged traces of ranks: by their names in the file, "" for the only
 * one.  Each has GPUs of its own. */
struct imported_process *imported_part(struct imported *imported, const char *part,
				       const char *source, const char *lacks);

/* The same for one that has counters alone, as of a run of its own: they are joined to the launches of the others. */
struct imported_process *imported_counters(struct imported *imported, uint64_t pid,
					   const char *source, const char *lacks);

/* The launch of an earlier file that is like this one, by the name and its shape; NULL without one. */
const struct kernel_shape *imported_find_shape(const struct imported *imported, const char *name,
					       const struct trace_signatures_row *look);

/* The same where it is there already; else NULL. */
struct imported_process *imported_find(struct imported *imported, uint64_t pid);

/* Calls each for every process of the file. */
void imported_each(struct imported *imported,
		   void (*each)(struct imported_process *process, uint64_t pid, void *context),
		   void *context);

/* Of those above that gave NULL, and of what was added to processes. */
int imported_failure(const struct imported *imported, struct err *err);

/* For facts and rows of which nothing below knows; the folder is named after the host. */
struct process_writer *imported_writer(struct imported_process *process);
void imported_set_pid(struct imported_process *process, uint64_t pid); /* where it came as 0 */
void imported_set_host(struct imported_process *process, const char *host);

/* For files that have the program's name and not what it was given: its command is "NAME ...". */
void imported_set_program(struct imported_process *process, const char *name);

/* A device is written once something ran on it: files list all that a machine has.  Without a uuid it gets one that
 * sets it apart from those of other files. */
void imported_add_device(struct imported_process *process, const struct trace_devices_row *device);

/* Each context and each stream once, however often it comes. */
void imported_add_context(struct imported_process *process,
			  const struct trace_contexts_row *context);
void imported_add_stream(struct imported_process *process, const struct trace_streams_row *stream);

/* name: of the function. */
void imported_add_call(struct imported_process *process, const struct trace_api_row *call,
		       const char *name);

/* name: mangled where the source has it. */
void imported_add_kernel(struct imported_process *process, const struct trace_kernels_row *kernel,
			 const struct trace_signatures_row *signature, const char *name);

/* A kernel that has no row, as its times are no numbers.  An import fails where no kernel of it has times that can be used. */
void imported_drop_kernel(struct imported_process *process);

void imported_add_graph(struct imported_process *process, const struct trace_graphs_row *graph);

/* is_async is not looked at: the call tells, which may come later. */
void imported_add_copy(struct imported_process *process, const struct trace_copies_row *copy);
void imported_add_memset(struct imported_process *process, const struct trace_memsets_row *set);

struct imported_range {
	int64_t start_ns, end_ns; /* end_ns 0: it did not end; start_ns: a moment */
	const char *domain, *name;
	uint32_t thread;
	bool is_push_pop;
};
void imported_add_range(struct imported_process *process, const struct imported_range *range);

/* The recording lasted until then at least: of what is added by process_writer_add. */
void imported_saw(struct imported_process *process, int64_t end_ns);

/* Add the file's own report of what went wrong while it was recorded. */
void imported_diagnose(struct imported *imported, const char *text);

/* Add a sentence about a part of the file that is not read. */
void imported_note(struct imported *imported, const char *text);

/* Records of the file that do not become rows. */
void imported_count_unused(struct imported_process *process, uint64_t count, const char *detail);

/* Records without a row, as their times are no numbers. */
void imported_count_timeless(struct imported_process *process, uint64_t count, const char *detail);

#endif
