#define _GNU_SOURCE
#include "advice/framework.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *kernel;
} frameworks[FRAMEWORK_COUNT] = {
#define FRAMEWORK_ROW(id, name, library, kernel) [FRAMEWORK_##id] = {name, kernel},
	FRAMEWORKS(FRAMEWORK_ROW)
#undef FRAMEWORK_ROW
};

/* Further parts of a framework's kernel names: those that PyTorch's compilers fuse (NVFuser and NNC, Inductor through
 * Triton), and those that XLA makes from a single operation. */
static const struct {
	enum framework framework;
	const char *kernel;
} others[] = {
	{FRAMEWORK_pytorch, "at_cuda_detail"},
	{FRAMEWORK_pytorch, "triton_"},
	{FRAMEWORK_jax, "wrapped_"},
	{FRAMEWORK_jax, "fusion_"},
};

static enum framework maker_of(const char *kernel)
{
	for (int i = FRAMEWORK_NONE + 1; i < FRAMEWORK_COUNT; i++)
		if (strstr(kernel, frameworks[i].kernel))
			return (enum framework)i;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(kernel, others[i].kernel))
			return others[i].framework;
	return FRAMEWORK_NONE;
}

/* A recording without the key, as older and imported ones are, may be of any framework if its program is Python. */
static bool may_have_loaded(const struct profile *profile, enum framework framework)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		const char *loaded = profile_property(&profile->processes[i], "frameworks", "");

		if (*loaded ? strstr(loaded, frameworks[framework].name) != NULL
			    : framework == FRAMEWORK_pytorch ||
				      framework_is_python(profile->processes[i].command))
			return true;
	}
	return false;
}

static enum framework first_loaded(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		for (int j = FRAMEWORK_NONE + 1; j < FRAMEWORK_COUNT; j++)
			if (strstr(profile_property(&profile->processes[i], "frameworks", ""),
				   frameworks[j].name))
				return (enum framework)j;
	return FRAMEWORK_NONE;
}

enum framework framework_of(const struct profile *profile)
{
	size_t counts[FRAMEWORK_COUNT] = {0};
	enum framework most = FRAMEWORK_NONE;

	for (size_t i = 0; i < profile->kernel_name_count; i++)
		counts[maker_of(profile->kernel_names[i])]++;
	counts[FRAMEWORK_NONE] = 0;
	for (int i = FRAMEWORK_NONE + 1; i < FRAMEWORK_COUNT; i++)
		if (counts[i] > counts[most] && may_have_loaded(profile, (enum framework)i))
			most = (enum framework)i;
	return most == FRAMEWORK_NONE ? first_loaded(profile) : most;
}

const char *framework_name(enum framework framework)
{
	return frameworks[framework].name;
}

bool framework_is_python(const char *command)
{
	size_t length = strcspn(command, " ");
	const char *name = memrchr(command, '/', length);

	return !strncmp(name ? name + 1 : command, "python", strlen("python"));
}
