#!/usr/bin/env bash
# How steady estimates of what recording adds to a call are from process to process, and how they go with what it adds to the
# program's own calls.
#
#   RUNS=N tests/gpu/check_calibration.sh     20 processes idle and 20 busy when not given
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
runs=${RUNS:-20}

for busy in 0 1; do
	for ((run = 0; run < runs; run++)); do
		"$programs/calibration" --busy $busy >"$scratch/busy$busy.$run" || echo "# run $run ended with $?"
	done
	echo "# busy $busy: added ns, of $runs processes: least, lower tenth, median, upper tenth, most; upper tenth less lower, % of the median"
	cat "$scratch/busy$busy".* | sort -k1,1 -k2,2n | awk '
		function show() {
			if (!count)
				return
			low = value[int(1 + (count - 1) * 0.1)]; high = value[int(1 + (count - 1) * 0.9 + 0.999)]
			middle = value[int((count + 1) / 2)]
			printf "# %-28s %7.1f %7.1f %7.1f %7.1f %7.1f %5.0f%%\n", name, value[1], low, middle, high, value[count],
				100 * (high - low) / middle
			count = 0
		}
		$1 != name { show(); name = $1 }
		{ value[++count] = $2 }
		END { show() }'
	echo "# busy $busy, each process: program_launch, program_event, as_now_median_version, turns_least_version, warm_least_version"
	for ((run = 0; run < runs; run++)); do
		awk '{ added[$1] = $2 } END { print "# " added["program_launch"], added["program_event"], added["as_now_median_version"],
			added["turns_least_version"], added["warm_least_version"] }' "$scratch/busy$busy.$run"
	done
done
check "every process measured" equal $((2 * runs)) "$(cat "$scratch"/busy* | grep -c '^program_again_event')"
finish
