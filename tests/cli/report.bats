#!/usr/bin/env bats
# rooflinectl report: what it says of a small recording, and how it fails.

load common

# A recording of one process: P, a wait that lasts 1 us beyond it, 2 us of host code, then N, whose
# launch call runs 1 us and starts it 1 us later; after that a pageable copy that no call launched.
make_recording() {
	local folder="$1/host.7"
	mkdir -p "$folder"
	cat >"$folder/process.csv" <<-END
		key,value
		schema,1
		host,host
		pid,7
		command,"./app --size 3"
		driver,13000
		cupti,130001
		graphs,node
		sealed_ns,2000000
	END
	cat >"$folder/names.csv" <<-END
		id,text
		1,_Z5saxpyifPf
		2,cudaLaunchKernel
		3,cudaStreamSynchronize
	END
	cat >"$folder/devices.csv" <<-END
		device,name,uuid,compute_major,compute_minor,sm_count
		0,NVIDIA H200,GPU-1234,9,0,132
	END
	printf 'context,device,null_stream\n1,0,7\n' >"$folder/contexts.csv"
	printf 'context,stream\n1,7\n' >"$folder/streams.csv"
	cat >"$folder/signatures.csv" <<-END
		id,name,grid_x,grid_y,grid_z,block_x,block_y,block_z,registers_per_thread
		1,1,64,2,1,256,1,1,32
	END
	cat >"$folder/kernels.csv" <<-END
		start_ns,end_ns,signature,device,context,stream,correlation
		1000000,1010000,1,0,1,7,1
		1015000,1020000,1,0,1,7,3
	END
	cat >"$folder/copies.csv" <<-END
		start_ns,end_ns,kind,src_memory,dst_memory,bytes,device,context,stream
		1021000,1041000,1,1,3,4194304,0,1,7
	END
	cat >"$folder/api.csv" <<-END
		start_ns,end_ns,name,thread,correlation,result
		990000,995000,2,42,1,0
		996000,1011000,3,42,2,0
		1013000,1014000,2,42,3,0
	END
}

# The names of all sections, as the refusal of another one tells them.
sections() {
	"$ROOFLINECTL" report --section none 2>&1 | sed -n 's/.*there are: \(.*\); see .*/\1/p'
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	make_recording roofline.1
}

json() {
	"$ROOFLINECTL" report roofline.1 --format json | python3 -c "
import json, sys
report = json.load(sys.stdin)
print($1)"
}

@test "the text report tells what ran, the causes of idle time, and what was lost" {
	run "$ROOFLINECTL" report roofline.1
	[ "$status" -eq 0 ]
	[[ "$output" == *"host.7 on host: ./app --size 3"* ]]
	[[ "$output" == *"GPU 0  NVIDIA H200"* ]]
	[[ "$output" == *"saxpy "*"grid 64x2 block 256, 32 regs"* ]]
	[[ "$output" =~ synchronization\ +1\.00\ us ]]
	[[ "$output" =~ host\ compute\ +2\.00\ us ]]
	[[ "$output" =~ launch\ +2\.00\ us ]]
	[[ "$output" == *"Lost: nothing"* ]]
	[[ "$output" == *"Not visible: "* ]]
}

@test "causes add up to idle time, and busy and idle to wall time" {
	run json "[(d['wall_ns'], d['busy_ns'], d['idle_ns'], sum(d['idle_by_cause'].values())) for d in report['devices']]"
	[ "$output" = "[(41000, 35000, 6000, 6000)]" ]
}

