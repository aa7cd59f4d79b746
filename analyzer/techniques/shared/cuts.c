#include "techniques/shared/cuts.h"

#include <stdio.h>

#include "base/format.h"
#include "trace/profile.h"

/* Return the bytes that the call copies, or 0. */
static uint64_t copied_bytes(const struct profile *profile, uint32_t call)
{
	for (size_t i = 0; i < profile->op_count; i++)
		if (profile->ops[i].call == call && profile->ops[i].kind == OP_COPY)
			return profile->copies[profile->ops[i].detail].bytes;
	return 0;
}

void cuts_text(char text[CUTS_TEXT_SIZE], const struct cuts *cuts, const struct profile *profile)
{
	uint64_t bytes;
	char of[48] = "";

	text[0] = '\0';
	if (!cuts->graph_count)
		return;
	bytes = copied_bytes(profile, cuts->call);
	if (bytes)
		snprintf(of, sizeof(of), " of %s", format_bytes((double)bytes).text);
	snprintf(text, CUTS_TEXT_SIZE, "%s %s in an iteration, which %s%s cuts: %s",
		 format_count(cuts->graph_count).text, cuts->graph_count == 1 ? "graph" : "graphs",
		 profile->call_names[profile->calls[cuts->call].name].text, of, cuts->reason);
}
