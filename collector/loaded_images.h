/*
 * loaded_images.h - what calls that load code are given: machine code, PTX or a fat binary, and whether it lies in a program or
 * library as it is on disk, or was made or read while the program ran.
 *
 * Before code of the latter kind is unloaded, records of its kernels are decoded: CUPTI frees their names with it, and
 * others may take the place.
 */
#ifndef ROOFLINE_LOADED_IMAGES_H
#define ROOFLINE_LOADED_IMAGES_H

#include "cupti_api.h"

/* Enables the callbacks. */
void loaded_images_start(const struct cupti_api *cupti, CUpti_SubscriberHandle subscriber);

/* On a callback of the driver's.  Returns false when it is about another call. */
bool loaded_images_on_call(CUpti_CallbackId id, const CUpti_CallbackData *data);

#endif
