/*
 * protobuf.h - writes messages of Protocol Buffers, field by field, into a buffer.
 *
 * Nested messages are begun and ended.  Their length is filled in at the end, in four bytes whatever it is, which every
 * reader takes: a varint may be longer than it needs to be.  https://protobuf.dev/programming-guides/encoding/
 */
#ifndef ROOFLINE_PROTOBUF_H
#define ROOFLINE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf {
	uint8_t *bytes; /* owned */
	size_t capacity, count;
	bool has_failed; /* memory was out: what is in it is not whole */
};

void protobuf_add_number(struct protobuf *buffer, uint32_t field, uint64_t number);
void protobuf_add_fixed64(struct protobuf *buffer, uint32_t field, uint64_t number);
void protobuf_add_double(struct protobuf *buffer, uint32_t field, double number);
void protobuf_add_text(struct protobuf *buffer, uint32_t field, const char *text);

/* Fields that another buffer holds. */
void protobuf_add_raw(struct protobuf *buffer, const void *bytes, size_t count);

/* Returns where it begins, for the end of it; at most 256 MiB long. */
size_t protobuf_begin(struct protobuf *buffer, uint32_t field);
void protobuf_end(struct protobuf *buffer, size_t begin);

/* Empties it, and keeps its memory. */
void protobuf_clear(struct protobuf *buffer);
void protobuf_free(struct protobuf *buffer);

#endif
