#!/usr/bin/env bash
# However a program ends, its output and exit code are its own, and the recording is readable.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
kills=${KILLS:-50}

# Ends that run handlers, and _exit, which the preloaded library stands in front of: nothing missing.
for way in return exit _exit quick_exit thread_exit abort sigterm sigkill; do
	"$programs/endings" $way >"$scratch/bare" 2>/dev/null
	bare=$?
	record "$programs/endings" $way >"$scratch/with" 2>"$scratch/complaints"
	check "$way: the exit code is the program's own" equal $bare $?
	check "$way: stdout is byte for byte the program's own" cmp "$scratch/bare" "$scratch/with"
	check "$way: no complaint" equal "" "$(grep rooflinecollector "$scratch/complaints")"
	check "$way: every kernel row is whole" equal 0 "$(invalid_kernels)"
	case $way in
	return | exit | _exit | quick_exit)
		check "$way: all 1,000 kernels are recorded" equal 1000 "$(rows kernels)"
		check "$way: the recording is sealed" grep -q sealed_ns "$recording"/*/process.csv
		;;
	esac
done 2>/dev/null

# The program tells on stdout how many kernels had finished by when; what is older than a second
# before the kill must be there.
unreadable=0 late=0 worst_ms=0 cut=0
for ((i = 0; i < kills; i++)); do
	rm -rf "$recording"
	ROOFLINE_OUTPUT=$recording LD_PRELOAD=$collector "$programs/endings" never >"$scratch/out" &
	pid=$!
	for ((wait = 0; wait < 400; wait++)); do # CUDA takes long to start now and then
		[ -s "$scratch/out" ] && break
		sleep 0.05
	done
	began_ns=$(date +%s%N)
	sleep "$(awk -v seed=$i 'BEGIN { srand(seed); print 0.2 + 2 * rand() }')"
	kill -KILL $pid
	killed_ns=$(date +%s%N)
	wait $pid
	"$BUILD/bin/rooflinectl" report "$recording" >"$scratch/report" || unreadable=$((unreadable + 1))
	if [ -n "$(tail -q -c 1 "$recording"/*/kernels.csv)" ]; then # the kill came in the middle of a write
		sed -i '$d' "$recording"/*/kernels.csv
		cut=$((cut + 1))
	fi
	[ "$(invalid_kernels)" = 0 ] || unreadable=$((unreadable + 1))
	last_ns=$(tail -q -n +2 "$recording"/*/kernels.csv | tail -n 1 | cut -d, -f2)
	[ -n "$last_ns" ] || last_ns=$began_ns # killed before the first records were written
	behind_ms=$(((killed_ns - last_ns) / 1000000))
	[ $behind_ms -gt $worst_ms ] && worst_ms=$behind_ms
	[ $behind_ms -gt 1000 ] && late=$((late + 1))
done 2>/dev/null
echo "# $kills kills at random moments: the last recorded kernel ended at most $worst_ms ms before; $cut cut a line"
check "$kills runs killed by SIGKILL are all readable" equal 0 $unreadable
check "$kills runs killed by SIGKILL lose at most the last second" equal 0 $late
finish
