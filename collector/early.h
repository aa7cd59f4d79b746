/*
 * early.h - buffers that come back before CUDA is used.
 *
 * NVTX ranges may begin long before CUDA does, and a program that never uses CUDA must leave no file.
 * So what CUPTI hands back is kept undecoded until the recording is opened.  The pool's limit until
 * then (EARLY_BUFFERS) bounds it: beyond it CUPTI is refused buffers, which is counted as ever.
 * Knows nothing of what is in a buffer.
 */
#ifndef ROOFLINE_EARLY_H
#define ROOFLINE_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 18,724 marker records fit into each. */
#define EARLY_BUFFERS 32

/* Keeps a buffer of valid_bytes.  Returns false once early_end was called: decode it yourself. */
bool early_keep(uint8_t *buffer, size_t valid_bytes);

/* Calls consume on every kept buffer, in the order in which they came, and keeps no more. */
void early_end(void (*consume)(uint8_t *buffer, size_t valid_bytes));

#endif
