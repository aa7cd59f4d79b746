#!/usr/bin/env bats
# A CUPTI that fails: the program runs as ever, and its user is warned once.
load common

# refused REGEX: nothing was recorded, and that was said once
refused() {
	warned 1 "$1"
	ended_with 6
	wrote_nothing
}

@test "a CUPTI that is too old is named with the version that is needed" {
	export MOCK_VERSION=21
	record cuda kernels:5 exit:6
	refused '/libcupti_mock.so is CUPTI 12.3, 12.4 is needed; nothing is recorded'
}

@test "a library without CUPTI's functions is named with the missing one" {
	export ROOFLINE_CUPTI=libm.so.6
	record cuda kernels:5 exit:6
	refused 'libm.so.6 has no cupti[A-Za-z_]+;'
}

@test "a missing CUPTI is named with the way to get it" {
	export ROOFLINE_CUPTI=libcupti-is-not-here.so.13
	record cuda kernels:5 exit:6
	refused 'cannot load libcupti-is-not-here.so.13 .*Install CUPTI'
}

@test "a second subscriber learns who was first, and calls CUPTI no more" {
	export MOCK_SUBSCRIBE=39 MOCK_CALLS="$PWD/calls"
	record cuda nvtx kernels:5 profiler:start exit:6
	refused 'another profiler \(Another Tool\) is attached'
	equal calls 'cuptiGetVersion cuptiSubscribe_v2 ' "$(tr '\n' ' ' <calls)"
}

@test "without a driver (999) there is a warning, also when NVTX came first" {
	export MOCK_SUBSCRIBE=999
	record nvtx cuda kernels:5 exit:6
	refused 'CUPTI cannot be used: CUPTI_ERROR_UNKNOWN \(999\)'
}

@test "without permission (35) there is a warning" {
	export MOCK_SUBSCRIBE=35
	record cuda nvtx kernels:5 exit:6
	refused 'CUPTI_ERROR_INSUFFICIENT_PRIVILEGES \(35\)'
}

@test "an incompatible driver (15) is reported" {
	export MOCK_SUBSCRIBE=15
	record cuda exit:6
	refused 'CUPTI_ERROR_NOT_INITIALIZED \(15\)'
}

@test "a result that CUPTI itself has no text for is reported by its number" {
	export MOCK_SUBSCRIBE=7777
	record cuda exit:6
	refused 'unknown error \(7777\)'
}

@test "a CUPTI that takes no buffers is reported" {
	export MOCK_REGISTER=999
	record cuda exit:6
	refused 'CUPTI takes no buffers'
}

@test "a refused kind is reported and counted, and the others are recorded" {
	export MOCK_REFUSED_KINDS=52 # JIT
	record cuda kernels:5 exit:6
	warned 1 'does not record just-in-time compilation \(CUPTI_ERROR_NOT_COMPATIBLE\)'
	readable
	equal kernels 5 "$(rows kernels)"
	equal disabled_kinds 1 "$(loss disabled_kinds)"
}

@test "refused kernels and copies are told in one line, and the recording is sealed and counts them" {
	export MOCK_REFUSED_KINDS=10,1 # CONCURRENT_KERNEL and MEMCPY
	record cuda exit:6
	warned 1 'does not record kernels \(CUPTI_ERROR_NOT_COMPATIBLE\), copies \(CUPTI_ERROR_NOT_COMPATIBLE\)'
	ended_with 6
	readable
	sealed
	equal disabled_kinds 2 "$(loss disabled_kinds)"
}

@test "buffers that the program gave to CUPTI itself are left alone and counted" {
	record cuda take_records kernels:5 give_back deliver kernels:7 exit:6
	warned 0
	ended_with 6
	readable
	equal kernels 7 "$(rows kernels)"
	equal foreign_buffers 1 "$(loss foreign_buffers)"
}

@test "a program that registers for records itself, and frees our buffers, is told from the recording" {
	export ROOFLINE_FLUSH_MS=60000
	record cuda kernels:5 take_records deliver kernels:7 exit:6
	warned 1 'gives its records to somebody else'
	ended_with 6
	readable
	sealed
	equal taken_buffers 1 "$(loss taken_buffers)"
}

@test "a program that has CUPTI's records at its end as ever has no such loss, however long it did nothing" {
	export ROOFLINE_FLUSH_MS=20
	record cuda unfinished:1 sleep_ms:100 exit:6
	warned 0
	equal kernels 1 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
}

# ---- --yield ----

