#!/usr/bin/env bats
# rooflinectl import of files that lack something, or cannot be true: nothing false is made of them.
bats_require_minimum_version 1.5.0
load common

setup() {
	mkdir "$BATS_TEST_TMPDIR/here" # bats keeps files of its own next to it
	cd "$BATS_TEST_TMPDIR/here"
}

# make kineto|nsys FILE PYTHON
make() {
	python3 "$root/tests/tools/small_traces.py" "$@"
}

# imported FILE...: the recording d; what import printed in $output
imported() {
	rm -rf d
	run -0 "$ROOFLINECTL" import "$@" -o d
}

# refused TEXT FILE...: exit code 1, one line on stderr, which holds the text, and nothing left
refused() {
	run -1 --separate-stderr "$ROOFLINECTL" import "${@:2}" -o refused
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl import: "*"$1"* ]] || { echo "$stderr"; false; }
	[ -z "$(ls -A | grep refused)" ]
}

# holds TEXT: $output holds it, however its lines are broken
holds() {
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"$1"* ]] || { echo "$output"; echo "lacks: $1"; false; }
}

@test "a recording without a process id or program is undamaged and the same work as itself" {
	cp "$root/tests/recordings/foreign/rocprofv3/4711_kernel_trace.csv" app_kernel_trace.csv
	make kineto gpu.json 'for i in range(3): kernel(1 + i, 100 * i)'
	make kineto copies.json 'for i in range(3): copy(1 + i, 100 * i, kind="DtoD (Device -> Device)")'
	for file in app_kernel_trace.csv gpu.json copies.json; do
		imported $file
		! grep -q '^pid,' d/*/process.csv
		run -0 "$ROOFLINECTL" report d
		holds "Lost: nothing"
		run -0 "$ROOFLINECTL" compare --gate 5 d d
		[[ "$output" != *"not the same work"* ]]
	done
}
