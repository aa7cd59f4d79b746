#!/usr/bin/env bash
# Workloads in which the GPUs of a host signal each other: every variant gives the reference's result, a wrong order is
# found out or ends by its time limit, nobody outlives the program, and recordings have a rank for each GPU.
#
#   ONLY=REGEX tests/gpu/check_shmem.sh     workloads whose name matches
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl
folder=$BUILD/lib/rooflinectl/workloads
mapfile -t names < <(workload_names "${ONLY:-^(nvshmem_.*|two_stage)$}")

# run_limited SECONDS COMMAND...: its output and errors in $scratch/out and $scratch/err
run_limited() {
	timeout -k 5 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# is_right NAME OPTIONS...: all variants ran and gave the reference's result
is_right() {
	run_limited 30 "$folder/$1" "${@:2}" && ! grep -q 'skipped: ' "$scratch/out" &&
		grep -q 'every result matches the scalar reference$' "$scratch/out" && return
	shown "$scratch/err" "$scratch/out"
	return 1
}

# is_found_out NAME VARIANT: the wrong order leads to a wrong result or to the time limit
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

gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
why=$("$folder/nvshmem_signal" --repeats 1 --iterations 1 2>&1 | sed -n 's/^nvshmem_signal: skipped: //p')
if [ -n "$why" ]; then
	skip "GPUs signal each other" "$why"
	finish
	exit
fi
for name in "${names[@]}"; do
	check "$name: every variant is right" is_right "$name"
	sed 's/^/# /' "$scratch/out"
	sizes=(1 1025 65537)
	[ "$name" != two_stage ] || sizes=(1 3 1025)
	for size in "${sizes[@]}"; do
		check "$name --size $size: every variant is right" is_right "$name" --size "$size" --repeats 1 --iterations 3
	done
done
for wrong in "nvshmem_signal persistent" "nvshmem_steal naive" "nvshmem_step device_barrier" "two_stage persistent"; do
	# shellcheck disable=SC2086 # a name and a variant
	check "$wrong in the wrong order is found out" is_found_out $wrong
	shown "$scratch/err"
done
check "when the first process is killed, the others end, too" leaves_nobody nvshmem_signal
for name in "${names[@]}"; do
	for variant in $("$folder/$name" --list | awk '{ print $1 }'); do
		check "$name $variant is recorded" is_recorded "$name" "$variant"
	done
done
finish
