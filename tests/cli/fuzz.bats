#!/usr/bin/env bats
# Untrusted bytes, as tests/fuzz gives them to every part that reads such: what the fuzzing begins with, and what it found.
load common

setup_file() {
	load common
	python3 "$root/tests/fuzz/seeds.py" "$ROOFLINECTL" "$BATS_FILE_TMPDIR/seeds"
}

setup() {
	cd "$root" # a target reads a recording
	export TMPDIR="$BATS_TEST_TMPDIR"
}

# survives TARGET FILE...: all of them, without a word of a sanitizer
survives() {
	FUZZ_TARGET=$1 timeout 60 "$BUILD/fuzz/fuzz" "${@:2}" >/dev/null 2>"$TMPDIR/log" && return
	tail -40 "$TMPDIR/log"
	return 1
}

@test "the seeds of every target are survived" {
	local targets
	mapfile -t targets < <(sed -n 's/^\tTARGET(\([a-z]*\),.*/\1/p' tests/fuzz/targets.h)
	[ "${#targets[@]}" -ge 6 ]
	for target in "${targets[@]}"; do
		survives "$target" "$BATS_FILE_TMPDIR/seeds/$target"/*
	done
}

@test "every table, with bytes damaged here and there, is survived by every command" {
	local FUZZ_DAMAGE=5
	export FUZZ_DAMAGE
	survives recording "$BATS_FILE_TMPDIR"/seeds/recording/every_table.*
}

@test "every input that once ended the program is survived" {
	for file in tests/fuzz/found/*.*; do
		survives "$(basename "${file%%.*}")" "$file"
	done
}
