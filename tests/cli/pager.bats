#!/usr/bin/env bats
# What is longer than the terminal is shown by a pager.
load common

setup() {
	needs_terminal
	cd "$BATS_TEST_TMPDIR"
	recording="$root/tests/recordings/graph_chain.naive"
	export TERM=xterm LESS=
	unset NO_COLOR
	printf '#!/bin/sh\necho "paged by $0 $*"\ncat\n' >my_pager
	chmod +x my_pager
	export PAGER="$PWD/my_pager -x"
	small run 10000
}

# shown ROWS ARGUMENT...: what rooflinectl with the arguments shows on a terminal of so many rows
shown() {
	python3 "$root/tests/tools/on_terminal.py" "$1" 100 "$ROOFLINECTL" "${@:2}" </dev/null
}

@test "a report that is longer than the screen is shown by PAGER, with its colors and as wide as the terminal" {
	run -0 shown 20 report "$recording" -s kernels,devices,gaps
	[[ "$output" == "paged by $PWD/my_pager -x"*$'\033[1mGPU 0'* ]]
	PAGER=cat run -0 shown 20 report "$recording" -s kernels,devices,gaps
	[[ "$output" == $'\033[1mGPU 0'* ]]
	[ "$output" = "$(shown 1000 report "$recording" -s kernels,devices,gaps)" ]
}

@test "one that is not, one in a pipe, --no-pager, an empty PAGER, and a dumb terminal show it as it is" {
	run -0 shown 50 report run -s kernels
	[[ "$output" == *"Kernels"* && "$output" != *"paged by"* ]]
	run -0 "$ROOFLINECTL" report "$recording"
	[[ "$output" == "Verdict"* ]]
	run -0 shown 3 --no-pager report run -s kernels
	[[ "$output" == *"Kernels"* && "$output" != *"paged by"* ]]
	run -0 shown 3 report --no-pager run -s kernels
	[[ "$output" == *"Kernels"* && "$output" != *"paged by"* ]]
	PAGER='' run -0 shown 3 report run -s kernels
	[[ "$output" == *"Kernels"* && "$output" != *"paged by"* ]]
	TERM=dumb run -0 shown 3 report run -s kernels
	[[ "$output" == *"Kernels"* && "$output" != *"paged by"* ]]
}

@test "without the program that PAGER names the report is there" {
	PAGER=no-such-pager run -0 shown 3 report run -s kernels
	[[ "$output" == *"Kernels"*"saxpy"* ]]
}

@test "JSON and CSV are not paged" {
	for format in json csv; do
		run -0 shown 3 report run -s kernels -f "$format"
		[[ "$output" == *saxpy* && "$output" != *"paged by"* ]]
	done
}

@test "where less is not installed nothing is said of it" {
	mkdir bin
	ln -s "$(command -v env)" bin/env
	unset PAGER
	run -0 python3 "$root/tests/tools/on_terminal.py" 3 100 env PATH="$PWD/bin" "$ROOFLINECTL" report run -s kernels </dev/null
	[[ "$output" == $'\033[1mKernels'* && "$output" != *less* ]]
}

@test "a pager that is left at once, and one that fails, leave the exit code as it is" {
	PAGER=true run -0 shown 3 report run -s kernels
	[[ "$output" != *"Kernels"* ]]
	PAGER='exit 9' run -0 shown 3 report run -s kernels
	PAGER=true run -3 shown 3 verify --gate run run
	PAGER=true run -2 shown 3 report run -s nosuch
	[[ "$output" == *"no section 'nosuch'"* ]]
}

@test "a whole report shows its beginning at once, and a pager all of it" {
	run -0 shown 20 report "$recording"
	[[ "$output" == $'\033[1mGPU 0'*"paged by"*$'\033[1mGPU 0'*"As a page for a browser"* ]]
}

@test "less shows the first screen, and ends on q" {
	needs_command less
	unset LESS
	PAGER=less run -0 python3 "$root/tests/tools/on_terminal.py" 10 100 \
		"$ROOFLINECTL" report "$recording" -s kernels,devices <<<q
	[[ "$output" == *$'\033[1mGPU 0'* && "$output" != *"Kernels"* ]]
}

@test "help that is longer than the screen is paged as well" {
	run -0 shown 10 report --help
	[[ "$output" == "paged by"*"Usage: rooflinectl report"* ]]
}
