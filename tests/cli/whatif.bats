#!/usr/bin/env bats
# rooflinectl whatif: several strategies in one replay, what each changed or why not, and how it fails.

load common

recordings="$root/tests/recordings"

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
}

# whatif ARGUMENT...: its JSON in $output, nothing on stderr
whatif() {
	run -0 --separate-stderr "$ROOFLINECTL" whatif --format json "$@"
	[ -z "$stderr" ]
}

# holds EXPRESSION: of the JSON in $output, j; its strategies by name, s
holds() {
	python3 -c "
import json, sys
j = json.load(sys.stdin)
s = {part['strategy']: part for part in j.get('strategies', [])}
assert ($1), json.dumps(j, indent=1)" <<<"$output"
}

# wrong TEXT ARGUMENT...: exit code 2, one line on stderr with that text, nothing on stdout
wrong() {
	local text=$1
	shift
	run -2 --separate-stderr "$ROOFLINECTL" whatif "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl whatif: "*"$text"* ]]
}

# failed TEXT ARGUMENT...: the same with exit code 1
failed() {
	local text=$1
	shift
	run -1 --separate-stderr "$ROOFLINECTL" whatif "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl whatif: "*"$text"* ]]
}

@test "a loop that is captured as a graph loses no waits a second time" {
	whatif "$recordings/graph_chain.naive" --graph --fewer-waits
	holds "[part['strategy'] for part in j['strategies']] == ['cuda_graph', 'remove_syncs']"
	holds "s['cuda_graph']['refusal'] is None and s['cuda_graph']['loops'] == 1"
	holds "s['cuda_graph']['iterations'] > 100"
	holds "'an earlier technique changes that' in s['remove_syncs']['refusal']"
	holds "s['remove_syncs']['loops'] == s['remove_syncs']['changed'] == 0"
	# each would gain alone; together it is what the graph gains
	holds "s['cuda_graph']['speedup'] > s['remove_syncs']['speedup'] > 1.5"
	holds "j['speedup'] == s['cuda_graph']['speedup'] and j['place'] == s['cuda_graph']['place']"
}

@test "of a range in which no calls are made it is told that nothing repeats there, not that it would be as fast" {
	run -0 "$ROOFLINECTL" whatif --pinned --range message "$recordings/mpi_cuda.pipelined"
	[[ "$output" == *"the range: nothing repeats there, as its threads make no calls in it"* ]]
	run -0 "$ROOFLINECTL" whatif --pinned --range run "$recordings/mpi_cuda.pipelined"
	[[ "$output" != *"nothing repeats"* ]]
	run -0 "$ROOFLINECTL" advise --range message "$recordings/mpi_cuda.pipelined"
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$output" == *"overlap: re-simulated, the steady state "*"; nothing repeats in the range: its threads make no calls there"* ]]
	[[ "$output" != *"this part would be"* ]]
}

@test "the first technique that changes a loop owns it" {
	whatif "$recordings/graph_forkjoin.naive" --graph --streams
	holds "[part['strategy'] for part in j['strategies']] == ['cuda_graph', 'concurrent_kernels']"
	holds "s['cuda_graph']['refusal'] is None and s['cuda_graph']['loops'] == 1"
	holds "'an earlier technique changes that' in s['concurrent_kernels']['refusal']"
	holds "s['concurrent_kernels']['speedup'] > j['speedup'] == s['cuda_graph']['speedup'] > 1"
}

# branches_cost FILE LEAST FACTOR: the ceilings of an H200, but graphs of at least so many branches take so many times as long
branches_cost() {
	python3 - "$root"/ceilings/NVIDIA_H200-*.json "$2" "$3" >"$1" <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		for row in found["ceilings"]:
		    if row["name"] == "graph_branches" and row["parameter"] >= int(sys.argv[2]):
		        for key in ("value", "low", "high"):
		            row[key] *= float(sys.argv[3])
		json.dump(found, sys.stdout)
	END
}

@test "a graph of kernels side by side has as many branches as are fastest" {
	local place='import json, sys; print(json.load(sys.stdin)["place"]["speedup"])' usual many all
	branches_cost "$BATS_TEST_TMPDIR/many.json" 32 10
	branches_cost "$BATS_TEST_TMPDIR/all.json" 2 10
	usual=$("$ROOFLINECTL" whatif --streams --graph -f json "$root/tests/recordings/fuse_horizontal.naive_mixed" | python3 -c "$place")
	many=$("$ROOFLINECTL" whatif --streams --graph --ceilings "$BATS_TEST_TMPDIR/many.json" -f json "$root/tests/recordings/fuse_horizontal.naive_mixed" | python3 -c "$place")
	all=$("$ROOFLINECTL" whatif --streams --graph --ceilings "$BATS_TEST_TMPDIR/all.json" -f json "$root/tests/recordings/fuse_horizontal.naive_mixed" | python3 -c "$place")
	[ "$many" = "$usual" ]
	awk -v all="$all" -v usual="$usual" 'BEGIN { exit !(all > 1 && all < usual / 2) }'
}

