#!/usr/bin/env bats
# rooflinectl demo
load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	# No driver answers in these tests, whatever the machine has.
	mkdir lib && : >lib/libcuda.so.1
	export LD_LIBRARY_PATH="$PWD/lib"
}

needs_recording() {
	[ -f "$BUILD/share/rooflinectl/recordings/graph_chain.naive.roofline" ] ||
		skip "no recording of graph_chain.naive is bundled"
}

@test "demo goes from the verdict by a prediction to its verification, draws charts and says what comes next" {
	needs_recording
	run "$ROOFLINECTL" demo
	[ "$status" -eq 0 ]
	[[ "$output" == *"bundled with rooflinectl"* ]]
	before=roofline-demo/graph_chain.naive.roofline after=roofline-demo/graph_chain.graph.roofline
	[[ "$output" == *"1. Record it"*"$ rooflinectl record -o $before -- graph_chain naive"*"2. "*"3. "*"4. The change"*"5. Record again"*"6. Was it true?"* ]]
	[[ "$output" == *"$("$ROOFLINECTL" report --section verdict,devices "$before")"*"$("$ROOFLINECTL" whatif --fewer-waits --graph "$before")"* ]]
	[[ "$output" == *"$("$ROOFLINECTL" verify "$before" "$after")"*"rooflinectl analyze -o DIR -- app args"* ]]
	grep -q '</html>' roofline-demo/report.html
	[ -s roofline-demo/roofline-timeline.svg ]
	for chart in roofline-demo/*.svg; do
		[[ "$output" == *"$chart"* ]]
	done
}

@test "demo shows roofs and atomics of a recording that has counters" {
	needs_recording
	counted="$BUILD/share/rooflinectl/recordings/atomic_batch.naive.roofline"
	run "$ROOFLINECTL" demo
	[ "$status" -eq 0 ]
	[[ "$output" == *"$("$ROOFLINECTL" report --section roofline "$counted")"* ]]
	[[ "$output" == *"$("$ROOFLINECTL" report --section atomics "$counted")"* ]]
	for chart in roofline atomics; do
		[[ "$output" == *"roofline-demo/counted/roofline-$chart.svg"* ]]
		grep -q batch_kernel "roofline-demo/counted/roofline-$chart.svg"
	done
}

@test "without the recording that has counters demo says where it should be" {
	needs_recording
	mkdir -p moved/bin moved/share/rooflinectl/recordings
	cp "$ROOFLINECTL" moved/bin/
	cp -r "$BUILD/share/rooflinectl/plots" moved/share/rooflinectl/
	cp "$BUILD/share/rooflinectl/recordings/graph_chain."*.roofline moved/share/rooflinectl/recordings/
	run moved/bin/rooflinectl demo
	[ "$status" -eq 1 ]
	[[ "$output" == *"no recording at "*"/moved/share/rooflinectl/recordings/atomic_batch.naive"* ]]
}

@test "demo works again where it has been before" {
	needs_recording
	"$ROOFLINECTL" demo
	run "$ROOFLINECTL" demo
	[ "$status" -eq 0 ]
}

@test "without the bundled recording demo says where it should be" {
	mkdir -p moved/bin
	cp "$ROOFLINECTL" moved/bin/
	run moved/bin/rooflinectl demo
	[ "$status" -eq 1 ]
	[[ "$output" == *"no recording at "*"/moved/share/rooflinectl/recordings/graph_chain.naive"* ]]
}

@test "demo where nothing can be written fails with one clear line" {
	: >roofline-demo
	run "$ROOFLINECTL" demo
	[ "$status" -eq 1 ]
	[[ "$output" == *"roofline-demo"* ]]
}

@test "demo takes no argument and says so" {
	run "$ROOFLINECTL" demo now
	[ "$status" -eq 2 ]
}

@test "what is bundled are the recordings that demo reads" {
	bundled=$(sed -n 's/^\tRECORDING([A-Z]*, "\([a-z_.]*\)".*/\1.roofline/p' "$root/analyzer/cmd/demo.c" | sort)
	[ -n "$bundled" ]
	[ "$bundled" = "$(ls "$BUILD/share/rooflinectl/recordings")" ]
}
