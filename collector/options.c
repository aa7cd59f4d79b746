#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "roofline/byte_size.h"
#include "roofline/collector_env.h"
#include "roofline/runs.h"
#include "roofline/duration.h"
#include "roofline/last.h"
#include "roofline/sampled.h"
#include "size_limit.h"

#define VARIABLE_NAME(constant, name, fallback, meaning) [constant] = name,
static const char *const variable_names[] = {ROOFLINE_VARIABLES(VARIABLE_NAME)};
#define VARIABLE_DEFAULT(constant, name, fallback, meaning) [constant] = fallback,
static const char *const variable_defaults[] = {ROOFLINE_VARIABLES(VARIABLE_DEFAULT)};

#define WINDOW_SAMPLES_MIN 4			  /* the first of a window is none */
#define SAMPLE_BUFFER_BYTES_MIN ((size_t)1 << 20) /* 40 samples of everything */

static const char *const graph_words[] = {"node", "graph"};
static const char *const api_words[] = {
	[API_NONE] = "none", [API_CHOSEN] = "chosen", [API_ALL] = "all"};

static const char *variable_text(enum roofline_variable variable)
{
	const char *text = getenv(variable_names[variable]);

	return text && *text ? text : variable_defaults[variable];
}

/* strtod, whatever the application chose as decimal point. */
static double parse_number(const char *text, char **end)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double value;

	if (!c_locale)
		return strtod(text, end);
	value = strtod_l(text, end, c_locale);
	freelocale(c_locale);
	return value;
}

/* A non-negative number of at most limit, or the default with a warning. */
static double variable_number(enum roofline_variable variable, double limit)
{
	const char *text = variable_text(variable);
	char *end;
	double value = parse_number(text, &end);

	if (end != text && *end == '\0' && value >= 0 && value <= limit)
		return value;
	log_warn("%s='%s' is not a number from 0 to %g; using %s", variable_names[variable], text,
		 limit, variable_defaults[variable]);
	return parse_number(variable_defaults[variable], &end);
}

/* Index of the variable's word in words, or that of its default with a warning. */
static int variable_word(enum roofline_variable variable, const char *const *words, int count)
{
	const char *text = variable_text(variable);
	int fallback = 0;

	for (int i = 0; i < count; i++) {
		if (!strcmp(text, words[i]))
			return i;
		if (!strcmp(variable_defaults[variable], words[i]))
			fallback = i;
	}
	log_warn("%s='%s' is not one of its values; using %s", variable_names[variable], text,
		 variable_defaults[variable]);
	return fallback;
}

static const char *variable_text_or_null(enum roofline_variable variable)
{
	const char *text = variable_text(variable);

	return *text ? text : NULL;
}

/* "20261121-042108", in UTC.  localtime_r and gmtime_r would read the time zone before the program has
 * had its chance to set TZ, and the C library reads it only once. */
static void format_utc(char *text, size_t size, int64_t unix_s)
{
	int64_t days = unix_s / 86400 + 719468,
		second = unix_s % 86400;		  /* since 1 March of year 0 */
	int64_t era = days / 146097, day = days % 146097; /* of 400 years */
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t month; /* from March */

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	snprintf(text, size, "%04d%02d%02d-%02d%02d%02d", (int)(era * 400 + year + (month >= 10)),
		 (int)(month < 10 ? month + 3 : month - 9), (int)(day - (153 * month + 2) / 5 + 1),
		 (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
}

void options_default_output(char *buffer, size_t size)
{
	char cwd[PATH_MAX - 64], when[64], ending[16] = "";
	struct stat status;
	struct timespec now;
	uint32_t number;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!getcwd(cwd, sizeof(cwd)))
		snprintf(cwd, sizeof(cwd), "/tmp");
	format_utc(when, sizeof(when), now.tv_sec);
	/* Where others could make it first, no one can guess its name. */
	if (stat(cwd, &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) &&
	    getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number))
		snprintf(ending, sizeof(ending), ".%08x", number);
	snprintf(buffer, size, "%s/roofline.%s.%d%s", cwd, when, (int)getpid(), ending);
}

