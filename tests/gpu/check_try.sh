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
# Those in which a graph may change something run alone, for their times.
timed='^(graph_chain|graph_pipeline|graph_forkjoin|graph_manual|graph_update|graph_memory|dp_tiny|concurrent_kernels|'
timed+='copy_overlap|dependent_launch|fuse_elementwise|fuse_horizontal)$'

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

# variants OUTPUT: those that have a time
variants() {
	awk '/^variant/ { in_table = 1; next } in_table && !NF { exit } in_table && $2 + 0 > 0 { print $1 }' "$1"
}

# is_right OUTPUT ERRORS CODE
is_right() {
	[ "$3" = 0 ] && grep -qE 'every result matches the scalar reference|: skipped: ' "$1" && return
	echo "#   exit code $3"
	shown "$1" "$2"
	return 1
}

# row NAME VARIANT: one line of the table
row() {
	local run=$1.$2 bare with
	bare=$(variant_us "$scratch/$1.bare" "$2")
	with=$(variant_us "$scratch/$run.tried" "$2")
	printf '# %-32s %9s %9s %6s %8s %8s %6s %s\n' "$1 $2" "$bare" "$with" \
		"$(awk -v bare="$bare" -v with="$with" 'BEGIN { if (with > 0) printf "%.2fx", bare / with }')" \
		"$(count "$run" launches_deferred)" "$(count "$run" graph_launches)" "$(count "$run" stepped_aside)" \
		"$(reasons "$run")"
}

# is_faster NAME VARIANT TIMES: at least so many times as fast as bare
is_faster() {
	awk -v bare="$(variant_us "$scratch/$1.bare" "$2")" -v with="$(variant_us "$scratch/$1.$2.tried" "$2")" -v times="$3" \
		'BEGIN { if (!with || with * times > bare) { print "# " bare " us bare, " with " us tried"; exit 1 } }'
}

# try_variant NAME VARIANT: each in a process of its own, because the library steps aside for a whole process
try_variant() {
	local run=$1.$2 code
	tried "$run" timeout 8 "$folder/$1" "$2" --repeats 5 >"$scratch/$run.tried" 2>"$scratch/$run.tried.err"
	code=$?
	[ $code -ne 124 ] || hangs=$((hangs + 1))
	row "$1" "$2"
	check "$1 $2: right when its launches are put off" is_right "$scratch/$run.tried" "$scratch/$run.tried.err" $code
	check "$1 $2: no slower" is_faster "$1" "$2" 0.95
}

hangs=0 # where it makes programs wait for ever nobody shall wait for all of them
printf '# %-32s %9s %9s %6s %8s %8s %6s %s\n' "workload and variant" bare_us tried_us gain put_off graphs aside \
	"passed on or flushed for"
for name in $(workload_names "$only" | grep -E "$timed"); do
	[ -x "$folder/$name" ] || continue
	timeout 12 "$folder/$name" --repeats 5 >"$scratch/$name.bare" 2>/dev/null
	for variant in $(variants "$scratch/$name.bare"); do
		[ "$hangs" -ge 2 ] || try_variant "$name" "$variant"
	done
done
# Its kernels follow each other without a wait: what a graph is for.  naive waits after each kernel.
[[ graph_chain =~ $only ]] && check "graph_chain no_sync: much faster" is_faster graph_chain no_sync 1.5

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

# ---- programs that are awkward: the driver API alone, threads, shared cudart, a kernel that waits for the host, forks ----
awkward() {
	printf '%s\n' driver_api "many_launches --launches 20000 --threads 4" "many_launches_shared --launches 20000" \
		"mixed_launches --launches 20000" streams waits_for_host managed "graph_nodes --launches 200"
	printf 'fork_exec %s\n' fork-first fork-exit fork-_exit exec-self exec-true replace daemonize
}

# is_same RUN OTHER: what they printed but for times, and the exit codes, which must be 0
is_same() {
	grep -v '_ns\|ns_' "$1.out" >"$1.told"
	grep -v '_ns\|ns_' "$2.out" >"$2.told"
	[ "$(cat "$2.code")" = 0 ] && cmp -s "$1.told" "$2.told" && return
	echo "#   exit codes $(cat "$1.code") and $(cat "$2.code")"
	shown "$1.told" "$2.told" "$2.err"
	return 1
}

limit_s=20
declare -A bare_of tried_of
while read -r program options; do
	[ -x "$programs/$program" ] || continue
	# shellcheck disable=SC2086 # options are several words
	start "$programs/$program" $options
	bare_of[$program $options]=$run_count
	# shellcheck disable=SC2086
	start env ROOFLINE_TRY=graph ROOFLINE_TRY_ALWAYS=1 LD_PRELOAD="$library" "$programs/$program" $options
	tried_of[$program $options]=$run_count
done < <(awkward)
wait
for name in "${!bare_of[@]}"; do
	check "$name: prints the same" is_same "$scratch/${bare_of[$name]}" "$scratch/${tried_of[$name]}"
	grep -h 'ns_per' "$scratch/${bare_of[$name]}.out" "$scratch/${tried_of[$name]}.out" | tr '\n' ' ' | sed "s/^/# $name: /; s/$/\n/"
done

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
