#!/usr/bin/env bash
# links_recordings.sh DIR [REGEX] - recordings of several ranks that tests/recordings lacks, made by its record.sh; those whose
# name matches.  Each workload has its own limit, so that one that hangs does not end the others.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
[ $# -ge 1 ] || { echo "usage: links_recordings.sh DIR [REGEX]" >&2; exit 2; }
only=${2:-.}
wanted=(
	nccl_graph.{naive,asynchronous,graph} nccl_graph.{naive,graph}.four
	mpi_cuda.{naive,pinned,pipelined} mpi_cuda.{naive,pipelined}.four
	scaling.{naive,one,overlapped} scaling.{naive,overlapped}.four
	two_stage.{naive,events,persistent}
	nccl_bucketed.{naive,buckets}.four
	nvshmem_signal.put_signal
	pitfalls.{,no_}staged_peer_copy
)

# lacking WORKLOAD: the names of its recordings that there are to be, as a regular expression; none: nothing
lacking() {
	local name
	for name in "${wanted[@]}"; do
		[[ $name == "$1".* && $name =~ $only ]] || continue
		[ -e "tests/recordings/$name.roofline" ] || echo "^${name//./\\.}\$"
	done | paste -sd'|'
}

mkdir -p "$1"
for workload in $(printf '%s\n' "${wanted[@]%%.*}" | sort -u); do
	names=$(lacking "$workload")
	[ -n "$names" ] || continue
	timeout -k 5 60 tests/recordings/record.sh "$1" "$names" 2>&1 | grep -v 'command not found'
done
find "$1" -name '*.roofline' -printf '%f %s bytes\n' | sort
