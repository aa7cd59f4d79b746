#!/usr/bin/env bats
# The first screen of report and advise: what limits the run, the best change, and the next command.

load common

recordings="$root/tests/recordings"

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
}

# json ARGUMENT...: what a command writes as JSON, for holds
json() {
	"$ROOFLINECTL" "$@" --format json >answer.json
}

# holds EXPRESSION: of that JSON, j
holds() {
	python3 -c "import json, re; j = json.load(open('answer.json')); assert ($1), 'not so'"
}

@test "report and advise begin with what limits the run, the best change with its interval, and a command" {
	for command in report advise; do
		run -0 "$ROOFLINECTL" $command "$recordings/graph_chain.naive"
		[ "${lines[0]}" = Verdict ]
		[[ "${lines[1]} ${lines[2]}" == "  GPU idle 88."?"% of each step (198 steps of 26.9 us): launch 6"?.?"%,   synchronization 2"?.?"%" ]]
		[[ "${lines[3]} ${lines[4]}" == "  do:   Wait for the GPU only where the host needs a result: "?.??"x per step         ("*"x to "*"x); with 1 more "?.??"x, see Plan" ]]
		[[ "${lines[5]}" == "  "@(how: |next:)" rooflinectl "* ]]
	done
}

@test "what limits a run is what limits the part that repeats, however long the rest takes" {
	json report "$recordings/memory_bound.naive" # idle for half of the run
	holds "j['devices'][0]['idle_ns'] > 0.45 * j['devices'][0]['wall_ns']"
	holds "j['verdict']['limit'].startswith('GPU busy with kernels 98.8% of each step (2,982 steps of 187 us); triad4_kernel 100% of their time')"
	holds "j['verdict']['limit'].endswith(' that recording added to the run')"
	json report "$recordings/work_queue.persistent" # it repeats nothing
	holds "j['verdict']['limit'].startswith('GPU idle ') and 'step' not in j['verdict']['limit']"
}

@test "idle time is shown with its two largest causes, in that order" {
	json report "$recordings/torch_train"
	holds "j['verdict']['limit'].startswith('GPU idle 78.6% of each step (201 steps of 1.62 ms): Python 53.7%, launch 23.3%')"
}

@test "the host's own code is a bound behind all advice and in no plan, and only about steps that it makes longer" {
	json report "$recordings/graph_modes.thread_local" # nothing else is known
	holds "[(a['id'], a['bound']) for a in j['advice']] == [('host_code', 'without the host\\'s own code between its calls')] and j['plan'] == []"
	holds "re.search(r'^none: of \d+ changes none is known to gain; without the host.s own code between its calls up to [\d.]+x per step', j['verdict']['change'])"
	json report "$recordings/atomic_batch.batch_16" # it gains more than what is advised
	holds "[a['id'] for a in j['advice']] == ['hot_atomics', 'host_code'] and not j['advice'][0]['bound'] and 'without the host' not in j['verdict']['change']"
	json report "$recordings/jit_gemm.cold_start" # steps are as long without
	holds "'host_code' in [r['id'] for r in j['rejected']]"
	json report "$recordings/work_queue.persistent" # nothing repeats
	holds "'host_code' not in [x['id'] for x in j['advice'] + j['rejected']]"
}

@test "of a change that is judged by the whole run the verdict tells what it is of the steady state, which the limit is of" {
	for archive in "$root"/tests/corpus/recordings.*.tar; do
		tar -xf "$archive" --wildcards 'collision*.trace.roofline' 2>/dev/null || true
	done
	json report collision.once.trace.roofline
	holds "'% of each step (' in j['verdict']['limit'] and j['advice'][0]['steady']['speedup'] < 1.005 < j['advice'][0]['speedup']"
	holds "'x); it changes what is outside of the steps' in j['verdict']['change']"
	json report collision.trace.roofline # some of it is outside
	holds "1.005 < j['advice'][0]['steady']['speedup'] < j['advice'][0]['speedup']"
	holds "(', %.2fx per step' % j['advice'][0]['steady']['speedup']) in j['verdict']['change']"
	json report "$recordings/graph_chain.naive" # judged by the steady state
	holds "'outside' not in j['verdict']['change'] and 'x), ' not in j['verdict']['change']"
	json report "$recordings/work_queue.persistent" # it repeats nothing
	holds "'step' not in j['verdict']['limit'] and 'outside' not in j['verdict']['change'] and 'per step' not in j['verdict']['change']"
}

