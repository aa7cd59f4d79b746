#!/usr/bin/env bats
# A single allocation that fails, in some of all the places: tests/faults/no_memory.sh (make faults) tries many more.
load common

@test "a command that finds no memory for something says so on one line, or answers as ever" {
	[[ $BUILD != */sanitized ]] || skip "the sanitizer's allocator cannot be replaced"
	run "$root/tests/faults/no_memory.sh" 2
	[ "$status" -eq 0 ] || { grep -v " failed$" <<<"$output"; false; }
}

@test "pack that finds no memory to list a folder says so, and packs no other order" {
	[[ $BUILD != */sanitized ]] || skip "the sanitizer's allocator cannot be replaced"
	cd "$BATS_TEST_TMPDIR"
	"$ROOFLINECTL" unpack -o folder "$root/tests/recordings/graph_chain.naive.roofline"
	"$ROOFLINECTL" pack -o whole.roofline folder
	for at in {1..60}; do
		run env LD_PRELOAD="$BUILD/tests/tools/libfail_malloc.so" FAIL_AT="$at" "$ROOFLINECTL" pack -o made.roofline folder
		if [ "$status" -eq 0 ]; then
			cmp whole.roofline made.roofline
			rm made.roofline
		else
			[ "$status" -eq 1 ]
			[ "${#lines[@]}" -eq 1 ]
			[ ! -e made.roofline ]
		fi
	done
}

@test "a job that finds no memory to list its ranks is told so, and is not taken for one rank" {
	[[ $BUILD != */sanitized ]] || skip "the sanitizer's allocator cannot be replaced"
	cd "$BATS_TEST_TMPDIR"
	python3 "$root/tests/tools/make_job.py" job --ranks 2 --steps 8
	"$ROOFLINECTL" report --section processes job >whole
	for at in {1..40}; do
		run --separate-stderr env LD_PRELOAD="$BUILD/tests/tools/libfail_malloc.so" FAIL_AT="$at" "$ROOFLINECTL" report --section processes job
		[ "$status" -eq 1 ] || { [ "$status" -eq 0 ] && diff whole - <<<"$output"; }
		[ "$status" -eq 0 ] || [ "${#stderr_lines[@]}" -eq 1 ]
	done
}
