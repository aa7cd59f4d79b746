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
