#!/usr/bin/env bash
# Every workload gives the scalar reference's result, in all variants and for all sizes.  What it refuses
# it says in one line, with exit code 2; what this machine lacks is skipped with the reason.
#
#   ONLY=REGEX JOBS=N tests/gpu/check_workloads.sh     workloads whose name matches, N programs at a time
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

folder=$BUILD/lib/rooflinectl/workloads
mapfile -t names < <(workload_names "${ONLY:-.}")
declare -A run_of # by what is checked: its number

# runs WORKLOAD: the options of each of its runs, one a line.  The sizes are 1, one less and one more than a
# power of two, and two that take more blocks than a grid may have in y and z (65,535): of one, and of 256 threads.
runs() {
	local largest=20000001 size
	case $1 in
	dp_tokens) largest=600001 ;; # a token is 64 values, a block eight tokens
	pytorch) largest=1000003 ;;  # a row is 32 values
	fuse_layernorm_gemm) largest=600001 ;; # a row is 512 values, and 2,048 of the result
	esac
	echo "--repeats 1"
	echo "--repeats 1 --iterations 1"
	for size in $largest 65537 1025 1023 1; do
		echo "--repeats 1 --iterations 2 --size $size"
	done
}

# wrong_runs: options that no workload takes
wrong_runs() {
	printf '%s\n' no_such_variant "--size 0" "--size 268435457" "--size 1x" "--device 999"
}

# is_limit RUN: the program refused, in one line, and said how much it can do
is_limit() {
	[ "$(cat "$1.code")" = 2 ] && [ "$(wc -l <"$1.err")" -eq 1 ] && grep -qE 'give --[a-z]+ [0-9]+ or less' "$1.err"
}

# is_right RUN: all variants that could run gave the reference's result, naive among them
is_right() {
	sed -nE 's/^([a-z0-9_]+) +skipped: (.*)/#   \1 skipped: \2/p' "$1.out"
	[ "$(cat "$1.code")" = 0 ] && grep -q 'every result matches the scalar reference$' "$1.out" &&
		grep -qE '^naive +[0-9]' "$1.out" && return
	echo "#   exit code $(cat "$1.code") (124: not done within $limit_s s)"
	shown "$1.err" "$1.out"
	return 1
}

# judge_run NAME OPTIONS
judge_run() {
	local run=$scratch/${run_of["$1 $2"]} sentence="$1 $2: every variant is right"
	if is_limit "$run"; then
		skip "$sentence" "beyond its limit: $(cat "$run.err")"
	elif [ "$(cat "$run.code")" = 0 ] && grep -q "^$1: skipped: " "$run.out"; then
		skip "$sentence" "$(sed 's/^[^:]*: skipped: //' "$run.out")"
	else
		check "$sentence" is_right "$run"
	fi
}

# is_refused NAME: every wrong run is one line on stderr, nothing on stdout, and exit code 2
is_refused() {
	local name=$1 options run failed=0
	while read -r options; do
		run=$scratch/${run_of["$name $options"]}
		[ "$(cat "$run.code")" = 2 ] && [ ! -s "$run.out" ] && [ "$(wc -l <"$run.err")" -eq 1 ] && continue
		echo "#   $name $options: exit code $(cat "$run.code")"
		shown "$run.err" "$run.out"
		failed=1
	done < <(wrong_runs)
	return $failed
}

# plan NAME < OPTIONS: starts one run a line
plan() {
	local name=$1 options
	while read -r options; do
		# shellcheck disable=SC2086 # options are several words
		start "$folder/$name" $options
		run_of["$name $options"]=$run_count
	done
}

for name in "${names[@]}"; do
	plan "$name" < <(runs "$name")
	plan "$name" < <(wrong_runs)
done
wait
for name in "${names[@]}"; do
	while read -r options; do judge_run "$name" "$options"; done < <(runs "$name")
	check "$name: a wrong variant, size or device is one line and exit code 2" is_refused "$name"
done

# ---- out of memory ----

# hold MIB: leaves that much of the device's memory, until release
hold() {
	local waited
	"$programs/hold_memory" --leave-mib "$1" >"$scratch/held" &
	holder=$!
	disown $holder # no run, so that nobody waits for its end
	for ((waited = 0; waited < 300; waited++)); do
		grep -q '^holding$' "$scratch/held" && return
		kill -0 $holder 2>/dev/null || return
		sleep 0.1
	done
}

release() {
	kill $holder
	while kill -0 $holder; do sleep 0.1; done
} 2>/dev/null

# large_size WORKLOAD: one for which it needs more than 1 GiB, where the host does not take long to prepare it
large_size() {
	case $1 in
	atomic_hierarchy | bank_conflict | clusters | fuse_elementwise | fuse_horizontal | fuse_reduction | graph_chain | \
		graph_large | graph_memory | graph_update | memory_bound | overfused | persistent | precision) echo 268435456 ;;
	dp_tokens) echo 2500001 ;;
	fuse_conv_bn_relu) echo 20000000 ;;
	fuse_layernorm_gemm) echo 600000 ;;
	pytorch) echo 8388609 ;;
	esac
}

# is_out_of_memory RUN: some variant, or all, was skipped for that, or because one GPU is not enough anyway; no
# complaint, exit code 0
is_out_of_memory() {
	grep 'skipped: ' "$1.out" | sed 's/^/#   /'
	[ "$(cat "$1.code")" = 0 ] && [ ! -s "$1.err" ] && grep -q 'skipped: .*\(out of memory\|busy or unavailable\|needs two GPUs\)' "$1.out" && return
	echo "#   exit code $(cat "$1.code")"
	shown "$1.err" "$1.out"
	return 1
}

hold 64
check "a program holds all but 64 MiB of the GPU's memory" grep -q '^holding$' "$scratch/held"
for name in "${names[@]}"; do
	start "$folder/$name" --repeats 1
	run_of["$name without a context"]=$run_count
done
wait
release
for name in "${names[@]}"; do
	check "$name: no memory for a context is skipped with the reason, and success" \
		is_out_of_memory "$scratch/${run_of["$name without a context"]}"
done

hold 1024
check "a program holds all but 1 GiB of the GPU's memory" grep -q '^holding$' "$scratch/held"
for name in "${names[@]}"; do
	size=$(large_size "$name")
	[ -n "$size" ] || continue
	start "$folder/$name" --repeats 1 --iterations 1 --size "$size"
	wait # one at a time: each finds all that is left
	check "$name --size $size: out of memory is skipped with the reason, and success" \
		is_out_of_memory "$scratch/$run_count"
done
release
finish
