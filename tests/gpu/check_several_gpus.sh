#!/usr/bin/env bash
# Workloads on several GPUs of a host: every variant gives the reference's result, a wrong order is
# found out or ends by its time limit, nobody outlives the program, and recordings have a rank for each GPU.
#
#   ONLY=REGEX PARTS=right,wrong tests/gpu/check_several_gpus.sh     of workloads whose name matches, and these parts:
#
# right (their results), sizes (short runs of other sizes), wrong (orders), ends (of all processes), recorded.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl
folder=$BUILD/lib/rooflinectl/workloads
only=${ONLY:-.}
mapfile -t names < <(workload_names '^(nvshmem_.*|two_stage|p2p_overlap|nccl_.*|scaling)$' | grep -E "$only")

# run_limited SECONDS COMMAND...: its output and errors in $scratch/out and $scratch/err
run_limited() {
	timeout -k 5 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# was_right RUN: all variants ran and gave the reference's result; of two GPUs there is no half
was_right() {
	[ "$(cat "$1.code")" = 0 ] && ! grep 'skipped: ' "$1.out" | grep -vq 'skipped: half of the GPUs is one$' &&
		grep -q 'every result matches the scalar reference$' "$1.out" && return
	echo "# exit code $(cat "$1.code") (124: too long)"
	shown "$1.err" "$1.out"
	return 1
}

# is_right NAME
is_right() {
	run_limited 40 "$folder/$1" --repeats 2
	echo $? >"$scratch/last.code"
	mv "$scratch/out" "$scratch/last.out"
	mv "$scratch/err" "$scratch/last.err"
	was_right "$scratch/last"
}

# is_found_out NAME VARIANT: the wrong order leads to a wrong result or to the time limit, and the program ends by itself
is_found_out() {
	run_limited 30 "$folder/$1" "$2" --repeats 3 --wrong-order 1 --limit-s 3
	[ $? -eq 1 ] && grep -qE 'first difference|not done within' "$scratch/err"
}

# processes NAME: how many of them run
processes() {
	pgrep -fc "^$folder/$1 "
}

# leaves_nobody NAME: when the first process is killed, the others go with it
leaves_nobody() {
	local tries first
	"$folder/$1" --repeats 1000 --iterations 1000 >/dev/null 2>&1 &
	first=$!
	for ((tries = 0; tries < 300; tries++)); do
		[ "$(processes "$1")" -lt 2 ] || break
		sleep 0.1
	done
	[ "$(processes "$1")" -ge 2 ] || { echo "# there was one process only"; return 1; }
	kill -KILL $first
	wait $first 2>/dev/null
	for ((tries = 0; tries < 300; tries++)); do
		[ "$(processes "$1")" -gt 0 ] || return 0
		sleep 0.1
	done
	echo "# $(processes "$1") outlive it"
	return 1
}

# is_recorded NAME VARIANT: with nothing lost, and a rank for each process
is_recorded() {
	local ranks
	rm -rf "$recording"
	run_limited 40 "$tool" record -o "$recording" -- "$folder/$1" "$2" --repeats 1 --iterations 20 ||
		{ shown "$scratch/err" "$scratch/out"; return 1; }
	ranks=$(cat "$recording"/*/process.csv | sed -nE 's/^rank,(.*)/\1/p' | sort | xargs)
	echo "# $1 $2: ranks '$ranks', $(rows kernels) kernels"
	equal "" "$(lost)" || return 1
	[[ $1 != nvshmem_* ]] || equal "$(seq 0 $((gpus - 1)) | xargs)" "$ranks"
}

gpus=$(gpu_count)
why=$("$folder/nvshmem_signal" --repeats 1 --iterations 1 2>&1 | sed -n 's/^nvshmem_signal: skipped: //p')
if [ -n "$why" ]; then
	skip "GPUs signal each other" "$why"
	finish
	exit
fi

are_right() {
	local name
	for name in "${names[@]}"; do
		check "$name: every variant is right" is_right "$name"
		sed 's/^/# /' "$scratch/last.out"
	done
}

are_right_in_sizes() {
	local jobs=2 name size sizes=(1 65537)
	declare -A run_of # by name and size: its number
	for name in "${names[@]}"; do
		for size in "${sizes[@]}"; do
			start "$folder/$name" --size "$size" --repeats 1 --iterations 3
			run_of["$name $size"]=$run_count
		done
	done
	wait
	for name in "${names[@]}"; do
		for size in "${sizes[@]}"; do
			check "$name --size $size: every variant is right" was_right "$scratch/${run_of["$name $size"]}"
		done
	done
}

wrong_orders() {
	local wrong name variant
	for wrong in "nvshmem_signal persistent" "nvshmem_steal naive" "nvshmem_step device_barrier" \
		"p2p_overlap overlapped" "nccl_bucketed buckets" "nccl_graph graph" "scaling naive"; do
		read -r name variant <<<"$wrong"
		[[ $name =~ $only ]] || continue
		check "$wrong in the wrong order is found out" is_found_out "$name" "$variant"
		shown "$scratch/err"
	done
}

ends() {
	[[ nvshmem_signal =~ $only ]] || return 0
	check "when the first process is killed, the others end, too" leaves_nobody nvshmem_signal
}

are_recorded() {
	local recorded name variant
	for recorded in "nvshmem_signal on_stream" "nvshmem_steal batched" "nvshmem_step naive" "two_stage persistent"; do
		read -r name variant <<<"$recorded"
		[[ ! $name =~ $only ]] || check "$recorded is recorded" is_recorded "$name" "$variant"
	done
}

declare -A functions=([right]=are_right [sizes]=are_right_in_sizes [wrong]=wrong_orders [ends]=ends [recorded]=are_recorded)
for part in $(tr , ' ' <<<"${PARTS:-right,sizes,wrong,ends,recorded}"); do
	"${functions[$part]}"
done
finish
