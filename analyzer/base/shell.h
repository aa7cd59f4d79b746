/*
 * shell.h - words of a shell's command line, so that a command which is shown runs when it is pasted.
 */
#ifndef ROOFLINE_SHELL_H
#define ROOFLINE_SHELL_H

#include <stdio.h>

/* One word; between single quotes where a shell would expand something in it. */
void shell_put_word(FILE *out, const char *word);

/* The same as a text; NULL when memory runs out.  The caller frees. */
char *shell_word(const char *word);

/* Each word between spaces on its own: of a recorded command, whose own quotes are gone. */
char *shell_words(const char *line);

#endif
