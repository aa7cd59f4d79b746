/* completion.c - rooflinectl completion: scripts for shells, made from the option tables of all commands. */
#include "cmd/commands.h"
#include "cmd/usage.h"

#include "charts/charts.h"
#include "exchange/export/exports.h"
#include "output/summary.h"

#include <stdio.h>
#include <string.h>

/* ---- what there is ---- */

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};

#define COMMAND_ROW(name, summary) {#name, summary, cmd_##name},
static const struct command commands[] = {COMMANDS(COMMAND_ROW)};
#undef COMMAND_ROW

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

#define NAME(name, summary) " " #name

/* Of a command and an option the values: where the table of options only names what they are.  NULL:
 * of the plain arguments, beside files. */
static const struct {
	const char *command, *option, *values;
} lists[] = {
	{"report", "section", SECTION_NAMES},
	{"export", "format", EXPORT_NAMES},
	{"plot", NULL, CHARTS(NAME)},
	{"plot", "format", "svg png pdf term"},
	{"completion", NULL, "bash zsh fish"},
	{"ctl", NULL, "start stop status dump"},
	{"help", NULL, COMMANDS(NAME)},
	{"merge", "table", OVERVIEW_TABLE_NAMES},
	{"summarize", "table", OVERVIEW_TABLE_NAMES},
};

static const char *list_of(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!strcmp(lists[i].command, command) &&
		    (option && lists[i].option ? !strcmp(lists[i].option, option)
					       : option == lists[i].option))
			return lists[i].values;
	return NULL;
}

/* "text|json|csv" with spaces; "" where that is no choice between words. */
static const char *choice_of(const struct usage_option *option, char *buffer, size_t size)
{
	buffer[0] = '\0';
	if (option->argument && strchr(option->argument, '|') &&
	    strspn(option->argument, "abcdefghijklmnopqrstuvwxyz0123456789|") ==
		    strlen(option->argument))
		snprintf(buffer, size, "%s", option->argument);
	for (char *bar = buffer; (bar = strchr(bar, '|'));)
		*bar = ' ';
	return buffer;
}

static const char *values_of(const char *command, const struct usage_option *option, char *buffer,
			     size_t size)
{
	const char *list = option->name ? list_of(command, option->name) : NULL;

	return list ? list : choice_of(option, buffer, size);
}

/* Of an option whose values are no list: whether they are files.  Names of ranges, numbers and the like are completed by
 * nothing, not by files that they cannot be. */
static bool takes_files(const struct usage_option *option)
{
	return strstr(option->argument, "FILE") || strstr(option->argument, "DIR");
}

/* Has the command tell its options, which it then does not parse. */
static void each_option(const struct command *command, usage_visitor visit)
{
	char name[64], *argv[] = {name, NULL};

	snprintf(name, sizeof(name), "rooflinectl %s", command->name);
	usage_list(visit, (void *)command);
	(void)command->run(1, argv); /* its options are told before it runs */
	usage_list(NULL, NULL);
}

/* ---- bash, which zsh reads as well ---- */

static void put_bash_option(void *context, const struct usage_option *option)
{
	(void)context;
	if (option->name)
		printf(" --%s", option->name);
	if (option->letter)
		printf(" -%c", option->letter);
}

/* A pattern of a case for each option with a value: what the word before is. */
static void put_bash_values(void *context, const struct usage_option *option)
{
	const struct command *command = context;
	char buffer[128];
	const char *values = values_of(command->name, option, buffer, sizeof(buffer));

	if (!option->argument || option->is_optional)
		return;
	if (option->name)
		printf("\t%s:--%s", command->name, option->name);
	if (option->letter)
		printf("%s%s:-%c", option->name ? " | " : "\t", command->name, option->letter);
	if (*values)
		printf(") values='%s' ;;\n", values + strspn(values, " "));
	else
		printf(") values=%s ;;\n", takes_files(option) ? "FILES" : "NOTHING");
}

