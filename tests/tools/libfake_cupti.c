/* A stand-in for libcupti.so.13 that only tells its version: FAKE_CUPTI_VERSION, or 130001. */
#include <stdint.h>
#include <stdlib.h>

int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version)
{
	const char *wanted = getenv("FAKE_CUPTI_VERSION");

	*version = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 130001;
	return 0;
}
