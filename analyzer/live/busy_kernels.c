#include "live/busy_kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/names/kernel_labels.h"
#include "base/strings.h"
#include "base/sums.h"
#include "trace/demangler.h"
#include "trace/id_map.h"
#include "trace/reader.h"
#include "trace/recording.h"

#define BLOCK_BYTES 65536

struct sum {
	uint32_t name; /* number among texts */
	int64_t time_ns;
	uint64_t launch_count;
};

/* What is known of a process. */
struct watched {
	char path[PATH_MAX];
	off_t offset;	     /* of kernels.csv: what lies before was counted */
	bool is_within_line; /* offset: what follows up to the next line was not counted, and is not */
	int start_column, end_column, signature_column; /* -1: its first line was not read yet */
	struct id_map names, signatures;		/* of ids: numbers among texts */
};

struct busy_kernels {
	struct watched *processes;
	size_t process_count, process_capacity;
	struct sum *sums; /* by number among texts */
	size_t sum_count, sum_capacity;
	struct strings *texts; /* demangled names */
	const char **names;    /* by number among texts */
	size_t name_count, name_capacity;
	struct demangler demangler;
	bool is_begun;
};

struct busy_kernels *busy_kernels_open(void)
{
	struct busy_kernels *kernels = calloc(1, sizeof(*kernels));

	if (kernels && !(kernels->texts = strings_create())) {
		free(kernels);
		kernels = NULL;
	}
	return kernels;
}

void busy_kernels_close(struct busy_kernels *kernels)
{
	if (!kernels)
		return;
	for (size_t i = 0; i < kernels->process_count; i++) {
		id_map_clear(&kernels->processes[i].names);
		id_map_clear(&kernels->processes[i].signatures);
	}
	demangler_close(&kernels->demangler);
	strings_free(kernels->texts);
	free(kernels->names);
	free(kernels->processes);
	free(kernels->sums);
	free(kernels);
}

/* ---- names ---- */

struct naming {
	struct busy_kernels *kernels;
	struct watched *process;
};

/* Its number among texts; PROFILE_NONE without memory. */
static uint32_t number_name(struct busy_kernels *kernels, const char *mangled)
{
	const char *demangled = demangler_name(&kernels->demangler, mangled), **next;
	uint32_t number;

	demangled = demangled ? demangled : mangled;
	number = strings_number(kernels->texts, demangled);
	if (number == PROFILE_NONE || number < kernels->name_count)
		return number;
	next = ARRAY_NEXT(kernels->names, kernels->name_capacity, kernels->name_count);
	if (!next || !(*next = strings_intern(kernels->texts, demangled)))
		return PROFILE_NONE;
	kernels->name_count++;
	return number;
}

static int add_name(const union trace_row *row, const struct reader_place *place, void *context)
{
	struct naming *naming = context;
	uint32_t number;

	(void)place;
	if (id_map_get(&naming->process->names, row->names.id) != PROFILE_NONE)
		return 0;
	number = number_name(naming->kernels, row->names.text);
	return number == PROFILE_NONE ? -ENOMEM
				      : id_map_put(&naming->process->names, row->names.id, number);
}

static int add_signature(const union trace_row *row, const struct reader_place *place,
			 void *context)
{
	struct naming *naming = context;
	uint32_t name = id_map_get(&naming->process->names, row->signatures.name);

	(void)place;
	return name == PROFILE_NONE
		       ? 0
		       : id_map_put(&naming->process->signatures, row->signatures.id, name);
}

/* Both tables anew: they are small, and read where a kernel is launched for the first time. */
static int read_names(struct naming *naming, const struct recording_process *source)
{
	struct reader_losses losses = {0};
	int rc = reader_read_table(source, TRACE_TABLE_names, add_name, naming, &losses, NULL);

	if (rc == 0)
		rc = reader_read_table(source, TRACE_TABLE_signatures, add_signature, naming,
				       &losses, NULL);
	return rc == -ENOMEM ? rc : 0;
}

/* ---- rows ---- */

static int add_kernel(struct naming *naming, const struct recording_process *source,
		      uint32_t signature, int64_t time_ns)
{
	struct busy_kernels *kernels = naming->kernels;
	uint32_t name = id_map_get(&naming->process->signatures, signature);
	int rc = name == PROFILE_NONE ? read_names(naming, source) : 0;

	if (rc < 0)
		return rc;
	name = id_map_get(&naming->process->signatures, signature);
	if (name == PROFILE_NONE)
		return 0;
	while (kernels->sum_count <= name) {
		struct sum *sum =
			ARRAY_NEXT(kernels->sums, kernels->sum_capacity, kernels->sum_count);

		if (!sum)
			return -ENOMEM;
		*sum = (struct sum){.name = (uint32_t)kernels->sum_count++};
	}
	sum_add_ns(&kernels->sums[name].time_ns, time_ns);
	kernels->sums[name].launch_count++;
	return 0;
}

static int column_of(const char *line, const char *name)
{
	size_t length = strlen(name);

	for (int column = 0; *line && *line != '\n'; column++) {
		if (!strncmp(line, name, length) && strchr(",\r\n", line[length]))
			return column;
		line += strcspn(line, ",\n");
		line += *line == ',';
	}
	return -1;
}

