#!/usr/bin/env bash
# compute-sanitizer's memcheck finds nothing in workloads and in programs made by chance that run with librooflinetry.so, and
# their results are right: no kernel gets other parameters than the program gave it, or memory that was given away.
#
#   SANITIZER=PATH JOBS=N tests/gpu/check_try_sanitizer.sh      N at a time; about a minute with 16 cores
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
# shellcheck source=tests/gpu/sanitizer.bash
. "$(dirname "${BASH_SOURCE[0]}")/sanitizer.bash"

library=$BUILD/lib/librooflinetry.so
folder=$BUILD/lib/rooflinectl/workloads
found_code=86 # of the tool, when it has found something
limit_s=${LIMIT_S:-50}
jobs=${JOBS:-$(nproc)}
all=graph,pool,fewer-waits,pinned
# Those in which the strategies reach something.
variants=("graph_chain naive" "graph_chain no_sync" "graph_pipeline naive" "graph_forkjoin streams" "graph_update stream"
	"graph_memory malloc" "graph_modes naive" "concurrent_kernels naive" "fuse_horizontal naive" "fuse_horizontal streams"
	"copy_overlap naive" "dependent_launch naive")

sanitizer=$(find_sanitizer)
if [ -z "$sanitizer" ]; then
	echo "1..0 # SKIP compute-sanitizer is not installed: it comes with the CUDA toolkit (SANITIZER names it)"
	exit 0
fi
echo "# $("$sanitizer" --version | grep -i '^version')"

# sanitize STRATEGIES COMMAND...: starts it under the tool, with the library; where the tool does not pass LD_PRELOAD on, behind it
outside=(LD_PRELOAD="$library") inside=()
sanitize() {
	local strategies=$1
	shift
	start env ROOFLINE_TRY="$strategies" ROOFLINE_TRY_ALWAYS=1 ROOFLINE_TRY_OUTPUT="$scratch/counts.$((run_count + 1))" \
		"${outside[@]}" "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode $found_code \
		--target-processes all --port $((49152 + 20 * run_count % 16000)) "${inside[@]}" "$@"
}

# reached RUN: what the library changed in all
reached() {
	cat "$scratch/counts.$1".* 2>/dev/null | awk -F, '$1 ~ /^(launches_deferred|memory_deferred|allocations_reused|waits_left_out|copies_staged|copies_registered)$/ {
		sum += $2 } END { print sum + 0 }'
}

# is_found RUN
is_found() {
	[ "$(cat "$scratch/$1.code")" = $found_code ] && return
	echo "#   exit code $(cat "$scratch/$1.code")"
	shown "$scratch/$1.out" "$scratch/$1.err"
	return 1
}

# is_clean RUN: nothing was found, and the library had something to do
is_clean() {
	[ "$(cat "$scratch/$1.code")" = 0 ] && [ "$(reached "$1")" -gt 0 ] && return
	echo "#   exit code $(cat "$scratch/$1.code") ($found_code: the tool found something, 124: not done within $limit_s s), changed: $(reached "$1")"
	shown "$scratch/$1.out" "$scratch/$1.err"
	return 1
}

is_right() { is_clean "$1" && grep -q 'every result matches the scalar reference$' "$scratch/$1.out"; }

# prints_as BARE RUN: but for what the tool prints
prints_as() {
	is_clean "$2" || return
	grep -v '^=========' "$scratch/$2.out" >"$scratch/$2.told"
	cmp -s "$scratch/$1.out" "$scratch/$2.told" && return
	diff "$scratch/$1.out" "$scratch/$2.told" | head -n 6 | sed 's/^/#   /'
	return 1
}

# A tool that finds nothing where something is planted says nothing by finding nothing elsewhere: also of a launch that was put off.
sanitize graph "$programs/planted_errors" bounds
wait
if ! cat "$scratch/counts.$run_count".* 2>/dev/null | grep -q '^launches_seen,1$'; then
	outside=() inside=(env LD_PRELOAD="$library")
	sanitize graph "$programs/planted_errors" bounds
fi
planted=$run_count
declare -A seed_of bare_of variant_of
for seed in 2 3 5 6; do
	threads=$((seed % 3 ? 1 : 2))
	start "$programs/random_streams" --seed $seed --steps 40 --threads $threads --pinned $((seed % 2))
	bare=$run_count
	for strategies in graph $all; do
		sanitize "$strategies" "$programs/random_streams" --seed $seed --steps 40 --threads $threads --pinned $((seed % 2))
		bare_of[$run_count]=$bare
		seed_of[$run_count]="$seed with $strategies"
	done
done
for variant in "${variants[@]}"; do
	# shellcheck disable=SC2086 # a workload and its variant
	sanitize $all "$folder/"$variant --size 3001 --iterations 6 --repeats 3
	variant_of[$run_count]=$variant
done
for way in forms renewed; do
	start "$programs/copy_forms" $way
	bare=$run_count
	sanitize pinned "$programs/copy_forms" $way
	bare_of[$run_count]=$bare
	seed_of[$run_count]="copy_forms $way with pinned"
done
wait
check "memcheck finds a planted write out of bounds of a program with the library" is_found $planted
for run in "${!seed_of[@]}"; do
	check "random program ${seed_of[$run]}: memcheck finds nothing, and it prints the same" prints_as "${bare_of[$run]}" "$run"
done
for run in "${!variant_of[@]}"; do
	check "${variant_of[$run]} with $all: memcheck finds nothing, and it is right" is_right "$run"
done
finish