@test "JSON has the promised keys" {
	run json "report['schema'], set('$(sections)'.split()) - set(report)"
	[ "$output" = "4 {'events'}" ] # which is on request
	run json "[report['kernels'][0][k] for k in 'name mangled count total_ns mean_ns p50_ns p99_ns min_ns max_ns grid block registers'.split()]"
	[ "$output" = "['saxpy(int, float, float*)', '_Z5saxpyifPf', 2, 15000, 7500.0, 5000, 10000, 5000, 10000, [64, 2, 1], [256, 1, 1], 32]" ]
	run json "[(g['duration_ns'], g['cause'], g['before']['kind'], g['after']['kind'], sum(g['by_cause'].values())) for g in report['gaps']]"
	[ "$output" = "[(5000, 'launch', 'kernel', 'kernel', 5000), (1000, 'unknown', 'kernel', 'copy', 1000)]" ]
	run "$ROOFLINECTL" report "$root/tests/recordings/graph_chain.naive" --format json
	printf '%s' "$output" >report.json
	run python3 -c "
import json
[syncs, graph] = json.load(open('report.json'))['advice']
print([(a['id'], a['strategy'], a['workload'], bool(a['evidence'])) for a in (syncs, graph)])
print(all(p['low'] < p['speedup'] < p['high'] for a in (syncs, graph) for p in (a, a['place'])))"
	[ "${lines[0]}" = "[('sync_every_kernel', 'remove_syncs', 'graph_chain', True), ('launch_bound_graph', 'cuda_graph', 'graph_chain', True)]" ]
	[ "${lines[1]}" = True ]
}

@test "CSV is a table of one section with its columns in the first line" {
	run "$ROOFLINECTL" report roofline.1 --format csv
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[0]}" == name,count,total_ns,* ]]
	[[ "${lines[1]}" == '"saxpy(int, float, float*)",2,15000,7500,5000,10000,'* ]]
	run "$ROOFLINECTL" report roofline.1 --format csv --section copies
	[ "${lines[1]}" = "HtoD,pageable,device,0,1,20000,20000,20000,20000,20000,20000,4194304,209715200000,,,," ]
}

@test "every section of CSV has as many fields in each row as columns" {
	for section in $(sections); do
		"$ROOFLINECTL" report roofline.1 -f csv -s "$section" | python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows and all(len(row) == len(rows[0]) for row in rows), rows"
	done
}

# Columns by the rule of report.md: an object's columns, three of dimensions, one of a list or map.
@test "every section of CSV has a column for each value that JSON has" {
	cat >columns.py <<-'END'
		import csv, json, sys
		def columns(value, key=""):
		    if isinstance(value, dict) and key != "properties":
		        return sum(columns(inner, name) for name, inner in value.items())
		    return 3 if key in ("grid", "block", "cluster") else 1
		rows = json.load(open("report.json"))[sys.argv[1]]
		if isinstance(rows, dict): # what stands for the section holds the rows
		    rows = next((x for x in rows.values() if isinstance(x, list) and x), [])
		heads = next(csv.reader(open("section.csv")))
		assert len(set(heads)) == len(heads), heads
		for row in rows:
		    assert columns(row) == len(heads), (sys.argv[1], row, heads)
	END
	for recording in roofline.1 "$root/tests/recordings/graph_chain.naive.counted"; do
		"$ROOFLINECTL" report "$recording" -f json >report.json
		for section in $(sections); do
			[ "$section" != events ] || continue # tests/cli/events.bats
			"$ROOFLINECTL" report "$recording" -f csv -s "$section" >section.csv
			python3 columns.py "$section"
		done
	done
}

@test "lists and maps are one field of CSV with an entry a line, and text is quoted" {
	"$ROOFLINECTL" report roofline.1 -f csv -s processes >processes.csv
	run python3 -c "
import csv
[row] = csv.DictReader(open('processes.csv'))
print(row['rank'] == '', row['is_cut_off'], 'driver=13000' in row['properties'].split(chr(10)))"
	[ "$output" = "True 0 True" ]
}

@test "help and the refusal of a section name every one of them" {
	run "$ROOFLINECTL" report --help
	for section in $(sections); do [[ "$output" == *" $section"* ]]; done
	[[ "$(sections)" == *"plan advice rejected next losses"* ]]
}

@test "a section alone prints nothing else" {
	run "$ROOFLINECTL" report roofline.1 --section api
	[ "${lines[0]}" = "API calls" ]
	[[ "$output" != *saxpy* ]]
}

