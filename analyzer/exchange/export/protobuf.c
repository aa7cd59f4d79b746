#include "exchange/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define LENGTH_BYTES 4

static uint8_t *room(struct protobuf *buffer, size_t size)
{
	uint8_t *moved = array_reserve(buffer->bytes, &buffer->capacity, buffer->count + size, 1);

	if (!moved) {
		buffer->has_failed = true;
		return NULL;
	}
	buffer->bytes = moved;
	buffer->count += size;
	return moved + buffer->count - size;
}

static void add_varint(struct protobuf *buffer, uint64_t number)
{
	uint8_t bytes[10], *place;
	size_t count = 0;

	do {
		bytes[count++] = (uint8_t)((number & 0x7f) | (number >> 7 ? 0x80 : 0));
		number >>= 7;
	} while (number);
	place = room(buffer, count);
	if (place)
		memcpy(place, bytes, count);
}

static void add_tag(struct protobuf *buffer, uint32_t field, enum wire wire)
{
	add_varint(buffer, (uint64_t)field << 3 | wire);
}

void protobuf_add_number(struct protobuf *buffer, uint32_t field, uint64_t number)
{
	add_tag(buffer, field, WIRE_VARINT);
	add_varint(buffer, number);
}

void protobuf_add_fixed64(struct protobuf *buffer, uint32_t field, uint64_t number)
{
	uint8_t *place;

	add_tag(buffer, field, WIRE_FIXED64);
	place = room(buffer, sizeof(number));
	for (size_t i = 0; place && i < sizeof(number); i++)
		place[i] = (uint8_t)(number >> 8 * i);
}

void protobuf_add_double(struct protobuf *buffer, uint32_t field, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	protobuf_add_fixed64(buffer, field, bits);
}

void protobuf_add_text(struct protobuf *buffer, uint32_t field, const char *text)
{
	add_tag(buffer, field, WIRE_BYTES);
	add_varint(buffer, strlen(text));
	protobuf_add_raw(buffer, text, strlen(text));
}

void protobuf_add_raw(struct protobuf *buffer, const void *bytes, size_t count)
{
	uint8_t *place = room(buffer, count);

	if (place)
		memcpy(place, bytes, count);
}

size_t protobuf_begin(struct protobuf *buffer, uint32_t field)
{
	add_tag(buffer, field, WIRE_BYTES);
	(void)room(buffer, LENGTH_BYTES); /* filled in at its end */
	return buffer->count;
}

void protobuf_end(struct protobuf *buffer, size_t begin)
{
	size_t length = buffer->count - begin;

	if (buffer->has_failed)
		return;
	for (int i = 0; i < LENGTH_BYTES; i++)
		buffer->bytes[begin - LENGTH_BYTES + (size_t)i] =
			(uint8_t)((length >> 7 * i & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

void protobuf_clear(struct protobuf *buffer)
{
	buffer->count = 0;
}

void protobuf_free(struct protobuf *buffer)
{
	free(buffer->bytes);
	*buffer = (struct protobuf){0};
}
