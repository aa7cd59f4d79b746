/* ncu.c - Nsight Compute's CSV: hardware counters of launches, which are given to equal launches of the other files. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/groups.h"
#include "exchange/import/csv_rows.h"
#include "exchange/import/imported.h"
#include "exchange/import/imports.h"
#include "roofline/metric_names.h"
#include "roofline/metrics.h"

#define LACKS                                                                                   \
	"when launches ran (their times are those of the other files), and what is not in its " \
	"list of metrics"

/* The launches of that run are behind each other, as Nsight Compute makes them; what is joined are their counters. */
#define FIRST_NS 1000000000

struct launch {
	bool is_open;
	int64_t number; /* ID */
	struct trace_signatures_row look;
	char *name; /* owned */
	uint32_t device, context, stream;
	double duration_ns;
	struct {
		uint32_t metric;
		double value;
	} * values;
	size_t capacity, count;
};

struct ncu {
	struct imported *imported;
	struct imported_process *process;
	struct groups metrics; /* names; their numbers + 1 are ids */
	char **units;	       /* by column, of the row that has them */
	size_t unit_count;
	struct groups alike; /* signatures; by number the first launch */
	uint32_t *first_like;
	size_t like_capacity;
	struct launch launch;
	uint32_t counted_count,
		found_count; /* launches, and those that the other files have, too */
	int64_t now_ns;
	const char *path;
	struct err *err;
};

/* ---- values ---- */

/* Return true if commas can separate thousands: in "1,234.5", not in "12,50" or "1.234,5". */
static bool has_thousands(const char *text)
{
	const char *digits = text + strspn(text, "-+");
	size_t length = strspn(digits, "0123456789");
	bool is_grouped = digits[length] == ',';

	if (is_grouped && (length < 1 || length > 3))
		return false;
	for (digits += length; *digits == ','; digits += 4)
		if (strspn(digits + 1, "0123456789") != 3)
			return false;
	if (*digits == '.')
		digits += 1 + strspn(digits + 1, "0123456789");
	return *digits != ',' && *digits != '.';
}

/* "1,234.5"; thousands are grouped where the locale says so.  False for what is no number, such as n/a. */
static bool parse_value(const char *text, double *value)
{
	char digits[64], *end;
	size_t used = 0;

	for (; *text && used + 1 < sizeof(digits); text++)
		if (*text != ',')
			digits[used++] = *text;
	digits[used] = '\0';
	*value = strtod(digits, &end);
	return used && !*end && *value >= 0;
}

/* To bytes and nanoseconds; decimal, as the tool says of its units.  1 for what counts things, 0 for a unit of bytes or
 * times that is not known. */
static double factor_of(const char *name, const char *unit)
{
	static const struct {
		const char *unit;
		double factor;
	} factors[] = {{"byte", 1},	 {"Kbyte", 1e3}, {"Mbyte", 1e6},   {"Gbyte", 1e9},
		       {"Tbyte", 1e12},	 {"ns", 1},	 {"nsecond", 1},   {"us", 1e3},
		       {"usecond", 1e3}, {"ms", 1e6},	 {"msecond", 1e6}, {"s", 1e9},
		       {"second", 1e9}};

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		if (!strncmp(unit, factors[i].unit, strlen(factors[i].unit)) &&
		    !isalpha((unsigned char)unit[strlen(factors[i].unit)]))
			return factors[i].factor;
	return !strchr(unit, '%') && !strstr(name, "pct") &&
			       (strstr(name, "byte") || strstr(name, "time_duration"))
		       ? 0
		       : 1;
}

/* ---- metrics and their roles ---- */

static bool has_metric(const struct ncu *ncu, const char *name, size_t length)
{
	return groups_look(&ncu->metrics, name, length) != UINT32_MAX;
}

/* Whether the file has every counter that the answer adds up. */
static bool has_all(const struct ncu *ncu, const char *counters)
{
	while (*counters) {
		size_t length = strcspn(counters, "+");

		if (!has_metric(ncu, counters, length))
			return false;
		counters += length + (counters[length] == '+');
	}
	return true;
}

static void write_metric(struct ncu *ncu, const char *name, size_t length, const char *role)
{
	struct process_writer *writer = imported_writer(ncu->process);
	char text[256];
	union trace_row row = {.metrics = {.role = role}};

	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	row.metrics.id = groups_look(&ncu->metrics, name, length) + 1;
	row.metrics.name = process_writer_name(writer, text);
	row.metrics.is_patched = strstr(text, "__sass_") != NULL;
	process_writer_add(writer, TRACE_TABLE_metrics, &row);
}

