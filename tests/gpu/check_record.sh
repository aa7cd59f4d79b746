#!/usr/bin/env bash
# rooflinectl record passes signals on, and a recording that reaches its limit ends alone: the program goes on.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
tool=$BUILD/bin/rooflinectl
runs=${RUNS:-50}
launches=${LAUNCHES:-200000}

# gone: no process of the group of $recorder is left
gone() {
	! pgrep -g "$recorder" >"$scratch/left"
}

reported() {
	"$tool" report "$recording" >"$scratch/report"
}

# terminated SECONDS [-]: counts what goes wrong when record, or with - the whole process group, gets TERM
terminated() {
	rm -rf "$recording"
	setsid "$tool" record -o "$recording" -- "$programs/endings" never >"$scratch/out" 2>"$scratch/err" &
	recorder=$!
	for ((wait = 0; wait < 400; wait++)); do # CUDA takes long to start now and then
		[ -s "$scratch/out" ] && break
		sleep 0.05
	done
	sleep "$1"
	kill -TERM -- "${2-}$recorder"
	wait $recorder
	[ $? -eq 143 ] || wrong=$((wrong + 1))
	gone || left=$((left + 1))
	reported 2>>"$scratch/complaints" || unreadable=$((unreadable + 1))
}

wrong=0 left=0 unreadable=0
for ((i = 0; i < runs; i++)); do
	terminated "0.0$((RANDOM % 90 + 10))" "$( ((i % 2)) && echo -)"
done 2>/dev/null
check "$runs runs whose record got TERM end with it" equal 0 $wrong
check "$runs runs whose record got TERM leave no process" equal 0 $left
check "$runs runs whose record got TERM are readable" equal 0 $unreadable

# bytes: of all tables
bytes() {
	find "$recording" -name '*.csv' -exec cat {} + | wc -c
}

# ended VARIABLE=VALUE: a program that records more than that; its exit code and what it prints as without us
ended() {
	rm -rf "$recording"
	env "$1" "$tool" record -o "$recording" -- "$programs/endings" --launches "$launches" exit \
		>"$scratch/with" 2>"$scratch/complaints"
	check "${1%%=*}: the exit code is the program's own" equal $bare $?
	check "${1%%=*}: stdout is byte for byte the program's own" cmp "$scratch/bare" "$scratch/with"
	check "${1%%=*}: one line tells that the recording has ended" \
		equal 1 "$(grep -c 'rooflinecollector: .*has ended, and the program goes on' "$scratch/complaints")"
	check "${1%%=*}: that is the collector's only line" equal 1 "$(grep -c rooflinecollector: "$scratch/complaints")"
	check "${1%%=*}: the recording is sealed, once" \
		equal 1 "$(cat "$recording"/*/process.csv | grep -c '^sealed_ns,')"
	check "${1%%=*}: every kernel row is whole" equal 0 "$(invalid_kernels)"
	check "${1%%=*}: some of the kernels are there" test "$(rows kernels)" -gt 1000
	check "${1%%=*}: and not all of them" test "$(rows kernels)" -lt "$launches"
	check "${1%%=*}: a report reads it" reported
}

"$programs/endings" --launches "$launches" exit >"$scratch/bare" 2>/dev/null
bare=$?
ended ROOFLINE_MAX_SIZE=2M
check "ROOFLINE_MAX_SIZE: all tables together are no larger" at_most 2097152 "$(bytes)"
check "ROOFLINE_MAX_SIZE: losses.csv tells it" equal 1 "$(lost | grep -oP 'size_limit \K[0-9]+')"
# a floor 4 MB below what is free now
free_kb=$(df --output=avail -k "$scratch" | tail -n 1)
ended "ROOFLINE_MIN_FREE=$((free_kb - 4096))K"
check "ROOFLINE_MIN_FREE: about as much is written as was allowed" at_most 8388608 "$(bytes)"
check "ROOFLINE_MIN_FREE: losses.csv tells it" equal 1 "$(lost | grep -oP 'low_disk \K[0-9]+')"
finish
