#include "base/shell.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/memory_file.h"

#define SAFE_CHARACTERS                        \
	"abcdefghijklmnopqrstuvwxyz"           \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"_./:=@%+,-"

static bool can_be_shown(const char *word, size_t length)
{
	size_t count = 1;

	for (size_t i = 0; count && i < length; i += count)
		count = format_character(word + i);
	return count;
}

/* In digits what cannot be shown: it would be replaced, and name something else. */
static void put_digits(FILE *out, const char *word, size_t length)
{
	fputs("$'", out);
	for (size_t i = 0, count; i < length; i += count ? count : 1) {
		count = format_character(word + i);
		if (word[i] == '\'' || word[i] == '\\')
			fputc('\\', out);
		if (count)
			fwrite(word + i, 1, count, out);
		else
			fprintf(out, "\\%03o", (unsigned char)word[i]);
	}
	fputc('\'', out);
}

/* Between single quotes a shell expands nothing; a quote itself stands outside of them.  zsh expands =NAME. */
static void put_part(FILE *out, const char *word, size_t length)
{
	if (length && *word != '=' && strspn(word, SAFE_CHARACTERS) >= length) {
		fwrite(word, 1, length, out);
		return;
	}
	if (!can_be_shown(word, length)) {
		put_digits(out, word, length);
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

void shell_put_path(FILE *out, const char *path)
{
	if (path[0] == '-' && path[1])
		fputs("./", out);
	shell_put_word(out, path);
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

char *shell_path(const char *path)
{
	return written(shell_put_path, path);
}

struct shell_text shell_path_text(const char *path)
{
	struct shell_text text;
	char *word = shell_path(path);

	snprintf(text.text, sizeof(text.text), "%s",
		 word && strlen(word) < sizeof(text.text) ? word : "FILE");
	free(word);
	return text;
}

char *shell_words(const char *line)
{
	return written(put_words, line);
}
