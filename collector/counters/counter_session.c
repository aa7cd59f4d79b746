#include "counters/counter_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct counter_session {
	const struct cupti_api *cupti;
	struct counter_config config;
	enum session_mode mode;
	CUpti_RangeProfiler_Object *profiler;
	uint8_t *image; /* counter data */
	size_t image_bytes;
	size_t ranges; /* of the open pass */
	double *values; /* SESSION_RANGES rows of config.name_count: known in this round, NaN before */
};

/* The names of ranges; equal ones would be added up. */
static const char *range_name(size_t range)
{
	static char names[SESSION_RANGES][8];

	if (!*names[range])
		snprintf(names[range], sizeof(names[range]), "%zu", range);
	return names[range];
}

static CUptiResult size_image(struct counter_session *session)
{
	CUpti_RangeProfiler_GetCounterDataSize_Params parameters = {
		.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
		.pMetricNames = session->config.names,
		.numMetrics = session->config.name_count,
		.maxNumOfRanges = SESSION_RANGES,
		.maxNumRangeTreeNodes = SESSION_RANGES,
	};
	CUptiResult result = session->cupti->cuptiRangeProfilerGetCounterDataSize(&parameters);

	if (result != CUPTI_SUCCESS)
		return result;
	session->image_bytes = parameters.counterDataSize;
	session->image = calloc(1, session->image_bytes ? session->image_bytes : 1);
	return session->image ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

/* A new round of passes begins with an empty image. */
static CUptiResult begin_round(struct counter_session *session)
{
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params emptying = {
		.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
		.counterDataSize = session->image_bytes,
		.pCounterData = session->image,
	};
	bool is_replay = session->mode == SESSION_REPLAY;
	CUpti_RangeProfiler_SetConfig_Params setting = {
		.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
		.configSize = session->config.image_bytes,
		.pConfig = session->config.image,
		.counterDataImageSize = session->image_bytes,
		.pCounterDataImage = session->image,
		.range = is_replay ? CUPTI_AutoRange : CUPTI_UserRange,
		.replayMode = is_replay ? CUPTI_KernelReplay : CUPTI_UserReplay,
		.maxRangesPerPass = SESSION_RANGES,
		.numNestingLevels = 1,
		.minNestingLevel = 1,
		.targetNestingLevel = 1,
	};
	CUptiResult result =
		session->cupti->cuptiRangeProfilerCounterDataImageInitialize(&emptying);

	for (size_t i = 0; i < SESSION_RANGES * session->config.name_count; i++)
		session->values[i] = NAN;
	return result == CUPTI_SUCCESS ? session->cupti->cuptiRangeProfilerSetConfig(&setting)
				       : result;
}

static CUptiResult open_pass(struct counter_session *session)
{
	CUpti_RangeProfiler_Start_Params parameters = {
		.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	session->ranges = 0;
	return session->cupti->cuptiRangeProfilerStart(&parameters);
}

static CUptiResult enable(struct counter_session *session, CUcontext context)
{
	CUpti_RangeProfiler_Enable_Params parameters = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
		.ctx = context,
	};
	CUptiResult result = session->cupti->cuptiRangeProfilerEnable(&parameters);

	session->profiler = parameters.pRangeProfilerObject;
	return result;
}

CUptiResult counter_session_open(struct counter_session **out, const struct cupti_api *cupti,
				 CUcontext context, enum session_mode mode,
				 struct counter_config *config)
{
	struct counter_session *session = calloc(1, sizeof(*session));
	CUptiResult result;

	if (!session) {
		counter_config_free(config, cupti);
		return CUPTI_ERROR_OUT_OF_MEMORY;
	}
	session->cupti = cupti;
	session->mode = mode;
	session->config = *config;
	for (size_t i = 0; i < session->config.name_count; i++) /* they pointed into *config */
		session->config.names[i] =
			session->config.list.choices[session->config.choice_of[i]].name;
	session->values =
		malloc(SESSION_RANGES * session->config.name_count * sizeof(*session->values));
	result = session->values ? enable(session, context) : CUPTI_ERROR_OUT_OF_MEMORY;
	if (result == CUPTI_SUCCESS)
		result = size_image(session);
	if (result == CUPTI_SUCCESS)
		result = begin_round(session);
	if (result == CUPTI_SUCCESS)
		result = open_pass(session);
	if (result != CUPTI_SUCCESS)
		counter_session_close(session, true);
	else
		*out = session;
	return result;
}

const struct counter_config *counter_session_config(const struct counter_session *session)
{
	return &session->config;
}

CUptiResult counter_session_begin_range(struct counter_session *session)
{
	CUpti_RangeProfiler_PushRange_Params parameters = {
		.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	if (session->ranges == SESSION_RANGES)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (session->mode == SESSION_REPLAY)
		return CUPTI_SUCCESS;
	parameters.pRangeName = range_name(session->ranges);
	return session->cupti->cuptiRangeProfilerPushRange(&parameters);
}

CUptiResult counter_session_end_range(struct counter_session *session)
{
	CUpti_RangeProfiler_PopRange_Params parameters = {
		.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};

	session->ranges++;
	return session->mode == SESSION_REPLAY
		       ? CUPTI_SUCCESS
		       : session->cupti->cuptiRangeProfilerPopRange(&parameters);
}

static CUptiResult evaluate(struct counter_session *session, size_t range, double *values)
{
	CUpti_Profiler_Host_EvaluateToGpuValues_Params parameters = {
		.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
		.pHostObject = session->config.host,
		.pCounterDataImage = session->image,
		.counterDataImageSize = session->image_bytes,
		.rangeIndex = range,
		.ppMetricNames = session->config.names,
		.numMetrics = session->config.name_count,
		.pMetricValues = values,
	};

	return session->cupti->cuptiProfilerHostEvaluateToGpuValues(&parameters);
}

/* A counter is not a number until the pass that has it was read; then it is the value of the launch that
 * carried this pass, and stays until the round ends. */
static CUptiResult read_values(struct counter_session *session, session_value take, void *context)
{
	double values[METRIC_LIMIT];
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t range = 0; range < session->ranges && result == CUPTI_SUCCESS; range++) {
		double *known = session->values + range * session->config.name_count;

		result = evaluate(session, range, values);
		for (size_t i = 0; result == CUPTI_SUCCESS && i < session->config.name_count; i++) {
			if (isnan(values[i]) || !isnan(known[i]))
				continue;
			known[i] = values[i];
			if (isfinite(values[i]))
				take(context, range, session->config.choice_of[i], values[i]);
		}
	}
	return result;
}

static CUptiResult close_pass(struct counter_session *session, bool *is_round_over)
{
	CUpti_RangeProfiler_Stop_Params stopping = {
		.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};
	CUpti_RangeProfiler_DecodeData_Params decoding = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = session->profiler,
	};
	CUptiResult result = session->cupti->cuptiRangeProfilerStop(&stopping);

	*is_round_over = stopping.isAllPassSubmitted || session->mode == SESSION_REPLAY;
	return result == CUPTI_SUCCESS ? session->cupti->cuptiRangeProfilerDecodeData(&decoding)
				       : result;
}

CUptiResult counter_session_read(struct counter_session *session, bool is_last, session_value take,
				 void *context)
{
	bool is_round_over = false;
	CUptiResult result = close_pass(session, &is_round_over);

	if (result == CUPTI_SUCCESS)
		result = read_values(session, take, context);
	session->ranges = 0;
	if (result == CUPTI_SUCCESS && !is_last && is_round_over)
		result = begin_round(session);
	return result == CUPTI_SUCCESS && !is_last ? open_pass(session) : result;
}

CUptiResult counter_session_resume(struct counter_session *session)
{
	CUptiResult result = begin_round(session);

	return result == CUPTI_SUCCESS ? open_pass(session) : result;
}

void counter_session_close(struct counter_session *session, bool has_device)
{
	if (!session)
		return;
	if (session->profiler && has_device) {
		CUpti_RangeProfiler_Disable_Params parameters = {
			.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
			.pRangeProfilerObject = session->profiler,
		};

		session->cupti->cuptiRangeProfilerDisable(&parameters);
	}
	counter_config_free(&session->config, session->cupti);
	free(session->image);
	free(session->values);
	free(session);
}
