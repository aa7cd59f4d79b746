#include "html/html_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/format.h"

int html_put_byte(struct html_bytes *to, unsigned byte)
{
	uint8_t *next = ARRAY_NEXT(to->bytes, to->capacity, to->count);

	if (!next)
		return -ENOMEM;
	*next = (uint8_t)byte;
	to->count++;
	return 0;
}

int html_put_bytes(struct html_bytes *to, const struct html_bytes *bytes)
{
	uint8_t *moved =
		array_reserve(to->bytes, &to->capacity, to->count + bytes->count, sizeof(*moved));

	if (!moved)
		return bytes->count ? -ENOMEM : 0;
	to->bytes = moved;
	if (bytes->count)
		memcpy(to->bytes + to->count, bytes->bytes, bytes->count);
	to->count += bytes->count;
	return 0;
}

int html_put_number(struct html_bytes *to, uint64_t number)
{
	int rc = 0;

	for (; number >= 0x80 && rc == 0; number >>= 7)
		rc = html_put_byte(to, 0x80 | (number & 0x7f));
	return rc == 0 ? html_put_byte(to, (unsigned)number) : rc;
}

int html_put_signed(struct html_bytes *to, int64_t number)
{
	return html_put_number(to, number < 0 ? ~(uint64_t)number << 1 | 1 : (uint64_t)number << 1);
}

void html_bytes_free(struct html_bytes *bytes)
{
	free(bytes->bytes);
	*bytes = (struct html_bytes){0};
}

int html_compress(struct html_bytes *out, const struct html_bytes *bytes)
{
	static const uint8_t none[1];
	uLongf size = compressBound((uLong)bytes->count);

	*out = (struct html_bytes){.bytes = malloc(size), .capacity = size};
	if (!out->bytes || compress2(out->bytes, &size, bytes->bytes ? bytes->bytes : none,
				     (uLong)bytes->count, Z_DEFAULT_COMPRESSION) != Z_OK) {
		html_bytes_free(out);
		return -ENOMEM;
	}
	out->count = size;
	return 0;
}

static void write_base64(FILE *out, const struct html_bytes *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes->count; i += 3) {
		size_t left = bytes->count - i;
		uint32_t three = (uint32_t)bytes->bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes->bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes->bytes[i + 2] : 0);
		char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
				digits[three >> 6 & 63], digits[three & 63]};

		memset(four + (left < 3 ? left + 1 : 4), '=', left < 3 ? 3 - left : 0);
		fwrite(four, 1, sizeof(four), out);
	}
}

void html_write_block(FILE *out, const char *name, const struct html_bytes *compressed)
{
	fprintf(out, "<script type=\"application/octet-stream\" id=\"%s\">", name);
	write_base64(out, compressed);
	fputs("</script>\n", out);
}

/* In JSON these characters stand in texts only, where they may be written so.  With them an element could end, a comment
 * or another script begin. */
static void write_escaped(FILE *out, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "<>&");

		fwrite(text, 1, plain, out);
		text += plain;
		if (*text)
			fprintf(out, "\\u%04x", (unsigned char)*text++);
	}
}

void html_write_json(FILE *out, const char *name, const char *text)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", name);
	write_escaped(out, text);
	fputs("</script>\n", out);
}

int html_write_packed_json(FILE *out, const char *name, const struct json_builder *json,
			   json_t *value)
{
	char *text =
		json->has_failed ? NULL : json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9));
	struct html_bytes packed;
	int rc = -ENOMEM;

	if (text)
		rc = html_compress(&packed, &(struct html_bytes){.bytes = (uint8_t *)text,
								 .count = strlen(text)});
	if (rc == 0) {
		html_write_block(out, name, &packed);
		html_bytes_free(&packed);
	}
	free(text);
	json_decref(value);
	return rc;
}

json_t *html_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *shown = malloc(size);
	json_t *made = NULL;

	if (shown) {
		format_text(shown, size, text, SIZE_MAX);
		made = json_string(shown);
	}
	free(shown);
	return made;
}
