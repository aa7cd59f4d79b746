/*
 * device_signals.h - which copies between GPUs a store and a signal can stand for.
 */
#ifndef ROOFLINE_TECHNIQUE_DEVICE_SIGNALS_H
#define ROOFLINE_TECHNIQUE_DEVICE_SIGNALS_H

#define SIGNALS_LEAST_COUNT 10	     /* fewer set something up */
#define SIGNALS_MOST_BYTES (1 << 20) /* what is longer is a copy, whoever starts it */

#endif
