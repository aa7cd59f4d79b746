/* libcupti_bare.c - the mock without anything that counters take, as an older CUPTI would be. */
#define MOCK_WITHOUT_COUNTERS
#include "libcupti_mock.c"
