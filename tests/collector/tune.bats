#!/usr/bin/env bats
# rooflinectl tune where the objective is of a recording: of kernels, or of NVTX ranges.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	ulimit -S -c 0
	mkdir driver
	ln -s "$BUILD/tests/collector/libmock_cuda.so" driver/libcuda.so.1
	export LD_LIBRARY_PATH="$PWD/driver" ROOFLINE_CUPTI="$mock_cupti" MOCK_RANGES_FILE="$PWD/ranges"
	export XDG_DATA_HOME="$PWD/data" # not with what this user measured
	export ROOFLINE_COUNTERS_SHARE=100
}

tune() {
	"$ROOFLINECTL" tune -o results "$@"
}

@test "the time of a kernel is that of all its launches, and recordings of trials are gone afterwards" {
	run --separate-stderr tune --param us=500,200,300 --objective kernel:step --repeats 2 -- \
		"$app" driver cuda 'launch:count=10,run_us={us},blocks=6'
	[ "$status" -eq 0 ]
	[[ "$output" == "Best    us=200  2.0"*" ms  (median of 2 repeats, "* ]]
	[ "$(ls results)" = trials.jsonl ]
	grep -q '"launch":{"threads":' results/trials.jsonl
}

@test "a kernel that is not there is told" {
	run --separate-stderr tune --param us=1,2 --objective kernel:stencil -- "$app" driver cuda 'launch:count=3,run_us={us}'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no kernel 'stencil' was recorded, but '"*"step"*"' was"* ]]
	run --separate-stderr tune --param us=1,2 --objective kernel:stencil -- echo '{us}'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"nothing was recorded: the program did not use CUDA"* ]]
}

@test "--explain records the default and the best with counters, and tells what differs first" {
	run --separate-stderr tune --param us=3000,1000 --param blocks=6,60 --objective kernel:step --default us=3000 --explain -- \
		"$app" driver cuda 'launch:count=10,run_us={us},blocks={blocks}'
	[ "$status" -eq 0 ]
	[[ "$output" == *"Why     us=3000 blocks=6 is slower"* ]]
	[[ "$output" == *"time of all launches "*" 30.0 ms    10.0 ms   0.33x"* ]]
	[[ "$output" == *"  alike: "*"threads of a block"* ]]
	[[ "$output" == *"recorded in results/default and results/best"* ]]
	"$ROOFLINECTL" report results/best >report
}
