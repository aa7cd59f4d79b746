#!/usr/bin/env bats
# Hardware counters beside the trace: which launches are counted, with what, and that the values in the
# recording are those of the launch that they stand beside.  The mock's values follow from the grid.
load common

setup() {
	setup_driver
	export ROOFLINE_COUNTERS=roofline MOCK_RANGES_FILE="$PWD/ranges"
	# On a machine that is busy with other things counting takes longer than it may by default.
	export ROOFLINE_COUNTERS_SHARE=100
}

# ranges REGEX: how many launches ran inside a range whose line in MOCK_RANGES_FILE fits
ranges() {
	[ -e ranges ] || { echo 0; return; }
	grep -cE "$1" ranges || true
}

# sql QUERY: over the tables of the recording, a row a line.  Columns of all tables are text: the
# comparisons that need numbers cast.
sql() {
	python3 - "$recording" "$1" <<-'END'
		import csv, glob, os, sqlite3, sys
		base = sqlite3.connect(":memory:")
		for name in ("metrics", "counted", "counters", "kernels", "names", "overheads", "signatures"):
		    made = False
		    for path in glob.glob(f"{sys.argv[1]}/*/{name}.csv"):
		        rows = list(csv.reader(open(path)))
		        if not made:
		            columns = ",".join(f'"{c}" numeric' for c in rows[0])
		            base.execute(f'create table "{name}" ({columns})')
		            made = True
		        marks = ",".join("?" * len(rows[0]))
		        base.executemany(f'insert into "{name}" values ({marks})', rows[1:])
		for row in base.execute(sys.argv[2]):
		    print(*row, sep="|")
	END
}

# with_launch: counters with their metric and, from what the mock noted, the launch that they are of
noted() {
	python3 - "$recording" "$1" ranges <<-'END'
		import csv, glob, sys
		folder = glob.glob(sys.argv[1] + "/*/")[0]
		def rows(table):
		    return list(csv.DictReader(open(folder + table + ".csv")))
		each = {"dram__bytes_read.sum": 1000, "dram__bytes_write.sum": 500,
		        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 32,
		        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 3, "gpu__time_duration.sum": 10}
		names = {r["id"]: r["text"] for r in rows("names")}
		metrics = {r["id"]: names.get(r["name"], "") for r in rows("metrics")}
		counted = {r["id"]: r for r in rows("counted")}
		launches = {}
		for line in open(sys.argv[3]):
		    correlation, passed, name, blocks, *_ = line.split(",")
		    launches.setdefault((correlation, passed), []).append(int(blocks))
		checked = 0
		for row in rows("counters"):
		    of = counted[row["counted"]]
		    blocks = launches[of["correlation"], of["pass"]]
		    metric = metrics[row["metric"]]
		    if metric not in each:
		        continue
		    if len(blocks) != 1 or float(row["value"]) != each[metric] * blocks[0]:
		        sys.exit(f"{metric} of launch {of['correlation']} is {row['value']}, grid {blocks}")
		    checked += 1
		if checked < int(sys.argv[2]):
		    sys.exit(f"only {checked} values")
	END
}

# counted_of NAME: how many launches of that kernel have a row in counted
counted_of() {
	sql "select count(*) from counted where correlation in ($(awk -F, -v name="$1" '$3 == name { printf "%s%s", comma, $1; comma = "," }' ranges))"
}

# problem REGEX: counters were given up with one line, the trace is whole
problem() {
	warned 1 "no hardware counters: $1; the trace is still recorded"
	readable
	sealed
}

@test "the default set is recorded, each value beside the launch that it is of" {
	unset ROOFLINE_COUNTERS_SHARE
	record driver cuda launch:count=100,different=5 exit:6
	warned 0
	ended_with 6
	readable
	sealed
	equal mode rotation "$(property counters_mode)"
	equal counters roofline "$(property counters)"
	equal passes 2 "$(property counters_passes)"
	equal launches "$(ranges .)" "$(rows counted)"
	noted 25 # three and two of the first samples of both passes, for which there is always credit
	equal "roles of the default set without tensor types" \
		"range_ns dram_read_bytes dram_write_bytes l2_bytes l1_bytes shared_bytes fp64_add" \
		"$(sql 'select role from metrics limit 7' | xargs)"
	[ "$(sql "select count(*) from metrics where role like 'tensor_%_ops'")" -eq 0 ]
}