@test "no line is wider than 80 columns" {
	"$ROOFLINECTL" report roofline.1 >out
	run awk 'length > 80' out
	[ -z "$output" ]
}

@test "--wide shows names in full" {
	run "$ROOFLINECTL" report roofline.1 --wide
	[[ "$output" == *"saxpy(int, float, float*)"* ]]
}

@test "--top limits the rows of a list" {
	run --separate-stderr "$ROOFLINECTL" report roofline.1 -f csv -s gaps --top 1
	[ "${#lines[@]}" -eq 2 ]
	[ "$stderr" = "rooflinectl report: note: 1 more row is left out by --top 1" ]
	run json "report.get('left_out')"
	[ "$output" = None ]
	run "$ROOFLINECTL" report roofline.1 --top 1
	[[ "$output" == *"Longest gaps  (1 of 2,"* ]]
}

@test "without DIR the newest recording under the current folder is read" {
	make_recording roofline.2
	sed -i 's/--size 3/--size 4/' roofline.2/host.7/process.csv
	touch -d '1 hour ago' roofline.1/host.7/process.csv
	run "$ROOFLINECTL" report
	[ "$status" -eq 0 ]
	[[ "$output" == *"./app --size 4"* ]]
}

@test "without any recording it says how to make one" {
	mkdir empty
	cd empty
	run "$ROOFLINECTL" report
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"rooflinectl record"* ]]
}

@test "a recording that is not there is one line on stderr and exit code 1" {
	run "$ROOFLINECTL" report nowhere
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "rooflinectl report: "*nowhere* ]]
}

@test "wrong arguments exit with 2 and name what is wrong" {
	for arguments in "--format yaml" "--section nothing" "--top none" "--top 0" "one two" "--odd"; do
		run "$ROOFLINECTL" report $arguments
		[ "$status" -eq 2 ]
		[[ "${lines[0]}" == "rooflinectl report: "* ]]
	done
}

@test "a recording that was cut off is told in the head" {
	sed -i '/sealed_ns/d' roofline.1/host.7/process.csv
	run "$ROOFLINECTL" report roofline.1
	[[ "$output" == *"cut off"*"did not end properly"* ]]
}

@test "a recording of a part is told in the head" {
	echo "filter_kernels,saxpy" >>roofline.1/host.7/process.csv
	run "$ROOFLINECTL" report roofline.1
	[[ "$output" == *"  filtered  only a part was recorded"* ]]
}

@test "losses are summed by kind and explained" {
	printf 'time_ns,kind,count,detail\n1,dropped_records,5,x\n2,dropped_records,7,x\n' \
		>roofline.1/host.7/losses.csv
	run "$ROOFLINECTL" report roofline.1 --section losses
	[ "$output" = "Lost: 12 dropped_records (CUPTI had no buffer to put them in)" ]
	run json "report['losses']"
	[ "$output" = "{'dropped_records': 12}" ]
}

@test "a row that cannot be read is told with its file and line" {
	sed -i '2s/^[^,]*/soon/' roofline.1/host.7/kernels.csv
	run "$ROOFLINECTL" report roofline.1 --section losses
	[[ "${lines[0]}" == "Lost: 1 unreadable_rows "* ]]
	[[ "$output" == *"first: host.7/kernels.csv:2: "*" is not a whole number"* ]]
}

@test "a file that was cut off is told with its file and line" {
	truncate -s -3 roofline.1/host.7/kernels.csv
	run "$ROOFLINECTL" report roofline.1 --section losses
	last=$(($(wc -l <roofline.1/host.7/kernels.csv) + 1))
	[[ "$output" == *"first: host.7/kernels.csv:$last: the last line is cut off"* ]]
}

@test "without API calls the causes are unknown and the report says why" {
	rm roofline.1/host.7/api.csv
	run "$ROOFLINECTL" report roofline.1
	[[ "$output" =~ unknown\ +6\.00\ us ]]
	[[ "$output" == *"API calls: none were recorded"* ]]
}

