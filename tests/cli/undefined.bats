#!/usr/bin/env bats
# Behavior that C leaves undefined, as clang finds it without optimizing: gcc makes some of it vanish.  For the build of
# SANITIZE=clang, which ends at the first.
load common

setup() {
	[[ $BUILD == */clang ]] || skip "for the build in build/clang"
	cd "$BATS_TEST_TMPDIR"
}

# fine ARGUMENT...: whatever it answers, nothing undefined happened
fine() {
	"$ROOFLINECTL" "$@" >/dev/null 2>complaints || true
	! grep 'runtime error' complaints
}

@test "nothing undefined happens with recordings of all sorts" {
	for name in syncs atomic_batch.naive work_queue.naive.sampled nvtx_ranges copy_overlap.naive device_graph.tail \
		conditional_while.naive pytorch.naive; do
		fine report --format json "$root/tests/recordings/$name"
	done
	fine report --wide "$root/tests/recordings/pytorch.naive"
	fine whatif --graph --pinned --streams "$root/tests/recordings/copy_overlap.naive"
	fine verify "$root/tests/recordings/graph_chain.naive" "$root/tests/recordings/graph_chain.graph"
	fine plot "$root/tests/recordings/atomic_batch.naive" -o charts
}

@test "nothing undefined happens with times at the ends of what is allowed" {
	"$ROOFLINECTL" unpack "$root/tests/recordings/syncs.roofline" -o syncs
	python3 "$root/tests/tools/extreme_times.py" syncs moved
	for recording in moved/*; do
		fine report "$recording"
		fine plot --format term "$recording" timeline
		fine whatif --graph --streams "$recording"
		fine verify "$recording" syncs
	done
}
