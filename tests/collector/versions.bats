#!/usr/bin/env bats
# One collector, each version of CUPTI: what its records have is read, what they lack is told.
load common

mocks="$BUILD/tests/collector"

# use VERSION: the stand-in for the CUPTI of that version, with its functions and the lengths of its records
use() {
	rm -rf "$recording"
	export MOCK_VERSION=$1 ROOFLINE_CUPTI="$mocks/libcupti_mock.so"
	unset MOCK_GROWN_BYTES
	if [ "$1" -lt 23 ]; then
		export ROOFLINE_CUPTI="$mocks/libcupti_old.so"
	elif [ "$1" -lt 24 ]; then
		export ROOFLINE_CUPTI="$mocks/libcupti_bare.so"
	elif [ "$1" -ge 130300 ]; then
		export MOCK_GROWN_BYTES=16
	fi
}

# column TABLE NAME: its values
column() {
	tables "$1" | xargs -r cat | awk -F, -v name="$2" '
		FNR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }'
}

@test "kernels, copies, memsets, graphs and all else of CUPTI 12.4 to 13.5 are recorded alike" {
	local version
	export ROOFLINE_SYNCS=1 ROOFLINE_GRAPHS=graph
	for version in 22 23 24 26 27 28 130000 130001 130200 130301 130500; do
		echo "CUPTI $version" # for whoever reads a failure
		use "$version"
		record cuda every_kind:3 every_kind:3 allocate:linear
		readable
		sealed
		equal kernels 6 "$(rows kernels)"
		equal copies 4 "$(rows copies)"
		equal memsets 2 "$(rows memsets)"
		equal graphs 4 "$(rows graphs)"
		equal api 4 "$(rows api)"
		equal syncs 2 "$(rows syncs)"
		equal allocations 1 "$(rows allocations)"
		equal contexts 2 "$(rows contexts)"
		equal markers 4 "$(rows markers)"
		each_name_known
		equal "launched by the host" 0 "$(column signatures launch_type | sort -u)"
		equal correlations "1 2 3 4 5 6" "$(column kernels correlation | sort -n | xargs)"
		equal "copies of a batch" 1 "$(column copies copy_count | sort -u)"
		equal "SMs of contexts that are not green" 0 "$(column contexts sm_count | sort -u)"
		equal version "$version" "$(property cupti)"
	done
}

@test "with CUPTI 12.4 too a kernel belongs to the span in which it was launched" {
	use 22
	ROOFLINE_PROFILER_API=1 record cuda kernels:3 profiler:start kernels:2
	equal kernels 2 "$(rows kernels)"
	equal outside 3 "$(loss outside_window)"
}

@test "what CUPTI 12 cannot tell is told once, and counted" {
	use 22
	record cuda kernels:5 exit:6
	warned 1 'CUPTI 12.4 is too old for: .*API calls that matter .*how many copies .*; the rest is recorded'
	ended_with 6
	equal features 4 "$(loss missing_features)"
	use 28
	record cuda kernels:5 exit:6
	warned 1 'CUPTI 12.9 update 1 is too old for: which kernels the device launched; the rest is recorded'
	equal features 1 "$(loss missing_features)"
	use 130301
	record cuda kernels:5 exit:6
	warned 0
	equal losses 0 "$(rows losses)"
}

@test "graphs that the device launches are missing before 12.8 where they were asked for" {
	export ROOFLINE_GRAPHS=graph
	use 24
	record cuda kernels:5
	warned 1 'CUPTI 12.6 is too old for: .*graphs that the device launches'
	use 26
	record cuda kernels:5
	warned 1 'CUPTI 12.8 is too old for: which kernels the device launched;'
}

@test "CUPTI 12.4 records all API calls, of which the rows are chosen" {
	use 22
	record cuda questions:7 every_kind questions:2
	equal api 2 "$(rows api)"
	rm -rf "$recording"
	ROOFLINE_API=all record cuda questions:7 every_kind
	equal "all were asked for" 9 "$(rows api)"
	warned 1 'CUPTI 12.4 is too old for: the SMs of green contexts, how many copies'
}

