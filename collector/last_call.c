#define _GNU_SOURCE
#include "last_call.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "roofline/last_call.h"
#include "writer/own_descriptor.h"
#include "writer/trace_writer.h"

_Static_assert(sizeof(struct last_call_slot) == 128, "a slot is two cache lines of its own");

static struct last_call_file *kept; /* mapped; NULL: nothing is kept */
static atomic_uint slots_taken;
static __thread struct last_call_slot *own;

/* The disk's blocks are taken at once: a page that cannot be written would end the program. */
static struct last_call_file *map_file(const char *path)
{
	int file = own_descriptor_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	void *mapped = MAP_FAILED;

	if (file < 0)
		return NULL;
	if (posix_fallocate(file, 0, sizeof(struct last_call_file)) == 0)
		mapped = mmap(NULL, sizeof(struct last_call_file), PROT_READ | PROT_WRITE,
			      MAP_SHARED, file, 0);
	close(file);
	if (mapped != MAP_FAILED)
		return mapped;
	unlink(path);
	return NULL;
}

void last_call_start(const struct options *options)
{
	char path[PATH_MAX + sizeof(LAST_CALL_FILE) + 1];
	struct last_call_file *mapped;

	if (!options->record)
		return;
	snprintf(path, sizeof(path), "%s/" LAST_CALL_FILE, trace_writer_folder());
	mapped = map_file(path);
	if (!mapped)
		return;
	mapped->process = (uint32_t)getpid();
	mapped->magic = LAST_CALL_MAGIC;
	kept = mapped;
}

static struct last_call_slot *own_slot(void)
{
	if (!own) {
		own = &kept->slots[atomic_fetch_add(&slots_taken, 1) % LAST_CALL_SLOTS];
		own->thread = (uint32_t)syscall(SYS_gettid);
		own->depth = 0;
	}
	return own;
}

static bool is_api(CUpti_CallbackDomain domain)
{
	return domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
}

/* No call of the runtime is within another call: what is left of one was not ended. */
static void begin_call(struct last_call_slot *slot, CUpti_CallbackDomain domain,
		       const CUpti_CallbackData *data)
{
	const char *name = data->functionName ? data->functionName : "";

	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || slot->depth >= LAST_CALL_DEPTH)
		slot->depth = 0;
	strncpy(slot->names[slot->depth], name, LAST_CALL_NAME - 1);
	slot->depth++;
}

void last_call_enter(CUpti_CallbackDomain domain, const void *data)
{
	struct last_call_slot *slot = kept ? own_slot() : NULL;

	if (!slot)
		return;
	slot->work = is_api(domain)		      ? LAST_CALL_API
		     : domain == CUPTI_CB_DOMAIN_NVTX ? LAST_CALL_NVTX
						      : LAST_CALL_RESOURCE;
	if (is_api(domain) && ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_ENTER)
		begin_call(slot, domain, data);
}

void last_call_leave(CUpti_CallbackDomain domain, const void *data)
{
	struct last_call_slot *slot = kept ? own_slot() : NULL;

	if (!slot)
		return;
	slot->work = LAST_CALL_NOTHING;
	if (is_api(domain) && ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_EXIT)
		slot->depth -= slot->depth > 0;
}

void last_call_end(void)
{
	if (kept)
		kept->has_ended = true;
}
