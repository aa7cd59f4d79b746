#!/bin/bash
# What `rooflinectl try --graph` takes on the thread that launches: of each launch that is put off, and of a whole sequence of
# launches that comes again, beside the same kernels launched one by one and as a graph of the program's own, in turns,
# medians over the rounds.
#
#   make && make gpu-tests && tests/bench/put_off.sh [ROUNDS]      5 rounds when not given
#
# Environment: BUILD.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
rounds=${1:-5}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || {
	echo "put_off.sh: ROUNDS is a whole number from 1, not '$rounds'" >&2
	exit 2
}
nvidia-smi -L >/dev/null 2>&1 || {
	echo "put_off: skipped, no NVIDIA GPU"
	exit 0
}
[[ -x $build/tests/gpu/put_off ]] || {
	echo "put_off.sh: $build/tests/gpu is not built: run make gpu-tests" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# median FILE NAME: of the numbers behind NAME
median() { awk -v name="$2" '$1 == name { print $2 }' "$1" | sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }

# row LABEL OPTION...
row() {
	local label=$1 round
	shift
	rm -f "$scratch"/bare "$scratch"/tried
	for ((round = 0; round < rounds; round++)); do
		"$build/tests/gpu/put_off" "$@" >>"$scratch/bare"
		ROOFLINE_TRY=graph ROOFLINE_TRY_ALWAYS=1 LD_PRELOAD=$build/lib/librooflinetry.so "$build/tests/gpu/put_off" "$@" >>"$scratch/tried"
	done
	printf '%-34s %8.3f %8.3f %11.2f %11.2f %11.2f\n' "$label" \
		"$(median "$scratch/bare" launch_us)" "$(median "$scratch/tried" launch_us)" \
		"$(median "$scratch/bare" sequence_us)" "$(median "$scratch/tried" sequence_us)" "$(median "$scratch/bare" graph_us)"
}

cat <<'HEAD'
                                   us of a launch     us until the GPU has the sequence
kernels                               bare   put off    launches       tried   own graph
HEAD
for kernels in 5 20 60; do
	row "$kernels, equal parameters" --kernels $kernels
	row "$kernels, other parameters" --kernels $kernels --change 1
done
