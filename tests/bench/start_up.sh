#!/bin/bash
# What recording adds to a program of a third of a second: seconds from start to end, bare, recorded, with counters and
# with samples, in turns; the median over the rounds.  Most of it is how long CUPTI takes to start.
#
#   make && make gpu-tests && tests/bench/start_up.sh [ROUNDS]      5 rounds when not given
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
rounds=${1:-5}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || {
	echo "start_up.sh: ROUNDS is a whole number from 1, not '$rounds'" >&2
	exit 2
}
nvidia-smi -L >/dev/null 2>&1 || {
	echo "start-up: skipped, no NVIDIA GPU"
	exit 0
}
[[ -x $build/tests/gpu/many_launches ]] || {
	echo "start_up.sh: $build/tests/gpu is not built: run make gpu-tests" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }

names=(bare trace counters sample sample-front)
declare -A options_of=([bare]="" [trace]="" [counters]="--counters" [sample]="--sample"
	[sample-front]="--sample --sample-metrics=front")

# one WAY: seconds
one() {
	local begin command=("$build/tests/gpu/many_launches" --launches 1000)
	rm -rf "$scratch/recording"
	# shellcheck disable=SC2206 # options are words
	[[ $1 = bare ]] || command=("$build/bin/rooflinectl" record -o "$scratch/recording" ${options_of[$1]} -- "${command[@]}")
	begin=$EPOCHREALTIME
	"${command[@]}" >/dev/null 2>&1
	awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN { print end - begin }'
}

for ((round = 0; round < rounds; round++)); do
	for name in "${names[@]}"; do
		one "$name" >>"$scratch/$name"
	done
done
bare=$(median <"$scratch/bare")
echo "seconds of a program with 1,000 launches, median of $rounds rounds"
for name in "${names[@]}"; do
	printf '%-14s %6.2f s  %+6.2f s\n' "$name" "$(median <"$scratch/$name")" \
		"$(median <"$scratch/$name" | awk -v bare="$bare" '{ print $1 - bare }')"
done
