#include "sampling/nvtx_match.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>

#include <generated_nvtx_meta.h>

#include "guard.h"

#define OPEN_LIMIT 64 /* ranges of nvtxRangeStart at a time; more never match */

static regex_t wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int open_count;		   /* matching ranges of all threads */
static nvtxRangeId_t open_ids[OPEN_LIMIT]; /* of those begun by nvtxRangeStart; 0 is free */

/* Ranges that this thread pushed since one that matches; 0 outside of one. */
static __thread unsigned int depth;

static atomic_bool was_any; /* a range has matched */

/* Registered strings that match: ranges name them by a handle.  Open addressing; never emptied. */
#define STRING_SLOTS 4096
static _Atomic nvtxStringHandle_t strings[STRING_SLOTS];

bool nvtx_match_init(const char *regex)
{
	return regcomp(&wanted, regex, REG_EXTENDED | REG_NOSUB) == 0;
}

static bool is_wanted(const char *name)
{
	return name && regexec(&wanted, name, 0, NULL, 0) == 0;
}

static size_t first_slot(nvtxStringHandle_t string)
{
	return ((uintptr_t)string >> 4) % STRING_SLOTS;
}

static void remember_string(const char *text, const nvtxStringHandle_t *string)
{
	if (!string || !*string || !is_wanted(text))
		return;
	for (size_t i = 0; i < STRING_SLOTS; i++) {
		nvtxStringHandle_t free_slot = NULL;

		if (atomic_compare_exchange_strong(
			    &strings[(first_slot(*string) + i) % STRING_SLOTS], &free_slot,
			    *string) ||
		    free_slot == *string)
			return;
	}
}

static bool is_wanted_string(nvtxStringHandle_t string)
{
	for (size_t i = 0; string && i < STRING_SLOTS; i++) {
		nvtxStringHandle_t known =
			atomic_load(&strings[(first_slot(string) + i) % STRING_SLOTS]);

		if (known == string || !known)
			return known == string;
	}
	return false;
}

static bool are_wanted(const nvtxEventAttributes_t *attributes)
{
	if (!attributes)
		return false;
	if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
		return is_wanted_string(attributes->message.registered);
	return attributes->messageType == NVTX_MESSAGE_TYPE_ASCII &&
	       is_wanted(attributes->message.ascii);
}

static enum nvtx_edge begin(void)
{
	atomic_store_explicit(&was_any, true, memory_order_relaxed);
	return __atomic_fetch_add(&open_count, 1, __ATOMIC_RELAXED) == 0 ? NVTX_FIRST_BEGINS
									 : NVTX_NO_EDGE;
}

static enum nvtx_edge end(void)
{
	return __atomic_sub_fetch(&open_count, 1, __ATOMIC_RELAXED) == 0 ? NVTX_LAST_ENDS
									 : NVTX_NO_EDGE;
}

static enum nvtx_edge push_inside(void)
{
	depth++;
	return NVTX_NO_EDGE;
}

static enum nvtx_edge push(bool is_match)
{
	if (!is_match)
		return NVTX_NO_EDGE;
	depth = 1;
	return begin();
}

static enum nvtx_edge pop(void)
{
	if (!depth || --depth)
		return NVTX_NO_EDGE;
	return end();
}

/* Replaces one id of the table by another; false when it is not there. */
static bool replace_id(nvtxRangeId_t from, nvtxRangeId_t to)
{
	bool is_found = false;
	sigset_t before;

	guard_lock(&lock, &before);
	for (size_t i = 0; i < OPEN_LIMIT && !is_found; i++)
		if (open_ids[i] == from) {
			open_ids[i] = to;
			is_found = true;
		}
	guard_unlock(&lock, &before);
	return is_found;
}

static enum nvtx_edge start(bool is_match, const CUpti_NvtxData *data)
{
	const nvtxRangeId_t *id = data->functionReturnValue;

	if (!id || !*id || !is_match || !replace_id(0, *id))
		return NVTX_NO_EDGE;
	return begin();
}

static enum nvtx_edge stop(nvtxRangeId_t id)
{
	return id && replace_id(id, 0) ? end() : NVTX_NO_EDGE;
}

enum nvtx_edge nvtx_match(CUpti_CallbackId id, const CUpti_NvtxData *data)
{
	const void *call = data->functionParams;

	switch (id) {
	case CUPTI_CBID_NVTX_nvtxDomainRegisterStringA:
		remember_string(((const nvtxDomainRegisterStringA_params *)call)->string,
				data->functionReturnValue);
		return NVTX_NO_EDGE;
	case CUPTI_CBID_NVTX_nvtxRangePushA:
		return depth ? push_inside()
			     : push(is_wanted(((const nvtxRangePushA_params *)call)->message));
	case CUPTI_CBID_NVTX_nvtxRangePushEx:
		return depth ? push_inside()
			     : push(are_wanted(
				       ((const nvtxRangePushEx_params *)call)->eventAttrib));
	case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
		return depth ? push_inside()
			     : push(are_wanted(((const nvtxDomainRangePushEx_params *)call)
						       ->core.eventAttrib));
	case CUPTI_CBID_NVTX_nvtxRangePushW:
		return depth ? push_inside() : NVTX_NO_EDGE;
	case CUPTI_CBID_NVTX_nvtxRangePop:
	case CUPTI_CBID_NVTX_nvtxDomainRangePop:
		return pop();
	case CUPTI_CBID_NVTX_nvtxRangeStartA:
		return start(is_wanted(((const nvtxRangeStartA_params *)call)->message), data);
	case CUPTI_CBID_NVTX_nvtxRangeStartEx:
		return start(are_wanted(((const nvtxRangeStartEx_params *)call)->eventAttrib),
			     data);
	case CUPTI_CBID_NVTX_nvtxDomainRangeStartEx:
		return start(
			are_wanted(((const nvtxDomainRangeStartEx_params *)call)->core.eventAttrib),
			data);
	case CUPTI_CBID_NVTX_nvtxRangeEnd:
		return stop(((const nvtxRangeEnd_params *)call)->id);
	case CUPTI_CBID_NVTX_nvtxDomainRangeEnd:
		return stop(((const nvtxDomainRangeEnd_params *)call)->core.id);
	default:
		return NVTX_NO_EDGE;
	}
}

bool nvtx_match_was_any(void)
{
	return atomic_load_explicit(&was_any, memory_order_relaxed);
}

bool nvtx_match_is_open(void)
{
	return __atomic_load_n(&open_count, __ATOMIC_RELAXED) > 0;
}
