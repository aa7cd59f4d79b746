/* power.c - clocks, power and temperature of each GPU, and what held its clocks down. */
#include "output/page.h"
#include "output/sections/why_empty.h"

#include <string.h>

/* ---- columns ---- */

static size_t device_of(const struct row *row, const void *from)
{
	const struct power_device *device = from;

	return (size_t)(device - row->report->power->devices);
}

static struct value get_device(struct row *row, const void *from)
{
	return value_count(device_of(row, from));
}

static struct value get_name(struct row *row, const void *from)
{
	return value_text(row->report->profile->devices[device_of(row, from)].name);
}

PREDICATE(is_read, struct power_figure, figure, figure->count > 0);

static const struct column figure_columns[] = {FIELD_IF(struct power_figure, mean, is_read),
					       FIELD_IF(struct power_figure, min, is_read),
					       FIELD_IF(struct power_figure, max, is_read),
					       {0}};

#define REASON_COLUMN(constant, bit, name, title) \
	{.key = (name), .type = COLUMN_REAL, .offset = POWER_##constant * sizeof(double)},

static const struct column reason_columns[] = {POWER_REASONS(REASON_COLUMN){0}};

#define FIGURE(field) GROUP(#field, NULL, struct power_device, field, figure_columns)

static const struct column columns[] = {COMPUTED("device", get_device),
					COMPUTED("name", get_name),
					FIELD(struct power_device, reading_count),
					MOMENT(struct power_device, first),
					MOMENT(struct power_device, last),
					FIGURE(sm_clock_mhz),
					FIGURE(memory_clock_mhz),
					FIGURE(power_mw),
					FIGURE(temperature_c),
					GROUP("reason_shares", NULL, struct power_device,
					      reason_shares, reason_columns),
					{0}};

/* Devices that were not read are left out. */
static const void *read_at(const struct row *parent, size_t index)
{
	const struct power *power = parent->report->power;

	for (size_t i = 0; i < power->device_count; i++)
		if (power->devices[i].reading_count && !index--)
			return &power->devices[i];
	return NULL;
}

/* ---- text ---- */

static void put_figure(struct page *page, const char *label, const struct power_figure *figure,
		       double unit, int digits, const char *unit_text)
{
	if (figure->count)
		fprintf(page->out, "    %-14s %8.*f %-4s from %.*f to %.*f\n", label, digits,
			figure->mean / unit, unit_text, digits, figure->min / unit, digits,
			figure->max / unit);
}

/* "power limit 61.2%, temperature limit 3.1%" */
static void put_reasons(struct page *page, const struct power_device *device)
{
	char text[512] = "";
	size_t used = 0;

	for (int i = 0; i < POWER_REASON_COUNT && used < sizeof(text); i++)
		if (device->reason_shares[i] > 0)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s",
						 used ? ", " : "",
						 power_reason_title((enum power_reason)i),
						 format_percent(device->reason_shares[i], 1).text);
	page_wrap(page, "    clocks held down by: ", used ? text : "nothing", 6);
}

static void put_device(struct page *page, size_t number, const struct power_device *device)
{
	fprintf(page->out, "  GPU %zu  %s readings in %s\n", number,
		format_count(device->reading_count).text,
		format_ns((double)(device->last_ns - device->first_ns)).text);
	put_figure(page, "SM clock", &device->sm_clock_mhz, 1, 0, "MHz");
	put_figure(page, "memory clock", &device->memory_clock_mhz, 1, 0, "MHz");
	put_figure(page, "power", &device->power_mw, 1000, 1, "W");
	put_figure(page, "temperature", &device->temperature_c, 1, 0, "C");
	put_reasons(page, device);
}

static void print_power(struct page *page)
{
	const struct power *power = page->report->power;
	bool is_begun = false;

	for (size_t i = 0; i < power->device_count; i++) {
		if (!power->devices[i].reading_count)
			continue;
		if (!is_begun)
			page_title(page, "Clocks and power",
				   "of the whole board, mean over the readings");
		is_begun = true;
		put_device(page, i, &power->devices[i]);
	}
}

static struct sentence why_no_power(const struct report *report)
{
	const char *problem = why_property(report, "power_problem");

	return problem ? why("clocks and power were asked for and could not be read: %s", problem)
		       : why("clocks and power were not read: record with --power");
}

const struct section section_power = {.key = "power",
				      .needs = {TABLE(power), NEED_power},
				      .title = "Clocks and power",
				      .columns = columns,
				      .at = read_at,
				      .print = print_power,
				      .why_empty = why_no_power};
