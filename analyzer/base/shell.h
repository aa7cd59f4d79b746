/*
 * shell.h - words of a shell's command line, so that a command which is shown runs when it is pasted.
 */
#ifndef ROOFLINE_SHELL_H
#define ROOFLINE_SHELL_H

#include <stdio.h>

/* One word; between single quotes where a shell would expand something in it, and as $'...' where it has what no terminal
 * or line of text may show: bash, zsh, ksh and POSIX of 2024 read that. */
void shell_put_word(FILE *out, const char *word);

/* The same as a text; NULL when memory runs out.  The caller frees. */
char *shell_word(const char *word);

/* The same of a path, which is no option either: ./-x. */
void shell_put_path(FILE *out, const char *path);
char *shell_path(const char *path);

/* The same for a sentence: FILE where it is too long. */
struct shell_text {
	char text[4096];
};
struct shell_text shell_path_text(const char *path);

/* Each word between spaces on its own: of a recorded command, whose own quotes are gone. */
char *shell_words(const char *line);

#endif
