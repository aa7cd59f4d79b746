#!/usr/bin/env bats
# The real libcupti, as far as it works without a driver.
load common

setup_file() {
	local folder
	for folder in /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64 \
		/usr/local/cuda/targets/x86_64-linux/lib; do
		[ -e "$folder/libcupti.so.13" ] || continue
		export REAL_CUPTI=$folder/libcupti.so.13
		return
	done
}

need_cupti() {
	[ -n "${REAL_CUPTI-}" ] || skip "no libcupti.so.13 here"
	export ROOFLINE_CUPTI=$REAL_CUPTI
}

need_no_driver() {
	need_cupti
	[ ! -e /proc/driver/nvidia/version ] || skip "this machine has an NVIDIA driver"
}

@test "every call that launches, runs a graph, copies or sets is recorded" {
	need_cupti
	"$BUILD/tests/collector/real_cupti" "$REAL_CUPTI" names
}

@test "its records are at least as long as the collector and the mock believe" {
	need_cupti
	"$BUILD/tests/collector/real_cupti" "$REAL_CUPTI" lengths
}

@test "without a driver the program runs as ever and is told once" {
	need_no_driver
	record cuda kernels:5 exit:6
	told 1 'CUPTI cannot be used: CUPTI_ERROR_[A-Z_]+ \([0-9]+\); nothing is recorded'
	ended_with 6
	wrote_nothing
}

@test "found by the name libcupti.so.13 alone" {
	need_no_driver
	unset ROOFLINE_CUPTI
	record_preloaded cuda exit:6
	told 1 'CUPTI cannot be used'
	wrote_nothing
}

@test "a program with NVTX and no CUDA does not crash in CUPTI, says and writes nothing" {
	need_no_driver
	unset ROOFLINE_OUTPUT
	capture bare "$BUILD/tests/collector/nvtx_app"
	capture with env LD_PRELOAD="$runtimes$collector" "$BUILD/tests/collector/nvtx_app"
	same_as_bare
	told 0
	ended_with 5
	[ "$(cat with.out)" = ok ]
	wrote_nothing
}
