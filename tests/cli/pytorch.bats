#!/usr/bin/env bats
# The workload in PyTorch, as far as it goes without PyTorch and without a GPU, and the runner of such
# workloads with a stand-in for PyTorch.  tests/gpu/check_workloads.sh runs the real one.

load common

setup() {
	programs="$BUILD/lib/rooflinectl/workloads"
	complaint_file="$BATS_TEST_TMPDIR/complaint"
	export CUDA_VISIBLE_DEVICES=-1 PYTHONDONTWRITEBYTECODE=1
	export TORCH_PHASES="$BATS_TEST_TMPDIR/phases"
	unset TORCH_LACKS TRIAL
}

# run_split COMMAND...: run, with stdout in $output and stderr in $complaint
run_split() {
	run bash -c '"$@" 2>"$0"' "$complaint_file" "$@"
	complaint="$(cat "$complaint_file")"
}

# with_stand_in PROGRAM...: the stand-in in place of PyTorch
with_stand_in() {
	PYTHONPATH="$root/tests/tools/pytorch:$programs" "$@"
}

# trial ARGUMENT...: the workload of the tests, by the runner that was built
trial() {
	run_split with_stand_in python3 "$root/tests/tools/pytorch/trial.py" "$@"
}

# answer PYTHON: an expression over $output as JSON
answer() {
	python3 -c 'import json, sys; a = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$output" "$1"
}

export -f with_stand_in
export root BUILD programs

@test "rooflinectl starts the workload in PyTorch, which needs no CUDA toolkit to build" {
	run_split "$ROOFLINECTL" workloads pytorch --list
	[ "$status" -eq 0 ]
	[ "$(awk '{ print $1 }' <<<"$output" | paste -sd' ')" = "naive graph compile" ]
}

@test "its help has the summary that rooflinectl workloads lists" {
	summary="$("$ROOFLINECTL" workloads | sed -n 's/^  pytorch  *I1  *//p')"
	[ -n "$summary" ]
	run_split "$programs/pytorch" --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"$summary"* ]]
	[ -z "$complaint" ]
}

@test "without PyTorch it is skipped with one line and success, as a table and as JSON" {
	export TORCH_LACKS=module
	run_split with_stand_in "$programs/pytorch"
	[ "$status" -eq 0 ]
	[ "$output" = "pytorch: skipped: PyTorch is not installed: pip install torch" ]
	[ -z "$complaint" ]
	run_split with_stand_in "$programs/pytorch" compile --json
	[ "$status" -eq 0 ]
	[ "$(answer 'sorted(a.items())')" = "[('control', False), ('id', 'I1'), ('schema', 1), ('skipped', 'PyTorch is not installed: pip install torch'), ('workload', 'pytorch')]" ]
}

@test "a PyTorch that cannot be imported, and a machine without GPU or driver, are skipped with the reason" {
	while IFS='|' read -r lacks reason; do
		TORCH_LACKS=$lacks run_split with_stand_in "$programs/pytorch"
		[ "$status" -eq 0 ]
		[ "$output" = "pytorch: skipped: $reason" ]
		[ -z "$complaint" ]
	done <<-'END'
		library|PyTorch cannot be imported: libcudart.so.13: cannot open shared object file
		device|no usable GPU: No CUDA GPUs are available
		driver|no usable GPU: Found no NVIDIA driver on your system.
	END
}

@test "wrong usage is one line and exit code 2, before PyTorch is looked for" {
	export TORCH_LACKS=module
	while IFS='|' read -r arguments line; do
		run_split with_stand_in "$programs/pytorch" $arguments
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "$complaint" = "pytorch: $line" ]
	done <<-'END'
		fast|no variant 'fast'; there are naive, graph, compile
		naive graph|one variant at a time, but got also 'graph'; see pytorch --help
		--size 0|--size takes a whole number from 1 to 268435456, not '0'
		--iterations -1|--iterations takes a whole number from 1 to 1000000, not '-1'
		--repeats 1x|--repeats takes a whole number from 1 to 1000, not '1x'
		--device 1e3|--device takes a whole number from 0 to 1000, not '1e3'
		--size 99999999999999999999|--size takes a whole number from 1 to 268435456, not '99999999999999999999'
		naive --stamps file|its kernels stamp nothing, so there is no '--stamps'; see pytorch --help
		--frob|unrecognized arguments: --frob; see pytorch --help
	END
	run_split with_stand_in "$programs/pytorch" --size
	[ "$status" -eq 2 ]
	[ "$(wc -l <"$complaint_file")" -eq 1 ]
}