@test "the verdict's shares stand in the table of idle time, beside those of the run" {
	run -0 "$ROOFLINECTL" report "$recordings/graph_chain.naive" -s verdict,devices
	local shares=()
	[[ "$output" =~ "GPU idle "([0-9.]+%)" of each step "[^:]*": launch "([0-9.]+%) ]]
	shares=("${BASH_REMATCH[@]:1}")
	[[ "$output" =~ the\ run\ +its\ steady\ state ]]
	[[ "$output" =~ $'\n  idle '[^$'\n']*" ms   ${shares[0]}  #" ]]
	[[ "$output" =~ $'\n    launch '[^$'\n']*" ms   ${shares[1]}  #" ]]
	[[ "$output" =~ $'\n    module load '\ +[0-9.]+\ us\ +[0-9.]+%\ +-$'\n' ]] # none of it is steady
	run -0 "$ROOFLINECTL" report "$recordings/pytorch.compile" -s devices # it repeats nothing
	[[ "$output" == *"first operation to the last's end"* && "$output" != *"steady state"* ]]
}

@test "of what may lose the verdict says perhaps, and what is missing is measured before it is tried" {
	json report "$recordings/conditional_precision.naive"
	holds "[(a['id'], a['unsure']) for a in j['advice']][0] == ('pageable_copy', True)"
	holds "max(j['advice'][0]['low'], j['advice'][0]['steady']['low'] or 0) < 1 < j['advice'][0]['speedup']"
	holds "j['verdict']['change'].startswith('none is sure to gain; perhaps: ')"
	holds "[n['id'] for n in j['next']][0] not in ('advise', 'check') and [n['id'] for n in j['next']][-2:] == ['advise', 'check']"
	json report "$recordings/graph_chain.naive"
	holds "not j['advice'][0]['unsure']"
}

@test "what brings little, and what is left to kernels at their roof, is told as that" {
	json report "$recordings/memory_bound.naive"
	holds "(j['advice'][0]['strategy'], j['advice'][0]['at_roof'], j['advice'][0]['minor']) == ('fewer_bytes', True, False)"
	holds "j['verdict']['change'].startswith('at its roof; faster only so: Move fewer bytes')"
	tar -xf "$root/tests/corpus/recordings.1.tar" attentionMergeState.trace.roofline
	json report attentionMergeState.trace.roofline
	holds "(j['advice'][0]['strategy'], j['advice'][0]['at_roof'], j['advice'][0]['minor']) == ('cuda_graph', False, True)"
	holds "max(j['advice'][0]['speedup'], j['advice'][0]['steady']['speedup'] or 0) < 1.1"
	holds "j['verdict']['change'].startswith('little to gain: ')"
	json report "$recordings/graph_chain.naive"
	holds "not j['advice'][0]['minor'] and not j['advice'][0]['at_roof']"
	json report "$recordings/clusters.naive" # a short run, in which little is steady
	holds "j['advice'][0]['speedup'] < 1.1 < j['advice'][0]['steady']['speedup'] and not j['advice'][0]['minor']"
	holds "not j['verdict']['change'].startswith('little to gain')"
}

@test "where counters decide what the first advice brings they are what to record next" {
	tar -xf "$root/tests/corpus/recordings.1.tar" haccmk.trace.roofline
	tar -xf "$root/tests/corpus/recordings.2.tar" cbsfil.counters.roofline
	json report haccmk.trace.roofline
	holds "j['advice'][0]['strategy'] == 'fill_gpu' and [n['id'] for n in j['next']] == ['counters', 'advise', 'check']"
	holds "j['next'][0]['why'].startswith('fill_gpu brings 1.00x to %.2fx, as far as' % j['advice'][0]['steady']['speedup'])"
	json report cbsfil.counters.roofline # has them
	holds "j['advice'][0]['strategy'] == 'fill_gpu' and j['next'][0]['id'] == 'advise'"
}

