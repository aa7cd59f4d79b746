/*
 * imports.h - every format of other tools that recordings are made of, once.
 *
 * To add one: write analyzer/exchange/import/foo.c with import_foo(), which reads a file and adds what it has by the
 * functions of imported.h, add its IMPORT row here, what its files begin with in imports.c, and its row in
 * docs/commands/import.md.
 *
 * What the source does not tell stays 0 or empty, as in any recording that lacks it; nothing is made up.
 */
#ifndef ROOFLINE_IMPORTS_H
#define ROOFLINE_IMPORTS_H

#include <stddef.h>

#include "base/err.h"

struct imported;
struct sentences;

/* IMPORT(name, title) */
#define IMPORTS(IMPORT)                                                           \
	IMPORT(nsys, "Nsight Systems: nsys export --type sqlite")                 \
	IMPORT(kineto, "PyTorch profiler: export_chrome_trace(), also .gz")       \
	IMPORT(rocprof, "rocprofv3: --output-format csv, all files of a process") \
	IMPORT(ncu, "Nsight Compute: ncu --csv --page raw, beside one of the others")

#define IMPORT_PROTOTYPE(name, title) \
	int import_##name(struct imported *imported, const char *path, struct err *err);
IMPORTS(IMPORT_PROTOTYPE)
#undef IMPORT_PROTOTYPE

/* The metrics of Nsight Compute that a report shows, separated by commas; the caller frees.  NULL without memory. */
char *imports_ncu_metrics(void);

/* Makes a recording in folder, which must not be there yet, of one or more files, and adds to notes what of them was not
 * read, and what they say of themselves.  Fails, and leaves nothing, where one
 * of them is none of these formats, damaged or cut off, or has nothing that a recording holds. */
int imports_make(const char *folder, char *const *paths, size_t count, struct sentences *notes,
		 struct err *err);

#endif