/* What of it the file has; without a role what was not written before. */
static void write_answer(struct ncu *ncu, const char *counters, const char *role, bool *is_written)
{
	while (*counters) {
		size_t length = strcspn(counters, "+");
		uint32_t number = groups_look(&ncu->metrics, counters, length);

		if (number != UINT32_MAX && (*role || !is_written[number])) {
			write_metric(ncu, counters, length, role);
			is_written[number] = true;
		}
		counters += length + (counters[length] == '+');
	}
}

/* Of each role the first answer that the file has; what other answers add up has no role. */
static int write_metrics(struct ncu *ncu)
{
	static const struct {
		enum metric_role role;
		const char *name, *counters;
	} answers[] = {
#define ANSWER_ROW(role, counters) {METRIC_##role, #role, counters},
		METRIC_NAMES(ANSWER_ROW)
#undef ANSWER_ROW
	};
	bool is_answered[METRIC_ROLE_COUNT] = {false};
	bool *is_written = calloc(ncu->metrics.count + 1, sizeof(*is_written));

	if (!is_written)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (!is_answered[answers[i].role] && has_all(ncu, answers[i].counters)) {
			write_answer(ncu, answers[i].counters, answers[i].name, is_written);
			is_answered[answers[i].role] = true;
		}
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		write_answer(ncu, answers[i].counters, "", is_written);
	free(is_written);
	return 0;
}

/* Only those that have a meaning here are kept. */
static bool is_known(const char *name)
{
	static const char all[] =
#define ANSWER_TEXT(role, counters) "+" counters
		METRIC_NAMES(ANSWER_TEXT) "+";
#undef ANSWER_TEXT
	const char *found = all;
	size_t length = strlen(name);

	while (length && (found = strstr(found, name)))
		if (found[-1] == '+' && found[length] == '+')
			return true;
		else
			found += length;
	return false;
}

static bool is_needed(const char *name)
{
	return is_known(name) || !strcmp(name, "gpu__time_duration.sum") ||
	       !strcmp(name, "launch__registers_per_thread");
}

/* ---- launches ---- */

/* Refuse a number whose meaning is not certain: a wrong one is worse than none. */
static int refuse_number(const struct ncu *ncu, const char *name, const char *text)
{
	return err_set(
		ncu->err, -EINVAL,
		"%s: %.80s is '%.40s', which is no number with a decimal point; run ncu again "
		"with LC_ALL=C",
		ncu->path, name, text);
}

static int refuse_unit(const struct ncu *ncu, const char *name, const char *unit)
{
	if (*unit)
		return err_set(ncu->err, -EINVAL,
			       "%s: %.80s is in '%.40s', a unit that is not known; export it again "
			       "with ncu --csv --page raw --print-units base",
			       ncu->path, name, unit);
	return err_set(
		ncu->err, -EINVAL,
		"%s: no unit of %.80s: bytes and megabytes look alike; keep the row of units "
		"behind the names of the columns, as ncu --csv --page raw writes it",
		ncu->path, name);
}

static int add_value(struct ncu *ncu, const char *name, const char *text, const char *unit)
{
	struct launch *launch = &ncu->launch;
	double value;
	uint32_t number;
	void *values;

	if (isdigit((unsigned char)*text) && (!has_thousands(text) || !parse_value(text, &value)))
		return is_needed(name) ? refuse_number(ncu, name, text) : 0;
	if (!parse_value(text, &value))
		return 0;
	if (is_needed(name) && factor_of(name, unit) == 0)
		return refuse_unit(ncu, name, unit);
	value *= factor_of(name, unit);
	if (!strcmp(name, "gpu__time_duration.sum"))
		launch->duration_ns = value;
	if (!strcmp(name, "launch__registers_per_thread"))
		launch->look.registers_per_thread = (uint32_t)value;
	if (!is_known(name))
		return 0;
	values = array_reserve(launch->values, &launch->capacity, launch->count + 1,
			       sizeof(*launch->values));
	if (!values || groups_find(&ncu->metrics, name, strlen(name), &number) < 0)
		return -ENOMEM;
	launch->values = values;
	launch->values[launch->count].metric = number + 1;
	launch->values[launch->count++].value = value;
	return 0;
}

