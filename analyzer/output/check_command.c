#include "output/check_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAFE_CHARACTERS                        \
	"abcdefghijklmnopqrstuvwxyz"           \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"_./:=@%+,-"

/* One word of a shell's command line.  Between single quotes a shell expands nothing; a quote itself
 * stands outside of them. */
static void put_word(FILE *out, const char *word)
{
	if (*word && !word[strspn(word, SAFE_CHARACTERS)]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

char *check_command(const struct report *report, const struct recommendation *item,
		    const char *range)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("rooflinectl verify ", out);
	if (range) {
		fputs("--range ", out);
		put_word(out, range);
		fputc(' ', out);
	}
	put_word(out, report->profile->path);
	fprintf(out, " AFTER --strategy %s", item->id);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *picture_command(const struct scenario *scenario)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("rooflinectl plot whatif", out);
	for (size_t i = 0; i < scenario->part_count; i++) {
		fprintf(out, " --%s", techniques[scenario->parts[i].technique]->option);
		if (scenario->parts[i].range) {
			fputc('=', out);
			put_word(out, scenario->parts[i].range);
		}
		if (techniques[scenario->parts[i].technique]->argument == ARGUMENT_NUMBER)
			fprintf(out, " %" PRIu64, scenario->numbers[scenario->parts[i].technique]);
	}
	if (scenario->range) {
		fputs(" --range ", out);
		put_word(out, scenario->range);
	}
	fputc(' ', out);
	put_word(out, scenario->profile->path);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
