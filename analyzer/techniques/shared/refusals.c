#include "techniques/shared/refusals.h"

#define REFUSAL_TEXT(name, text) const char refused_##name[] = text;
REFUSALS(REFUSAL_TEXT)
