#include "base/shell.h"

#include <string.h>

#include "base/memory_file.h"

#define SAFE_CHARACTERS                        \
	"abcdefghijklmnopqrstuvwxyz"           \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"_./:=@%+,-"

/* Between single quotes a shell expands nothing; a quote itself stands outside of them. */
static void put_part(FILE *out, const char *word, size_t length)
{
	if (length && strspn(word, SAFE_CHARACTERS) >= length) {
		fwrite(word, 1, length, out);
		return;
	}
	fputc('\'', out);
	for (size_t i = 0; i < length; i++)
		if (word[i] == '\'')
			fputs("'\\''", out);
		else
			fputc(word[i], out);
	fputc('\'', out);
}

void shell_put_word(FILE *out, const char *word)
{
	put_part(out, word, strlen(word));
}

static void put_words(FILE *out, const char *line)
{
	const char *space = "";

	for (line += strspn(line, " "); *line; line += strspn(line, " ")) {
		size_t length = strcspn(line, " ");

		fputs(space, out);
		put_part(out, line, length);
		space = " ";
		line += length;
	}
}

static char *written(void (*put)(FILE *, const char *), const char *text)
{
	struct memory_file file;
	FILE *out = memory_file_open(&file);

	if (!out)
		return NULL;
	put(out, text);
	return memory_file_close(&file);
}

char *shell_word(const char *word)
{
	return written(shell_put_word, word);
}

char *shell_words(const char *line)
{
	return written(put_words, line);
}
