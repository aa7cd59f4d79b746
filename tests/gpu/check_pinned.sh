#!/usr/bin/env bash
# librooflinetry.so with --pinned: copies of every form bring what they should, also of memory that goes between them, bundled workloads are right, and copy_overlap gains
# nearly what pinned memory in its source brings; and --check-memory compares what memory of the GPU contained.
# About a minute and a half.  It prints a table of times as the programs print them.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
# shellcheck source=tests/gpu/tried.bash
. "$(dirname "${BASH_SOURCE[0]}")/tried.bash"

library=$BUILD/lib/librooflinetry.so
folder=$BUILD/lib/rooflinectl/workloads
all=graph,pool,fewer-waits,pinned

# reasons NAME: why copies were passed on
reasons() {
	cat "$scratch/counts/$1"/process.* 2>/dev/null | grep '^passed:' | sort -t, -k2 -nr | head -4 | tr ',\n' '= '
}

# ---- times: alone, in turn ----

# variant_us OUTPUT VARIANT
variant_us() {
	awk -v name="$2" '$1 == name && $2 + 0 > 0 { print $2; exit }' "$1"
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# take_times WORKLOAD VARIANT: three runs of each side, into $bare_us and $tried_us
take_times() {
	local round name=$1.$2
	rm -f "$scratch"/us.*
	for round in 1 2 3; do
		timeout 20 "$folder/$1" "$2" --repeats 5 >"$scratch/$name.bare" 2>/dev/null
		variant_us "$scratch/$name.bare" "$2" >>"$scratch/us.bare"
		tried pinned "$name.$round" timeout 20 "$folder/$1" "$2" --repeats 5 >"$scratch/$name.tried" 2>"$scratch/$name.err"
		variant_us "$scratch/$name.tried" "$2" >>"$scratch/us.tried"
	done
	bare_us=$(median <"$scratch/us.bare")
	tried_us=$(median <"$scratch/us.tried")
}

is_right() {
	grep -qE 'every result matches the scalar reference|: skipped: ' "$1" && return
	shown "$1" "$2"
	return 1
}

# is_no_slower: 5% are noise of programs this short
is_no_slower() { awk -v bare="$bare_us" -v with="$tried_us" 'BEGIN { exit !(with && 0.95 * with <= bare) }'; }

# gains LEAST NAIVE TRIED BY_HAND: the part of the time that the change by hand saves
gains() {
	awk -v least="$1" -v naive="$2" -v with="$3" -v hand="$4" 'BEGIN {
		saved = 100 * (naive - with) / (naive - hand)
		printf "# by hand %.2fx, tried %.2fx: %.0f%% of the time that pinned memory by hand saves\n", naive / hand, naive / with, saved
		exit !(saved >= least) }'
}

declare -A bare_of tried_of
printf '# %-34s %9s %9s %6s %8s %10s %8s %6s %s\n' "workload and variant" bare_us tried_us gain seen registered staged aside "passed on"
for variant in naive pinned streamed streamed_pageable; do
	take_times copy_overlap $variant
	bare_of[$variant]=$bare_us tried_of[$variant]=$tried_us
	run=copy_overlap.$variant.3
	printf '# %-34s %9s %9s %6s %8s %10s %8s %6s %s\n' "copy_overlap $variant" "$bare_us" "$tried_us" \
		"$(awk -v bare="$bare_us" -v with="$tried_us" 'BEGIN { if (with > 0) printf "%.2fx", bare / with }')" \
		"$(count "$run" copies_seen)" "$(count "$run" copies_registered)" "$(count "$run" copies_staged)" "$(count "$run" stepped_aside)" "$(reasons "$run")"
	check "copy_overlap $variant: right with pinned" is_right "$scratch/copy_overlap.$variant.tried" "$scratch/copy_overlap.$variant.err"
	check "copy_overlap $variant: no slower with pinned" is_no_slower
done
check "copy_overlap naive gains 80% of what pinned memory by hand does" \
	gains 80 "${bare_of[naive]}" "${tried_of[naive]}" "${bare_of[pinned]}"

# ---- each form of a copy, kinds of memory, what is refused and bad, threads, resets ----

# is_same RUN OTHER: what they printed, and the exit codes, which must be 0
is_same() {
	[ "$(cat "$2.code")" = 0 ] && cmp -s "$1.out" "$2.out" && return
	echo "#   exit codes $(cat "$1.code") and $(cat "$2.code")"
	shown "$1.out" "$2.out" "$2.err"
	return 1
}

