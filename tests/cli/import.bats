#!/usr/bin/env bats
# rooflinectl import: a recording of what other tools recorded.
load common

# Once for all tests: our recording, and what other tools would have made of the same run.
setup_file() {
	load common
	cd "$BATS_FILE_TMPDIR"
	unpacked graph_chain.naive.roofline ours
	python3 "$root/tests/tools/make_foreign.py" nsys ours/vm.* nsys.sqlite
	python3 "$root/tests/tools/make_foreign.py" kineto ours/vm.* kineto.json
	"$ROOFLINECTL" import nsys.sqlite -o nsys
	"$ROOFLINECTL" import kineto.json -o kineto
}

setup() {
	mkdir "$BATS_TEST_TMPDIR/here" # bats keeps files of its own beside it
	cd "$BATS_TEST_TMPDIR/here"
	made=$BATS_FILE_TMPDIR
}

# kernels RECORDING: each kernel and shape with its time
kernels() {
	"$ROOFLINECTL" report "$1" --format csv --section kernels | cut -d, -f2- | sort
}

# first_advice RECORDING
first_advice() {
	"$ROOFLINECTL" report "$1" --format csv --section advice | sed -n 2p | cut -d, -f2-3
}

@test "an import of Nsight Systems has the kernels, times and first advice of our recording of the run" {
	[ "$(kernels "$made/nsys")" = "$(kernels "$made/ours")" ]
	[ "$(first_advice "$made/nsys")" = "$(first_advice "$made/ours")" ]
	[ -n "$(first_advice "$made/ours")" ]
	diff <(cut -d, -f1,2 "$made"/ours/vm.*/kernels.csv) <(cut -d, -f1,2 "$made"/nsys/vm.*/kernels.csv)
}

