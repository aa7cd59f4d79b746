#!/usr/bin/env bats
# The stand-in for CUPTI samples as an H200 with CUPTI 13.0 was seen to: what the collector's tests of
# sampling rest on.
load common

# sampler CASE
sampler() {
	"$BUILD/tests/collector/mock_sampler" "$mock_cupti" "$1"
}

# is_wrong CASE: the case must say what is not so
is_wrong() {
	local status=0
	sampler "$1" >wrong || status=$?
	[ "$status" -eq 1 ]
	grep -q 'not so' wrong
}

@test "samples touch, and what kernels did adds up to what they did, record or not" {
	sampler whole
}

@test "the first sample after each Start begins at Enable, and nothing between Stop and Start is sampled" {
	sampler twice
}

@test "a configuration lasts until Disable" {
	sampler configured_once
}

@test "metrics of several calls take several passes, and those cannot be sampled" {
	sampler passes
	MOCK_TWO_PASSES=dram__bytes_read is_wrong whole
}

@test "nothing works on a GPU that is not enabled, started or configured, or is already" {
	sampler not_enabled
}

@test "a buffer that was full once gives nothing more until Disable" {
	sampler overflow
}

@test "samples without room in the image are gone without a word" {
	sampler small_image
}

@test "an image is emptied only if its size is the one that was asked for last" {
	sampler sizes
}

@test "a name that cannot be sampled spoils the call that adds it" {
	sampler names
	MOCK_UNSAMPLED= sampler names
	MOCK_NO_METRICS=dram__bytes_read is_wrong whole
}

@test "only metrics of the configuration and samples of the image have values" {
	sampler evaluating
}

@test "a function fails as the environment says, and every call is noted" {
	local result
	for result in 35 27 999; do
		equal "result of Enable" "$result" \
			"$(MOCK_COUNTERS=cuptiPmSamplingEnable=$result MOCK_CALLS="$PWD/calls" sampler enable)"
	done
	equal calls cuptiPmSamplingEnable "$(grep Sampling calls | sort -u)"
	equal "no fault" 0 "$(sampler enable)"
}

@test "a CUPTI without sampling counts all the same" {
	mock_cupti="$BUILD/tests/collector/libcupti_nosampling.so"
	run sampler enable
	equal status 2 "$status"
	[[ "$output" == *"libcupti_nosampling.so has no "* ]]
	run nm -D "$mock_cupti"
	[[ "$output" != *PmSampling* ]]
	mkdir driver
	ln -s "$BUILD/tests/collector/libmock_cuda.so" driver/libcuda.so.1
	export ROOFLINE_CUPTI="$mock_cupti" ROOFLINE_COUNTERS=roofline LD_LIBRARY_PATH="$PWD/driver"
	record driver cuda launch:count=9 device_launch
	warned 0
	[ "$(rows counted)" -gt 0 ]
}

@test "a kernel that the device launches has no record" {
	record cuda kernels:3 device_launch:busy_us=20,blocks=64,count=5,pause_us=10,name=child
	warned 0
	equal kernels 3 "$(rows kernels)"
	run "$app" device_launch:busy_us=20,no_such=1
	equal status 99 "$status"
}
