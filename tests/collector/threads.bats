#!/usr/bin/env bats
# Threads of the program, of CUPTI and of the collector at once.  Built with ThreadSanitizer (build/clang), a race
# between any two of them ends the program with 66.
load common

export ROOFLINE_FLUSH_MS=10 ROOFLINE_BUFFER_LIMIT_MB=4 # so that little is left to be done at the end

# with_driver: cuCtxSynchronize, for counters
with_driver() {
	mkdir -p driver
	ln -sf "$BUILD/tests/collector/libmock_cuda.so" driver/libcuda.so.1
	export LD_LIBRARY_PATH="$PWD/driver"
}

@test "16 threads that make records lose nothing" {
	export ROOFLINE_BUFFER_LIMIT_MB=64
	record cuda threads:16 exit:3
	warned 0
	readable
	equal kernels 16000 "$(rows kernels)"
}

@test "exit while 3 threads make records is sealed" {
	record cuda background:3 sleep_ms:100 exit:3
	warned 0
	readable
	sealed
}

@test "records that come after the end are counted" {
	record late_kernels cuda kernels:5 exit:3
	equal late_records 10 "$(loss late_records)"
}

@test "NVTX on one thread and CUDA on another, for the first time" {
	export MOCK_SUBSCRIBE_MS=200
	record nvtx_in_thread:50 cuda join_nvtx kernels:5
	readable
	equal kernels 5 "$(rows kernels)"
}

@test "spans begin and end while 2 threads make records" {
	export ROOFLINE_PROFILER_API=1
	record cuda background:2 profiler:start sleep_ms:30 profiler:stop sleep_ms:30 profiler:start sleep_ms:30 \
		profiler:stop profiler:start exit:3
	warned 0
	readable
	sealed
}

@test "the program registers for records itself while 2 threads make some" {
	# A record that is unfinished keeps a buffer of the program's until the end.
	record cuda background:2 sleep_ms:50 take_records sleep_ms:50 unfinished:1 give_back sleep_ms:50 exit:3
	readable
	sealed
	[ "$(loss foreign_buffers)" -gt 0 ]
}

@test "launches of 4 threads are counted, and exit while 2 others launch is sealed" {
	with_driver
	export ROOFLINE_COUNTERS=roofline
	record driver cuda context:1 background_launch:2 launch:count=100,threads=4,different=3 exit:3
	readable
	sealed
}

@test "8 threads that launch kernels with the same addresses write each set once" {
	with_driver
	export ROOFLINE_ARGS=1 ROOFLINE_BUFFER_LIMIT_MB=64
	record driver cuda given_threads:8 exit:3
	readable
	sealed
	equal 'launches, and lost rows' 16001 "$(($(rows launch_arguments) + $(loss unwritten_rows)))"
	equal sets 500 "$(rows arguments)"
}

@test "the GPU is sampled while 3 threads launch and another one is in a range" {
	export ROOFLINE_SAMPLE=100us ROOFLINE_SAMPLE_BUFFER_MB=8 ROOFLINE_SAMPLE_RANGE=train
	record cuda context:1 launch:threads=3,count=50,pause_us=500 range_in_thread:train context:2 \
		launch:threads=3,count=50,pause_us=500 range_in_thread:train exit:3
	readable
	sealed
}
