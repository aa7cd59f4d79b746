#!/usr/bin/env bats
# rooflinectl import of files that lack something, or cannot be true: nothing false is made of them.
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
	refused_import "interleaved.json: no JSON, or cut off, at byte $((at + 7)), line 1, in event 10 of traceEvents: " interleaved.json
	sed 's/, /,\n/g' whole.json | head -c 2900 >cut.json
	refused_import "cut.json: no JSON, or cut off, at byte 2900, line $(($(tr -cd '\n' <cut.json | wc -c) + 1)), in event" cut.json
}

# A block of the reader ends in the middle of the word.
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

@test "launches without any kernel are named with their number and what the file says of itself" {
	make kineto launches.json 'for i in range(50): launch(1000 + i, 1000.0 + 50 * i)'
	refused_import "50 launches, but no kernel record" launches.json
	make nsys launches.sqlite 'for i in range(50): launch(500 + i, 2000000 + 10000 * i)
file.execute("INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 2, ?)", ("No CUDA events collected. Does the process use CUDA?",))
file.execute("INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, ?)", ("Common injection library initialized successfully.",))'
	refused_import "50 launches, but no kernel record; the file says: 'No CUDA events collected. Does the process use CUDA?'" launches.sqlite
}

# ranges RECORDING: "step 20" for each range with its operations
ranges() {
	"$ROOFLINECTL" report "$1" --section ranges --format json | python3 -c '
import json, sys
print(*sorted("%s %d" % (r["name"], r["operation_count"]) for r in json.load(sys.stdin)["ranges"]))'
}

@test "merged traces of ranks are a process for each pid, by the text in front of it or by who launched" {
	ranks='run(20, pid=3000, name="gemm_rank0"); run(20, first=1003.0, pid=3001, device=1, name="gemm_rank1")
for pid, name, first in (3000, "step", 990.0), (3001, "prefill", 993.0):
    events.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": pid, "tid": pid, "ts": first, "dur": 2000.0, "args": {}})
'
	make kineto plain.json "$ranks"
	make kineto text.json "$ranks"'
for e in events:
    e["pid"] = "[TP0%d] %s" % (e["pid"] in (1, 3001), e["pid"])'
	make kineto same_gpu.json "$ranks"'
for e in events:
    if e["cat"] == "kernel":
        e["pid"] = e["args"]["device"] = 0
        e["args"]["correlation"] += 5000 * (e["name"] == "gemm_rank1")
    elif e["pid"] == 3001 and e["cat"] == "cuda_runtime": e["args"]["correlation"] += 5000'
	for file in plain.json text.json same_gpu.json; do
		imported $file
		[ "$(ls d | tr '\n' ' ')" = "imported.3000 imported.3001 " ]
		[ "$(ranges d)" = "prefill 20 step 20" ]
		! grep -q gemm_rank1 d/imported.3000/names.csv
		run -0 "$ROOFLINECTL" report d --section losses
		[[ "$output" == "Lost: nothing"* ]]
	done
	make kineto unknown.json "$ranks"'
for e in events:
    if e["cat"] == "kernel": e["pid"] = e["args"]["device"] = 0; del e["args"]["correlation"]'
	refused_import "unknown.json: a mixture of 2 processes, and nothing in it shows whose the operations of GPU '0' are; give the files of the ranks instead" unknown.json
}