@test "with --yield a program that has loaded CUPTI is left alone, and the recording says so" {
	export ROOFLINE_YIELD=1 MOCK_CALLS="$PWD/calls"
	record "dlopen:$mock_cupti" nvtx cuda kernels:5 exit:6
	warned 0
	ended_with 6
	readable
	sealed
	[ ! -e calls ]
	equal yielded 1 "$(loss yielded)"
}

@test "with --yield another subscriber goes unmentioned, and CUPTI is called no more" {
	export ROOFLINE_YIELD=1 MOCK_SUBSCRIBE=39 MOCK_CALLS="$PWD/calls"
	record cuda nvtx kernels:5 exit:6
	warned 0
	ended_with 6
	equal yielded 1 "$(loss yielded)"
	equal calls 'cuptiGetVersion cuptiSubscribe_v2 ' "$(tr '\n' ' ' <calls)"
}

@test "with --yield a program that has no CUPTI is recorded, from when CUDA starts" {
	export ROOFLINE_YIELD=1 MOCK_CALLS="$PWD/calls" MOCK_NVTX_FILE="$PWD/modules"
	record nvtx print:before cuda marker:one kernels:5 exit:6
	warned 0
	readable
	equal kernels 5 "$(rows kernels)"
	equal markers 2 "$(rows markers)"
	equal modules 1 "$(wc -l <modules)"
	equal late_attachments 1 "$(loss late_attachments)"
}

# ---- going on ----

@test "a fatal error of CUPTI is reported once, and what was recorded until then is kept" {
	record cuda kernels:5 fatal:3 exit:6
	warned 1 'fatal error'
	readable
	equal kernels 5 "$(rows kernels)"
}

@test "ROOFLINE_QUIET=1 keeps complaints back" {
	export ROOFLINE_CUPTI=libcupti-is-not-here.so.13 ROOFLINE_QUIET=1
	record cuda exit:6
	warned 0
	ended_with 6
	wrote_nothing
}

@test "a file size limit of nothing ends neither a program that writes no files nor its recording" {
	small_files() { (ulimit -f 0; "$@") 2>&1 | cat; return "${PIPESTATUS[0]}"; }
	capture bare small_files "$app" cuda kernels:5000 sleep_ms:20 exit:6
	capture with small_files env ROOFLINE_FLUSH_MS=10 CUDA_INJECTION64_PATH="$collector" \
		"$app" cuda kernels:5000 sleep_ms:20 exit:6
	ended_with 6
	[ "$(grep -c 'rooflinecollector: cannot write .*: File too large' with.out)" -eq 1 ]
	grep -v '^rooflinecollector: ' with.out | cmp bare.out -
}

@test "a complaint to a pipe that nobody reads does not kill the program" {
	export ROOFLINE_OUTPUT=/proc/roofline
	# The reader ends first; mock_app alone writes to stderr only when it returns.
	deaf() { "$@" 2> >(exit); }
	capture bare deaf "$app" sleep_ms:100 cuda kernels:5 exit:6
	capture with deaf env CUDA_INJECTION64_PATH="$collector" "$app" sleep_ms:100 cuda kernels:5 exit:6
	cmp bare.out with.out
	ended_with 6
}

@test "a complaint to a full pipe does not hold up the program" {
	export ROOFLINE_OUTPUT=/proc/roofline
	mkfifo pipe
	exec 7<>pipe # read and write: never read, and never broken
	full() { timeout -s KILL 10 "$@" 2>&7; }
	timeout 1 dd if=/dev/zero of=pipe bs=1k 2>/dev/null || true
	capture with full env CUDA_INJECTION64_PATH="$collector" "$app" cuda kernels:5 exit:6
	exec 7>&-
	ended_with 6
}

@test "cancellation ends a thread neither while it exits nor while it starts CUDA" {
	for end in cancelled_exit:7 "cancelled_cuda exit:8"; do
		rm -rf "$recording"
		# shellcheck disable=SC2086 # two steps
		record cuda kernels:5 $end
		warned 0
		readable
		sealed
	done
	ended_with 8
	rm -rf "$recording"
	record cancelled_cuda exit:9
	warned 0
	ended_with 9
	sealed
}

@test "a signal that the program has pending stays pending" {
	export ROOFLINE_OUTPUT=/proc/roofline
	record pending_sigpipe cuda kernels:5 exit:6
	warned 1 'cannot record'
	grep -q 'SIGPIPE is pending: 1' with.out
}

@test "memory that is out for a while is asked for again" {
	[ -z "$runtimes" ] || skip "sanitizers need address space"
	export ROOFLINE_BUFFER_LIMIT_MB=8
	record cuda memory:none kernels:20 memory:again kernels:5 exit:6
	warned 0
	readable
	equal kernels 5 "$(rows kernels)"
	equal refused_buffers 20 "$(loss refused_buffers)"
}