@test "pages of managed memory that move are told to be invisible" {
	run "$ROOFLINECTL" report roofline.1 --section not_visible --wide
	[[ "$output" != *"managed memory"* ]]
	echo "4,cudaMallocManaged" >>roofline.1/host.7/names.csv
	echo "1014100,1014200,4,42,4,0" >>roofline.1/host.7/api.csv
	run "$ROOFLINECTL" report roofline.1 --section not_visible --wide
	[[ "$output" == *"when pages of managed memory moved"* ]]
	[[ "$output" == *"--managed"* ]]
	run "$ROOFLINECTL" report roofline.1 --section next --wide
	[[ "$output" == *"record --managed -o"* ]]
	echo "managed,1" >>roofline.1/host.7/process.csv
	run "$ROOFLINECTL" report roofline.1 --section not_visible --wide
	[[ "$output" != *"managed memory"* ]]
	run "$ROOFLINECTL" report roofline.1 --section next --wide
	[[ "$output" != *"--managed"* ]]
}

@test "with --managed faults and migrations are told, by direction and cause" {
	{
		echo "start_ns,end_ns,kind,value,address,source,destination,cause"
		echo "1014100,1014200,1,65536,4096,4294967295,0,2"
		echo "1014100,1014100,3,1,4096,4294967295,4294967295,2"
		echo "1014150,1014350,4,12,4096,0,4294967295,2"
	} >roofline.1/host.7/managed.csv
	run "$ROOFLINECTL" report roofline.1 --section managed_memory
	echo "$output"
	[[ "$output" =~ moved\ host\ to\ GPU\ 0\ +page\ fault\ +1\ +64\.0\ KiB\ +100\ ns ]]
	[[ "$output" =~ page\ faults\ on\ GPU\ 0\ +-\ +1\ +-\ +200\ ns ]]
	[[ "$output" =~ page\ faults\ on\ the\ host ]]
	run "$ROOFLINECTL" report roofline.1 --section managed_memory -f csv
	[[ "$output" == *"gpu_page_faults,GPU 0,,,1,12,,200"* ]]
}

@test "what may be child kernels is not called idle" {
	run "$ROOFLINECTL" report "$root/tests/recordings/dynamic_parallelism.device" --section devices --wide
	[[ "$output" =~ possibly\ child\ kernels\ +2\.9[0-9]\ ms\ +46\.[0-9]% ]]
	[[ "$output" == *"not visible in a trace, and not called idle"* ]]
	[[ "$output" =~ idle\ +[0-9]+\ us\ +1[0-9]\.[0-9]% ]]
	[[ ! "$output" =~ synchronization\ +[0-9.]+\ ms ]]
}

@test "host functions in streams are told to be invisible" {
	echo "4,cudaLaunchHostFunc" >>roofline.1/host.7/names.csv
	echo "1014100,1014200,4,42,4,0" >>roofline.1/host.7/api.csv
	run "$ROOFLINECTL" report roofline.1 --section not_visible --wide
	[[ "$output" == *"host functions in streams ran (1 were enqueued"* ]]
}

# N runs from 1015 to 1020 us; the device launches 100 blocks that work from 1030 to 1033 us.
add_samples() {
	local folder="roofline.1/host.7" i
	sed -i 's/sealed_ns/sample_ns,1000\nsealed_ns/' "$folder/process.csv"
	{
		echo device,role,name
		for role in dispatches blocks sm_elapsed_cycles sm_cycles sm_cycles_min sm_cycles_max pcie_write_bytes; do
			echo "0,$role,counter"
		done
	} >"$folder/sampled_metrics.csv"
	printf 'device,start_ns,end_ns,interval_ns\n0,1010000,1040000,1000\n' >"$folder/sampled_spans.csv"
	{
		echo start_ns,length_ns,device,sample_count,dispatches,blocks,sm_cycles,sm_cycles_min,sm_cycles_max,sm_elapsed_cycles,pcie_write_bytes
		echo 1010000,5000,0,5,0,0,0,0,0,5000,500
		for i in {15..39}; do
			if [ "$i" -lt 20 ]; then
				echo "10${i}000,1000,0,1,$((i == 15)),$((i == 15 ? 128 : 0)),132000,1000,1000,1000,100"
			elif [ "$i" -ge 30 ] && [ "$i" -lt 33 ]; then
				echo "10${i}000,1000,0,1,$((i == 30)),$((i == 30 ? 100 : 0)),66000,0,1000,1000,2100"
			else
				echo "10${i}000,1000,0,1,0,0,0,0,0,1000,100"
			fi
		done
	} >"$folder/samples.csv"
}

