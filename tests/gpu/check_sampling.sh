#!/usr/bin/env bash
# Sampling keeps up: nothing is lost on a busy GPU, where need be at a longer interval than was asked for, and
# memory does not grow.  Prints the finest interval that this machine decodes in time.  A program that ends
# while a session is opened again ends as ever.
#
#   SECONDS_LONG=600 tests/gpu/check_sampling.sh     60 when not given; 600 s of samples take 5 GB in $TMPDIR
#   SECONDS_SHORT=5                                  10 when not given: for each of the others
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

long=${SECONDS_LONG:-60}
short=${SECONDS_SHORT:-10}
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

# property KEY: of the process that was recorded
property() {
	sed -n "s/^$1,//p" "$recording"/*/process.csv | head -n 1
}

# holes: between spans of the interval that was in use at last, as "ns ns ...".  Less than a sample is none: CUPTI
# corrects its clock every few seconds, by up to 1 us.
holes() {
	tail -q -n +2 "$recording"/*/sampled_spans.csv | sort -t, -k2n |
		awk -F, -v of="$(property sample_used_ns)" '$4 == of { if (end && $2 - end > of / 2) print $2 - end; end = $3 }' |
		xargs
}

# lost_ms: of samples
lost_ms() {
	tail -q -n +2 "$recording"/*/losses.csv |
		awk -F, '$2 == "lost_sample_ns" { ns += $3 } END { printf "%d\n", ns / 1e6 }'
}

# told WHAT: the figures of $recording
told() {
	echo "# $1: every $(property sample_used_ns) ns ($(property sample_ns) asked), a sample took" \
		"$(property sample_decode_ns) ns to decode; lost $(lost_ms) ms, sampled $(sampled_ms) ms," \
		"$(rows samples) rows"
}

# without_end NAME SECONDS OPTION...: sampled without end, nothing is lost; at most what finding the interval takes
without_end() {
	local name=$1 seconds=$2
	shift 2
	check "$name: $seconds s without end are recorded" sampled "$seconds" --sample-windows=continuous "$@"
	check "$name: no hole in what is sampled at the interval that is kept up with" equal "" "$(holes)"
	check "$name: at most 1 s is lost before" at_most 1000 "$(lost_ms)"
	check "$name: samples and what was lost cover the time" \
		[ $(($(sampled_ms) + $(lost_ms))) -ge $((seconds * 1000 * 99 / 100)) ]
	told "$name"
}

without_end "10 us, front" "$long" --sample=10us --sample-metrics=front
echo "# memory grew by $(growth_kb) kB"
check "memory does not grow by more than 16 MB" at_most 16384 "$(growth_kb)"
check "it is sampled as often as was asked for" equal 10000 "$(property sample_used_ns)"
without_end "10 us" "$short" --sample=10us

# Far finer than decoding keeps up with: what it falls back to is the finest interval.
without_end "finest, front" "$short" --sample=250ns --sample-metrics=front
without_end "finest, front and sm" "$short" --sample=1us --sample-metrics=sm
without_end "finest, all" "$short" --sample=1us --sample-metrics=sm,dram,tensor,l2

check "20 s in windows of 100 ms a second, every 1 us, are recorded" \
	sampled 20 --sample=1us --sample-metrics=sm --sample-windows=100ms/1s
check "nothing of them is lost either" equal "" "$(lost)"
told "windows"
check "the windows are there, or as many as can be decoded" \
	[ "$(sampled_ms)" -ge "$(awk -v each_ns="$(property sample_decode_ns)" 'BEGIN {
		period_ms = 100 + 100000 * each_ns / 1e6
		printf "%d", 0.9 * 100 * 20000 / (period_ms > 1000 ? period_ms : 1000) }')" ]

# held_up LINGER_MS: a program that is stopped until its buffer has overflowed and its time is over; it ends so
# long after that the collector notices, that is while it opens another session, which takes a third of a second
held_up() {
	local pid
	rm -rf "$recording"
	ROOFLINE_OUTPUT=$recording ROOFLINE_SAMPLE=10us ROOFLINE_SAMPLE_WINDOWS=continuous \
		ROOFLINE_SAMPLE_METRICS=sm ROOFLINE_SAMPLE_BUFFER_MB=16 LD_PRELOAD=$collector \
		"$programs/busy_gpu" --seconds 3 --kernel-us 100 --linger-ms "$1" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	sleep 2.5
	kill -STOP $pid
	sleep 3
	kill -CONT $pid
	wait $pid
}

failed=0 overflowed=0 unreadable=0
for linger_ms in 0 30 60 90 120 150 200 250 300 350 400 450; do
	held_up $linger_ms && grep -q '^seconds ' "$scratch/out" || failed=$((failed + 1))
	[ "$(lost_ms)" -gt 0 ] && overflowed=$((overflowed + 1))
	"$tool" report "$recording" >"$scratch/report" 2>&1 && grep -q sealed_ns "$recording"/*/process.csv ||
		unreadable=$((unreadable + 1))
done
check "12 programs that end while a session is opened again end as ever" equal 0 $failed
check "their recordings are sealed and readable" equal 0 $unreadable
check "in all of them samples were lost, and counted" equal 12 $overflowed
finish