/* The first launch that looks like this one. */
static int like_of(struct ncu *ncu, const char *name, uint32_t correlation, uint32_t *like)
{
	struct trace_signatures_row look = ncu->launch.look;
	uint32_t known = ncu->alike.count, number;
	uint32_t *first;

	look.id = 0;
	look.name = process_writer_name(imported_writer(ncu->process), name);
	if (groups_find(&ncu->alike, &look, sizeof(look), &number) < 0)
		return -ENOMEM;
	first = array_reserve(ncu->first_like, &ncu->like_capacity, number + 1, sizeof(*first));
	if (!first)
		return -ENOMEM;
	ncu->first_like = first;
	if (number == known)
		first[number] = correlation;
	*like = first[number];
	return 0;
}

static int write_launch(struct ncu *ncu, const char *name)
{
	struct process_writer *writer = imported_writer(ncu->process);
	struct launch *launch = &ncu->launch;
	int64_t length_ns = (int64_t)launch->duration_ns > 0 ? (int64_t)launch->duration_ns : 1;
	union trace_row row = {.counted = {.id = ++ncu->counted_count}};
	struct trace_kernels_row kernel = {
		.start_ns = ncu->now_ns,
		.end_ns = ncu->now_ns + length_ns,
		.device = launch->device,
		.context = launch->context,
		.stream = launch->stream,
		.correlation = ncu->counted_count,
	};
	int rc = like_of(ncu, name, ncu->counted_count, &row.counted.like);

	if (rc < 0)
		return rc;
	ncu->now_ns = kernel.end_ns;
	imported_add_kernel(ncu->process, &kernel, &launch->look, name);
	row.counted.correlation = ncu->counted_count;
	row.counted.device = launch->device;
	row.counted.context = launch->context;
	process_writer_add(writer, TRACE_TABLE_counted, &row);
	for (size_t i = 0; i < launch->count; i++) {
		row.counters =
			(struct trace_counters_row){ncu->counted_count, launch->values[i].metric,
						    launch->values[i].value};
		process_writer_add(writer, TRACE_TABLE_counters, &row);
	}
	return 0;
}

/* With the name and shared memory of the equal launch of another file: counters are joined by them. */
static int end_launch(struct ncu *ncu)
{
	struct launch *launch = &ncu->launch;
	const struct kernel_shape *shape;
	int rc;

	if (!launch->is_open)
		return 0;
	shape = imported_find_shape(ncu->imported, launch->name, &launch->look);
	if (shape)
		launch->look = shape->look;
	ncu->found_count += shape != NULL;
	rc = write_launch(ncu, shape ? shape->name : launch->name);
	free(launch->name);
	launch->name = NULL;
	launch->is_open = false;
	launch->count = 0;
	return rc;
}

/* "(256, 1, 1)" */
static void parse_extent(const char *text, uint32_t *x, uint32_t *y, uint32_t *z)
{
	unsigned extent[3] = {0, 0, 0};

	if (text && sscanf(text, " (%u, %u, %u)", &extent[0], &extent[1], &extent[2]) < 1)
		sscanf(text, " %u, %u, %u", &extent[0], &extent[1], &extent[2]);
	*x = extent[0];
	*y = extent[1];
	*z = extent[2];
}

static int begin_launch(struct ncu *ncu, const struct csv_row *row)
{
	struct launch *launch = &ncu->launch;
	const char *name = csv_row_find(row, "Kernel Name");
	int rc = end_launch(ncu);

	if (rc < 0)
		return rc;
	if (!ncu->process) {
		ncu->process = imported_counters(ncu->imported,
						 (uint64_t)csv_row_number(row, "Process ID"),
						 "Nsight Compute", LACKS);
		if (!ncu->process)
			return -EIO;
		imported_set_host(ncu->process, csv_row_find(row, "Host Name"));
	}
	launch->is_open = true;
	launch->number = csv_row_number(row, "ID");
	launch->look = (struct trace_signatures_row){0};
	launch->name = strdup(name ? name : "");
	launch->device = (uint32_t)csv_row_number(row, "Device");
	launch->context = (uint32_t)csv_row_number(row, "Context");
	launch->stream = (uint32_t)csv_row_number(row, "Stream");
	launch->duration_ns = 0;
	parse_extent(csv_row_find(row, "Grid Size"), &launch->look.grid_x, &launch->look.grid_y,
		     &launch->look.grid_z);
	parse_extent(csv_row_find(row, "Block Size"), &launch->look.block_x, &launch->look.block_y,
		     &launch->look.block_z);
	return launch->name ? 0 : -ENOMEM;
}

/* ---- rows of the two forms ---- */