@test "an import of the PyTorch profiler has the times of every kernel to the nanosecond, and the first advice" {
	diff <(cut -d, -f1,2 "$made"/ours/vm.*/kernels.csv) <(cut -d, -f1,2 "$made"/kineto/*/kernels.csv)
	[ "$(first_advice "$made/kineto")" = "$(first_advice "$made/ours")" ]
}

@test "what-if predicts the same for an import as for our recording" {
	run -0 "$ROOFLINECTL" whatif --graph "$made/ours"
	expected=$(grep 'the whole run' <<<"$output")
	[[ "$expected" == *x* ]]
	for import in nsys kineto; do
		run -0 "$ROOFLINECTL" whatif --graph "$made/$import"
		[ "$(grep 'the whole run' <<<"$output")" = "$expected" ]
	done
}

@test "an import says what its source does not tell, and that the program's arguments are not known" {
	run -0 "$ROOFLINECTL" report "$made/nsys"
	[[ "$output" == *"imported from Nsight Systems 2024.6.2.225, which does not tell:"* ]]
	[[ "$output" == *"./app ..."* ]]
	run -0 "$ROOFLINECTL" report "$made/kineto"
	[[ "$output" == *"imported from PyTorch profiler, which does not tell:"* ]]
	[[ "$output" == *"on an unknown host"* ]]
}

@test "columns that a version of Nsight Systems lacks are empty, and its old tables are read" {
	python3 - "$made/nsys.sqlite" <<-'END'
		import shutil, sqlite3, sys
		shutil.copy(sys.argv[1], "old.sqlite")
		old = sqlite3.connect("old.sqlite")
		for table in "ENUM_CUDA_MEM_KIND", "ENUM_CUPTI_SYNC_TYPE", "TARGET_INFO_CUDA_DEVICE":
		    old.execute("DROP TABLE " + table)
		for table, column in ("KERNEL", "mangledName"), ("KERNEL", "graphNodeId"), ("MEMCPY", "graphNodeId"):
		    old.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_%s DROP COLUMN %s" % (table, column))
		old.execute("CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM AS SELECT nullStreamId AS streamId, 0 AS hwId, "
		            "0 AS vmId, processId, deviceId, contextId FROM TARGET_INFO_CUDA_CONTEXT_INFO")
		old.execute("DROP TABLE TARGET_INFO_CUDA_CONTEXT_INFO")
		old.execute("ALTER TABLE META_DATA_EXPORT RENAME TO EXPORT_META_DATA")
		old.commit()
	END
	"$ROOFLINECTL" import old.sqlite -o old
	[ "$(kernels old)" = "$(kernels "$made/nsys")" ]
	diff old/*/contexts.csv "$made"/nsys/*/contexts.csv
	diff old/*/copies.csv "$made"/nsys/*/copies.csv
	grep -q '^imported_from,Nsight Systems 2024.6.2.225$' old/*/process.csv
}

@test "traces of ranks that PyTorch numbered are a job, with the communication that is exposed and overlapped there" {
	python3 "$root/tests/tools/make_ddp.py" ranks --buckets 5 --late 100000
	for rank in 0 1; do
		python3 "$root/tests/tools/make_foreign.py" kineto ranks/host.100$rank rank$rank.json
	done
	"$ROOFLINECTL" import rank1.json rank0.json -o job
	for folder in ranks job; do
		"$ROOFLINECTL" report --section job --format json "$folder" | python3 -c '
import json, sys
for rank in json.load(sys.stdin)["job"]["ranks"]:
    print(*(rank[key + "_ns"] for key in ("computation", "communication", "exposed", "overlapped", "wait", "idle")))' >$folder.times
	done
	diff ranks.times job.times
	awk '$3 <= 0 || $4 <= 0 { exit 1 }' job.times
}

@test "files of several ranks are processes of one recording, and their GPUs stay apart" {
	gzip <"$made/kineto.json" >rank1.json.gz
	"$ROOFLINECTL" import "$made/kineto.json" rank1.json.gz -o job
	[ "$(ls job | wc -l)" -eq 2 ]
	run -0 "$ROOFLINECTL" report job --format csv --section devices
	[ "$(grep -c H200 <<<"$output")" -eq 2 ]
}

@test "a trace of an older PyTorch, in microseconds since 1970, says that its times are rounded" {
	cat >old.json <<-'END'
		{"traceEvents": [
		{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7,
		 "ts": 1695835543008415, "dur": 5, "args": {"correlation": 5}},
		{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1695835543008425, "dur": 12,
		 "args": {"device": 0, "context": 1, "stream": 7, "correlation": 5, "grid": [2, 1, 1], "block": [32, 1, 1]}}
		]}
	END
	"$ROOFLINECTL" import old.json -o old
	grep -q '^1695835543008425000,1695835543008437000,' old/*.7/kernels.csv
	run -0 "$ROOFLINECTL" report old
	[[ "$output" == *"times rounded to microseconds"* ]]
}

@test "files that are cut off, damaged or of no known format are refused in one line, and nothing is left" {
	head -c 100000 "$made/kineto.json" >cut.json
	refused_import "cut.json: no JSON, or cut off" cut.json
	gzip <"$made/kineto.json" | head -c 5000 >cut.json.gz
	refused_import "cut.json.gz:" cut.json.gz
	head -c 40000 "$made/nsys.sqlite" >cut.sqlite
	refused_import "cut.sqlite: damaged or cut off; export it again" cut.sqlite
	head -c 60 "$made/nsys.sqlite" >head.sqlite
	refused_import "head.sqlite: damaged or cut off; export it again" head.sqlite
	{ head -c 4096 "$made/nsys.sqlite"; head -c 400000 /dev/zero; } >zero.sqlite
	refused_import "zero.sqlite:" zero.sqlite
	: >empty
	refused_import "empty: the file is empty" empty
	head -c 9 /dev/zero >zeros
	refused_import "zeros: none of the formats" zeros
	echo '{"a": 1}' >other.json
	refused_import "other.json: JSON without traceEvents" other.json
	echo '{"traceEvents": []}' >none.json
	refused_import "nothing ran on a GPU" none.json
	echo '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 7, "ts": 5, "dur": 1}]}' >host.json
	refused_import "nothing ran on a GPU" host.json
	printf '[%.0s' {1..100} >deep.json
	refused_import "deep.json: nested deeper" deep.json
	refused_import "nowhere: cannot be read" nowhere
	refused_import "nowhere: cannot be read" "$made/kineto.json" nowhere
}

@test "a view that goes on without end is not read as a table" {
	python3 - <<-'END'
		import sqlite3
		file = sqlite3.connect("view.sqlite")
		file.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
		file.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS "
		             "(SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start, start AS end FROM n")
		file.commit()
	END
	refused_import "nothing ran on a GPU" view.sqlite
}

@test "counters of Nsight Compute are those of the launches like theirs, in the file beside it" {
	unpacked graph_chain.naive.counted.roofline counted
	for tool in nsys ncu; do
		python3 "$root/tests/tools/make_foreign.py" $tool counted/vm.* $tool.file
	done
	"$ROOFLINECTL" import ncu.file nsys.file -o both
	for recording in counted both; do
		"$ROOFLINECTL" report $recording --format csv --section counters |
			cut -d, -f2- | sed -E 's/([.][0-9]{3})[0-9]+/\1/g' >$recording.csv
	done
	[ "$(wc -l <counted.csv)" -gt 90 ]
	diff counted.csv both.csv
	run -0 "$ROOFLINECTL" report both
	[[ "$output" == *"Lost: 24 lost_operations"* ]] # of launches that were counted, which that run has no times of
	refused_import "nothing ran on a GPU" ncu.file
	head -c 6000 ncu.file >cut.csv
	refused_import "cut.csv: row " cut.csv nsys.file
}

@test "import tells what Nsight Compute has to count, each metric once" {
	run -0 "$ROOFLINECTL" import --ncu-metrics
	[[ "$output" == launch__registers_per_thread,*dram__bytes_read.sum,* ]]
	[ -z "$(tr , '\n' <<<"$output" | sort | uniq -d)" ]
}

@test "what is there already stays as it is" {
	mkdir there && echo kept >there/file
	run -1 "$ROOFLINECTL" import "$made/nsys.sqlite" -o there
	[[ "$output" == *"there: is there already; give -o another name" ]]
	[ "$(cat there/file)" = kept ]
}

@test "import says what it made and what to do with it" {
	run -0 "$ROOFLINECTL" import "$made/nsys.sqlite" -o "my run"
	[ "${lines[0]}" = "my run: a recording of 1 file; read it with: rooflinectl report 'my run'" ]
	[[ "${lines[1]}" == "  read     Nsight Systems 2024.6.2.225: 1 process (pid "* ]]
}

@test "without a file or a folder, import says what it wants" {
	run -2 "$ROOFLINECTL" import -o there
	[[ "$output" == *"which file?"* ]]
	run -2 "$ROOFLINECTL" import "$made/nsys.sqlite"
	[[ "$output" == *"-o wants the folder of the recording to make"* ]]
}

# The program ran 8 linear layers 20 times, once under each of the two.
@test "a trace of PyTorch's own profiler has the kernels that we recorded of that program, as long within 2%, and the same first advice" {
	foreign=$root/tests/recordings/foreign
	"$ROOFLINECTL" import "$foreign/linear.json.gz" -o theirs
	"$ROOFLINECTL" report theirs -f json >theirs.json
	run -0 "$ROOFLINECTL" report --section verdict -f json theirs
	[[ "$output" == *"; what PyTorch profiler added to the host's times is in them, so that without it less is idle and changes gain less"* ]]
	"$ROOFLINECTL" report "$foreign/linear.roofline" -f json >ours.json
	run -0 python3 - <<-'END'
		import json
		ours, theirs = (json.load(open(name + ".json")) for name in ("ours", "theirs"))
		def kernels(report):
		    return {(k["name"].replace(" ", ""), *k["grid"], *k["block"]): k for k in report["kernels"]}
		a, b = kernels(ours), kernels(theirs)
		assert len(a) == 3 and a.keys() == b.keys(), (a.keys(), b.keys())
		for key in a:
		    assert a[key]["count"] == b[key]["count"], key
		    assert abs(a[key]["mean_ns"] / b[key]["mean_ns"] - 1) < 0.02, key
		assert ours["advice"][0]["id"] == theirs["advice"][0]["id"]
		assert not theirs["losses"]
	END
}

# Nsight Compute leaves out that a kernel stands in an anonymous namespace.
@test "counters of Nsight Compute go onto the kernels that another tool timed, each with a metric that is described" {
	gunzip -c "$root/tests/recordings/foreign/graph_chain.naive.ncu.csv.gz" >ncu.csv
	"$ROOFLINECTL" import "$made/kineto.json" ncu.csv -o both
	run -0 "$ROOFLINECTL" report both
	[[ "$output" == *"Lost: nothing"$'\n'"Not visible"* ]]
	run -0 "$ROOFLINECTL" report both --section roofline
	[ "$(grep -c 'L2   .*1[23]$' <<<"$output")" -eq 3 ]
}

@test "the files of rocprofv3 of one process are one: kernels in blocks, copies, HIP calls, ranges and causes of idle time" {
	cp "$root"/tests/recordings/foreign/rocprofv3/4711_*.csv .
	"$ROOFLINECTL" import 4711_*.csv -o amd
	[ "$(ls amd)" = imported.4711 ]
	"$ROOFLINECTL" report amd --format json >report.json
	python3 - <<-'END'
		import csv, json
		report = json.load(open("report.json"))
		rows = list(csv.DictReader(open("4711_kernel_trace.csv")))
		assert sum(k["total_ns"] for k in report["kernels"]) == sum(
		    int(row["End_Timestamp"]) - int(row["Start_Timestamp"]) for row in rows)
		assert [(k["name"], k["count"], k["grid"], k["block"], k["registers"]) for k in report["kernels"]] == [
		    ("void scale<float>(float*, int)", 8, [1024, 1, 1], [256, 1, 1], 16),
		    ("add(float*, float const*, int)", 8, [1024, 1, 1], [256, 1, 1], 24)], report["kernels"]
		assert {(c["kind"], c["count"]) for c in report["copies"]} == {("HtoD", 1), ("DtoH", 1)}
		assert {a["name"]: a["count"] for a in report["api"]}["hipLaunchKernel"] == 16
		assert {r["name"]: r["operation_count"] for r in report["ranges"]}["step"] == 16
		device = report["devices"][0]
		assert (device["device"], device["name"], device["sm_count"]) == (0, "AMD Instinct MI300X", 304)
		assert device["idle_by_cause"]["launch"] > 0 and device["idle_by_cause"]["blocking_copy"] > 0
		assert report["losses"]["unimported"] == 1, report["losses"]
		assert any("imported from rocprofv3" in line for line in report["not_visible"])
	END
}

@test "a kernel trace of rocprofv3 alone gives a recording, of older versions too, and two processes are two" {
	local here="$root/tests/recordings/foreign/rocprofv3"
	cut -d, -f1-3,7- "$here/4711_kernel_trace.csv" | sed 's/"Agent 2"/2/' >12_kernel_trace.csv # as of ROCm 6.2
	"$ROOFLINECTL" import 12_kernel_trace.csv "$here/4711_kernel_trace.csv" -o two
	[ "$(ls two | tr '\n' ' ')" = "imported.12 imported.4711 " ]
	cmp <(cut -d, -f1-2 two/imported.12/kernels.csv) <(cut -d, -f1-2 two/imported.4711/kernels.csv)
	refused_import "nothing ran on a GPU" "$here/4711_hip_api_trace.csv"
	head -c 1000 "$here/4711_kernel_trace.csv" >cut_kernel_trace.csv
	refused_import "cut_kernel_trace.csv: row" cut_kernel_trace.csv
	printf '"Kind","Agent_Id","Queue_Id"\n"A",1,1\n' >other.csv
	refused_import "other.csv: " other.csv
}

@test "what only nsys reads says how it becomes readable" {
	for file in app.nsys-rep app.qdrep; do
		echo 'not SQLite' >"$BATS_TEST_TMPDIR/$file"
		run "$ROOFLINECTL" import "$BATS_TEST_TMPDIR/$file" -o "$BATS_TEST_TMPDIR/none"
		[ "$status" -eq 1 ]
		[[ "$output" == *"run nsys export --type sqlite $BATS_TEST_TMPDIR/$file and import what that writes" ]]
	done
}

@test "what only another format has of it says which: a trace of Perfetto" {
	printf '\012\020' >results.pftrace
	refused_import "results.pftrace: traces of Perfetto are not read; of rocprofv3 import what it writes with --output-format csv" results.pftrace
}

@test "what rooflinectl export wrote is no file of PyTorch or Nsight Systems: the recording itself is named" {
	mv "$made/ours" "$made/our run"
	for format in chrome sqlite; do
		"$ROOFLINECTL" export "$made/our run" -f $format -o $format.file
	done
	mv "$made/our run" "$made/ours"
	refused_import "chrome.file: rooflinectl export wrote this, not the PyTorch profiler; read the recording itself: rooflinectl report '$made/our run'" chrome.file
	refused_import "sqlite.file: rooflinectl export wrote this; read the recording itself" sqlite.file
}

@test "the same file twice is refused, by another name too" {
	ln -s "$made/kineto.json" link.json
	refused_import "link.json: the same file twice" "$made/kineto.json" link.json
	refused_import "kineto.json: the same file twice" "$made/kineto.json" "$made/kineto.json"
}

# with_events PYTHON: kineto.json, each event of which that code may change
with_events() {
	python3 - "$made/kineto.json" "$1" <<-'END'
		import json, sys
		trace = json.load(open(sys.argv[1]))
		kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
		exec(sys.argv[2])
		json.dump(trace, open("changed.json", "w"))
	END
}

@test "events without a time are counted as lost, and are at no time" {
	with_events 'kernels[5]["ts"] = "abc"; kernels[6]["dur"] = ""; del kernels[7]["dur"]; kernels[8]["ts"] = "inf"'
	"$ROOFLINECTL" import changed.json -o lost
	run -0 "$ROOFLINECTL" report lost --format json
	echo "$output" >lost.json
	"$ROOFLINECTL" report "$made/kineto" --format json >whole.json
	python3 - <<-'END'
		import json
		lost, whole = (json.load(open(name + ".json")) for name in ("lost", "whole"))
		assert lost["losses"] == {"invalid_times": 4, "lost_operations": 4}, lost["losses"]
		assert sum(k["count"] for k in lost["kernels"]) == sum(k["count"] for k in whole["kernels"]) - 4
		assert lost["devices"][0]["wall_ns"] == whole["devices"][0]["wall_ns"]
	END
	grep -q ',invalid_times,4,events whose ts or dur is no number$' lost/*/losses.csv
	run -0 "$ROOFLINECTL" report lost --section losses
	[[ "$output" == "Lost: 4 invalid_times "*"first: events whose ts or dur is no number"* ]]
}

@test "rows of Nsight Systems without a time are lost, and are at no time" {
	cp "$made/nsys.sqlite" lost.sqlite
	python3 - <<-'END'
		import sqlite3
		file = sqlite3.connect("lost.sqlite")
		file.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'abc' WHERE rowid = 5")
		file.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = NULL WHERE rowid = 6")
		file.commit()
	END
	"$ROOFLINECTL" import lost.sqlite -o lost
	for recording in lost "$made/nsys"; do
		"$ROOFLINECTL" report $recording --format json
	done | python3 -c '
import json, sys
text, decoder = sys.stdin.read(), json.JSONDecoder()
lost, end = decoder.raw_decode(text)
whole, _ = decoder.raw_decode(text[end:].lstrip())
assert lost["losses"] == {"invalid_times": 2, "lost_operations": 2}, lost["losses"]
assert lost["devices"][0]["wall_ns"] == whole["devices"][0]["wall_ns"]'
}

@test "where no kernel has times that can be used nothing is made" {
	with_events '[e.update(dur=-1) for e in kernels]'
	refused_import "none of the 600 kernels in what was given has times that can be used" changed.json
	with_events '[e.update(ts="abc") for e in kernels]'
	refused_import "none of the 600 kernels in what was given has times that can be used" changed.json
	with_events '[e.update(dur=-1) for e in kernels[1:]]'
	"$ROOFLINECTL" import changed.json -o one
	python3 - "$root/tests/recordings/foreign/rocprofv3/4711_kernel_trace.csv" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		with open("8_kernel_trace.csv", "w") as out:
		    table = csv.DictWriter(out, rows[0].keys(), quoting=csv.QUOTE_NONNUMERIC)
		    table.writeheader()
		    table.writerows({**row, "Start_Timestamp": "x"} for row in rows)
	END
	refused_import "none of the 16 kernels" 8_kernel_trace.csv
}

@test "a table of rocprofv3 without a column that is needed is refused by the column's name" {
	local here="$root/tests/recordings/foreign/rocprofv3"
	for column in Start_Timestamp End_Timestamp; do
		for table in kernel memory_copy hip_api; do
			sed "1s/$column/Other/" "$here/4711_${table}_trace.csv" >7_${table}_trace.csv
			refused_import "7_${table}_trace.csv: no column $column, which rocprofv3 writes" 7_${table}_trace.csv
		done
	done
	sed '1s/Kernel_Name/Other/' "$here/4711_kernel_trace.csv" >7_kernel_trace.csv
	refused_import "7_kernel_trace.csv: no column Kernel_Name, Direction, Function, Operation or Agent_Type" 7_kernel_trace.csv
}

@test "of GPUs that are not NVIDIA's nothing tells to measure ceilings, to sample, to count or to record" {
	cp "$root"/tests/recordings/foreign/rocprofv3/4711_*.csv .
	"$ROOFLINECTL" import 4711_*.csv -o amd
	"$ROOFLINECTL" import 4711_kernel_trace.csv 4711_hip_api_trace.csv -o unnamed
	with_events '[d.update(name="AMD Instinct MI300X") for d in trace["deviceProperties"]]'
	"$ROOFLINECTL" import changed.json -o torch
	for recording in amd unnamed torch; do
		{
			"$ROOFLINECTL" report $recording
			"$ROOFLINECTL" report $recording --format json
			"$ROOFLINECTL" report $recording --section roofline,launch_roofline,counters,sampling,managed_memory
			"$ROOFLINECTL" advise $recording
			"$ROOFLINECTL" plot $recording -o pictures roofline launch_roofline || true
		} >told 2>&1
		run -1 grep -E 'rooflinectl (ceilings|record|analyze)|record (it )?with|--sample|--counters|ncu ' told
		grep -q "there are no ceilings of GPUs that are not NVIDIA's" told
	done
	"$ROOFLINECTL" report "$made/kineto" >told
	grep -q -- '--sample' told
}

# Until 2023 a number, 52510517; real files of 2024 to 2026 have text.
@test "the driver's version of Nsight Systems is read as text, and as the number that it once was" {
	for version in 580.95.05 52510517; do
		cp "$made/nsys.sqlite" driver.sqlite
		python3 - "$version" <<-'END'
			import sqlite3, sys
			file = sqlite3.connect("driver.sqlite")
			file.execute("CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)")
			file.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV (name, value) VALUES ('NvDriverVersion', ?)", sys.argv[1:])
			file.commit()
		END
		"$ROOFLINECTL" import driver.sqlite -o "driver $version"
	done
	grep -qx 'driver_name,580.95.05' "driver 580.95.05"/*/process.csv
	grep -qx 'driver_name,525.105.17' "driver 52510517"/*/process.csv
}

@test "calls of Python functions are left out, which is told, and no loss" {
	with_events 'trace["traceEvents"] += [{"ph": "X", "cat": "python_function", "name": "f", "pid": 7, "tid": 7, "ts": 5, "dur": 1}] * 9'
	"$ROOFLINECTL" import changed.json -o python
	run -0 "$ROOFLINECTL" report python
	[[ "$output" == *"Lost: nothing"* ]]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"calls of Python functions are left out"* ]]
}