@test "every signature gets every pass, and ever fewer of its launches are counted" {
	record driver cuda launch:count=600,different=3
	equal "passes of each signature" "" \
		"$(sql 'select "like", count(distinct pass) n from counted group by "like" having n <> 2')"
	equal signatures 3 "$(sql 'select count(distinct "like") from counted')"
	# 200 launches each: 1 + log2 is 8 samples of each of 2 passes
	equal samples 48 "$(rows counted)"
}

@test "local memory is asked of the driver where launches are called back, for CUPTI's records say 0" {
	record driver cuda launch:count=10,different=2
	equal "bytes for each thread" "312" "$(sql 'select distinct local_bytes_per_thread from signatures')"
	rm -rf "$recording"
	ROOFLINE_COUNTERS="" record driver cuda launch:count=10
	equal "bytes without counters" "0" "$(sql 'select distinct local_bytes_per_thread from signatures')"
}

@test "a launch of a counted kind is named by the first of them" {
	record driver cuda launch:blocks=5,count=3 launch:blocks=6,count=2 launch:name=other,blocks=5
	equal likes 3 "$(sql 'select count(distinct "like") from counted')"
	equal "first of a kind" "" "$(sql 'select "like" from counted group by "like" having min(correlation) <> "like"')"
}

@test "records of kernels are off around launches that are counted with instrumented code, and only there" {
	export MOCK_CALLS="$PWD/calls"
	record driver cuda launch:count=100,different=5
	equal "pass 0 with records" "$(ranges '^[0-9]+,0,')" "$(ranges '^[0-9]+,0,.*,recorded,')"
	equal "pass 1 without" "$(ranges '^[0-9]+,1,')" "$(ranges '^[0-9]+,1,.*,unrecorded,')"
	[ "$(ranges '^[0-9]+,1,')" -gt 5 ]
	equal kernels $((100 - $(ranges ,unrecorded,))) "$(rows kernels)"
	equal "switched off" "$(ranges ,unrecorded,)" "$(grep -c cuptiActivityDisable calls)"
	equal "rows of both" 0 "$(sql 'select count(*) from counted join kernels using (correlation) where pass = 1')"
	equal "counted in pass 0" "$(sql 'select count(*) from counted where pass = 0')" \
		"$(sql 'select count(*) from counted join kernels using (correlation) where pass = 0')"
}

@test "a graph is counted as a whole and by hardware alone, its kernels stay in the trace" {
	record driver cuda launch:call=graph,name=g,blocks=6,count=40
	warned 0
	equal graphs "$(rows counted)" "$(sql 'select count(*) from counted where is_graph = 1')"
	[ "$(rows counted)" -gt 4 ]
	equal "instrumented values" 0 "$(sql 'select count(*) from counters join metrics on metric = metrics.id where is_patched = 1')"
	noted 5
	equal kernels 40 "$(rows kernels)"
	rm -rf "$recording" ranges
	record driver cuda launch:call=graph_ptsz,name=g,blocks=6,count=40
	[ "$(sql 'select count(*) from counted where is_graph = 1')" -gt 4 ]
}

@test "every way to launch a kernel is counted" {
	record driver cuda launch:count=4,name=a launch:count=4,name=b,call=ptsz launch:count=4,name=c,call=ex \
		launch:count=4,name=d,call=ex_ptsz
	equal names 'a b c d' "$(cut -d, -f3 ranges | sort -u | xargs)"
	noted 16
}

@test "kernels that wait for others are never inside a range" {
	record driver cuda launch:count=9 launch:call=cooperative,name=coop,count=9 \
		launch:call=ex_cooperative,name=coop,count=9 launch:call=cooperative_ptsz,name=coop,count=9 launch:name=ncclDevKernel_AllReduce,count=9 \
		launch:name=nvshmem_barrier,count=9 launch:name=_Z36barrier_on_stream_kernel_threadgroup,count=9 launch:count=9
	warned 0
	[ "$(ranges ',_Z4stepPfi,')" -gt 3 ]
	equal others 0 "$(ranges ',(coop|nccl|nvshmem|_Z36barrier)')"
	equal counted "$(ranges .)" "$(rows counted)"
	equal kernels $((72 - $(ranges ,unrecorded,))) "$(rows kernels)"
}

