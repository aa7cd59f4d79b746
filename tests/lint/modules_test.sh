#!/usr/bin/env bash
# tests/lint/modules.sh finds what it is for: in a scratch copy, each module gets a file that breaks each
# rule, and every one of them must be reported.
source "$(dirname "$0")/common.bash"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -a --parents analyzer collector try include workloads/*.h workloads/*.cu* workloads/ceilings tests/lint "$scratch"
wanted=$scratch/wanted # lines: RULE <tab> FILE that has to be under it

# plant RULE FILE TEXT: a file that breaks the rule
plant() {
	printf '%s\n' "$3" >"$scratch/$2"
	printf '%s\t%s\n' "$1" "$2" >>"$wanted"
}

modules=$(sed -n "/<<-'END'/,/^[[:space:]]*END/p" tests/lint/modules.sh | grep '|' | sed -E 's/^[[:space:]]+//; s/ *\| */|/g')
while IFS='|' read -r folder allowed must_not; do
	[ -d "$folder" ] || continue
	case $folder in # a header of ours that this module must not name
	analyzer/cmd | workloads*) header=collector/log.h ;;
	*) header=cmd/commands.h ;;
	esac
	plant "$folder includes only" "$folder/planted_include.c" "#include \"$header\""
	for inside in $allowed; do # by a detour through a folder that it may name
		[[ $inside == */ ]] || continue
		plant "$folder includes only" "$folder/planted_detour_${inside//\//_}.c" "#include \"$inside../$header\""
	done
	for rule in $must_not; do
		case $rule in
		print)
			plant "nothing in the analyzer prints" "$folder/planted_print.c" 'void f(void) { printf("x"); }'
			plant "nothing in the analyzer prints" "$folder/planted_stderr.c" 'void f(void) { fputs("x", stderr); }'
			;;
		exit) plant "nothing in the analyzer exits" "$folder/planted_exit.c" 'void f(void) { exit(1); }' ;;
		world)
			plant "are pure" "$folder/planted_file.c" 'void f(void) { fopen("x", "r"); }'
			plant "are pure" "$folder/planted_environment.c" 'void f(void) { getenv("x"); }'
			plant "are pure" "$folder/planted_clock.c" 'void f(void) { time(NULL); }'
			;;
		rows)
			plant "see the profile" "$folder/planted_reader.c" '#include "trace/reader.h"'
			plant "see the profile" "$folder/planted_schema.c" '#include "roofline/trace_schema.h"'
			;;
		*) echo "modules.sh has a rule $rule that modules_test.sh does not test" ;;
		esac
	done
	case $folder in
	analyzer/* | include) plant "no CUDA header" "$folder/planted_cuda.h" '#include <cuda_runtime.h>' ;;
	esac
	[ "$folder" = collector ] ||
		plant "only the collector includes CUPTI" "$folder/planted_cupti.h" '#include <cupti.h>'
	case $folder in
	analyzer/* | include | collector) plant "share no .c file" "$folder/planted_c.h" '#include "other.c"' ;;
	esac
done <<<"$modules" | verdict "each rule of modules.sh has its violations here"

plant "never ends the application" collector/planted_exit.c 'void f(void) { _exit(1); }'
plant "never writes to stdout" collector/planted_stdout.c 'void f(void) { printf("x"); }'
plant "only collector/log.c writes to stderr" collector/planted_stderr.c 'void f(void) { fputs("x", stderr); }'
plant "installs no signal handler" collector/planted_signal.c 'void f(void) { signal(2, 0); }'
plant "prints nothing and never ends" try/planted_print.c 'void f(void) { puts("x"); }'
plant "prints nothing and never ends" try/planted_exit.c 'void f(void) { exit(1); }'
plant "main.c includes only" analyzer/main.c '#include "base/paths.h"'
mkdir "$scratch/analyzer/unknown"
plant "every source file lies in a module" analyzer/unknown/planted.c 'int x;'

result=$(bash "$scratch/tests/lint/modules.sh")

# reported RULE FILE: FILE is named below the verdict of RULE, which must be "not ok"
reported() {
	awk -v rule="$1" -v file="$2" '
		/^(not )?ok / { on = /^not / && index($0, rule) }
		on && /^#/ && index($0, file) { found = 1 }
		END { exit !found }' <<<"$result"
}

while IFS=$'\t' read -r rule file; do
	reported "$rule" "$file" || echo "$file breaks '$rule' and is not reported"
done <"$wanted" | verdict "each of $(wc -l <"$wanted") planted violations is reported under its rule"

grep '^ok' <<<"$result" | verdict "no rule was left without a violation"

find analyzer collector include workloads -type d | while read -r folder; do
	[ "$(find "$folder" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.cu*' | wc -l)" -eq 0 ] ||
		awk -F'|' -v file="$folder/" 'index(file, $1 "/") == 1 { found = 1 } END { exit !found }' <<<"$modules" ||
		[ "$folder" = analyzer ] || echo "$folder has no row in modules.sh"
done | verdict "each folder with sources has its row in modules.sh"
finish
