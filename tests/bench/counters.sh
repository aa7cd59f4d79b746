#!/bin/bash
# What counting costs: a launch that is left alone, on one thread and on 32; programs bare, recorded without and with hardware counters (default set, default
# share), in turns, medians over the rounds; and what Nsight Compute takes for the same counters.
#
#   make && make gpu-tests && tests/bench/counters.sh [ROUNDS]      5 rounds when not given
#
# Environment: BUILD, NCU (path of ncu), PYTHON (one with PyTorch).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
python=${PYTHON:-python3}
ncu=${NCU:-$(command -v ncu || true)}
rounds=${1:-5}
ncu_launches=40

[[ $rounds =~ ^[1-9][0-9]*$ ]] || {
	echo "counters.sh: ROUNDS is a whole number from 1, not '$rounds'" >&2
	exit 2
}
nvidia-smi -L >/dev/null 2>&1 || {
	echo "counters: skipped, no NVIDIA GPU"
	exit 0
}
[[ -x $build/tests/gpu/mixed_launches ]] || {
	echo "counters.sh: $build/tests/gpu is not built: run make gpu-tests" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# value NAME COMMAND...: the number behind NAME in what it prints
value() {
	local name=$1
	shift
	"$@" 2>/dev/null | awk -v name="$name" '$1 == name { print $2 }'
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }

record=("$build/bin/rooflinectl" record -o "$scratch/recording")

# bench LABEL METRIC COMMAND...: bare, traced and counted, in turns
bench() {
	local label=$1 metric=$2 round way
	shift 2
	rm -f "$scratch"/way.*
	for ((round = 0; round < rounds; round++)); do
		for way in bare trace counters; do
			rm -rf "$scratch/recording"
			case $way in
			bare) value "$metric" "$@" ;;
			trace) value "$metric" "${record[@]}" -- "$@" ;;
			counters) value "$metric" "${record[@]}" --counters -- "$@" ;;
			esac >>"$scratch/way.$way"
		done
	done
	[[ -s $scratch/way.bare ]] || {
		echo "$label: skipped, it printed no $metric"
		return
	}
	awk -v label="$label" -v metric="$metric" -v bare="$(median <"$scratch/way.bare")" \
		-v trace="$(median <"$scratch/way.trace")" \
		-v counters="$(median <"$scratch/way.counters")" 'BEGIN {
		printf "%-28s %-14s bare %10.1f  trace %10.1f (%.2fx)  counters %10.1f (%.2fx)\n", label,
			metric, bare, trace, trace / bare, counters, counters / bare }'
}

# counted: launches of the last recording whose counters were read, and passes
counted() {
	tail -q -n +2 "$scratch"/recording/*/counted.csv | wc -l
}

# left_alone THREADS LAUNCHES: traced alone, and with counters that leave every kernel alone, in turns
left_alone() {
	local program=("$build/tests/gpu/many_launches" --threads "$1" --launches "$2") round
	rm -f "$scratch"/way.*
	for ((round = 0; round < rounds; round++)); do
		rm -rf "$scratch/recording"
		value ns_per_launch "${record[@]}" -- "${program[@]}" >>"$scratch/way.trace"
		rm -rf "$scratch/recording"
		ROOFLINE_COUNTERS_SKIP=. value ns_per_launch "${record[@]}" --counters -- "${program[@]}" \
			>>"$scratch/way.left"
	done
	awk -v threads="$1" -v trace="$(median <"$scratch/way.trace")" \
		-v left="$(median <"$scratch/way.left")" 'BEGIN {
		printf "launches left alone, %2d threads  ns_per_launch  trace %10.1f  counters %10.1f  (%+.1f)\n",
			threads, trace, left, left - trace }'
}

echo "median of $rounds rounds"
left_alone 1 200000
left_alone 32 20000
bench "10,000 launches, 4 kernels" ns_per_launch "$build/tests/gpu/mixed_launches" --launches 10000
counters_ns=$(median <"$scratch/way.counters")
bare_ns=$(median <"$scratch/way.bare")
echo "  with counters $(awk -v ns="$counters_ns" 'BEGIN { printf "%.4f", ns / 1e6 }') ms a launch; $(counted) launches counted"
bench "PyTorch training step" us_per_step "$python" "$root/tests/gpu/torch_train.py" --steps 5000
echo "  $(counted) launches counted"

if [[ -x $ncu ]]; then
	metrics=$(tail -q -n +2 "$scratch"/recording/*/names.csv |
		awk -F, '/__.*\.sum$/ { print $2 }' | sort -u | paste -sd,)
	start=$(date +%s%N)
	"$ncu" --metrics "$metrics" "$build/tests/gpu/mixed_launches" --launches $ncu_launches >/dev/null 2>&1
	profiled=$(($(date +%s%N) - start))
	start=$(date +%s%N)
	"$build/tests/gpu/mixed_launches" --launches $ncu_launches >/dev/null
	bare=$(($(date +%s%N) - start))
	awk -v ns=$(((profiled - bare) / ncu_launches)) -v ours="$counters_ns" -v bare="$bare_ns" 'BEGIN {
		printf "Nsight Compute, same counters: %.1f ms a launch, %.0f times as much as ours\n", ns / 1e6,
			ns / (ours - bare) }'
fi
