#!/usr/bin/env bats
# librooflinetry.so and the collector in one process, against the stand-in for CUPTI: rooflinectl try --record.
load ../cli/common

setup() {
	collector=$BUILD/lib/librooflinecollector.so
	app=$BUILD/tests/collector/mock_app
	[ -e "$collector" ] && [ -e "$app" ] || skip "no collector"
	export ROOFLINE_CUPTI=$BUILD/tests/collector/libcupti_mock.so
	cd "$BATS_TEST_TMPDIR"
}

# kernels FOLDER: rows of kernels.csv of all processes of a recording
kernels() {
	tail -q -n +2 "$1"/*/kernels.csv | wc -l
}

@test "a recording is sealed when a program with both libraries ends with _exit, whichever comes first" {
	for order in "$BUILD/lib/librooflinetry.so $collector" "$collector $BUILD/lib/librooflinetry.so"; do
		rm -rf recording
		run -4 env ROOFLINE_OUTPUT=recording ROOFLINE_TRY=graph LD_PRELOAD="$order" "$app" cuda kernels:500 _exit:4
		grep -q sealed_ns recording/*/process.csv
		[ "$(kernels recording)" -eq 500 ]
	done
}

@test "--record records a run without the strategy and one with it, and predicts from the first" {
	run -0 --separate-stderr "$ROOFLINECTL" try --graph -r 1 --record trial --quiet -f json -- "$app" cuda kernels:500 _exit:0
	for side in bare tried; do
		[ "$(kernels trial/$side)" -eq 500 ]
		grep -q sealed_ns trial/$side/*/process.csv
	done
	python3 -c "
import json, sys
trial = json.load(sys.stdin)
assert trial['prediction']['recording'].endswith('trial/bare'), trial
assert trial['results'] == 'equal', trial" <<<"$output"
}

@test "--record tells before any run that the folder holds a trial already, or cannot be made" {
	echo 'echo run >>runs' >program
	"$ROOFLINECTL" try --graph -r 1 --record trial --quiet -- "$app" cuda kernels:5 _exit:0 >out
	rm -r trial/bare # a trial that was interrupted, or half removed
	run -1 --separate-stderr "$ROOFLINECTL" try --graph --record trial -- bash program
	[ "$stderr" = "rooflinectl try: --record: trial/tried holds a recording already: choose another folder, or remove that one" ]
	run -1 --separate-stderr "$ROOFLINECTL" try --graph --record out -- bash program
	[ "$stderr" = "rooflinectl try: --record: cannot make out/bare: Not a directory" ]
	[ ! -e runs ]
}

@test "--record tells which run it could not record" {
	run -0 --separate-stderr "$ROOFLINECTL" try --graph -r 1 --record trial --quiet -- "$app" print:no_cuda
	[[ "$output" == *"trial/bare: nothing was recorded"* ]]
}
