#!/usr/bin/env bash
# The flight recorder on a GPU: under the fastest launches that there are, for SOAK_S seconds (3600), it keeps the last
# 30 s whole, DUMPS dumps (100) meanwhile lose nothing, and neither memory nor the ring grows.
#
# The ring lies in RING (/dev/shm): 30 s of 200,000 launches a second are 1 GB; a dump takes as much in TMPDIR, as many as are
# looked at beside each other ($jobs).
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
soak_s=${SOAK_S:-3600}
dumps=${DUMPS:-100}
ring=${RING:-/dev/shm}
span_s=${SPAN_S:-30}
lookers=()
rooflinectl=$BUILD/bin/rooflinectl

# missing RECORDING: launches between its first and its last kernel that have no row, by the step of their ids
missing() {
	cut -d, -f7 "$1"/*/kernels.csv | grep -v correlation | sort -n | awk '
		NR > 1 { step[$1 - last]++ } { if (NR == 1) first = $1; last = $1 }
		END {
			for (s in step) if (step[s] > most) { most = step[s]; usual = s }
			print usual ? (last - first) / usual + 1 - NR : -1
		}'
}

# span_ms RECORDING: from its first kernel to its last
span_ms() {
	tail -q -n +2 "$1"/*/kernels.csv | awk -F, '
		!first || $1 < first { first = $1 } $2 > last { last = $2 }
		END { printf "%d\n", (last - first) / 1e6 }'
}

resident_kb() {
	awk '/^VmRSS/ { print $2 }' "/proc/$program/status"
}

ring_kb() {
	du -sk "$ring"/.ring.* | awk '{ sum += $1 } END { print sum }'
}

rm -rf "$recording"
"$rooflinectl" record -o "$recording" --last "${span_s}s" --ring "$ring" -- \
	"$programs/many_launches" --launches $((400000 * (soak_s + 60))) >"$scratch/out" 2>"$scratch/err" &
recorder=$!
for ((wait = 0; wait < 400; wait++)); do
	program=$(pgrep -P $recorder many_launches) && "$rooflinectl" ctl "$program" status >"$scratch/status" 2>&1 && break
	sleep 0.1
done
check "ctl reaches the recording" grep -q ': recording, ' "$scratch/status"
sleep $((span_s + span_s / 4))
first_kb=$(resident_kb) first_ring_kb=$(ring_kb)
"$rooflinectl" top "$program" --once | sed 's/^/# /'

# look_at N: what dump N lacks, into $scratch/looked.N: "failed", "short" and "holes"
look_at() {
	local dump=$scratch/dump.$1 lost
	[ -d "$dump" ] || echo failed
	[ "$(span_ms "$dump")" -ge $((span_s * 1000)) ] || echo short
	lost=$(missing "$dump")
	[ "$lost" = 0 ] || echo "holes: $lost launches are missing in dump $1"
	[ "$1" = "$dumps" ] || rm -rf "$dump"
}

begin=$(date +%s)
for ((i = 1; i <= dumps; i++)); do
	until [ $(($(date +%s) - begin)) -ge $((i * soak_s / dumps)) ]; do sleep 0.2; done
	while [ "$(jobs -rp | wc -l)" -gt "$jobs" ]; do sleep 0.1; done # the recording is one of them
	"$rooflinectl" ctl "$program" dump -o "$scratch/dump.$i" >"$scratch/dumped" 2>&1 || rm -rf "$scratch/dump.$i"
	look_at "$i" >"$scratch/looked.$i" 2>&1 &
	lookers+=($!)
done
wait "${lookers[@]}" 2>/dev/null # not the recording; bash no more knows those that ended long ago
found() {
	cat "$scratch"/looked.* | grep -c "^$1"
}
sed 's/^/# /' "$scratch"/looked.*
echo "# $soak_s s, $dumps dumps; resident $first_kb kB, then $(resident_kb) kB; ring $first_ring_kb kB, then $(ring_kb) kB"
check "$dumps dumps are made" equal 0 "$(found failed)"
check "each holds at least the last $span_s s" equal 0 "$(found short)"
check "no launch in them is missing" equal 0 "$(found holes)"
check "the program's memory grows by 32 MB at most" at_most $((first_kb + 32768)) "$(resident_kb)"
check "the ring grows by a quarter at most" at_most $((first_ring_kb * 5 / 4)) "$(ring_kb)"
check "nothing is lost" grep -q ' 0 lost;' <("$rooflinectl" ctl "$program" status)
"$rooflinectl" report "$scratch/dump.$dumps" >"$scratch/report"
check "report reads a dump, and tells what it is" grep -q "only the last ${span_s}s were kept" "$scratch/report"

kill -TERM "$program"
wait $recorder
check "record ends as the program does" equal 143 $?
check "the last $span_s s before the end are there" test "$(span_ms "$recording/dump.1")" -ge $((span_s * 1000))
check "the ring is gone" equal "" "$(find "$ring" -maxdepth 1 -name '.ring.*' -user "$(id -un)")"

# CUPTI is switched off 2 s after the end of --duration, while launches go on.
rm -rf "$recording"
"$rooflinectl" record -o "$recording" --duration 3 -- "$programs/many_launches" --launches 2000000 >"$scratch/out" 2>"$scratch/err"
check "a program ends well after --duration" equal 0 $?
check "the span of --duration has its kernels" test "$(span_ms "$recording")" -ge 2000
check "nothing but what came after it is missing" equal outside_window "$(lost | xargs -n 2 | cut -d' ' -f1 | xargs)"

# What it costs: the same launches alone, recorded whole, and under the flight recorder.
for way in bare record last; do
	rm -rf "$recording"
	case $way in
	bare) "$programs/many_launches" --launches 2000000 ;;
	record) "$rooflinectl" record -o "$recording" -- "$programs/many_launches" --launches 2000000 2>/dev/null ;;
	last) "$rooflinectl" record -o "$recording" --last "${span_s}s" --ring "$ring" -- \
		"$programs/many_launches" --launches 2000000 2>/dev/null ;;
	esac | sed -n "s/^ns_per_launch/# $way: ns a launch/p"
done
finish
