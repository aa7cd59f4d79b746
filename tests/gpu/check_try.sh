#!/usr/bin/env bash
# librooflinetry.so: programs that it launches graphs for give the same results, and launch-bound ones are faster.
# It prints a table of times as the programs print them.
#
#   ONLY=REGEX tests/gpu/check_try.sh              workloads whose name matches
#   STRATEGIES="graph pool" tests/gpu/check_try.sh   only these; several at once are joined by commas
# Copies through pinned memory have a check of their own, check_pinned.sh; STRATEGIES=pinned runs PyTorch with them.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
# shellcheck source=tests/gpu/tried.bash
. "$(dirname "${BASH_SOURCE[0]}")/tried.bash"

library=$BUILD/lib/librooflinetry.so
folder=$BUILD/lib/rooflinectl/workloads
only=${ONLY:-.}
all_strategies=${STRATEGIES:-graph pool graph,pool fewer-waits graph,pool,fewer-waits}
# Those in which a graph may change something run alone, for their times.
timed='^(graph_chain|graph_pipeline|graph_forkjoin|graph_manual|graph_update|graph_memory|dp_tiny|concurrent_kernels|'
timed+='copy_overlap|dependent_launch|fuse_elementwise|fuse_horizontal)$'
# And those that allocate in their loops.
timed_pool='^(graph_memory|graph_modes)$'
# And those that wait after each kernel, or each iteration.
timed_waits='^(graph_chain|graph_pipeline|graph_forkjoin|graph_manual|graph_update|graph_memory|fuse_horizontal)$'

# timed_for STRATEGIES: a regular expression of workloads
timed_for() {
	case $1 in
	graph) echo "$timed" ;;
	*fewer-waits*) echo "$timed_waits" ;;
	*pinned*) echo '^copy_overlap$' ;;
	*) echo "$timed_pool" ;;
	esac
}

# reasons NAME: waits that were left out, the two most frequent reasons why calls were passed on, and what was flushed for most often
reasons() {
	[ "$(count "$1" waits_seen)" -eq 0 ] || printf 'waits=%s/%s ' "$(count "$1" waits_left_out)" "$(count "$1" waits_seen)"
	cat "$scratch/counts/$1"/process.* 2>/dev/null | grep -E '^(passed|flush):' | sort -t, -k2 -nr | head -3 | tr ',\n' '= '
}

# variant_us OUTPUT VARIANT
variant_us() {
	awk -v name="$2" '$1 == name && $2 + 0 > 0 { print $2; exit }' "$1"
}

# Without its waits a program that measures itself sees the GPU's work no more.  There the library's times count: from the
# first launch to the end of the last wait, of the whole run.
is_timed_by_library() { [[ $1 == *fewer-waits* ]]; }

# watched NAME COMMAND...: without a strategy, with those times
watched() {
	local name=$1
	shift
	mkdir -p "$scratch/counts/$name"
	env ROOFLINE_TRY_WATCH=1 ROOFLINE_TRY_OUTPUT="$scratch/counts/$name/process" LD_PRELOAD="$library" "$@"
}

# run_us NAME: as the library took it
run_us() { awk -v ns="$(count "$1" run_ns)" 'BEGIN { printf "%.2f\n", ns / 1000 }'; }

# bare_us NAME VARIANT STRATEGIES
bare_us() {
	if is_timed_by_library "$3"; then run_us "$1.$2.watched"; else variant_us "$scratch/$1.bare" "$2"; fi
}