# AMD's numbers count processors too, so that kernels are on device 2 of a list that has device 0 alone.
@test "a GPU that a file does not describe is like those that it does, where these are alike, and no loss" {
	with_events 'trace["deviceProperties"] = [{**trace["deviceProperties"][0], "id": i} for i in (0, 1)]
[e["args"].update(device=2) for e in trace["traceEvents"] if "device" in e.get("args", {})]'
	"$ROOFLINECTL" import changed.json -o alike
	run -0 "$ROOFLINECTL" report alike
	[[ "$output" == *"Lost: nothing"* ]]
	[[ "$output" == *"GPU 0  NVIDIA H200"* ]]
	python3 - <<-'END'
		import json
		trace = json.load(open("changed.json"))
		trace["deviceProperties"][1]["name"] = "another"
		json.dump(trace, open("changed.json", "w"))
	END
	"$ROOFLINECTL" import changed.json -o unlike
	run -0 "$ROOFLINECTL" report unlike
	[[ "$output" == *"Lost: nothing"* ]]
	[[ "$output" == *"GPU 0  unknown GPU"* ]]
}

@test "what rocpd convert writes of rocprofv3's database is read as what rocprofv3 writes itself" {
	local here="$root/tests/recordings/foreign/rocprofv3"
	for table in kernel memory_copy hip_api; do
		sed -e '1s/^/"Guid",/' -e '2,$s/^/"0000-1",/' -e '1s/LDS_/Lds_/; 1s/VGPR_/Vgpr_/g; 1s/SGPR_/Sgpr_/' \
			"$here/4711_${table}_trace.csv" >4711_${table}_trace.csv
	done
	"$ROOFLINECTL" import 4711_{kernel,memory_copy,hip_api}_trace.csv -o converted
	"$ROOFLINECTL" import "$here"/4711_{kernel,memory_copy,hip_api}_trace.csv -o written
	for table in kernels copies api signatures; do
		diff converted/*/$table.csv written/*/$table.csv
	done
}