/* Writes the folder that was asked for, absolute.  Returns false when it is too long. */
static bool absolute_output(const char *text, char *buffer, size_t size)
{
	char cwd[PATH_MAX];

	if (*text == '/' || !getcwd(cwd, sizeof(cwd)))
		return (size_t)snprintf(buffer, size, "%s", text) < size;
	return (size_t)snprintf(buffer, size, "%s/%s", cwd, text) < size;
}

static void read_output(struct options *options)
{
	const char *text = variable_text(ENV_OUTPUT);

	if (text != variable_defaults[ENV_OUTPUT]) {
		if (absolute_output(text, options->output, sizeof(options->output)))
			return;
		log_warn("%s is longer than a path may be; using %s", variable_names[ENV_OUTPUT],
			 variable_defaults[ENV_OUTPUT]);
	}
	options_default_output(options->output, sizeof(options->output));
}

/* A size, or the default with a warning. */
static int64_t variable_size(enum roofline_variable variable, int64_t least)
{
	int64_t bytes = byte_size(variable_text(variable));

	if (bytes == 0 || bytes >= least)
		return bytes;
	log_warn("%s='%s' is not a size of at least %lld, such as 500M; using %s",
		 variable_names[variable], variable_text(variable), (long long)least,
		 variable_defaults[variable]);
	return -1;
}

static void read_budget(struct options *options)
{
	options->max_bytes = variable_size(ENV_MAX_SIZE, SIZE_LIMIT_BYTES_MIN);
	if (options->max_bytes < 0)
		options->max_bytes = 0;
	options->min_free_bytes = SIZE_MIN_FREE_AUTO;
	if (strcmp(variable_text(ENV_MIN_FREE), "auto"))
		options->min_free_bytes = variable_size(ENV_MIN_FREE, 1);
}

static void warn_invalid(enum roofline_variable variable, const char *wanted)
{
	log_warn("%s='%s' is not %s", variable_names[variable], variable_text(variable), wanted);
}

static void read_control(struct options *options)
{
	int64_t limit_ns;

	options->has_control = variable_number(ENV_CONTROL, 1) > 0;
	options->when_slower = variable_text_or_null(ENV_WHEN_SLOWER);
	if (options->when_slower && !slower_parse(options->when_slower, &limit_ns)) {
		warn_invalid(ENV_WHEN_SLOWER, "a range and a time, such as step=50ms");
		options->when_slower = NULL;
	}
	if (variable_text_or_null(ENV_LAST) &&
	    last_parse(variable_text(ENV_LAST), &options->last_ns, &options->last_bytes) < 0) {
		warn_invalid(ENV_LAST, "a time of 1s or more or a size of 1M or more; all is kept");
		options->last_ns = options->last_bytes = 0;
	}
}

/* ---- sampling ---- */

static unsigned int read_sample_sets(void)
{
	static const char *const names[] = {
#define SET_NAME(name, meaning) #name,
		SAMPLE_SETS(SET_NAME)
#undef SET_NAME
	};
	unsigned int sets = 0, found;
	bool is_understood = true;

	for (const char *word = variable_text(ENV_SAMPLE_METRICS); *word;) {
		size_t length = strcspn(word, ",");

		found = 0;
		for (unsigned int i = 0; i < SAMPLE_SET_COUNT; i++)
			if (strlen(names[i]) == length && !strncmp(names[i], word, length))
				found = 1u << i;
		is_understood &= found != 0;
		sets |= found;
		word += length + (word[length] == ',');
	}
	if (is_understood)
		return sets;
	warn_invalid(ENV_SAMPLE_METRICS,
		     "a list of front, sm, dram, tensor, l2 and nvlink; using all");
	return 0;
}