static void put_function(void)
{
	const char *plain;

	puts("_rooflinectl() {\n"
	     "\tlocal current=$2 before=$3 first=1 command= values= flags= list=\n"
	     "\tCOMPREPLY=()\n"
	     "\t[ \"$current\" = -- ] && current=${COMP_WORDS[COMP_CWORD]} # zsh passes -- for nothing\n"
	     "\t[ \"${COMP_WORDS[1]}\" = --no-pager ] && [ \"$COMP_CWORD\" -gt 1 ] && first=2\n"
	     "\tcommand=${COMP_WORDS[first]}\n"
	     "\tif [ \"$COMP_CWORD\" -eq \"$first\" ]; then");
	printf("\t\tCOMPREPLY=($(compgen -W 'help%s --help --version --no-pager' -- \"$current\"))\n",
	       COMMANDS(NAME));
	puts("\t\t_rooflinectl_no_files\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\t[[ \" ${COMP_WORDS[*]:0:$COMP_CWORD} \" == *' -- '* ]] && return\n"
	     "\tif [ \"$before\" = \"=\" ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	     "\tif [ \"$current\" = \"=\" ]; then before=${COMP_WORDS[COMP_CWORD-1]} current=; fi\n"
	     "\tcase $command:$before in");
	for (int i = 0; i < COMMAND_COUNT; i++)
		each_option(&commands[i], put_bash_values);
	puts("\tesac\n"
	     "\tcase $command in");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		printf("\t%s) flags='--no-pager", commands[i].name);
		each_option(&commands[i], put_bash_option);
		plain = list_of(commands[i].name, NULL);
		printf("' list='%s' ;;\n", plain ? plain : "");
	}
	printf("\thelp) list='%s' ;;\n", list_of("help", NULL));
	puts("\tesac\n"
	     "\tif [ \"$values\" = FILES ]; then\n"
	     "\t\t_rooflinectl_files\n"
	     "\telif [ \"$values\" = NOTHING ]; then\n"
	     "\t\t_rooflinectl_no_files\n"
	     "\telif [ -n \"$values\" ]; then\n"
	     "\t\tlocal begun=\n"
	     "\t\t[[ $current == *,* ]] && begun=${current%,*},\n"
	     "\t\tCOMPREPLY=($(compgen -P \"$begun\" -W \"$values\" -- \"${current##*,}\"))\n"
	     "\t\t_rooflinectl_no_files\n"
	     "\telif [[ $current == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
	     "\t\t_rooflinectl_no_files\n"
	     "\telif [ -n \"$list\" ]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$list\" -- \"$current\") $(compgen -f -- \"$current\"))\n"
	     "\telse\n"
	     "\t\t_rooflinectl_files\n"
	     "\tfi\n"
	     "}");
}

/* Files are bash's own to complete where nothing else is; compopt says where there are none, and is not there in a test. */
static void put_bash(void)
{
	puts("# Completion of rooflinectl for bash, made by `rooflinectl completion bash`.\n"
	     "_rooflinectl_files() { return 0; }\n"
	     "_rooflinectl_no_files() { compopt +o default +o bashdefault 2>/dev/null; return 0; }");
	put_function();
	puts("complete -o default -o bashdefault -F _rooflinectl rooflinectl");
}

static void put_zsh(void)
{
	puts("#compdef rooflinectl\n"
	     "# Completion of rooflinectl for zsh, made by `rooflinectl completion zsh`: that of bash.\n"
	     "autoload -U +X bashcompinit && bashcompinit\n"
	     "_rooflinectl_files() { COMPREPLY=($(compgen -f -- \"$current\")); }\n"
	     "_rooflinectl_no_files() { return 0; }");
	put_function();
	puts("complete -o filenames -F _rooflinectl rooflinectl");
}

/* ---- fish ---- */

static void put_quoted(const char *text)
{
	putchar('\'');
	for (; text && *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
	putchar('\'');
}

static void put_fish_option(void *context, const struct usage_option *option)
{
	const struct command *command = context;
	char buffer[128];
	const char *values = values_of(command->name, option, buffer, sizeof(buffer));

	printf("complete -c rooflinectl -n '__fish_seen_subcommand_from %s'", command->name);
	if (option->name)
		printf(" -l %s", option->name);
	if (option->letter)
		printf(" -s %c", option->letter);
	if (option->argument && !option->is_optional)
		printf(*values || takes_files(option) ? " -r" : " -r -f");
	if (*values) {
		printf(" -f -a ");
		put_quoted(values + strspn(values, " "));
	}
	printf(" -d ");
	put_quoted(option->meaning);
	putchar('\n');
}

static void put_fish(void)
{
	puts("# Completion of rooflinectl for fish, made by `rooflinectl completion fish`.\n"
	     "complete -c rooflinectl -l no-pager -d 'Write without a pager'");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		printf("complete -c rooflinectl -n __fish_use_subcommand -f -a %s -d ",
		       commands[i].name);
		put_quoted(commands[i].summary);
		putchar('\n');
		each_option(&commands[i], put_fish_option);
		if (list_of(commands[i].name, NULL))
			printf("complete -c rooflinectl -n '__fish_seen_subcommand_from %s' -a '%s'\n",
			       commands[i].name, list_of(commands[i].name, NULL) + 1);
	}
	printf("complete -c rooflinectl -n '__fish_seen_subcommand_from help' -f -a '%s'\n",
	       list_of("help", NULL) + 1);
}

/* ---- the command ---- */

static const struct {
	const char *name;
	void (*put)(void);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	void (**put)(void) = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		usage_init(state);
		return 0;
	case ARGP_KEY_ARG:
		if (*put)
			usage_fail(state, "one shell at a time, not also '%s'", argument);
		for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
			if (!strcmp(argument, shells[i].name))
				*put = shells[i].put;
		if (!*put)
			usage_fail(state, "no shell '%s'; there are: bash zsh fish", argument);
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state, "which shell? there are: bash zsh fish");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.parser = parse_option,
	.args_doc = "bash|zsh|fish",
	.doc = "Print what a shell completes the commands, options and values of rooflinectl by.\n\n"
	       "make install puts it where each of them looks.",
};

int cmd_completion(int argc, char **argv)
{
	void (*put)(void) = NULL;

	if (usage_parse(&parser, argc, argv, 0, &put))
		return EXIT_USAGE;
	put();
	return EXIT_OK;
}
