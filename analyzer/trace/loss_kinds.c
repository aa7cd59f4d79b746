/* loss_kinds.c - what each kind of loss counts, from the two lists that name them. */
#include <string.h>

#include "roofline/trace_schema.h"
#include "trace/profile.h"
#include "trace/reader.h"

/* The collector's come first: invalid_times is on both lists, with one meaning. */
#define LOSS_ROW(name, unit, meaning) {#name, meaning},
#define READER_ROW(name, meaning) {#name, meaning},
static const struct {
	const char *name, *meaning;
} kinds[] = {TRACE_LOSS_KINDS(LOSS_ROW) READER_LOSS_KINDS(READER_ROW)};
#undef LOSS_ROW

static const struct {
	const char *name, *meaning;
} reader_kinds[] = {READER_LOSS_KINDS(READER_ROW)};
#undef READER_ROW

const char *profile_loss_meaning(const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i].name))
			return kinds[i].meaning;
	return "";
}

/* The collector writes the meaning where the reader has the place. */
const char *profile_loss_place(const struct profile_loss *loss)
{
	for (size_t i = 0; i < sizeof(reader_kinds) / sizeof(reader_kinds[0]); i++)
		if (!strcmp(loss->kind, reader_kinds[i].name))
			return loss->detail && strcmp(loss->detail, reader_kinds[i].meaning)
				       ? loss->detail
				       : "";
	return "";
}
