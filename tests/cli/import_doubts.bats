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

@test "launches whose kernels were dropped are lost: no cause and no prediction is made of the time around them" {
	make kineto dropped.json 'run(40)
for correlation in range(1010, 1030): events.remove(next(e for e in events if e["cat"] == "kernel" and e["args"]["correlation"] == correlation))'
	imported dropped.json
	run -0 "$ROOFLINECTL" report d
	holds "20 of 40 launches have no operation in the file, so that what looks idle may be work"
	holds "none is predicted: 20 launches have no operation in the imported file"
	holds "Lost: 20 lost_operations"
	run -0 "$ROOFLINECTL" report d --format json
	python3 -c '
import json, sys
report = json.load(sys.stdin)
gap = report["gaps"][0]
assert gap["by_cause"]["unknown"] == gap["duration_ns"], gap
assert gap["duration_ns"] > 1000000, gap' <<<"$output"
}

@test "launches into a graph, that failed or at the ends of a file leave no hole: their kernels are not expected" {
	make kineto captured.json 'run(20)
call("cudaStreamBeginCapture", 3000, 1510.0, dur=2.0)
for i in range(5): launch(3001 + i, 1513.0 + 4.0 * i, dur=3.0)
call("cudaStreamEndCapture", 3010, 1540.0)
launch(4000, 500.0); launch(4001, 5000.0)'
	imported captured.json
	run -0 "$ROOFLINECTL" report d
	holds "Lost: 2 lost_operations"
	[[ "$output" != *"may be work"* ]]
	make nsys failed.sqlite 'for i in range(9): launch(1 + i, 1000000 + 50000 * i); kernel(1 + i, 1010000 + 50000 * i)
launch(50, 1030000); file.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 701 WHERE correlationId = 50")'
	imported failed.sqlite
	run -0 "$ROOFLINECTL" report d
	holds "Lost: nothing"
}

@test "a GPU's clock ahead of the host's is said, and no cause or prediction is finer than that" {
	make kineto early.json 'run(40)
for e in events:
    if e["cat"] == "kernel": e["ts"] -= 500'
	imported early.json
	run -0 "$ROOFLINECTL" report d
	holds "operations begin up to 490 us before their launches: the clocks of host and GPU differ"
	holds "none is predicted: 40 operations begin before the calls that launched them, by up to 490 us"
	[[ "$output" != *"host compute"* && "$output" != *"of its own code"* ]]
	run -0 "$ROOFLINECTL" report d --section devices --format json
	python3 -c '
import json, sys
device = json.load(sys.stdin)["devices"][0]
assert device["idle_by_cause"]["unknown"] == device["idle_ns"] > 0, device' <<<"$output"
	make kineto once.json 'run(40); events[21]["ts"] -= 500'
	imported once.json
	run -0 "$ROOFLINECTL" report d --section losses
	holds "an operation begins 490 us before the call that launched it"
}

@test "operations of one stream that overlap are named with their stream and left out, graphs and dependent launches are not" {
	make kineto overlap.json 'run(20); events[7]["dur"] = 1600000.0'
	imported overlap.json
	run -0 "$ROOFLINECTL" report d
	holds "stream 7: an operation of 1.60 s overlaps 16 others of its stream, by up to 30.0 us"
	holds "1 operation of impossible time is left out"
	holds "none is predicted: 1 operation of the imported file has an impossible time"
	make kineto graph.json 'run(20)
launch(5000, 3000.0, name="cudaGraphLaunch")
for i in range(4): kernel(5000, 3010.0 + i, **{"graph node id": (1 << 32) + i})
launch(5001, 3100.0, name="cudaLaunchKernelExC"); launch(5002, 3105.0, name="cudaLaunchKernelExC")
kernel(5001, 3110.0); kernel(5002, 3130.0)'
	imported graph.json
	run -0 "$ROOFLINECTL" report d --section losses
	[[ "$output" == "Lost: nothing"* ]]
}