@test "traces of PyTorch 1.8 to 1.11, which write categories with a capital, are read" {
	make kineto old.json 'run(6, step=100.0); copy(2000, 1700.0, kind="HtoD (Pageable -> Device)")
events.append({"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 1720, "dur": 2,
               "args": {"device": 0, "context": 1, "stream": 7, "correlation": 601, "bytes": 200}})
for i in range(6):
    events.append({"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 100, "tid": 100, "ts": 995 + 100 * i, "dur": 20})
names = {"cuda_runtime": "Runtime", "kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}
for e in events:
    e["cat"] = names.get(e["cat"], e["cat"])
    if e["cat"] in ("Kernel", "Memcpy", "Memset"): e["tid"] = "stream %d" % e["args"].pop("stream")'
	imported old.json
	[ "$(ranges d)" = "aten::mm 6" ]
	for table in kernels:6 copies:1 memsets:1 api:6; do
		[ "$(wc -l <d/*/"${table%:*}".csv)" -eq $((${table#*:} + 1)) ]
	done
	run -0 "$ROOFLINECTL" report d --section streams --format csv
	[[ "$output" == *",7,"* ]]
}

@test "a trace of Triton Proton has its name, its streams and the kernel at time 0" {
	cat >proton.json <<-'END'
		{"displayTimeUnit": "us", "traceEvents": [
		{"ph": "M", "pid": 0, "tid": 0, "name": "process_name", "args": {"name": "Trace"}},
		{"ph": "M", "pid": 0, "tid": 2000, "name": "thread_name", "args": {"name": "GPU Stream 7"}},
		{"ph": "M", "pid": 0, "tid": 2001, "name": "thread_name", "args": {"name": "GPU Stream 8"}},
		{"ph": "M", "pid": 0, "tid": 3000, "name": "thread_name", "args": {"name": "Graph: Stream 7"}},
		{"name": "a", "cat": "kernel", "ph": "X", "pid": 0, "ts": 0.0, "dur": 60.0, "tid": 2000, "args": {"call_stack": ["ROOT", "step", "a"]}},
		{"name": "b", "cat": "kernel", "ph": "X", "pid": 0, "ts": 20.0, "dur": 60.0, "tid": 2001, "args": {"call_stack": ["ROOT", "step", "b"]}},
		{"name": "a", "cat": "kernel", "ph": "X", "pid": 0, "ts": 100.0, "dur": 60.0, "tid": 2000, "args": {"call_stack": ["ROOT", "step", "a"]}},
		{"name": "captured", "cat": "scope", "ph": "X", "pid": 0, "ts": 0.0, "dur": 90.0, "tid": 3000},
		{"name": "step", "cat": "scope", "ph": "X", "pid": 0, "ts": 0.0, "dur": 90.0, "tid": 1000, "args": {"call_stack": ["ROOT", "step"]}}]}
	END
	imported proton.json
	grep -qx 'imported_from,Triton Proton' d/*/process.csv
	[ "$(wc -l <d/*/kernels.csv)" -eq 4 ]
	[ "$(ranges d)" = "step 0" ]
	run -0 "$ROOFLINECTL" report d --section streams --format csv
	[ "$(cut -d, -f1-6 <<<"$output" | grep -c ',[78],')" -eq 2 ]
	run -0 "$ROOFLINECTL" report d --section losses
	[[ "$output" == "Lost: nothing"* ]]
}

@test "times that nsys exported as normalized are those of the same file without: nothing is added to them" {
	kernels='for i in range(4): launch(1 + i, BASE + 1000000 + 100000 * i); kernel(1 + i, BASE + 1010000 + 100000 * i)
mark("step", BASE + 990000, BASE + 1500000, 100, 100, kind=59)'
	make nsys relative.sqlite "${kernels//BASE/0}"
	make nsys normalized.sqlite "${kernels//BASE/1767189312000000000}"
	for file in relative normalized; do
		"$ROOFLINECTL" import $file.sqlite -o $file
	done
	for table in kernels api markers; do
		diff relative/*/$table.csv normalized/*/$table.csv
		grep -q 17671893120 relative/*/$table.csv
	done
}

@test "a range that one thread starts and another ends has the operations of its process" {
	make nsys ranges.sqlite 'for i in range(10): launch(1 + i, 1000000 + 50000 * i); kernel(1 + i, 1010000 + 50000 * i)
mark("request A", 990000, 1249000, 101, 102); mark("request B", 1100000, 1600000, 100, 100)
mark("pushed", 990000, 1600000, 101, 101, kind=59)'
	imported ranges.sqlite
	[ "$(ranges d)" = "pushed 0 request A 5 request B 8" ]
}

@test "Nsight Compute's CSV is read with a byte order mark, and refused where its numbers are not certain" {
	make nsys base.sqlite 'launch(1, 1000000); kernel(1, 1010000)'
	cat >plain.csv <<-'END'
		"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
		"","","","","","","","","","","","Mbyte","us","inst"
		"0","100","run","here","gemm(float *)","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","8.25","30.10","2,000,000"
	END
	sed '1s/^/\xef\xbb\xbf/' plain.csv >bom.csv
	imported base.sqlite bom.csv
	run -0 "$ROOFLINECTL" report d --section counters --format csv
	[[ "$output" == *",dram__bytes_read.sum,1,8250000,"*",2000000,"* ]]
	sed 2d plain.csv >units.csv
	refused_import "units.csv: no unit of dram__bytes_read.sum: bytes and megabytes look alike; keep the row of units" base.sqlite units.csv
	sed 's/Mbyte/MB/' plain.csv >unknown.csv
	refused_import "unknown.csv: dram__bytes_read.sum is in 'MB', a unit that is not known" base.sqlite unknown.csv
	sed 's/8[.]25/8,25/; s/2,000,000/2.000.000/' plain.csv >comma.csv
	refused_import "comma.csv: dram__bytes_read.sum is '8,25', which is no number with a decimal point; run ncu again with LC_ALL=C" base.sqlite comma.csv
	for number in 2.000.000 '2 000 000' 1.234,5 12,3456; do
		sed "s/2,000,000/$number/" plain.csv >odd.csv
		refused_import "op_ffma_pred_on.sum is '$number', which is no number with a decimal point" base.sqlite odd.csv
	done
	iconv -f UTF-8 -t UTF-16 plain.csv >wide.csv
	refused_import "wide.csv: text in UTF-16" base.sqlite wide.csv
}

@test "tables that are no traces are named with what to give in their place" {
	echo '"Correlation_Id","Dispatch_Id","Agent_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"' >app_counter_collection.csv
	refused_import "app_counter_collection.csv: counters of rocprofv3 --pmc, without a trace; give its *_kernel_trace.csv" app_counter_collection.csv
	echo '"Name","Calls","TotalDurationNs","AverageNs","Percentage"' >app_kernel_stats.csv
	refused_import "app_kernel_stats.csv: sums of rocprofv3 --stats; give its *_kernel_trace.csv" app_kernel_stats.csv
	echo 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name' >kern_sum.csv
	refused_import "kern_sum.csv: sums of nsys stats; give what nsys export --type sqlite writes" kern_sum.csv
	echo 'Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Name' >gpu_trace.csv
	refused_import "gpu_trace.csv: a table of nsys stats; give what nsys export --type sqlite writes" gpu_trace.csv
	printf '"Index","KernelName","gpu-id"\n0,"k",1\n' >results.csv
	refused_import "results.csv: a table of rocprof, before rocprofv3; give what rocprofv3" results.csv
	echo 'a,b' >any.csv
	refused_import "any.csv: none of the formats" any.csv
}

@test "an import prints what it understood and what it left out" {
	make kineto whole.json 'run(20); events[7]["dur"] = 1600000.0; events.remove(events[11]); events.remove(events[21])
events += [{"ph": "X", "cat": "mtia_runtime", "name": "f", "pid": 100, "tid": 100, "ts": 5, "dur": 1}] * 3
copy(7777, 2500.25); trace["distributedInfo"] = {"rank": 3, "world_size": 8}'
	imported whole.json
	diff - <(sed 's/d[/]//' <<<"$output") <<-'END'
		d: a recording of 1 file; read it with: rooflinectl report d
		  read     PyTorch profiler: 1 process (pid 100); rank 3
		           18 kernels, 1 copy, 0 memsets on 1 GPU; 19 calls, 19 of them launches
		  lacks    the launch of 2 operations: idle time before them has no cause
		  lost     2 of 19 launches have no operation in the file
		  left out 1 impossible_times: imported.100/kernels.csv: stream 7: an operation of 1.60 s overlaps 16 others of its stream, by up to 30.0 us
		  left out categories that are not known: mtia_runtime (3)
	END
	make kineto early.json 'run(9)
for e in events: e["ts"] = round(e["ts"]) - 500 * (e["cat"] == "kernel")'
	imported early.json
	holds "clocks 9 operations begin before their launch, by up to 490 us: the clocks of host and GPU differ"
	holds "clocks times are whole microseconds"
	make kineto gpu.json 'for i in range(3): kernel(1 + i, 100.5 * i)'
	imported gpu.json
	holds "lacks calls of the host: idle time has no causes"
	make nsys tables.sqlite 'for i in range(3): launch(1 + i, 1000000 + 50000 * i); kernel(1 + i, 1010000 + 50000 * i)
file.executescript("CREATE TABLE OSRT_API (start, end); INSERT INTO OSRT_API VALUES (1, 2); CREATE TABLE SCHED_EVENTS (start)")
file.execute("INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 2, ?)", ("Not all CUDA events might have been collected.\x1b[2J",))'
	imported tables.sqlite
	[ "${lines[-2]}" = "  left out tables that are not read: OSRT_API" ]
	[ "${lines[-1]}" = "  note     the file says: Not all CUDA events might have been collected.?[2J" ]
}
