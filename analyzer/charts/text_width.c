#include "charts/text_width.h"

#define FIRST ' '
#define LAST '~'
#define FONT_PIXELS 13.0
#define OTHER_ADVANCE 600 /* of Latin and Greek letters the widest but M and W; what is wider is rare in names */

/* Thousandths of the font's size, from ' ' to '~': the table hmtx of Liberation Sans 1.07, regular. */
static const short advances[LAST - FIRST + 1] = {
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
};

static double pixels(int advance)
{
	return advance * FONT_PIXELS / 1000;
}

/* Of UTF-8: the bytes after the first one of a character. */
static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xC0) == 0x80;
}

double text_width(const char *text)
{
	double width = 0;

	for (; *text; text++)
		if (*text >= FIRST && *text <= LAST)
			width += pixels(advances[*text - FIRST]);
		else if (!is_continuation(*text))
			width += pixels(OTHER_ADVANCE);
	return width;
}

static size_t count_characters(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += !is_continuation(*text);
	return count;
}

double text_extent(const char *text, bool is_in_characters)
{
	return is_in_characters ? (double)count_characters(text) : text_width(text);
}

void text_width_set(struct chart_file *file)
{
	char ascii[LAST - FIRST + 2] = "";

	for (int i = 0; i <= LAST - FIRST; i++)
		ascii[i] = (char)(FIRST + i);
	chart_set_text(file, "text_ascii", ascii);
	fprintf(file->stream, "array advance[%d] = [%g", LAST - FIRST + 2, pixels(OTHER_ADVANCE));
	for (int i = 0; i <= LAST - FIRST; i++)
		fprintf(file->stream, ", %g", pixels(advances[i]));
	fputs("]\n", file->stream);
}
