#!/usr/bin/env bash
# What the collector brings home beside records: machine code, local memory, clocks and power; that the workloads' PTX runs; and what reading code costs.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
workloads=$BUILD/lib/rooflinectl/workloads

# quick WORKLOAD VARIANT: recorded, a few iterations of it
quick() {
	record "$workloads/$1" "$2" --iterations 3 --repeats 1 >"$scratch/out" 2>&1 || sed 's/^/# /' "$scratch/out"
}

# column NAME TABLE: its values, over all processes
column() {
	awk -F, -v column="$1" 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next } { print $at }' \
		"$recording"/*/"$2".csv
}

# total COLUMN: of machine_code
total() {
	column "$1" machine_code | awk '{ sum += $1 } END { print sum + 0 }'
}

above() {
	[ "$2" -gt "$1" ] || { echo "# more than $1, got $2"; return 1; }
}

# kernels_without_code: kernels that ran and have no row of machine_code
kernels_without_code() {
	comm -23 <(column name signatures | sort -u) <(column name machine_code | sort -u) | wc -l
}

quick memory_bound naive
check "every kernel that ran has its machine code" equal 0 "$(kernels_without_code)"
check "it is that of this GPU" equal "$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d .)" \
	"$(column sm machine_code | sort -u)"
check "a kernel in single precision has no arithmetic in half" equal 0 "$(total half_arithmetic_count)"
quick histogram naive
check "neither has a histogram" equal 0 "$(total half_arithmetic_count)"
quick compute_bound fp16
check "chains of FP16 have" above 50 "$(total half_arithmetic_count)"
quick dependent_launch dependent
check "kernels made for dependent launch are known" above 0 "$(total dependency_wait_count)"

# local_bytes: of the kernel that spills
local_bytes() {
	column local_bytes_per_thread signatures | sort -n | tail -1
}
record "$programs/pitfalls" register_spills --iterations 5 >/dev/null 2>&1
traced=$(local_bytes)
ROOFLINE_COUNTERS=sm record "$programs/pitfalls" register_spills --iterations 5 >/dev/null 2>&1
check "local memory of a kernel that spills is known from a plain trace" above 0 "$traced"
check "and is what the driver says when it is asked at the launch" equal "$(local_bytes)" "$traced"

if find / -xdev -name libnvidia-ml.so.1 2>/dev/null | grep -q .; then
	ROOFLINE_POWER=1 record "$programs/long_kernels" --launches 20000 >/dev/null 2>"$scratch/complaints"
	sed 's/^/# /' "$scratch/complaints"
	check "clocks and power are read" above 3 "$(rows power)"
	check "the power is that of a GPU at work, in milliwatts" above 50000 "$(column power_mw power | sort -n | tail -1)"
	check "and its clock" above 500 "$(column sm_clock_mhz power | sort -n | tail -1)"
	"$BUILD/bin/rooflinectl" report "$recording" --section power | sed 's/^/# /'
else
	skip "clocks and power are read" "no libnvidia-ml.so.1"
fi

check "a workload's PTX runs where no machine code fits" env CUDA_FORCE_PTX_JIT=1 CUDA_CACHE_DISABLE=1 \
	"$workloads/histogram" naive --iterations 2 --repeats 1
check "one whose kernels launch others cannot, and says what it lacks" grep -q "skipped: built without machine code" \
	<(env CUDA_FORCE_PTX_JIT=1 CUDA_CACHE_DISABLE=1 "$workloads/dynamic_parallelism" device --iterations 2 --repeats 1 2>&1)

# What it costs is told, not judged: a program's start-up, bare, with the collector, and with --power.
milliseconds() {
	local start_ns
	start_ns=$(date +%s%N)
	"$@" >/dev/null 2>&1
	echo $((($(date +%s%N) - start_ns) / 1000000))
}
for variant in "memory_bound naive" "compute_bound gemm_bf16"; do # of one kernel's code, and of a large library's
	run=("$workloads/${variant% *}" "${variant#* }" --iterations 3 --repeats 1)
	for round in 1 2 3; do
		echo "# $variant, round $round: bare $(milliseconds "${run[@]}") ms, traced $(milliseconds record "${run[@]}") ms," \
			"with --power $(ROOFLINE_POWER=1 milliseconds record "${run[@]}") ms," \
			"$(rows machine_code) kernels' code"
	done
done
finish
