#!/usr/bin/env bats
# Predictions, advice and verify for jobs: recordings of two GPUs, beside what was measured without a recording.
load common

setup() {
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR NO_COLOR=1
	ceilings=ceilings/NVIDIA_H200-580.159.04.json
	cd "$root"
}

# of NAME.VARIANT: the path of its recording
of() {
	echo "tests/recordings/$1.roofline"
}

# first NAME.VARIANT: the first advice of what it does in its NVTX range run, and the plan's options
first() {
	"$ROOFLINECTL" report --range run --section advice,plan --format json "$(of "$1")" | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(report["advice"][0]["id"] if report["advice"] else "none", *[step["options"] for step in report["plan"]][-1:])'
}

# is_near WORKLOAD BEFORE AFTER: what verify measures is within 10% of what the runs took that nobody recorded
is_near() {
	"$ROOFLINECTL" verify --force --range run --format json "$(of "$1.$2")" "$(of "$1.$3")" | python3 -c '
import json, re, sys
workload, before, after, *files = sys.argv[1:]
us, now = {}, None
for file in files:
    for line in open(file):
        if title := re.match(r"(\w+) \(H\d", line):
            now = title[1]
        if row := re.match(r"(\w+) +([\d.]+) +[\d.]+ \.\. ", line):
            us[now, row[1]] = float(row[2])
wanted = us[workload, before] / us[workload, after]
found = json.load(sys.stdin)["measured"]
assert abs(found / wanted - 1) < 0.1, (workload, found, wanted)' \
		"$@" docs/results/workloads-links.txt docs/results/workloads-shmem.txt
}

@test "first advice for what goes through the host, waits for all gradients, or is handed over by hosts is the technique" {
	[ "$(first p2p_overlap.naive)" = "staged_peer_copy --peer-copy --buckets 8" ]
	[ "$(first nccl_bucketed.naive)" = "exposed_communication --buckets 8" ]
	[ "$(first nvshmem_signal.naive)" = "device_signals --signals" ]
	[ "$(first nvshmem_steal.naive)" = "rank_imbalance --steal" ]
	[ "$(first scaling.naive)" = "exposed_communication --buckets 4" ]
	[[ "$(first nccl_graph.naive)" == "launch_bound_graph "* ]]
	[[ "$(first mpi_cuda.naive)" == "pageable_copy "* ]]
}

@test "what overlaps already, and what GPUs do without their hosts, is left alone" {
	[ "$(first p2p_overlap.overlapped)" = none ]
	[ "$(first nccl_bucketed.buckets)" = none ]
	[ "$(first scaling.overlapped)" = none ]
	run "$ROOFLINECTL" report --range run --section advice "$(of nvshmem_signal.persistent)"
	[[ "$output" != *signals* ]]
}

# change NAME.VARIANT: what the verdict of the whole recording says to change, on one line
change() {
	[ -e "$BATS_TEST_TMPDIR/$1" ] || "$ROOFLINECTL" report --section verdict --format json "$(of "$1")" >"$BATS_TEST_TMPDIR/$1"
	python3 -c 'import json, sys; print(json.load(sys.stdin)["verdict"]["change"])' <"$BATS_TEST_TMPDIR/$1"
}

# With sanitizers recordings.bats has the whole report of each recording.
skip_with_sanitizers() {
	[[ $BUILD != */sanitized ]] || skip "the plain build's figures are compared"
}

# gain LEAST MOST NAME.VARIANT: the verdict's gain in the steady state, up to the first x, lies between, and is sure
gain() {
	change "$3" | python3 -c '
import re, sys
change = sys.stdin.read()
assert not change.startswith("none"), change
found = re.search(r": (?:[\d.]+x, )?(?:up to )?([\d.]+)x per step \([\d.]+x to [\d.]+x\)", change)
assert found and float(sys.argv[1]) <= float(found[1]) <= float(sys.argv[2]), change' "$1" "$2"
}

