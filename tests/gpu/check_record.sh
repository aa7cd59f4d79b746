#!/usr/bin/env bash
# A recording that reaches its limit ends alone: the program goes on.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
tool=$BUILD/bin/rooflinectl
launches=${LAUNCHES:-200000}

reported() {
	"$tool" report "$recording" >"$scratch/report"
}

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
