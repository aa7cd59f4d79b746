#!/bin/bash
# What recording costs a job: the same program bare and recorded, as one rank and as a rank on each GPU at once, started by
# mpirun.  They take turns, so that drift of the machine hits all alike; medians over the rounds are compared.  Of several ranks
# the slowest counts.
#
#   make && make gpu-tests && tests/bench/ranks.sh [ROUNDS]      5 rounds when not given
#
# Environment: ONLY, the label of one bench; BUILD; RANKS, how many in place of all GPUs.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
rounds=${1:-5}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container

die() {
	echo "ranks.sh: $*" >&2
	exit 1
}

skip() {
	echo "ranks: skipped, $*"
	exit 0
}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "ranks.sh: ROUNDS is a whole number from 1, not '$rounds'" >&2; exit 2; }
nvidia-smi -L >/dev/null 2>&1 || skip "no NVIDIA GPU"
command -v mpirun >/dev/null || skip "no mpirun here (openmpi-bin)"
all=${RANKS:-$(nvidia-smi -L | wc -l)}
[[ $all -gt 1 ]] || skip "one GPU"
[[ -x $build/tests/gpu/many_launches ]] || die "$build/tests/gpu is not built: run make gpu-tests"

# label | unit | the row of the output that counts, and which word of it | command
benches=(
	"launch|ns a launch|ns_per_launch 2|$build/tests/gpu/many_launches --launches 200000"
	"step with an all-reduce|us a step|naive 2|$build/lib/rooflinectl/workloads/nccl_graph naive --repeats 5 --limit-s 20"
)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
values=$scratch/values # label | unit | ranks | way | value | seconds of the whole program

# A rank sees its own GPU alone.
# shellcheck disable=SC2016 # of each rank
as_rank='export CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK; exec "$@"'

# run_ranks COUNT WAY COMMAND...
run_ranks() {
	local count=$1 way=$2 recorder=()
	shift 2
	[[ $way == bare ]] || recorder=("$build/bin/rooflinectl" record -o "$scratch/recording" --)
	rm -rf "$scratch/recording"
	timeout -k 5 60 mpirun --oversubscribe --bind-to none -n "$count" bash -c "$as_rank" rank "${recorder[@]}" "$@" </dev/null
}

measure() {
	local bench label unit row word command count way begin value
	for bench in "${benches[@]}"; do
		IFS='|' read -r label unit row command <<<"$bench"
		[[ -z ${ONLY:-} || $label == "$ONLY" ]] || continue
		read -r row word <<<"$row"
		for count in 1 "$all"; do
			for way in bare recorded; do
				begin=$EPOCHREALTIME
				# shellcheck disable=SC2086 # the command is words
				run_ranks "$count" $way $command >"$scratch/log" 2>"$scratch/errors" ||
					die "$label, $count ranks, $way: '$command' failed; it said: $(tail -1 "$scratch/log" "$scratch/errors")"
				value=$(awk -v row="$row" -v word="$word" \
					'$1 == row && $word > most { most = $word } END { print most }' "$scratch/log")
				[[ -n $value ]] || die "$label, $count ranks, $way: no row $row in its output: $(tail -3 "$scratch/log")"
				echo "$label|$unit|$count|$way|$value|$(awk "BEGIN { print $EPOCHREALTIME - $begin }")" >>"$values"
			done
		done
	done
}

# added: what the recorded ones take more
table() {
	sort -t'|' -k1,1 -k3,3n -k4,4 -k5,5g "$values" | awk -F'|' '
	function median(of, key,  n) {
		n = count[key]
		return n % 2 ? of[key, (n + 1) / 2] : (of[key, n / 2] + of[key, n / 2 + 1]) / 2
	}
	{
		place = $1 "|" $2 "|" $3
		if (!(place in seen)) { seen[place] = 1; places[++place_count] = place }
		key = place SUBSEP $4
		value[key, ++count[key]] = $5
		seconds[key] += $6
	}
	END {
		printf "%-24s %-12s %5s %9s %22s %9s %22s %7s %8s %10s\n", "what", "unit", "ranks", "bare",
			"min .. max", "recorded", "min .. max", "added", "of bare", "program"
		for (i = 1; i <= place_count; i++) {
			split(places[i], word, "|")
			b = places[i] SUBSEP "bare"; r = places[i] SUBSEP "recorded"
			printf "%-24s %-12s %5d %9.2f %10.2f .. %8.2f %9.2f %10.2f .. %8.2f %7.2f %7.3fx %4.1f, %3.1f s\n",
				word[1], word[2], word[3], median(value, b), value[b, 1], value[b, count[b]],
				median(value, r), value[r, 1], value[r, count[r]], median(value, r) - median(value, b),
				median(value, r) / median(value, b), seconds[b] / count[b], seconds[r] / count[r]
		}
	}'
}

for ((round = 1; round <= rounds; round++)); do measure; done
[[ -f $values ]] || die "nothing could be measured"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1
echo "$rounds rounds; medians; of several ranks the slowest; program: seconds of the whole, bare and recorded"
echo
table
