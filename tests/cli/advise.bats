#!/usr/bin/env bats
# rooflinectl advise: what report advises, the command that checks it, and how it fails.

load common

recordings="$root/tests/recordings"

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data # not with what this user measured
}

# holds EXPRESSION: of the JSON in $output, j
holds() {
	python3 -c "import json, sys; j = json.load(sys.stdin); assert ($1), json.dumps(j, indent=1)" <<<"$output"
}

# refused CODE TEXT ARGUMENT...: that exit code, one line on stderr with that text, nothing on stdout
refused() {
	local code=$1 text=$2
	shift 2
	run "-$code" --separate-stderr "$ROOFLINECTL" advise "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl advise: "*"$text"* ]]
}

@test "the verdict, the plan, the advice and what to do next, as report has them, and nothing else" {
	for name in graph_chain.naive graph_memory.malloc conditional_if.naive; do
		for section in verdict plan advice rejected next; do
			"$ROOFLINECTL" report "$recordings/$name" --section $section >section
			grep -qE "^  (nothing|no change|no two changes) " section || { cat section; echo; }
		done >sections
		[ "$(wc -l <sections)" -gt 10 ]
		run -0 --separate-stderr "$ROOFLINECTL" advise "$recordings/$name"
		[ -z "$stderr" ]
		# how to make the change is what advise tells
		diff <(grep -vE '^      (check|try) it: |^ *# the program as recorded' <<<"$output"; echo) \
			<(sed '/^  - how the change is made/,+1d; /^ *# the program as recorded/d' sections) >differs || true
		[ "$(grep -c '^[<>]' differs)" -eq 2 ]
		grep -q '^> *how: *rooflinectl advise ' differs
		grep -q '^< *next: *rooflinectl record ' differs
	done
}

@test "what is missing in a recording is told with the advice that stands on the rest" {
	unpacked graph_chain.naive cut
	truncate -s -10 cut/*/kernels.csv
	sed -i '/sealed_ns/d' cut/*/process.csv
	for command in advise "whatif --graph"; do
		# shellcheck disable=SC2086 # two words
		run -0 --separate-stderr "$ROOFLINECTL" $command cut
		[ "${#stderr_lines[@]}" -eq 2 ]
		[[ "$stderr" == "rooflinectl ${command%% *}: warning: cut has losses (1, first: cut_off_rows);"* ]]
		[[ "$stderr" == *"warning: cut was cut off: its end is missing" ]]
		[[ "$output" == *cuda_graph* || "$output" == *"CUDA graph"* ]]
	done
}

