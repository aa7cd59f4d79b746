#define _GNU_SOURCE
#include "cmd/record_fault.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/record_options.h"
#include "cmd/record_run.h"
#include "roofline/last_call.h"

/* The first row of a call that is recorded now decides. */
static const struct record_suspect suspects[] = {
	{"cuMem", ENV_ALLOCATIONS, "0", "ROOFLINE_ALLOCATIONS=0"},
	{"cudaMalloc", ENV_ALLOCATIONS, "0", "ROOFLINE_ALLOCATIONS=0"},
	{"cudaFree", ENV_ALLOCATIONS, "0", "ROOFLINE_ALLOCATIONS=0"},
	{"cuLaunch", ENV_COUNTERS, "", "to record without --counters"},
	{"cuGraphLaunch", ENV_COUNTERS, "", "to record without --counters"},
	{"cuLaunch", ENV_ARGS, "0", "to record without --args"},
	{"cuLaunch", ENV_LAUNCH_ATTRIBUTES, "0", "ROOFLINE_LAUNCH_ATTRIBUTES=0"},
	{"cuEvent", ENV_EVENTS, "0", "ROOFLINE_EVENTS=0"},
	{"cuStream", ENV_EVENTS, "0", "ROOFLINE_EVENTS=0"},
	{"nvtx", ENV_NVTX, "0", "ROOFLINE_NVTX=0"},
};

static bool is_recorded(const struct record_suspect *suspect)
{
	static const char *const defaults[] = {
#define DEFAULT(constant, name, usual, meaning) usual,
		ROOFLINE_VARIABLES(DEFAULT)
#undef DEFAULT
	};
	const char *value = record_variable(suspect->variable);

	return strcmp(value ? value : defaults[suspect->variable], suspect->without) != 0;
}

static const struct record_suspect *find_suspect(const char *call)
{
	for (size_t i = 0; i < sizeof(suspects) / sizeof(suspects[0]); i++)
		if (!strncmp(call, suspects[i].call, strlen(suspects[i].call)) &&
		    is_recorded(&suspects[i]))
			return &suspects[i];
	return NULL;
}

/* A fault of the program, also where a shell in between has made it an exit code. */
static bool is_fault(int status)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (WIFSIGNALED(status) ? WTERMSIG(status) == faults[i]
					: WEXITSTATUS(status) == 128 + faults[i])
			return true;
	return false;
}

/* ---- what was kept ---- */

/* Other ranks of a job may record into the same folder, on this host and on others. */
static bool may_be_alive(const struct last_call_file *kept, pid_t program)
{
	return kept->process != (uint32_t)program &&
	       (kill((pid_t)kept->process, 0) == 0 || errno != ESRCH);
}

/* Takes the file away.  The folder is the user's, and what is in it need not be the collector's. */
static bool take(struct last_call_file *kept, const char *path, pid_t program)
{
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	bool is_whole;

	if (file < 0)
		return false;
	is_whole = fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
		   read(file, kept, sizeof(*kept)) == (ssize_t)sizeof(*kept) &&
		   kept->magic == LAST_CALL_MAGIC && (pid_t)kept->process > 0 &&
		   !may_be_alive(kept, program);
	close(file);
	if (is_whole)
		unlink(path);
	return is_whole;
}

static bool is_inside(const struct last_call_slot *slot)
{
	return slot->depth > 0 || slot->work != LAST_CALL_NOTHING;
}

static unsigned count_inside(const struct last_call_file *kept)
{
	unsigned count = 0;

	for (size_t i = 0; i < LAST_CALL_SLOTS; i++)
		count += is_inside(&kept->slots[i]);
	return count;
}

/* The innermost call, or what the callback is about. */
static void name_of(const struct last_call_slot *slot, char name[LAST_CALL_NAME])
{
	const char *kept = slot->depth > 0 && slot->depth <= LAST_CALL_DEPTH
				   ? slot->names[slot->depth - 1]
				   : "";
	size_t length = 0;

	while (length + 1 < LAST_CALL_NAME &&
	       (isalnum((unsigned char)kept[length]) || kept[length] == '_')) {
		name[length] = kept[length];
		length++;
	}
	name[length] = '\0';
	if (!length)
		strcpy(name, slot->work == LAST_CALL_NVTX	? "nvtx"
			     : slot->work == LAST_CALL_RESOURCE ? "a module or a context"
								: "a call of CUDA");
}

/* With several threads inside calls it is not known which of them the fault was in. */
static void describe(const struct last_call_file *kept, struct record_fault *fault, char *text,
		     size_t size)
{
	unsigned count = count_inside(kept);
	char name[LAST_CALL_NAME];
	size_t first = 0;

	if (!count) {
		snprintf(text, size,
			 kept->has_ended ? "after its recording was complete"
					 : "outside of the calls that the collector follows");
		return;
	}
	while (!is_inside(&kept->slots[first]))
		first++;
	name_of(&kept->slots[first], name);
	fault->suspect = find_suspect(name);
	if (count > 1)
		snprintf(text, size,
			 "while %u threads were inside calls that are recorded, one of them %s",
			 count, name);
	else if (kept->slots[first].work)
		snprintf(text, size, "in the collector, which CUPTI had called for %s", name);
	else
		snprintf(text, size, "inside %s, while CUPTI was recording it", name);
}

/* The program's own process, as the last program that it was (exec: host.pid.2); or where a shell started that, one that was
 * inside a call. */
static bool is_better(const struct last_call_file *kept, const char *path,
		      const struct last_call_file *found, const struct record_fault *fault,
		      pid_t program)
{
	bool is_own = kept->process == (uint32_t)program;

	if (!fault->folder[0])
		return is_own || (!kept->has_ended && count_inside(kept));
	return is_own && (found->process != kept->process || strverscmp(path, fault->folder) > 0);
}

static void take_all(struct last_call_file *found, struct record_fault *fault, const char *folder,
		     pid_t program)
{
	DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;
	char host[HOST_NAME_MAX + 2] = "";

	gethostname(host, sizeof(host) - 2);
	strcat(host, ".");
	while (dir && (entry = readdir(dir)) != NULL) {
		char path[3 * PATH_MAX];
		struct last_call_file kept = {0};

		if (strncmp(entry->d_name, host, strlen(host)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s/" LAST_CALL_FILE, folder, entry->d_name);
		if (!take(&kept, path, program) || !is_better(&kept, path, found, fault, program))
			continue;
		*found = kept;
		snprintf(fault->folder, sizeof(fault->folder), "%s/%s", folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

void record_fault_look(struct record_fault *fault, const char *who, const char *folder,
		       pid_t program, int status)
{
	struct last_call_file kept = {0};
	char end[64], where[256];

	*fault = (struct record_fault){0};
	take_all(&kept, fault, folder, program);
	if (!is_fault(status))
		fault->folder[0] = '\0';
	if (!fault->folder[0])
		return;
	describe(&kept, fault, where, sizeof(where));
	record_describe_end(status, end, sizeof(end));
	if (fault->suspect)
		fprintf(stderr,
			"%s: the program ended with %s %s; if it ends well without rooflinectl, try %s\n",
			who, end, where, fault->suspect->text);
	else
		fprintf(stderr,
			"%s: the program ended with %s %s; run it without rooflinectl to see whether it "
			"does so there\n",
			who, end, where);
}