@test "JSON has the verdict, the next commands with their reasons, and the plan" {
	json report "$recordings/graph_chain.naive"
	holds "sorted(j['verdict']) == ['change', 'limit', 'next']"
	holds "[n['id'] for n in j['next']] == ['advise', 'check']"
	holds "all(n['command'] and n['why'] for n in j['next']) and j['verdict']['next'] == j['next'][0]['command']"
	holds "[sorted(p) for p in j['plan']] == 2 * [['assumes', 'high', 'low', 'options', 'speedup', 'steady', 'strategy', 'title', 'up_to']]"
	holds "(j['plan'][0]['strategy'], j['plan'][0]['speedup']) == (j['advice'][0]['strategy'], j['advice'][0]['speedup'])"
}

@test "a command that is read from recordings does run" {
	unpacked graph_chain.naive "it's a folder"
	unpacked conditional_if.conditional "and \$another"
	for folder in "it's a folder" "and \$another"; do
		run -0 "$ROOFLINECTL" report --format json "$folder"
		local command
		command=$(python3 -c "import json, sys; print(json.load(sys.stdin)['next'][0]['command'])" <<<"$output")
		[[ "$command" == "rooflinectl "*" '"* ]]
		run -0 bash -c "${command/rooflinectl/$ROOFLINECTL}"
		[ -n "$output" ]
	done
}

@test "words of the recorded command are quoted" {
	unpacked graph_chain.naive folder
	sed -i 's/^command,.*/command,.\/app --name $(id) a;b/' folder/*/process.csv
	run -0 "$ROOFLINECTL" advise folder
	[[ "$output" == *" -- ./app --name '\$(id)' 'a;b' && rooflinectl verify folder folder.after "* ]]
}

@test "a recording that came on stdin is named by a word that says so" {
	run -0 "$ROOFLINECTL" report - <"$recordings/graph_chain.naive.roofline"
	[[ "$output" == *"  how:  rooflinectl advise RECORDING_FROM_STDIN"* ]]
	run -0 "$ROOFLINECTL" advise - <"$recordings/graph_chain.naive.roofline"
	[[ "$output" == *"rooflinectl verify RECORDING_FROM_STDIN RECORDING_FROM_STDIN.after --strategy sync_every_kernel"* ]]
	[[ "$output" == *"check it: rooflinectl verify RECORDING_FROM_STDIN AFTER"* ]]
}

@test "of several processes nobody knows what started them" {
	run -0 "$ROOFLINECTL" advise "$recordings/collectives.ordered"
	[[ "$output" == *"rooflinectl record -o collectives.ordered.after -- PROGRAM && "* ]]
}

# next_of NAME: the ids of what to do next with that recording
next_of() {
	"$ROOFLINECTL" report --section next --format csv "$recordings/$1" | sed -n '2,$s/,.*//p' | xargs
}

@test "what is missing is what to measure: counters where kernels take the time, and then samples and ncu" {
	[ "$(next_of work_queue.naive)" = counters ]
	[ "$(next_of memory_bound.scalar)" = "advise check counters samples ncu" ] # wider loads are advised; of sectors nobody knows
	[ "$(next_of pytorch.compile)" = host ]
	[ "$(next_of compute_bound.fp64)" = apart ]
	[ "$(next_of dynamic_parallelism.device)" = samples ] # children are not recorded
	[ "$(next_of device_graph.tail)" = host ]
	[ "$(next_of histogram.shared)" = "counters samples ncu" ] # at 29% of a roof, and nobody counted conflicts
	[ "$(next_of fuse_elementwise.fused)" = "advise check samples stalls ncu" ] # at 47%, and all but stalls is counted
	run -0 "$ROOFLINECTL" report --section next "$recordings/fuse_elementwise.fused"
	[[ "$output" == *"--counters=roofline,atomics,shared,global,sm,stalls -o fuse_elementwise.fused.stalls "* ]]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *'what it waits for, and in "Warp State Statistics" why'* ]]
	run -0 "$ROOFLINECTL" report --section next "$recordings/memory_bound.scalar"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *'and in "Memory Workload Analysis" why'* ]]
	[[ "$output" == *"is at 71% of its nearest roof"* ]]
	[[ "$output" == *"ncu --set full "*" --kernel-name 'regex:_Z12triad_kernelPfPKfS1_fl$' --launch-skip 1 --launch-count 1 memory_bound scalar "* ]]
}

