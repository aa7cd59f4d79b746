#!/usr/bin/env bats
# rooflinectl record: the program runs as without it, with the collector inside.

load common

# kernels: rows of kernels.csv of all processes
kernels() {
	tail -q -n +2 "$recording"/*/kernels.csv | wc -l
}

@test "stdout and the exit code are the program's own, and the recording is where -o says" {
	capture bare "$app" cuda kernels:5 exit:7
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 exit:7
	cmp bare.out with.out
	[ "$(cat with.status)" -eq 7 ]
	[ "$(kernels)" -eq 5 ]
	grep -q "rooflinectl report $recording" with.err
}

@test "a relative -o is meant from where record was started" {
	capture with "$ROOFLINECTL" record -o here -- env -C / "$app" cuda kernels:5
	[ "$(cat with.status)" -eq 0 ]
	[ -e "$BATS_TEST_TMPDIR"/here/*/kernels.csv ]
}

@test "a program that ends with _exit loses nothing" {
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 _exit:4
	[ "$(cat with.status)" -eq 4 ]
	[ "$(kernels)" -eq 5 ]
	grep -q sealed_ns "$recording"/*/process.csv
}

@test "a program that a signal ends ends record with it" {
	capture with "$ROOFLINECTL" record -o "$recording" -- sh -c 'kill -TERM $$'
	[ "$(cat with.status)" -eq 143 ]
}

@test "options reach the collector" {
	capture with "$ROOFLINECTL" record -o "$recording" --kernels unlike --graphs=graph -- \
		"$app" cuda kernels:5 name:_Z6unlikev kernels:6
	[ "$(kernels)" -eq 6 ]
	grep -q '^graphs,graph$' "$recording"/*/process.csv
}

@test "a program without CUDA is told to have left nothing" {
	capture with "$ROOFLINECTL" record -o "$recording" -- true
	[ "$(cat with.status)" -eq 0 ]
	grep -q "nothing was recorded" with.err
	[ ! -e "$recording" ]
}

@test "wrong arguments exit with 2, a program that is not there with 127" {
	run "$ROOFLINECTL" record
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" record --graphs=both -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"--graphs takes node or graph, not 'both'"* ]]
	run "$ROOFLINECTL" record --delay soon -- true
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" record --kernels '(' -- true
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" record --api=some -- true
	[ "$status" -eq 2 ]
	capture with "$ROOFLINECTL" record -- no-such-program
	[ "$(cat with.status)" -eq 127 ]
	grep -q "cannot run no-such-program" with.err
}
