#!/usr/bin/env bats
# Rooflines, atomics and counters: the sections of a report and the roofs that they stand on.

load common

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	python3 "$BATS_TEST_DIRNAME/../tools/make_counted.py" counted
	# The same on a GPU whose datasheet is known, and of which no ceilings come with rooflinectl.
	cp -r counted h100
	sed -i 's/NVIDIA H200/NVIDIA H100 PCIe/' h100/host.9/devices.csv
	sed 's/NVIDIA H200/NVIDIA H100 PCIe/' counted.ceilings.json >h100.ceilings.json
	grep -q 'H100' h100/host.9/devices.csv
	[ -z "$(find "$BUILD/share/rooflinectl/ceilings" -name '*H100_PCIe*')" ]
}

setup() {
	cd "$BATS_FILE_TMPDIR"
	export XDG_DATA_HOME="$BATS_TEST_TMPDIR/data" TMPDIR="$BATS_TEST_TMPDIR" COLUMNS=80 NO_COLOR=1
}

report() {
	"$ROOFLINECTL" report counted --ceilings counted.ceilings.json "$@"
}

# json EXPRESSION [OPTION...]: of the JSON report of $recording
recording=counted
json() {
	local expression=$1
	shift
	"$ROOFLINECTL" report "$recording" --format json "$@" | python3 -c "
import json, sys
report = json.load(sys.stdin)
print($expression)"
}

@test "the roofline tells the regime, what binds, the roofs and where they are from" {
	run report --section roofline
	[ "$status" -eq 0 ]
	[[ "$output" == *"  application  latency-bound: "* ]]
	[[ "$output" == *"roofs        counted.ceilings.json: measured on NVIDIA H200 with driver"*"2026-01-31"* ]]
	[[ "$output" =~ "DRAM "\ +[0-9.]+\ GiB\ +1\.09\ TB/s\ +4\.20\ TB/s\ +25\.9%\ +nearest ]]
	[[ "$output" =~ "tensor BF16"\ +6\.87\ TFLOP\ +126\ TFLOP/s\ +800\ TFLOP/s\ +15\.8% ]]
}

@test "a kernel has its intensity, rates, nearest roof and regime" {
	run report --section roofline
	[[ "$output" =~ sgemm_tiled\ +compute-bound$'\n'\ +6\.00\ ms\ +[0-9.]+%\ +217\ 43\.3\ TFLOP/s\ \ 200\ GB/s\ \ FP32\ +72\.2%\ +2 ]]
	[[ "$output" =~ histogram_one\ +atomic-bound$'\n' ]]
	[[ "$output" =~ "triad<float>"\ +memory-bound$'\n' ]]
	[[ "$output" == *"sgemm_tiled"$'\n'"      DRAM 57.2 MiB, L2 477 MiB, L1 2.33 GiB, shared memory 4.47 GiB, FP32 13.0"* ]]
}

@test "a rate above its roof is called wrong data" {
	run report --section roofline --top 20
	[[ "$output" =~ too_fast\ +"WRONG DATA: 23.7% above the roof" ]]
	run json "[(k['is_wrong'], k['binding'], round(k['binding_share'], 3)) for k in report['roofline']['kernels'] if k['name'].startswith('too_fast')], report['roofline']['has_wrong']" --ceilings counted.ceilings.json
	[ "$output" = "[(True, 'dram', 1.237)] True" ]
}

@test "a kernel that was not counted says why" {
	run report --section roofline --top 20
	[[ "$output" =~ not_counted\ +"not counted"$'\n' ]]
	[[ "$output" == *"not_counted"$'\n'"      no launch of it was counted for this"* ]]
	run json "[(k['is_counted'], k['quantities']['dram'], k['flops'], k['binding']) for k in report['roofline']['kernels'] if k['name'].startswith('not_counted')]"
	[ "$output" = "[(False, {'state': 'not_sampled', 'per_launch': None, 'per_s': None, 'share': None, 'at_most': None, 'total': None}, None, None)]" ]
}

@test "a graph is counted as a whole, and the report says so" {
	run report --section roofline
	[[ "$output" == *"Roofline of graphs  (per launch: CUPTI does not count single nodes)"* ]]
	[[ "$output" =~ "graph 7 "\ + ]]
	run json "[(g['graph'], g['launch_count'], g['quantities']['dram']['per_launch']) for g in report['roofline']['graphs']]"
	[ "$output" = "[(7, 20, 200000000.0)]" ]
}

@test "the launch roofline lists kernels by time lost to launching" {
	run report --section launch_roofline
	[ "${lines[0]}" = "Launch roofline  (an empty kernel every 2.30 us, in graphs every 900 ns)" ]
	[[ "$output" =~ set_flag$'\n'\ +634\ us\ +400\ +1\.13\ us\ +1\.60\ us\ +2\.30\ us\ +41\.4%\ +49\.1% ]]
	run json "[round(k['roof_share'], 3) for k in report['launch_roofline']['kernels'] if k['name'].startswith('set_flag')]" --ceilings counted.ceilings.json
	[ "$output" = "[0.491]" ]
	recording=h100
	run json "[k['roof_share'] for k in report['launch_roofline']['kernels'] if k['name'].startswith('set_flag')]"
	[ "$output" = "[None]" ]
}

