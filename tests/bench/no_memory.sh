#!/usr/bin/env bash
# no_memory.sh [RUNS]: each command with an allocation failing, in RUNS runs spread over all its allocations (200; 0:
# one run for each).  A run either ends with exit 1 and one line on stderr, or has the exit code and the output of one that
# finds all the memory it wants.  Prints a line for each command, and each run that did neither.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
runs=${1:-200}
cd "$root/tests/recordings" || exit 1
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
export TMPDIR=$there XDG_DATA_HOME=$there
failing=$BUILD/tests/tools/libfail_malloc.so
bad_count=0

# answer VARIABLE=VALUE ARGUMENT...: runs it so; its exit code, with stdout and stderr in files
answer() {
	timeout 60 env LD_PRELOAD="$failing" "$1" "$BUILD/bin/rooflinectl" "${@:2}" >"$there/out" 2>"$there/err"
}

# is_right EXIT_CODE: of the last answer, where the good one is in files, too
is_right() {
	[ "$1" -eq 1 ] && [ "$(wc -l <"$there/err")" -eq 1 ] && return
	[ "$1" -eq "$good_code" ] && cmp -s "$there/out" "$there/good"
}

# try ARGUMENT...: of rooflinectl
try() {
	local count step at code
	answer FAIL_COUNT="$there/count" "$@"
	good_code=$?
	mv "$there/out" "$there/good"
	count=$(cat "$there/count")
	step=$((runs ? count / runs + 1 : 1))
	for ((at = 1 + RANDOM % step; at <= count; at += step)); do
		answer FAIL_AT=$at "$@"
		code=$?
		is_right $code && continue
		bad_count=$((bad_count + 1))
		echo "FAIL_AT=$at: exit $code, $(cmp "$there/out" "$there/good" 2>&1), $(head -c 300 "$there/err")"
	done
	echo "$*: exit $good_code, $count allocations, every $step. failed"
}

for format in text json csv; do
	try report --format "$format" syncs
	try report --format "$format" --section roofline atomic_batch.naive
done
try report --format json work_queue.naive.sampled
try advise nvtx_ranges
try whatif --graph graph_chain.naive
try whatif --format json --graph graph_chain.naive
try verify graph_chain.naive graph_chain.graph
try verify --format json graph_chain.naive graph_chain.graph
try plot --format term syncs timeline
try plot whatif --format term --graph graph_chain.naive
try plot -o "$there" syncs kernels
try ceilings --show "$root/ceilings/NVIDIA_H200-580.159.04.json"
try ceilings --show --format json "$root/ceilings/NVIDIA_H200-580.159.04.json"
"$BUILD/bin/rooflinectl" unpack syncs.roofline -o "$there/syncs"
try pack "$there/syncs" -o "$there/syncs.roofline"
[ $bad_count -eq 0 ]