@test "samples: text tells idle by trace and by SMs, SMs of kernels, and what the device launched" {
	add_samples
	run "$ROOFLINECTL" report roofline.1 --section sampling
	[ "$status" -eq 0 ]
	[[ "$output" == *"GPU 0  30.0 us in 1 window of 1.00 us samples; the other "*" not sampled"* ]]
	[[ "$output" =~ "no operation runs"\ +6\.00\ us ]]
	[[ "$output" =~ "no SM is active"\ +22\.0\ us ]]
	[[ "$output" =~ "copies and memsets"\ +16\.0\ us ]]
	[[ "$output" == *"PCIe out 200 MB/s"* ]]
	[[ "$output" == *"PCIe out excludes the 100 MB/s that sampling writes"* ]]
	[[ "$output" != *"were lost"* ]]
	run "$ROOFLINECTL" report roofline.1 --section sm_activity
	[[ "$output" =~ 100\.0%\ +100\.0%\ +100\.0%\ +0\.0%\ +1\ +5\.00\ us ]]
	run "$ROOFLINECTL" report roofline.1 --section device_work
	[[ "$output" == *"copies and memsets, or nothing"* ]]
	run "$ROOFLINECTL" report roofline.1 --section bursts
	[[ "$output" =~ 3\.00\ us\ at\ +30\.0\ us\ +1\ +100\ +in ]]
}

@test "samples: CSV heads are stable and JSON has the promised keys" {
	add_samples
	columns() { "$ROOFLINECTL" report roofline.1 -f csv -s "$1" | head -n 1; }
	[ "$(columns sampling)" = device,name,interval_ns,sample_count,window_count,sampled_ns,has_sms,traced_ns,active_ns,both_ns,neither_ns,copies_ns,inside_kernels_ns,edges_ns,untraced_ns,mean_sms,mean_active_sms,dram_bytes,l2_bytes,atomic_bytes,pcie_read_bytes,pcie_write_bytes,nvlink_rx_bytes,nvlink_tx_bytes,pcie_own_bytes ]
	[ "$(columns sm_activity)" = name,launch_count,span_ns,sms,least_sm,busiest_sm,tail_ns,tensor,dram_byte_per_s ]
	[ "$(columns device_work)" = kernel,process,graph,is_inside,launch_count,dispatch_count,block_count,dram_bytes,span_ns,own_ns,quiet_ns,count,total_ns,mean_ns,p50_ns,p99_ns,min_ns,max_ns ]
	[ "$(columns bursts)" = device,start_ns,start_relative_ns,end_ns,end_relative_ns,dispatch_count,block_count,dram_bytes,is_inside,is_concurrent,op_start_ns,op_start_relative_ns,op_end_ns,op_end_relative_ns ]
	for section in sampling sm_activity device_work bursts; do
		"$ROOFLINECTL" report roofline.1 -f csv -s $section | python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert len(rows) == 2 and len(rows[0]) == len(rows[1]), rows"
	done
	run json "[report['sampling'][0][k] for k in 'interval_ns sample_count window_count sampled_ns has_sms traced_ns active_ns both_ns neither_ns differences_ns pcie_write_bytes pcie_own_bytes'.split()]"
	[ "$output" = "[1000, 30, 1, 30000, True, 24000, 8000, 8000, 6000, {'copies': 16000, 'inside_kernels': 0, 'edges': 0, 'untraced': 0}, 9000.0, 3000.0]" ]
	run json "[report['sm_activity'][0][k] for k in 'launch_count span_ns sms least_sm busiest_sm tail_ns'.split()]"
	[ "$output" = "[1, 5000, 1.0, 1.0, 1.0, 0]" ]
	run json "[report['bursts'][0][k] for k in 'device start_ns end_ns dispatch_count block_count is_inside is_concurrent'.split()]"
	[ "$output" = "[0, 1030000, 1033000, 1, 100, True, False]" ]
	run json "report['device_work']['burst_count'], report['device_work']['launchers'][0]['kernel']"
	[ "$output" = "(1, None)" ] || [ "$output" = "1 None" ]
}

