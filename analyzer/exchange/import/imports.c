#include "exchange/import/imports.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/groups.h"
#include "base/new_folder.h"
#include "base/paths.h"
#include "base/shell.h"
#include "exchange/import/imported_end.h"
#include "exchange/import/plain_file.h"

typedef int (*importer)(struct imported *imported, const char *path, struct err *err);

/* ---- which format ---- */

#define ROCPROF_JSON "{\"rocprofiler-sdk-tool\""

/* Of a file's first bytes. */
struct beginning {
	char bytes[4096 + 1];
	size_t count;
};

static bool begins_with(const struct beginning *beginning, const char *text)
{
	size_t blank = strspn(beginning->bytes, " \t\r\n");

	return !strncmp(beginning->bytes + blank, text, strlen(text));
}

static bool is_rocprofs(const struct beginning *beginning)
{
	static const char *const heads[] = {"\"Kind\",\"Agent_Id\",\"Queue_Id\"",
					    "\"Kind\",\"Direction\"", "\"Kind\",\"Operation\"",
					    "\"Domain\",\"Function\",\"Process_Id\"",
					    "\"Node_Id\",\"Logical_Node_Id\""};
	static const char guid[] = "\"Guid\","; /* rocpd convert has it before them */
	char head[64];

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		snprintf(head, sizeof(head), "%s%s", guid, heads[i]);
		if (begins_with(beginning, heads[i]) || begins_with(beginning, head))
			return true;
	}
	return false;
}

static importer recognize(const struct beginning *beginning)
{
	if (!memcmp(beginning->bytes, "SQLite format 3", sizeof("SQLite format 3")))
		return import_nsys;
	if (begins_with(beginning, ROCPROF_JSON))
		return NULL;
	if (begins_with(beginning, "{") || begins_with(beginning, "["))
		return import_kineto;
	if (strstr(beginning->bytes, "\"ID\",\"Process ID\",\"Process Name\""))
		return import_ncu;
	if (is_rocprofs(beginning))
		return import_rocprof;
	return NULL;
}

static int read_beginning(struct beginning *beginning, const char *path, struct err *err)
{
	struct plain_file *file;
	const void *bytes = "";
	size_t size = 0;
	int rc = plain_file_open(&file, path, err);

	*beginning = (struct beginning){"", 0};
	if (rc == 0)
		rc = plain_file_next(file, &bytes, &size, err);
	if (rc > 0) {
		beginning->count =
			size < sizeof(beginning->bytes) - 1 ? size : sizeof(beginning->bytes) - 1;
		memcpy(beginning->bytes, bytes, beginning->count);
	}
	plain_file_close(file);
	return rc < 0 ? rc : 0;
}

/* ---- what it is instead ---- */

/* Tables that other tools write and that are no traces, each by what its first line has. */
static const struct {
	const char *part, *what, *instead;
} others[] = {
	{"\"Counter_Name\",\"Counter_Value\"", "counters of rocprofv3 --pmc, without a trace",
	 "its *_kernel_trace.csv, which rocprofv3 --kernel-trace writes"},
	{"\"TotalDurationNs\"", "sums of rocprofv3 --stats",
	 "its *_kernel_trace.csv, which rocprofv3 --kernel-trace writes"},
	{"\"KernelName\",\"gpu-id\"", "a table of rocprof, before rocprofv3",
	 "what rocprofv3 --kernel-trace --output-format csv writes"},
	{"\"Name\",\"Calls\",\"TotalDurationNs\"", "sums of rocprof --stats",
	 "what rocprofv3 --kernel-trace --output-format csv writes"},
	{"Total Time (ns)", "sums of nsys stats", "what nsys export --type sqlite writes"},
	{"Duration (ns)", "a table of nsys stats", "what nsys export --type sqlite writes"},
	{"\"Time(%)\"", "a table of nvprof", "what nsys export --type sqlite writes"},
	{"Self CPU", "a table of PyTorch's profiler", "what its export_chrome_trace() writes"},
	{"\"ID\";\"Process ID\"", "a table with semicolons between its columns",
	 "what ncu --csv --page raw writes"},
};

/* Quotes are left away by some versions: a part is looked for without its own, too. */
static bool has_part(const struct beginning *beginning, const char *part)
{
	char line[sizeof(beginning->bytes)], plain[128];
	char *to = plain;

	snprintf(line, sizeof(line), "%.*s", (int)strcspn(beginning->bytes, "\r\n"),
		 beginning->bytes);
	if (strstr(line, part))
		return true;
	for (const char *from = part; *from; from++)
		if (*from != '"')
			*to++ = *from;
	*to = '\0';
	return !strchr(line, '"') && strstr(line, plain);
}

