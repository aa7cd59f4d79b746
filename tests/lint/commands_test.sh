#!/usr/bin/env bash
# tests/lint/commands.sh finds what it is for: in a scratch copy, each way to run a program runs one that no package of the
# Makefile has, and a package is taken out of its list.
source "$(dirname "$0")/common.bash"
skip_all_without dpkg-query
skip_all_without shfmt
skip_all_without python3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -a --parents Makefile setup.sh html tests/run tests/cli/common.bash tests/lint/common.bash tests/lint/commands.* "$scratch"
cd "$scratch" || exit 1
mkdir -p tests/recordings analyzer
touch tests/recordings/{graph_chain.{naive,graph},atomic_batch.naive}.roofline

# plant FILE LINE...: a file with these lines
plant() {
	mkdir -p "$(dirname "$1")"
	printf '%s\n' "${@:2}" >"$1"
}
plant tests/direct.sh 'absent_1 x | cat' 'echo "$(absent_2)"' 'command -v absent_not >/dev/null' 'own() { :; }' 'own' \
	'if true; then :; elif absent_3; then :; fi' 'sort <(absent_4)'
plant tests/wrapped.sh 'A=1 env -u B C=2 absent_5' 'timeout -k 1 2 nice -n 5 absent_6' "bash -c 'absent_7 \$0' x" \
	"trap 'absent_8' EXIT" 'find . -name x -exec absent_9 {} +' 'tool=absent_10' '$tool x' '"${PLACE:-absent_11}" x' 'xargs -n 1 absent_12'
plant tests/cli/planted.bash 'with_folder() { local folder=$1; shift; (cd "$folder" && "$@"); }'
plant tests/cli/planted.bats 'load planted' '@test "a sentence" {' '	run -0 absent_13 x' '	with_folder here absent_14' '}'
plant tests/planted.py 'import subprocess, os' 'subprocess.run(["absent_15", "x"])' 'os.system("absent_16 | cat")' \
	'subprocess.check_output(["env", "A=1", "absent_17"])'
plant tests/inner.sh "python3 - <<'END'" 'import subprocess' 'subprocess.run(["absent_18"])' END
plant tests/planted.c 'int f(void) { return execlp("absent_19", "x", (char *)0); }' 'int g(void) { return system("absent_20 x"); }' \
	'int h(char *const words[]) { return execvp(words[0], words); }' 'char *const words[] = {"absent_21", 0};'
plant tests/interpreted '#!/usr/bin/env absent_22'
plant html/planted.sh 'absent_23'
printf '%s\n' 'absent := $(shell absent_24 x 2>/dev/null)' 'demo: planted' 'planted:' '	absent_25 x | cat' >>Makefile

reported=$(bash tests/lint/commands.sh)
for number in {1..25}; do
	grep -q ": absent_$number is in no package" <<<"$reported" || echo "absent_$number is run and not reported"
done | verdict "a program is found in scripts, in strings, behind wrappers and functions, in Python, C and the Makefile"
grep -E 'own|absent_not' <<<"$reported" | verdict "what is only looked for, or is a function, is not"
{ grep -q 'zsh is excepted, and nothing needs that' <<<"$reported" || echo "no zsh is run here, and its exception is not reported"; } |
	verdict "an exception that nothing needs is reported"

plant tests/listed.sh 'zstd x' 'bats x' 'gnuplot x'
bash tests/lint/commands.sh | grep -F tests/listed.sh | verdict "what a listed package has is not reported"
for package in zstd bats gnuplot-nox; do
	sed "s/ $package:[a-z]*//" Makefile >Makefile.without
	cp Makefile.without Makefile
done
reported=$(bash tests/lint/commands.sh)
for command in zstd bats gnuplot; do
	grep -q "tests/listed.sh:.*: $command is in no package" <<<"$reported" || echo "$command is in no list any more and not reported"
done | verdict "and is as soon as that package is taken out of the list"
finish
