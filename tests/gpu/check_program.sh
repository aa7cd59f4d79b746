#!/usr/bin/env bash
# What callbacks and records of memory bring home: events, allocations, graphs' structure, calls made seldom; also beside
# counters and --profiler-api; and what they cost.
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

# table NAME COLUMN...: those columns of its rows
table() {
	awk -F, -v wanted="${*:2}" '
		FNR == 1 { count = split(wanted, names, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ line = ""; for (i = 1; i <= count; i++) line = line (i > 1 ? " " : "") $at[names[i]]; print line }' \
		"$recording"/*/"$1".csv
}

# calls: names of the calls that are recorded
calls() {
	cut -d, -f2 "$recording"/*/names.csv
}

small=("$programs/program_calls" --rounds 10 --calls 0 --graph-nodes 10 --allocations 10)
record "${small[@]}" >"$scratch/out" 2>"$scratch/complaints"
check "the program ends well" equal 0 $?
sed 's/^/# /' "$scratch/out" "$scratch/complaints"
check "10 events are recorded, waited for by a stream, and the last by the host" equal "1:10 2:1 3:10" \
	"$(table event_calls kind | grep -v 4 | sort | uniq -c | awk '{ print $2 ":" $1 }' | xargs)"
check "all of one event" equal 1 "$(table event_calls kind event | awk '$1 != 4 { print $2 }' | sort -u | wc -l)"
# The kernels of the first stream are those behind which events were recorded.
streams_of_kernels=$(table kernels stream graph | awk '$2 == 0 { print $1 }' | awk '!seen[$1]++' | xargs)
check "records are in the stream of the first kernels, waits in that of the second" equal "$streams_of_kernels" \
	"$(table event_calls kind stream | awk '$1 == 1 || $1 == 3 { print $2 }' | awk '!seen[$1]++' | xargs)"
table event_calls kind stream event correlation | head -4 | sed 's/^/# event call: /'
check "each event call belongs to a call that is recorded" equal 0 "$(comm -23 \
	<(table event_calls correlation | sort -u) <(table api correlation | sort -u) | wc -l)"

for name in cudaStreamCreate cudaEventCreate cudaFuncSetAttribute cudaGraphCreate cudaGraphAdd cudaGraphDestroy \
	cudaEventDestroy cudaStreamDestroy; do
	check "$name is recorded" grep -q "^$name" <(calls)
done
cut -d, -f2 "$recording"/*/names.csv | grep '^cu' | sort | xargs | fold -sw 120 | sed 's/^/# calls: /'

table graph_nodes node graph kind original | sed 's/^/# node: /' | head -24
table graph_edges node dependency | sed 's/^/# edge: /' | head -40
check "the nodes that ran are clones of those that were added" equal 10 "$(awk 'NR == FNR { original[$1] = $2; next }
	original[$1] { print original[$1] }' <(table graph_nodes node original) \
	<(table kernels graph_node | awk '$1') | sort -u | wc -l)"
# 8 edges from the first, 8 to the last
check "its edges are a fork and a join" equal "8 8" "$(table graph_edges node dependency | sort -u | awk '
	{ from[$1]++; to[$2]++ }
	END { for (n in from) if (from[n] == 8) a = 8; for (n in to) if (to[n] == 8) b = 8; print a, b }')"

check "memory that is allocated and freed is recorded" equal "10 9" "$(table allocations operation memory bytes is_async |
	awk '$3 == 1048576 && !$4 { count[$1]++ } END { print count[1], count[2] }')"
check "also in the order of a stream, with its pool" equal 2 "$(table allocations is_async pool bytes |
	awk '$1 && $2 && $3 == 1048576' | wc -l)"
table allocations operation memory address bytes is_async pool stream correlation | tail -5 | sed 's/^/# allocation: /'

for mode in ROOFLINE_COUNTERS=roofline,atomics ROOFLINE_SAMPLE=10us ROOFLINE_PROFILER_API=1 ROOFLINE_GRAPHS=graph; do
	export "${mode?}"
	record "${small[@]}" >"$scratch/out" 2>"$scratch/complaints"
	check "with $mode the program ends well" equal 0 $?
	check "and nothing is complained of" equal "" "$(cat "$scratch/complaints")"
	unset "${mode%%=*}"
	[ "${mode%%=*}" != ROOFLINE_COUNTERS ] || check "and counters are read" [ "$(rows counters)" -gt 0 ]
	[ "${mode%%=*}" != ROOFLINE_GRAPHS ] || check "and the graph's structure is known" equal 10 "$(table graph_nodes original | awk '$1' | sort -u | wc -l)"
done

# What it costs, in turn: bare, without these, with them.
large=("$programs/program_calls" --rounds 10 --calls 100000 --graph-nodes 2000 --allocations 2000)
for round in 1 2 3 4 5; do
	"${large[@]}" | sed "s/^/bare /"
	ROOFLINE_EVENTS=0 ROOFLINE_ALLOCATIONS=0 record "${large[@]}" | sed "s/^/without /"
	record "${large[@]}" | sed "s/^/with /"
done >"$scratch/costs"
for name in record_ns wait_ns synchronize_ns graph_ns_per_node allocation_ns; do
	echo "# $name: $(for way in bare without with; do
		printf '%s %s, ' $way "$(awk -v way=$way -v name=$name '$1 == way && $2 == name { print $3 }' "$scratch/costs" |
			sort -n | sed -n 3p)"
	done)"
done
lost | sed 's/^/# lost: /'
finish