# In these the GPU idles for 99%, 36% and 48% of the whole run, most of it while the host loads and checks.
@test "what repeats is asked about, not what happens once" {
	[ "$(next_of dependent_launch.dependent)" = counters ]
	[ "$(next_of conditional_ifelse.predicated)" = counters ]
	run -0 "$ROOFLINECTL" report --section next "$recordings/dependent_launch.dependent"
	[[ "$output" == *"kernels run for 100.0% of the steady state"* ]]
	[ "$(next_of copy_overlap.streamed)" = "host counters" ] # nothing repeats that kernels take most of
}

@test "a kernel that no roof explains has its atomics counted, if nobody did, before ncu is asked" {
	unpacked memory_bound.scalar without
	sed -i 's/,atomic_unit_cycles,/,none,/' without/*/metrics.csv
	json report without
	holds "[n['id'] for n in j['next']] == ['advise', 'check', 'counters', 'samples', 'ncu']"
	holds "j['next'][2]['why'] == 'no roof explains what triad_kernel takes, and its atomics and the sectors that its loads and stores touch were not counted'"
	holds "'record --counters=roofline,atomics,shared,global,sm -o ' in j['next'][2]['command']"
}

@test "beside a host that is busy with its own work the kernels can be counted, too" {
	[ "$(next_of work_queue.persistent)" = "host counters" ]
	[ "$(next_of pytorch.compile)" = host ] # kernels run for less than a twentieth of the time
}

@test "without ceilings of the GPU they are what to measure first" {
	unpacked graph_chain.naive other
	sed -i 's/NVIDIA H200/Some GPU/' other/*/devices.csv
	json report other
	holds "'ceilings' in [n['id'] for n in j['next']]"
}

