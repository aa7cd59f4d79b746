#!/usr/bin/env bash
# Every kernel of large runs is in the recording, with valid times, and memory stays flat.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# complete SENTENCE COMMAND...: as many rows as the program says it ran kernels, none invalid or lost
complete() {
	local sentence=$1 wanted
	shift
	record "$@" >"$scratch/out"
	wanted=$(awk '$1 == "kernels" { print $2 }' "$scratch/out")
	check "$sentence: $wanted kernels recorded" equal "$wanted" "$(rows kernels)"
	check "$sentence: every one has valid times" equal 0 "$(invalid_kernels)"
	check "$sentence: nothing is lost" equal "" "$(lost)"
}

complete "1,000,000 launches from one thread" "$programs/many_launches" --launches 1000000
complete "64 threads of 10,000 launches" "$programs/many_launches" --threads 64 --launches 10000
complete "a graph of 20 nodes launched 10,000 times" "$programs/graph_nodes" --launches 10000
complete "27 million graph nodes in one run" "$programs/graph_nodes" --total-nodes 27000000

# peak_kb COMMAND...: the largest resident set of the program while it runs, sampled
peak_kb() {
	record "$@" >"$scratch/out" &
	local kb peak=0 pid=$!
	while kill -0 $pid 2>/dev/null; do
		kb=$(cat /proc/[0-9]*/status 2>/dev/null |
			awk '/^Name:/ { mine = $2 == "graph_nodes" } mine && /^VmHWM:/ { if ($2 > m) m = $2 } END { print m + 0 }')
		[ "$kb" -gt "$peak" ] && peak=$kb
		sleep 0.2
	done
	wait $pid
	echo "$peak"
}
few=$(peak_kb "$programs/graph_nodes" --total-nodes 2000000)
many=$(peak_kb "$programs/graph_nodes" --total-nodes 27000000)
echo "# largest resident set: $few kB with 2 million nodes, $many kB with 27 million"
check "memory stays flat: 13 times the records need at most 32 MB more" at_most 32768 $((many - few))
finish
