#!/usr/bin/env bash
# Programs that fork, exec and daemonize neither hang nor lose what the parent did.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
runs=${RUNS:-50}

# repeated MODE KERNELS PROCESSES: RUNS times; each ends within 60 s with all kernels and processes
repeated() {
	local mode=$1 kernels=$2 processes=$3 hung=0 incomplete=0 i
	for ((i = 0; i < runs; i++)); do
		rm -rf "$recording"
		ROOFLINE_OUTPUT=$recording LD_PRELOAD=$collector timeout 60 \
			"$programs/fork_exec" "$mode" >"$scratch/out" || hung=$((hung + 1))
		[ "$(rows kernels)" = "$kernels" ] && [ "$(find "$recording" -name process.csv | wc -l)" = "$processes" ] ||
			incomplete=$((incomplete + 1))
	done
	check "$mode: $runs runs end well" equal 0 $hung
	check "$mode: $runs recordings hold all $kernels kernels of $processes processes" equal 0 $incomplete
}

repeated fork-exit 2000 1
repeated exec-self 3000 2
runs=5
repeated fork-first 2000 2
repeated fork-_exit 2000 1
repeated exec-true 2000 1

# A program that replaces itself runs no handler: what it did in the last flush period is missing.
record timeout 60 "$programs/fork_exec" replace >"$scratch/out"
check "replace: the program that was started in place is recorded" \
	equal 1000 "$(cat "$recording"/*.2/kernels.csv | tail -n +2 | wc -l)"
record timeout 60 "$programs/fork_exec" daemonize >"$scratch/out"
sleep 2
check "daemonize: the daemon is recorded" equal 1000 "$(rows kernels)"

record "$programs/nocuda" one >"$scratch/out"
check "a program without CUDA keeps its exit code" equal 7 $?
check "a program without CUDA writes nothing" test ! -e "$recording"
finish