@test "what was never recorded on a GPU is a question for doctor" {
	unpacked graph_chain.naive empty
	rm -f empty/*/{kernels,copies,memsets}.csv
	json report empty
	holds "j['verdict']['limit'] == 'nothing was recorded on a GPU'"
	holds "[n['command'] for n in j['next']] == ['rooflinectl doctor']"
}

# of_whatif OPTION...: whether each step of the plan in answer.json is what whatif says of it and those before it
of_whatif() {
	local options
	python3 -c "import json; [print(p['options']) for p in json.load(open('answer.json'))['plan']]" >options
	while read -r options; do
		# shellcheck disable=SC2086 # options are words
		"$ROOFLINECTL" whatif $options "$@" --format json
	done <options | python3 -c "
import json, sys
text, decoder, told = sys.stdin.read().strip(), json.JSONDecoder(), []
while text:
    what_if, end = decoder.raw_decode(text)
    told.append(what_if)
    text = text[end:].strip()
def part(of):
    return [of[key] for key in ('speedup', 'low', 'high')]
plan = json.load(open('answer.json'))['plan']
assert len(plan) == len(told)
for step, what_if in zip(plan, told):
    asked = what_if['place'] if what_if['range'] else what_if
    assert (part(step), part(step['steady'])) == (part(asked), part(what_if['steady'])), (step, what_if)"
}

@test "each step of a plan is what whatif predicts of it and those before it" {
	json report "$recordings/graph_memory.malloc"
	holds "[p['strategy'] for p in j['plan']] == ['preallocate', 'cuda_graph']"
	of_whatif "$recordings/graph_memory.malloc"
	json advise --range run "$recordings/graph_memory.malloc"
	holds "[p['strategy'] for p in j['plan']] == ['preallocate', 'cuda_graph']"
	of_whatif --range run "$recordings/graph_memory.malloc"
}

@test "plan, verdict and advice show the gain of a step, and plan and advice what it is of the run" {
	run -0 "$ROOFLINECTL" advise "$recordings/graph_memory.malloc"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *" do: Allocate once before the loop, or in stream order from a pool: 6.38x per step (5.39x to 7.80x); with 1 more 11.44x, see Plan "*"Plan (each change with those before it) 1. Allocate once before the loop, or in stream order from a pool 6.38x (5.39x to 7.80x) in the steady state, 4.21x of this run 2. Launch the repeating sequence of short kernels as one CUDA graph 11.44x (9."*"x) in the steady state, 5.73x of this run rooflinectl whatif "*"- predicted: the steady state 6.38x (5.39x to 7.80x) - predicted: the whole run 4.21x ("* ]]
}

@test "where no recording tells what operations need the low end leads, wherever a gain is told" {
	local low most run_low run_most
	read -r low most run_low run_most < <("$ROOFLINECTL" whatif --streams --format json "$recordings/graph_forkjoin.naive" | python3 -c "
import json, sys
told = json.load(sys.stdin)
print(*(f'{of[end]:.2f}x' for of in (told['steady'], told) for end in ('low', 'speedup')))")
	[[ $low != "$most" && $run_low != "$run_most" ]]
	run -0 "$ROOFLINECTL" advise "$recordings/graph_forkjoin.naive"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"side by side: $low, up to $most per step ($low to "*"x)"*"predicted: this part 1."*"x, up to "*"predicted: the steady state $low, up to $most ($low to "*"predicted: the whole run $run_low, up to $run_most ($run_low to "* ]]
	run -0 "$ROOFLINECTL" whatif --streams "$recordings/graph_forkjoin.naive"
	grep -qE "^  the whole run .* ${run_low/./\\.}  up to ${run_most/./\\.}\$" <<<"$output"
	grep -qE "^  a steady iteration .* ${low/./\\.}  up to ${most/./\\.}\$" <<<"$output"
	"$ROOFLINECTL" plot whatif -o . --streams "$recordings/graph_forkjoin.naive"
	grep -qF "the whole run would be $run_low, up to $run_most as fast" roofline-whatif.svg
	json advise "$recordings/graph_forkjoin.naive"
	holds "j['advice'][0]['strategy'] == 'concurrent_kernels' and j['advice'][0]['up_to']"
	json whatif --streams "$recordings/graph_forkjoin.naive"
	holds "j['up_to']"
}

@test "a change that adds less than it is uncertain by is in no plan" {
	json report "$recordings/conditional_while.naive"
	holds "[a['strategy'] for a in j['advice']] == ['while_node', 'check_every']"
	holds "[p['strategy'] for p in j['plan']] == ['while_node']"
	run -0 "$ROOFLINECTL" report "$recordings/conditional_while.naive"
	[[ "$output" != *$'\n'"Plan"* ]]
}

@test "what has to be done for a change anyhow is a step of its own before it, where it brings most of the gain" {
	json report "$recordings/graph_chain.naive"
	holds "[a['strategy'] for a in j['advice']] == ['remove_syncs', 'cuda_graph']"
	holds "[p['strategy'] for p in j['plan']] == ['remove_syncs', 'cuda_graph']"
	holds "j['plan'][1]['speedup'] > 1.5 * j['plan'][0]['speedup']"
}

@test "where nothing can be predicted the reason is in the verdict" {
	json report "$recordings/known_counts.replay"
	holds "j['verdict']['change'].startswith('none is predicted: kernels were repeated for hardware counters')"
}

@test "idle time in which samples show work that the device launched is told as such" {
	run -0 "$ROOFLINECTL" report --section verdict "$recordings/device_graph.tail"
	[[ "$(tr -s '\n ' ' ' <<<"$output")" =~ "samples show work that the device launched for "[0-9.]+"% of the time" ]]
}