@test "graphs are left alone once a kernel that waits for others was captured" {
	record driver cuda capture:begin launch:count=3,name=own capture:end launch:call=graph,name=before,count=9 \
		capture:begin launch:name=ncclDevKernel_AllReduce capture:end launch:call=graph,name=after,count=9 launch:count=9
	warned 0
	[ "$(sql 'select count(*) from counted where is_graph = 1')" -gt 2 ]
	[ "$(ranges ',before,')" -gt 2 ]
	equal after 0 "$(ranges ,after,)"
	[ "$(ranges ',_Z4stepPfi,')" -gt 2 ]
	record driver cuda capture:begin launch:call=cooperative,name=coop capture:end launch:call=graph,name=after,count=9
	equal cooperative 0 "$(ranges ,after,)"
}

@test "ROOFLINE_COUNTERS_SKIP names other kernels to leave alone" {
	export ROOFLINE_COUNTERS_SKIP='^special'
	record driver cuda launch:name=specialized,count=5 launch:name=nccl,count=5
	equal special 0 "$(ranges ,specialized,)"
	[ "$(ranges ,nccl,)" -gt 0 ]
}

@test "nothing is counted while a stream is captured, and counting goes on afterwards" {
	for form in {0..5}; do
		rm -rf "$recording" ranges
		export MOCK_CAPTURE=$form
		record driver cuda launch:count=2 capture:begin launch:count=20,name=node launch:call=graph,name=g \
			capture:end launch:count=9,name=after
		warned 0
		equal "captured by call $form" 0 "$(ranges 'captured$')"
		equal "during $form" 0 "$(ranges ',(node|g),')"
		[ "$(ranges ,after,)" -gt 2 ]
	done
}

@test "a capture that the driver refuses does not end counting" {
	record driver cuda capture:refused launch:count=9
	[ "$(ranges .)" -gt 2 ]
}

@test "a counter asked for by name is counted beside the set, or alone" {
	export ROOFLINE_COUNTERS=lts__t_sectors.sum
	record driver cuda launch:count=9,blocks=7
	warned 0
	equal metrics 'gpu__time_duration.sum lts__t_sectors.sum' \
		"$(sql 'select text from metrics join names on name = names.id order by metrics.id' | xargs)"
	equal values 7 "$(sql "select distinct value from counters join metrics m on metric = m.id join names on m.name = names.id where text = 'lts__t_sectors.sum'")"
	equal passes 1 "$(property counters_passes)"
}

@test "sets and counters are asked for together, each once" {
	export ROOFLINE_COUNTERS=sm,atomics,sm,dram__bytes_read.sum,sm__cycles_active.max
	record driver cuda launch:count=20
	warned 0
	equal doubles "" "$(sql 'select text from metrics join names on name = names.id group by text having count(*) > 1')"
	equal roles 2 "$(sql "select count(*) from metrics where role in ('warps_active_percent', 'l2_atom_requests')")"
	noted 4
}

@test "a counter that the chip does not have is named with the chip, and the others are counted" {
	export ROOFLINE_COUNTERS=roofline,dram__no_such.sum,lts__no_such.sum
	record driver cuda launch:count=20 exit:6
	warned 1 'dram__no_such.sum is no counter of this chip \(GH100\)'
	ended_with 6
	noted 20
}

@test "a request that leaves no counter is reported, and the trace is recorded" {
	export ROOFLINE_COUNTERS=roofline MOCK_NO_METRICS=__
	record driver cuda launch:count=20
	problem 'the counters cannot be configured: .*this chip has none of them'
	equal kernels 20 "$(rows kernels)"
}

@test "a counter that needs two passes is refused with the remedy, and taken with --replay" {
	export ROOFLINE_COUNTERS=roofline,lts__t_sectors.sum MOCK_TWO_PASSES=lts__t_sectors
	record driver cuda launch:count=20
	warned 1 'lts__t_sectors.sum needs more than one pass: ask for it with --replay'
	noted 20
	rm -rf "$recording" ranges
	export ROOFLINE_REPLAY=1
	record driver cuda launch:count=20
	warned 1 '--replay: every kernel runs [0-9]+ times, once for each pass'
	equal sectors 8 "$(sql "select distinct value from counters join metrics m on metric = m.id join names on m.name = names.id where text = 'lts__t_sectors.sum'")"
}