@test "tables of rocprofv3 about allocations may be given with the others" {
	cp "$root"/tests/recordings/foreign/rocprofv3/4711_*.csv .
	echo '"Kind","Operation","Agent_Id","Allocation_Size","Address","Correlation_Id","Start_Timestamp","End_Timestamp"
"MEMORY_ALLOCATION","MEMORY_ALLOCATION_ALLOCATE","Agent 0",1024,"0x00007ffb26354000",1,5,9' >4711_memory_allocation_trace.csv
	"$ROOFLINECTL" import 4711_*.csv -o amd
	[ "$(ls amd)" = imported.4711 ]
	run -0 "$ROOFLINECTL" report amd --section losses
	[[ "$output" == *"2 unimported"* ]]
}

@test "rocprofv3's JSON and database say what of it can be imported, and a folder that its files can" {
	echo '{"rocprofiler-sdk-tool":[{"metadata":{}}]}' >results.json
	refused_import "results.json: of rocprofv3 no JSON is read; import what it writes with --output-format csv" results.json
	python3 -c '
import sqlite3
file = sqlite3.connect("results.db")
file.execute("CREATE TABLE rocpd_metadata_0001 (id INTEGER)")
file.commit()'
	refused_import "results.db: databases of rocprofv3 are not read; run rocpd convert --output-format csv -i results.db and import what that writes" results.db
	mkdir "my traces"
	refused_import "my traces: a folder; give the files in it, such as 'my traces'/*.json, or where it is a recording of rooflinectl, read it with: rooflinectl report 'my traces'" "my traces"
}