@test "CUPTI 12 knows no name of a first subscriber" {
	use 22
	export MOCK_SUBSCRIBE=39
	record cuda kernels:5 exit:6
	warned 1 'another profiler \(unknown\) is attached'
	ended_with 6
	wrote_nothing
}

@test "without counters and samples of CUPTI 12.4 the trace goes on" {
	use 22
	ROOFLINE_COUNTERS=roofline record cuda kernels:5 exit:6
	warned 2 'no hardware counters: this CUPTI lacks the range profiler, which 12.6 and newer have; the trace'
	equal kernels 5 "$(rows kernels)"
	equal features 5 "$(loss missing_features)"
	rm -rf "$recording"
	ROOFLINE_SAMPLE=10us record cuda kernels:5 exit:6
	warned 2 'no samples: this CUPTI lacks PM sampling, which 12.6 and newer have; the trace'
	equal kernels 5 "$(rows kernels)"
	equal features 5 "$(loss missing_features)"
}

@test "a CUPTI that is newer than the driver is not asked for counters and samples: it would end the program" {
	setup_driver
	use 130301
	export MOCK_DRIVER=13000
	ROOFLINE_COUNTERS=roofline record driver cuda launch:count=4
	warned 1 'this CUPTI is newer than the driver: update the driver, or set ROOFLINE_CUPTI'
	equal counted 0 "$(rows counted)"
	rm -rf "$recording"
	export MOCK_DRIVER=13030
	ROOFLINE_COUNTERS=roofline record driver cuda launch:count=4
	warned 0
}

@test "CUPTI 13.4 and newer is shared with another subscriber that agrees to it, and both are named" {
	local version
	export MOCK_OTHER_SUBSCRIBER="CUPTI for Kineto"
	for version in 130400 130500; do
		use "$version"
		MOCK_CALLS="$PWD/calls.$version" record cuda every_kind:3 allocate:linear
		warned 1 'CUPTI for Kineto.*shares CUPTI'
		readable
		sealed
		equal kernels 3 "$(rows kernels)"
		equal allocations 1 "$(rows allocations)"
		grep -q cuptiActivityRegisterCallbacks_v2 "calls.$version"
		rm -rf "$recording"
	done
	use 130001
	record cuda kernels:3
	warned 1 'another profiler \(CUPTI for Kineto\) is attached'
}

@test "CUPTI before 13.4 is not shared" {
	use 130301
	MOCK_CALLS="$PWD/calls" record cuda kernels:3
	warned 0
	! grep -q _v2 <(grep -v cuptiSubscribe_v2 calls)
}

@test "a CUPTI that tells its version only to a subscriber is asked again" {
	export MOCK_VERSION_UNTOLD=1
	use 130500
	record cuda every_kind:3
	warned 0
	equal kernels 3 "$(rows kernels)"
	equal version 130500 "$(property cupti)"
}

@test "NVTX goes to CUPTI 12 too" {
	use 22
	export MOCK_NVTX_FILE="$PWD/modules"
	record nvtx cuda kernels:1
	[ -s modules ]
}

# found NAME: that library was loaded
found() {
	equal library "$PWD/driver/$1" "$(property cupti_path)"
}

@test "the library is the one that fits the driver, or the one that is there" {
	setup_driver
	unset ROOFLINE_CUPTI
	ln -s "$mocks/libcupti_mock.so" driver/libcupti.so.13
	ln -s "$mocks/libcupti_old.so" driver/libcupti.so.12
	export MOCK_VERSION=28
	LD_PRELOAD="$runtimes$collector $PWD/driver/libcuda.so.1" ROOFLINE_QUIET=1 "$app" cuda
	found libcupti.so.13
	rm -rf "$recording" driver/libcuda.so.1
	ln -s "$BUILD/tests/tools/libfake_cuda.so" driver/libcuda.so.1 # of CUDA 12
	LD_PRELOAD="$runtimes$collector $PWD/driver/libcuda.so.1" ROOFLINE_QUIET=1 "$app" cuda
	found libcupti.so.12
}
