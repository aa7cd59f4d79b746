/* pack.c - rooflinectl pack and unpack: a recording as one file, and as a folder again. */
#define _GNU_SOURCE /* memrchr */

#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/selection.h"
#include "cmd/source.h"
#include "cmd/usage.h"

#include "base/format.h"
#include "base/new_file.h"
#include "base/paths.h"
#include "base/shell.h"
#include "base/temporary.h"
#include "trace/excerpt.h"
#include "trace/pack.h"
#include "trace/packed.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pack_arguments {
	const char *source, *target; /* target: of -o, or NULL */
	int level;
	struct selection selection; /* pack: the part to pack */
};

static int parse_level(const char *text, struct argp_state *state)
{
	char *end;
	long level = strtol(text, &end, 10);

	if (*end || *text < '0' || *text > '9' || level < 1 || level > PACK_LEVEL_MOST)
		usage_fail(state, "--level wants a number from 1 to %d, not '%s'", PACK_LEVEL_MOST,
			   text);
	return (int)level;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct pack_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case 'o':
		if (!*argument)
			usage_fail(state, "-o wants a name, not ''");
		arguments->target = argument;
		return 0;
	case 'l':
		arguments->level = parse_level(argument, state);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->source)
			usage_fail(state, "one recording at a time, not also '%s'", argument);
		arguments->source = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state, "which recording?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static size_t length_without_slashes(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

/* A full disk and a limit of file sizes are failures to tell of; the limit's signal would end us before. */
static void tell_of_full_disks(void)
{
	signal(SIGXFSZ, SIG_IGN);
}

static int show_end(const char *command, int rc, const struct err *err)
{
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", command, err->text);
	return source_exit_code(rc);
}

/* ---- pack ---- */

static const struct argp_option pack_options[] = {
	{"output", 'o', "FILE", 0,
	 "instead of DIR" PATH_PACKED_SUFFIX ", or DIR.part" PATH_PACKED_SUFFIX
	 " of a part; - is stdout",
	 0},
	{"level", 'l', "N", 0, "how hard zstd tries, 1 to 19; without it 9", 0},
	{0},
};

static error_t parse_pack_option(int key, char *argument, struct argp_state *state)
{
	struct pack_arguments *arguments = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &arguments->selection;
	return parse_option(key, argument, state);
}

static const struct argp_child pack_children[] = {{&selection_time_argp, 0, NULL, 20}, {0}};

static const struct argp pack_parser = {
	.options = pack_options,
	.children = pack_children,
	.parser = parse_pack_option,
	.args_doc = "DIR",
	.doc = "Make one small file of a recording, which every command reads like DIR.\n\n"
	       "It is a tar of the CSV files, compressed with zstd. DIR stays as it is. With --range, "
	       "--from or --to it has that part of the run alone.",
};

static bool is_part(const struct pack_arguments *arguments)
{
	return selection_is_any(&arguments->selection);
}

/* DIR.roofline beside DIR, also when that is called "."; of a part DIR.part.roofline. */
static int default_target(char *buffer, size_t size, const struct pack_arguments *arguments,
			  struct err *err)
{
	const char *folder = arguments->source, *part = is_part(arguments) ? ".part" : "";
	size_t length = length_without_slashes(folder);
	const char *slash = memrchr(folder, '/', length);
	const char *last = slash ? slash + 1 : folder;
	char *real = NULL;
	int rc = 0;

	if (*last == '.' && strspn(last, "./") == strlen(last)) {
		real = realpath(folder, NULL);
		if (!real)
			return err_set(err, -errno, "%s: %s", folder, strerror(errno));
		folder = real;
		length = strlen(real);
	}
	if (path_has_suffix(folder, PATH_PACKED_SUFFIX) && *part)
		length -= strlen(PATH_PACKED_SUFFIX);
	if ((size_t)snprintf(buffer, size, "%.*s%s" PATH_PACKED_SUFFIX, (int)length, folder,
			     part) >= size)
		rc = err_set(err, -ENAMETOOLONG, "%s: the name is too long", folder);
	free(real);
	return rc;
}

static int pack_to_stdout(const struct pack_arguments *arguments, struct err *err)
{
	if (isatty(STDOUT_FILENO))
		return err_set(err, -EINVAL, "stdout is a terminal; send it to a file or a pipe");
	return pack_write(arguments->source, STDOUT_FILENO, "stdout", arguments->level, err);
}

static int pack_to_file(const struct pack_arguments *arguments, const char *path, struct err *err)
{
	struct new_file file;
	int rc = new_file_open(&file, path, err);

	if (rc < 0)
		return rc;
	rc = pack_write(arguments->source, file.fd, path, arguments->level, err);
	return new_file_close(&file, rc, err);
}

