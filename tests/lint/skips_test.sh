#!/usr/bin/env bash
# Skipped tests: tests/tools/SkipSummary.pm counts them by reason before prove's own summary, and a style check that
# holds for one version of a tool skips with another.
source "$(dirname "$0")/common.bash"
skip_all_without prove

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# file NAME LINE...: a test file that prints these lines of TAP
file() {
	local name=$1
	shift
	printf '%s\n' '#!/bin/sh' "cat <<'END'" "$@" END >"$scratch/$name"
}

# summary JOBS FILE...: what prove prints once all files have run
summary() {
	local jobs=$1
	shift
	(cd "$scratch" && PERL5LIB=$tools prove -Q -j"$jobs" --norc --harness SkipSummary --exec sh "$@" 2>&1) |
		sed 's/^Files=.*/Files=/'
}

# same WANTED < is
same() {
	diff <(printf '%s\n' "$1") -
}

tools=$PWD/tests/tools
file one 1..4 'ok 1 first' 'ok 2 second # skip needs a terminal (/dev/pts)' 'ok 3 third # SKIP needs zsh' 'ok 4 # skip  needs a terminal (/dev/pts) '
file two 1..3 'ok 1 # skip needs zsh' 'ok 2 a name # skip needs a terminal (/dev/pts)' 'ok 3 # skip'
file whole '1..0 # SKIP no NVIDIA GPU'
file other '1..0 # SKIP no NVIDIA GPU'
file terminal '1..0 # SKIP needs a terminal (/dev/pts)'
file nothing 1..2 'ok 1 nothing is skipped' 'ok 2 a name that says # only'
file wrong 1..2 'not ok 1 wrong' 'ok 2 # skip needs zsh'

wanted='Skipped:
  3 tests, 1 file  needs a terminal (/dev/pts)
  2 tests          needs zsh
  1 test           no reason given
  2 files          no NVIDIA GPU
All tests successful.
Files=
Result: PASS'
for jobs in 1 4; do
	summary $jobs one two whole other terminal nothing | same "$wanted" |
		verdict "equal reasons are counted together, the most frequent first, with prove -j$jobs"
done
summary 1 nothing | grep Skipped | verdict "nothing is added where nothing is skipped"
summary 4 wrong one | { grep -E '^(Skipped:|  [0-9]+ tests +needs|Result: )'; } | same 'Skipped:
  2 tests  needs a terminal (/dev/pts)
  2 tests  needs zsh
Result: FAIL' | verdict "a failure is reported as before"
file printed 1..3 'not ok 1 - it holds' '# because' '# of this' 'ok 2' '# not of that' 'not ok 3 # todo later'
summary 1 printed | sed -n '/^Failed:/,/^$/p' | same 'Failed:
  printed: not ok 1 - it holds
    # because
    # of this
' | verdict "what a failed test printed stands before the summary"
mapfile -t lines < <(for i in {1..9}; do printf '%s\n' "not ok $i" '# '{1..12}; done)
file loud 1..9 "${lines[@]}"
summary 1 loud | sed -n '/^Failed:/,/^$/p' | { sed -n '11,13p;62,$p'; } | same '    # 9
    # 10
  loud: not ok 2
  and 39 more lines
' | verdict "ten lines of each test at most, and sixty of all"
{ grep -A1 '^prove  *= ' Makefile | grep -q -- '--harness SkipSummary ' || echo "the Makefile's prove has no --harness SkipSummary"; } |
	verdict "make check prints the reasons"

mkdir "$scratch/bin"
for tool in "${!holds_for[@]}"; do
	printf '%s\n' '#!/bin/sh' 'echo "Debian 99.1.2 (a build of 3.4)"' >"$scratch/bin/$tool"
	chmod +x "$scratch/bin/$tool"
	PATH=$scratch/bin:$PATH bash tests/lint/${tool#clang-}.sh
done 2>&1 | sort | same "1..0 # SKIP holds for clang-format 14; this is 99
1..0 # SKIP holds for clang-tidy 14; this is 99
1..0 # SKIP holds for cppcheck 2.10; this is 99.1.2" | verdict "a style check skips with another version of its tool, and names both"
finish
