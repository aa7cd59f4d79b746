#!/usr/bin/env bash
# How long Nsight Systems and rooflinectl take to say which kernels took how long, each of its own recording of the same program:
# `nsys stats` of its .nsys-rep, the export to SQLite that it makes first included, and `rooflinectl report`.
#
#   NSYS=/path/to/nsys tests/bench/nsys_stats.sh [LAUNCHES]     200000 when not given; needs a GPU
#
# Environment: BUILD; REPEATS (3), of which the medians are told.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
nsys=${NSYS:?which nsys? NSYS=/path/to/nsys}
launches=${1:-200000}
repeats=${REPEATS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=("$build/tests/gpu/many_launches" --launches "$launches")

"$build/bin/rooflinectl" record -o "$scratch/ours" -- "${program[@]}" >"$scratch/log" 2>&1
"$nsys" profile -t cuda -s none --cpuctxsw=none -o "$scratch/nsys" "${program[@]}" >"$scratch/log" 2>&1
[ -f "$scratch/nsys.nsys-rep" ] || { tail -n 3 "$scratch/log" >&2; echo "nsys_stats.sh: nsys made no .nsys-rep" >&2; exit 1; }

# measure NAME COMMAND...: prints the name and seconds; fails where the command does
measure() {
	local start=$EPOCHREALTIME
	"${@:2}" >"$scratch/said" 2>&1 || { tail -n 3 "$scratch/said" >&2; echo "nsys_stats.sh: $1 failed" >&2; return 1; }
	awk -v name="$1" -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { print name, end - start }'
}
nsys_stats() {
	rm -f "$scratch/nsys.sqlite"
	"$nsys" stats --report cuda_gpu_kern_sum "$scratch/nsys.nsys-rep"
}

for ((i = 0; i < repeats; i++)); do
	measure nsys nsys_stats
	measure section "$build/bin/rooflinectl" report --section kernels "$scratch/ours"
	measure whole "$build/bin/rooflinectl" report "$scratch/ours"
done >"$scratch/seconds"
sort -k1,1 -k2,2g "$scratch/seconds" | awk -v launches="$launches" '
	{ seconds[$1, ++count[$1]] = $2 }
	function median(of) { return seconds[of, int((count[of] + 1) / 2)] }
	END {
		printf "of a program with %d launches, seconds, medians of %d\n", launches, count["nsys"]
		printf "%-44s %8.2f\n", "nsys stats --report cuda_gpu_kern_sum", median("nsys")
		printf "%-44s %8.2f  %.2f\n", "rooflinectl report --section kernels", median("section"), median("section") / median("nsys")
		printf "%-44s %8.2f  %.2f\n", "rooflinectl report", median("whole"), median("whole") / median("nsys")
	}'
du -b "$scratch/nsys.nsys-rep" | awk '{ printf "its recording: %.1f MB\n", $1 / 1e6 }'
du -sb "$scratch/ours" | awk '{ printf "ours: %.1f MB\n", $1 / 1e6 }'