static int pack(const struct pack_arguments *arguments, struct err *err)
{
	if (!strcmp(arguments->target, "-"))
		return pack_to_stdout(arguments, err);
	return pack_to_file(arguments, arguments->target, err);
}

/* ---- a part of it ---- */

/* The part as a folder. */
static int write_part(const struct pack_arguments *arguments, const char *folder, struct err *err)
{
	struct profile *profile;
	char *told = NULL;
	int rc = profile_load(&profile, arguments->source, err);

	if (rc < 0)
		return rc;
	rc = selection_apply(&arguments->selection, profile, &told, err);
	if (rc == 0)
		rc = excerpt_write(profile, arguments->source, told, folder, err);
	free(told);
	profile_free(profile);
	return rc;
}

static int pack_part(const struct pack_arguments *arguments, struct err *err)
{
	struct pack_arguments part = *arguments;
	char folder[PATH_MAX];
	int rc = temporary_make_work_folder(folder, sizeof(folder), err);

	part.source = folder;
	if (rc == 0)
		rc = write_part(arguments, folder, err);
	if (rc == 0)
		rc = pack(&part, err);
	temporary_remove(folder);
	return rc;
}

/* Of a file whose name nobody gave. */
static void tell_name(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0)
		printf("%s: %s; read it with: rooflinectl report %s\n", format_path(path).text,
		       format_bytes((double)status.st_size).text, shell_path_text(path).text);
}

static int pack_what_was_named(struct pack_arguments *arguments, struct err *err)
{
	char path[PATH_MAX];
	bool is_named_here = !arguments->target;
	int rc = 0;

	if (is_named_here) {
		rc = default_target(path, sizeof(path), arguments, err);
		arguments->target = path;
	}
	if (rc == 0)
		rc = is_part(arguments) ? pack_part(arguments, err) : pack(arguments, err);
	arguments->target = NULL;
	if (rc == 0 && is_named_here)
		tell_name(path);
	return rc;
}

int cmd_pack(int argc, char **argv)
{
	struct pack_arguments arguments = {.level = PACK_LEVEL};
	struct progress progress;
	struct err err = {""};
	int rc;

	if (usage_parse(&pack_parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	tell_of_full_disks();
	progress_begin(&progress, "packing");
	rc = pack_what_was_named(&arguments, &err);
	progress_end(&progress);
	return show_end(argv[0], rc, &err);
}

/* ---- unpack ---- */

static const struct argp_option unpack_options[] = {
	{"output", 'o', "DIR", 0, "instead of FILE without " PATH_PACKED_SUFFIX, 0},
	{0},
};

static const struct argp unpack_parser = {
	.options = unpack_options,
	.parser = parse_option,
	.args_doc = "FILE",
	.doc = "Make a folder of CSV files again of a packed recording.\n\n"
	       "FILE is what 'rooflinectl pack' made; - is stdin.",
};

/* FILE without its suffix. */
static int default_folder(char *buffer, size_t size, const char *path, struct err *err)
{
	size_t length = strlen(path), suffix = strlen(PATH_PACKED_SUFFIX);

	if (length <= suffix || strcmp(path + length - suffix, PATH_PACKED_SUFFIX) != 0)
		return err_set(err, -EINVAL,
			       "%s: the name does not end in " PATH_PACKED_SUFFIX
			       "; name the folder to make with -o DIR",
			       path);
	if ((size_t)snprintf(buffer, size, "%.*s", (int)(length - suffix), path) >= size)
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", path);
	return 0;
}

static int unpack(const struct pack_arguments *arguments, struct err *err)
{
	const char *source = arguments->source, *target = arguments->target;
	char found[PATH_MAX], folder[PATH_MAX];
	int rc = 0;

	if (strcmp(source, "-") != 0 && packed_find(found, sizeof(found), source))
		source = found;
	if (!target)
		rc = default_folder(folder, sizeof(folder), source, err);
	else
		snprintf(folder, sizeof(folder), "%.*s", (int)length_without_slashes(target),
			 target);
	return rc < 0 ? rc : pack_extract(source, folder, err);
}

int cmd_unpack(int argc, char **argv)
{
	struct pack_arguments arguments = {0};
	struct progress progress;
	struct err err = {""};
	int rc;

	if (usage_parse(&unpack_parser, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	tell_of_full_disks();
	progress_begin(&progress, "unpacking");
	rc = unpack(&arguments, &err);
	progress_end(&progress);
	return show_end(argv[0], rc, &err);
}
