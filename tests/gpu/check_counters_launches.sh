#!/usr/bin/env bash
# What counting does to launches that are not counted, to threads that launch beside, and which kernels it
# comes to first.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ns_per_launch THREADS OPTION...: of empty kernels, recorded with these options
ns_per_launch() {
	local threads=$1
	shift
	rm -rf "$recording"
	"$BUILD/bin/rooflinectl" record -o "$recording" "$@" -- "$programs/many_launches" --threads "$threads" \
		--launches $((threads == 1 ? 200000 : 20000)) 2>/dev/null | awk '$1 == "ns_per_launch" { print $2 }'
}

# compare THREADS: 9 rounds in turns; medians in $trace_ns and of what counters add in a round, which a machine that changes
# its clock does not disturb, in $added_ns.  Every kernel is left alone.
compare() {
	local round
	rm -f "$scratch"/trace "$scratch"/left
	for ((round = 0; round < 9; round++)); do
		ns_per_launch "$1" >>"$scratch/trace"
		ROOFLINE_COUNTERS_SKIP=. ns_per_launch "$1" --counters >>"$scratch/left"
	done
	trace_ns=$(median <"$scratch/trace")
	added_ns=$(paste "$scratch/left" "$scratch/trace" | awk '{ print $1 - $2 }' | median)
	echo "# $1 threads: trace $trace_ns ns a launch, counters that leave all alone add $added_ns ns; rounds:"
	paste "$scratch/trace" "$scratch/left" | sed 's/^/#   /'
}

at_most() { awk -v is="$1" -v limit="$2" 'BEGIN { exit !(is <= limit) }'; }

compare 1
check "on one thread a launch that is not counted costs at most 0.3 us more than tracing" \
	at_most "$added_ns" 300
compare 32
check "32 threads do not queue behind one lock: at most 0.3 us and a fifth more than tracing" \
	at_most "$added_ns" "$(awk -v ns="$trace_ns" 'BEGIN { print 0.2 * ns + 300 }')"

# 32 threads, without a limit on what counting may take
rm -rf "$recording"
timeout -k 5 300 "$BUILD/bin/rooflinectl" record -o "$recording" --counters --counters-share=100 -- \
	"$programs/counted_threads" >"$scratch/out" 2>"$scratch/err"
check "32 threads that are counted end as they do alone" equal 0 $?
sed 's/^/# /' "$scratch/out" "$scratch/err"
cat >"$scratch/values.py" <<'PYTHON'
import csv, glob, sys

folder = glob.glob(sys.argv[1] + "/*/")[0]
def rows(table):
    return list(csv.DictReader(open(folder + table + ".csv")))
roles = {r["id"]: r["role"] for r in rows("metrics")}
grids = {r["id"]: int(r["grid_x"]) for r in rows("signatures")}
grid_of = {r["correlation"]: grids[r["signature"]] for r in rows("kernels")}
counted = {r["id"]: r for r in rows("counted")}
right = wrong = 0
shapes = set()
for row in rows("counters"):
    if roles[row["metric"]] != "fp32_fma":
        continue
    grid = grid_of.get(counted[row["counted"]]["like"])
    if grid is None:
        continue
    if float(row["value"]) == grid * 128 * 64:
        right += 1
        shapes.add(grid)
    else:
        wrong += 1
        print(f"# grid {grid}: {row['value']}, wanted {grid * 128 * 64}")
print(f"# {len(counted)} launches counted, FMAs right {right}, wrong {wrong}, of {len(shapes)} shapes")
sys.exit(wrong != 0 or len(shapes) < 16)
PYTHON
check "each value is that of its own launch, for half of the 32 shapes at least" \
	python3 "$scratch/values.py" "$recording"
grep -h unusable_counts "$recording"/*/losses.csv | sed 's/^/# /'

# Default share: 300 shapes come before the kernel that takes the time
rm -rf "$recording"
"$BUILD/bin/rooflinectl" record -o "$recording" --counters -- "$programs/counted_shapes" >/dev/null 2>"$scratch/err"
share=$("$BUILD/bin/rooflinectl" report "$recording" --section roofline --format json 2>/dev/null |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["roofline"]["application"].get("covered_share") or 0)')
echo "# counters stand on $share of the kernel time; $(tail -q -n +2 "$recording"/*/counted.csv | wc -l) launches counted"
check "counters stand on 90% of the kernel time where 300 shapes come before the kernel that takes it" \
	at_most 0.9 "$share"
finish
