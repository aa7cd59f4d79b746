/*
 * copy_worth.h - whether copies through pinned memory pay: measured while the program runs.
 *
 * The end of a copy now and then is left to the driver, and what each takes for a byte is compared.
 */
#ifndef ROOFLINE_TRY_COPY_WORTH_H
#define ROOFLINE_TRY_COPY_WORTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At each copy: how much of its end is to be left to the driver, to compare; 0: nothing of this one. */
size_t copy_worth_left(bool is_to_host, size_t bytes);

/* So long each took.  True: copies in this direction were found not to pay, for good. */
bool copy_worth_note(bool is_to_host, double staged_ns_per_byte, double passed_ns_per_byte);

bool copy_worth_pays(bool is_to_host);

#endif