# Decoding fell behind from 1025 us on: the next session samples each 4 us, from 1032 us on.
@test "samples of two lengths are told as such, and the time between them is not idle" {
	add_samples
	sed -i '2s/.*/0,1010000,1025000,1000\n0,1032000,1040000,4000/' roofline.1/host.7/sampled_spans.csv
	perl -i -ne 'print unless /^10(2[5-9]|3\d)/' roofline.1/host.7/samples.csv
	printf '10%d000,4000,0,1,0,0,0,0,0,4000,100\n' 32 36 >>roofline.1/host.7/samples.csv
	run "$ROOFLINECTL" report roofline.1 --section sampling
	[ "$status" -eq 0 ]
	[[ "$output" == *"GPU 0  23.0 us in 2 windows of 1.00 us to 4.00 us samples; the other "*" not sampled"* ]]
	[[ "$output" =~ "no SM is active"\ +18\.0\ us ]] # of the 23, but for the kernel's 5
}

@test "samples that were lost are told where sampled time is, and not called idle" {
	add_samples
	printf 'time_ns,kind,count,detail\n1,lost_sample_ns,250000,x\n2,lost_sample_ns,250000,x\n' \
		>roofline.1/host.7/losses.csv
	run "$ROOFLINECTL" report roofline.1 --section sampling
	[[ "$output" == *"500 us of samples were lost: not counted, and not as idle"* ]]
	run json "report['sampling'][0]['sampled_ns']"
	[ "$output" = 30000 ]
}

@test "samples that were asked for and not taken: why not" {
	echo "sample_problem,cuptiPmSamplingEnable: insufficient privileges (35)" >>roofline.1/host.7/process.csv
	run json "' | '.join(report['not_visible'])"
	[[ "$output" == *"samples of host.7: cuptiPmSamplingEnable: insufficient privileges (35)"* ]]
}

@test "what samples do not cover and counters that they lack are told to be invisible" {
	run json "[x for x in report['not_visible'] if 'record with --sample' in x] != []"
	[ "$output" = True ]
	add_samples
	run json "' | '.join(report['not_visible'])"
	[[ "$output" != *"record with --sample"* ]]
	[[ "$output" == *"11.0 us of the 41.0 us from first to last operation were not sampled"* ]]
	[[ "$output" == *"over time, on GPU 0: dram, tensor, l2, nvlink (not named by --sample-metrics"* ]]
}

@test "there are no escape sequences when stdout is not a terminal" {
	"$ROOFLINECTL" report roofline.1 >out
	run grep -c $'\033' out
	[ "$output" = 0 ]
}

@test "color on a terminal, none with NO_COLOR" {
	needs_terminal
	unset NO_COLOR
	run script -qec "'$ROOFLINECTL' report roofline.1" /dev/null
	[[ "$output" == *$'\033[1mKernels'* ]]
	export NO_COLOR=1
	run script -qec "'$ROOFLINECTL' report roofline.1" /dev/null
	[[ "$output" != *$'\033'* ]]
}

# What a terminal gets of the command "$@", without what makes it one.
at_terminal() {
	NO_COLOR=1 script -qec "$*" /dev/null </dev/null | tr -d '\r'
}

