/*
 * buffers.h - the stand-in for CUPTI's activity records: what its other parts call.
 */
#ifndef ROOFLINE_TESTS_MOCK_BUFFERS_H
#define ROOFLINE_TESTS_MOCK_BUFFERS_H

#include "mock_cupti.h"

void mock_append_record(const void *record, bool is_finished);

/* Whether mock_fork_at named this place: then it has forked, and true is returned in the child. */
bool mock_fork_if_asked(enum mock_place place);

#endif