static int refuse_table(const struct beginning *beginning, const char *path, struct err *err)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (has_part(beginning, others[i].part))
			return err_set(err, -EINVAL, "%s: %s; give %s", path, others[i].what,
				       others[i].instead);
	return 0;
}

/* Return true if the text begins with the byte order mark of UTF-16, or with a letter and a zero. */
static bool is_utf16(const struct beginning *beginning)
{
	return beginning->count > 3 &&
	       (!memcmp(beginning->bytes, "\xff\xfe", 2) ||
		!memcmp(beginning->bytes, "\xfe\xff", 2) ||
		(!beginning->bytes[1] && beginning->bytes[0] && beginning->bytes[2]));
}

/* ---- all files ---- */

/* What it is instead, by its name, and what can be read in its place. */
static int refuse(const struct beginning *beginning, const char *path, struct err *err)
{
	if (path_has_suffix(path, ".nsys-rep") || path_has_suffix(path, ".qdrep"))
		return err_set(
			err, -EINVAL,
			"%s: only nsys reads this format; run nsys export --type sqlite %s and "
			"import what that writes",
			path, shell_path_text(path).text);
	if (begins_with(beginning, ROCPROF_JSON))
		return err_set(err, -EINVAL,
			       "%s: of rocprofv3 no JSON is read; import what it writes with "
			       "--output-format csv",
			       path);
	if (path_has_suffix(path, ".pftrace"))
		return err_set(err, -EINVAL,
			       "%s: traces of Perfetto are not read; of rocprofv3 import what it "
			       "writes with --output-format csv, of rooflinectl export read the "
			       "recording itself",
			       path);
	if (is_utf16(beginning))
		return err_set(
			err, -EINVAL,
			"%s: text in UTF-16, as PowerShell's > writes it; convert it with iconv "
			"-f UTF-16 -t UTF-8",
			path);
	if (refuse_table(beginning, path, err) < 0)
		return -EINVAL;
	return err_set(err, -EINVAL,
		       "%s: none of the formats that can be read; see rooflinectl import --help",
		       path);
}

static int find_importer(importer *import, const char *path, struct err *err)
{
	struct beginning beginning;
	int rc = read_beginning(&beginning, path, err);

	*import = rc == 0 ? recognize(&beginning) : NULL;
	if (rc < 0 || *import)
		return rc;
	if (!beginning.count)
		return err_set(err, -EINVAL, "%s: the file is empty", path);
	return refuse(&beginning, path, err);
}

static int refuse_folder(const char *path, struct err *err)
{
	struct shell_text folder = shell_path_text(path);

	return err_set(err, -EISDIR,
		       "%s: a folder; give the files in it, such as %s/*.json, or where it is a "
		       "recording of rooflinectl, read it with: rooflinectl report %s",
		       path, folder.text, folder.text);
}

/* One that is given again, by another name or a link, would count twice. */
static int check_once(struct groups *known, const char *path, struct err *err)
{
	uint32_t count = known->count, number;
	struct stat status;

	if (stat(path, &status) < 0)
		return 0; /* it is told where it is opened */
	if (S_ISDIR(status.st_mode))
		return refuse_folder(path, err);
	if (groups_find(known, (uint64_t[]){status.st_dev, status.st_ino}, 2 * sizeof(uint64_t),
			&number) < 0)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	return number == count ? 0 : err_set(err, -EINVAL, "%s: the same file twice", path);
}

static int check_each_once(char *const *paths, size_t count, struct err *err)
{
	struct groups known = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = check_once(&known, paths[i], err);
	groups_free(&known);
	return rc;
}

/* Counters are for launches of the other files, so they come last. */
static int add_file(struct imported *imported, const char *path, bool is_counters, struct err *err)
{
	importer import;
	int rc = find_importer(&import, path, err);

	if (rc < 0 || !import || (import == import_ncu) != is_counters)
		return rc;
	imported_next_file(imported);
	return import(imported, path, err);
}

static int add_files(const char *folder, char *const *paths, size_t count, struct sentences *notes,
		     struct err *err)
{
	struct imported *imported = imported_open(folder, count, notes);
	int rc = 0;

	if (!imported)
		return err_set(err, -ENOMEM, "%s: out of memory", folder);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_file(imported, paths[i], false, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_file(imported, paths[i], true, err);
	return imported_close(imported, rc, err);
}

int imports_make(const char *folder, char *const *paths, size_t count, struct sentences *notes,
		 struct err *err)
{
	struct new_folder made;
	int rc = check_each_once(paths, count, err);

	if (rc == 0)
		rc = new_folder_open(&made, folder, err);
	if (rc < 0)
		return rc;
	rc = add_files(made.temporary, paths, count, notes, err);
	return new_folder_close(&made, rc, err);
}
