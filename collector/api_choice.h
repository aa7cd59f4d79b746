/*
 * api_choice.h - which API calls are recorded, chosen by name.
 *
 * Recording a call costs the application about 0.3 us, and a PyTorch iteration
 * makes many that explain nothing (cudaGetDevice, cudaStreamIsCapturing).  The
 * table in api_choice.c lists what a report needs; names are asked of CUPTI, so
 * the calls of a newer CUDA are found without knowing their numbers.
 */
#ifndef ROOFLINE_API_CHOICE_H
#define ROOFLINE_API_CHOICE_H

#include "cupti_api.h"

/* Enables the chosen calls of both domains, or disables them.  Returns for how many that went well. */
unsigned int api_choice_enable(const struct cupti_api *cupti, bool is_on);

/* True when a call of this name is recorded. */
bool api_choice_wants(const char *name);

/* The name of a call without its "cuda" or "cu"; points into name. */
const char *api_choice_stem(const char *name);

/* Number in names.csv of a call's name; 0 when CUPTI does not know it. */
uint32_t api_choice_name(const struct cupti_api *cupti, CUpti_CallbackDomain domain, uint32_t cbid);

#endif
