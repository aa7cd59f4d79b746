#!/usr/bin/env bats
# What NCCL was asked for: the payloads of its NVTX ranges.
load common

setup() {
	setup_driver
	export ROOFLINE_FLUSH_MS=20
}

# table NAME: its rows without the header, the time and the thread
table() {
	tail -q -n +2 "$(tables "$1")" | cut -d, -f3-
}

@test "each function of NCCL has its bytes, its communicator, root or peer, and what it reduces by" {
	export MOCK_NVTX_CALLS="$PWD/marks"
	record cuda nccl_domain nccl:5,q66,q1048576,d0 nccl:4,q66,q4096 nccl:6,q66,q512,d3 nccl:7,q66,q256,d2 \
		nccl:8,q66,q128,d1,d4 nccl:9,q66,q64,d1 nccl:10,q66,q32,d0 nccl:16,q66,q16 nccl:17,q66,q8,d7 nccl:18,q66,q4,d6
	warned 0
	readable
	diff <(table collectives) - <<-'END'
		AllReduce,66,1048576,4294967295,0
		AllGather,66,4096,4294967295,4294967295
		Broadcast,66,512,3,4294967295
		ReduceScatter,66,256,4294967295,2
		Reduce,66,128,1,4
		Send,66,64,1,4294967295
		Recv,66,32,0,4294967295
		AlltoAll,66,16,4294967295,4294967295
		Gather,66,8,7,4294967295
		Scatter,66,4,6,4294967295
	END
	equal "ranges that CUPTI gets" 10 "$(grep -c '^push$' marks)"
}

@test "NCCL before 2.25 tells no communicator: its payloads are as much shorter" {
	record cuda nccl_domain nccl:0,d1,d4,d2 nccl:5,q1048576,d0 nccl:4,q4096 nccl:6,q512,d3 nccl:8,q128,d1,d4 nccl:9,q64,d1
	diff <(table collectives) - <<-'END'
		AllReduce,0,1048576,4294967295,0
		AllGather,0,4096,4294967295,4294967295
		Broadcast,0,512,3,4294967295
		Reduce,0,128,1,4
		Send,0,64,1,4294967295
	END
	diff <(table communicators) - <<-'END'
		0,1,4,2
	END
}

@test "a communicator's ranks are told when the range is popped, by a function that CUPTI has no callback of" {
	"$app" nccl_pop:0,q1,d1,d0,d0 || skip "built without NVTX's header for payloads"
	record cuda nccl_domain nccl_pop:0,q66,d4,d1,d2 nccl_pop:1,q67,d8 nccl_pop:13,q68,q66,d2,d0,d2,d1,d0
	warned 0
	readable
	diff <(table communicators) - <<-'END'
		66,1,4,2
		67,4294967295,8,4294967295
		68,0,2,2
	END
}

@test "a range that is popped with a payload ends, which CUPTI has no function for; those of others stay as they are" {
	"$app" nccl_pop:0,q1,d1,d0,d0 || skip "built without NVTX's header for payloads"
	export MOCK_NVTX_CALLS="$PWD/marks"
	record cuda nvtx:first nccl_pop:0,q66,d4,d1,d2 nvtx:then nccl_domain nccl_pop:0,q66,d4,d1,d2
	equal marks "mark first mark then pop" "$(xargs <marks)"
	rm marks
	ROOFLINE_NVTX=0 record cuda nvtx:first nccl_domain nccl_pop:0,q66,d4,d1,d2
	[ ! -e marks ]
}

@test "payloads of other domains, of unknown schemas and that are too short are no collectives" {
	record cuda nccl:5,q66,q1048576,d0 nccl_domain:OTHER nccl:5,q66,q1048576,d0 nccl_domain nccl:3,q66,d1 nccl:99,q66,q1 \
		nccl:5 nccl:23,q1 nccl:0,d1
	readable
	equal rows 0 "$(rows collectives)"
	equal rows 0 "$(rows communicators)"
}

@test "ROOFLINE_NVTX=0: no payload is read" {
	ROOFLINE_NVTX=0 record cuda nccl_domain nccl:5,q66,q1048576,d0
	equal rows 0 "$(rows collectives)"
}

@test "a collective outside of the window has no row; the communicator was there before, and has" {
	ROOFLINE_PROFILER_API=1 record cuda nccl_domain nccl:0,q66,d4,d1,d2 nccl:5,q66,q8,d0 profiler:start nccl:5,q66,q16,d0 \
		profiler:stop nccl:5,q66,q32,d0
	diff <(table collectives) - <<-'END'
		AllReduce,66,16,4294967295,0
	END
	equal rows 1 "$(rows communicators)"
}

@test "what was asked for is there, and up to when nothing more was, when a signal ends a program that waits for it" {
	record cuda nccl_domain nccl:0,q66,d2,d1,d0 nccl:5,q66,q1048576,d0 sleep_ms:300 signal:15
	equal collectives AllReduce,66,1048576,4294967295,0 "$(table collectives)"
	asked=$(tail -n 1 "$(tables collectives)" | cut -d, -f1)
	heard=$(tail -n 1 "$(tables clocks)" | cut -d, -f1)
	[ $((heard - asked)) -gt 100000000 ]
	[ -z "$(sed -n 's/^sealed_ns,//p' "$(tables process)")" ]
}
