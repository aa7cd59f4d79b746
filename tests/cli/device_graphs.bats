#!/usr/bin/env bats
# Graphs that the device launches, in one recording and in two runs of the same program.

load common

# process RUN LEVEL: a process folder of that run without its operations, host.RUN
process() {
	local folder="both/host.$1"
	mkdir -p "$folder"
	printf 'key,value\nschema,1\nhost,host\npid,%s\nrun,%s\ngraphs,%s\nsealed_ns,9000000\n' "$1" "$1" "$2" \
		>"$folder/process.csv"
	printf 'id,text\n1,_Z6launchPf\n2,_Z4workPf\n' >"$folder/names.csv"
	printf 'device,name,uuid\n0,NVIDIA H200,GPU-1234\n' >"$folder/devices.csv"
	printf 'context,device,null_stream\n1,0,7\n' >"$folder/contexts.csv"
	printf 'id,name,grid_x,grid_y,grid_z,block_x,block_y,block_z\n1,1,1,1,1,1,1,1\n2,2,1,1,1,1,1,1\n' \
		>"$folder/signatures.csv"
}

# Graph 5 has two nodes, graph 8 one; in the second run they are 30 and 31, and 30 launches 20 twice.
make_both() {
	process 1 node
	cat >both/host.1/kernels.csv <<-END
		start_ns,end_ns,signature,device,context,stream,correlation,graph,graph_node
		1000000,1001000,1,0,1,13,11,5,51
		1001500,1002000,2,0,1,13,11,5,52
		1010000,1011000,2,0,1,13,12,8,81
		1020000,1021000,1,0,1,13,13,5,51
		1021500,1022000,2,0,1,13,13,5,52
	END
	process 2 graph
	cat >both/host.2/graphs.csv <<-END
		start_ns,end_ns,device,context,stream,correlation,graph,launch_mode,launcher_graph
		5000000,5002000,0,1,13,21,30,0,0
		5002300,5003000,0,1,0,0,20,2,30
		5010000,5011000,0,1,13,22,31,0,0
		5020000,5022000,0,1,13,23,30,0,0
		5022500,5023000,0,1,0,0,20,2,30
	END
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	make_both
}

# json EXPRESSION: of report r and its device_graphs d
json() {
	"$ROOFLINECTL" report both --format json | python3 -c "
import json, sys
r = json.load(sys.stdin)
d = r['device_graphs']
print($1)"
}

@test "two runs are joined: nodes from the first, what the device launched from the second" {
	run "$ROOFLINECTL" report both
	[ "$status" -eq 0 ]
	[[ "$output" == *"two runs  the second one, of whole graphs, made the same launches: joined"* ]]
	[[ "$output" =~ "5 -> 20*"\ +tail\ +2\ +300\ ns\ +500\ ns\ +500\ ns\ +1\.20\ us ]]
	[[ "$output" == *"graph 5, 2 nodes: launch"* ]]
	[[ "$output" == *"only the device launches it; the id is that of the second run"* ]]
	[[ "$output" == *"two runs joined by launch order, 3 graph launches in each"* ]]
	[[ "$output" != *"record with --graphs=graph"* ]]
	[[ "$output" == *"graphs that the device launches, in the times of the first"* ]]
	"$ROOFLINECTL" report both >out
	run awk 'length > 80' out
	[ -z "$output" ]
}

@test "the two runs are never added up" {
	run json "[len(r['processes']), sum(k['count'] for k in r['kernels']), r['devices'][0]['wall_ns']]"
	[ "$output" = "[1, 5, 22000]" ]
	run json "[(g['graph'], g['launch_count'], g['node_count']) for g in r['graphs']]"
	[ "$output" = "[(5, 2, 2), (8, 1, 1)]" ]
}

