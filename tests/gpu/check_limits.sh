#!/usr/bin/env bash
# --kernels, --delay, --duration and the profiler API limit what is recorded, and the report says so.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# limited OPTION...: rooflinectl record with these on windows, whose phases are 1.5 s apart
limited() {
	rm -rf "$recording"
	"$BUILD/bin/rooflinectl" record -o "$recording" "$@" -- "$programs/windows" --pause-ms 1500 \
		>"$scratch/out" 2>"$scratch/complaints"
}

# kernels: how many rows each kernel name has, as "name count name count"
kernels() {
	"$BUILD/bin/rooflinectl" report "$recording" --format csv --section kernels |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			{ gsub(/[()"]/, "", $column["name"]); print $column["name"], $column["count"] }' |
		sort | paste -sd' '
}

limited
check "without limits everything is recorded" \
	equal "after_kernel 100 before_kernel 100 marked_kernel 100" "$(kernels)"
limited --kernels '^mark'
check "--kernels keeps the kernels whose name matches" equal "marked_kernel 100" "$(kernels)"
check "--kernels counts what it left out" equal "filtered_kernels 200 " "$(lost)"
limited --profiler-api
check "--profiler-api keeps what lies between cudaProfilerStart and Stop" \
	equal "marked_kernel 100" "$(kernels)"
limited --delay 1
check "--delay leaves out what came before" equal "after_kernel 100 marked_kernel 100" "$(kernels)"
limited --duration 1
check "--duration leaves out what came later" equal "before_kernel 100" "$(kernels)"
limited --delay 1 --duration 1.5
check "--delay and --duration together keep a window" equal "marked_kernel 100" "$(kernels)"
"$BUILD/bin/rooflinectl" report "$recording" >"$scratch/report"
check "the report says that the recording was limited" grep -qiE 'left out|limited|only part' "$scratch/report"
finish
