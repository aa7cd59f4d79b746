#include "advice/captures.h"

#include "advice/rules/rules.h"
#include "base/format.h"

#include <string.h>

enum capture_error {
	CAPTURE_UNSUPPORTED = 900,    /* cudaErrorStreamCaptureUnsupported */
	CAPTURE_MERGE = 902,	      /* cudaErrorStreamCaptureMerge */
	CAPTURE_ISOLATION = 905,      /* cudaErrorStreamCaptureIsolation */
	CAPTURE_IMPLICIT = 906,	      /* cudaErrorStreamCaptureImplicit */
	CAPTURE_CAPTURED_EVENT = 907, /* cudaErrorCapturedEvent */
};

/* A thread on its way through its calls. */
struct capturing {
	const struct profile *profile;
	struct captures *out;
	bool is_capturing, is_spoiled; /* is_spoiled: by the legacy stream */
};

static bool is_refusal(uint32_t result)
{
	return result == CAPTURE_UNSUPPORTED || result == CAPTURE_MERGE ||
	       result == CAPTURE_ISOLATION || result == CAPTURE_CAPTURED_EVENT;
}

static void begin(struct capturing *thread)
{
	thread->out->begun_count++;
	thread->is_capturing = true;
	thread->is_spoiled = false;
}

static void end(struct capturing *thread, const struct profile_call *call)
{
	if (call->result && thread->is_spoiled)
		thread->out->legacy.lost_count++;
	else if (call->result)
		thread->out->refused.lost_count++;
	thread->is_capturing = thread->is_spoiled = false;
}

static void note(struct capture_failures *failures, const char *name)
{
	if (!failures->count++)
		failures->first_name = name;
}

static void count_failure(struct capturing *thread, const struct profile_call *call)
{
	struct captures *out = thread->out;
	const char *name = thread->profile->call_names[call->name].text;

	if (call->result == CAPTURE_IMPLICIT) {
		note(&out->legacy, name);
		thread->is_spoiled = true;
	} else if (is_refusal(call->result)) {
		note(&out->refused, name);
	}
}

static bool is_stream_allocation(const char *name)
{
	return strstr(name, "Async") && (strstr(name, "Malloc") || strstr(name, "MemAlloc"));
}

static bool is_host_function(const char *name)
{
	return strstr(name, "LaunchHostFunc") || strstr(name, "StreamAddCallback");
}

static void count_call(struct capturing *thread, const struct profile_call *call)
{
	const struct profile_call_name *name = &thread->profile->call_names[call->name];
	bool is_of_graphs = name->call_class == CALL_GRAPH_MANAGE;

	if (is_of_graphs && strstr(name->text, "StreamBeginCapture") && !call->result)
		begin(thread);
	else if (is_of_graphs && strstr(name->text, "StreamEndCapture"))
		end(thread, call);
	else if (call->result)
		count_failure(thread, call);
	else if (is_of_graphs && strstr(name->text, "AddHostNode"))
		thread->out->host_function_count++;
	else if (thread->is_capturing && is_host_function(name->text))
		thread->out->host_function_count++;
	else if (thread->is_capturing && name->call_class == CALL_MEMORY &&
		 is_stream_allocation(name->text))
		thread->out->allocation_count++;
}

struct captures captures_of(const struct profile *profile, const uint32_t *homes, size_t device)
{
	struct captures out = {0};

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		struct capturing capturing = {.profile = profile, .out = &out};

		if (homes[thread->process] != device)
			continue;
		for (size_t j = 0; j < thread->call_count; j++)
			count_call(&capturing, &profile->calls[thread->first_call + j]);
	}
	return out;
}

int captures_add_evidence(struct recommendation *item, const struct captures *captures,
			  const struct capture_failures *failures, const char *calls,
			  const char *answer)
{
	int rc = advice_add_evidence(item, "%s while a stream was captured: %s, the first a %s%s",
				     calls, format_count(failures->count).text,
				     failures->first_name, answer);

	return rc ? rc
		  : advice_add_evidence(item, "%s of %s captures ended without a graph",
					format_count(failures->lost_count).text,
					format_count(captures->begun_count).text);
}