@test "the verdict of a job finds in what it repeats the technique of its lesson, without a range" {
	skip_with_sanitizers
	for job in nccl_bucketed.naive nccl_bucketed.naive.four; do
		[[ "$(change $job)" == "Communicate in parts, "* ]]
		gain 1.1 1.6 $job
	done
	for job in nccl_graph.naive nccl_graph.naive.four; do
		[[ "$(change $job)" == "Launch the repeating sequence of short kernels as one CUDA graph: "* ]]
		gain 2 6 $job
	done
	[[ "$(change nvshmem_signal.naive)" == "Let GPUs hand over by signals in memory, "* ]]
	gain 2.5 4.5 nvshmem_signal.naive
	[[ "$(change nvshmem_steal.naive)" == "Let ranks take work from one queue, "* ]]
	gain 1.4 2 nvshmem_steal.naive
	[[ "$(change p2p_overlap.naive)" == "Copy from GPU to GPU, "*"; with 1 more "* ]]
	[[ "$(change scaling.naive)" == *"perhaps: Communicate in parts, "* ]] # its kernels take most
}

@test "the verdict of a job that has its lesson does not name it again" {
	skip_with_sanitizers
	for job in nccl_bucketed.buckets nccl_bucketed.buckets.four nccl_graph.graph nccl_graph.graph.four \
		nvshmem_signal.put_signal nvshmem_signal.persistent nvshmem_steal.steal scaling.overlapped \
		p2p_overlap.overlapped mpi_cuda.pipelined; do
		[[ "$(change $job)" == "none: "* ]]
	done
}

@test "a job's step is its steady state, and what limits it is told of all its GPUs" {
	run "$ROOFLINECTL" report --section verdict,steady_state "$(of nccl_bucketed.naive)"
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"all 2 GPUs busy with kernels 9"?.?"% of each step ("* ]]
	[[ "$text" == *"38 iterations of 2."??" ms "*"an iteration: 6"*" launches"* ]] # 64 kernels and what follows them, not each
	run "$ROOFLINECTL" report --section verdict "$(of nvshmem_steal.naive)"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"busy with kernels "*"; task_kernel 100% of their time"* ]] # not the start-up's
}

@test "two recordings of a job give the speedup that was measured without them, in one process and in several" {
	is_near p2p_overlap naive peer
	is_near nccl_bucketed naive buckets
	is_near nvshmem_signal naive persistent
	is_near nvshmem_steal naive steal
}

@test "verify --gate holds a job to its prediction" {
	run --separate-stderr "$ROOFLINECTL" verify --gate --force --range run \
		"$(of p2p_overlap.naive)" "$(of p2p_overlap.peer)"
	[ "$status" -eq 0 ]
	[[ "$output" == *"by peer_copy (staged_peer_copy)"*"lies inside the interval"* ]]
}

@test "techniques of a job and of one GPU do not go together, and that is said" {
	run "$ROOFLINECTL" whatif --buckets 4 --dependent --range run "$(of nccl_bucketed.naive)"
	[ "$status" -eq 0 ]
	[[ "$output" == *"refused: the first technique is of the other sort"* ]]
}

@test "of a change of all ranks there is no picture, and whatif names none" {
	run "$ROOFLINECTL" whatif --peer-copy --range run "$(of p2p_overlap.naive)"
	[ "$status" -eq 0 ]
	[[ "$output" != *picture* ]]
	needs_command gnuplot
	"$ROOFLINECTL" plot whatif --peer-copy --range run "$(of p2p_overlap.naive)" -o "$BATS_TEST_TMPDIR" >/dev/null
	grep -q "no picture of a change of all ranks" "$BATS_TEST_TMPDIR/roofline-whatif-range-run.svg"
}

@test "what kernels of NVSHMEM do for themselves is told as not visible" {
	run "$ROOFLINECTL" report "$(of nvshmem_signal.persistent)"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"what kernels put, get and wait for themselves with NVSHMEM"* ]]
	run "$ROOFLINECTL" report "$(of nccl_bucketed.naive)"
	[[ "$output" != *NVSHMEM* ]]
}

