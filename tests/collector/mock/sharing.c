/*
 * sharing.c - the stand-in for CUPTI 13.3 and newer: what a subscriber calls that agrees to others.
 *
 * The handle is that of the one subscriber that there is; all else is done by the functions without a handle.
 */
#include "mock_cupti.h"

#include "callbacks.h"
#include "environment.h"
#include "cupti_api.h"

static cupti_shared_request request;
static cupti_shared_complete complete;

static void CUPTIAPI request_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	request(buffer, size, most_records, NULL);
}

static void CUPTIAPI complete_buffer(CUcontext context, uint32_t stream, uint8_t *buffer,
				     size_t size, size_t valid_bytes)
{
	(void)context;
	(void)stream;
	complete(buffer, size, valid_bytes, NULL);
}

/* CUPTI refuses whoever has not agreed to share. */
#define ONLY_SHARED(handle)                                   \
	do {                                                  \
		MOCK_NOTE_CALL();                             \
		if (!mock_is_shared(handle))                  \
			return CUPTI_ERROR_INVALID_PARAMETER; \
	} while (0)

CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
					    void *config)
{
	(void)config;
	ONLY_SHARED(handle);
	return cuptiActivityEnable(kind);
}

CUptiResult CUPTIAPI cuptiActivityDisable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
					     void *config)
{
	(void)config;
	ONLY_SHARED(handle);
	return cuptiActivityDisable(kind);
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle handle,
						   CUpti_ActivityKind kind, void *config)
{
	(void)config;
	ONLY_SHARED(handle);
	return cuptiActivityEnableAndDump(kind);
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle handle,
						      CUpti_CallbackId id, uint8_t is_on)
{
	ONLY_SHARED(handle);
	return cuptiActivityEnableRuntimeApi(id, is_on);
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle handle,
						     CUpti_CallbackId id, uint8_t is_on)
{
	ONLY_SHARED(handle);
	return cuptiActivityEnableDriverApi(id, is_on);
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle handle,
						  CUpti_ActivityAttribute attribute, size_t *size,
						  void *value)
{
	ONLY_SHARED(handle);
	return cuptiActivitySetAttribute(attribute, size, value);
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle handle,
						       cupti_shared_request on_request,
						       cupti_shared_complete on_complete)
{
	ONLY_SHARED(handle);
	request = on_request;
	complete = on_complete;
	return cuptiActivityRegisterCallbacks(request_buffer, complete_buffer);
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle handle, uint8_t *buffer,
						   size_t valid_bytes, CUpti_Activity **record)
{
	ONLY_SHARED(handle);
	return cuptiActivityGetNextRecord(buffer, valid_bytes, record);
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle handle,
							  CUcontext context, uint32_t stream,
							  size_t *count)
{
	ONLY_SHARED(handle);
	return cuptiActivityGetNumDroppedRecords(context, stream, count);
}