@test "each recommendation has the command that checks it" {
	run -0 "$ROOFLINECTL" advise "$recordings/graph_chain.naive"
	[ "$(grep -c '^      check it: ' <<<"$output")" -eq 2 ]
	[ "$(grep '^      try it: ' <<<"$output")" = "      try it: rooflinectl try --fewer-waits -- graph_chain naive --repeats 1
      try it: rooflinectl try --graph -- graph_chain naive --repeats 1" ]
	[[ "$output" == *"      check it: rooflinectl verify $recordings/graph_chain.naive AFTER --strategy launch_bound_graph
"* ]]
	run -0 "$ROOFLINECTL" report "$recordings/graph_chain.naive"
	[[ "$output" != *"check it:"* ]]
	run -0 "$ROOFLINECTL" advise "$recordings/graph_memory.malloc"
	[[ "$output" == *"      try it: rooflinectl try --pool -- graph_memory malloc --repeats 1
"* ]]
	run -0 "$ROOFLINECTL" advise "$recordings/copy_overlap.naive"
	[[ "$output" == *"      check it: "*"--strategy pageable_copy
"* ]]
	[[ "$output" == *"try it: rooflinectl try --pinned -- "* ]]
}

@test "asked about a range, copies outside of it are not advised about, and those in it also where they happen once" {
	run -0 "$ROOFLINECTL" advise "$recordings/precision.naive" --format json
	holds "[a['id'] for a in j['advice']] == ['memory_roof']"
	run -0 "$ROOFLINECTL" advise "$recordings/precision.naive" --range run --format json
	holds "[a['id'] for a in j['advice']] == ['memory_roof']"
	run -0 "$ROOFLINECTL" advise "$recordings/precision.naive" --range check --format json
	holds "[a['id'] for a in j['advice']] == ['pageable_copy', 'memory_roof']"
}

@test "the command does check it" {
	run -0 "$ROOFLINECTL" advise "$recordings/graph_chain.naive" --range run --format json
	local command predicted
	command=$(python3 -c "import json, sys; print(json.load(sys.stdin)['advice'][0]['verify'])" <<<"$output")
	predicted=$(python3 -c "import json, sys; print(json.load(sys.stdin)['advice'][0]['place']['speedup'])" <<<"$output")
	[[ "$command" == "rooflinectl verify --range run "*" AFTER --strategy "* ]]
	command=${command/AFTER/$recordings/graph_chain.graph}
	run -0 bash -c "${command/rooflinectl/$ROOFLINECTL} --format json"
	holds "j['advice'] == 'sync_every_kernel' and j['predicted'] == $predicted and j['range'] == 'run'"
}

@test "names that a shell would take apart are quoted" {
	unpacked graph_chain.naive "it's a folder"
	sed -i 's/,warm-up$/,warm $(up)/' "it's a folder"/*/names.csv
	run -0 "$ROOFLINECTL" advise "it's a folder" --range 'warm $(up)' --format json
	local command
	command=$(python3 -c "import json, sys; print(json.load(sys.stdin)['advice'][0]['verify'])" <<<"$output")
	[ "$command" = "rooflinectl verify --range 'warm \$(up)' 'it'\\''s a folder' AFTER --strategy sync_every_kernel" ]
}

@test "a range is predicted in place of what changes" {
	run -0 "$ROOFLINECTL" advise "$recordings/graph_chain.naive" --range run
	[[ "$output" == *"predicted: the range "*"predicted: the whole run "*"verify --range run "* ]]
	[[ "$output" != *"predicted: this part"* ]]
}

@test "a technique is refused with what is wrong with the largest loop, not with the last one" {
	run -0 "$ROOFLINECTL" advise --format json "$recordings/bank_conflict.naive"
	holds "[r['reason'] for r in j['rejected'] if r['id'] == 'dependent_launch'] == ['the kernels before them fill the GPU until they end: there is no room for others']"
	holds "[r['reason'] for r in j['rejected'] if r['id'] == 'persistent_kernel'] == ['not all blocks of a kernel fit on the GPU at once']"
}

@test "JSON has advice and rejected, as report has them" {
	"$ROOFLINECTL" report --format json "$recordings/copy_overlap.naive" >report.json
	run -0 "$ROOFLINECTL" advise --format json "$recordings/copy_overlap.naive"
	holds "sorted(j) == ['advice', 'empty', 'first_ns', 'next', 'plan', 'recording', 'rejected', 'schema', 'selection', 'verdict']"
	holds "len(j['advice']) >= 2 and all(a['verify'] for a in j['advice'])"
	holds "j['advice'] == json.load(open('report.json'))['advice']"
	holds "j['rejected'] == json.load(open('report.json'))['rejected']"
}

@test "CSV has the recommendations, the command in its last column" {
	run -0 "$ROOFLINECTL" advise --format csv "$recordings/graph_chain.naive"
	[[ "${lines[0]}" == "id,strategy,title,"*",place_high,evidence,pattern,risk,try,verify" ]]
	run -0 python3 -c "
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(len(rows), rows[0]['id'], len(rows[0]['evidence'].splitlines()) > 1, rows[0]['verify'])" <<<"$output"
	[ "$output" = "2 sync_every_kernel True rooflinectl verify $recordings/graph_chain.naive AFTER --strategy sync_every_kernel" ]
	"$ROOFLINECTL" report --format csv --section advice "$recordings/graph_chain.naive" >report.csv
	"$ROOFLINECTL" advise --format csv "$recordings/graph_chain.naive" >advise.csv
	cmp report.csv advise.csv
}

@test "a program of PyTorch is told what to write in PyTorch, any other what to write in CUDA" {
	run -0 "$ROOFLINECTL" advise "$recordings/torch_loop.eager"
	[[ "$output" == *'torch.compile(model, mode="reduce-overhead")'*"graph.replay()"*"CUDA graph trees"* ]]
	[[ "$output" != *cudaStreamBeginCapture* ]]
	run -0 "$ROOFLINECTL" advise "$recordings/graph_chain.naive"
	[[ "$output" == *cudaStreamBeginCapture* && "$output" != *torch* ]]
}

# launched_by FRAMEWORKS: the recording of a chain of kernels, as if a program had loaded these
launched_by() {
	rm -rf changed
	unpacked graph_chain.naive changed
	printf 'frameworks,%s\n' "$1" | tee -a changed/*/process.csv >/dev/null
	run -0 "$ROOFLINECTL" advise changed
}

@test "a program of JAX or CuPy reads what to write there, and nothing that only CUDA C++ has" {
	launched_by JAX
	[[ "$output" == *"  2.  Compile all steps into one call: jax.jit of a lax.scan over them"*"up to 7.11x (2.24x to 8.23x)"*"return jax.lax.scan(step, state, batches)"* ]]
	[[ "$output" == *persistent_kernel*"it changes how CUDA code launches kernels; JAX launches"*these* ]]
	[[ "$output" != *"Launch the repeating sequence"* ]]
	[[ "$output" != *cudaStream* ]]
	launched_by CuPy
	[[ "$output" == *"stream.begin_capture()"* && "$output" != *cudaStream* ]]
	launched_by Numba
	[[ "$output" == *"stream.synchronize() # one wait"* && "$output" != *cudaStream* ]]
}

@test "where several devices have different reasons each is named with its own" {
	run -0 "$ROOFLINECTL" report "$recordings/collectives.ordered" -s rejected
	[[ "$output" == *"concurrent_kernels (GPU 0 "*"concurrent_kernels (GPU 1 "* ]]
	[ "$(grep -c "no loop has copies beside kernels" <<<"$output")" -eq 1 ]
}

@test "where nothing is predicted it says why, and where nothing is advised that" {
	run -0 "$ROOFLINECTL" advise "$recordings/dp_irregular.device"
	[[ "$output" == *"  - predictions: replaying it gives a time "*"% off the recorded one;"* ]]
	run -0 "$ROOFLINECTL" advise "$recordings/known_counts"
	[[ "$output" == *"  - cuda_graph, unroll_graph, "*" its kernels were counted by instrumented code, which leaves no"$'\n'"    times: record without hardware counters"* ]]
	[ "$(grep -c "its kernels were counted" <<<"$output")" -eq 1 ] # a reason is told once
	[[ "$output" == *"- 59% of all launches were counted by instrumented code, which leaves no"* ]]
	run -0 "$ROOFLINECTL" advise "$recordings/known_counts.replay"
	[[ "$output" == *"  - predictions: kernels were repeated for hardware counters: record without"* ]]
	run -0 "$ROOFLINECTL" advise "$recordings/graph_chain.graph"
	[[ "$output" == "Verdict"*"
Advice
  nothing to recommend

Considered and rejected"*"
Next
  - "* ]]
}

@test "atomics that bind a kernel have their merging predicted, with what that assumes" {
	run -0 "$ROOFLINECTL" advise "$recordings/atomic_batch.naive" --range run --format json
	holds "[a['id'] for a in j['advice']] == ['hot_atomics']"
	holds "j['advice'][0]['strategy'] == 'aggregate_atomics' and 90 < j['advice'][0]['place']['speedup'] < 180"
	holds "1 < j['advice'][0]['low'] < j['advice'][0]['speedup'] < j['advice'][0]['high'] < 11"
	holds "any('atomics explain' in e for e in j['advice'][0]['evidence'])"
	holds "any(e.startswith('assumes: a block can merge so many') for e in j['advice'][0]['evidence'])"
	run -0 "$ROOFLINECTL" advise "$recordings/atomic_hierarchy.two_level" --format json
	holds "'aggregate_atomics' not in [r['strategy'] for r in j['rejected']]" # nothing to consider
}

@test "what reading counters took is no reason against a prediction" {
	run -0 "$ROOFLINECTL" advise --format json "$recordings/graph_chain.naive.counted"
	holds "[a['id'] for a in j['advice']] == ['sync_every_kernel', 'launch_bound_graph']"
	# what is predicted of the recording without counters is in the interval
	"$ROOFLINECTL" advise --format json "$recordings/graph_chain.naive" >uncounted.json
	holds "all(a['low'] < u['speedup'] < a['high'] for a, u in zip(j['advice'], json.load(open('uncounted.json'))['advice']))"
	holds "not any(r['strategy'] == 'predictions' for r in j['rejected'])"
	for control in work_queue_mild.naive.counted compute_bound.gemm_tf32; do
		run -0 "$ROOFLINECTL" advise --format json "$recordings/$control"
		holds "j['advice'] == []"
	done
}

@test "without a recording's folder the newest one here" {
	unpacked graph_chain.naive roofline.1
	run -0 "$ROOFLINECTL" advise
	[[ "$output" == *"rooflinectl verify "*"roofline.1 AFTER --strategy launch_bound_graph"* ]]
}

@test "wrong arguments" {
	refused 2 "has no NVTX range 'nosuch'; it has: prepare, naive, warm-up" \
		"$recordings/graph_chain.naive" --range nosuch
	refused 2 "has no NVTX range 'iteration:7' (all occurrences are meant here; for the advice of one occurrence: rooflinectl report --section advice --range NAME:N); it has: " \
		"$recordings/graph_chain.naive" --range iteration:7
	unpacked graph_chain.naive without
	rm without/*/markers.csv
	refused 2 "has no NVTX range 'nosuch', nor any other" without --range nosuch
	refused 2 "no format 'xml'; there are: text json csv" "$recordings/graph_chain.naive" -f xml
	refused 2 "one recording at a time, not also 'two'" "$recordings/graph_chain.naive" two
	refused 2 nosuch --nosuch
}

@test "a recording that is none is a failure" {
	mkdir empty
	refused 1 empty empty
	refused 1 nosuch nosuch
	refused 1 "no recording under the current folder"
	refused 1 nosuch.json "$recordings/graph_chain.naive" --ceilings nosuch.json
}

@test "an answer that cannot be written is a failure" {
	for format in text json csv; do
		run -1 bash -c "'$ROOFLINECTL' advise -f $format '$recordings/graph_chain.naive' >/dev/full"
		[[ "$output" == *"No space left on device"* ]]
	done
}

# gain DIR: of the first advice with a prediction, on the steady state
gain() {
	"$ROOFLINECTL" advise "$1" --format json |
		python3 -c 'import json, sys; print(next(a["steady"]["speedup"] for a in json.load(sys.stdin)["advice"] if a["steady"]["speedup"]))'
}

# What others gain depends on how fast a host launches and copies: copy_overlap.naive gains 3.7x on one of these two, and 5.2x
# on the other.
@test "two recordings of one program, on two machines, agree within 15% on the gain of the steady state" {
	for name in graph_chain.naive graph_memory.malloc; do
		one=$(gain "$recordings/$name") other=$(gain "$root/tests/pairs/$name")
		python3 -c 'import sys; one, other = map(float, sys.argv[1:]); assert abs(one / other - 1) < 0.15' "$one" "$other" ||
			{ echo "$name: $one and $other"; false; }
	done
}

@test "a long start-up does not hide what makes the steady state faster" {
	run -0 "$ROOFLINECTL" advise "$recordings/dependent_launch.naive"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"still runs: "*" per step "*"predicted: the whole run 1.00x"* ]]
}

# first_advice FOLDER: of what its NVTX range run does, where there is one: the rule, what is at stake, its gain and evidence
first_advice() {
	local range=()
	! grep -qsx '[0-9]*,run' "$1"/*/names.csv || range=(--range run)
	"$ROOFLINECTL" advise "${range[@]}" -f json "$1" | python3 -c '
import json, sys
for advice in json.load(sys.stdin)["advice"][:1]:
    print(*(advice.get(key) for key in ("id", "at_stake_ns", "speedup", "low", "high", "evidence")))'
}

# In devices.csv it comes after the one that is used, or, with a sixteenth of the SMs at half the clock, before it.
@test "a program that uses one GPU of a host with several is advised as on a host with one" {
	for name in atomic_batch.naive fuse_elementwise.naive bank_conflict.naive fuse_layernorm_gemm.naive pitfalls.long_block; do
		rm -rf one after before
		unpacked "$name" one
		cp -r one after
		cp -r one before
		for table in one/*/devices.csv; do
			sed -n '2s/^0,\([^,]*\),[^,]*/1,\1,GPU-of-others/p' "$table" >more
			[ -s more ]
			cat more >>"after/${table#one/}"
			awk -F, -v OFS=, 'NR == 2 { other = $0; $1 = 1; $2 = "small GPU"; $3 = "GPU-of-others"; $6 = 8; $7 /= 2; print; $0 = other } 1' \
				"$table" >"before/${table#one/}"
		done
		[ -n "$(first_advice one)" ]
		[ "$(first_advice after)" = "$(first_advice one)" ]
		[ "$(first_advice before)" = "$(first_advice one)" ]
	done
}
