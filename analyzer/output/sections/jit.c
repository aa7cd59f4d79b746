/* jit.c - code that the program compiled or loaded while it ran, what that took, and for how many launches. */
#include "output/page.h"

#include <string.h>

/* ---- columns ---- */

PREDICATE(has_launches, struct jit_kernel, kernel, kernel->launch_count > 0);

static double cost_ns(const struct jit_kernel *kernel)
{
	return (double)kernel->host_ns + (double)kernel->load_ns;
}

GETTER(get_cost, struct jit_kernel, kernel, value_real(cost_ns(kernel)));
GETTER(get_launch_cost, struct jit_kernel, kernel,
       value_real(cost_ns(kernel) / (double)kernel->launch_count));
GETTER(get_mean, struct jit_kernel, kernel,
       value_real((double)kernel->kernel_ns / (double)kernel->launch_count));

static const struct column columns[] = {
	FIELD(struct jit_kernel, name),
	FIELD(struct jit_kernel, load_count),
	FIELD(struct jit_kernel, again_count),
	FIELD(struct jit_kernel, host_ns),
	FIELD(struct jit_kernel, driver_ns),
	FIELD(struct jit_kernel, load_ns),
	COMPUTED("cost_ns", get_cost),
	FIELD(struct jit_kernel, launch_count),
	{.key = "mean_ns", .type = COLUMN_COMPUTED, .get = get_mean, .is_known = has_launches},
	{.key = "cost_per_launch_ns",
	 .type = COLUMN_COMPUTED,
	 .get = get_launch_cost,
	 .is_known = has_launches},
	{0}};

ARRAY(kernel_at, jit, kernels, kernel_count);

static const struct column total_columns[] = {
	FIELD(struct jit, load_count),
	FIELD(struct jit, known_count),
	FIELD(struct jit, again_count),
	FIELD(struct jit, refused_count),
	FIELD(struct jit, unload_count),
	FIELD(struct jit, ptx_count),
	FIELD(struct jit, compiled_count),
	{FIELD_AS("driver_compile_count", struct jit, driver_count)},
	{FIELD_AS("driver_cache_hit_count", struct jit, hit_count)},
	{FIELD_AS("driver_cache_store_count", struct jit, store_count)},
	FIELD(struct jit, host_ns),
	FIELD(struct jit, driver_ns),
	FIELD(struct jit, load_ns),
	FIELD(struct jit, unload_ns),
	FIELD(struct jit, launch_count),
	{0}};

FINDER(jit_of, struct report, report, report->jit);

static const struct column object[] = {INLINE_FOUND(jit_of, total_columns),
				       ROWS("kernels", columns, kernel_at),
				       {0}};

/* ---- text ---- */

static void put_loads(struct page *page, const struct jit *jit)
{
	fprintf(page->out, "  loads      %9s", format_count(jit->load_count).text);
	if (jit->known_count)
		fprintf(page->out, "  %s of code that had been loaded before",
			format_count(jit->again_count).text);
	else
		fputs("  whether of the same code, this recording does not tell", page->out);
	fputc('\n', page->out);
	if (jit->refused_count)
		fprintf(page->out, "  refused    %9s  by the driver\n",
			format_count(jit->refused_count).text);
	if (jit->unload_count)
		fprintf(page->out, "  unloads    %9s\n", format_count(jit->unload_count).text);
}

static void put_times(struct page *page, const struct jit *jit)
{
	fprintf(page->out, "  host code  %9s  right before loads: %s\n",
		format_ns((double)jit->host_ns).text,
		jit->compiled_count ? "a compiler was seen there, as NVRTC"
				    : "of a compiler, or other code");
	if (jit->driver_ns)
		fprintf(page->out,
			"  driver     %9s  of the loads: compiled %s, from its cache on disk %s\n",
			format_ns((double)jit->driver_ns).text,
			format_count(jit->driver_count).text, format_count(jit->hit_count).text);
	fprintf(page->out, "  loading    %9s\n", format_ns((double)jit->load_ns).text);
}

static void put_kernel(struct page *page, const struct jit_kernel *kernel)
{
	double launches = (double)kernel->launch_count;

	fputs("  ", page->out);
	page_kernel_line(page,
			 kernel->name ? kernel->name : "(none of its kernels ran, or is known)");
	fprintf(page->out, "  %9s %9s %9s %9s %9s %9s %9s\n", format_count(kernel->load_count).text,
		format_count(kernel->again_count).text, format_ns((double)kernel->host_ns).text,
		format_ns((double)kernel->load_ns).text, format_count(kernel->launch_count).text,
		launches > 0 ? format_ns((double)kernel->kernel_ns / launches).text : "-",
		launches > 0 ? format_ns(cost_ns(kernel) / launches).text : "-");
}

static void print_jit(struct page *page)
{
	const struct jit *jit = page->report->jit;
	size_t rows = page_rows(page, jit->kernel_count, PAGE_TOP);

	if (!jit_is_any(jit))
		return;
	page_list_title(page, "Code compiled or loaded at run time", "cost: for each launch", rows,
			jit->kernel_count);
	put_loads(page, jit);
	put_times(page, jit);
	page_heads(page, "      loads     again host code   loading  launches      mean      cost");
	for (size_t i = 0; i < rows; i++)
		put_kernel(page, &jit->kernels[i]);
}

const struct section section_jit = {
	.key = "jit",
	.title = "Code compiled or loaded at run time",
	.columns = columns,
	.at = kernel_at,
	.object = object,
	.print = print_jit,
	.empty = "no code was compiled, loaded a second time or refused while it was recorded"};
