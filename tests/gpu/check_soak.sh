#!/usr/bin/env bash
# A long recording, whole: LAUNCHES kernels (40 million) launched as fast as the host can, then NODES nodes (25 million) of graphs,
# with all calls 105 million records. Memory of the program stays flat, each record is there or counted as lost, and
# rooflinectl reports on it. It takes six minutes and 12 GB in TMPDIR.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"
launches=${LAUNCHES:-40000000}
nodes=${NODES:-25000000}
every_s=${EVERY_S:-2} # how often memory is looked at
warm_s=${WARM_S:-10}  # after which it may not grow
rooflinectl=$BUILD/bin/rooflinectl

# watch NAME: resident kB of the program of this name, each time, into $scratch/NAME.kb, until it has gone; with
# $scratch/over it is not waited for
watch() {
	local process
	until process=$(pgrep -nx "$1"); do
		[ ! -e "$scratch/over" ] || return
		sleep 0.05
	done
	sleep "$warm_s"
	while awk '/^VmRSS/ { print $2 }' "/proc/$process/status" 2>/dev/null; do sleep "$every_s"; done >"$scratch/$1.kb"
}

# grown_kb NAME: from the first look to the greatest; where nobody looked, more than any limit
grown_kb() {
	awk 'NR == 1 { first = $1 } $1 > most { most = $1 } END { printf "%d", NR ? most - first : 2 ^ 40 }' "$scratch/$1.kb"
}

# most_kb COMMAND...: what it takes at most; its output goes to $scratch/report
most_kb() {
	python3 - "$scratch/report" "$@" <<-'END'
		import resource, subprocess, sys
		code = subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w")).returncode
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if code == 0 else -1)
	END
}

rm -rf "$recording"
watch many_launches &
watch graph_nodes &
begin=$EPOCHREALTIME
"$rooflinectl" record -o "$recording" -- sh -c \
	"'$programs/many_launches' --launches $launches && '$programs/graph_nodes' --total-nodes $nodes" >"$scratch/out" 2>"$scratch/err"
check "both programs end well" equal 0 $?
touch "$scratch/over"
wait
sed -n 's/^ns_per/# ns_per/p' "$scratch/out"
read -r kernels calls <<<"$(rows kernels) $(rows api)"
awk -v begin="$begin" -v end="$EPOCHREALTIME" -v rows=$((kernels + calls)) -v kb="$(du -sk "$recording" | cut -f1)" 'BEGIN {
	printf "# %d records in %.0f s, %.1f GB\n", rows, end - begin, kb / 1e6 }'
check "the memory of the program that launches grows by 32 MB at most" at_most 32768 "$(grown_kb many_launches)"
check "that of the program with graphs, too" at_most 32768 "$(grown_kb graph_nodes)"
echo "# losses: $(lost)"
launched=$(awk '$1 == "kernels" { sum += $2 } END { print sum }' "$scratch/out")
lost_kernels=$(lost | tr ' ' '\n' | paste - - | awk '$1 !~ /api/ { sum += $2 } END { print sum + 0 }')
check "each of $launched kernels has its row, or is counted as lost" equal "$launched" $((kernels + lost_kernels))
check "no row is cut off or reversed" equal 0 "$(invalid_kernels)"

begin=$EPOCHREALTIME
kb=$(most_kb "$rooflinectl" report "$recording")
awk -v begin="$begin" -v end="$EPOCHREALTIME" -v kb="$kb" -v rows="$kernels" 'BEGIN {
	printf "# report with all advice: %.1f s, %.0f MB; of a million kernels %.2f s, %.0f MB\n", end - begin, kb / 1e3,
		(end - begin) / rows * 1e6, kb / 1e3 / rows * 1e6 }'
check "report reads it" test "$kb" -gt 0
check "it counts them all" equal "$kernels" "$("$rooflinectl" report "$recording" --section kernels --format json |
	python3 -c 'import json, sys; print(sum(kernel["count"] for kernel in json.load(sys.stdin)["kernels"]))')"
sed -n '1,12s/^/# /p' "$scratch/report"
finish
