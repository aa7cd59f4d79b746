#!/bin/bash
# What sampling costs a program that launches as fast as it can: recorded without and with samples, in
# turns; the median over the rounds and of the ratios within a round.
#
#   make && make gpu-tests && tests/bench/sampling.sh [ROUNDS]      9 rounds when not given
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
rounds=${1:-9}
launches=${LAUNCHES:-300000}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || {
	echo "sampling.sh: ROUNDS is a whole number from 1, not '$rounds'" >&2
	exit 2
}
nvidia-smi -L >/dev/null 2>&1 || {
	echo "sampling: skipped, no NVIDIA GPU"
	exit 0
}
[[ -x $build/tests/gpu/many_launches ]] || {
	echo "sampling.sh: $build/tests/gpu is not built: run make gpu-tests" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }

# OPTIONS of rooflinectl record, by name
names=(trace 1us 1us-windows 1us-front 10us 100us)
options_trace=""
options_1us="--sample=1us"
options_1us_windows="--sample=1us --sample-metrics=sm --sample-windows=100ms/1s"
options_1us_front="--sample=1us --sample-metrics=front"
options_10us="--sample=10us --sample-windows=continuous"
options_100us="--sample=100us --sample-windows=continuous"

# one WAY: ns a launch
one() {
	local variable=options_${1//-/_}
	rm -rf "$scratch/recording"
	# shellcheck disable=SC2086
	"$build/bin/rooflinectl" record -o "$scratch/recording" ${!variable} -- \
		"$build/tests/gpu/many_launches" --launches "$launches" 2>/dev/null |
		awk '$1 == "ns_per_launch" { print $2 }'
}

for ((round = 0; round < rounds; round++)); do
	for way in "${names[@]}"; do
		one "$way" >"$scratch/now.$way"
		cat "$scratch/now.$way" >>"$scratch/ns.$way"
		paste "$scratch/now.$way" "$scratch/now.trace" | awk '{ print $1 / $2 }' >>"$scratch/ratio.$way"
	done
done
echo "median of $rounds rounds of $launches launches"
for way in "${names[@]}"; do
	variable=options_${way//-/_}
	awk -v way="$way" -v ns="$(median <"$scratch/ns.$way")" -v ratio="$(median <"$scratch/ratio.$way")" \
		-v options="${!variable}" 'BEGIN {
		printf "%-12s %8.1f ns a launch  %.3fx  %s\n", way, ns, ratio, options }'
done