@test "roles that the chip has no counter for are gaps" {
	export MOCK_NO_METRICS=data_bytes_mem_shared,dram__bytes
	record driver cuda launch:count=20
	warned 0
	equal gaps 'dram_read_bytes dram_write_bytes shared_bytes' "$(sql 'select role from metrics where name = 0' | xargs)"
}

@test "tensor types are counted once a kernel was seen to use the tensor cores" {
	record driver cuda launch:count=20 launch:name=gemm,count=40,blocks=3 launch:count=20
	warned 0
	equal "rows of bf16" 1 "$(sql "select count(*) from metrics where role = 'tensor_bf16_ops'")"
	equal bf16 12288 "$(sql "select max(value) from counters join metrics m on metric = m.id where role = 'tensor_bf16_ops'")"
	[ "$(property counters_passes | tail -1)" -gt 2 ]
	equal "ranges of the second request" 2 "$(sql "select count(*) from metrics where role = 'range_ns'")"
	noted 40
}

@test "constants that the tensor cores are used for are no reason to count tensor types" {
	record driver cuda launch:name=constants,count=40
	equal "instructions" 1 "$(sql "select max(value) > 0 from counters join metrics m on metric = m.id where role = 'tensor_instructions'")"
	equal "tensor types" 0 "$(sql "select count(*) from metrics where role like 'tensor_%_ops'")"
}

@test "--kernels limits what is counted to what is recorded" {
	export ROOFLINE_KERNELS=wanted
	record driver cuda launch:name=wanted,count=9 launch:name=other,count=9 launch:call=graph,name=g,count=9
	equal others 0 "$(ranges ',(other|g),')"
	[ "$(ranges ,wanted,)" -gt 2 ]
}

@test "a --kernels that is no regular expression limits nothing" {
	export ROOFLINE_KERNELS='step('
	record driver cuda launch:count=9 exit:6
	warned 1 'is no regular expression'
	ended_with 6
	[ "$(ranges .)" -gt 2 ]
}

@test "outside --delay and --duration nothing is counted" {
	export ROOFLINE_DELAY_S=1
	record driver cuda launch:name=early,count=9 launch:name=late,count=120,pause_us=10000
	equal early 0 "$(ranges ,early,)"
	[ "$(ranges ,late,)" -gt 2 ]
}

@test "the time that counting took stands among the overheads" {
	record driver cuda launch:count=20
	equal overheads "$(rows counted)" "$(sql "select count(*) from overheads join counted using (correlation) where is_profiler = 1")"
}

# What counters have done to the program, when they cannot be had: nothing.

@test "without permission at the first question the warning has the remedy" {
	export MOCK_COUNTERS=cuptiProfilerGetCounterAvailability=35
	record driver cuda launch:count=20 exit:6
	problem '.*CUPTI_ERROR_INSUFFICIENT_PRIVILEGES \(35\): .*CAP_SYS_ADMIN.*NVreg_RestrictProfilingToAdminUsers=0'
	ended_with 6
	equal kernels 20 "$(rows kernels)"
	equal counted 0 "$(rows counted)"
	[[ "$(property counters_problem)" == *INSUFFICIENT_PRIVILEGES* ]]
}

@test "without permission at the first start, for two contexts, there is one warning" {
	export MOCK_COUNTERS=cuptiRangeProfilerStart=35
	record driver cuda launch:count=20 launch:count=20,context=2 exit:6
	problem 'the counters cannot be started: .*\(35\):.*'
	equal kernels 40 "$(rows kernels)"
}

