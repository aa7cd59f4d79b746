#include "charts/quantity.h"

#include <stdio.h>

const struct quantity_unit *quantity_unit(double ns)
{
	static const struct quantity_unit units[] = {{"s", 1e9},
						     {"ms", 1e6},
						     {"us", 1e3},
						     {"ns", 1}};
	int i = 0;

	while (i < 3 && ns < units[i].ns)
		i++;
	return &units[i];
}

struct figure quantity_short_count(uint64_t count)
{
	static const char *const suffixes[] = {"", "k", "M", "G", "T", "P", "E"};
	double value = (double)count;
	struct figure figure;
	int i = 0;

	for (; value >= 999.5; i++)
		value /= 1000;
	snprintf(figure.text, sizeof(figure.text), "%.*f%s", i > 0 && value < 9.95, value,
		 suffixes[i]);
	return figure;
}
