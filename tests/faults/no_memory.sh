#!/usr/bin/env bash
# no_memory.sh [RUNS]: each command with an allocation failing, in RUNS runs spread over all its allocations (200; 0:
# one run for each).  A run either ends with exit 1 and one line on stderr, or has the exit code and the output of one that
# finds all the memory it wants.  Prints a line for each command, and each run that did neither.
source "$(dirname "${BASH_SOURCE[0]}")/commands.bash"
runs=${1:-200}
failing=$BUILD/tests/tools/libfail_malloc.so

try() {
	local count step at
	in_folder env LD_PRELOAD="$failing" FAIL_COUNT="$there/count" "$program" "$@"
	good_code=$?
	keep_good
	count=$(cat "$there/count")
	step=$((runs ? count / runs + 1 : 1))
	for ((at = 1 + RANDOM % step; at <= count; at += step)); do
		in_folder env LD_PRELOAD="$failing" FAIL_AT=$at "$program" "$@"
		judge "FAIL_AT=$at" $? "$1"
	done
	echo "$*: exit $good_code, $count allocations, every $step. failed"
}

prepare
each_command try
[ $bad_count -eq 0 ]
