#!/usr/bin/env bats
# What cannot be written: told in one line with exit code 1, and no part of it stays under its name.
load common

setup() {
	mkdir "$BATS_TEST_TMPDIR/here" # bats keeps files of its own beside it
	cd "$BATS_TEST_TMPDIR/here"
	recording="$root/tests/recordings/syncs.roofline"
	export TMPDIR="$BATS_TEST_TMPDIR"
}

# told TEXT: one line on stderr, which holds the text
told() {
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl"*": "*"$1"* ]]
}

# to_full ARGUMENT...: with stdout on a disk that is always full
to_full() {
	run -1 --separate-stderr bash -c '"$@" >/dev/full' bash "$ROOFLINECTL" "$@"
	told "No space left on device"
}

# beyond KIB ARGUMENT...: where no file may be longer
beyond() {
	run -1 --separate-stderr bash -c 'ulimit -f "$1"; shift; "$@"' bash "$1" "$ROOFLINECTL" "${@:2}"
	[ -z "$output" ]
	told "${why-File too large}"
}

@test "a full disk behind stdout is told by every command that prints" {
	local after="$root/tests/recordings/graph_chain.graph.roofline"
	local before="$root/tests/recordings/graph_chain.naive.roofline"
	for format in text json csv; do
		to_full report --format $format "$recording"
	done
	to_full advise "$recording"
	to_full whatif --graph "$before"
	to_full whatif --list
	to_full verify "$before" "$after"
	to_full verify --format json "$before" "$after"
	to_full plot --format term "$recording" timeline
	to_full ceilings --show --format json "$root"/ceilings/NVIDIA_H200-*.json
	to_full workloads
	to_full --help
}

@test "a report that cannot be written whole leaves the file that was there, and nothing beside it" {
	echo before >report.json
	beyond 1 report --format json -o report.json "$recording"
	[ "$(cat report.json)" = before ]
	beyond 1 report -o new.txt "$recording"
	[ "$(ls)" = report.json ]
}

@test "a report goes through a link, and into what is no file" {
	echo before >target
	chmod 640 target
	ln -s target link
	"$ROOFLINECTL" report -o link "$recording"
	[ -L link ]
	[ "$(stat -c %a target)" = 640 ]
	cmp target <("$ROOFLINECTL" report "$recording")
	"$ROOFLINECTL" report -o /dev/stdout "$recording" | cmp target -
	run -1 --separate-stderr "$ROOFLINECTL" report -o /dev/full "$recording"
	told "No space left on device"
}

@test "a picture that cannot be written whole is none: neither this one nor an old one" {
	needs_command gnuplot
	"$ROOFLINECTL" unpack "$recording" -o folder
	for format in svg png pdf; do
		echo old >roofline-kernels.$format
		why="" beyond 4 plot -o . --format $format folder kernels # gnuplot may be the one that cannot write its fonts
		[ "$(ls -A)" = folder ]
	done
}

@test "columns for gnuplot that cannot be written are told, and their folder goes" {
	"$ROOFLINECTL" unpack "$recording" -o folder
	beyond 1 plot folder timeline
	[[ "$stderr" == *"set TMPDIR"* ]]
	[ -z "$(ls "$TMPDIR" | grep rooflinectl)" ]
}

@test "a recording that cannot be packed or unpacked whole is none" {
	"$ROOFLINECTL" unpack "$recording" -o folder
	beyond 1 pack folder
	beyond 1 unpack "$recording" -o other
	[ "$(ls -A)" = folder ]
}

@test "a terminal that is gone is no full disk: nothing printed, nothing told" {
	run -0 --separate-stderr bash -c '"$@" >&-' bash "$ROOFLINECTL" report -o report.txt "$recording"
	[ -z "$stderr" ]
}

@test "every command that cannot write more tells so, or writes all; no file is cut short, on a small disk neither" {
	[[ $BUILD != */sanitized ]] || skip "the plain build is enough"
	run "$root/tests/faults/no_space.sh" --disk 1
	[ "$status" -eq 0 ] || { echo "$output" | grep -v 'smaller limits'; false; }
}
