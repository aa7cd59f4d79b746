#!/usr/bin/env bash
# no_space.sh [RUNS]: each command while no file may grow beyond a size, in RUNS runs spread over the sizes up to that of the
# largest file that it writes (200).  A run either ends with exit 1 and one line on stderr, and no file that is not whole, or
# writes what it writes where there is space.  Prints a line for each command, and each run that did neither.
#
# With --disk on a disk that is nearly full as well, where one may be mounted: 64 KiB of memory.
source "$(dirname "${BASH_SOURCE[0]}")/commands.bash"
[ "${1-}" = --disk ] && has_disk=1 && shift
runs=${1:-200}
most=0

try() {
	local run limit
	in_folder "$program" "$@"
	good_code=$?
	keep_good
	most=$(find "$there/good" "$there/good.out" -type f -printf '%s\n' | sort -n | tail -1)
	for ((run = 0; run < runs; run++)); do
		limit=$((most * (run * 1000 + RANDOM % 1000) / (runs * 1000)))
		in_folder prlimit --fsize=$limit "$program" "$@"
		judge "of $most bytes at most $limit" $? "$1"
	done
	echo "$*: exit $good_code, $most bytes, $runs smaller limits"
}

# on_disk ARGUMENT...: in a folder on the small disk, whose files are looked at before it is gone
on_disk() {
	[[ " $* " == *\ -o\ * || " $* " == *\ --html\ * || $1 == plot || $1 == demo ]] || return 0 # it writes no file
	in_folder "$program" "$@"
	good_code=$?
	keep_good
	rm -rf "$there/work" && mkdir "$there/work"
	mount -t tmpfs -o size=64k none "$there/work" || return
	run_there "$program" "$@"
	judge "a disk of 64 KiB" $? "$1"
	umount -l "$there/work"
}

# small_disks: in a mount namespace of its own, as whoever may make one
small_disks() {
	[ -n "${has_disk-}" ] || return 0
	if [ "${FAULTS_DISK-}" != mounted ]; then
		unshare -rm true 2>/dev/null || { echo "no disk can be mounted here: left out"; return 0; }
		FAULTS_DISK=mounted unshare -rm "${BASH_SOURCE[0]}" --disk 0
		return
	fi
	each_command on_disk
}

prepare
if [ "${FAULTS_DISK-}" = mounted ]; then
	small_disks
else
	each_command try
	small_disks || bad_count=$((bad_count + 1))
fi
[ $bad_count -eq 0 ]
