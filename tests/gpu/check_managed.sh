#!/usr/bin/env bash
# In which ways CUPTI records page faults and migrations of managed memory, and which of them end a program.  Each is a
# process of its own.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
jobs=${JOBS:-6}
limit_s=${LIMIT_S:-25}

# What CUPTI needs of the driver for this: its counters come from the module for managed memory, by a device of their own.
for device in /dev/nvidia*; do
	[ -r "$device" ] && [ -w "$device" ] && echo "# $device can be opened" || echo "# $device: $(stat -c '%A %U %F' "$device")"
done
echo "# $(grep -h uvm /proc/devices /proc/modules | xargs)"
echo "# $(nvidia-smi -q 2>/dev/null | grep -i 'addressing mode' | xargs)"

ways=()
# try WHEN SCOPE KINDS [ORDER] [SUBSCRIBER]
try() {
	ways+=("$*")
	start "$programs/managed_counters" "$@"
}

try none single 1
for when in init initialized context thread callback_init callback_context busy; do
	try $when single 1234
	try $when all 12345678
done
for kind in 1 2 3 4 5 6 7 8; do
	try context single $kind
done
for kinds in 12 34 21 4321 1,2,3,4 12345678 1,2,3,4,5,6,7,8; do
	try context single $kinds
	try context all $kinds
done
try context single 1234 enable_first
try context single 1234 enable_only
try context single 1234 configure_first not_subscribed
try context all 1234 configure_first not_subscribed
try init single 1234 configure_first not_subscribed
try initialized single 1234 enable_first not_subscribed
wait

for ((run = 1; run <= run_count; run++)); do
	echo "# ${ways[run - 1]}: exit $(cat "$scratch/$run.code"): $(tr -d '\n' <"$scratch/$run.out")"
done
for ((run = 1; run <= run_count; run++)); do
	[ -s "$scratch/$run.err" ] && {
		echo "# ${ways[run - 1]}, stderr:"
		shown "$scratch/$run.err"
		((++told == 3)) && break
	}
done
check "without them the program ends well" equal 0 "$(cat "$scratch/1.code")"
finish
