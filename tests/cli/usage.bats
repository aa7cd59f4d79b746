#!/usr/bin/env bats
# Wrong arguments, and a stdout that takes nothing: the same for every command.

load common

# wrong ARGUMENT...: exit code 2, one line on stderr, nothing on stdout
wrong() {
	run -2 --separate-stderr "$ROOFLINECTL" "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == rooflinectl* ]]
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p recording/host.7
	printf 'key,value\nschema,1\n' >recording/host.7/process.csv
}

@test "no command, and one that there is not" {
	wrong
	wrong nosuch
	wrong ''
	wrong --nosuch
}

@test "a command is found by the name that other tools give it, and an option is not taken for one that has nothing of it" {
	wrong diff one two
	[[ "$stderr" == "rooflinectl: no command 'diff', did you mean 'compare'?; "* ]]
	for wrong in version=--version -v=--version --no-page=--no-pager; do
		run -2 --separate-stderr "$ROOFLINECTL" "${wrong%%=*}"
		[[ "$stderr" == "rooflinectl: no command '${wrong%%=*}', did you mean '${wrong#*=}'?; "* ]]
	done
	wrong report --gaps
	[[ "$stderr" == "rooflinectl report: unrecognized option '--gaps'; "* ]]
	wrong report --formt text
	[[ "$stderr" == *"did you mean '--format'?"* ]]
}

@test "an unknown option of every command" {
	for command in analyze record report advise whatif verify plot workloads ceilings doctor demo; do
		wrong "$command" --nosuch
		wrong "$command" -Z
	done
}

@test "an option without its value" {
	wrong report --format
	wrong advise --range
	wrong whatif --ceilings
	wrong plot --from
	wrong record -o
}

@test "values that do not fit" {
	wrong report recording --format xml
	wrong report recording --section nosuch
	wrong report recording --top 0
	wrong plot recording --format jpg
	wrong plot recording --from x
	wrong plot recording --to nan
	wrong plot recording --from 5 --to 3
	wrong record --graphs x -- true
	wrong record --kernels '(' -- true
	wrong record --delay -1 -- true
	wrong record --api x -- true
	wrong ceilings --format xml
	wrong ceilings --only nosuch
	wrong ceilings --only ''
}

@test "arguments too many or too few" {
	wrong report recording recording
	wrong plot nosuch
	wrong doctor x
	wrong demo x
	wrong ceilings one.json two.json
	wrong ceilings one.json --quick
	wrong record
}

@test "an answer that cannot be written is a failure" {
	for command in "--version" "--help" "workloads" "report recording"; do
		run -1 bash -c "'$ROOFLINECTL' $command >/dev/full"
		[[ "$output" == *"No space left on device"* ]]
	done
}

@test "a program that cannot be started gets that one line" {
	[ -e "$BUILD/lib/librooflinecollector.so" ] || skip "the collector was not built"
	run -127 --separate-stderr "$ROOFLINECTL" record -- ./nosuch
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"cannot run ./nosuch: No such file or directory" ]]
}
