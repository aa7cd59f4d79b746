/*
 * calibration.h - what recording adds to a call in this very process: a call of the driver that needs no context
 * (cuDriverGetVersion), without its record and with it.
 *
 * The program's own threads are not held up.  The records are none of the program's and are left out.
 */
#ifndef ROOFLINE_CALIBRATION_H
#define ROOFLINE_CALIBRATION_H

#include "cupti_api.h"
#include "options.h"
#include "writer/trace_writer.h"

/* Measures and writes call_bare_ns and call_recorded_ns, when the options ask for it.  On our thread, once CUDA is
 * ready; takes 0.3 ms. */
void calibration_measure(struct trace_rows *rows, const struct cupti_api *cupti,
			 const struct options *options);

/* Whether the record of a call is from this. */
bool calibration_is_own(CUpti_CallbackDomain domain, const CUpti_ActivityAPI *call);

#endif