static void read_sampling(struct options *options)
{
	const char *windows = variable_text(ENV_SAMPLE_WINDOWS);

	options->sample_range = variable_text_or_null(ENV_SAMPLE_RANGE);
	options->sample_sets = read_sample_sets();
	options->sample_buffer_bytes =
		(size_t)(variable_number(ENV_SAMPLE_BUFFER, 1 << 16) * 1024 * 1024);
	if (options->sample_buffer_bytes < SAMPLE_BUFFER_BYTES_MIN)
		options->sample_buffer_bytes = SAMPLE_BUFFER_BYTES_MIN;
	if (variable_text_or_null(ENV_SAMPLE)) {
		options->sample_ns = duration_ns(variable_text(ENV_SAMPLE), NULL);
		if (options->sample_ns < SAMPLE_NS_MIN || options->sample_ns > SAMPLE_NS_MAX) {
			warn_invalid(ENV_SAMPLE,
				     "a time from 250ns to 1s, such as 1us; nothing is sampled");
			options->sample_ns = 0;
		}
	}
	if (!strcmp(windows, "continuous"))
		options->sample_windows = WINDOWS_CONTINUOUS;
	else if (!duration_window(windows, &options->window_ns, &options->window_period_ns) &&
		 options->window_ns >= WINDOW_SAMPLES_MIN * options->sample_ns)
		options->sample_windows = WINDOWS_PERIODIC;
	else if (strcmp(windows, "auto"))
		warn_invalid(ENV_SAMPLE_WINDOWS,
			     "continuous, auto or LENGTH/PERIOD of some samples; using auto");
}

void options_read(struct options *options)
{
	memset(options, 0, sizeof(*options));
	options->quiet = variable_number(ENV_QUIET, 1) > 0;
	log_set_quiet(options->quiet);
	read_output(options);
	read_budget(options);
	read_control(options);
	options->record = variable_text_or_null(ENV_RECORD);
	options->has_command_line = variable_number(ENV_COMMAND_LINE, 1) > 0;
	options->is_graph_level = variable_word(ENV_GRAPHS, graph_words, 2) == 1;
	options->run = (int)variable_number(ENV_RUN, RUN_MOST);
	options->kernels = variable_text_or_null(ENV_KERNELS);
	options->counters = variable_text_or_null(ENV_COUNTERS);
	options->is_replay = variable_number(ENV_REPLAY, 1) > 0 && options->counters;
	options->counters_share = variable_number(ENV_COUNTERS_SHARE, 100) / 100;
	options->counters_skip = variable_text_or_null(ENV_COUNTERS_SKIP);
	options->delay_ns = (int64_t)(variable_number(ENV_DELAY, 1e9) * 1e9 + 0.5);
	options->duration_ns = (int64_t)(variable_number(ENV_DURATION, 1e9) * 1e9 + 0.5);
	options->profiler_api = variable_number(ENV_PROFILER_API, 1) > 0;
	options->api = (enum options_api)variable_word(ENV_API, api_words, 3);
	options->syncs = variable_number(ENV_SYNCS, 1) > 0;
	options->events = variable_number(ENV_EVENTS, 1) > 0;
	options->allocations = variable_number(ENV_ALLOCATIONS, 1) > 0;
	options->launch_attributes = variable_number(ENV_LAUNCH_ATTRIBUTES, 1) > 0;
	options->managed = variable_number(ENV_MANAGED, 1) > 0;
	options->args = variable_number(ENV_ARGS, 1) > 0;
	options->power = variable_number(ENV_POWER, 1) > 0;
	options->nvtx = variable_number(ENV_NVTX, 1) > 0;
	read_sampling(options);
	options->buffer_limit_bytes =
		(size_t)(variable_number(ENV_BUFFER_LIMIT, 1 << 20) * 1024 * 1024);
	options->flush_period_ms = (unsigned int)variable_number(ENV_FLUSH_PERIOD, 3600e3);
	if (options->flush_period_ms < 10)
		options->flush_period_ms = 10;
	options->yield = variable_number(ENV_YIELD, 1) > 0;
	options->cupti = variable_text(ENV_CUPTI);
	options->discard = variable_number(ENV_DISCARD, 1) > 0;
}
