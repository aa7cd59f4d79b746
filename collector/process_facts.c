#define _GNU_SOURCE
#include "process_facts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "roofline/frameworks.h"
#include "roofline/ranks.h"
#include "writer/own_descriptor.h"

/* Reads at most size - 1 bytes; returns their number, 0 when there is no such file. */
static size_t read_file(const char *path, char *buffer, size_t size)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = descriptor < 0 ? 0 : read(descriptor, buffer, size - 1);

	if (descriptor >= 0)
		close(descriptor);
	if (length < 0)
		length = 0;
	buffer[length] = '\0';
	return (size_t)length;
}

/* Arguments may hold secrets. */
static void write_command(struct trace_rows *rows, bool has_arguments)
{
	char command[4096] = "";
	size_t length = read_file("/proc/self/cmdline", command, sizeof(command));

	if (!has_arguments)
		length = strnlen(command, length);
	while (length > 0 && command[length - 1] == '\0')
		length--;
	for (size_t i = 0; i < length; i++)
		if (command[i] == '\0' || command[i] == '\n' || command[i] == '\r')
			command[i] = ' ';
	command[length] = '\0';
	trace_property(rows, "command", command);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ...": the first word that is a
 * version; the open driver says it differently, but it too has only one such word. */
static void write_driver(struct trace_rows *rows)
{
	char text[1024], *word, *rest = text;
	int major, minor;

	if (!read_file("/proc/driver/nvidia/version", text, sizeof(text)))
		return;
	text[strcspn(text, "\n")] = '\0';
	while ((word = strsep(&rest, " \t")))
		if (sscanf(word, "%d.%d", &major, &minor) == 2) {
			trace_property(rows, "driver_name", word);
			return;
		}
}

/* Process ids come again, and hosts may have the same name. */
static void write_identity(struct trace_rows *rows)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == (ssize_t)sizeof(random))
		trace_property_format(rows, "identity", "%016llx", (unsigned long long)random);
}

void process_facts_write(struct trace_rows *rows, const struct cupti_api *cupti,
			 const struct options *options, int64_t start_ns)
{
	char host[256] = "localhost";

	gethostname(host, sizeof(host) - 1);
	trace_property_format(rows, "schema", "%d", TRACE_SCHEMA_VERSION);
	trace_property(rows, "collector", ROOFLINE_VERSION);
	trace_property(rows, "host", host);
	trace_property_format(rows, "pid", "%d", (int)getpid());
	trace_property_format(rows, "parent_pid", "%d", (int)getppid());
	write_command(rows, options->has_command_line);
	trace_property_format(rows, "start_ns", "%lld", (long long)start_ns);
	write_identity(rows);
	trace_property_format(rows, "cupti", "%u", cupti->version);
	trace_property(rows, "cupti_path", cupti->path);
	write_driver(rows);
	trace_property(rows, "record", options->record);
	trace_property(rows, "graphs", options->is_graph_level ? "graph" : "node");
	if (options->run)
		trace_property_format(rows, "run", "%d", options->run);
	trace_property(rows, "control", options->has_control ? "1" : NULL);
	if (options->last_ns || options->last_bytes)
		trace_property(rows, "last", getenv("ROOFLINE_LAST"));
	trace_property(rows, "filter_kernels", options->kernels);
	if (options->delay_ns)
		trace_property_format(rows, "delay_ns", "%lld", (long long)options->delay_ns);
	if (options->duration_ns)
		trace_property_format(rows, "duration_ns", "%lld", (long long)options->duration_ns);
	trace_property(rows, "profiler_api", options->profiler_api ? "1" : NULL);
	trace_property(rows, "rank", ranks_rank());
	trace_property(rows, "local_rank", ranks_local_rank());
	trace_property(rows, "world_size", ranks_world_size());
	trace_property(rows, "cuda_visible_devices", getenv("CUDA_VISIBLE_DEVICES"));
}

static int (*driver_version)(int *version);

void process_facts_find_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (driver)
		*(void **)&driver_version = dlsym(driver, "cuDriverGetVersion");
}

static const struct {
	const char *name, *library;
} frameworks[FRAMEWORK_COUNT] = {
#define FRAMEWORK_ROW(id, name, library, kernel) [FRAMEWORK_##id] = {name, library},
	FRAMEWORKS(FRAMEWORK_ROW)
#undef FRAMEWORK_ROW
};

#define BLOCK_BYTES 65536

/* Take the blocks of a text; a line may lie in two of them. */
static void look_through(int descriptor, bool is_loaded[FRAMEWORK_COUNT])
{
	char *block = malloc(BLOCK_BYTES + 1), *end;
	size_t kept = 0;
	ssize_t length;

	while (block && (length = read(descriptor, block + kept, BLOCK_BYTES - kept)) > 0) {
		kept += (size_t)length;
		block[kept] = '\0';
		for (int i = FRAMEWORK_NONE + 1; i < FRAMEWORK_COUNT; i++)
			is_loaded[i] |= strstr(block, frameworks[i].library) != NULL;
		end = memrchr(block, '\n', kept);
		if (end) {
			kept -= (size_t)(end + 1 - block);
			memmove(block, end + 1, kept);
		} else if (kept == BLOCK_BYTES) {
			kept = 0;
		}
	}
	free(block);
}

/* Look at the mapped files: to ask the loader would take its lock, which a thread in dlopen holds. */
static void find_frameworks(void *is_loaded)
{
	int descriptor = own_descriptor_open(AT_FDCWD, "/proc/self/maps", O_RDONLY, 0);

	if (descriptor < 0)
		return;
	look_through(descriptor, is_loaded);
	close(descriptor);
}

static void write_frameworks(struct trace_rows *rows)
{
	bool is_loaded[FRAMEWORK_COUNT] = {false};
	char names[128] = "";

	own_descriptors_do(find_frameworks, is_loaded);
	for (int i = FRAMEWORK_NONE + 1; i < FRAMEWORK_COUNT; i++)
		if (is_loaded[i])
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 *names ? " " : "", frameworks[i].name);
	if (*names)
		trace_property(rows, "frameworks", names);
}

void process_facts_write_cuda(struct trace_rows *rows)
{
	int version;

	write_frameworks(rows);

	if (driver_version && driver_version(&version) == 0 && version)
		trace_property_format(rows, "driver", "%d", version);
}
