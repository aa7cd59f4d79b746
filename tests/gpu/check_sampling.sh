#!/usr/bin/env bash
# Sampling keeps up: nothing is lost on a busy GPU, and memory does not grow.
#
#   SECONDS_LONG=600 tests/gpu/check_sampling.sh     60 when not given; 600 s of samples take 5 GB in $TMPDIR
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

long=${SECONDS_LONG:-60}
tool=$BUILD/bin/rooflinectl

# sampled SECONDS OPTION...: records busy_gpu; its resident memory, in kB, second by second into $scratch/memory
sampled() {
	local seconds=$1 recorder program
	shift
	rm -rf "$recording"
	"$tool" record -o "$recording" --api=none "$@" -- "$programs/busy_gpu" --seconds "$seconds" \
		--kernel-us 1000 >"$scratch/out" 2>&1 &
	recorder=$!
	: >"$scratch/memory"
	while kill -0 $recorder 2>/dev/null; do
		program=$(pgrep -P $recorder busy_gpu) &&
			awk '/^VmRSS/ { print $2 }' "/proc/$program/status" >>"$scratch/memory" 2>/dev/null
		sleep 1
	done
	wait $recorder
	local code=$?
	sed -n 's/^rooflinecollector/# &/p' "$scratch/out"
	return $code
}

# sampled_ms: how long all spans of $recording are together
sampled_ms() {
	tail -q -n +2 "$recording"/*/sampled_spans.csv |
		awk -F, '{ ns += $3 - $2 } END { printf "%d\n", ns / 1e6 }'
}

# growth_kb: of resident memory from a fifth of the time on
growth_kb() {
	awk '{ kb[NR] = $1 } END {
		first = kb[int(NR / 5) + 1]
		for (i = int(NR / 5) + 1; i <= NR; i++) if (kb[i] > most) most = kb[i]
		print most - first }' "$scratch/memory"
}

check "$long s of samples every 10 us on a busy GPU are recorded" \
	sampled "$long" --sample=10us --sample-windows=continuous
check "nothing of them is lost" equal "" "$(lost)"
check "they cover the time" [ "$(sampled_ms)" -ge $((long * 1000 * 99 / 100)) ]
echo "# sampled $(sampled_ms) ms, $(rows samples) rows, memory grew by $(growth_kb) kB"
check "memory does not grow by more than 16 MB" at_most 16384 "$(growth_kb)"

check "20 s in windows of 100 ms a second, every 1 us, are recorded" \
	sampled 20 --sample=1us --sample-metrics=sm --sample-windows=100ms/1s
check "nothing of them is lost either" equal "" "$(lost)"
check "the windows are there" [ "$(sampled_ms)" -ge 1900 ]
echo "# sampled $(sampled_ms) ms, $(rows samples) rows"

check "10 s of dispatches and blocks every 1 us without a pause are recorded" \
	sampled 10 --sample=1us --sample-metrics=front
check "nothing of these is lost" equal "" "$(lost)"
check "they too cover the time" [ "$(sampled_ms)" -ge 9900 ]
echo "# sampled $(sampled_ms) ms, $(rows samples) rows"
finish
