#include "output/once_text.h"

#include "base/sums.h"

#include <string.h>

/* Worth telling: less of a section's time changes nothing that it shows. */
#define LEAST_SHARE 0.05
#define MOST_NAMED 3
#define NAME_SIZE 256

struct sum {
	size_t row_count;
	int64_t all_ns, once_ns;
	bool is_unknown;
};

static int64_t all_of(const struct steady_split *split)
{
	int64_t all_ns = split->steady.time_ns;

	sum_add_ns(&all_ns, split->once.time_ns);
	return all_ns;
}

static struct sum sum_up(const struct page *page, once_function row_at)
{
	const struct steady_split *split;
	struct sum sum = {0};
	char name[NAME_SIZE];

	for (size_t i = 0; (split = row_at(page, i, name, sizeof(name))); i++) {
		sum_add_ns(&sum.all_ns, all_of(split));
		sum_add_ns(&sum.once_ns, split->once.time_ns);
		sum.is_unknown |= split->is_unknown;
		sum.row_count++;
	}
	return sum;
}

static bool is_notable(int64_t part_ns, int64_t all_ns)
{
	return part_ns > 0 && (double)part_ns >= LEAST_SHARE * (double)all_ns;
}

/* The row with the longest time that happens once, of those that come behind the limit-th; -1: none is left. */
static ptrdiff_t longest_below(const struct page *page, once_function row_at, ptrdiff_t limit)
{
	const struct steady_split *split;
	char name[NAME_SIZE];
	int64_t limit_ns = INT64_MAX, longest_ns = -1;
	ptrdiff_t longest = -1;

	if (limit >= 0)
		limit_ns = row_at(page, (size_t)limit, name, sizeof(name))->once.time_ns;
	for (ptrdiff_t i = 0; (split = row_at(page, (size_t)i, name, sizeof(name))); i++) {
		int64_t ns = split->once.time_ns;

		if (ns <= longest_ns || ns > limit_ns || (ns == limit_ns && i <= limit))
			continue;
		longest_ns = ns;
		longest = i;
	}
	return longest;
}

/* ": cuInit 96.2 ms (all), cudaMemcpy 150 us (12%)" */
static void name_rows(char *text, size_t size, const struct page *page, once_function row_at,
		      int64_t all_ns)
{
	ptrdiff_t row = longest_below(page, row_at, -1);

	for (int i = 0; i < MOST_NAMED && row >= 0; i++) {
		char name[NAME_SIZE];
		const struct steady_split *split = row_at(page, (size_t)row, name, sizeof(name));
		size_t used = strlen(text);

		if (!is_notable(split->once.time_ns, all_ns))
			return;
		snprintf(text + used, size - used, "%s %s %s (%s)", i ? "," : ":", name,
			 format_ns((double)split->once.time_ns).text,
			 split->steady.time_ns ? format_percent((double)split->once.time_ns,
								(double)all_of(split))
							 .text
					       : "all");
		row = longest_below(page, row_at, row);
	}
}

void once_put(struct page *page, once_function row_at)
{
	const struct sum sum = sum_up(page, row_at);
	char text[MOST_NAMED * NAME_SIZE + 256];

	if (sum.is_unknown || !is_notable(sum.once_ns, sum.all_ns))
		return;
	if (sum.once_ns == sum.all_ns) {
		page_wrap(page, "  once: ", "all of it", 4);
		return;
	}
	snprintf(text, sizeof(text), "%s, %s of these times", format_ns((double)sum.once_ns).text,
		 format_percent((double)sum.once_ns, (double)sum.all_ns).text);
	if (sum.row_count > 1)
		name_rows(text, sizeof(text), page, row_at, sum.all_ns);
	page_wrap(page, "  once: ", text, 4);
}
