#!/usr/bin/env bash
# Programs that use CUDA's libraries and frameworks end and print with the collector as they do without it.
#
#   LIBRARIES=DIR tests/gpu/check_libraries.sh [LIST]     tests/gpu/libraries.list when none is named
#
# A row of LIST is `name | source | folder | command`.  Programs of the source `ours` lie in this repository; the others are public
# ones, in a folder of DIR, built there.  Without LIBRARIES only ours run.  libraries.py runs each bare and in five modes.
# Environment: JOBS (10) at a time, HARDWARE_JOBS (one per GPU) of them that read hardware counters, BUDGET_S (520) after which nothing
# begins, BARE_S (20) and LIMIT_S (60) of one run, ONLY=REGEX of names, PART=1/2 for every second row, MODES=trace,counters,...,
# KEEP=DIR for what the programs print, PYTHON.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
list=${1:-tests/gpu/libraries.list}
gpus=${GPUS:-$(gpu_count)}
export ROOFLINECTL=${ROOFLINECTL:-$BUILD/bin/rooflinectl} SCRATCH=$scratch TOTALS=$scratch/totals GPUS=$((gpus > 0 ? gpus : 1))
ulimit -c 0

# While nvidia-smi waits, the driver stays loaded: programs start in a fraction of the time.
if command -v nvidia-smi >/dev/null; then
	nvidia-smi --loop=3600 >/dev/null 2>&1 &
	trap 'kill '$!' 2>/dev/null; rm -rf "$scratch"' EXIT
fi

"${CHECK_PYTHON:-python3}" tests/gpu/libraries.py "$list" | sed 's/^/# /; s/^# $/#/'
if [ ! -s "$TOTALS" ]; then
	check "programs were run" false
	finish
	exit
fi
while read -r mode programs exits outputs died late _ unreadable _; do
	check "$mode: all programs end as without recording" equal "$programs" "$exits"
	check "$mode: all print what they print without recording" equal "$programs" "$outputs"
	check "$mode: none is ended by a signal" equal 0 "$died"
	check "$mode: none takes longer than ${LIMIT_S:-60} s" equal 0 "$late"
	check "$mode: all recordings are readable" equal 0 "$unreadable"
done <"$TOTALS"
finish