@test "a terminal gets the same lines as a pipe, devices before the verdict" {
	needs_terminal
	local recording="$root/tests/recordings/graph_chain.naive.roofline"
	at_terminal "'$ROOFLINECTL' report '$recording'" >terminal
	"$ROOFLINECTL" report "$recording" >pipe
	diff <(sort pipe) <(sort terminal)
	[[ $(grep -E "^(GPU|Verdict|  GPU idle|  do:|Recording)" terminal | cut -c 1-8) == \
		"GPU 0  N"$'\n'Verdict$'\n'"  GPU id"$'\n'"  do:   "$'\n'Recordin ]]
	at_terminal "'$ROOFLINECTL' report --section verdict '$recording'" >section
	diff <("$ROOFLINECTL" report --section verdict "$recording") section
}

@test "at a terminal devices and what limits the run are told before advice is found" {
	needs_terminal
	[[ $BUILD != */sanitized ]] || skip "the sanitizer's allocator cannot be replaced"
	local preload="$BUILD/tests/tools/libfail_malloc.so"
	local recording="$root/tests/recordings/graph_chain.naive.roofline"
	FAIL_COUNT=$PWD/count LD_PRELOAD=$preload "$ROOFLINECTL" report "$recording" >whole
	# nine tenths are read and analyzed before advice is looked for, and 1% is left to print
	at_terminal "FAIL_FROM=$(($(cat count) * 95 / 100)) LD_PRELOAD=$preload '$ROOFLINECTL' report '$recording'" >terminal || true
	grep -q "out of memory for the advice" terminal
	diff <(sed -n '/^GPU 0/,/^$/p' whole) <(sed -n '/^GPU 0/,/^$/p' terminal)
	diff <(sed -n '/^  limit/,/^  change/p' whole | grep -v change) <(sed -n '/^  limit/,$p' terminal | grep -v memory)
}

@test "-o writes the file and nothing on stdout" {
	run "$ROOFLINECTL" report roofline.1 -f json -o report.json
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	python3 -m json.tool report.json >/dev/null
}

@test "a full disk is a failure" {
	[ -e /dev/full ] || skip "needs /dev/full"
	for format in text json csv; do
		run "$ROOFLINECTL" report roofline.1 -f "$format" -o /dev/full
		[ "$status" -eq 1 ]
		[[ "$output" == *"could not be written"* ]]
	done
}

@test "no text of a recording reaches the terminal as a control sequence" {
	local folder=roofline.1/host.7
	sed -i $'s/NVIDIA H200/NVIDIA \033[7m\302\233H200/' $folder/devices.csv
	printf 'driver_name,\033[2J\377\n' >>$folder/process.csv
	printf 'time_ns,kind,count,detail\n1,\033[31mred\a,5,x\n' >$folder/losses.csv
	"$ROOFLINECTL" report roofline.1 --wide >out
	run grep -acP '[\x00-\x09\x0b-\x1f\x7f]|\xc2\x9b|\xff' out
	[ "$output" = 0 ]
	grep -q 'NVIDIA ?\[7m??H200' out
	grep -q 'driver ?\[2J?' out
	grep -q '5 ?\[31mred?' out
}

@test "--wide shows names of thousands of characters in full" {
	local name
	name="$(printf 'k%.0s' {1..9000})"
	sed -i "s/_Z5saxpyifPf/$name/" roofline.1/host.7/names.csv
	run "$ROOFLINECTL" report roofline.1 --wide --section kernels
	[[ "$output" == *"$name"* ]]
	run "$ROOFLINECTL" report roofline.1 --wide --section gaps
	[[ "$output" == *"after  $name"* ]]
}

@test "losses of several processes stop at the largest number" {
	printf 'time_ns,kind,count,detail\n1,dropped_records,9223372036854775807,x\n' \
		>roofline.1/host.7/losses.csv
	cp -r roofline.1/host.7 roofline.1/host.8
	cp -r roofline.1/host.7 roofline.1/host.9
	run json "report['losses']"
	[ "$output" = "{'dropped_records': 9223372036854775807}" ]
	run "$ROOFLINECTL" report roofline.1 --section losses
	[[ "$output" == "Lost: 18,446,744,073,709,551,615 dropped_records"* ]]
}