# As --page details prints them: rows of metrics end before the columns of rules, with a comma.
@test "rows of Nsight Compute without the columns of its rules are read; a page without metrics says how to count them" {
	cat >counted.csv <<-'END'
		"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"
	END
	row='"0","7","app","here","k","1","7","(32, 1, 1)","(2, 1, 1)","0","9.0","Command line profiler metrics","%s","%s","%s",\n'
	printf "$row" dram__bytes_read.sum Mbyte 2.00 dram__bytes_write.sum Mbyte 1.00 >>counted.csv
	cat >one.json <<-'END'
		{"traceEvents": [
		{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 10, "dur": 5, "args": {"correlation": 5}},
		{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 25, "dur": 12,
		 "args": {"device": 0, "context": 1, "stream": 7, "correlation": 5, "grid": [2, 1, 1], "block": [32, 1, 1]}}
		]}
	END
	"$ROOFLINECTL" import one.json counted.csv -o both
	run -0 "$ROOFLINECTL" report both --section counters --format csv
	[[ "$output" == *dram_read_bytes*2000000*dram_write_bytes*1000000* ]]
	sed 's/dram__bytes_[a-z]*[.]sum/DRAM Throughput/' counted.csv >details.csv
	refused_import "details.csv: has none of the metrics that a report shows; count them with: ncu --csv" one.json details.csv
	sed '$s/.$//; $s/"1.00"/"1/' counted.csv >cut.csv
	refused_import "cut.csv: row 3 has another number of fields than the first" one.json cut.csv
}