@test "a graph that loses as much as its kernel has a row, too" {
	run "$ROOFLINECTL" report "$root/tests/recordings/graph_chain.graph.counted" --section launch_roofline
	[ "$(grep -Ec '^ +[0-9.]+ [mun]s +200 ' <<<"$output")" -eq 4 ]
	[[ "$output" =~ "&mix>"$'\n'\ +366\ us\ .*"graph 2"$'\n'\ +366\ us\  ]]
}

@test "atomics tell the spread of addresses, the hottest slice and how many to merge" {
	run report --section atomics
	[[ "$output" =~ histogram_one\ +bottleneck$'\n'\ +1\.05\ M\ +1\.05\ M\ +1\.0\ +0\.0%\ +0\.9%\ +85\.1%\ +749\ us\ +770\ us\ \ merge\ 1,024 ]]
	[[ "$output" == *"not"*"retries"* ]]
	run json "[(k['sectors_per_request'], k['is_bottleneck'], k['batch']) for k in report['atomics']['kernels']]" --ceilings counted.ceilings.json
	[ "$output" = "[(1.0, True, 1024), (4.0, False, 1), (1.0, False, 1)]" ]
}

@test "counters are listed in full when they are asked for" {
	run report --section counters
	[[ "$output" == *"SM clock 1.90 GHz"*"L2 clock 1.60 GHz"* ]]
	[[ "$output" == *"SMs active: least 70.0%, mean 90.0%, most 99.0%; occupancy 61.5%"* ]]
	[[ "$output" =~ fp32_fma\ +27\.0\ M\ +27\.0\ M\ +27\.0\ M\ +2 ]]
	"$ROOFLINECTL" report counted >whole
	run grep -c '  fp32_fma  ' whole
	[ "$output" = 0 ]
	run json "[(c['mean'], c['min'], c['max'], c['sample_count'], c['metric']) for c in report['counters'] if c['role'] == 'fp32_fma' and (c['name'] or '').startswith('void stream::triad')]"
	[ "$output" = "[(27000000.0, 27000000.0, 27000000.0, 2, 'counter__fp32_fma.sum')]" ]
}

@test "SMs are active for a share of the kernel, not of the idle time around it" {
	run "$ROOFLINECTL" report --section counters "$root/tests/recordings/memory_bound.naive"
	[[ "$output" =~ triad4_kernel$'\n'\ +"SMs active: least 98."[0-9]"%, mean 99."[0-9]"%, most 99."[0-9]"%" ]]
}

@test "a counter asked for by name is shown in every report" {
	cp -r counted "$BATS_TEST_TMPDIR/named"
	sed -i 's/"fp64_add"/""/' "$BATS_TEST_TMPDIR/named/host.9/metrics.csv"
	run "$ROOFLINECTL" report "$BATS_TEST_TMPDIR/named"
	[[ "$output" == *"counter__fp64_add.sum "* ]]
	[[ "$output" != *"counter__fp64_mul.sum "* ]]
}

@test "the kernels' statistics say that launches were counted" {
	run report --section kernels
	[[ "$output" == *"counters were read for 51 launches: waits around them are profiler overhead"* ]]
}

@test "no line is wider than 80 columns or ends in spaces, and --wide shows names in full" {
	for section in roofline launch_roofline atomics counters; do
		report --section "$section" --top 30 >out
		run awk 'length > 80 || / $/' out
		[ -z "$output" ]
	done
	run report --section roofline --wide
	[[ "$output" == *"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT"* ]]
	[[ "$output" == *"void stream::triad<float>(float*, float const*, float const*, float, unsigned long)"* ]]
}

