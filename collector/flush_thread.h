/*
 * flush_thread.h - from CUPTI's buffers to rows, on a thread of our own.
 *
 * CUPTI asks for buffers and hands back full ones (the two callbacks); the thread decodes them, asks CUPTI
 * several times a second for what is finished, and does the last flush when the program exits.
 */
#ifndef ROOFLINE_FLUSH_THREAD_H
#define ROOFLINE_FLUSH_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "cupti_api.h"
#include "options.h"
#include "writer/trace_writer.h"

/* Comes before the callbacks are registered; both are borrowed. */
void flush_init(const struct cupti_api *cupti, const struct options *options);

void CUPTIAPI flush_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void CUPTIAPI flush_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				     size_t size, size_t valid_bytes);

/* Both clocks and CUPTI's at one moment, so that other logs can be joined. */
void flush_write_clocks(struct trace_rows *rows);

/* Returns 0 or an errno. */
int flush_thread_start(void);

/* There is something to write before the next flush. */
void flush_thread_wake(void);

/* Waits, not for long, until what is finished has been decoded: the names of kernels go with their module. */
void flush_thread_deliver(void);

/* Waits until the thread has written everything, for some seconds at most.  There is none in a program
 * that has used NVTX alone. */
void flush_thread_stop(void);

#endif
