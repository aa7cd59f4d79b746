#define _GNU_SOURCE
#include "last_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "roofline/last_call.h"
#include "writer/own_descriptor.h"
#include "writer/table_files.h"

_Static_assert(sizeof(struct last_call_slot) == 128, "a slot is two cache lines of its own");

static _Atomic(struct last_call_file *) kept; /* mapped; NULL: nothing is kept */
static __thread struct last_call_slot *own;   /* NULL: it has none */
static __thread bool has_looked;

/* The disk's blocks are taken at once: a page that cannot be written would end the program. */
static void do_map_file(void *data)
{
	struct last_call_file **out = data;
	int folder = table_files_descriptor();
	int file = own_descriptor_open(folder, LAST_CALL_FILE,
				       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	void *mapped = MAP_FAILED;

	if (file < 0)
		return;
	if (posix_fallocate(file, 0, sizeof(struct last_call_file)) == 0)
		mapped = mmap(NULL, sizeof(struct last_call_file), PROT_READ | PROT_WRITE,
			      MAP_SHARED, file, 0);
	close(file);
	if (mapped != MAP_FAILED)
		*out = mapped;
	else
		unlinkat(folder, LAST_CALL_FILE, 0);
}

void last_call_start(const struct options *options)
{
	struct last_call_file *mapped = NULL;

	if (!options->record)
		return;
	own_descriptors_do(do_map_file, &mapped);
	if (!mapped)
		return;
	mapped->process = (uint32_t)getpid();
	mapped->magic = LAST_CALL_MAGIC;
	atomic_store_explicit(&kept, mapped, memory_order_release);
}

static bool is_free(struct last_call_slot *slot, uint32_t *thread)
{
	*thread = __atomic_load_n(&slot->thread, __ATOMIC_ACQUIRE);
	return !*thread || (syscall(SYS_tgkill, getpid(), *thread, 0) != 0 && errno == ESRCH);
}

/* One that no thread has yet, or that of a thread which has ended.  NULL: there is none. */
static struct last_call_slot *take_slot(struct last_call_file *file)
{
	uint32_t self = (uint32_t)syscall(SYS_gettid), thread;
	struct last_call_slot *taken = NULL;
	int error = errno;

	for (size_t i = 0; i < LAST_CALL_SLOTS && !taken; i++)
		if (is_free(&file->slots[i], &thread) &&
		    __atomic_compare_exchange_n(&file->slots[i].thread, &thread, self, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			taken = &file->slots[i];
	errno = error;
	if (!taken)
		return NULL;
	(void)__atomic_load_n(&taken->work,
			      __ATOMIC_ACQUIRE); /* behind all that the thread before did */
	taken->depth = 0;
	return taken;
}

static struct last_call_slot *own_slot(void)
{
	struct last_call_file *file = atomic_load_explicit(&kept, memory_order_acquire);

	if (file && !has_looked) {
		has_looked = true;
		own = take_slot(file);
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
	struct last_call_slot *slot = own_slot();

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
	struct last_call_slot *slot = own_slot();

	if (!slot)
		return;
	if (is_api(domain) && ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_EXIT)
		slot->depth -= slot->depth > 0;
	__atomic_store_n(&slot->work, LAST_CALL_NOTHING, __ATOMIC_RELEASE);
}

void last_call_end(void)
{
	struct last_call_file *file = atomic_load_explicit(&kept, memory_order_acquire);

	if (file)
		__atomic_store_n(&file->has_ended, 1, __ATOMIC_RELAXED);
}
