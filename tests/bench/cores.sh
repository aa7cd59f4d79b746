#!/usr/bin/env bash
# How much more cores help a report: 'report --section kernels' and the whole report, with all advice, of one recording, on 1, 2,
# 4, 8 and 16 cores of this machine.
#
#   make && tests/bench/cores.sh [REPEATS]     medians of 1 when not given
#
# Environment: BUILD; KERNELS (10000000), the size of the recording, which tests/tools/make_trace writes; CORES ("1 2 4 8 16").
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
repeats=${1:-1}
kernels=${KERNELS:-10000000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ceilings=("$root"/ceilings/*.json)

# seconds_of CORES COMMAND...
seconds_of() {
	local cores=$1 start
	shift
	start=$EPOCHREALTIME
	taskset -c "0-$((cores - 1))" "$@" >/dev/null
	awk -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", end - start }'
}

# median_of CORES COMMAND...
median_of() {
	local run
	for ((run = 0; run < repeats; run++)); do seconds_of "$@"; done | sort -g |
		awk '{ s[NR] = $1 } END { print s[int((NR + 1) / 2)] }'
}

"$build/tests/tools/make_trace" "$scratch/recording" "$kernels" >/dev/null
report=("$build/bin/rooflinectl" report "$scratch/recording")
echo "reports of a recording of $kernels, seconds, medians of $repeats, on $(nproc) cores"
printf '%-6s %9s %9s %9s %9s\n' cores kernels faster whole faster
for cores in ${CORES:-1 2 4 8 16}; do
	((cores <= $(nproc))) || continue
	section=$(median_of "$cores" "${report[@]}" --section kernels)
	whole=$(median_of "$cores" "${report[@]}" --format json --ceilings "${ceilings[0]}")
	one_section=${one_section-$section} one_whole=${one_whole-$whole}
	awk -v cores="$cores" -v section="$section" -v whole="$whole" -v one_section="$one_section" -v one_whole="$one_whole" 'BEGIN {
		printf "%-6s %9.2f %8.2fx %9.2f %8.2fx\n", cores, section, one_section / section, whole, one_whole / whole }'
done
