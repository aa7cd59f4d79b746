#!/usr/bin/env bash
# librooflinetry.so: programs that it launches graphs for give the same results, and launch-bound ones are faster.
# It prints a table of times as the programs print them.
#
#   ONLY=REGEX tests/gpu/check_try.sh     workloads whose name matches
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

library=$BUILD/lib/librooflinetry.so
folder=$BUILD/lib/rooflinectl/workloads
only=${ONLY:-.}
# What of a workload a graph may change; they run alone, for their times.
timed='^(graph_chain|graph_pipeline|graph_forkjoin|graph_manual|graph_update|graph_memory|graph_modes|dp_tiny|'
timed+='concurrent_kernels|copy_overlap|dependent_launch|fuse_elementwise|fuse_horizontal|two_stage|histogram)$'

# tried NAME COMMAND...: its counts are added up in $scratch/NAME.counts
tried() {
	local name=$1
	shift
	mkdir -p "$scratch/counts/$name"
	env ROOFLINE_TRY=graph ROOFLINE_TRY_OUTPUT="$scratch/counts/$name/process" LD_PRELOAD="$library" "$@"
}

# count NAME ROW
count() {
	cat "$scratch/counts/$1"/process.* 2>/dev/null | awk -F, -v row="$2" '$1 == row { sum += $2 } END { print sum + 0 }'
}

# reasons NAME: the two most frequent ones why launches were passed on, and what was flushed for most often
reasons() {
	cat "$scratch/counts/$1"/process.* 2>/dev/null | grep -E '^(passed|flush):' | sort -t, -k2 -nr | head -3 | tr ',\n' '= '
}

# variant_us OUTPUT VARIANT
variant_us() {
	awk -v name="$2" '$1 == name && $2 + 0 > 0 { print $2; exit }' "$1"
}

# best_other OUTPUT: 'us variant' of the fastest one that is not naive
best_other() {
	awk '/^variant/ { in_table = 1; next } !NF { if (rows) exit }
	     in_table && NF && $1 != "naive" && $2 + 0 > 0 { rows = 1; if (!best || $2 < best) { best = $2; name = $1 } }
	     in_table && NF { rows = 1 }
	     END { if (best) print best, name; else print "-", "-" }' "$1"
}

# is_right OUTPUT ERRORS CODE
is_right() {
	[ "$3" = 0 ] && grep -qE 'every result matches the scalar reference|: skipped: ' "$1" && return
	echo "#   exit code $3"
	shown "$1" "$2"
	return 1
}

# row NAME: one line of the table
row() {
	local other
	other=$(best_other "$scratch/$1.bare")
	printf '# %-20s %9s %9s %9s %-16s %8s %8s %7s %s\n' "$1" "$(variant_us "$scratch/$1.bare" naive)" \
		"$(variant_us "$scratch/$1.tried" naive)" "${other% *}" "${other#* }" "$(count "$1" launches_deferred)" \
		"$(count "$1" graph_launches)" "$(count "$1" stepped_aside)" "$(reasons "$1")"
}

# is_not_slower NAME: naive, by 5% at most
is_not_slower() {
	awk -v bare="$(variant_us "$scratch/$1.bare" naive)" -v with="$(variant_us "$scratch/$1.tried" naive)" \
		'BEGIN { if (with > bare * 1.05) { print "# " bare " us bare, " with " us tried"; exit 1 } }'
}

# is_much_faster NAME
is_much_faster() {
	awk -v bare="$(variant_us "$scratch/$1.bare" naive)" -v with="$(variant_us "$scratch/$1.tried" naive)" \
		'BEGIN { if (with * 1.3 > bare) { print "# " bare " us bare, " with " us tried"; exit 1 } }'
}

hangs=0 # where it makes programs wait for ever nobody shall wait for all of them
printf '# %-20s %9s %9s %9s %-16s %8s %8s %7s %s\n' workload bare_us tried_us by_hand variant put_off graphs aside \
	"passed on or flushed for"
for name in $(workload_names "$only" | grep -E "$timed"); do
	[ -x "$folder/$name" ] || continue
	[ "$hangs" -lt 2 ] || break
	timeout 12 "$folder/$name" --repeats 5 >"$scratch/$name.bare" 2>/dev/null
	tried "$name" timeout 8 "$folder/$name" naive --repeats 5 >"$scratch/$name.tried" 2>"$scratch/$name.tried.err"
	code=$?
	[ $code -ne 124 ] || hangs=$((hangs + 1))
	row "$name"
	check "$name: naive is right when its launches are put off" is_right "$scratch/$name.tried" "$scratch/$name.tried.err" $code
	check "$name: naive is no slower" is_not_slower "$name"
done
[[ graph_chain =~ $only ]] && check "graph_chain: naive is much faster" is_much_faster graph_chain

# ---- PyTorch ----
timeout 45 python3 tests/gpu/try_torch.py >"$scratch/torch.bare" 2>"$scratch/torch.bare.err"
tried torch timeout 45 python3 tests/gpu/try_torch.py >"$scratch/torch.tried" 2>"$scratch/torch.tried.err"
code=$?
if grep -q '^skipped' "$scratch/torch.bare"; then
	skip "PyTorch" "$(cat "$scratch/torch.bare")"
else
	check "PyTorch ends well" equal 0 $code
	shown "$scratch/torch.tried.err"
	while read -r name sum us; do
		read -r with_sum with_us < <(sed -n "s/^$name //p" "$scratch/torch.tried")
		echo "# PyTorch $name: $us us bare, $with_us us tried"
		check "PyTorch $name: the same bits" equal "$sum" "$with_sum"
	done <"$scratch/torch.bare"
	echo "# PyTorch: $(count torch launches_deferred) of $(count torch launches_seen) put off, $(reasons torch)"
fi

# ---- all workloads, all variants: right with launches put off, also where that does not pay ----
declare -A run_of
limit_s=30
for name in $(workload_names "$only" | grep -v '^pytorch$'); do
	[ -x "$folder/$name" ] || continue
	start env ROOFLINE_TRY=graph ROOFLINE_TRY_ALWAYS=1 LD_PRELOAD="$library" "$folder/$name" --repeats 1
	run_of[$name]=$run_count
done
wait
for name in "${!run_of[@]}"; do
	run=$scratch/${run_of[$name]}
	check "$name: all variants are right" is_right "$run.out" "$run.err" "$(cat "$run.code")"
done
finish
