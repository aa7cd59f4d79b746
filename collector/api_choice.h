/*
 * api_choice.h - which API calls are recorded and how, chosen by name.
 *
 * Recording a call costs the application about 0.3 us, and a PyTorch iteration makes many that explain nothing
 * (cudaGetDevice, cudaStreamIsCapturing).  The table in api_choice.c lists what a report needs; names are asked of
 * CUPTI, so the calls of a newer CUDA are found without knowing their numbers.
 *
 * With more calls enabled by cuptiActivityEnableRuntimeApi CUPTI 13.0 refuses hardware counters (INVALID_PARAMETER);
 * callbacks for the same calls do not.  So calls that are made seldom and may take long are followed by callbacks.
 */
#ifndef ROOFLINE_API_CHOICE_H
#define ROOFLINE_API_CHOICE_H

#include "cupti_api.h"

enum api_way {
	API_LEFT_OUT,
	API_RECORDED, /* by CUPTI's records of calls */
	API_FOLLOWED, /* by callbacks: program_calls.h */
};

/* Of the call of this name. */
enum api_way api_choice_of(const char *name);

/* Enables the records of calls in both domains, or disables them.  Returns for how many that went well. */
unsigned int api_choice_enable(const struct cupti_api *cupti, bool is_on);

/* Whether a call is among those, for a CUPTI that records all. */
bool api_choice_is_chosen(const struct cupti_api *cupti, CUpti_CallbackDomain domain,
			  uint32_t cbid);

/* Number in names.csv of a call's name; 0 when CUPTI does not know it. */
uint32_t api_choice_name(const struct cupti_api *cupti, CUpti_CallbackDomain domain, uint32_t cbid);

#endif
