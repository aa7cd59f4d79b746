#!/usr/bin/env bash
# The collector beside programs with their own CUPTI, and spans that are not recorded.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# ---- off outside of what was asked for ----

# value NAME FILE
value() {
	awk -v name="$1" '$1 == name { print $2 }' "$2"
}

# of_kernel NAME: rows of kernels.csv whose kernel has that in its name
of_kernel() {
	awk -F, -v wanted="$1" 'FNR == 1 { file++; next }
		file == 1 && index($2, wanted) { name[$1] = 1 }
		file == 2 && name[$2] { signature[$1] = 1 }
		file == 3 && signature[$3] { print }' "$recording"/*/{names,signatures,kernels}.csv
}

"$programs/switching" >"$scratch/bare"
rm -rf "$recording"
timeout -k 5 120 "$BUILD/bin/rooflinectl" record -o "$recording" --profiler-api -- "$programs/switching" >"$scratch/with" 2>"$scratch/complaints"
check "a program with five spans ends as ever" equal 0 $?
check "no complaint" equal "" "$(grep rooflinecollector "$scratch/complaints")"
for name in in_graph still_running; do
	check "all kernels $name of five spans are recorded, also those that run when one ends" \
		equal "$(value $name "$scratch/with")" "$(of_kernel $name | wc -l)"
done
check "kernels outside are not" equal 0 "$(of_kernel outside | wc -l)"
head -1 "$recording"/*/kernels.csv | sed 's/^/# /'
orphans=$(awk -F, 'NR == FNR { for (i = 1; i <= NF; i++) if (FNR == 1) at[$i] = i; call[$at["correlation"]] = 1; next }
	FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	!call[$column["correlation"]] { missing++ } END { print missing + 0 }' "$recording"/*/api.csv "$recording"/*/kernels.csv)
check "each kernel, also of graphs and after recording was on again, has the call that launched it" equal 0 "$orphans"
echo "# a launch outside takes $(value outside_ns "$scratch/with") ns, alone $(value outside_ns "$scratch/bare") ns"

# ---- ranges with registered strings ----

rm -rf "$recording"
timeout -k 5 120 "$BUILD/bin/rooflinectl" record -o "$recording" --sample=10us --sample-metrics=front --sample-range='^registered name$' -- \
	"$programs/nvtx_ranges" --steps 2000 >/dev/null 2>"$scratch/complaints"
check "--sample-range samples ranges with a string that was registered before CUDA" equal "" "$(grep 'no NVTX range' "$scratch/complaints")"
check "and there are samples" test "$(rows sampled_spans)" -gt 0

# ---- programs with their own CUPTI ----

for first in 0 1; do
	record timeout -k 5 60 "$programs/own_activity" --first $first >"$scratch/out" 2>"$scratch/complaints"
	check "a program that uses the Activity API itself (first $first) ends as ever" equal 0 $?
	check "and counts right" equal 2 "$(grep -cx 'counted 1' "$scratch/out")"
	echo "# first $first: $(paste -sd' ' "$scratch/complaints"); losses: $(lost)"
	[ $first = 1 ] || taken=$(lost | grep -o taken_buffers)
done
check "records that went to somebody else are told" equal taken_buffers "$taken"
record "$programs/endings" return >"$scratch/out" 2>"$scratch/complaints"
check "a program without its own has no such loss" equal "" "$(lost | grep -o 'taken_buffers\|foreign_buffers')"

python=${PYTHON:-python3}
if "$python" -c 'import torch' 2>/dev/null; then
	rm -rf "$recording"
	timeout -k 5 120 "$BUILD/bin/rooflinectl" record -o "$recording" --yield -- "$python" tests/gpu/torch_profiler.py \
		>"$scratch/out" 2>"$scratch/complaints"
	check "--yield: PyTorch's profiler sees kernels" test "$(value kernels "$scratch/out")" -gt 0
	check "--yield: the recording says that it was left out" equal "yielded 1" "$(lost | grep -o 'yielded 1')"
	check "--yield: nothing is said" equal "" "$(grep rooflinecollector "$scratch/complaints")"
	rm -rf "$recording"
	timeout -k 5 120 "$BUILD/bin/rooflinectl" record -o "$recording" -- "$python" tests/gpu/torch_profiler.py \
		>"$scratch/out" 2>"$scratch/complaints"
	check "without --yield the program ends as ever" equal 0 $?
	echo "# without --yield PyTorch's profiler saw $(value kernels "$scratch/out") kernels; we $(rows kernels)"
else
	skip "--yield: PyTorch's profiler sees kernels" "no PyTorch"
fi
finish
