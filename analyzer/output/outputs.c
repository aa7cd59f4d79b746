#include "output/outputs.h"

#define OUTPUT_ROW(name, summary) output_##name,
const output_function outputs[] = {OUTPUTS(OUTPUT_ROW)};
#undef OUTPUT_ROW
