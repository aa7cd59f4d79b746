#!/usr/bin/env bash
# How many blocks of a kernel fit on an SM: the report's own arithmetic against CUDA's occupancy calculator, for
# kernels that registers, shared memory, warps or the number of blocks limit.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

tool=$BUILD/bin/rooflinectl

recorded() {
	"$tool" record -o "$recording" -- "$programs/occupancy" >"$scratch/cuda.csv" 2>"$scratch/complaints" &&
		"$tool" report --format json "$recording" >"$scratch/report.json" 2>>"$scratch/complaints"
}

# compared COLUMN: of every kernel that CUDA tells, the report says the same
compared() {
	python3 - "$scratch/cuda.csv" "$scratch/report.json" "$1" <<'PYTHON'
import csv, json, sys
kernels = json.load(open(sys.argv[2]))["kernels"]
column, wrong, count = sys.argv[3], 0, 0
for row in csv.DictReader(open(sys.argv[1])):
    own = [kernel for kernel in kernels if row["kernel"] + "(" in kernel["name"]]
    said = None
    if len(own) == 1:
        said = own[0]["block"][0] if column == "block" else own[0][column]
    count += 1
    wanted = int(row[column])
    if column == "registers":  # CUPTI tells at least 16
        wanted = max(wanted, 16)
    if said != wanted:
        wrong += 1
        print(f"# {row['kernel']}: CUDA says {row[column]} {column}, the report {said}; "
              f"{row['registers']} registers, {row['static_shared_bytes']} + {row['dynamic_shared_bytes']} bytes")
print(f"# {count - wrong} of {count} agree in {column}")
sys.exit(wrong > 0 or count < 12)
PYTHON
}

# limits: what limits the kernels, each once
limits() {
	python3 -c 'import json, sys
print(", ".join(sorted({str(kernel["occupancy_limit"]) for kernel in json.load(sys.stdin)["kernels"]})))' \
		<"$scratch/report.json"
}

check "kernels of many shapes are recorded and reported" recorded
sed 's/^/# /' "$scratch/complaints"
for column in registers static_shared_bytes dynamic_shared_bytes block; do
	check "the report has the $column that CUDA has" compared "$column"
done
check "as many blocks of each fit on an SM as CUDA says" compared blocks_per_sm
check "all four limits are among them" equal "blocks, registers, shared memory, warps" "$(limits)"
finish