@test "where kernels take the time the verdict tells how much of it is exposed communication, and of one rank nothing" {
	run -0 "$ROOFLINECTL" report --section verdict -f json --range run "$root/tests/recordings/nccl_bucketed.naive.roofline"
	[[ "$output" =~ "; of all ranks' time "4[0-9.]+"% is exposed communication\"" ]]
	run -0 "$ROOFLINECTL" report --section verdict -f json "$root/tests/recordings/memory_bound.naive.roofline"
	[[ "$output" != *communication* ]]
}

# is_predicted OPTION...: with 5 and with 10 buckets a training takes, within 5%, what is predicted from that with one
is_predicted() {
	local folder=$BATS_TEST_TMPDIR/ddp one parts
	rm -rf "$folder"
	one=$(python3 tests/tools/make_ddp.py "$folder/1" "$@")
	for parts in 5 10; do
		"$ROOFLINECTL" whatif --buckets $parts --range run -f json --ceilings "$ceilings" "$folder/1" | python3 -c '
import json, sys
wanted, found = int(sys.argv[1]) / int(sys.argv[2]), json.load(sys.stdin)["place"]["speedup"]
assert abs(found / wanted - 1) < 0.05, (sys.argv, found, wanted)' \
			"$one" "$(python3 tests/tools/make_ddp.py "$folder/$parts" --buckets $parts "$@")" "$parts" "$@"
	done
}

@test "buckets that another thread launches in a stream of their own are predicted, on two ranks and on four of which one is late" {
	is_predicted
	is_predicted --ranks 4 --late 200000
}

@test "a host that is held back by the full queue of its GPU is not slower than that GPU" {
	is_predicted --steps 60 --queue 600
}

@test "what each collective takes its host slows a host that is no faster than its GPU" {
	is_predicted --host 26000 --host-reduce 40000
}

@test "where collectives were measured by size, parts take what so many bytes do" {
	local least=200000
	ceilings_without_links "$BATS_TEST_TMPDIR/alone.json"
	python3 - "$BATS_TEST_TMPDIR/alone.json" "$((least + 20000))" >"$BATS_TEST_TMPDIR/ceilings.json" <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		row = {"name": "nccl_all_reduce", "unit": "ns", "samples": 15, "sm_mhz_low": 1900, "sm_mhz_high": 1980}
		for bytes_, ns in ((1, int(sys.argv[2])), (44739243, int(sys.argv[2])), (1 << 28, 1_220_000)):
		    found["ceilings"].append({**row, "parameter": bytes_, "value": ns, "low": ns, "high": ns})
		print(json.dumps(found))
	END
	ceilings=$BATS_TEST_TMPDIR/ceilings.json
	is_predicted --least-reduce $least
}

# after_us OPTION... -- OPTION...: what whatif says of a steady iteration, of a job whose hosts wait in each step
after_us() {
	local changes=()
	while [ "$1" != -- ]; do changes+=("$1") && shift; done
	shift
	rm -rf "$BATS_TEST_TMPDIR/job"
	python3 tests/tools/make_waiting_job.py "$BATS_TEST_TMPDIR/job" "$@"
	"$ROOFLINECTL" whatif "${changes[@]}" --ceilings ceilings/NVIDIA_H200-*.json -f json "$BATS_TEST_TMPDIR/job" |
		python3 -c 'import json, sys; print(round(json.load(sys.stdin)["steady"]["after_ns"] / 1000))'
}

# is_within LEAST MOST NUMBER
is_within() {
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ]
}

@test "with each step in a graph no rank waits for a slow host any more, in one process and in several" {
	# eight kernels of 3 us and a collective of 8 us, and what lies between nodes
	is_within 32 36 "$(after_us --graph --)"
	is_within 32 36 "$(after_us --graph -- --slow 5000)"
	is_within 32 36 "$(after_us --graph -- --slow 5000 --threads)"
	is_within 32 36 "$(after_us --graph -- --slow 5000 --ranks 4)"
}

@test "without its waits a job is as fast as its slowest host launches, less what recording added" {
	is_within 28 42 "$(after_us --fewer-waits --)"
	is_within 70 82 "$(after_us --fewer-waits -- --slow 5000)"
	is_within 70 82 "$(after_us --fewer-waits -- --slow 5000 --threads --ranks 3)"
}

