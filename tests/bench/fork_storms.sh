#!/bin/bash
# How often a child that is forked during its parent's first NVTX call hangs in its own: without a tool, with one that does
# nothing, and with the collector, preloaded as `record` does or only named to NVTX.  CUPTI's stand-in attaches; no GPU.
#
#   make collector tests && tests/bench/fork_storms.sh [RUNS]      200 of each when not given
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
runs=${1:-200}
collector=$build/lib/librooflinecollector.so
idle=$build/tests/collector/libidle_nvtx.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

[[ $runs =~ ^[1-9][0-9]*$ ]] || {
	echo "fork_storms.sh: RUNS is a whole number from 1, not '$runs'" >&2
	exit 2
}
[[ -x $build/tests/collector/nvtx_app && -e $collector ]] || {
	echo "fork_storms.sh: $build is not built: run make collector tests" >&2
	exit 1
}
export ROOFLINE_CUPTI=$build/tests/collector/libcupti_mock.so ROOFLINE_OUTPUT=$scratch/recording

# storm NAME VARIABLE=VALUE...
storm() {
	local hung=0 others=0 seed code
	for ((seed = 1; seed <= runs; seed++)); do
		code=0
		env "${@:2}" "$build/tests/collector/nvtx_app" storm $seed >/dev/null 2>&1 || code=$?
		[ $code -ne 1 ] || hung=$((hung + 1))
		[ $code -eq 1 ] || [ $code -eq 5 ] || others=$((others + 1))
	done
	printf '%-34s %d of %d with a child that hung, %d that ended otherwise\n' "$1" $hung "$runs" $others
}

storm "no tool" A=1
storm "one that does nothing, named" NVTX_INJECTION64_PATH="$idle"
storm "one that does nothing, preloaded" NVTX_INJECTION64_PATH="$idle" LD_PRELOAD="$idle"
storm "the collector, named" NVTX_INJECTION64_PATH="$collector"
storm "the collector, preloaded" LD_PRELOAD="$collector"
