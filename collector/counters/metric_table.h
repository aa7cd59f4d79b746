/*
 * metric_table.h - which hardware counters answer a role, chip by chip.
 *
 * Roles and sets are those of include/roofline/metrics.h.  A role has one or more answers, by
 * preference; an answer is one counter or several whose values are added.  The first answer whose
 * counters all exist on the chip, each in a single pass, is taken: a counter that needs two passes
 * would mix two launches.  Where no answer holds, the role is a gap, and the report says so.
 *
 * Asks somebody else whether a counter can be used, so tests try every chip with no GPU.
 */
#ifndef ROOFLINE_METRIC_TABLE_H
#define ROOFLINE_METRIC_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "roofline/metrics.h"

#define METRIC_LIMIT 128      /* counters in one request; more are refused */
#define METRIC_NAME_BYTES 128 /* longest of CUPTI 13.0: 101 */

struct metric_choice {
	char name[METRIC_NAME_BYTES]; /* CUPTI's, "" for a role that this chip cannot answer */
	enum metric_role role;	      /* METRIC_NONE for a counter asked for by name */
	bool is_patched;	      /* counted by instrumented code */
};

struct metric_list {
	struct metric_choice choices[METRIC_LIMIT];
	size_t count;
};

/* Passes that the counter needs alone on this chip, 0 when there is no such counter. */
typedef unsigned int (*metric_passes)(void *context, const char *name);

/* Which of the roles a request takes.  Operations by type need a pass each, so they are counted only
 * once a kernel was seen to use the tensor cores. */
enum metric_scope { SCOPE_WITHOUT_TENSOR_TYPES, SCOPE_ALL };

/* What a word of a request is. */
enum metric_word { WORD_SET, WORD_COUNTER, WORD_UNKNOWN };
enum metric_word metric_table_word(const char *word);

/*
 * Fills list with the role range_ns, whose pass instruments no code and comes first, and the counters of
 * a request: names of sets and of CUPTI's counters, separated by commas.
 * A counter asked for by name may need at most pass_limit passes (1 when launches carry one pass each).
 * Words that are no set and no usable counter are skipped; the first of them is copied into refused
 * (size bytes, "" when none) with the reason behind it.
 */
void metric_table_resolve(struct metric_list *list, const char *request, enum metric_scope scope,
			  unsigned int pass_limit, metric_passes passes, void *context,
			  char *refused, size_t size);

#endif
