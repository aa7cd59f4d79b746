#!/usr/bin/env bash
# A launch from the device that finds no room is an error of one line, never a wrong result.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# launch OPTION...: sets $code; its answer is in $scratch/out, its complaints in $scratch/complaints
launch() {
	code=0
	"$programs/pending_launches" "$@" >"$scratch/out" 2>"$scratch/complaints" || code=$?
}

launch --children 1000
check "children for which there is room all run" equal "0 children 1000" "$code $(cat "$scratch/out")"
launch --children 20000
check "more children than the limit are a failure" equal 1 "$code"
check "it is said in one line" equal 1 "$(wc -l <"$scratch/complaints")"
check "which names the limit to raise" grep -q cudaLimitDevRuntimePendingLaunchCount "$scratch/complaints"
check "and no count is given as the result" equal "" "$(cat "$scratch/out")"
launch --children 20000 --room 20000
check "with the limit raised they all run" equal "0 children 20000" "$code $(cat "$scratch/out")"
finish
