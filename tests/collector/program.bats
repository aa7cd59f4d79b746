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

@test "memory that is allocated: address, bytes, kind, pool and stream of each form of call" {
	record cuda allocate:linear allocate:pitched allocate:managed allocate:pinned allocate:registered allocate:in_stream \
		allocate:per_thread allocate:in_pool allocate:array allocate:deep allocate:mipmap
	warned 0
	readable
	diff <(table allocations operation memory address bytes is_async pool device context stream) - <<-'END'
		1 3 4096 1000 0 0 0 1 4294967295
		1 3 4096 1536 0 0 0 1 4294967295
		1 5 4096 4000 0 0 0 1 4294967295
		1 2 8192 2000 0 0 0 1 4294967295
		1 2 8192 3000 0 0 0 1 4294967295
		1 3 4096 5000 1 0 0 1 7
		1 3 4096 5000 1 0 0 1 1007
		1 3 4096 6000 1 153 0 1 7
		1 4 12288 160 0 0 0 1 4294967295
		1 4 12288 256 0 0 0 1 4294967295
		1 4 16384 288 0 0 0 1 4294967295
	END
	equal correlations 11 "$(table allocations correlation | sort -u | wc -l)"
}

@test "memory that is freed has the time at which the call began" {
	record cuda allocate:linear allocate:freed allocate:in_pool allocate:freed_in_stream
	readable
	diff <(table allocations operation memory address bytes is_async stream) - <<-'END'
		1 3 4096 1000 0 4294967295
		2 3 4096 0 0 4294967295
		1 3 4096 6000 1 7
		2 3 4096 0 1 7
	END
	table allocations time_ns | sort -n -c
}

@test "a call that failed has allocated nothing, and freeing nothing frees nothing" {
	record cuda allocate:refused allocate:freed_null allocate:linear
	equal rows 1 "$(rows allocations)"
}

@test "no record of memory is asked of CUPTI, whose library may crash with them" {
	MOCK_CALLS=$BATS_TEST_TMPDIR/calls MOCK_REFUSED_KINDS=49,50 record cuda allocate:linear
	warned 0
	equal rows 1 "$(rows allocations)"
}

@test "static variables of a module count as memory of its GPU" {
	command -v nvcc >/dev/null || skip "needs nvcc"
	echo '__device__ float values[1000]; __managed__ int managed; __global__ void k() { values[0] = managed; }' >static.cu
	nvcc -cubin -arch=sm_90 -o static.cubin static.cu
	record cuda module:static.cubin kernels:1
	readable
	diff <(table allocations operation memory address bytes device | sort -k 2n) - <<-'END'
		1 6 0 4000 0
		1 7 0 4 0
	END
}

@test "ROOFLINE_ALLOCATIONS=0: memory is not recorded" {
	ROOFLINE_ALLOCATIONS=0 record cuda allocate:linear enabled:10 kernels:1
	equal rows 0 "$(rows allocations)"
	warned 0
}
