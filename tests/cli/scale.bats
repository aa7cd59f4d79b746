#!/usr/bin/env bats
# What several GPUs would bring, on recordings of steps whose times are known (tests/tools/make_step.py).

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_DATA_HOME=$BATS_TEST_TMPDIR NO_COLOR=1
}

# built OPTION...: a recording, and ceilings with links
built() {
	rm -rf step
	python3 "$root/tests/tools/make_step.py" step --links links.json "$@"
}

scale() {
	run --separate-stderr "$ROOFLINECTL" scale --ceilings links.json "$@" step
}

# expect PYTHON: of the JSON, where row(gpus, samples) is one of the rows
expect() {
	[ "$status" -eq 0 ]
	python3 -c '
import json, sys
found = json.load(sys.stdin)
def row(gpus, samples="divided"):
    return next(r for r in found["rows"] if r["gpus"] == gpus and r["samples"] == samples)
def near(a, b, share=0.01):
    return abs(a / b - 1) < share
assert '"$1"', json.dumps(found, indent=1)' <<<"$output"
}

@test "kernels take an N-th, the update as long, and the all-reduce comes on top: to a hundredth" {
	built --layers 8 --gradient 100000 --update 50000 --reduce 14000,893000
	scale --gradients 256M --gpus 2,4 -f json
	expect 'near(found["step_ns"], 8 * 101_000 + 51_000)'
	expect 'near(row(2)["in_turn"]["step_ns"], 8 * 51_000 + 51_000 + 893_000 + 1000)'
	expect 'near(row(2, "kept")["in_turn"]["step_ns"], 8 * 101_000 + 51_000 + 893_000 + 1000)'
	expect 'near(row(4)["in_turn"]["step_ns"], 8 * 26_000 + 51_000 + 28_000 + 879_000 * 1.5 + 1000)'
	expect 'found["kept_kernels"] == ["update_kernel"] and found["is_step_by_kernels"]'
}

@test "what two H200 were measured to gain is predicted within 5%, in turn and in eight parts" {
	built --layers 64 --gradient 105500 --update 250000 --reduce 14000,893000
	scale --gradients 256M --gpus 2 --buckets 8 -f json
	us() { awk -v workload=scaling -v variant="$1" '$2 ~ /^\(H/ { of = $1 } of == workload && $1 == variant && $2 > 0 { print $2 }' \
		"$root/docs/results/workloads-links.txt"; }
	expect 'near(found["step_ns"], 1000 * '"$(us one)"', 0.02)'
	expect 'near(row(2)["in_turn"]["speedup"], '"$(us one)/$(us naive)"', 0.05)'
	expect 'near(row(2)["overlapped"]["speedup"], '"$(us one)/$(us overlapped)"', 0.05)'
	expect 'row(2)["overlapped"]["low"] < '"$(us one)/$(us overlapped)"' < row(2)["overlapped"]["high"]'
}

@test "from a recording of one H100 what two were measured to gain is predicted within 5%" {
	us() { awk -v variant="$1" '$2 ~ /^\(H/ { of = $1 } of == "scaling" && $1 == variant && $2 > 0 { print $2 }' \
		"$root/docs/results/workloads-links-2.txt"; }
	run --separate-stderr "$ROOFLINECTL" scale --gradients 256M --gpus 2 --buckets 8 -f json "$root/tests/recordings/scaling.one" \
		--ceilings "$root"/ceilings/NVIDIA_H100_80GB_HBM3-*.json
	expect 'near(row(2)["in_turn"]["speedup"], '"$(us one)/$(us naive)"', 0.05)'
	expect 'near(row(2)["overlapped"]["speedup"], '"$(us one)/$(us overlapped)"', 0.05)'
	expect 'near(found["step_ns"], 1000 * '"$(us one)"', 0.02)'
}

@test "a step that is a graph, or that the host waits for, gains as much" {
	for more in --graph --wait "--graph --wait"; do
		# shellcheck disable=SC2086
		built --layers 64 --gradient 105500 --update 250000 $more
		scale --gradients 256M --gpus 2,4 --divide threads -f json
		expect 'near(row(2)["in_turn"]["speedup"], 1.54, 0.02) and near(row(4)["in_turn"]["speedup"], 2.11, 0.02)'
		expect '1.7 < row(2)["overlapped"]["speedup"] < 1.9'
	done
}

@test "what fewer samples make fewer of decides what a short launch gains" {
	built --layers 8 --gradient 100000 --update 0 --blocks 132
	scale --gradients 0 --gpus 2 --divide threads -f json
	expect 'near(row(2)["in_turn"]["speedup"], 101 / 51)'
	scale --gradients 0 --gpus 2 --divide blocks -f json
	expect 'near(row(2)["in_turn"]["speedup"], 1)'
	scale --gradients 0 --gpus 2 -f json
	expect 'row(2)["in_turn"]["low"] < 1 and row(2)["in_turn"]["high"] == 2'
	built --layers 8 --gradient 100000 --update 0 --blocks 66
	scale --gradients 0 --gpus 2 -f json
	expect 'near(row(2)["in_turn"]["speedup"], 1)'
}

