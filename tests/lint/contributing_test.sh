#!/usr/bin/env bash
# CONTRIBUTING.md is true: in a scratch copy of the tree, one thing of each kind is added as its row says.  No
# other file is touched than the row names, the style checks that compare lists with documents pass, it builds,
# and the tool knows it.
source "$(dirname "$0")/common.bash"
command -v git >/dev/null || { echo "1..0 # SKIP git is not installed"; exit 0; }

root=$PWD
[ -x "$BUILD/bin/rooflinectl" ] || { echo "1..0 # SKIP build first: make"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -a --parents analyzer include collector workloads ceilings docs plots tests/lint tests/unit tests/cli tests/tools \
	Makefile README.md CONTRIBUTING.md "$scratch"
mkdir "$scratch/build"
cp -a "$BUILD/analyzer" "$BUILD/bin" "$BUILD/.flags" "$scratch/build" # so that only what changes is compiled
cd "$scratch" || exit 1
git init -q . && echo build >.gitignore && git add -A && git -c user.name=x -c user.email=x commit -qm before

# row KIND: the paths in the row of CONTRIBUTING.md's table that begins so, for a thing called planted
row() {
	grep -F "| $1 |" CONTRIBUTING.md | grep -oE '`[^`]*`' | tr -d '`' | grep -E '^[a-z]+/.*\.[a-z]+$|^[A-Z]+\.md$' |
		sed 's/foo/planted/'
}

# insert FILE REGEX LINE: a line behind the first that matches; a row of an X-macro before it
insert() {
	awk -v regex="$2" -v line="$3" '{ print } !done && $0 ~ regex { print line; done = 1 }
		END { exit !done }' "$1" >"$1.new" && cat "$1.new" >"$1" && rm "$1.new"
}

# a copy of something that exists, under the new name
rename() {
	sed "s/$1/planted/g" "$2" >"$3"
}

# added KIND: what was added since the last time, compared with the row
added() {
	local changed wanted
	changed=$(git add -A && git diff --cached --name-only | sort)
	wanted=$(row "$1" | sort -u)
	[ -n "$wanted" ] || echo "CONTRIBUTING.md has no row '$1'"
	comm -23 <(echo "$changed") <(echo "$wanted") | sed "s|^|adding $1 touches a file that its row does not name: |"
	comm -13 <(echo "$changed") <(echo "$wanted") | grep -v "$2" | sed "s|^|adding $1 does not touch what its row names: |"
	git -c user.name=x -c user.email=x commit -qm "$1"
}

# exact KIND [REGEX]: a verdict on that; REGEX are alternatives that the row names and that were not taken
exact() {
	added "$1" "${2-^$}" | verdict "$1 is in the files that its row names, and in no other"
}

cat >analyzer/cmd/planted.c <<-'END'
	/* planted.c - a command. */
	#include <stdio.h>

	#include "cmd/commands.h"

	int cmd_planted(int argc, char **argv)
	{
		(void)argv;
		puts("planted");
		return argc > 1 ? EXIT_USAGE : EXIT_OK;
	}
END
printf '# rooflinectl planted\n\n## Exit codes\n\n0 when it worked; 2 for wrong arguments.\n' >docs/commands/planted.md
insert analyzer/cmd/commands.h '^#define COMMANDS' '	COMMAND(planted, "a command") \'
exact "a subcommand"

rename late_module_load analyzer/advice/rules/late_module_load.c analyzer/advice/rules/planted.c
insert analyzer/advice/rules/rules.h '^#define RULES' '	RULE(planted, "a rule") \'
insert docs/commands/report.md '^\| `launch_bound_graph`' '| `planted` | none | a rule |'
exact "a recommendation"

rename kernels analyzer/charts/chart_kernels.c analyzer/charts/chart_planted.c
git show HEAD:analyzer/charts/chart_kernels.c | sed 's/chart_kernels/chart_planted/g' >analyzer/charts/chart_planted.c
cp plots/kernels.gp plots/planted.gp
insert analyzer/charts/charts.h '^#define CHARTS' '	CHART(planted, "a chart") \'
insert docs/commands/plot.md '^## Charts' $'\n**planted** shows a chart.'
exact "a chart"

insert analyzer/cmd/doctor_checks.h '^#define DOCTOR_CHECKS' '	CHECK(planted, NEED_NEVER, "planted") \'
cat >>analyzer/cmd/doctor_checks.c <<-'END'

	void doctor_check_planted(const struct doctor_system *system, struct doctor_finding *finding)
	{
		(void)system;
		finding_set(finding, DOCTOR_OK, "it is there");
	}
END
insert docs/commands/doctor.md '^\| driver ' '| planted | nothing | nothing |'
exact "a check of doctor"

rename pytorch workloads/pytorch.py workloads/planted.py
insert workloads/workloads.h '^#define WORKLOADS' '	WORKLOAD(planted, "Z1", "frameworks", 0, "a workload") \'
echo '# planted' >docs/workloads/planted.md
echo '[planted](docs/workloads/planted.md)' >>README.md
echo '[planted](../workloads/planted.md)' >>docs/commands/workloads.md
exact "a workload" 'workloads/planted.cu'

insert include/roofline/collector_env.h '^#define ROOFLINE_VARIABLES' '	VARIABLE(ENV_PLANTED, "ROOFLINE_PLANTED", "0", "a variable") \'
insert collector/options.c 'options->run = ' '	(void)variable_number(ENV_PLANTED, 1);'
insert docs/commands/record.md '^\| `ROOFLINE_OUTPUT`' '| `ROOFLINE_PLANTED` | `0` | a variable |'
exact "a variable of the collector"

rename preallocate analyzer/techniques/preallocate.c analyzer/techniques/planted.c
insert analyzer/techniques/techniques.h '^#define TECHNIQUES' '	TECHNIQUE(planted) \'
echo '/* test_technique_planted.c */' >tests/unit/test_technique_planted.c
exact "a technique to re-simulate"

rename test_search tests/unit/test_search.c tests/unit/test_planted.c 2>/dev/null || echo 'int main(void) { return 0; }' >tests/unit/test_planted.c
exact "a unit test"

printf '#!/usr/bin/env bats\nload common\n' >tests/cli/planted.bats
exact "a command-line test"

printf '#!/usr/bin/env bash\nsource "$(dirname "$0")/common.bash"\nverdict "nothing" </dev/null\nfinish\n' >tests/lint/planted.sh
exact "a style check"

# With -o the objects that were copied stay, although they were compiled with other flags.
{ make -s -j"$(nproc)" -o build/.flags CFLAGS=-O0 BUILD=build build/bin/rooflinectl 2>&1 || echo "does not build"; } | grep -E 'error|does not build' |
	verdict "what was added so builds"

tool=$scratch/build/bin/rooflinectl
lacks() { # WHAT WORD COMMAND...
	local what=$1 word=$2
	shift 2
	"$tool" "$@" 2>&1 | grep -q -- "$word" || echo "rooflinectl $* does not know $what"
}
{
	lacks "the command" planted --help
	[ "$("$tool" planted)" = planted ] || echo "rooflinectl planted does not run"
	lacks "the chart" planted plot --help
	lacks "the check" planted doctor
	lacks "the workload" planted workloads
	grep -qa ROOFLINE_PLANTED "$tool" || echo "the variable is not in it"
	lacks "the technique" planted whatif --list
	grep -qa rule_planted "$tool" || echo "the rule is not in it"
} | verdict "the tool knows each thing that was added"

for lint in lists modules planted; do
	BUILD=/nonexistent bash tests/lint/$lint.sh 2>&1 | grep -A3 '^not ok' | sed "s/^/$lint.sh: /"
done | verdict "the lists, the modules and the new style check pass with them"
cd "$root" || exit 1
finish
