/*
 * sampling.h - the whole GPU over time: what ran on it, whoever launched it.
 *
 * Beside the trace, hardware counters are sampled every microsecond or so on every device that the
 * process uses.  Sampling begins with the first launch on a device, or with copies where there is none before.  Where decoding keeps up with the
 * interval it goes on until the program ends.  Otherwise it is done in windows, each as long as memory
 * allows and the next one as soon as it has been decoded, or without end at the finest interval that is kept
 * up with.  What was sampled is written down as spans, what was lost as losses; nothing is said of the rest.
 */
#ifndef ROOFLINE_SAMPLING_H
#define ROOFLINE_SAMPLING_H

#include "cupti_api.h"
#include "options.h"

/* As soon as we are attached to CUPTI. */
void sampling_prepare(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
		      const struct options *options);

/* Prepares sampling when the options ask for it; options are borrowed. */
void sampling_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber,
		    const struct options *options);

/* A context was made: its device is sampled from the first launch or copies on. */
void sampling_on_context(CUcontext context);

/* Any driver call that CUPTI calls us back for. */
void sampling_on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data);

/* Any call of NVTX: ranges begin and end. */
void sampling_on_nvtx(CUpti_CallbackId id, const CUpti_NvtxData *data);

/* Writes what has been sampled. */
void sampling_stop(void);

#endif
