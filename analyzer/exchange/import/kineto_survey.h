/*
 * kineto_survey.h - whose trace it is: what has to be known of all events before the first is taken.
 *
 * A trace is of one process as a rule.  Programs that merge the traces of several ranks leave the process ids apart, with
 * a text in front of them or without, while the ids of launches start again in each process: which process a kernel
 * is of follows from the text, from which process made the launch, or, where launches of several have its id, from where
 * it stands in the file, as merged files follow each other.
 */
#ifndef ROOFLINE_KINETO_SURVEY_H
#define ROOFLINE_KINETO_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "exchange/import/json_records.h"

#define KINETO_NO_PART SIZE_MAX

/* A process of the trace. */
struct kineto_part {
	char pid[96];	      /* as the events have it: "[TP00] 3000" */
	char prefix[96];      /* the text in front of the number */
	uint64_t number;      /* 0: events of the host have none */
	bool has_calls;	      /* else only its GPU's events are there */
	uint64_t first_event; /* of its calls, in the order of the file */
};

/* A pid of GPU events: mostly the number of a GPU. */
struct kineto_lane {
	char pid[96], prefix[96];
	size_t part;	 /* KINETO_NO_PART: it follows from each launch */
	uint64_t *votes; /* by part: its events whose launch can only be of that one; owned */
	uint64_t *fits;	 /* by part: those that may be of that one; owned */
	uint64_t event_count, first_event, last_event;
};

struct kineto_call {
	uint32_t correlation;
	uint32_t part;
	int64_t start_ns;
};

struct kineto_survey {
	int64_t base_ns; /* what times count from, so that all are positive */
	bool has_base;	 /* the trace names it */
	bool is_trace;	 /* it has traceEvents */
	bool is_proton;	 /* of Triton's profiler */
	uint64_t event_count;
	int64_t first_ns; /* the least time, without base_ns; INT64_MAX: there is none */
	struct kineto_part *parts;
	size_t part_count, part_capacity;
	struct kineto_lane *lanes;
	size_t lane_count, lane_capacity;
	struct kineto_call *calls; /* by correlation, if lanes alone do not decide */
	size_t call_count, call_capacity;
	struct kineto_stream {
		int64_t tid;
		uint32_t stream;
		bool is_graph; /* scopes of graphs, in the GPU's time */
	} * streams;	       /* rows that are named "GPU Stream 7" */
	size_t stream_count, stream_capacity;
	struct kineto_unknown {
		char name[64];
		uint64_t count;
	} * unknown; /* categories that nothing is made of */
	size_t unknown_count, unknown_capacity;
};

/* The side that an event belongs to, by its category. */
enum kineto_side { KINETO_CALL, KINETO_HOST, KINETO_GPU, KINETO_NEITHER, KINETO_UNKNOWN };
enum kineto_side kineto_side(const char *category);

/* Microseconds as text, in nanoseconds, exactly. */
int64_t kineto_ns(const char *us);

/* Reads the file once, or twice where it is of several processes.  The caller frees, also after a failure. */
int kineto_survey_read(struct kineto_survey *survey, const char *path, struct err *err);
void kineto_survey_free(struct kineto_survey *survey);

/* parts[] of an event, or KINETO_NO_PART. */
size_t kineto_survey_part(const struct kineto_survey *survey, const struct json_record *event,
			  enum kineto_side side);

/* The row that an event is in, where rows have names; NULL where this one has none. */
const struct kineto_stream *kineto_survey_stream(const struct kineto_survey *survey,
						 const struct json_record *event);

#endif
