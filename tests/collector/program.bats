#!/usr/bin/env bats
# What callbacks bring beside CUPTI's records: events, calls that are made seldom, the structure of graphs.
load common

# table NAME COLUMN...: those columns of its rows
table() {
	awk -F, -v wanted="${*:2}" '
		NR == 1 { count = split(wanted, names, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ line = ""; for (i = 1; i <= count; i++) line = line (i > 1 ? " " : "") $at[names[i]]; print line }' \
		"$(tables "$1")"
}

@test "of each record and wait: which event and which stream" {
	record cuda event:record event:wait event:synchronize event:stream event:per_thread
	warned 0
	readable
	diff <(table event_calls kind event stream) - <<-'END'
		1 5 7
		3 5 7
		2 5 4294967295
		4 0 7
		1 5 1007
	END
	equal correlations 5 "$(table event_calls correlation | sort -u | wc -l)"
}

@test "a call that failed has recorded nothing" {
	record cuda event:refused event:record
	equal rows 1 "$(rows event_calls)"
}

@test "ROOFLINE_EVENTS=0: no callback for events" {
	ROOFLINE_EVENTS=0 record cuda event:record event:wait
	equal rows 0 "$(rows event_calls)"
}

@test "a call that CUPTI's records leave out has its time, thread and result" {
	record cuda create_streams:2 kernels:1
	warned 0
	readable
	equal calls 2 "$(rows api)"
	grep -q cudaStreamCreate "$(tables names)"
	table api start_ns end_ns thread result | while read -r start end thread result; do
		[ $((end - start)) -ge 3000000 ]
		[ "$thread" -gt 0 ]
		equal result 0 "$result"
	done
}

@test "ROOFLINE_API=none: those calls are left out too" {
	ROOFLINE_API=none record cuda create_streams:2 kernels:1
	equal calls 0 "$(rows api)"
}

@test "the structure of a graph: nodes, edges, and of which node each that runs is a clone" {
	record cuda graph:3
	warned 0
	readable
	diff <(table graph_nodes node graph original) - <<-'END'
		1 1 0
		2 1 0
		3 1 0
		1001 2 1
		1002 2 2
		1003 2 3
	END
	diff <(table graph_edges node dependency) - <<-'END'
		2 1
		3 2
	END
}

@test "100,000 nodes at once: what has no room is counted" {
	record cuda graph:100000
	readable
	equal 'written and lost' 299999 $(($(rows graph_nodes) + $(rows graph_edges) + $(loss unwritten_rows)))
}

@test "threads that make calls while others exit lose no row" {
	ROOFLINE_FLUSH_MS=10 record cuda create_streams:20 event:record exit:3
	sealed
	equal calls 20 "$(rows api)"
	equal 'event calls' 1 "$(rows event_calls)"
}

@test "ROOFLINE_ALLOCATIONS=0: memory is not recorded" {
	ROOFLINE_ALLOCATIONS=0 record cuda enabled:11 kernels:1
	warned 0
}