@test "nothing goes beyond linear, and with as many samples on each GPU and nothing to add up it is linear" {
	built
	scale --gradients 0 --gpus 2,3,64 -f json
	expect 'all(r["overlapped"]["high"] <= r["gpus"] for r in found["rows"])'
	expect 'all(near(row(n, "kept")["in_turn"]["speedup"], n) for n in (2, 3, 64))'
	expect 'found["parts"] == 1'
}

@test "inputs that are copied to the GPU are divided as well" {
	built --layers 1 --gradient 200000 --update 20000 --input 20000000
	scale --gradients 0 --gpus 2 --divide threads -f json
	expect 'near(row(2)["in_turn"]["step_ns"], 201_000 + 101_000 + 21_000, 0.02)'
}

@test "measured of fewer GPUs as well, an all-reduce takes what it did there" {
	built --gpus 4 --reduce 20000,1300000 --by-gpus 2:15000:900000
	scale --gradients 256M --gpus 2,4,8 -f json
	expect 'near(row(2)["all_reduce_ns"], 900_000) and row(2)["all_reduce_from"] == "measured"'
	expect 'near(row(4)["all_reduce_ns"], 1_300_000) and row(4)["all_reduce_from"] == "measured"'
	expect 'near(row(8)["all_reduce_ns"], 30_000 + 1_280_000 * (7 / 8) / (3 / 4)) and row(8)["all_reduce_from"] == "bus bandwidth"'
	scale --gradients 256M
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"measured of 4 GPUs; of other numbers by bus bandwidth"* ]]
}

@test "without links the rate of copies stands for them, and that is said" {
	ceilings_without_links alone.json
	built --gpu "NVIDIA H200"
	run --separate-stderr "$ROOFLINECTL" scale --gradients 256M --ceilings alone.json step
	[ "$status" -eq 0 ]
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"follows from the rate of copies between two GPUs"* ]]
	built
	run --separate-stderr "$ROOFLINECTL" scale --gradients 256M --ceilings alone.json step
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"nobody measured: rooflinectl ceilings --links does"* ]]
}

@test "another GPU that is only prepared does not matter, one that computes does" {
	built --layers 8 --gradient 100000 --update 50000 --beside 500000
	scale --gradients 0 --gpus 2 -f json
	expect 'near(found["step_ns"], 8 * 101_000 + 51_000)'
	built --layers 8 --gradient 100000 --update 50000 --beside 50000000
	scale --gradients 0
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"several GPUs have work in it"* ]]
}

@test "--fixed says which kernels go with the weights" {
	built --layers 8 --gradient 100000 --update 50000
	scale --gradients 0 --gpus 2 --fixed Gradient -f json
	expect 'found["kept_kernels"] == ["gradient_kernel"]'
	scale --gradients 0 --gpus 2 --fixed Gradient --fixed nothing_of_it -f json
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ "$stderr" = "rooflinectl scale: step: no kernel with 'nothing_of_it' in its name was recorded (--fixed); rooflinectl report --section kernels lists them" ]
}

@test "a rank of a job is refused with the remedy" {
	unpacked ddp.one.2 job
	for rank in job/*/; do
		run --separate-stderr "$ROOFLINECTL" scale --gradients 1M "$rank"
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"no prediction: it is of rank "[01]" of a job of 2, whose steps have waits for the others in them; record the program as one process on one GPU" ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "several GPUs, nothing that repeats, and wrong arguments are refused with the reason" {
	run --separate-stderr "$ROOFLINECTL" scale --gradients 1M "$root/tests/recordings/nccl_bucketed.naive"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no prediction: several GPUs have work in it"* ]]
	built --steps 2 --layers 2
	scale --gradients 1M
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no prediction: no kernels are called as if they applied gradients"* ]]
	for wrong in "" "--gradients 1X" "--gradients 1M --gpus 1" "--gradients 1M --gpus 2,,4" "--gradients 1M --gpus 4000" \
		"--gradients 1M --buckets 2,4" "--gradients 1M --divide samples" "--gradients 1M --fixed="; do
		# shellcheck disable=SC2086
		scale $wrong
		[ "$status" -eq 2 ]
	done
}

@test "CSV has a row for each number of GPUs, and text both ways to use them" {
	built
	scale --gradients 1M --gpus 4,2 -f csv
	[ "$(cut -d, -f1,2 <<<"$output" | tr '\n' ' ')" = "gpus,samples 2,divided 4,divided 2,kept 4,kept " ]
	scale --gradients 1M --gpus 2,4,2,4 -f csv
	[ "$(cut -d, -f1,2 <<<"$output" | tr '\n' ' ')" = "gpus,samples 2,divided 4,divided 2,kept 4,kept " ]
	scale --gradients 1M --gpus 4,2
	[[ "$output" == *"the samples divided"*"as many samples on each GPU"* ]]
}
