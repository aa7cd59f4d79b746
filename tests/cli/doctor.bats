#!/usr/bin/env bats
# rooflinectl doctor, with stand-ins for NVIDIA's libraries.
load common

setup() {
	fake="$BATS_TEST_TMPDIR/lib"
	mkdir -p "$fake"
	cd "$BATS_TEST_TMPDIR"
}

use_fake_driver() {
	ln -s "$BUILD/tests/tools/libfake_cuda.so" "$fake/libcuda.so.1"
	export LD_LIBRARY_PATH="$fake"
}

use_fake_cupti() {
	export ROOFLINE_CUPTI="$BUILD/tests/tools/libfake_cupti.so"
}

# status_of NAME: ok, limited or missing, from the JSON answer in $output
status_of() {
	grep -A1 "\"name\": \"$1\"" <<<"$output" | sed -n 's/.*"status": "\(.*\)".*/\1/p'
}

@test "doctor without a GPU says so, says what still works, and succeeds" {
	[ ! -e /proc/driver/nvidia/version ] || skip "this machine has an NVIDIA driver"
	run "$ROOFLINECTL" doctor
	[ "$status" -eq 0 ]
	[[ "$output" == *"No GPU here"* ]]
	[[ "$output" == *"report, plot and demo need no GPU"* ]]
}

@test "doctor names the GPUs that the driver reports" {
	use_fake_driver
	run "$ROOFLINECTL" doctor
	[[ "$output" == *"GPUs       ok       2: Imaginary GPU 0, Imaginary GPU 1"* ]]
	[[ "$output" == *"CUDA 13.0"* ]]
}

@test "what the driver prints does not get into doctor's answer" {
	use_fake_driver
	run "$ROOFLINECTL" doctor
	[[ "$output" == *"Imaginary GPU 0"* ]]
	[[ "$output" != *"chats"* ]]
}

@test "a driver that crashes is reported and does not take doctor with it" {
	use_fake_driver
	FAKE_CUDA=crash run "$ROOFLINECTL" doctor
	[ "$status" -le 1 ]
	[[ "$output" == *"libcuda.so.1 crashed"* ]]
	[[ "$output" == *"fix: reinstall the NVIDIA driver"* ]]
}

@test "a driver that finds no device is quoted" {
	use_fake_driver
	FAKE_CUDA=no_device run "$ROOFLINECTL" doctor
	[[ "$output" == *"cuInit says CUDA_ERROR_NO_DEVICE"* ]]
}

@test "a GPU with a driver too old for CUPTI 13 makes doctor fail with the fix" {
	use_fake_driver
	use_fake_cupti
	FAKE_CUDA=old_driver run "$ROOFLINECTL" doctor --format json
	[ "$status" -eq 1 ]
	[ "$(status_of tracing)" = missing ]
}

@test "an old CUPTI is limited and its version is named" {
	use_fake_cupti
	FAKE_CUPTI_VERSION=21 run "$ROOFLINECTL" doctor --format json
	[ "$(status_of cupti)" = limited ]
	[[ "$output" == *"is CUPTI 12.3, older than 12.4"* ]]
	FAKE_CUPTI_VERSION=22 run "$ROOFLINECTL" doctor --format json
	[ "$(status_of cupti)" = ok ]
	[[ "$output" == *'"12.4, '* ]]
}

@test "faults of a CUPTI are named with what other profilers have to leave out" {
	use_fake_cupti
	FAKE_CUPTI_VERSION=26 run "$ROOFLINECTL" doctor --format json
	[[ "$output" != *"end programs"* ]]
	FAKE_CUPTI_VERSION=130001 run "$ROOFLINECTL" doctor --format json
	[ "$(status_of cupti)" = ok ]
	[[ "$output" == *"its records of memory end programs"*"--cuda-memory-usage=false"* ]]
	[[ "$output" != *"NVTX before CUDA"* ]]
	FAKE_CUPTI_VERSION=130000 run "$ROOFLINECTL" doctor --format json
	[[ "$output" == *"its records of memory"*"it ends programs that use NVTX before CUDA"* ]]
}

@test "a CUPTI that cannot sample is told, where sampling is allowed" {
	local mocks="$BUILD/tests/collector"
	[ -e "$mocks/libcupti_mock.so" ] || skip "there is no CUDA toolkit here"
	use_fake_driver
	ROOFLINE_CUPTI="$mocks/libcupti_mock.so" run "$ROOFLINECTL" doctor --format json
	[ "$(status_of sampling)" = ok ] || skip "this user may not count"
	ROOFLINE_CUPTI="$mocks/libcupti_nosampling.so" run "$ROOFLINECTL" doctor --format json
	[ "$(status_of sampling)" = missing ]
	[ "$(status_of counters)" = ok ]
	[[ "$output" == *"this CUPTI has no PM sampling, as 12.6 and newer have: no samples over time"* ]]
}

@test "a CUPTI that is not there is missing, and matters only with a GPU" {
	export ROOFLINE_CUPTI=/nonexistent/libcupti.so.13
	run "$ROOFLINECTL" doctor --format json
	[ "$(status_of cupti)" = missing ]
	use_fake_driver
	run "$ROOFLINECTL" doctor --format json
	[ "$status" -eq 1 ]
	[[ "$output" == *'"can_record": false'* ]]
}

@test "doctor --format json is JSON with a schema and every check" {
	use_fake_driver
	run "$ROOFLINECTL" doctor --format json
	perl -MJSON::PP -e 'my $d = decode_json(join "", <STDIN>);
		die unless $d->{schema} == 1 && @{$d->{gpus}} == 2 && @{$d->{checks}} >= 10;
		for (@{$d->{checks}}) { die $_->{name} unless $_->{status} =~ /^(ok|limited|missing)$/ }' \
		<<<"$output"
}

@test "another profiler in the environment is named with the fix" {
	CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so run "$ROOFLINECTL" doctor
	[[ "$output" == *"fix: unset CUDA_INJECTION64_PATH"* ]]
}

@test "without gnuplot doctor fails and names the package" {
	mkdir bin
	ln -s "$(command -v sh)" "$(command -v timeout)" bin/
	PATH="$PWD/bin" run "$ROOFLINECTL" doctor
	[ "$status" -eq 1 ]
	[[ "$output" == *"gnuplot does not run"* ]]
	[[ "$output" == *"gnuplot-nox"* ]]
}

@test "doctor takes no argument and says so" {
	run "$ROOFLINECTL" doctor now
	[ "$status" -eq 2 ]
	[[ "$output" == *"no argument is expected, got 'now'"* ]]
}