@test "without host events nothing is said of launches: the cause of a late rank is unknown" {
	for rank in 0 1; do
		make kineto gpu$rank.json 'for i in range(8): kernel(100 + i, 1000.0 + 1000 * i + 150 * '$rank', dur=300.0 - 150 * '$rank', device='$rank', name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
trace["distributedInfo"] = {"rank": '$rank', "world_size": 2}'
	done
	imported gpu0.json gpu1.json
	run -0 "$ROOFLINECTL" report d
	holds "rank 1 comes last in 8 of 8 collectives; the others wait 1.20 ms for it in all, 150 us at most: the recording does not show why (100.0%)"
	holds "what launching costs is not known: no launch was recorded"
	for rank in 0 1; do
		make kineto host$rank.json "$(sed 's/; *$//' <<<'for i in range(8):
    at = 1000.0 + 1000 * i + 150 * '$rank'
    launch(100 + i, at - 10, pid=600 + '$rank'); kernel(100 + i, at, dur=300.0 - 150 * '$rank', device='$rank', name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
trace["distributedInfo"] = {"rank": '$rank', "world_size": 2}')"
	done
	imported host0.json host1.json
	run -0 "$ROOFLINECTL" report d
	holds "150 us at most: its host launched later (100.0%)"
}

@test "JSON that is damaged is refused with its byte and event; control characters and numbers that are none are let through" {
	make kineto whole.json 'run(9)
events.append({"ph": "X", "cat": "python_function", "name": "nameHERE", "pid": 100, "tid": 100, "ts": 1, "dur": 1, "args": {"bandwidth": 77777}})
copy(1000, 3000.0)'
	for number in NaN inf -inf Infinity -Infinity nan; do
		sed "s/77777/$number/" whole.json >"./$number.json"
		imported "./$number.json"
	done
	sed 's/nameHERE/a\x01b\x1f"/; s/b\x1f"/b\x1f/' whole.json >control.json
	imported control.json
	sed 's/nameHERE/a\nb/' whole.json >newline.json
	imported newline.json
	sed '1s/^/\xef\xbb\xbf/' whole.json >bom.json
	imported bom.json
	sed 's/"ts": 1010.0/"ts": NaN/' whole.json >time.json
	imported time.json
	run -0 "$ROOFLINECTL" report d --section losses
	[[ "$output" == *"1 invalid_times"* ]]
	sed 's/{"ph": "X", "cat": "kernel"/{"ph":, &/5' whole.json >interleaved.json
	at=$(grep -bo '{"ph":,' interleaved.json | cut -d: -f1)
	refused "interleaved.json: no JSON, or cut off, at byte $((at + 7)), line 1, in event 10 of traceEvents: " interleaved.json
	sed 's/, /,\n/g' whole.json | head -c 2900 >cut.json
	refused "cut.json: no JSON, or cut off, at byte 2900, line $(($(tr -cd '\n' <cut.json | wc -c) + 1)), in event" cut.json
}

# Where a block of the reader ends in the middle of the word.
@test "a number that is none is found wherever it stands in a large file" {
	for pad in 262140 262141 262142 262143 262144; do
		python3 -c '
import sys
head = "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 2}], \"a\": \""
print(head + "x" * (int(sys.argv[1]) - len(head) - 7) + "\", \"b\": -Infinity, \"c\": 1}")' $pad >large.json
		imported large.json
	done
}

@test "calls of one microsecond are all counted where times are whole microseconds" {
	make kineto rounded.json 'run(3, step=50.0)
for i in range(10): call("cudaDeviceGetAttribute", 9000 + i, 10 + i // 4, 0)
call("cudaFuncGetAttributes", 9100, 20, 1); call("cudaFuncGetAttributes", 9101, 21, 0); call("cuFuncGetAttribute", 9102, 20, 1)'
	imported rounded.json
	run -0 "$ROOFLINECTL" report d --section api --format csv
	[[ "$output" == *"cudaDeviceGetAttribute,10,"* ]]
	[[ "$output" == *"cudaFuncGetAttributes,2,"* ]]
	[[ "$output" != *cuFuncGetAttribute* ]]
	run -0 "$ROOFLINECTL" report d --section losses
	[[ "$output" == "Lost: nothing"* ]]
}