@test "thousands of damaged durations add up to no negative time" {
	head -1 roofline.1/host.7/kernels.csv >kernels.csv
	for i in {1..4000}; do
		echo "$i,$((i + 30 * 24 * 3600 * 1000000000)),1,0,1,7,1"
	done >>kernels.csv
	mv kernels.csv roofline.1/host.7/
	run json "[report['kernels'][0]['total_ns'], report['devices'][0]['busy_ns'] > 0]"
	[ "$output" = "[9223372036854775807, True]" ]
}

@test "the latest times that are read have a gap with causes that add up" {
	local folder=roofline.1/host.7
	head -1 $folder/kernels.csv >kernels.csv
	echo "1000,2000,1,0,1,7,9" >>kernels.csv
	echo "4611686018427387704,4611686018427387709,1,0,1,7,2" >>kernels.csv
	mv kernels.csv $folder/
	rm -f $folder/copies.csv
	head -1 $folder/api.csv >api.csv
	echo "4611686018427386904,4611686018427387703,2,42,2,0" >>api.csv
	mv api.csv $folder/
	run json "[report['gaps'][0]['by_cause'][k] for k in ('host_compute', 'launch')]"
	[ "$output" = "[4611686018427384904, 800]" ]
}

@test "a pipe in the place of a table does not hang the report" {
	rm roofline.1/host.7/kernels.csv
	mkfifo roofline.1/host.7/kernels.csv
	run timeout 10 "$ROOFLINECTL" report roofline.1
	[ "$status" -eq 0 ]
	[[ "$output" == *"copy"* || "$output" == *"Copies"* ]]
}

@test "compare_json.py tells each number that differs by its key, and forgives words, order and new keys" {
	local compare="$root/tests/tools/compare_json.py"
	"$ROOFLINECTL" report roofline.1 -f json >before.json
	run "$compare" before.json before.json
	[ "$status" -eq 0 ]
	python3 - <<-'END'
		import json
		r = json.load(open("before.json"))
		r["not_visible"][0] = "in other words"
		r["devices"][0] = dict(reversed(r["devices"][0].items()), new=1)
		json.dump(r, open("words.json", "w"))
		r["devices"][0]["idle_by_cause"]["launch"] += 1
		del r["kernels"][0]["count"]
		json.dump(r, open("after.json", "w"))
	END
	run "$compare" before.json words.json
	[ "$status" -eq 0 ]
	run "$compare" before.json after.json
	[ "$status" -eq 1 ]
	[[ "$output" == *'$.devices[0].idle_by_cause.launch: 2000 before, 2001 after'* ]]
	[[ "$output" == *'$.kernels[0]: no count any more'* ]]
	[[ "$output" == *"1 files compared, 2 differences" ]]
}

@test "steady state and once are parts of each device's times, in JSON and CSV" {
	"$ROOFLINECTL" report --format json "$root/tests/recordings/torch_train" >report.json
	python3 -c "
import json
report = json.load(open('report.json'))
device, steady = report['devices'][0], report['steady_state'][0]
for key in ('busy_ns', 'idle_ns', 'kernel_ns', 'operation_count'):
    assert device['steady'][key] + device['once'][key] == device[key], key
for cause, ns in device['idle_by_cause'].items():
    assert device['steady']['idle_by_cause'][cause] + device['once']['idle_by_cause'][cause] == ns, cause
assert device['steady']['wall_ns'] + device['once']['wall_ns'] == steady['run_ns']
assert sum(steady['once_by_cause'].values()) == device['once']['wall_ns']
assert steady['iteration']['p10_ns'] <= steady['iteration']['p50_ns'] <= steady['iteration']['p90_ns']
"
	"$ROOFLINECTL" report --format json "$root/tests/recordings/pytorch.compile" >report.json
	python3 -c "
import json
report = json.load(open('report.json'))
assert report['steady_state'] == [] and report['devices'][0]['steady']['wall_ns'] is None"
}
