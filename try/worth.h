/*
 * worth.h - whether putting launches off pays: measured while the program runs.
 *
 * Two questions.  Whether launches follow each other so closely that launching is what takes the time; and whether the
 * program does more in a second with them put off than without.  For that nothing is put off in a part of the time.
 */
#ifndef ROOFLINE_TRY_WORTH_H
#define ROOFLINE_TRY_WORTH_H

#include <stdbool.h>
#include <stdint.h>

enum worth { WORTH_IT, WORTH_COMPARING, WORTH_SLOW_PROGRAM };

/* At each launch: whether it may be put off, or why not. */
enum worth worth_of_launch(void);

/* The driver took so long for a launch that was passed on: of a kernel, or a memset or a copy. */
void worth_note_launch(uint64_t took_ns, bool is_kernel);

/* So many launches of one stream had been put off when the program called something else, or launched in another. */
void worth_of_run(unsigned launches);

/* The program waits, copies or asks, through this stub.  True: it was found not to pay, for good. */
bool worth_at_boundary(unsigned stub);

/* Whether launches are passed on to compare: then boundaries are to be told although nothing was put off. */
bool worth_is_comparing(void);

/* In the child of a fork. */
void worth_reset(void);

#endif
