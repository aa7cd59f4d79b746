/*
 * fixture_profile.h - the small recording of fixture.h as struct profile, for tests of how one becomes the other.
 */
#ifndef ROOFLINE_TEST_FIXTURE_PROFILE_H
#define ROOFLINE_TEST_FIXTURE_PROFILE_H

#include "fixture.h"
#include "trace/profile.h"

/* *state is the small recording. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* The caller frees with profile_free. */
struct profile *fixture_load(const struct fixture *fixture);
/* Replaces one table of the small recording and loads it. */
struct profile *fixture_load_with(const struct fixture *fixture, const char *file,
				  const char *text);

const struct profile_loss *find_loss(const struct profile *profile, uint32_t process,
				     const char *kind);		      /* or NULL */
uint64_t loss_count(const struct profile *profile, const char *kind); /* of the first process */
void assert_loss(const struct profile *profile, const char *kind, uint64_t count,
		 const char *detail);

/* Everything that profile.h promises about indexes and order. */
void assert_consistent(const struct profile *profile);

const char *call_text(const struct profile *profile, uint32_t call);

#endif