@test "whatever function of CUPTI fails, the first time or later, the program and its trace go on" {
	local at function
	for function in cuptiProfilerInitialize cuptiDeviceGetChipName cuptiProfilerHostInitialize \
		cuptiProfilerHostConfigAddMetrics cuptiProfilerHostGetConfigImageSize \
		cuptiProfilerHostGetConfigImage cuptiProfilerHostGetNumOfPasses cuptiRangeProfilerEnable \
		cuptiRangeProfilerGetCounterDataSize cuptiRangeProfilerCounterDataImageInitialize \
		cuptiRangeProfilerSetConfig cuptiRangeProfilerStart{,@3} cuptiRangeProfilerStop{,@2} \
		cuptiRangeProfilerPushRange{,@7} cuptiRangeProfilerPopRange{,@7} \
		cuptiRangeProfilerDecodeData{,@3} cuptiProfilerHostEvaluateToGpuValues{,@9}; do
		at=${function#*@}
		[ "$at" != "$function" ] || at=1
		export MOCK_COUNTERS=${function%@*}=999@$at
		echo "$MOCK_COUNTERS" # for whoever reads a failure
		rm -rf "$recording" ranges
		record driver cuda launch:count=60,different=3 exit:6
		problem '.*'
		ended_with 6
		equal kernels $((60 - $(ranges ,unrecorded,))) "$(rows kernels)"
		[ -n "$(property counters_problem)" ]
		[ "$(ranges .)" -le $(($(rows counted) + $(loss unusable_counts))) ]
		equal "values of no launch" 0 "$(sql 'select count(*) from counters where counted not in (select id from counted)')"
	done
}

@test "a CUPTI without the range profiler is reported, and the trace is recorded" {
	export ROOFLINE_CUPTI="$BUILD/tests/collector/libcupti_bare.so"
	record driver cuda kernels:5 exit:6
	problem 'this CUPTI lacks the range profiler, which 12.6 and newer have'
	equal kernels 5 "$(rows kernels)"
	[ -n "$(property counters_problem)" ]
}

@test "counters that never become numbers leave launches without values" {
	export MOCK_NAN=1
	record driver cuda launch:count=60,different=3 exit:6
	warned 0
	ended_with 6
	[ "$(rows counted)" -gt 5 ]
	equal values 0 "$(rows counters)"
}

@test "without --counters none of it is called" {
	export ROOFLINE_COUNTERS= MOCK_CALLS="$PWD/calls"
	record driver cuda launch:count=60
	equal calls 0 "$(grep -cE 'Profiler|ActivityDisable' calls || true)"
	equal kernels 60 "$(rows kernels)"
}

# Time

@test "a kernel that does not end delays the program for 2 s, is reported, and never counted again" {
	record driver cuda launch:count=4 launch:name=forever,busy_ms=600000 launch:count=4,name=beside \
		idle:1 launch:count=200,name=after,pause_us=5000 launch:name=forever,count=5 exit:6
	warned 1 'a counted kernel did not end within 2 s'
	ended_with 6
	equal forever 1 "$(counted_of forever)"
	equal beside 0 "$(counted_of beside)"
	[ "$(counted_of after)" -gt 0 ]
	equal void 1 "$(loss unusable_counts)"
	equal "values of the void launch" 0 "$(sql "select count(*) from counters c join counted on counted.id = c.counted where correlation = $(awk -F, '$3 == "forever" { print $1 }' ranges)")"
}

@test "work that runs long before a launch keeps it from being counted, not from running" {
	record driver cuda launch:name=long,call=cooperative,busy_ms=600000 launch:count=3 idle:1 \
		launch:name=late,count=200,pause_us=5000
	equal during 0 "$(ranges ',_Z4stepPfi,')"
	[ "$(ranges ,late,)" -gt 0 ]
}

@test "with no share of the time only the first samples are taken" {
	export ROOFLINE_COUNTERS_SHARE=0
	record driver cuda launch:count=300,pause_us=1000,busy_ms=1
	[ "$(rows counted)" -gt 0 ]
	[ "$(rows counted)" -lt 20 ]
	rm -rf "$recording" ranges
	export ROOFLINE_COUNTERS_SHARE=0
	record driver cuda launch:count=40,busy_ms=90
	# each costs 90 ms, and the credit is 300 ms
	[ "$(ranges .)" -le 5 ]
	[ "$(ranges .)" -ge 2 ]
}

# What launches that are not counted do not wait for

@test "a launch that is not counted returns while another thread is in a counted first launch of 2 s" {
	export ROOFLINE_KERNELS=first
	record driver cuda launch_beside:name=first,slow_us=2000000 timed_launch:count=1000 join_beside
	grep -q 'that was quick' with.out
	[ "$(counted_of first)" -gt 0 ]
	equal "void, for others ran beside it" 1 "$(loss unusable_counts)"
	equal "values of it" 0 "$(rows counters)"
}

@test "nor does one wait that could be counted, and its turn comes later" {
	record driver cuda launch_beside:name=first,slow_us=2000000 timed_launch:count=1000,name=other \
		join_beside launch:name=other,count=2000 launch:name=first,count=3
	grep -q 'that was quick' with.out
	[ "$(counted_of other)" -gt 0 ]
	equal "first kernel is counted again" "0|1" \
		"$(sql "select min(pass), max(pass) from counted where correlation in ($(awk -F, '$3 == "first" { printf "%s%s", comma, $1; comma = "," }' ranges))")"
}

@test "a launch does not wait for a disk that takes seconds for a write" {
	export ODD_DISK=slow ODD_TABLE=/counters.csv ROOFLINE_FLUSH_MS=10
	local steps=(driver cuda "shell:touch timing" launch:count=20 until_lines:1:held timed_launch:count=300,different=30 "shell:rm timing")
	capture bare "$app" "${steps[@]}"
	capture with env CUDA_INJECTION64_PATH="$collector" \
		LD_PRELOAD="$runtimes$BUILD/tests/collector/libodd_disk.so" "$app" "${steps[@]}"
	same_as_bare
	grep -q 'that was quick' with.out
	equal counted "$(ranges .)" "$(rows counted)"
	noted 100
}

@test "a kernel that gets the handle of one that was unloaded is judged by its own name" {
	export ROOFLINE_KERNELS=wanted
	# equally long, and alike in their middle and at their ends, which is what is read of a name at a launch
	local first=wanted_by_the_test_of_modules then=others_by_the_test_of_modules
	record driver cuda launch:name=$first,reused=1,count=9 unload_module launch:name=$then,reused=1,count=9 \
		unload_module launch:name=$first,reused=1,blocks=5,count=9
	equal others 0 "$(ranges ",$then,")"
	[ "$(ranges ",$first,8,")" -gt 2 ]
	[ "$(ranges ",$first,5,")" -gt 2 ]
}

@test "the kernel that takes most of the time is counted though others came first and took the credit" {
	export ROOFLINE_COUNTERS_SHARE=0 ROOFLINE_FLUSH_MS=20
	record driver cuda launch:name=light,count=60,different=60,busy_ms=30 \
		launch:name=heavy,run_us=100000,count=50,pause_us=10000
	[ "$(counted_of light)" -gt 5 ]
	[ "$(counted_of heavy)" -gt 0 ]
}

# More of everything

@test "several contexts are counted side by side, each for its device" {
	record driver cuda launch:count=9,context=1,blocks=3 launch:count=9,context=2,blocks=4 \
		launch:count=9,context=1,blocks=5 launch:count=9,context=3,blocks=6
	warned 0
	equal "contexts and devices" '1|0 2|1 3|0' "$(sql 'select distinct context, device from counted order by 1' | xargs)"
	noted 20
}

@test "more contexts than are counted do no harm" {
	local steps=() i
	for i in {1..20}; do steps+=("launch:count=3,context=$i"); done
	record driver cuda "${steps[@]}" exit:6
	warned 0
	ended_with 6
	equal contexts 16 "$(sql 'select count(distinct context) from counted')"
}

@test "a context that is destroyed hands over its values first, and one at its address starts anew" {
	record driver cuda launch:count=5,context=7,blocks=3 end_context:7 launch:count=5,context=7,blocks=4 end_context:8
	warned 0
	equal counted "$(ranges .)" "$(rows counted)"
	equal "requests" 2 "$(sql "select count(*) from metrics where role = 'range_ns'")"
	noted 4
}

@test "a program that exits inside a counted launch ends as ever, waits for nothing, and what was not read is counted" {
	local begun_ms=$(($(date +%s%N) / 1000000))
	record driver cuda launch:exit=5
	[ $(($(date +%s%N) / 1000000 - begun_ms)) -lt 1900 ]
	warned 0
	ended_with 5
	readable
	sealed
	equal unusable_counts 1 "$(loss unusable_counts)"
}

@test "a program that exits while others launch ends as ever" {
	for _ in 1 2 3; do
		rm -rf "$recording" ranges
		record driver cuda background_launch:4 sleep_ms:50 exit:5
		warned 0
		ended_with 5
		readable
		sealed
	done
}

@test "eight threads that launch at once get the values of their own launches" {
	record driver cuda launch:threads=8,count=300,different=4 exit:6
	warned 0
	ended_with 6
	readable
	equal signatures 32 "$(sql 'select count(distinct "like") from counted')"
	# where a thread is not scheduled for 10 ms others run in its range, and it is void
	[ "$(loss unusable_counts)" -gt 0 ] ||
		equal counted "$(cut -d, -f1,2 ranges | sort -u | wc -l)" "$(rows counted)"
	noted 300
}

@test "a launch that one thread was let go with does not run in the range of another" {
	record driver cuda launch:threads=4,count=60,mixed=2,slow_us=300
	warned 0
	[ "$(loss unusable_counts)" -gt 0 ] || equal "inside a range" 0 "$(ranges ',ncclMixed,')"
	[ "$(rows counted)" -gt 10 ]
	noted 10
}

@test "after SIGKILL whole rows are left" {
	local started_s=$SECONDS
	export ROOFLINE_FLUSH_MS=20
	CUDA_INJECTION64_PATH="$collector" "$app" driver cuda launch_forever:count=50,different=7 >killed.out 2>killed.err &
	until noted 50 2>/dev/null || [ $((SECONDS - started_s)) -gt 60 ]; do sleep 0.05; done
	kill -KILL $!
	wait $! || true
	cut_off
	readable
	noted 50
}

@test "a forked child counts nothing and disturbs nothing" {
	record driver cuda launch:count=9 fork_run:launch:count=9,name=child launch:count=9 exit:6
	warned 0
	ended_with 6
	readable
	equal child 0 "$(ranges ,child,)"
	noted 10
}

# --replay

@test "in a replay every launch has all its values, and those that are left alone have times" {
	export ROOFLINE_REPLAY=1 ROOFLINE_COUNTERS=roofline
	record driver cuda launch:count=30,different=3 launch:name=nccl,count=3 launch:call=cooperative,name=coop,count=3 \
		launch:count=100,different=5,blocks=20
	warned 1 '--replay: every kernel runs [0-9]+ times'
	equal mode replay "$(property counters_mode)"
	equal "inside a range" 0 "$(ranges ',(nccl|coop),')"
	equal counted 130 "$(rows counted)"
	equal values 0 "$(sql "select count(*) from counted where id not in (select c.counted from counters c join metrics on metric = metrics.id where role = 'fp32_fma')")"
	noted 390
	equal kernels 136 "$(rows kernels)"
	equal invalid 0 "$(loss invalid_times)"
}

@test "in a replay on several threads nothing is repeated that must not be, and values are of the right launches" {
	export ROOFLINE_REPLAY=1
	record driver cuda launch:threads=8,count=200,different=4,mixed=5 exit:6
	ended_with 6
	readable
	equal "inside a range" 0 "$(ranges ',ncclMixed,')"
	[ "$(rows counted)" -gt 100 ]
	noted 300
}

# rooflinectl record

@test "record passes --counters, --counters-share and --replay on" {
	capture with "$ROOFLINECTL" record -o "$recording" --counters -- "$app" driver cuda launch:count=9
	ended_with 0
	equal counters roofline "$(property counters)"
	rm -rf "$recording" ranges
	capture with "$ROOFLINECTL" record -o "$recording" --counters=sm,lts__t_bytes.sum --replay --counters-share=50 -- \
		env "$app" driver cuda launch:count=9
	equal counters '"sm,lts__t_bytes.sum"' "$(property counters)"
	equal mode replay "$(property counters_mode)"
}

# usage ARGUMENT REGEX: exits with 2 and one line of that sort
usage() {
	capture with "$ROOFLINECTL" record -o "$recording" "$1" -- "$app" print:hello
	ended_with 2
	cat with.err
	[ ! -s with.out ]
	[ "$(grep -cE "^rooflinectl record: .*$2" with.err)" -eq 1 ]
	[ "$(wc -l <with.err)" -le 2 ] # the second says where help is
}

@test "record refuses what cannot be a set, a counter or a share, in one line" {
	usage --counters= 'takes roofline, atomics, shared, global, sm, stalls or names'
	usage --counters=roofline,memory "'memory' is neither a set"
	usage --counters=roofline, "'' is neither a set"
	usage --counters-share=-1 "percent from 0 to 100, not '-1'"
	usage --counters-share=101 "percent from 0 to 100, not '101'"
	usage --counters-share=nan "percent from 0 to 100, not 'nan'"
	usage --counters-share=half "percent from 0 to 100, not 'half'"
	usage --replay=5 "doesn't allow an argument|takes no argument"
}
