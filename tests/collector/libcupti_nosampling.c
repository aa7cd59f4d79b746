/* libcupti_nosampling.c - the mock without sampling, as a CUPTI before 12.6 would be. */
#define MOCK_WITHOUT_SAMPLING
#include "libcupti_mock.c"
