/*
 * html_blocks.h - data in a page: growing bytes, numbers of few bytes, and compressed blocks.
 *
 * A block is a <script> element of a type that no browser runs, with what zlib made of its bytes, in base 64.  Its id is
 * its name.  JSON stands in such an element as text.  Nothing of a recording is written into a page in any other way.
 */
#ifndef ROOFLINE_HTML_BLOCKS_H
#define ROOFLINE_HTML_BLOCKS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json_builder.h"

struct html_bytes {
	uint8_t *bytes; /* owned */
	size_t count, capacity;
};

/* Each returns 0 or -ENOMEM. */
int html_put_byte(struct html_bytes *to, unsigned byte);
int html_put_bytes(struct html_bytes *to, const struct html_bytes *bytes);
int html_put_number(struct html_bytes *to,
		    uint64_t number); /* seven bits a byte, the lowest first */
int html_put_signed(struct html_bytes *to,
		    int64_t number); /* 0, -1, 1, -2, 2, ... as 0, 1, 2, 3, 4 */
void html_bytes_free(struct html_bytes *bytes);

/* What zlib makes of the bytes.  Returns 0 or -ENOMEM; the caller frees out. */
int html_compress(struct html_bytes *out, const struct html_bytes *bytes);

/* Writes compressed bytes as the block of that name. */
void html_write_block(FILE *out, const char *name, const struct html_bytes *compressed);

/* Writes text, which is JSON, as an element that no script can be hidden in. */
void html_write_json(FILE *out, const char *name, const char *text);

/* Compresses the value and writes it as a block, and lets go of it.  Returns 0 or -ENOMEM. */
int html_write_packed_json(FILE *out, const char *name, const struct json_builder *json,
			   json_t *value);

/* Text of a recording: what is no UTF-8, and control characters, are shown as '?'. */
json_t *html_text(const char *text);

#endif
