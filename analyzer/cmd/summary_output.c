#include "cmd/summary_output.h"

#include "base/new_file.h"
#include "cmd/source.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0, "write the summary there instead of showing it", 0},
	OPTION_FORMAT("to show it: for people (the default), for programs, or one table of it"),
	{"table", 't', "NAME", 0, "csv: which, of" OVERVIEW_TABLE_NAMES "; ranks by default", 0},
	OPTION_TOP("text: rows of each list, 10 by default"),
	OPTION_WIDE("text: names in full"),
	{0},
};

static const overview_writer writers[] = {
#define WRITER(name, summary) overview_write_##name,
	OUTPUTS(WRITER)
#undef WRITER
};

static void check(const struct summary_output *output, const struct argp_state *state)
{
	const struct output_options *options = &output->options;

	if (output->path && (output->has_format || output->table || options->top || options->wide))
		usage_fail(state,
			   "with -o nothing is shown; show the file afterwards: rooflinectl "
			   "merge %s",
			   output->path);
	if (output->table && output->format != USAGE_FORMAT_csv)
		usage_fail(state, "--table is of --format csv");
	if (output->table && overview_find_table(output->table) < 0)
		usage_fail(state, "no table '%s'%s; there are:" OVERVIEW_TABLE_NAMES, output->table,
			   usage_suggest(output->table, OVERVIEW_TABLE_NAMES).text);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct summary_output *output = state->input;

	switch (key) {
	case 'o':
		if (!*argument)
			usage_fail(state, "-o wants a name, not ''");
		output->path = argument;
		return 0;
	case 'f':
		output->format = usage_format(state, argument);
		output->has_format = true;
		return 0;
	case 't':
		output->table = argument;
		return 0;
	case 'n':
		output->options.top = usage_rows(state, argument);
		return 0;
	case 'w':
		output->options.wide = true;
		return 0;
	case ARGP_KEY_END:
		check(output, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp summary_output_argp = {.options = option_table, .parser = parse_option};

static int write_file(const char *path, const struct summary *summary, struct err *err)
{
	struct new_file file;
	int rc = new_file_open(&file, path, err);

	if (rc < 0)
		return rc;
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is a failure to tell of */
	return new_file_close(&file, summary_write(summary, file.fd, path, err), err);
}

static int show(const struct summary_output *output, const struct summary *summary, struct err *err)
{
	struct output_options options = output->options;
	struct overview overview;
	int rc = overview_build(&overview, summary);

	options.color = is_color_wanted(stdout);
	options.width = terminal_width(stdout);
	if (rc < 0)
		err_set(err, rc, "out of memory");
	else
		rc = writers[output->format](&overview, stdout, &options,
					     output->table ? overview_find_table(output->table) : 0,
					     err);
	overview_free(&overview);
	return rc;
}

int summary_output(const struct summary_output *output, const struct summary *summary,
		   struct err *err)
{
	return output->path ? write_file(output->path, summary, err) : show(output, summary, err);
}