@test "a step of buckets as a graph is predicted as it was measured" {
	run "$ROOFLINECTL" whatif --graph --range run -f json "$(of nccl_bucketed.buckets)"
	[ "$status" -eq 0 ]
	python3 -c '
import json, re, sys
us = dict(re.findall(r"^(buckets|graph) +([\d.]+) ", open("docs/results/workloads-links.txt").read(), re.M))
found, measured = json.load(sys.stdin)["place"], float(us["buckets"]) / float(us["graph"])
assert abs(found["speedup"] / measured - 1) < 0.03, (found["speedup"], measured)
assert found["low"] < measured < found["high"]' <<<"$output"
}

@test "waits after which other threads or processes go on stay" {
	run "$ROOFLINECTL" whatif --fewer-waits --range run "$(of nvshmem_step.naive)"
	[ "$status" -eq 0 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"refused: other threads or processes go on after the waits that would be gone"* ]]
}

@test "waits for what is sent by a message stay, also in a graph: nothing would change" {
	for technique in --fewer-waits --graph; do
		run "$ROOFLINECTL" whatif $technique "$(of mpi_cuda.pipelined)"
		[ "$status" -eq 0 ]
		[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"nothing would change"*"refused: other threads or processes go on after the waits that would be gone"* ]]
	done
}

@test "copies through the host become peer copies only where it is known who sends to whom" {
	run "$ROOFLINECTL" whatif --peer-copy "$(of mpi_cuda.naive.four)"
	[ "$status" -eq 0 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"nothing would change"*"refused: which GPU sends to which through the host is not known"* ]]
	run "$ROOFLINECTL" whatif --peer-copy "$(of mpi_cuda.naive)"
	[ "$status" -eq 0 ]
	[[ "$output" != *refused* ]]
}

@test "allocations with which no operation goes are no part of the GPU's time: only the whole run is told" {
	run "$ROOFLINECTL" whatif --preallocate -f json "$(of nccl_graph.naive.four)"
	[ "$status" -eq 0 ]
	python3 -c 'import json, sys
found = json.load(sys.stdin)
assert found["before_ns"] > found["after_ns"] and not any(found["place"].values()) and found["place"]["speedup"] is None, found' <<<"$output"
}

@test "what changes the calls of all ranks is advised once, not for each GPU" {
	run "$ROOFLINECTL" report --section advice --range run "$(of nvshmem_step.naive)"
	[ "$(grep -c "[0-9]\.  Launch the repeating sequence" <<<"$output")" -eq 1 ]
}

# with_signal FILE: the ceilings of an H200 with what a signal takes, 1 us
with_signal() {
	ceilings_without_links "$BATS_TEST_TMPDIR/alone.json"
	mkdir -p "$(dirname "$1")"
	python3 - "$BATS_TEST_TMPDIR/alone.json" >"$1" <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		found["ceilings"].append({"name": "peer_signal", "parameter": 0, "unit": "ns", "value": 1000.0, "low": 1000.0,
		                          "high": 1000.0, "samples": 15, "sm_mhz_low": 0.0, "sm_mhz_high": 0.0})
		json.dump(found, sys.stdout)
	END
}

@test "what signals take is found in the stored ceilings of this GPU and driver, and in the file that is named" {
	ceilings_without_links "$BATS_TEST_TMPDIR/alone.json"
	run "$ROOFLINECTL" whatif --signals --range run --ceilings "$BATS_TEST_TMPDIR/alone.json" "$(of nvshmem_signal.naive)"
	[[ "$output" == *"refused: what a signal between these GPUs takes nobody measured"* ]]
	with_signal "$BATS_TEST_TMPDIR/some.json"
	run "$ROOFLINECTL" whatif --signals --range run --ceilings "$BATS_TEST_TMPDIR/some.json" "$(of nvshmem_signal.naive)"
	[[ "$output" == *"copies between GPUs become stores and signals"* ]]
	named=$output
	with_signal "$XDG_DATA_HOME/rooflinectl/ceilings/NVIDIA_H200-580.159.04.json"
	run "$ROOFLINECTL" whatif --signals --range run "$(of nvshmem_signal.naive)"
	[ "$output" = "$named" ]
}
