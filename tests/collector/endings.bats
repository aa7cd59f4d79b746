#!/usr/bin/env bats
# Every way in which a program ends, forks or becomes another one.
load common
load storm

# 5,000 kernels, which a periodic flush has written, and what belongs to them.
past="cuda kernels:5000 until_lines:5001:recording/*/kernels.csv sleep_ms:50"
export ROOFLINE_FLUSH_MS=20

# A machine that is busy with other tests may be too late once.
setup_file() {
	export BATS_TEST_RETRIES=1
}

whole() {
	warned 0
	readable
	equal kernels "$1" "$(rows kernels)"
}

@test "return, exit, quick_exit, exit on a thread and in a signal handler are sealed and lose nothing" {
	for step in print:return exit:3 quick_exit:5 exit_in_thread:4 exit_in_handler:15; do
		rm -rf "$recording"
		record cuda kernels:5000 $step
		whole 5000
		sealed
	done
}

@test "_exit under LD_PRELOAD is sealed and loses nothing, from one thread or from several at once" {
	for step in _exit:4 _exit_in_threads:8; do
		rm -rf "$recording"
		record_preloaded cuda kernels:5000 $step
		whole 5000
		sealed
	done
}

@test "exit while other threads go on launching is sealed and does not wait for them" {
	export ROOFLINE_BUFFER_LIMIT_MB=32 # the line is always full, and takes a moment to decode
	record cuda background:4 sleep_ms:30 exit:3
	warned 0 # not: CUPTI did not deliver its last records within 10 s
	readable
	sealed
	each_name_known
}

@test "a handler that interrupts a callback may exit, _exit or leave by siglongjmp: no call is lost without being counted, and none waits" {
	SECONDS=0
	for run in {1..15}; do
		storm_run exit "$recording"
		storm_run _exit "$recording"
		storm_run jump "$recording"
	done
	[ $SECONDS -lt 30 ]
}

@test "_exit, abort and signals keep what a flush has written, and no seal" {
	for step in _exit:4 abort signal:15 signal:9 signal:1; do
		rm -rf "$recording"
		record $past $step
		whole 5000
		! sealed
	done
}

@test "20 runs killed with SIGKILL at random moments are readable" {
	local pid
	for run in {1..20}; do
		CUDA_INJECTION64_PATH=$collector ROOFLINE_OUTPUT=$recording/$run "$app" cuda forever \
			>"$run.out" 2>"$run.err" 3>&- &
		pid=$!
		for _ in {1..3000}; do
			[ "$(cat "$recording/$run"/*/kernels.csv 2>/dev/null | wc -l)" -le 30 ] || break
			sleep 0.02
		done
		sleep "0.0$((RANDOM % 90 + 10))"
		kill -KILL "$pid"
		{ wait "$pid" || true; } 2>/dev/null
	done
	[ "$(cat ./*.err | wc -l)" -eq 0 ]
	[ "$(find "$recording" -name kernels.csv | wc -l)" -eq 20 ]
	cut_off # a kill may come in the middle of a write
	readable 20
	[ "$(rows kernels)" -gt 500 ]
	each_name_known
}

@test "kernels that arrive after the recording was closed are counted" {
	record late_kernels cuda kernels:5 exit:6
	warned 0
	readable
	equal kernels 5 "$(rows kernels)"
	equal late_records 10 "$(loss late_records)"
}

@test "children that fork and exit() neither hang nor touch the parent's recording" {
	record cuda kernels:10 fork:50 kernels:10
	whole 40020
	sealed
	equal seals 1 "$(property sealed_ns | wc -l)"
}

@test "children that end with _exit under LD_PRELOAD leave the parent's recording open" {
	record_preloaded cuda kernels:10 fork_run:_exit:5 vfork:6 kernels:10
	whole 20
	sealed
	equal seals 1 "$(property sealed_ns | wc -l)"
}

@test "a fork inside each of CUPTI's callbacks neither hangs nor loses anything" {
	for place in request completion; do
		rm -rf "$recording"
		record cuda fork_at:$place kernels:30000 exit:3
		whole 30000
		sealed
	done
	rm -rf "$recording"
	record cuda kernels:5 fork_at:callback profiler:start profiler:stop exit:3
	whole 5
	equal seals 1 "$(property sealed_ns | wc -l)"
}

@test "a child with its parent's number, in a PID namespace of its own, does not wait for the recording when it ends with _exit" {
	unshare --pid --fork true 2>/dev/null || skip "no PID namespace can be made"
	SECONDS=0
	LD_PRELOAD="$runtimes$collector" unshare --pid --fork "$app" cuda kernels:5 clone_exit:7 kernels:7 exit:6 >with.out 2>with.err ||
		echo $? >with.status
	grep -qx 'child exited with 7' with.out
	ended_with 6
	[ $SECONDS -lt 8 ]
	warned 0
	equal kernels 12 "$(rows kernels)"
	sealed
}

@test "a program that forks before it uses CUDA is recorded in the child" {
	record fork_run:cuda print:parent
	warned 0
	readable
	sealed
}

@test "a child whose parent had used NVTX is warned that CUPTI cannot record it" {
	record nvtx marker:before fork_run:cuda print:parent
	warned 1 'forked'
}

@test "exec keeps what was written, and the next program gets its own folder" {
	export PATH="$BATS_TEST_TMPDIR:$PATH"
	printf '#!/bin/sh\nexec "%s" cuda kernels:7 exit:9\n' "$app" >next
	chmod +x next
	record $past exec:next
	warned 0
	ended_with 9
	readable 2
	equal kernels 5007 "$(rows kernels)"
}

@test "a daemon that closes every descriptor first is recorded" {
	record daemon cuda kernels:5000
	readable
	equal kernels 5000 "$(rows kernels)"
	sealed
}

@test "exit while a library is being loaded does not wait for our thread to ask the dynamic linker" {
	record "dlopen:$BUILD/tests/collector/libstarts_cuda.so"
	warned 0 # not: CUPTI did not deliver its last records within 10 s
	ended_with 6
	readable
	sealed
}
