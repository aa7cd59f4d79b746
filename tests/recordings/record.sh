#!/usr/bin/env bash
# record.sh [DIR] - makes the recordings of this folder anew, on a machine with a GPU.
#
# A workload's recordings are called workload.variant; the first variant is naive.  They are small: one
# warm-up and one run each.  README.md tells where and when the present ones were made.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$PWD/build
out=$(realpath -m "${1:-tests/recordings}")
python=${PYTHON:-python3}
export PATH=$build/bin:$build/lib/rooflinectl/workloads:$build/tests/gpu:$PATH

# record NAME COMMAND...
record() {
	local name=$1
	shift
	rm -rf "${out:?}/$name"
	rooflinectl record -o "$out/$name" "$@" 2>&1 | tail -n 1
}

for workload in $(awk -F'[(,]' '/^[ \t]*WORKLOAD\(/ { print $2 }' workloads/workloads.h); do
	for variant in $("$workload" --list | awk '{ print $1 }'); do
		record "$workload.$variant" -- "$workload" "$variant" --repeats 1
	done
done
for mode in eager graph; do
	record "torch_loop.$mode" -- "$python" tests/gpu/torch_loop.py --mode "$mode" --iterations 200 --repeats 2
done
record streams -- streams
record nvtx_ranges -- nvtx_ranges
record device_graph --graphs=graph -- device_graph
record syncs --syncs -- graph_chain naive --iterations 20 --repeats 1
{
	echo "# Recordings of a real GPU"
	echo
	echo "Made by \`tests/recordings/record.sh\` on $(date -u +%Y-%m-%d), on an" \
		"$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, / with driver /')."
	echo "The tests and the demo read them; docs/trace-format.md describes the tables."
} >"$out/README.md"
