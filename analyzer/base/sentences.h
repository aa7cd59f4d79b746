/*
 * sentences.h - a growing list of sentences, for people.
 */
#ifndef ROOFLINE_SENTENCES_H
#define ROOFLINE_SENTENCES_H

#include <stddef.h>

struct sentences {
	char **items; /* owned */
	size_t count;
};

/* Returns 0 or -ENOMEM.  What is longer than 767 bytes is cut. */
__attribute__((format(printf, 2, 3))) int sentences_add(struct sentences *sentences,
							const char *format, ...);

void sentences_free(struct sentences *sentences);

#endif