# tried_us NAME VARIANT STRATEGIES
tried_us() {
	if is_timed_by_library "$3"; then run_us "$1.$2.$3"; else variant_us "$scratch/$1.$2.$3.tried" "$2"; fi
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

# row NAME VARIANT STRATEGIES: one line of the table
row() {
	local run=$1.$2.$3 bare with
	bare=$(bare_us "$1" "$2" "$3")
	with=$(tried_us "$1" "$2" "$3")
	printf '# %-38s %9s %9s %6s %8s %8s %8s %6s %s\n' "$1 $2" "$bare" "$with" \
		"$(awk -v bare="$bare" -v with="$with" 'BEGIN { if (with > 0) printf "%.2fx", bare / with }')" \
		"$(count "$run" launches_deferred)" "$(count "$run" graph_launches)" "$(count "$run" allocations_reused)" \
		"$(count "$run" stepped_aside)" \
		"$(reasons "$run")"
}

# is_faster NAME VARIANT STRATEGIES TIMES: at least so many times as fast as bare
is_faster() {
	awk -v bare="$(bare_us "$1" "$2" "$3")" -v with="$(tried_us "$1" "$2" "$3")" -v times="$4" \
		'BEGIN { if (!with || with * times > bare) { print "# " bare " us bare, " with " us tried"; exit 1 } }'
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# round_us NAME VARIANT STRATEGIES SIDE N: a run more
round_us() {
	local output=$scratch/round.$5 run=round.$1.$2.$3.$4.$5 command=(timeout 8 "$folder/$1" "$2" --repeats 5)
	if [ "$4" = tried ]; then
		tried "$3" "$run" "${command[@]}"
	elif is_timed_by_library "$3"; then
		watched "$run" "${command[@]}"
	else
		"${command[@]}"
	fi >"$output" 2>/dev/null
	if is_timed_by_library "$3"; then run_us "$run"; else variant_us "$output" "$2"; fi
}

# is_no_slower NAME VARIANT STRATEGIES: where one run was slower, which short programs are now and then, seven in turn decide
is_no_slower() {
	local round bare with
	is_timed_by_library "$3" && [ "$(bare_us "$1" "$2" "$3")" = 0.00 ] && return # it launches graphs alone
	is_faster "$1" "$2" "$3" 0.95 >/dev/null && return
	rm -f "$scratch"/us.*
	for round in 1 2 3 4 5 6 7; do
		round_us "$1" "$2" "$3" bare "$round" >>"$scratch/us.bare"
		round_us "$1" "$2" "$3" tried "$round" >>"$scratch/us.tried"
	done
	bare=$(median <"$scratch/us.bare")
	with=$(median <"$scratch/us.tried")
	echo "# $1 $2 with $3, medians of seven runs in turn: $bare us bare, $with us tried"
	awk -v bare="$bare" -v with="$with" 'BEGIN { exit !(with && 0.95 * with <= bare) }'
}

# try_variant NAME VARIANT STRATEGIES: each in a process of its own, because the library steps aside for a whole process
try_variant() {
	local run=$1.$2.$3 code
	tried "$3" "$run" timeout 8 "$folder/$1" "$2" --repeats 5 >"$scratch/$run.tried" 2>"$scratch/$run.tried.err"
	code=$?
	[ $code -ne 124 ] || hangs=$((hangs + 1))
	if is_timed_by_library "$3" && [ ! -d "$scratch/counts/$1.$2.watched" ]; then
		watched "$1.$2.watched" timeout 8 "$folder/$1" "$2" --repeats 5 >/dev/null 2>&1
	fi
	row "$1" "$2" "$3"
	check "$1 $2: right with $3" is_right "$scratch/$run.tried" "$scratch/$run.tried.err" $code
	check "$1 $2: no slower with $3" is_no_slower "$1" "$2" "$3"
}

hangs=0 # where it makes programs wait for ever nobody shall wait for all of them
for strategies in $all_strategies; do
	printf '# %-38s %9s %9s %6s %8s %8s %8s %6s %s\n' "$strategies: workload and variant" bare_us tried_us gain put_off \
		graphs reused aside "passed on or flushed for"
	for name in $(workload_names "$only" | grep -E "$(timed_for "$strategies")"); do
		[ -x "$folder/$name" ] || continue
		[ -e "$scratch/$name.bare" ] || timeout 12 "$folder/$name" --repeats 5 >"$scratch/$name.bare" 2>/dev/null
		for variant in $(variants "$scratch/$name.bare"); do
			[ "$hangs" -ge 2 ] || try_variant "$name" "$variant" "$strategies"
		done
	done
done
# Its kernels follow each other without a wait: what a graph is for.  naive waits after each kernel.
[[ graph_chain =~ $only ]] && [[ " $all_strategies " == *" graph "* ]] &&
	check "graph_chain no_sync: much faster" is_faster graph_chain no_sync graph 1.5
# It allocates and frees in each iteration.
[[ graph_memory =~ $only ]] && [[ " $all_strategies " == *" pool "* ]] &&
	check "graph_memory malloc: faster" is_faster graph_memory malloc pool 1.1
# It waits after each kernel, and the host reads nothing until the end.
[[ graph_chain =~ $only ]] && [[ " $all_strategies " == *" fewer-waits "* ]] &&
	check "graph_chain naive: faster without its waits" is_faster graph_chain naive fewer-waits 1.3

# ---- PyTorch ----
timeout 45 python3 tests/gpu/try_torch.py >"$scratch/torch.bare" 2>"$scratch/torch.bare.err"

# try_torch STRATEGIES
try_torch() {
	local code run=torch.$1 name sum us with_sum with_us
	tried "$1" "$run" timeout 45 python3 tests/gpu/try_torch.py >"$scratch/$run.tried" 2>"$scratch/$run.tried.err"
	code=$?
	check "PyTorch ends well with $1" equal 0 $code
	shown "$scratch/$run.tried.err"
	while read -r name sum us; do
		read -r with_sum with_us < <(sed -n "s/^$name //p" "$scratch/$run.tried")
		echo "# PyTorch $name: $us us bare, $with_us us with $1"
		check "PyTorch $name: the same bits with $1" equal "$sum" "$with_sum"
	done <"$scratch/torch.bare"
	echo "# PyTorch with $1: $(count "$run" launches_deferred) of $(count "$run" launches_seen) launches put off," \
		"$(count "$run" allocations_reused) of $(count "$run" allocations_seen) allocations reused, $(reasons "$run")"
}

if grep -q '^skipped' "$scratch/torch.bare"; then
	skip "PyTorch" "$(cat "$scratch/torch.bare")"
else
	for strategies in $all_strategies; do try_torch "$strategies"; done
fi

# ---- programs that are awkward: the driver API alone, threads, shared cudart, a kernel that waits for the host, forks ----
awkward() {
	printf '%s\n' driver_api "many_launches --launches 20000 --threads 4" "many_launches_shared --launches 20000" \
		"mixed_launches --launches 20000" streams waits_for_host managed "graph_nodes --launches 200"
	printf 'few_waits %s\n' device event pinned registered managed
	echo few_waits_prints
	printf 'fork_exec %s\n' fork-first fork-exit fork-_exit exec-self exec-true replace daemonize
	echo allocations
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

# alone PROGRAM: once the others have ended, where it asks how much memory there is
alone() { [ "$1" != allocations ] || wait; }

limit_s=20
declare -A bare_of tried_of
while read -r program options; do
	[ -x "$programs/$program" ] || continue
	alone "$program"
	# shellcheck disable=SC2086 # options are several words
	start "$programs/$program" $options
	bare_of["$program $options"]=$run_count
	for strategies in $all_strategies; do
		alone "$program"
		# shellcheck disable=SC2086
		start env ROOFLINE_TRY="$strategies" ROOFLINE_TRY_ALWAYS=1 LD_PRELOAD="$library" "$programs/$program" $options
		tried_of["$strategies:$program $options"]=$run_count
	done
done < <(awkward)
wait
for key in "${!tried_of[@]}"; do
	strategies=${key%%:*} name=${key#*:}
	check "$name: prints the same with $strategies" is_same "$scratch/${bare_of[$name]}" "$scratch/${tried_of[$key]}"
	grep -h 'ns_per' "$scratch/${bare_of[$name]}.out" "$scratch/${tried_of[$key]}.out" | tr '\n' ' ' |
		sed "s/^/# $name, bare and with $strategies: /; s/$/\n/"
done

# ---- all workloads, all variants: right with each strategy, also where that does not pay ----
declare -A run_of
limit_s=30
for strategies in $all_strategies; do
	for name in $(workload_names "$only" | grep -v '^pytorch$'); do
		[ -x "$folder/$name" ] || continue
		start env ROOFLINE_TRY="$strategies" ROOFLINE_TRY_ALWAYS=1 LD_PRELOAD="$library" "$folder/$name" --repeats 1
		run_of["$strategies:$name"]=$run_count
	done
done
wait
for key in "${!run_of[@]}"; do
	run=$scratch/${run_of[$key]}
	check "${key#*:}: all variants are right with ${key%%:*}" is_right "$run.out" "$run.err" "$(cat "$run.code")"
done
finish
