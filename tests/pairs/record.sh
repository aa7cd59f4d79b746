#!/usr/bin/env bash
# [LIMIT_S=N] record.sh [DIR [REGEX]] - makes the recordings of this folder anew, on a machine with a GPU; with REGEX those
# of workloads whose name matches.  After N seconds no further workload is begun.  Prints what each workload takes
# without the collector:
#
#   docs/results/measure.sh pairs tests/pairs/record.sh
#   docs/results/measure.sh pairs-fusion tests/pairs/record.sh tests/pairs '^(fuse|overfused|jit)'
#
# tests/bench/predictions.py holds what is predicted from the one against the other: two machines of one kind
# differ by more than that, and so does one within minutes, so a workload is timed before, between and after its
# recordings, and of three recordings from which something is predicted the one whose iterations took the median time
# is kept.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${BUILD:-$PWD/build}
out=$(realpath -m "${1:-tests/pairs}")
only=${2:-.}
export PATH=$build/bin:$build/lib/rooflinectl/workloads:$PATH

fail() {
	echo "record.sh: $* failed" >&2
	exit 1
}

# arguments_of WORKLOAD: into `arguments`; a loop is one from eight iterations on, and the first launches after a wait
# take long where counters are read
arguments_of() {
	arguments=()
	case $1 in
	dp_irregular) arguments=(--iterations 12) ;;
	histogram) arguments=(--iterations 100) ;;
	fuse_horizontal) arguments=(--iterations 50) ;; # of up to 64 launches
	esac
}

# measure WORKLOAD: all variants in turn, without the collector
measure() {
	local arguments
	arguments_of "$1"
	rooflinectl workloads "$1" --repeats 7 "${arguments[@]}" || fail "$1"
}

# record FOLDER WORKLOAD VARIANT ROLE
record() {
	local folder=$1 options=() arguments
	shift
	arguments_of "$1"
	case $1.$3 in
	# a queue is predicted from the SMs' shares, which only samples tell
	work_queue.before | dp_irregular.before) options=(--sample=10us --sample-metrics=sm) ;;
	# merged atomics from their units' busy cycles, which only counters tell
	atomic_* | histogram.before) options=("--counters=roofline,atomics,sm") ;;
	# which kernels may run side by side, from what they read and write; of such none can be counted
	fuse_horizontal.before | concurrent_kernels.before | graph_forkjoin.before) options=(--args) ;;
	# fewer bytes from those that kernels move, and whose they are from what they are given
	fuse_*.before | overfused.before | clusters.before) options=(--counters --args) ;;
	precision.before) options=(--counters) ;;
	*.before) ;;
	# what is only compared otherwise: with the least added, which is by graph but for graphs that are updated
	graph_update.*) ;;
	*) options=(--graphs=graph) ;;
	esac
	rm -rf "$folder"
	rooflinectl record -o "$folder" --untraced=3 "${options[@]}" -- "$1" "$2" --repeats 5 "${arguments[@]}" >/dev/null 2>&1 ||
		fail "$1 $2"
}

# keep WORKLOAD VARIANT ROLE
keep() {
	local folders=() count=1 i kept
	[[ $3 == before ]] && count=3
	for ((i = 0; i < count; i++)); do
		folders+=("$scratch/$1.$2.$i")
		record "${folders[i]}" "$@"
	done
	kept=$(tests/bench/predictions.py --median "${folders[@]}")
	rooflinectl pack --level 19 "$kept" -o "$out/$1.$2.roofline"
	rm -rf "${scratch:?}"/*
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
variants=$(tests/bench/predictions.py --variants)
for workload in $(cut -d' ' -f1 <<<"$variants" | uniq | sort -u); do
	[[ $workload =~ $only ]] || continue
	((SECONDS < ${LIMIT_S:-SECONDS + 1})) || break
	measure "$workload"
	for role in before after; do
		while read -r variant; do
			keep "$workload" "$variant" "$role"
		done < <(awk -v w="$workload" -v r="$role" '$1 == w && $3 == r {print $2}' <<<"$variants")
		measure "$workload"
	done
done
