#include "nvtx_match.h"

#include <pthread.h>
#include <regex.h>

#include <generated_nvtx_meta.h>

#define OPEN_LIMIT 64 /* ranges of nvtxRangeStart at a time; more never match */

static regex_t wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int open_count;		   /* matching ranges of all threads */
static nvtxRangeId_t open_ids[OPEN_LIMIT]; /* of those begun by nvtxRangeStart; 0 is free */

/* Ranges that this thread pushed since one that matches; 0 outside of one. */
static __thread unsigned int depth;

bool nvtx_match_init(const char *regex)
{
	return regcomp(&wanted, regex, REG_EXTENDED | REG_NOSUB) == 0;
}

static bool is_wanted(const char *name)
{
	return name && regexec(&wanted, name, 0, NULL, 0) == 0;
}

static const char *attributes_name(const nvtxEventAttributes_t *attributes)
{
	return attributes && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII
		       ? attributes->message.ascii
		       : NULL;
}

static enum nvtx_edge begin(void)
{
	return __atomic_fetch_add(&open_count, 1, __ATOMIC_RELAXED) == 0 ? NVTX_FIRST_BEGINS
									 : NVTX_NO_EDGE;
}

static enum nvtx_edge end(void)
{
	return __atomic_sub_fetch(&open_count, 1, __ATOMIC_RELAXED) == 0 ? NVTX_LAST_ENDS
									 : NVTX_NO_EDGE;
}

static enum nvtx_edge push(const char *name)
{
	if (depth) {
		depth++;
		return NVTX_NO_EDGE;
	}
	if (!is_wanted(name))
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

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < OPEN_LIMIT && !is_found; i++)
		if (open_ids[i] == from) {
			open_ids[i] = to;
			is_found = true;
		}
	pthread_mutex_unlock(&lock);
	return is_found;
}

static enum nvtx_edge start(const char *name, const CUpti_NvtxData *data)
{
	const nvtxRangeId_t *id = data->functionReturnValue;

	if (!id || !*id || !is_wanted(name) || !replace_id(0, *id))
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
	case CUPTI_CBID_NVTX_nvtxRangePushA:
		return push(((const nvtxRangePushA_params *)call)->message);
	case CUPTI_CBID_NVTX_nvtxRangePushEx:
		return push(attributes_name(((const nvtxRangePushEx_params *)call)->eventAttrib));
	case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
		return push(attributes_name(
			((const nvtxDomainRangePushEx_params *)call)->core.eventAttrib));
	case CUPTI_CBID_NVTX_nvtxRangePushW:
		return push(NULL);
	case CUPTI_CBID_NVTX_nvtxRangePop:
	case CUPTI_CBID_NVTX_nvtxDomainRangePop:
		return pop();
	case CUPTI_CBID_NVTX_nvtxRangeStartA:
		return start(((const nvtxRangeStartA_params *)call)->message, data);
	case CUPTI_CBID_NVTX_nvtxRangeStartEx:
		return start(attributes_name(((const nvtxRangeStartEx_params *)call)->eventAttrib),
			     data);
	case CUPTI_CBID_NVTX_nvtxDomainRangeStartEx:
		return start(attributes_name(((const nvtxDomainRangeStartEx_params *)call)
						     ->core.eventAttrib),
			     data);
	case CUPTI_CBID_NVTX_nvtxRangeEnd:
		return stop(((const nvtxRangeEnd_params *)call)->id);
	case CUPTI_CBID_NVTX_nvtxDomainRangeEnd:
		return stop(((const nvtxDomainRangeEnd_params *)call)->core.id);
	default:
		return NVTX_NO_EDGE;
	}
}

bool nvtx_match_is_open(void)
{
	return __atomic_load_n(&open_count, __ATOMIC_RELAXED) > 0;
}