/* --page raw: a column for each metric, and a first row of their units, which has no ID. */
static int keep_units(struct ncu *ncu, const struct csv_row *row)
{
	size_t count = csv_row_count(row);

	if (ncu->units)
		return 0;
	ncu->units = calloc(count, sizeof(*ncu->units));
	if (!ncu->units)
		return -ENOMEM;
	ncu->unit_count = count;
	for (size_t i = 0; i < count; i++)
		if (!(ncu->units[i] = strdup(csv_row_text(row, i))))
			return -ENOMEM;
	return 0;
}

static int take_wide(struct ncu *ncu, const struct csv_row *row)
{
	int rc = begin_launch(ncu, row);

	for (size_t i = 0; rc == 0 && i < csv_row_count(row); i++)
		if (strstr(csv_row_name(row, i), "__"))
			rc = add_value(ncu, csv_row_name(row, i), csv_row_text(row, i),
				       i < ncu->unit_count ? ncu->units[i] : "");
	return rc;
}

/* Other pages: a row for each metric of a launch. */
static int take_long(struct ncu *ncu, const struct csv_row *row)
{
	const char *unit = csv_row_find(row, "Metric Unit");
	const char *value = csv_row_find(row, "Metric Value");
	int rc = 0;

	if (!ncu->launch.is_open || ncu->launch.number != csv_row_number(row, "ID"))
		rc = begin_launch(ncu, row);
	return rc < 0 || !value
		       ? rc
		       : add_value(ncu, csv_row_find(row, "Metric Name"), value, unit ? unit : "");
}

static int take(const struct csv_row *row, void *context)
{
	if (!*csv_row_text(row, 0))
		return keep_units(context, row);
	return csv_row_find(row, "Metric Name") ? take_long(context, row) : take_wide(context, row);
}

/* ---- what to count ---- */

/* Of the launch itself: what a signature has. */
static const char launch_metrics[] = "launch__registers_per_thread";

static bool is_listed(const char *list, const char *name, size_t length)
{
	while ((list = strchr(list, ','))) {
		list++;
		if (strcspn(list, ",") == length && !strncmp(list, name, length))
			return true;
	}
	return false;
}

char *imports_ncu_metrics(void)
{
	static const char all[] =
#define ANSWER_TEXT(role, counters) "+" counters
		METRIC_NAMES(ANSWER_TEXT);
#undef ANSWER_TEXT
	char *list = malloc(sizeof(launch_metrics) + sizeof(all));
	char *next = list;

	if (!list)
		return NULL;
	next += sprintf(next, "%s", launch_metrics);
	for (const char *name = all + 1; *name;) {
		size_t length = strcspn(name, "+");

		if (!is_listed(list, name, length))
			next += sprintf(next, ",%.*s", (int)length, name);
		name += length + (name[length] == '+');
	}
	return list;
}

/* ---- the file ---- */

static void note_strangers(const struct ncu *ncu)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "counters of %" PRIu32 " of %" PRIu32
		 " launches: no launch of the other files has that kernel, grid and block",
		 ncu->counted_count - ncu->found_count, ncu->counted_count);
	imported_note(ncu->imported, text);
}

static int finish(struct ncu *ncu, const char *path, struct err *err)
{
	int rc = end_launch(ncu);

	if (rc == -ENOMEM)
		return err_set(err, rc, "%s: out of memory", path);
	if (rc == 0 && !ncu->metrics.count)
		return err_set(err, -ENODATA,
			       "%s: has none of the metrics that a report shows; count them with: "
			       "ncu --csv --page raw --metrics $(rooflinectl import --ncu-metrics)",
			       path);
	if (rc == 0 && write_metrics(ncu) < 0)
		rc = err_set(err, -ENOMEM, "%s: out of memory", path);
	if (rc == 0 && ncu->found_count < ncu->counted_count)
		note_strangers(ncu);
	return rc;
}

int import_ncu(struct imported *imported, const char *path, struct err *err)
{
	struct ncu ncu = {.imported = imported, .now_ns = FIRST_NS, .path = path, .err = err};
	int rc = csv_rows_read(path, "ID", take, &ncu, err);

	if (rc == 0)
		rc = finish(&ncu, path, err);
	for (size_t i = 0; i < ncu.unit_count; i++)
		free(ncu.units[i]);
	free(ncu.units);
	free(ncu.launch.name);
	free(ncu.launch.values);
	free(ncu.first_like);
	groups_free(&ncu.metrics);
	groups_free(&ncu.alike);
	return rc;
}
