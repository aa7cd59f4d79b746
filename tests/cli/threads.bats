#!/usr/bin/env bats
# The threads that read a recording's tables.  Built with ThreadSanitizer (build/clang), a race between any two of
# them ends the program with 66.
load common

@test "recordings of all sorts are read by several threads" {
	for name in graph_chain.naive atomic_batch.naive; do
		"$ROOFLINECTL" report "$root/tests/recordings/$name.roofline" >"$BATS_TEST_TMPDIR/report"
		[ -s "$BATS_TEST_TMPDIR/report" ]
	done
}

@test "a large table is read in chunks, and what is found of it by slices" {
	"$BUILD/tests/tools/make_trace" "$BATS_TEST_TMPDIR/large" 140000
	"$ROOFLINECTL" report "$BATS_TEST_TMPDIR/large" --format json --ceilings "$root"/ceilings/NVIDIA_H200-*.json >"$BATS_TEST_TMPDIR/report"
	taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" \
		"$ROOFLINECTL" report "$BATS_TEST_TMPDIR/large" --format json --ceilings "$root"/ceilings/NVIDIA_H200-*.json >"$BATS_TEST_TMPDIR/of_one_core"
	cmp "$BATS_TEST_TMPDIR/report" "$BATS_TEST_TMPDIR/of_one_core"
}