/* All columns of kernels.csv are whole numbers. */
static int take_line(struct naming *naming, const struct recording_process *source,
		     const char *line)
{
	const struct watched *process = naming->process;
	int64_t start_ns = 0, end_ns = 0, signature = 0;

	for (int column = 0; *line && *line != '\n'; column++) {
		char *end;
		long long value = strtoll(line, &end, 10);

		if (end == line || !strchr(",\r\n", *end))
			return 0;
		start_ns = column == process->start_column ? value : start_ns;
		end_ns = column == process->end_column ? value : end_ns;
		signature = column == process->signature_column ? value : signature;
		line = end + (*end == ',');
	}
	if (start_ns <= 0 || end_ns < start_ns || signature < 0 || signature > UINT32_MAX)
		return 0;
	return add_kernel(naming, source, (uint32_t)signature, end_ns - start_ns);
}

static int take_first_line(struct naming *naming, const char *line)
{
	struct watched *process = naming->process;

	process->start_column = column_of(line, "start_ns");
	process->end_column = column_of(line, "end_ns");
	process->signature_column = column_of(line, "signature");
	return 0;
}

/* Whole lines; bytes ends in a zero.  Returns how many bytes they take, or -ENOMEM. */
static ssize_t take_lines(struct naming *naming, const struct recording_process *source,
			  const char *bytes)
{
	const char *line = bytes, *end = strchr(bytes, '\n');
	int rc = 0;

	if (naming->process->is_within_line && end) {
		naming->process->is_within_line = false;
		line = end + 1;
	}
	for (; rc == 0 && (end = strchr(line, '\n')); line = end + 1)
		rc = naming->process->start_column < 0 ? take_first_line(naming, line)
						       : take_line(naming, source, line);
	return rc < 0 ? rc : line - bytes;
}

/* To what will be appended from now on. */
static void pass_over(struct watched *process, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	if (size > process->offset && pread(fd, &last, 1, size - 1) == 1) {
		process->offset = size;
		process->is_within_line = last != '\n';
	}
}

/* What was there before is passed over, but for the first line. */
static int read_rows(struct naming *naming, const struct recording_process *source, bool is_passed)
{
	char path[PATH_MAX + 16], bytes[BLOCK_BYTES + 1];
	ssize_t length, taken = 1;
	int fd;

	snprintf(path, sizeof(path), "%s/kernels.csv", source->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	while (taken > 0 && (length = pread(fd, bytes, BLOCK_BYTES, naming->process->offset)) > 0) {
		bytes[length] = '\0';
		if (is_passed && strchr(bytes, '\n'))
			strchr(bytes, '\n')[1] = '\0';
		taken = take_lines(naming, source, bytes);
		naming->process->offset += taken > 0 ? taken : 0;
		if (is_passed)
			break;
	}
	if (is_passed)
		pass_over(naming->process, fd);
	close(fd);
	return taken < 0 ? (int)taken : 0;
}

/* ---- processes ---- */

/* NULL without memory. */
static struct watched *find_process(struct busy_kernels *kernels, const char *path)
{
	struct watched *process;

	for (size_t i = 0; i < kernels->process_count; i++)
		if (!strcmp(kernels->processes[i].path, path))
			return &kernels->processes[i];
	process = ARRAY_NEXT(kernels->processes, kernels->process_capacity, kernels->process_count);
	if (!process)
		return NULL;
	*process = (struct watched){.start_column = -1, .end_column = -1, .signature_column = -1};
	snprintf(process->path, sizeof(process->path), "%s", path);
	kernels->process_count++;
	return process;
}

static int read_processes(struct busy_kernels *kernels, const char *folder)
{
	struct recording recording;
	struct err err = {""};
	int rc = recording_open(&recording, folder, &err);

	for (size_t i = 0; rc == 0 && i < recording.process_count; i++) {
		const struct recording_process *source = &recording.processes[i];
		struct naming naming = {kernels, find_process(kernels, source->path)};

		rc = naming.process ? read_rows(&naming, source, !kernels->is_begun) : -ENOMEM;
	}
	recording_close(&recording);
	return rc == -ENOMEM ? rc : 0;
}

/* ---- the answer ---- */

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static void put_labels(struct busy_kernel *out, const struct sum *sums, size_t count,
		       const struct busy_kernels *kernels)
{
	const char *names[BUSY_KERNELS_MOST] = {NULL};
	struct kernel_labels *labels;

	for (size_t i = 0; i < count; i++)
		names[i] = kernels->names[sums[i].name];
	labels = kernel_labels_create(names, count);
	for (size_t i = 0; i < count; i++) {
		snprintf(out[i].label, sizeof(out[i].label), "%s",
			 kernel_label(labels, names[i], LABEL_WIDE));
		out[i].time_ns = sums[i].time_ns;
		out[i].launch_count = sums[i].launch_count;
	}
	kernel_labels_free(labels);
}

int busy_kernels_read(struct busy_kernels *kernels, const char *folder, struct busy_kernel *out,
		      size_t most)
{
	size_t count = 0;
	int rc;

	kernels->sum_count = 0;
	rc = read_processes(kernels, folder);
	kernels->is_begun = true;
	if (rc < 0)
		return rc;
	if (kernels->sum_count)
		qsort(kernels->sums, kernels->sum_count, sizeof(*kernels->sums), compare_sums);
	while (count < most && count < BUSY_KERNELS_MOST && count < kernels->sum_count &&
	       kernels->sums[count].launch_count)
		count++;
	put_labels(out, kernels->sums, count, kernels);
	return (int)count;
}