@test "kernels that run side by side are branches of a graph after it" {
	whatif "$recordings/graph_forkjoin.naive" --streams --graph
	holds "s['concurrent_kernels']['refusal'] is None and s['concurrent_kernels']['changed'] > 900"
	holds "s['cuda_graph']['refusal'] is None and s['cuda_graph']['loops'] == 1"
	holds "j['speedup'] > s['concurrent_kernels']['speedup'] > s['cuda_graph']['speedup'] > 1"
	# the recorded graph of both took so much less
	run_time() { "$ROOFLINECTL" report --format json "$recordings/$1" | python3 -c "
import json, sys
print(sum(row['total_ns'] for row in json.load(sys.stdin)['ranges'] if row['name'] == 'run'))"; }
	measured=$(python3 -c "print($(run_time graph_forkjoin.naive) / $(run_time graph_forkjoin.graph))")
	# of nine kernels all are taken to be independent; they are three chains, which only arguments tell
	holds "j['low'] < $measured < j['high'] and 0.8 < j['place']['speedup'] / $measured < 1.3"
}

@test "what only drops calls leaves the loop to those after it" {
	whatif "$recordings/graph_memory.malloc" --preallocate --graph
	holds "s['preallocate']['refusal'] is None and s['preallocate']['changed'] == 792"
	holds "s['cuda_graph']['refusal'] is None and s['cuda_graph']['loops'] == 1"
	holds "j['speedup'] > s['preallocate']['speedup'] * s['cuda_graph']['speedup']" # it was in the way of graphs
	whatif "$recordings/graph_chain.naive" --fewer-waits --graph
	holds "s['cuda_graph']['speedup'] * 0.99 < j['speedup'] < s['cuda_graph']['speedup'] * 1.01"
}

@test "how far kernels need each other nobody knows: the interval goes down to two at a time" {
	whatif "$recordings/concurrent_kernels.naive" --streams
	holds "1.5 < j['low'] < 2 and 5 < j['speedup'] < j['high'] < 8"
}

@test "a queue takes away what SMs wait for the busiest one, and at the low end nothing" {
	whatif "$recordings/work_queue.naive.sampled" --range run --queue
	holds "s['dynamic_queue']['changed'] == 6"
	holds "0.75 < j['place']['low'] < 0.9 and 3 < j['place']['speedup'] < 3.5"
	whatif "$recordings/dp_irregular.naive" --range run --queue
	holds "s['dynamic_queue']['changed'] == 8" # of 24, those with blocks for all SMs
	holds "j['place']['low'] < 1 < 1.3 < j['place']['speedup'] < 1.4"
	whatif "$recordings/work_queue.naive" --queue
	holds "'no kernel was sampled' in s['dynamic_queue']['refusal'] and j['speedup'] is None"
	whatif "$recordings/work_queue_mild.naive.sampled" --queue # its SMs have equal shares
	holds "'no kernel was sampled' in s['dynamic_queue']['refusal'] and j['speedup'] is None"
}

@test "merged atomics leave the rest of the kernel, and half as many are merged at the low end" {
	whatif "$recordings/atomic_batch.naive" --range run --batch 16
	holds "s['batch_atomics']['batch'] == 16 and s['batch_atomics']['changed'] == 54"
	holds "j['place']['low'] < 7 < 12.5 < j['place']['speedup'] < 13.5"
	# the low end's margin apart
	local low
	low=$(python3 -c "import json, sys; print(json.load(sys.stdin)['place']['low'])" <<<"$output")
	whatif "$recordings/atomic_batch.naive" --range run --batch 8
	holds "abs(j['place']['speedup'] / 1.12 / $low - 1) < 0.02"
	whatif "$recordings/atomic_batch.naive" --range run --batch=2 --batch=4294967296 # the last number
	holds "s['batch_atomics']['batch'] == 2 ** 32 and len(s) == 1"
	holds "60 < j['place']['speedup'] < 75" # all that is not atomics
}

@test "merged in a block, atomics are waited for beside the rest, and their sectors are gone" {
	local batch share
	for share in 8 32; do
		whatif "$recordings/atomic_batch.naive" --range run --aggregate "$share"
		holds "s['aggregate_atomics']['aggregate'] == $share and s['aggregate_atomics']['batch'] is None"
		holds "j['place']['speedup'] > 0.95 * $share and j['place']['low'] < $share / 1.5"
		batch=$(python3 -c "import json, sys; print(json.load(sys.stdin)['place']['speedup'])" <<<"$output")
		whatif "$recordings/atomic_batch.naive" --range run --batch "$share"
		holds "j['place']['speedup'] < $batch" # in threads they stand before the rest
	done
}

@test "atomics that bind no kernel, or were not counted, are not merged" {
	for name in atomic_hierarchy.two_level histogram.shared memory_bound.naive graph_chain.naive; do
		whatif "$recordings/$name" --batch 16
		holds "'that atomics bind: record --counters=atomics' in s['batch_atomics']['refusal']"
		holds "j['speedup'] is None and s['batch_atomics']['batch'] == 16"
	done
}

@test "the advice predicts what as many as it advises would bring" {
	local expected batch
	expected=$("$ROOFLINECTL" report --format json --section advice "$recordings/atomic_batch.naive" |
		python3 -c "
import json, sys
print([(a['speedup'], a['low'], a['high']) for a in json.load(sys.stdin)['advice'] if a['id'] == 'hot_atomics'])")
	batch=$("$ROOFLINECTL" report --format json "$recordings/atomic_batch.naive" |
		python3 -c "import json, sys; print(json.load(sys.stdin)['atomics']['kernels'][0]['batch'])")
	whatif "$recordings/atomic_batch.naive" --aggregate "$batch" --graph
	# what is advised may be more at the high end
	holds "[(s['aggregate_atomics'][k]) for k in ('speedup', 'low')] == list($expected[0][:2])"
	holds "s['aggregate_atomics']['high'] <= $expected[0][2]"
	holds "s['cuda_graph']['batch'] is None"
}

@test "kernels at DRAM's roof with half of the bytes take half of the time" {
	whatif "$recordings/precision.naive" --range run --narrow 2
	holds "s['fewer_bytes']['narrow'] == 2 and s['fewer_bytes']['batch'] is None"
	holds "s['fewer_bytes']['changed'] > 10 and s['fewer_bytes']['refusal'] is None"
	holds "j['place']['low'] < 1.34 and 1.85 < j['place']['speedup'] <= 2 < j['place']['high']"
	whatif "$recordings/precision.naive" --range run --narrow 2 --narrow=4 # the last number
	holds "s['fewer_bytes']['narrow'] == 4 and len(s) == 1 and 3 < j['place']['speedup'] <= 4"
	run -0 "$ROOFLINECTL" whatif "$recordings/precision.naive" --narrow 4
	[[ "$output" == *" kernels at DRAM's roof, 4 times fewer bytes
    assumes: "* ]]
	[ "${lines[-1]}" = "As a picture: rooflinectl plot whatif --narrow 4 $recordings/precision.naive" ]
}

@test "nothing moves fewer bytes that is not at DRAM's roof, or was not counted" {
	for name in atomic_hierarchy.naive atomic_batch.naive graph_chain.naive; do
		whatif "$recordings/$name" --narrow 2
		holds "\"at DRAM's roof: record --counters=roofline\" in s['fewer_bytes']['refusal']"
		holds "j['speedup'] is None"
	done
}

@test "fewer bytes are never advised with a gain: nobody knows how many can go" {
	for name in memory_bound.naive precision.naive; do
		run -0 "$ROOFLINECTL" advise "$recordings/$name" --range run --format json
		holds "[(a['id'], a['speedup']) for a in j['advice']] == [('memory_roof', None)]"
		holds "'whatif --narrow 2' in j['advice'][0]['evidence'][-1]"
	done
}

@test "the text tells how many are merged, and so does the command that draws it" {
	run -0 "$ROOFLINECTL" whatif "$recordings/atomic_batch.naive" --batch 16
	[[ "$output" == *"  batch_atomics
    changed: 54 kernels merge atomics, 16 in one
"* ]]
	[ "${lines[-1]}" = "As a picture: rooflinectl plot whatif --batch 16 $recordings/atomic_batch.naive" ]
	needs_command gnuplot
	"$ROOFLINECTL" plot whatif -o . --batch 16 "$recordings/atomic_batch.naive"
	mv roofline-whatif.svg few.svg
	"$ROOFLINECTL" plot whatif -o . --batch 64 "$recordings/atomic_batch.naive"
	! cmp -s few.svg roofline-whatif.svg
}

@test "a loop of short kernels gains as one kernel, too" {
	whatif "$recordings/persistent.naive" --persistent
	holds "s['persistent_kernel']['changed'] == 399 and 1.2 < j['speedup'] < 1.6"
	whatif "$recordings/graph_chain.naive" --persistent
	holds "'more than kernels' in s['persistent_kernel']['refusal']"
}

# ask FOLDER STRATEGY...: of each recording, what these bring together, in a file of its own
ask() {
	mkdir "$1"
	recording_names | each_or_third | xargs -P "$(nproc)" -I '{}' sh -c '
		recording=$1 answer=$2/$1.json
		shift 2
		"$ROOFLINECTL" whatif --format json "$@" "$recordings/$recording" >"$answer" 2>&1 && exit
		[ $? -eq 1 ] && grep -q "no prediction: " "$answer" && rm "$answer"' sh '{}' "$@"
}

@test "all strategies at once, in either order, hold for every recording" {
	export ROOFLINECTL recordings
	ask there --graph --fewer-waits --decide --overlap --pinned --preallocate --streams --persistent --queue --batch 8 --narrow 2
	[[ $BUILD == */sanitized ]] || # the same code
		ask back --narrow 2 --batch 8 --queue --persistent --streams --preallocate --pinned --overlap --decide --fewer-waits --graph
	python3 -c "
import glob, json
answers = [json.load(open(name)) for name in glob.glob('*/*.json')]
assert len(answers) > 50, len(answers)
for a in answers:
    for of in [a, a['place']] + a['strategies'] + [s['place'] for s in a['strategies']]:
        if of['speedup'] is not None:
            assert of['low'] <= of['speedup'] <= of['high'] < 40, (a['recording'], of)
            # the launch of a graph waits for the one before it: kernels that overlap the next one do so no more between graphs,
            # nor do copies of one GPU what the other one does; and streams that wait for each other take the host longer, of
            # which launches are too slow anyway
            has_streams = any(s['strategy'] == 'concurrent_kernels' and s['speedup'] for s in a['strategies'])
            least = 0.7 if has_streams or any(name in a['recording'] for name in ('dependent_launch.dependent', 'nccl_bucketed.buckets', 'p2p_overlap.naive', 'ddp.buckets')) else 0.95
            # a thread that only waits for messages has loops without a time of the GPU
            assert of['speedup'] > least and (of['after_ns'] > 0 or of['before_ns'] == 0), (a['recording'], of)
    assert (a['speedup'] is None) == all(s['refusal'] for s in a['strategies']), a['recording']
"
}

@test "a strategy that is given twice keeps its first place" {
	whatif "$recordings/graph_chain.naive" --graph --fewer-waits --graph
	holds "[part['strategy'] for part in j['strategies']] == ['cuda_graph', 'remove_syncs']"
}

@test "pinned memory and copies beside kernels change the same run, and gains do not multiply" {
	whatif "$recordings/copy_overlap.naive" --pinned --overlap
	holds "s['pinned_memory']['refusal'] is None and s['pinned_memory']['changed'] == 128"
	holds "s['overlap']['refusal'] is None and s['overlap']['loops'] == 1"
	holds "s['overlap']['changed'] == 0" # they are pinned already
	holds "s['overlap']['speedup'] > s['pinned_memory']['speedup'] > 1.5"
	holds "j['speedup'] > s['pinned_memory']['speedup']"
	holds "j['speedup'] < s['overlap']['speedup'] * s['pinned_memory']['speedup'] / 2"
	# the loop lies among the copies: its time counts once
	holds "j['place']['before_ns'] == s['pinned_memory']['place']['before_ns']"
	whatif "$recordings/copy_overlap.naive" --overlap --pinned
	holds "s['overlap']['changed'] == 126 and s['pinned_memory']['changed'] == 2" # those of the first iteration
	whatif "$recordings/graph_forkjoin.naive" --graph --streams
	holds "'an earlier technique changes that' in s['concurrent_kernels']['refusal']"
}

@test "what is refused alone is refused for its own reason" {
	whatif "$recordings/conditional_if.naive" --decide --graph
	holds "s['device_decision']['refusal'] is None and s['device_decision']['changed'] > 100"
	holds "'the host reads a result' in s['cuda_graph']['refusal']"
	holds "s['cuda_graph']['speedup'] is s['cuda_graph']['low'] is s['cuda_graph']['place']['high'] is None"
	holds "j['speedup'] == s['device_decision']['speedup'] > 1.2"
	whatif "$recordings/conditional_if.naive" --graph --decide
	holds "'the host reads a result' in s['cuda_graph']['refusal']"
	holds "j['speedup'] == s['device_decision']['speedup'] > 1.2"
}

@test "a strategy alone is what the advice says of it" {
	local expected
	expected=$("$ROOFLINECTL" report --format json --section advice "$recordings/graph_chain.naive" |
		python3 -c "
import json, sys
print({a['strategy']: (a['speedup'], a['low'], a['high']) for a in json.load(sys.stdin)['advice']})")
	whatif "$recordings/graph_chain.naive" --graph --fewer-waits
	holds "{k: (v['speedup'], v['low'], v['high']) for k, v in s.items()} == $expected"
}

@test "before and after are the speedup, which lies in its interval, of the run and of its part" {
	whatif "$recordings/copy_overlap.naive" --pinned --overlap --graph
	for of in "j" "j['place']" "s['overlap']" "s['pinned_memory']['place']"; do
		holds "$of['low'] < $of['speedup'] < $of['high']"
		holds "abs($of['before_ns'] / $of['after_ns'] - $of['speedup']) < 1e-3"
	done
	whatif "$recordings/graph_chain.naive" --graph # which has to be instantiated
	holds "abs(j['before_ns'] / j['after_ns'] - j['speedup']) < 1e-3"
}

@test "what a strategy does to a loop that it then refuses is taken back: only its part saves time" {
	whatif "$recordings/pytorch.naive" --fewer-waits
	holds "s['remove_syncs']['loops'] == 1 and j['place']['before_ns'] < 0.01 * j['before_ns']"
	local saved="j['before_ns'] - j['after_ns']"
	local saved_there="j['place']['before_ns'] - j['place']['after_ns']"
	holds "$saved_there > 10000 and abs(($saved) / ($saved_there) - 1) < 0.1"
}

@test "launches counted by instrumented code count as others of their kernel, and loops of them stay as they are" {
	whatif --aggregate 256 "$recordings/known_counts"
	holds "j['unrecorded_share'] > 0.5 and s['aggregate_atomics']['place']['speedup'] > 2"
	whatif --graph "$recordings/known_counts"
	holds "'counted by instrumented code' in s['cuda_graph']['refusal']"
	run -0 "$ROOFLINECTL" whatif --aggregate 256 "$recordings/known_counts"
	[[ "$output" == *"59% of all launches were counted by instrumented code"* ]]
}

@test "where iterations become one operation there are none left to time" {
	whatif --batch-launches "$recordings/pitfalls.register_spills"
	holds "s['batch_launches']['place']['speedup'] > 10"
	holds "s['batch_launches']['steady']['speedup'] is None and j['steady']['speedup'] is None"
}

@test "a range in place of what changes" {
	whatif "$recordings/graph_chain.naive" --graph
	holds "j['range'] is None and j['recording'].endswith('graph_chain.naive')"
	local whole_ns
	whole_ns=$(python3 -c "import json, sys; print(json.load(sys.stdin)['place']['before_ns'])" <<<"$output")
	whatif "$recordings/graph_chain.naive" --graph --range run
	holds "j['range'] == 'run' and j['place']['before_ns'] < 0.6 * $whole_ns"
	holds "j['place']['speedup'] > 3"
}

@test "what may be off is what changes, whatever range is asked for" {
	local of="(j['speedup'], j['low'], j['high'])" whole
	whatif "$recordings/graph_chain.naive" --graph
	whole=$(python3 -c "import json, sys; j = json.load(sys.stdin); print($of)" <<<"$output")
	for range in run prepare; do
		whatif "$recordings/graph_chain.naive" --graph --range $range
		holds "$of == $whole"
	done
	holds "j['place']['low'] == j['place']['speedup'] == j['place']['high'] == 1"
}

@test "a strategy with a range changes only what lies there, and that is its part" {
	local whole_ns run_ns
	whatif "$recordings/graph_chain.naive" --graph --range run
	read -r whole_ns run_ns < <(python3 -c "
import json, sys
j = json.load(sys.stdin)
print(j['before_ns'] - j['after_ns'], j['place']['before_ns'])" <<<"$output")
	holds "s['cuda_graph']['range'] is None and s['cuda_graph']['iterations'] == 199"
	whatif "$recordings/graph_chain.naive" --graph=run
	holds "s['cuda_graph']['range'] == 'run' and j['range'] is None"
	holds "s['cuda_graph']['iterations'] == 100 and 1.3 < j['speedup'] < 2"
	# it saves half of it, all of that in the range: the loop ran before, so its first iteration is warm
	holds "0.4 < (j['before_ns'] - j['after_ns']) / $whole_ns < 0.6"
	holds "0.97 < j['place']['before_ns'] / $run_ns <= 1 and j['place']['speedup'] > 4"
	whatif "$recordings/graph_chain.naive" --graph=run --range run
	holds "j['range'] == 'run' and j['place']['before_ns'] == $run_ns and j['place']['speedup'] > 4"
	whatif "$recordings/graph_chain.naive" --graph=run --range warm-up
	holds "0.99 < j['place']['speedup'] < 1.01 and 1.3 < j['speedup'] < 2"
}

@test "two techniques in two ranges do not get in each other's way" {
	whatif "$recordings/graph_chain.naive" --graph=run --fewer-waits=warm-up
	holds "[part['range'] for part in j['strategies']] == ['run', 'warm-up']"
	holds "s['cuda_graph']['refusal'] is s['remove_syncs']['refusal'] is None"
	holds "s['cuda_graph']['iterations'] == 100 and s['remove_syncs']['iterations'] == 99"
	# what both save is what each of them does
	local saved="sum(p['before_ns'] - p['after_ns'] for p in j['strategies'])"
	holds "0.98 < (j['before_ns'] - j['after_ns']) / ($saved) < 1.02"
	whatif "$recordings/graph_chain.naive" --graph=run --fewer-waits=run
	holds "'an earlier technique changes that' in s['remove_syncs']['refusal']"
	whatif "$recordings/graph_chain.naive" --graph=run --dependent # has what is left
	holds "s['dependent_launch']['range'] is None and s['dependent_launch']['iterations'] == 99"
}

# wrap NAME START END: a range in other/ around so many 1/1000 of the range `run`
wrap() {
	python3 - other/*/ "$@" <<-'END'
		import csv, sys
		folder, name, start, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
		names = dict(csv.reader(open(folder + "names.csv")))
		rows = list(csv.DictReader(open(folder + "markers.csv")))
		begin = next(row for row in rows if names.get(row["name"]) == "run")
		last = next(row for row in rows if row["id"] == begin["id"] and row["phase"] == "2")
		at, ns = int(begin["time_ns"]), int(last["time_ns"]) - int(begin["time_ns"])
		new = {text: number for number, text in names.items()}.get(name)
		if not new:
		    new = str(900 + len(rows))
		    open(folder + "names.csv", "a").write(f"{new},{name}\n")
		with open(folder + "markers.csv", "a") as out:
		    for time, phase, what in ((start, 1, new), (end, 2, 0)):
		        out.write(f"{at + ns * time // 1000},{900 + len(rows)},{phase},1,{begin['thread']},0,{what}\n")
	END
}

@test "a loop that lies in several occurrences of a range changes in each of them" {
	unpacked graph_chain.naive other
	wrap piece 100 300
	wrap piece 400 500
	wrap piece 700 900
	whatif other --graph=piece
	holds "s['cuda_graph']['loops'] == 1 and 40 < s['cuda_graph']['iterations'] < 50"
	holds "0.4 < j['place']['before_ns'] / 2.5e6 < 0.55"
	# one iteration, and a part of the next one
	wrap short 400 415
	whatif other --graph=short
	holds "'no two iterations of a loop' in s['cuda_graph']['refusal'] and j['speedup'] is None"
}

@test "where no loop lies in its range a strategy says so, and else why it does nothing" {
	whatif "$recordings/graph_chain.naive" --graph=prepare --fewer-waits=check
	holds "all('no two iterations of a loop follow one another in that range' == part['refusal'] for part in j['strategies'])"
	holds "j['speedup'] is None"
	whatif "$recordings/graph_chain.naive" --persistent=run
	holds "'more than kernels' in s['persistent_kernel']['refusal']"
}

@test "of a strategy that is given twice the last range counts, and its first place" {
	whatif "$recordings/graph_chain.naive" --graph=prepare --fewer-waits=warm-up --graph=run
	holds "[(p['strategy'], p['range']) for p in j['strategies']] == [('cuda_graph', 'run'), ('remove_syncs', 'warm-up')]"
	whatif "$recordings/graph_chain.naive" --graph=run --graph
	holds "s['cuda_graph']['range'] is None and s['cuda_graph']['iterations'] == 199"
}

@test "the text names a strategy's range, and so does the command that draws it" {
	unpacked graph_chain.naive other
	wrap "it's here" 100 900
	run -0 "$ROOFLINECTL" whatif other --graph="it's here" --fewer-waits
	[[ "$output" == *$'\n'"  cuda_graph  (in NVTX range 'it's here')"$'\n'* ]]
	[[ "$output" == *$'\n'"  remove_syncs"$'\n'* ]]
	[ "${lines[-1]}" = "As a picture: rooflinectl plot whatif --graph='it'\\''s here' --fewer-waits other" ]
	needs_command gnuplot
	run -0 bash -c "'$ROOFLINECTL' ${lines[-1]#As a picture: rooflinectl}"
	[ "$output" = charts/other/roofline-whatif.svg ]
}

@test "a range after a space is no recording: the line says how it is written" {
	local there=$recordings/graph_chain.naive
	wrong "not also 'run'; for a range write --graph=run;" "$there" --graph run
	wrong "not also 'run'; for a range write --graph=run;" "$there" --gr run --overlap
	wrong "; for a range write --graph=run;" --graph run "$there"
	wrong "not also 'run'; for a range write --overlap=run;" --graph "$there" --overlap run
	wrong "; for a range write --graph=run;" --graph run --overlap "$there"
	wrong "no recording is called 'run'; for a range write --graph=run;" --graph run
	wrong "not also 'run'; see " --graph "$there" run
	wrong "not also 'run'; see " "$there" --graph --pinned run
	mkdir run # a folder that is called so changes nothing
	wrong "not also 'run'; for a range write --graph=run;" "$there" --graph run
	whatif --graph "$there" # which is no range
	holds "s['cuda_graph']['range'] is None"
}

@test "a range in which CUDA is not called has no part" {
	unpacked graph_chain.naive other
	local at thread
	IFS=, read -r at _ _ _ thread _ < <(sed -n 2p other/*/markers.csv)
	echo 999,idle >>"$(echo other/*/names.csv)"
	printf '%s\n' "$at,999,1,1,$thread,0,999" "$at,999,2,1,$thread,0,0" >>"$(echo other/*/markers.csv)"
	whatif other --graph --range idle
	holds "j['speedup'] > 3 and j['place']['before_ns'] is None"
	run -0 "$ROOFLINECTL" whatif other --graph --range idle
	[[ "$output" != *"  the range "* ]]
}

@test "text has the run, the part, and each strategy alone" {
	run -0 --separate-stderr "$ROOFLINECTL" whatif "$recordings/conditional_if.naive" --decide --graph
	[ -z "$stderr" ]
	[ "${lines[0]}" = "What if, all together  (GPU 0, NVIDIA H200)" ]
	[[ "$output" == *"before     after   speedup  low to high"* ]]
	[[ "$output" == *"  the whole run "*"x to "*"  what changes "*"x to "* ]]
	[[ "$output" == *"  device_decision
    changed: 1 loop, "*" iterations, "*" decisions are the device's
    alone: whole run "*"    alone: its part "* ]]
	[[ "$output" == *"  cuda_graph
    refused: the host reads a result before it launches what follows"$'\n'* ]]
	run -0 "$ROOFLINECTL" whatif "$recordings/graph_chain.naive" --graph --range run
	[[ "$output" == *"NVTX range run)"*"  the range "*"alone: the range "* ]]
}

@test "text ends with the command that draws it, which does, and not where nothing would change" {
	unpacked graph_chain.naive "it's one"
	run -0 "$ROOFLINECTL" whatif "it's one" --graph --fewer-waits --range run
	[ "${lines[-1]}" = "As a picture: rooflinectl plot whatif --graph --fewer-waits --range run 'it'\\''s one'" ]
	needs_command gnuplot
	local command=${lines[-1]#As a picture: rooflinectl}
	run -0 bash -c "'$ROOFLINECTL' $command"
	[ "$output" = "charts/it's one/roofline-whatif-range-run.svg" ]
	run -0 "$ROOFLINECTL" whatif "$recordings/device_graph.tail" --graph
	[[ "$output" != *"As a picture"* ]]
}

@test "where nothing would change no figure is made up" {
	whatif "$recordings/device_graph.tail" --graph --decide
	holds "'the device launches work itself' in s['cuda_graph']['refusal']"
	holds "[j[k] for k in ('speedup', 'low', 'high', 'before_ns', 'after_ns')] == [None] * 5"
	run -0 "$ROOFLINECTL" whatif "$recordings/device_graph.tail" --graph --decide
	[[ "$output" == *"nothing would change; each technique says below why"*"refused: the device launches work itself"* ]]
	for option in '--buckets 8' --steal; do # its other GPU has a copy and no kernel
		# shellcheck disable=SC2086 # an option and its number
		run -0 "$ROOFLINECTL" whatif "$recordings/scaling.one" $option
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"refused: only one GPU runs kernels in the recording: the others are prepared, and not used for more"* ]]
	done
}

@test "without a recording's folder the newest one here" {
	unpacked graph_chain.naive roofline.1
	whatif --graph
	holds "j['recording'].endswith('roofline.1')"
}

@test "what cannot be predicted is told in one line" {
	failed "no prediction: replaying it gives a time " "$recordings/dp_irregular.device" --graph
	failed "no prediction: kernels were repeated for hardware counters: record without" \
		"$recordings/known_counts.replay" --graph
	unpacked graph_chain.naive other
	sed -i 's/NVIDIA H200/NVIDIA Unheard/' other/*/devices.csv
	failed "other: no prediction: no measured ceilings of this GPU: run rooflinectl ceilings" \
		other --graph
	rm other/*/{kernels,signatures,copies}.csv
	failed "other: no prediction: no operation of a GPU in it" other --graph
}

@test "a decision whose cost was not measured is not for free" {
	for row in conditional_iteration graph_node; do
		python3 - "$root"/ceilings/NVIDIA_H200-*.json $row >less.json <<-'END'
			import json, sys
			file = json.load(open(sys.argv[1]))
			file["ceilings"] = [row for row in file["ceilings"] if row["name"] != sys.argv[2]]
			json.dump(file, sys.stdout)
		END
		whatif "$recordings/conditional_if.naive" --decide --ceilings less.json
		holds "'the ceilings lack what it costs' in s['device_decision']['refusal'] and j['speedup'] is None"
	done
}

@test "a recording that is none is a failure" {
	mkdir empty
	failed empty empty --graph
	failed nosuch nosuch --graph
	failed "no recording under the current folder" --graph
	failed nosuch.json "$recordings/graph_chain.naive" --graph --ceilings nosuch.json
}

@test "wrong arguments" {
	wrong "which technique? there are --graph, --fewer-waits, --decide, --device-launch, --update" \
		"$recordings/graph_chain.naive"
	wrong "has no NVTX range 'nosuch'; it has: prepare, naive, warm-up" \
		"$recordings/graph_chain.naive" --graph --range nosuch
	for option in graph fewer-waits decide device-launch overlap preallocate streams persistent fuse dependent; do
		wrong "has no NVTX range 'nosuch'; it has: prepare, naive, warm-up" \
			"$recordings/graph_chain.naive" --graph=run --$option=nosuch
	done
	wrong "has no NVTX range ''; it has: prepare" "$recordings/graph_chain.naive" --graph=
	for option in pinned queue; do
		wrong "option '--$option' doesn't allow an argument" "$recordings/graph_chain.naive" --$option=run
	done
	wrong "no format 'xml'; there are: text json csv" "$recordings/graph_chain.naive" --graph -f xml
	wrong "one recording at a time, not also 'two'" "$recordings/graph_chain.naive" two --graph
	wrong nosuch "$recordings/graph_chain.naive" --nosuch
	for batch in 0 1 -2 4294967297 99999999999999999999 x 8x ''; do
		wrong "--batch: '$batch' is not a number of atomics from 2 to 4294967296" \
			"$recordings/atomic_batch.naive" --batch "$batch"
		wrong "--aggregate: '$batch' is not a number of atomics from 2 to 4294967296" \
			"$recordings/atomic_batch.naive" --aggregate "$batch"
	done
	wrong "option '--batch' requires an argument" "$recordings/atomic_batch.naive" --batch
	for factor in 0 1 65 1.5 x ''; do
		wrong "--narrow: '$factor' is not a whole factor from 2 to 64" \
			"$recordings/precision.naive" --narrow "$factor"
	done
}

@test "an answer that cannot be written is a failure" {
	for format in text json; do
		run -1 bash -c "'$ROOFLINECTL' whatif --graph -f $format '$recordings/graph_chain.naive' >/dev/full"
		[[ "$output" == *"No space left on device"* ]]
	done
}

@test "neighbors as one kernel, and dependent launches, take their gaps away" {
	whatif "$recordings/graph_chain.no_sync" --fuse
	holds "s['fuse']['changed'] == 398 and 1.5 < j['speedup'] < 2.5"
	whatif "$recordings/graph_chain.naive" --fuse # the host waits between them
	holds "'no kernels of the same grid' in s['fuse']['refusal']"
	whatif "$recordings/dependent_launch.naive" --range run --dependent
	holds "s['dependent_launch']['changed'] == 159 and 1.2 < j['place']['speedup'] < 1.4"
}

# Measured is 1.56x (docs/workloads/clusters.md); total_kernel reduces.
@test "bytes that neighbors hand each other vanish, where counters do not tell against it" {
	whatif "$recordings/clusters.naive" --fuse
	# of 49, those in a loop of which at most a tenth of the launches was counted by instrumented code
	holds "s['fuse']['changed'] == 39 and 1.5 < j['place']['speedup'] < 2.1"
	holds "1 < j['place']['low'] < 1.56 < j['place']['high']"
	run -0 "$ROOFLINECTL" whatif "$recordings/clusters.naive" --fuse
	[[ "$output" == *"39 kernels go into the one before them,"* ]]
	[[ "$output" == *"GiB of DRAM vanish"*"assumes: what a kernel reads is what the one before it wrote"* ]]
	whatif "$recordings/clusters.totals_first" --fuse
	holds "s['fuse']['refusal'].startswith('by its counters') and j['speedup'] is None"
	run -0 "$ROOFLINECTL" whatif "$recordings/graph_chain.no_sync" --fuse
	[[ "$output" != *assumes:* ]]
}

@test "graphs that are made for each launch are kept, unless their nodes differ from those before" {
	whatif "$recordings/graph_update.naive" --range run --update
	# of 200 graphs the first one, and where a fifth kernel comes or goes
	holds "s['update_graph']['changed'] == 175 and 1.4 < j['place']['speedup'] < 2.2"
	whatif "$recordings/graph_chain.graph" --update
	holds "'instantiates a graph for nearly every launch' in s['update_graph']['refusal'] and j['speedup'] is None"
}

@test "launches that counters left no record of count where they were" {
	# 100 of 3.09 to 3.1 ms in the range, of which two have no record; five are in the warm-up
	whatif --batch 8 --range run "$root/tests/pairs/atomic_batch.naive"
	holds '3.09e8 < j["place"]["before_ns"] < 3.11e8'
	holds '7.1 < j["place"]["speedup"] < 7.3'
}
