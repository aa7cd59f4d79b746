#include <stddef.h>

#include "trace/profile.h"

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
