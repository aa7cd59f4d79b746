#include "base/names/range_fold.h"

#include <ctype.h>
#include <string.h>

/* What emit_nvtx adds, in this order, each where it is known. */
static const char *const additions[] = {", seq = ", ", op_id = ", ", sizes = ",
					", input_op_ids = "};

size_t range_operator_length(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(additions) / sizeof(additions[0]); i++) {
		const char *found = strstr(name, additions[i]);

		if (found && found > name && (size_t)(found - name) < length)
			length = (size_t)(found - name);
	}
	return length;
}

/* "AddmmBackward0": a node of autograd, which calls operators in turn. */
static bool is_backward(const char *name)
{
	static const char word[] = "Backward";
	size_t length = strlen(name);

	while (length > 0 && isdigit((unsigned char)name[length - 1]))
		length--;
	return length >= sizeof(word) && name[length] &&
	       !memcmp(name + length - (sizeof(word) - 1), word, sizeof(word) - 1);
}

bool range_is_operator(const char *name)
{
	static const char *const beginnings[] = {"aten::",	"prims::",    "c10d::",
						 "nccl:",	"autograd::", "torchvision::",
						 "torchaudio::"};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return is_backward(name);
}
