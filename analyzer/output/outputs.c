#include "output/outputs.h"

#include <string.h>

#define OUTPUT_ROW(name, summary) {#name, output_##name},
static const struct {
	const char *name;
	output_function function;
} outputs[] = {OUTPUTS(OUTPUT_ROW)};
#undef OUTPUT_ROW

output_function output_find(const char *name)
{
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (!strcmp(name, outputs[i].name))
			return outputs[i].function;
	return NULL;
}
