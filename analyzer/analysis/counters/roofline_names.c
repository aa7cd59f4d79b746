#include "analysis/counters/roofline.h"

#define ROOF_KEY(name, title) #name,
#define ROOF_TITLE(name, title) title,
static const char *const roof_keys[ROOF_COUNT] = {
	ROOFLINE_MEMORY_ROOFS(ROOF_KEY) ROOFLINE_COMPUTE_ROOFS(ROOF_KEY) "atomic_unit"};
static const char *const roof_titles[ROOF_COUNT] = {
	ROOFLINE_MEMORY_ROOFS(ROOF_TITLE) ROOFLINE_COMPUTE_ROOFS(ROOF_TITLE) "L2 atomic unit"};
#undef ROOF_KEY
#undef ROOF_TITLE

const char *roofline_roof_key(enum roofline_roof roof)
{
	return roof < ROOF_COUNT ? roof_keys[roof] : "none";
}

const char *roofline_roof_title(enum roofline_roof roof)
{
	return roof < ROOF_COUNT ? roof_titles[roof] : "none";
}

#define STATE_KEY(constant, key, meaning) key,
#define STATE_MEANING(constant, key, meaning) (meaning),
static const char *const state_keys[] = {ROOFLINE_STATES(STATE_KEY)};
static const char *const state_meanings[] = {ROOFLINE_STATES(STATE_MEANING)};
#undef STATE_KEY
#undef STATE_MEANING

const char *roofline_state_key(enum roofline_state state)
{
	return state_keys[state];
}

const char *roofline_state_meaning(enum roofline_state state)
{
	return state_meanings[state];
}

#define REGIME_KEY(constant, key, title, meaning) key,
#define REGIME_TITLE(constant, key, title, meaning) title,
#define REGIME_MEANING(constant, key, title, meaning) meaning,
static const char *const regime_keys[] = {ROOFLINE_REGIMES(REGIME_KEY)};
static const char *const regime_titles[] = {ROOFLINE_REGIMES(REGIME_TITLE)};
static const char *const regime_meanings[] = {ROOFLINE_REGIMES(REGIME_MEANING)};
#undef REGIME_KEY
#undef REGIME_TITLE
#undef REGIME_MEANING

const char *roofline_regime_key(enum roofline_regime regime)
{
	return regime_keys[regime];
}

const char *roofline_regime_title(enum roofline_regime regime)
{
	return regime_titles[regime];
}

const char *roofline_regime_meaning(enum roofline_regime regime)
{
	return regime_meanings[regime];
}
