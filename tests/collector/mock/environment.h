/*
 * environment.h - what a test asks of the stand-in for CUPTI; mock_cupti.h lists the variables.
 */
#ifndef ROOFLINE_TESTS_MOCK_ENVIRONMENT_H
#define ROOFLINE_TESTS_MOCK_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

unsigned long mock_number(const char *variable, unsigned long fallback);
uint32_t mock_version(void);
unsigned long mock_number_at_call(const char *variable, unsigned int call);
bool mock_has_word(const char *words,
		   const char *name); /* name contains one of words, which commas part */
bool mock_is_mentioned(const char *variable, const char *name);

/* Appends to the file that the variable names, if it is set. */
void mock_write_line(const char *variable, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void mock_note_call(const char *function);
CUptiResult
mock_fault(const char *function); /* what MOCK_COUNTERS says of this call; notes it, too */

uint64_t mock_now_ns(void);

#define MOCK_NOTE_CALL() mock_note_call(__func__)

#define MOCK_FAULT_RETURN()                                \
	do {                                               \
		CUptiResult fault_ = mock_fault(__func__); \
		if (fault_ != CUPTI_SUCCESS)               \
			return fault_;                     \
	} while (0)

#endif
