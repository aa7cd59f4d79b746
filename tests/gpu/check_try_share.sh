#!/usr/bin/env bash
# What part of the time that a change by hand saves rooflinectl try's strategies save in the unchanged variant: for each bundled
# workload that has a variant changed in that way.  It prints a table: docs/results/try-share.txt.
#
#   ROUNDS=N ONLY=REGEX tests/gpu/check_try_share.sh      workloads whose name matches; N rounds (5), a minute and a half
#
# Times are medians of rounds in which each variant runs once, in turn.  Where waits are left out a workload that measures
# itself sees the GPU's work no more; there all three are the library's, from the first launch to the end of the last wait,
# of the whole run: they contain what is made once, such as graphs, and the copies and checks between repeats.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
# shellcheck source=tests/gpu/tried.bash
. "$(dirname "${BASH_SOURCE[0]}")/tried.bash"

# shellcheck disable=SC2034 # tried() of tried.bash reads it
library=$BUILD/lib/librooflinetry.so
folder=$BUILD/lib/rooflinectl/workloads
rounds=${ROUNDS:-5}
least=80

# workload, what is tried, changed by hand, strategies; !: what the change by hand does besides, which no strategy does
pairs() {
	cat <<-'PAIRS'
		graph_chain no_sync graph graph
		graph_chain naive graph graph,fewer-waits
		graph_pipeline naive graph_wait graph
		graph_forkjoin naive graph_series graph
		graph_forkjoin streams graph graph
		graph_update stream set_params graph
		graph_update stream exec_update graph
		graph_memory malloc preallocated graph,pool ! it allocates outside of the loop, where cudaFree waits
		dependent_launch naive graph graph
		fuse_horizontal naive graph graph ! it has branches where the program has one stream
		fuse_horizontal streams graph graph
		fuse_horizontal streams_mixed graph_mixed graph
		concurrent_kernels streams graph graph
		copy_overlap naive pinned pinned
		copy_overlap streamed_pageable pinned pinned
	PAIRS
}

# variant_us OUTPUT VARIANT
variant_us() {
	awk -v name="$2" '$1 == name && $2 + 0 > 0 { print $2; exit }' "$1"
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# run_us NAME: as the library took it
run_us() { awk -v ns="$(count "$1" run_ns)" 'BEGIN { printf "%.2f\n", ns / 1000 }'; }

# take NAME STRATEGIES WORKLOAD VARIANT: a run more; its time, of an iteration or, by the library, of the run.  Without strategies: bare
take() {
	local name=$1 strategies=$2 run="timeout 10 $folder/$3 $4 --repeats 5"
	if [[ $by == library ]]; then
		rm -rf "$scratch/counts/$name"
		# shellcheck disable=SC2086 # several words
		if [ -n "$strategies" ]; then tried "$strategies" "$name" $run; else ROOFLINE_TRY_WATCH=1 tried "" "$name" $run; fi \
			>"$scratch/$name.out" 2>&1
		run_us "$name"
	else
		# shellcheck disable=SC2086
		if [ -n "$strategies" ]; then tried "$strategies" "$name" $run; else $run; fi >"$scratch/$name.out" 2>&1
		variant_us "$scratch/$name.out" "$4"
	fi
	grep -qE 'every result matches the scalar reference|: skipped: ' "$scratch/$name.out" || echo "$name" >>"$scratch/wrong"
}

# reached NAME: graphs and nodes, and the most frequent reasons why not more
reached() {
	printf '%s graphs of %s nodes, ' "$(count "$1" graph_launches)" "$(count "$1" graph_nodes)"
	cat "$scratch/counts/$1"/process.* 2>/dev/null | grep -E '^(passed|flush):' | sort -t, -k2 -nr | head -2 | tr ',\n' '= '
}

# row WORKLOAD VARIANT BY_HAND STRATEGIES REMARK: a line of the table
row() {
	local name=$1.$2.$3 round by=itself
	[[ $4 != *fewer-waits* ]] || by=library
	rm -f "$scratch"/us.*
	for ((round = 0; round < rounds; round++)); do
		take "$name.bare" "" "$1" "$2" >>"$scratch/us.bare"
		take "$name.hand" "" "$1" "$3" >>"$scratch/us.hand"
		take "$name.tried" "$4" "$1" "$2" >>"$scratch/us.tried"
	done
	awk -v bare="$(median <"$scratch/us.bare")" -v hand="$(median <"$scratch/us.hand")" -v with="$(median <"$scratch/us.tried")" \
		-v names="$1 $2" -v by_hand="$3" -v strategies="$4" -v by="$by" -v least="$least" -v reached="$(reached "$name.tried")" \
		-v remark="$5" 'BEGIN {
			if (!bare || !hand || !with) { printf "%-32s no time\n", names; exit }
			share = bare > 1.03 * hand ? sprintf("%.0f%%", 100 * (bare - with) / (bare - hand)) : "-"
			printf "%-32s %-14s %-18s %-8s %10.2f %10.2f %10.2f %6.2fx %6.2fx %6s  %s%s\n", names, by_hand, strategies, by, bare, hand,
				with, bare / hand, bare / with, share, reached, remark ? "; by hand " remark : ""
			if (share != "-" && share + 0 < least) { print names >"/dev/stderr" }
		}' 2>>"$scratch/below"
}

printf '%-32s %-14s %-18s %-8s %10s %10s %10s %7s %7s %6s  %s\n' "workload and variant" "by hand" strategies "timed by" bare_us hand_us \
	tried_us "by hand" tried share reached
while read -r workload variant by_hand strategies mark remark; do
	if [[ $workload =~ ${ONLY:-.} ]] && [ -x "$folder/$workload" ]; then
		row "$workload" "$variant" "$by_hand" "$strategies" "${mark:+$remark}"
	fi
done < <(pairs)
echo
echo "below $least% of what the change by hand saves: $(sort -u "$scratch/below" 2>/dev/null | paste -sd, | sed 's/,/, /g')"
check "every result is right" test ! -s "$scratch/wrong"
[ ! -s "$scratch/wrong" ] || shown "$scratch/wrong"
finish
