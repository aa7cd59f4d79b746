#!/usr/bin/env bats
# Threads that use NVTX or CUDA for the first time while another one attaches to CUPTI.
load common

# Here threads are made to meet at moments by the clock: a machine that is busy with other tests may be too late once.
setup_file() {
	export BATS_TEST_RETRIES=1
}

# Attaching takes half a second, and at its end the dynamic linker's lock.
slowly() {
	export MOCK_SUBSCRIBE_MS=500 MOCK_SUBSCRIBE_LOADS=libm.so.6 MOCK_NVTX_FILE="$PWD/modules" MOCK_CALLS="$PWD/calls"
}

# record_in_time STEP...: as record, but what hangs is killed
record_in_time() {
	rm -f calls
	capture bare "$app" "$@"
	capture with env CUDA_INJECTION64_PATH="$collector" NVTX_INJECTION64_PATH="$collector" \
		timeout -s KILL 20 "$app" "$@"
	same_as_bare
}

@test "a constructor that uses NVTX does not wait for a thread that attaches and needs the dynamic linker" {
	slowly
	record_in_time nvtx_in_thread:200 "dlopen:$BUILD/tests/collector/libfirst_nvtx.so" join_nvtx cuda kernels:5 exit:6
	ended_with 6
	warned 0
	readable
	equal kernels 5 "$(rows kernels)"
	equal "modules that CUPTI was handed" 2 "$(wc -l <modules)"
	equal late_attachments 1 "$(loss late_attachments)"
}

@test "what CUPTI loads while it is attached to may use NVTX itself" {
	slowly
	export MOCK_SUBSCRIBE_LOADS="$BUILD/tests/collector/libfirst_nvtx.so"
	record_in_time nvtx cuda kernels:5 exit:6
	ended_with 6
	warned 0
	equal kernels 5 "$(rows kernels)"
	equal "modules that CUPTI was handed" 2 "$(wc -l <modules)"
	equal losses 0 "$(rows losses)"
}

@test "CUDA starting in a constructor does not wait for a thread that attaches and needs the dynamic linker" {
	[[ $BUILD != */clang ]] || skip "clang's ThreadSanitizer takes a program's end in dlopen for a fault"
	slowly
	record_in_time nvtx_in_thread:200 "dlopen:$BUILD/tests/collector/libstarts_cuda.so"
	ended_with 6
	warned 0
}

@test "CUDA that starts while another thread attaches is recorded once that is done" {
	slowly
	record_in_time nvtx_in_thread:200 cuda join_nvtx kernels:5 exit:6
	ended_with 6
	warned 0
	readable
	sealed
	equal kernels 5 "$(rows kernels)"
	equal late_attachments 1 "$(loss late_attachments)"
}

@test "the NVTX call that attaches is recorded itself" {
	slowly
	export MOCK_NVTX_CALLS="$PWD/marks"
	record_in_time nvtx:before nvtx:then cuda exit:6
	equal marks "mark before mark then" "$(xargs <marks)"
	equal "modules that CUPTI was handed" 1 "$(wc -l <modules)"
	equal losses 0 "$(rows losses)"
}

@test "no other thread of a module waits for the one whose NVTX call attaches, and what they mark is missing" {
	slowly
	export MOCK_NVTX_CALLS="$PWD/marks"
	record_in_time nvtx_in_thread:200 nvtx:missing nvtx:missing join_nvtx nvtx:then cuda exit:6
	equal marks "mark first mark then" "$(xargs <marks)"
	equal late_attachments 1 "$(loss late_attachments)"
	export MOCK_SUBSCRIBE_MS=60000
	record_in_time nvtx_in_thread:200 nvtx _exit:6
	ended_with 6
}

@test "a module whose first NVTX call comes once CUPTI is attached is recorded from that call on" {
	slowly
	export MOCK_NVTX_CALLS="$PWD/marks"
	record_in_time cuda nvtx:first exit:6
	equal marks "mark first" "$(xargs <marks)"
	equal losses 0 "$(rows losses)"
}

