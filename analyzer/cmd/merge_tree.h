/*
 * merge_tree.h - one summary of what the processes of a parallel job have merged, handed from process to process in a
 * tree of files.
 *
 * The launcher tells each process its number and how many there are; nothing of MPI is needed.  Process r merges what
 * r + 1, r + 2, r + 4... hand it, as far as r is a multiple of twice that, and then hands on its own to the one below.  A
 * file appears under its name when it is whole, so waiting for it is enough; a process that fails hands on why.
 */
#ifndef ROOFLINE_MERGE_TREE_H
#define ROOFLINE_MERGE_TREE_H

#include "summary/summary.h"

struct merge_tree {
	uint64_t process, count;
	char job[64];	       /* what tells it from other jobs, "" where the launcher does not */
	const char *path;      /* of the result: the files stand beside it */
	unsigned wait_seconds; /* how long others may take */
};

/* Which process this is.  Fails with -EDOM where no launcher tells. */
int merge_tree_find(struct merge_tree *tree, struct err *err);

/* Merges what others hand this process into summary and hands it on; process 0 is left with all.  rc: a negative one, with
 * err, is handed on instead.  Returns rc, or why this failed. */
int merge_tree_join(const struct merge_tree *tree, struct summary *summary, int rc,
		    struct err *err);

#endif