@test "CSV has as many fields in each row as columns, empty where nothing is known" {
	for section in roofline launch_roofline atomics counters; do
		report -f csv -s "$section" | python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert len(rows) > 3 and all(len(row) == len(rows[0]) for row in rows), rows
assert len(set(rows[0])) == len(rows[0]), 'a column twice'"
	done
	run bash -c "'$ROOFLINECTL' report counted -f csv -s roofline | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row[\"name\"].startswith(\"not_counted\"):
        print(row[\"kind\"], row[\"dram_state\"], repr(row[\"dram_per_s\"]), repr(row[\"binding\"]))'"
	[ "$output" = "kernel not_sampled '' ''" ]
}

@test "JSON is valid, with and without ceilings" {
	report -f json | python3 -m json.tool >/dev/null
	"$ROOFLINECTL" report h100 -f json | python3 -m json.tool >/dev/null
	recording=h100
	run json "report['roofline']['ceilings']['is_datasheet'], report['roofline']['ceilings']['launch_period_ns']"
	[ "$output" = "True None" ]
	run json "report['roofline']['ceilings']['is_datasheet'], report['roofline']['ceilings']['launch_period_ns']" --ceilings counted.ceilings.json
	[ "$output" = "False 2300.0" ]
}

@test "without measured ceilings the roofs are the datasheet's, and the report says so" {
	run "$ROOFLINECTL" report h100 --section roofline
	[[ "$output" == *"datasheet figures, which no program reaches"* ]]
	[[ "$output" == *"2.00 TB/s"* ]]
}

@test "stored ceilings of the GPU are found without being asked for" {
	local stored="$XDG_DATA_HOME/rooflinectl/ceilings/NVIDIA_H100_PCIe-580.1.json"
	mkdir -p "${stored%/*}"
	cp h100.ceilings.json "$stored"
	run "$ROOFLINECTL" report h100 --section launch_roofline
	[[ "${lines[0]}" == *"an empty kernel every 2.30 us"* ]]
	echo '{' >"$stored"
	run --separate-stderr "$ROOFLINECTL" report h100 --section roofline
	[ "$status" -eq 0 ]
	[[ "$output" == *"datasheet figures"* ]]
	[[ "$stderr" == "rooflinectl report: passed over: "*"NVIDIA_H100_PCIe-580.1.json"* ]]
}

@test "ceilings that come with rooflinectl are found, told as such, and stand back behind the user's own" {
	run "$ROOFLINECTL" report counted --section roofline
	[[ "$output" == *"roofs        shipped with rooflinectl, measured on NVIDIA H200"* ]]
	run json "report['roofline']['ceilings']['is_datasheet'], report['roofline']['ceilings']['path'].endswith('share/rooflinectl/ceilings/NVIDIA_H200-580.159.04.json')"
	[ "$output" = "False True" ]
	mkdir -p "$XDG_DATA_HOME/rooflinectl/ceilings"
	cp counted.ceilings.json "$XDG_DATA_HOME/rooflinectl/ceilings/NVIDIA_H200-580.1.json"
	run "$ROOFLINECTL" report counted --section roofline
	[[ "$output" != *shipped* ]]
	[[ "$output" =~ "DRAM "\ +[0-9.]+\ GiB\ +1\.09\ TB/s\ +4\.20\ TB/s ]]
}

@test "--ceilings with a file that is none is one line on stderr and exit code 1" {
	echo '[]' >"$BATS_TEST_TMPDIR/none.json"
	for command in report plot; do
		for file in nowhere.json "$BATS_TEST_TMPDIR/none.json"; do
			run --separate-stderr "$ROOFLINECTL" "$command" counted --ceilings "$file"
			[ "$status" -eq 1 ]
			[ -z "$output" ]
			[ "${#stderr_lines[@]}" -eq 1 ]
			[[ "$stderr" == "rooflinectl $command: "*"$(basename "$file")"* ]]
		done
	done
}

@test "a recording without counters: a line where launching was measured, a hint where one is of use" {
	local folder=$BATS_TEST_TMPDIR/plain
	cp -r h100 "$folder"
	rm "$folder"/host.9/{counters,counted,metrics}.csv
	"$ROOFLINECTL" report "$folder" --ceilings counted.ceilings.json >out
	run grep -A 2 '^Launch roofline' out
	[[ "$output" == *"kernels of "*" run for "*" of the time"* ]]
	[ "$(grep -c 'set_flag' <<<"$output")" -eq 0 ]
	run grep -A 1 '^Roofline' out
	[[ "$output" == *"no counters in this recording: rooflinectl record --counters"* ]]
	run "$ROOFLINECTL" report "$folder"
	[[ "$output" != *"Launch roofline"* ]]
	[[ "$output" != *Atomics* ]]
	run "$ROOFLINECTL" report "$folder" --section atomics
	[[ "$output" == *"no launch was counted that has them: record with"* ]]
	run "$ROOFLINECTL" report "$folder" --section counters
	[[ "$output" == *"no launch was counted that has them: record with"* ]]
	"$ROOFLINECTL" report "$folder" -f json | python3 -m json.tool >/dev/null
}

@test "the charts show points and roofs, in the terminal as letters" {
	needs_command gnuplot
	run "$ROOFLINECTL" plot counted --ceilings counted.ceilings.json --format term roofline launch_roofline atomics
	[ "$status" -eq 0 ]
	[[ "$output" == *"25.9% of the DRAM roof"* ]]
	[[ "$output" == *"tensor BF16 800 TFLOP/s"* ]]
	[[ "$output" == *"C sgemm_tiled 72%"* ]]
	[[ "$output" == *"empty kernel every 2.30 us"* ]]
	[[ "$output" == *"A set_flag, 634 us idle"* ]]
	[[ "$output" == *"A histogram_one 85%: bottleneck"* ]]
	[ "$(LC_ALL=C.UTF-8 wc -L <<<"$output")" -le 80 ]
	run "$ROOFLINECTL" plot counted --ceilings counted.ceilings.json -o "$BATS_TEST_TMPDIR/pictures" roofline
	[ "$status" -eq 0 ]
	grep -q 'DRAM 4.20 TB/s' "$BATS_TEST_TMPDIR/pictures/roofline-roofline.svg"
	grep -q 'too_fast: WRONG DATA' "$BATS_TEST_TMPDIR/pictures/roofline-roofline.svg"
}
