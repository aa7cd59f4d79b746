#!/usr/bin/env bash
# record.sh [DIR [REGEX]] - makes the recordings of this folder anew, on a machine with a GPU; with REGEX those
# of workloads whose name matches.  Prints what each workload takes without the collector, right before:
#
#   docs/results/measure.sh pairs tests/pairs/record.sh
#
# tests/bench/predictions.py holds what is predicted from the one against the other: two machines of one kind
# differ by more than that.  Five runs each, as a single one is off by a quarter now and then.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$PWD/build
out=$(realpath -m "${1:-tests/pairs}")
only=${2:-.}
export PATH=$build/bin:$build/lib/rooflinectl/workloads:$PATH

variants=$(tests/bench/predictions.py --variants)
for workload in $(cut -d' ' -f1 <<<"$variants" | uniq | sort -u); do
	[[ $workload =~ $only ]] || continue
	rooflinectl workloads "$workload" --repeats 15 || { echo "record.sh: $workload failed" >&2; exit 1; }
	grep "^$workload " <<<"$variants" | while read -r _ variant role; do
		options=()
		case $workload.$role in
		# a queue is predicted from the SMs' shares, which only samples tell
		work_queue.before) options=(--sample=10us --sample-metrics=sm) ;;
		# merged atomics from their units' busy cycles, which only counters tell
		atomic_*) options=("--counters=roofline,atomics,sm") ;;
		# what fusing saves from the bytes that kernels move
		fuse_*.before) options=(--counters) ;;
		*.before) ;;
		# what is only compared: with the least added
		*) options=(--graphs=graph) ;;
		esac
		rm -rf "${out:?}/$workload.$variant"
		rooflinectl record -o "$out/$workload.$variant" "${options[@]}" -- \
			"$workload" "$variant" --repeats 5 >/dev/null 2>&1 ||
			{ echo "record.sh: $workload $variant failed" >&2; exit 1; }
	done
done
