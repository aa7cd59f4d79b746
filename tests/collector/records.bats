#!/usr/bin/env bats
# What becomes of CUPTI's records, good and bad.
load common

# Here 150,000 names arrive within a minute: a machine that is busy with other tests may be too late once.
setup_file() {
	export BATS_TEST_RETRIES=2
}

@test "every kind of record becomes a row of its table" {
	export ROOFLINE_SYNCS=1 ROOFLINE_GRAPHS=graph
	record cuda every_kind:3
	warned 0
	readable
	sealed
	equal kernels 3 "$(rows kernels)"
	equal copies 2 "$(rows copies)"
	equal api 2 "$(rows api)"
	equal markers 2 "$(rows markers)"
	equal graphs 2 "$(rows graphs)"
	for table in devices contexts streams memsets syncs overheads jit threads signatures; do
		equal "$table" 1 "$(rows $table)"
	done
	equal losses 0 "$(rows losses)"
	each_name_known
	grep -q ',cudaLaunchKernel_v7000$' "$(tables names)"
	grep -q ',cuLaunchKernel$' "$(tables names)"
	grep -q '"phase ""one"", two"' "$(tables names)"
}

@test "copies keep their memory kinds, their size and both devices" {
	record cuda every_kind
	grep -qE '^[0-9]+,[0-9]+,1,1,3,4096,1,0,0,7,' "$(tables copies)"
	grep -qE ',10,0,0,8192,0,.*,2,3,1$' "$(tables copies)"
}

@test "buffers that are handed back half full and full lose nothing" {
	export ROOFLINE_FLUSH_MS=10
	record cuda kernels:7 sleep_ms:60 kernels:30000 sleep_ms:40 kernels:11
	warned 0
	readable
	equal kernels 30018 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
}

@test "64 threads at once lose nothing, and each launch is there once" {
	record cuda threads:64
	warned 0
	readable
	equal kernels 64000 "$(rows kernels)"
	equal correlations 64000 "$(tail -n +2 "$(tables kernels)" | cut -d, -f7 | sort -u | wc -l)"
}

@test "refused buffers are counted, with the records that CUPTI dropped for want of one" {
	export ROOFLINE_BUFFER_LIMIT_MB=1
	record cuda unfinished:1 threads:2
	readable
	equal kernels 1 "$(rows kernels)"
	equal refused_buffers 2000 "$(loss refused_buffers)"
	equal dropped_records 2000 "$(loss dropped_records)"
}

@test "records with zero and with reversed times are counted, not written" {
	record cuda kernels:5 zero_times:3 reversed_times:4
	warned 0
	readable
	equal kernels 5 "$(rows kernels)"
	equal invalid_times 7 "$(loss invalid_times)"
}

@test "records that arrive out of order are all kept with their own times" {
	record cuda disordered:100
	readable
	equal kernels 100 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
	tail -n +2 "$(tables kernels)" | cut -d, -f1 >starts
	sort -rnu starts | cmp - starts # as they came: each starts before the one above it
}

@test "records of an unknown kind are counted, and those after them still read" {
	record cuda kernels:2 unknown:6 kernels:2
	warned 0
	readable
	equal kernels 4 "$(rows kernels)"
	equal unknown_records 6 "$(loss unknown_records)"
}

@test "what CUPTI cannot decode is counted in bytes, and what came before it is kept" {
	record cuda kernels:4 undecodable kernels:3
	readable
	equal kernels 4 "$(rows kernels)"
	[ "$(loss undecoded_bytes)" -ge $((64 + 3 * 216)) ]
}

@test "the longer records of a future CUPTI are read as far as we know them" {
	export MOCK_GROWN_BYTES=40 ROOFLINE_SYNCS=1 ROOFLINE_GRAPHS=graph
	record cuda every_kind:10000
	warned 0
	readable
	equal kernels 10000 "$(rows kernels)"
	equal copies 2 "$(rows copies)"
	equal threads 1 "$(rows threads)"
	equal losses 0 "$(rows losses)"
	[ "$(tail -n +2 "$(tables kernels)" | cut -d, -f3- | sed 's/,[0-9]*,0,0$//' | sort -u)" = 1,0,1,7 ]
}

@test "an unfinished kernel holds back its buffer, and is there once it is finished" {
	export ROOFLINE_FLUSH_MS=10
	record cuda unfinished:3 sleep_ms:60 finish "until_lines:4:recording/*/kernels.csv" _exit:0
	readable
	equal kernels 3 "$(rows kernels)"
}

@test "what is still unfinished at exit is flushed all the same" {
	record cuda kernels:2 unfinished:3
	readable
	sealed
	equal kernels 5 "$(rows kernels)"
}

@test "NVTX ranges from before CUDA was used are kept, however many" {
	record nvtx markers:30000 cuda markers:5 kernels:1
	warned 0
	readable
	equal markers 60010 "$(rows markers)"
	each_name_known
	equal losses 0 "$(rows losses)"
}

@test "NVTX ranges from before CUDA take 32 MB at most; what comes beyond is counted as dropped" {
	record nvtx markers:350000 cuda kernels:1
	warned 0
	readable
	each_name_known
	equal markers $((32 * (1048576 / 56))) "$(rows markers)"
	equal dropped_records $((700000 - 32 * (1048576 / 56))) "$(loss dropped_records)"
}

@test "more signatures and names than are remembered at once: each has a number of its own" {
	record cuda different_grids:100000 different_names:70000x20
	warned 0
	readable
	equal kernels 170000 "$(rows kernels)"
	each_name_known
}

@test "kernels with names of 100,000 bytes do not gather in memory" {
	[ -z "$runtimes" ] || skip "sanitizers take memory of their own"
	# The program has 150 MB of names itself.
	record memory_limit_mib:260 cuda different_names:1500x100000
	warned 0
	ended_with 0
	readable
	equal names 1500 "$(rows names)"
}