@test "a device that is not there is one line and exit code 2" {
	trial --device 2
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$complaint" = "pytorch: there is no device 2; this machine has 2, counted from 0" ]
	trial naive --device 1
	[ "$status" -eq 0 ]
}

@test "the table is that of the other workloads, without host calls, and says what was skipped and why" {
	trial
	[ "$status" -eq 0 ]
	[ -z "$complaint" ]
	summary="$("$ROOFLINECTL" workloads | sed -n 's/^  pytorch  *I1  *//p')"
	[ "${lines[0]}" = "pytorch (I1): $summary" ]
	[ "${lines[1]}" = "Imagined GPU, size 4, 3 iterations, 5 repeats; every result matches the scalar reference" ]
	[ "${lines[2]}" = "variant      us/iteration            min .. max host calls  set-up us  speedup" ]
	[[ "${lines[3]}" =~ ^naive\ +[0-9]+\.[0-9]{2}\ +[0-9.]+\ \.\.\ +[0-9.]+\ +-\ +0\.0\ +1\.00x$ ]]
	[[ "${lines[4]}" =~ ^fast\ +[0-9]+\.[0-9]{2}\ +[0-9.]+\ \.\.\ +[0-9.]+\ +-\ +[0-9]{5,}\.[0-9]\ +[0-9]+\.[0-9]{2}x$ ]]
	[ "${#lines[3]}" -ge "${#lines[2]}" ] # more where the machine is busy and a time has more digits
	[ "${lines[5]}" = "greedy       skipped: out of memory with 1.5 of 80.0 GiB free on the GPU: try a smaller --size" ]
	[ "${lines[6]}" = "lacking      skipped: no compiler here" ]
	[ "${#lines[@]}" -eq 7 ]
}

@test "the JSON has the same times, null for the host calls, and the ratio of the medians" {
	trial --json --repeats 4
	[ "$status" -eq 0 ]
	[ "$(answer '[a[k] for k in ("schema", "workload", "id", "control", "gpu", "size", "iterations", "repeats")]')" = \
		"[1, 'pytorch', 'I1', False, 'Imagined GPU', 4, 3, 4]" ]
	[ "$(answer '[v["name"] for v in a["variants"]]')" = "['naive', 'fast', 'greedy', 'lacking']" ]
	[ "$(answer 'a["variants"][3]')" = "{'name': 'lacking', 'skipped': 'no compiler here'}" ]
	for expression in 'all(v["iteration_ns"]["min"] <= v["iteration_ns"]["median"] <= v["iteration_ns"]["max"] for v in a["variants"][:2])' \
		'a["variants"][0]["iteration_ns"]["min"] >= 2e6' \
		'a["variants"][1]["setup_ns"] >= 1e7 and a["variants"][0]["setup_ns"] == 0' \
		'all(v["host_calls_per_iteration"] is None for v in a["variants"][:2])' \
		'abs(a["variants"][1]["speedup"] * a["variants"][1]["iteration_ns"]["median"] / a["variants"][0]["iteration_ns"]["median"] - 1) < 0.01'; do
		[ "$(answer "$expression")" = True ]
	done
	trial fast --json
	[ "$(answer '[v["speedup"] for v in a["variants"]]')" = "[None]" ]
}

@test "every phase is an NVTX range, and each run starts anew and is checked" {
	trial fast --repeats 2
	[ "$(cat "$TORCH_PHASES")" = "$(printf '%s\n' prepare fast '  set-up' '  warm-up' '  check' '  run' '  check' '  run' '  check')" ]
}

@test "a wrong result is an error of one line, and no time is shown" {
	TRIAL="naive wrong" trial
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ "$complaint" = "pytorch: wrong: first difference at index 7: found 8, the scalar reference says 12" ]
}

@test "a CUDA error is one line with the place and what CUDA said" {
	TRIAL=failing trial
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ "$(wc -l <"$complaint_file")" -eq 1 ]
	[[ "$complaint" =~ /workload.py:[0-9]+:\ .*\ failed:\ CUDA\ error:\ an\ illegal\ memory\ access\ was\ encountered$ ]]
}

@test "a problem for which there is no memory is skipped as a whole" {
	trial --size 1001
	[ "$status" -eq 0 ]
	[ "$output" = "pytorch: skipped: out of memory with 1.5 of 80.0 GiB free on the GPU: try a smaller --size" ]
	[ -z "$complaint" ]
}
