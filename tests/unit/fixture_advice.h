/*
 * fixture_advice.h - what is recommended for a recording made by hand, with ceilings that predict.
 */
#ifndef ROOFLINE_TEST_FIXTURE_ADVICE_H
#define ROOFLINE_TEST_FIXTURE_ADVICE_H

#include "advice/advice.h"
#include "fixture_predict.h"

struct advised {
	struct builder *b;
	struct ceilings *ceilings;
	struct report report;
	struct device_work device_work;
	struct roofline roofline;     /* nothing was counted, unless a test says so */
	struct counted *counted;      /* borrowed, likewise; NULL: none */
	struct sm_activity *activity; /* likewise */
	struct advice *advice;
};

/* A GPU of 100 SMs with room for 64 warps and 32 blocks each. */
void advised_set_device(struct builder *b);

/* Takes b; work: what the device launched itself. */
void advised_begin(struct advised *it, struct builder *b);
void advised_begin_with(struct advised *it, struct builder *b, struct device_work work);
/* Takes the ceilings as well. */
void advised_begin_by(struct advised *it, struct builder *b, struct device_work work,
		      struct ceilings *ceilings);
/* Its points are borrowed until advised_end. */
void advised_begin_counted(struct advised *it, struct builder *b, struct roofline roofline);
/* Counters of each kernel are borrowed until advised_end as well. */
void advised_begin_counters(struct advised *it, struct builder *b, struct roofline roofline,
			    struct counted *counted);
/* What samples show of SMs is borrowed, too. */
void advised_begin_sampled(struct advised *it, struct builder *b, struct sm_activity *activity);
void advised_end(struct advised *it);

/* What that rule recommends, or NULL. */
const struct recommendation *advised_item(const struct advised *it, const char *rule);

/* Whether a sentence of evidence has that part. */
bool advised_says(const struct recommendation *item, const char *part);

#endif
