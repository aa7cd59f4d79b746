/*
 * workload_output.cuh - the answer of a workload, as a table for people or as JSON.
 *
 * Knows nothing of CUDA.  Times come in nanoseconds and are shown in microseconds; the JSON keeps
 * nanoseconds and is stable: fields may be added, none changes its meaning.
 */
#ifndef ROOFLINE_WORKLOAD_OUTPUT_CUH
#define ROOFLINE_WORKLOAD_OUTPUT_CUH

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "workload_options.cuh"

struct workload_row {
	const char *name, *id, *technique;
	int control;
	const char *summary;
};

struct measurement {
	const char *variant;
	std::vector<double> iteration_ns; /* one per repeat, sorted */
	double setup_ns;		  /* once, before the first iteration */
	double host_calls;		  /* per iteration */
	const char *baseline;		  /* variant to compare with; NULL: naive */
	std::string skipped;		  /* why there is no time, or "" */
};

static inline double median(const std::vector<double> &sorted)
{
	size_t middle = sorted.size() / 2;

	return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/* How much faster than its baseline; 0 when that was not run. */
static inline double speedup(const std::vector<measurement> &all, const measurement &one)
{
	for (const measurement &other : all)
		if (other.skipped.empty() &&
		    !strcmp(other.variant, one.baseline ? one.baseline : "naive"))
			return median(other.iteration_ns) / median(one.iteration_ns);
	return 0;
}

static inline void print_table(const struct workload_row *row, const char *gpu,
			       const struct workload_options *options,
			       const std::vector<measurement> &all,
			       const std::vector<std::string> &remarks)
{
	int width = 12;

	printf("%s (%s): %s\n", row->name, row->id, row->summary);
	printf("%s, size %ld, ", gpu, options->size);
	for (const parameter &one : options->parameters)
		if (!one.is_hidden)
			printf("%s %ld, ", one.name, *one.value);
	printf("%ld iterations, %ld repeats; every result matches the scalar reference\n\n",
	       options->iterations, options->repeats);
	for (const measurement &one : all)
		width = std::max(width, (int)strlen(one.variant));
	printf("%-*s %12s %21s %10s %10s %8s\n", width, "variant", "us/iteration", "min .. max",
	       "host calls", "set-up us", "speedup");
	for (const measurement &one : all) {
		if (!one.skipped.empty()) {
			printf("%-*s skipped: %s\n", width, one.variant, one.skipped.c_str());
			continue;
		}
		printf("%-*s %12.2f %10.2f .. %7.2f %10.2f %10.1f ", width, one.variant,
		       median(one.iteration_ns) / 1e3, one.iteration_ns.front() / 1e3,
		       one.iteration_ns.back() / 1e3, one.host_calls, one.setup_ns / 1e3);
		if (speedup(all, one) > 0)
			printf("%7.2fx\n", speedup(all, one));
		else
			printf("%8s\n", "-");
	}
	for (const std::string &remark : remarks)
		printf("%s%s\n", &remark == &remarks.front() ? "\n" : "", remark.c_str());
}

/* s as a JSON string.  What comes here is printable ASCII: names, CUDA's messages. */
static inline void print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
	putchar('"');
}

static inline void print_json_head(const struct workload_row *row)
{
	printf("{\"schema\": 1, \"workload\": \"%s\", \"id\": \"%s\", \"control\": %s", row->name,
	       row->id, row->control ? "true" : "false");
}

static inline void print_json_variant(const std::vector<measurement> &all, const measurement &one)
{
	if (!one.skipped.empty()) {
		printf("\"skipped\": ");
		print_json_string(one.skipped.c_str());
		printf("}");
		return;
	}
	printf("\"iteration_ns\": {\"median\": %.1f, \"min\": %.1f, \"max\": %.1f}, "
	       "\"setup_ns\": %.0f, \"host_calls_per_iteration\": %.3f, ",
	       median(one.iteration_ns), one.iteration_ns.front(), one.iteration_ns.back(),
	       one.setup_ns, one.host_calls);
	if (speedup(all, one) > 0)
		printf("\"speedup\": %.4f}", speedup(all, one));
	else
		printf("\"speedup\": null}");
}

static inline void print_json(const struct workload_row *row, const char *gpu,
			      const struct workload_options *options,
			      const std::vector<measurement> &all,
			      const std::vector<std::string> &remarks)
{
	print_json_head(row);
	printf(", \"gpu\": ");
	print_json_string(gpu);
	printf(", \"size\": %ld", options->size);
	for (const parameter &one : options->parameters)
		if (!one.is_hidden)
			printf(", \"%s\": %ld", one.name, *one.value);
	printf(", \"iterations\": %ld, \"repeats\": %ld, \"variants\": [", options->iterations,
	       options->repeats);
	for (const measurement &one : all) {
		printf("%s\n  {\"name\": \"%s\", ", &one == &all.front() ? "" : ",", one.variant);
		print_json_variant(all, one);
	}
	printf("\n]");
	for (const std::string &remark : remarks) {
		printf("%s", &remark == &remarks.front() ? ", \"remarks\": [" : ", ");
		print_json_string(remark.c_str());
	}
	printf("%s}\n", remarks.empty() ? "" : "]");
}

static inline void print_skipped(const struct workload_row *row, bool json, const char *reason)
{
	if (!json) {
		printf("%s: skipped: %s\n", row->name, reason);
		return;
	}
	print_json_head(row);
	printf(", \"skipped\": ");
	print_json_string(reason);
	printf("}\n");
}

#endif