limit_s=60
declare -A run_of
for way in forms threads memory refused bad reset renewed; do
	start "$programs/copy_forms" "$way"
	run_of["bare:$way"]=$run_count
	for strategies in pinned $all; do
		mkdir -p "$scratch/counts/$strategies.$way"
		start env ROOFLINE_TRY="$strategies" ROOFLINE_TRY_ALWAYS=1 ROOFLINE_TRY_OUTPUT="$scratch/counts/$strategies.$way/process" \
			LD_PRELOAD="$library" "$programs/copy_forms" "$way"
		run_of["$strategies:$way"]=$run_count
	done
	start env ROOFLINE_TRY=pinned LD_PRELOAD="$library" "$programs/copy_forms" "$way"
	run_of["pinned, stepping aside:$way"]=$run_count
	start env ROOFLINE_TRY=pinned ROOFLINE_TRY_ALWAYS=1 ROOFLINE_TRY_UNWATCHED=1 LD_PRELOAD="$library" "$programs/copy_forms" "$way"
	run_of["pinned, nothing registered:$way"]=$run_count
done
wait
for way in forms threads memory refused bad reset renewed; do
	for strategies in pinned $all "pinned, stepping aside" "pinned, nothing registered"; do
		check "copy_forms $way: the same with $strategies" is_same "$scratch/${run_of["bare:$way"]}" "$scratch/${run_of["$strategies:$way"]}"
	done
	sed "s/^/# copy_forms $way, bare: /" "$scratch/${run_of["bare:$way"]}.out" | head -30
	echo "# copy_forms $way with pinned: $(count pinned.$way copies_registered) registered and $(count pinned.$way copies_staged) staged of $(count pinned.$way copies_seen) copies, $(count pinned.$way ranges_registered) times registered, $(count pinned.$way ranges_released) released, $(reasons pinned.$way)"
done
# Ten forms there with ten back, of three sizes that are large enough; and ten of the largest.
check "copy_forms forms: every form goes through pinned memory" equal 620 $(($(count pinned.forms copies_staged) + $(count pinned.forms copies_registered)))
check "copy_forms renewed: memory that goes is registered again and again" test "$(count pinned.renewed ranges_registered)" -ge 100
check "copy_forms forms: all that is brought is right" equal "right 8388608 100" "$(grep '^right 8388608 ' "$scratch/${run_of["pinned:forms"]}.out")"

# ---- all workloads, all variants ----
limit_s=30
declare -A workload_of
for name in $(workload_names . | grep -v '^pytorch$'); do
	[ -x "$folder/$name" ] || continue
	start env ROOFLINE_TRY=pinned ROOFLINE_TRY_ALWAYS=1 LD_PRELOAD="$library" "$folder/$name" --repeats 1
	workload_of[$name]=$run_count
done
wait
for name in "${!workload_of[@]}"; do
	run=$scratch/${workload_of[$name]}
	check "$name: all variants are right with pinned" is_right "$run.out" "$run.err"
done

# ---- memory of the GPU is compared ----

# memory_match STRATEGIES COMMAND...: what try --check-memory says of it
memory_match() {
	local options=() strategy
	for strategy in ${1//,/ }; do options+=("--$strategy"); done
	shift
	"$BUILD/bin/rooflinectl" try "${options[@]}" --check-memory --ignore-output --warmup 0 -r 1 --quiet -f json -- "$@" >"$scratch/try.json" 2>"$scratch/try.err" ||
		shown "$scratch/try.err" >&2
	python3 -c 'import json, sys
for c in json.load(open(sys.argv[1]))["compared"]:
    if c["name"] == "device memory":
        print(c["match"], "lines" if c["line_count"] else "nothing", *([c["varying_count"]] if c["varying_count"] else []))' "$scratch/try.json"
}
check "copy_overlap naive: memory of the GPU is equal with pinned" equal "equal lines" "$(memory_match pinned "$folder/copy_overlap" naive --repeats 1)"
check "graph_chain no_sync: memory of the GPU is equal with all strategies" equal "equal lines" \
	"$(memory_match $all "$folder/graph_chain" no_sync --repeats 1)"
# Its kernels note where they find temporaries, in one allocation, and another holds the address of that: in these bare runs may differ.
is_equal_but_for_addresses() {
	case $1 in "equal lines" | "agrees lines "[12]) return ;; esac
	echo "# wanted 'equal lines', or that bare runs differ in one or two, got '$1'"
	return 1
}
check "graph_memory malloc: memory of the GPU is equal with graph and pool" is_equal_but_for_addresses \
	"$(memory_match graph,pool "$folder/graph_memory" malloc --repeats 1)"
finish