@test "JSON and CSV have the ids of both runs, the kernel of the launcher and latencies" {
	run json "d['is_second_run'], d['is_joined'], d['difference'], d['second_run_losses']"
	[ "$output" = "True True None {}" ]
	run json "[[g[k] for k in 'graph second_run_graph launch_count node_count kernel'.split()] for g in d['joined_graphs']]"
	[ "$output" = "[[5, 30, 2, 2, 'launch(float*)'], [8, 31, 1, 1, 'work(float*)']]" ]
	run json "[[l[k] for k in 'process launcher_graph graph first_run_launcher_graph first_run_graph launcher_kernel mode is_host_launched count total_ns'.split()] + [l['latency']['p50_ns'], l['latency']['p99_ns']] for l in d['launches']]"
	[ "$output" = "[['host.2', 30, 20, 5, None, 'launch(float*)', 'tail', False, 2, 1200, 300, 500]]" ]
	run "$ROOFLINECTL" report both -f csv -s device_graphs
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[1]}" = "host.2,30,20,5,,launch(float*),tail,0,2,1200,600,500,700,500,700,2,800,400,300,500,300,500" ]
}

@test "runs that differed are told, with the first launch that is another, and the first run is shown" {
	sed -i 's/,22,31,0,0/,22,30,0,0/' both/host.2/graphs.csv
	run "$ROOFLINECTL" report both
	[ "$status" -eq 0 ]
	[[ "${output//$'\n'            / }" == *"two runs  the runs differed: graph launch 2 is of graph number 2 (id 8) in the first run and of graph number 1 (id 30) in the second. This is the first run"* ]]
	[[ "$output" =~ "30 -> 20*"\ +tail\ +2\ +300\ ns ]]
	[[ "$output" == *"not joined, as the runs differed"* ]]
	run json "d['is_joined'], d['difference'][:14], d['joined_graphs'], d['launches'][0]['first_run_launcher_graph'], sum(k['count'] for k in r['kernels'])"
	[ "$output" = "False graph launch 2 [] None 5" ]
}

@test "a second run whose device launched nothing says so" {
	sed -i '/,2,30$/d' both/host.2/graphs.csv
	run "$ROOFLINECTL" report both --section device_graphs
	[ "${lines[0]}" = "Graphs launched by the device" ]
	[ "${lines[1]}" = "  none" ]
	[ "${lines[2]}" = "  two runs joined by launch order, 3 graph launches in each" ]
	run "$ROOFLINECTL" report both --section not_visible
	[[ "$output" != *"graphs that the device launches"* ]]
}

@test "what the second run lost is told as its own" {
	printf 'time_ns,kind,count,detail\n1,dropped_records,5,x\n' >both/host.2/losses.csv
	run "$ROOFLINECTL" report both --section losses
	[ "${lines[0]}" = "Lost: nothing" ]
	[[ "${lines[1]}" == "      in the second run: 5 dropped_records ("* ]]
	run json "d['second_run_losses'], r['losses']"
	[ "$output" = "{'dropped_records': 5} {}" ]
	run "$ROOFLINECTL" report both -f csv -s losses
	[ "${lines[1]}" = "host.2,dropped_records,5,x" ]
}

@test "the second run alone is an ordinary recording" {
	rm -r both/host.1
	run json "d['is_second_run'], d['is_joined'], len(r['processes']), [g['launch_count'] for g in r['graphs']]"
	[ "$output" = "False None 1 [2, 2, 1]" ]
	run "$ROOFLINECTL" report both
	[[ "$output" =~ "30 -> 20*"\ +tail ]]
	[[ "$output" != *"two runs"* ]]
}

@test "processes are named where there are several" {
	cp -r both/host.1 both/host.3
	cp -r both/host.2 both/host.4
	run "$ROOFLINECTL" report both --section device_graphs
	[[ "$output" == *"5 -> 20*"*"in host.1"*"5 -> 20*"*"in host.3"* ]]
}

@test "a recording with whole graphs tells modes, launchers and latencies" {
	run "$ROOFLINECTL" report "$root/tests/recordings/device_graph" -f csv -s device_graphs
	[ "$(cut -d, -f2,3,7,9 <<<"${output#*$'\n'}")" = "14,14,tail,19
5,2,fire_and_forget,20
11,2,sibling,20
8,2,tail,20" ]
}

@test "without graphs launched by the device there is nothing to say" {
	rm -r both/host.2
	sed -i '/^run,/d' both/host.1/process.csv
	run "$ROOFLINECTL" report both --section device_graphs
	[[ "$output" == *"no CUDA graph was launched"* ]]
	run json "d"
	[ "$output" = "{'is_second_run': False, 'is_joined': None, 'difference': None, 'second_run_losses': {}, 'joined_graphs': [], 'launches': []}" ]
}
