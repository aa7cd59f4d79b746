#!/usr/bin/env bash
# Hardware counters: against counts worked out by hand, against themselves taken one set at a time and by
# replay, against Nsight Compute where it is installed, and that they leave programs alone.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

compare=tests/gpu/counters.py
ncu=${NCU:-$(command -v ncu || echo /usr/local/cuda/bin/ncu)}

# count FOLDER OPTION... -- PROGRAM...: records with counters and no limit on their time
count() {
	local folder=$1
	shift
	rm -rf "$folder"
	"$BUILD/bin/rooflinectl" record -o "$folder" --counters-share=100 "$@" 2>>"$scratch/complaints"
}

# compared COMMAND...: shows the table of counters.py as diagnostics
compared() {
	python3 "$compare" "$@" >"$scratch/table"
	local rc=$?
	sed 's/^/# /' "$scratch/table"
	return $rc
}

known() { "$programs/known_counts" --count "$1"; }

count "$scratch/all" --counters=roofline,atomics -- "$programs/known_counts" --count 24 \
	>"$scratch/expected.csv"
check "instructions and atomics are exactly those worked out by hand, bytes within 2%" \
	compared known "$scratch/expected.csv" "$scratch/all"
count "$scratch/roofline" --counters=roofline -- "$programs/known_counts" --count 24 >/dev/null
count "$scratch/atomics" --counters=atomics -- "$programs/known_counts" --count 24 >/dev/null
check "counters taken in rotation are those of one set at a time" \
	compared same "$scratch/all" "$scratch/roofline" "$scratch/atomics"
count "$scratch/replay" --counters=roofline,atomics --replay -- "$programs/known_counts" --count 2 >/dev/null
check "replay counts the same instructions and atomics" \
	compared known "$scratch/expected.csv" "$scratch/replay" exact
sed 's/^/# /' "$scratch/complaints"

# metrics of a recording that Nsight Compute knows by the same name
metrics() {
	tail -q -n +2 "$1"/*/names.csv | awk -F, '/__/ && /\.(sum|max|avg)$/ { print $2 }' |
		grep -v range | sort -u | paste -sd,
}
if [ -x "$ncu" ]; then
	# Application replay runs the program once for each pass: caches are as they are without it.
	"$ncu" --replay-mode application --metrics "$(metrics "$scratch/all")" --csv --page raw --print-units base \
		--cache-control none --clock-control none --print-kernel-base mangled \
		--log-file "$scratch/ncu.raw" "$programs/known_counts" --count 3 \
		>"$scratch/ncu.out" 2>&1 || sed 's/^/# /' "$scratch/ncu.out" "$scratch/ncu.raw" | tail -5
	python3 - "$scratch/ncu.raw" "$scratch/ncu.csv" <<'PYTHON'
import csv, sys
lines = [line for line in open(sys.argv[1]) if line.startswith('"')]
rows = list(csv.DictReader(lines))
out = csv.writer(open(sys.argv[2], "w"), quoting=csv.QUOTE_ALL)
out.writerow(["Kernel Name", "Grid Size", "Metric Name", "Metric Unit", "Metric Value"])
for row in rows[1:]:
    for name, value in row.items():
        if name and name.endswith((".sum", ".max", ".avg")) and value:
            out.writerow([row["Kernel Name"], row["Grid Size"], name, "", value])
PYTHON
	check "Nsight Compute counts the same instructions, bytes within 2% and requests within 5%" \
		compared ncu "$scratch/ncu.csv" "$scratch/all"
else
	test_count=$((test_count + 1))
	echo "ok $test_count - Nsight Compute counts the same # SKIP ncu is not installed"
fi

# A kernel that waits for what the host does after its launch
timeout 60 "$BUILD/bin/rooflinectl" record -o "$scratch/waits" --counters -- "$programs/waits_for_host" \
	>"$scratch/waits.out" 2>"$scratch/waits.err"
check "a kernel that waits for the host does not hang" equal 0 $?
check "and prints what it prints" equal "done" "$(cat "$scratch/waits.out")"
check "and is said to be left alone" grep -q 'no longer counted' "$scratch/waits.err"
finish