@test "a child that is forked during the program's first NVTX call does not wait in NVTX for a thread that it lacks" {
	[[ $BUILD != */clang ]] || skip "ThreadSanitizer's own memory is not made for forks"
	slowly
	export MOCK_NVTX_MS=500
	# while it attaches, while CUPTI takes NVTX's functions, and where a fork does not wait any longer
	for moment in 200:500 700:500 200:6000; do
		delay_ms=${moment%:*}
		export MOCK_SUBSCRIBE_MS=${moment#*:}
		capture with env NVTX_INJECTION64_PATH="$collector" timeout -s KILL 20 "$BUILD/tests/collector/nvtx_app" $delay_ms
		ended_with 5
		warned 0
	done
}

@test "a fork waits until a thread has attached" {
	export MOCK_SUBSCRIBE_MS=2000
	local begun_ms=$(($(date +%s%N) / 1000000))
	capture with env CUDA_INJECTION64_PATH="$collector" NVTX_INJECTION64_PATH="$collector" \
		"$app" nvtx_in_thread:200 fork_run:print:child print:parent _exit:6
	ended_with 6
	[ $(($(date +%s%N) / 1000000 - begun_ms)) -ge 1900 ]
}

@test "a fork waits at most 3 s for a thread that attaches" {
	export MOCK_SUBSCRIBE_MS=60000 MOCK_CALLS="$PWD/calls"
	CUDA_INJECTION64_PATH=$collector NVTX_INJECTION64_PATH=$collector capture with timeout -s KILL 20 \
		"$app" nvtx_in_thread:200 fork_run:print:child print:parent _exit:6
	ended_with 6
}

@test "a child that is forked while a thread attaches neither waits for it nor calls CUPTI" {
	[[ $BUILD != */clang ]] || skip "ThreadSanitizer's own memory is not made for forks"
	slowly
	record_in_time nvtx_in_thread:200 fork_run:nvtx fork_run:cuda print:parent _exit:6
	ended_with 6
	warned 1 'forked'
	equal subscriptions 1 "$(grep -c cuptiSubscribe_v2 calls)"
	wrote_nothing
}

@test "a program is ended by SIGTERM, SIGINT, SIGHUP and SIGQUIT while its thread attaches" {
	export MOCK_SUBSCRIBE_MS=60000
	for signal in TERM INT HUP QUIT; do
		CUDA_INJECTION64_PATH=$collector capture with timeout -s $signal -k 10 0.5 "$app" cuda
		ended_with 124 # not 137: it had to be killed
	done
}

@test "a signal that the program has blocked stays blocked while its thread attaches" {
	export MOCK_SUBSCRIBE_MS=500
	record_in_time block:15 signal:15 cuda print:alive kernels:5 exit:6
	ended_with 6
}

@test "a handler that leaves by siglongjmp leaves neither NVTX nor CUDA half attached: it waits until that is done" {
	slowly
	for signal in 2 14 15; do
		for step in nvtx:first cuda; do
			rm -rf "$recording"
			record_in_time jump:$signal:200:$step cuda marker:one kernels:5 exit:6
			ended_with 6
			warned 0
			readable
			sealed
			equal kernels 5 "$(rows kernels)"
		done
	done
}

@test "a handler of a fault that leaves by siglongjmp while CUPTI starts ends the recording alone, and that is told" {
	export MOCK_SUBSCRIBE_RAISES=11
	for step in nvtx:first cuda; do
		record_in_time jump:11:0:$step print:left cuda kernels:5 fork_run:print:child exit:6
		ended_with 6
		warned 1 'signal handler of the program has left .*nothing is recorded'
		wrote_nothing
	done
}

@test "of several forks one waits for a thread that does not come back" {
	[[ $BUILD != */clang ]] || skip "ThreadSanitizer's own memory is not made for forks"
	export MOCK_SUBSCRIBE_MS=60000 MOCK_CALLS="$PWD/calls"
	SECONDS=0
	CUDA_INJECTION64_PATH=$collector NVTX_INJECTION64_PATH=$collector capture with timeout -s KILL 30 \
		"$app" nvtx_in_thread:200 fork_run:print:1 fork_run:print:2 fork_run:print:3 fork_run:print:4 _exit:6
	ended_with 6
	[ $SECONDS -lt 11 ] # not four times 3 s
}
