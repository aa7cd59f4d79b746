#!/bin/bash
# What exit(), _exit() and siglongjmp in a signal handler cost where the handler interrupts a callback of the collector: calls
# that are neither written nor counted as lost, runs that took longer than 5 s.  CUPTI's stand-in calls back; no GPU.
#
#   make collector tests && tests/bench/signal_storms.sh [RUNS]      1000 of each when not given
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
runs=${1:-1000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

[[ $runs =~ ^[1-9][0-9]*$ ]] || {
	echo "signal_storms.sh: RUNS is a whole number from 1, not '$runs'" >&2
	exit 2
}
[[ -x $build/tests/collector/mock_app && -e $build/lib/librooflinecollector.so ]] || {
	echo "signal_storms.sh: $build is not built: run make collector tests" >&2
	exit 1
}
# shellcheck source=tests/collector/storm.bash
. "$root/tests/collector/storm.bash"
export ROOFLINE_CUPTI=$build/tests/collector/libcupti_mock.so
collector=$build/lib/librooflinecollector.so app=$build/tests/collector/mock_app runtimes=

failed=0
for how in exit _exit jump; do
	wrong=0 late=0 longest=0
	for ((run = 1; run <= runs; run++)); do
		begin=$(date +%s%N)
		storm_run $how "$scratch/run" || wrong=$((wrong + 1))
		ms=$((($(date +%s%N) - begin) / 1000000))
		[ $ms -le 5000 ] || late=$((late + 1))
		[ $ms -le $longest ] || longest=$ms
	done
	printf '%-6s %d runs: %d with calls that are neither written nor counted, %d longer than 5 s, the longest %d ms\n' \
		$how "$runs" $wrong $late $longest
	[ $((wrong + late)) -eq 0 ] || failed=1
done
exit $failed
