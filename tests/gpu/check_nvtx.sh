#!/usr/bin/env bash
# NVTX before and after CUDA starts: each range is recorded from the first call on, and children that are forked during that call
# do not hang.
#
#   RUNS=N tests/gpu/check_nvtx.sh     50 of each storm when not given
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
runs=${RUNS:-50}
limit_s=10

# value NAME: what the program printed of it
value() {
	awk -v name="$1" '$1 == name { print $2 }' "$scratch/out"
}

# nvtx_ranges makes a domain and registers a string before CUDA starts.
record "$programs/nvtx_ranges" --steps 1000 >"$scratch/out" 2>"$scratch/complaints"
check "a program whose first NVTX call comes before CUDA ends well" equal 0 $?
check "nothing is complained of" equal "" "$(cat "$scratch/complaints")"
check "each range has its begin and its end, each mark is there" equal \
	$(($(value ranges) * 2 + $(value marks) + $(value unended))) "$(rows markers)"
check "also by the string that was registered in its first calls, and in the domain" equal 2 \
	"$(grep -chE '^[0-9]+,"?(registered name|trial)"?$' "$recording"/*/names.csv)"
check "nothing is lost" equal "" "$(lost | xargs)"
lost | sed 's/^/# lost: /'

for ((run = 0; run < runs; run++)); do # the call begins somewhere in the first 3 ms
	start env LD_PRELOAD="$collector" ROOFLINE_OUTPUT="$recording" "$programs/nvtx_race" --delay-us $((run * 3000 / runs)) --forks 10
done
wait
first=1 last=$run_count hung=() bad=0
for ((run = first; run <= last; run++)); do
	[ "$(cat "$scratch/$run.code")" = 0 ] || hung+=("$(((run - first) * 3000 / runs))")
	[ "$(paste -sd' ' "$scratch/$run.out")" = "children 10 counted 1" ] || bad=$((bad + 1))
done
echo "# of $runs programs that fork during their first NVTX call ${#hung[@]} hung, $bad did not end as ever; those with a delay of: ${hung[*]} us"
check "at most one in twenty, which is NVTX's own (docs/collector.md)" at_most $((runs / 20)) "${#hung[@]}"
finish
