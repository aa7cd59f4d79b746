#!/usr/bin/env bash
# librooflinetry.so: programs made by chance, of several streams, events of both kinds, threads and a kernel that waits for the
# host, print the same with every strategy.
#
#   SEEDS="1 2 3" STRATEGIES="graph pool" tests/gpu/check_try_streams.sh      about 20 seconds
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

library=$BUILD/lib/librooflinetry.so
program=$programs/random_streams
read -ra seeds <<<"${SEEDS:-$(seq -s ' ' 1 12)}"
# at-once: graph with events that are not put off, which tells whose fault it is where something differs
read -ra all_strategies <<<"${STRATEGIES:-graph graph,fewer-waits fewer-waits graph,pool,fewer-waits,pinned at-once}"
limit_s=20

# options SEED: every third one has threads, every third one a kernel that waits for the host; both have page-locked memory, the others none
options() {
	case $(($1 % 3)) in
	0) echo "--seed $1 --steps 150 --threads 3 --pinned 1" ;;
	1) echo "--seed $1 --steps 200 --spin 1 --pinned 1" ;;
	*) echo "--seed $1 --steps 300" ;;
	esac
}

# reached RUN ROW
reached() { cat "$scratch/counts.$1".* 2>/dev/null | awk -F, -v row="$2" '$1 == row { sum += $2 } END { print sum + 0 }'; }

# is_same RUN OTHER
is_same() {
	[ "$(cat "$scratch/$1.code")" = 0 ] && [ "$(cat "$scratch/$2.code")" = 0 ] && [ -s "$scratch/$1.out" ] &&
		cmp -s "$scratch/$1.out" "$scratch/$2.out" && return
	echo "#   exit codes $(cat "$scratch/$1.code") and $(cat "$scratch/$2.code")"
	diff "$scratch/$1.out" "$scratch/$2.out" | head -n 6 | sed 's/^/#   /'
	shown "$scratch/$1.err" "$scratch/$2.err"
	return 1
}

declare -A bare_of again_of tried_of
for seed in "${seeds[@]}"; do
	# shellcheck disable=SC2046 # options are several words
	start "$program" $(options "$seed")
	bare_of[$seed]=$run_count
	# shellcheck disable=SC2046
	start "$program" $(options "$seed")
	again_of[$seed]=$run_count
	for strategies in "${all_strategies[@]}"; do
		way=(ROOFLINE_TRY="$strategies")
		[ "$strategies" != at-once ] || way=(ROOFLINE_TRY=graph ROOFLINE_TRY_EVENTS_AT_ONCE=1)
		# shellcheck disable=SC2046
		start env "${way[@]}" ROOFLINE_TRY_ALWAYS=1 ROOFLINE_TRY_OUTPUT="$scratch/counts.$((run_count + 1))" \
			LD_PRELOAD="$library" "$program" $(options "$seed")
		tried_of["$strategies:$seed"]=$run_count
	done
done
wait
for seed in "${seeds[@]}"; do
	check "seed $seed: two bare runs print the same" is_same "${bare_of[$seed]}" "${again_of[$seed]}"
	for strategies in "${all_strategies[@]}"; do
		run=${tried_of["$strategies:$seed"]}
		check "seed $seed: prints the same with $strategies" is_same "${bare_of[$seed]}" "$run"
		echo "# seed $seed with $strategies: $(reached "$run" launches_deferred) of $(reached "$run" launches_seen) launches and" \
			"$(reached "$run" events_deferred) events put off, $(reached "$run" graph_launches) graphs," \
			"$(reached "$run" waits_left_out) waits left out"
	done
	grep '^spun' "$scratch/${bare_of[$seed]}.out" | sort | uniq -c | sed "s/^/# seed $seed, kernels that waited for the host:/"
done
finish
