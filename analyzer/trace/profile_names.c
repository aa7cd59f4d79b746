/* profile_names.c - what kinds of copies, memory and losses are called, for people. */
#include <stddef.h>
#include <string.h>

#include "roofline/trace_schema.h"
#include "trace/profile.h"
#include "trace/reader.h"

/* ---- copies and memory ---- */

/* By CUpti_ActivityMemcpyKind of cupti_activity.h. */
static const char *const copy_kinds[] = {
	[1] = "HtoD", [2] = "DtoH", [3] = "HtoA", [4] = "AtoH", [5] = "AtoA",
	[6] = "AtoD", [7] = "DtoA", [8] = "DtoD", [9] = "HtoH", [10] = "PtoP",
};

/* By CUpti_ActivityMemoryKind of cupti_activity.h. */
static const char *const memory_kinds[] = {
	[1] = "pageable", [2] = "pinned",	 [3] = "device",	 [4] = "array",
	[5] = "managed",  [6] = "device static", [7] = "managed static",
};

static const char *name_of(const char *const *names, size_t count, uint32_t kind)
{
	return kind < count && names[kind] ? names[kind] : "other";
}

const char *profile_copy_kind_name(uint32_t kind)
{
	return name_of(copy_kinds, sizeof(copy_kinds) / sizeof(copy_kinds[0]), kind);
}

const char *profile_memory_kind_name(uint32_t kind)
{
	return name_of(memory_kinds, sizeof(memory_kinds) / sizeof(memory_kinds[0]), kind);
}

/* ---- losses ---- */

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

bool profile_loss_is_damage(const struct profile *profile, const struct profile_loss *loss)
{
	if (!strcmp(loss->kind, "cut_off_rows"))
		return profile->processes[loss->process].sealed_ns != 0;
	return !strcmp(loss->kind, "unreadable_rows") || !strcmp(loss->kind, "missing_tables") ||
	       !strcmp(loss->kind, "nul_bytes");
}
