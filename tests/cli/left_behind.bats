#!/usr/bin/env bats
# What a signal leaves behind: nothing; and what stands twice in a recording counts once.
load common

setup() {
	mkdir "$BATS_TEST_TMPDIR/here" "$BATS_TEST_TMPDIR/tmp"
	cd "$BATS_TEST_TMPDIR/here"
	export TMPDIR="$BATS_TEST_TMPDIR/tmp"
	packed="$root/tests/recordings/syncs.roofline"
}

# ended_by SIGNAL PID: sends it, and the process ends by it
ended_by() {
	local code=0
	kill -"$1" "$2"
	wait "$2" || code=$? # not by run: its shell is no parent of the process
	[ "$code" -eq $((128 + $(kill -l "$1"))) ]
}

# until_there PATTERN: waits for a file of that name, and until who made it has gone on
until_there() {
	for _ in $(seq 600); do
		compgen -G "$1" >/dev/null && sleep 0.5 && return
		sleep 0.05
	done
	return 1
}

@test "a signal while gnuplot draws leaves no folder of columns and no part of a picture" {
	mkdir bin
	printf '#!/bin/sh\ntouch "%s/drawing"\nexec sleep 30 3>&-\n' "$PWD" >bin/gnuplot
	chmod +x bin/gnuplot
	for signal in TERM INT HUP; do
		rm -f drawing
		# a shell that is no terminal's starts what runs beside it with INT ignored
		PATH="$PWD/bin:$PATH" env --default-signal=INT "$ROOFLINECTL" plot -o pictures "$packed" kernels &
		until_there drawing
		ended_by $signal $!
		[ -z "$(ls -A pictures "$TMPDIR" | grep -v ':$' | grep .)" ]
	done
}

@test "a signal while a recording is unpacked leaves no part of it" {
	mkfifo pipe
	"$ROOFLINECTL" unpack - -o folder <pipe &
	exec 9>pipe
	head -c 3000 "$packed" >&9
	until_there '.folder.*'
	ended_by TERM $!
	exec 9>&-
	[ "$(ls -A)" = pipe ]
}

@test "a process folder that a link names as well counts once" {
	"$ROOFLINECTL" unpack "$packed" -o once
	cp -r once twice
	ln -s "$(cd twice && ls)" twice/other.7
	diff <("$ROOFLINECTL" report --format csv --section processes once) \
		<("$ROOFLINECTL" report --format csv --section processes twice)
	diff <("$ROOFLINECTL" report --format csv once) <("$ROOFLINECTL" report --format csv twice)
}

@test "a process folder that was copied counts once, under the name that it was recorded as, and that is told in a line" {
	"$ROOFLINECTL" unpack "$packed" -o once
	own=$(ls once)
	cp -r once twice
	cp -r "once/$own" twice/a-copy # before it, by name
	cp -r "once/$own" twice/z-copy
	diff <("$ROOFLINECTL" report --format csv once) <("$ROOFLINECTL" report --format csv twice)
	diff <("$ROOFLINECTL" report --format csv --section processes once) \
		<("$ROOFLINECTL" report --format csv --section processes twice)
	run -0 "$ROOFLINECTL" report --section losses twice
	[ "$(grep -c 'copied_processes' <<<"$output")" -eq 1 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"$own/process.csv: a-copy holds the same process, which counts once"* ]]
	"$ROOFLINECTL" pack twice
	diff <("$ROOFLINECTL" report --format csv once) <("$ROOFLINECTL" report --format csv twice.roofline)
}
