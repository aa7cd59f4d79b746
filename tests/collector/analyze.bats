#!/usr/bin/env bats
# rooflinectl analyze: records a program, runs it again with what is missing, and gives the verdict.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	ulimit -S -c 0
	recording="$BATS_TEST_TMPDIR/recording"
	mkdir driver
	ln -s "$BUILD/tests/collector/libmock_cuda.so" driver/libcuda.so.1
	export LD_LIBRARY_PATH="$PWD/driver" ROOFLINE_CUPTI="$mock_cupti" MOCK_RANGES_FILE="$PWD/ranges"
	export XDG_DATA_HOME="$PWD/data" # not with what this user measured
	# On a machine that is busy with other things counting takes longer than it may by default.
	export ROOFLINE_COUNTERS_SHARE=100
}

# Kernels run one after the other and nothing else does: counters are missing.  They are long, so that it is so on a
# busy machine too.
busy=(driver cuda launch:count=40,run_us=8000,blocks=6)

# analyze OPTION... -- PROGRAM...
analyze() {
	capture with "$ROOFLINECTL" analyze -o "$recording" "$@"
}

# Without it there is no run without recording.
has_try() {
	[ -e "$BUILD/lib/librooflinetry.so" ] && [[ $(realpath "$BUILD") != *[[:space:]:]* ]] # it is preloaded
}

# runs: which runs the recording has
runs() {
	cat "$recording"/*/process.csv | sed -n 's/^run,//p' | sort | xargs
}

@test "what is missing is recorded by further runs, each announced with its reason, and reports join them" {
	analyze -- "$app" "${busy[@]}"
	ended_with 0
	[ "$(runs)" = "1 3 4" ]
	[ "$(grep -c '^rooflinectl analyze: the program runs again, with ' with.err)" -eq 2 ]
	grep -q "^rooflinectl analyze: the program runs again, with hardware counters: kernels run for .* of the time: " with.err
	grep -q "^rooflinectl analyze: the program runs again, with samples of the whole GPU: " with.err
	run -0 "$ROOFLINECTL" report --format json "$recording"
	python3 -c "
import json, sys
j = json.load(sys.stdin)
[step] = [k for k in j['kernels'] if 'step' in k['name']]
assert step['count'] == 40, step
assert len(j['processes']) == 1 and j['counters'], j['processes']
assert j['roofline']['kernels'][0]['launch_count'] == 40, j['roofline']['kernels'][0]" <<<"$output"
}

@test "the verdict is printed behind the program's own output" {
	analyze -- "$app" "${busy[@]}"
	grep -A 3 '^Verdict$' with.out | tr -s '\n ' ' ' | grep -q ' GPU busy with kernels .*step 100% of '
	grep -qE '^  (how: |next:) rooflinectl ' with.out
	head -n 1 with.out | grep -q '^step driver'
}

@test "the exit code is the program's, and a program that fails is not run again" {
	analyze -- "$app" "${busy[@]}" exit:7
	ended_with 7
	[ "$(runs)" = 1 ]
	grep -q "^rooflinectl analyze: the program ended with exit code 7, so there is no second run" with.err
	grep -q '^Verdict$' with.out
}

@test "--once forbids further runs, and what they would record is told" {
	analyze --once -- "$app" "${busy[@]}"
	ended_with 0
	[ "$(runs)" = 1 ]
	! grep -q "runs again" with.err
	grep -q "rooflinectl record --counters=roofline,atomics,shared,global,sm -o " with.out
}

@test "a further run that fails is the last one, and the exit code is that of the first" {
	analyze -- sh -c "'$app' ${busy[*]}; [ ! -e ran ] || exit 9; touch ran"
	ended_with 0
	if has_try; then
		[ "$(runs)" = 1 ]
		grep -q "^rooflinectl analyze: the run without recording ended with exit code 9, and is the last one" with.err
	else
		[ "$(runs)" = "1 3" ]
		grep -q "^rooflinectl analyze: that run ended with exit code 9, so there is no further one" with.err
	fi
	grep -q '^Verdict$' with.out
}

@test "what the environment asks for in the first run is left to the others" {
	ROOFLINE_COUNTERS=roofline ROOFLINE_GRAPHS=graph analyze --once -- "$app" "${busy[@]}"
	[ -z "$(sed -n 's/^counters,//p' "$recording"/*/process.csv)" ]
	grep -q '^graphs,node$' "$recording"/*/process.csv
}

@test "each run reads the same from a file" {
	echo "a line" >input
	"$ROOFLINECTL" analyze -o "$recording" -- sh -c "cat; '$app' ${busy[*]}" <input >out 2>err
	[ "$(grep -c "^a line$" out)" -eq "$(has_try && echo 4 || echo 3)" ]
}

@test "where kernels do not take most of the time, there is no run with counters" {
	analyze -- "$app" driver cuda launch:count=5,run_us=1 sleep_ms:50 launch
	ended_with 0
	[[ "$(runs)" != *3* ]]
}

@test "a program without CUDA is told to have left nothing, one that is not there ends with 127" {
	analyze -- sh -c 'exit 3'
	ended_with 3
	grep -q "^rooflinectl analyze: nothing was recorded" with.err
	analyze -- no-such-program
	ended_with 127
	grep -q "^rooflinectl analyze: cannot run no-such-program" with.err
}

@test "a folder with another run's recording is refused, as wrong arguments are" {
	analyze --once -- "$app" "${busy[@]}"
	analyze --once -- "$app" "${busy[@]}"
	ended_with 2
	grep -q "already holds a recording of another run" with.err
	analyze
	ended_with 2
	analyze --twice -- true
	ended_with 2
}

@test "a program that ends in what is recorded runs again without that, once" {
	faults_end_programs
	analyze -- "$app" "${busy[@]}" dies_in:free
	ended_with 0
	grep -q 'the program ended with signal 11 .* inside cuMemFreeAsync, while CUPTI was recording it' with.err
	[ "$(grep -c '^rooflinectl analyze: the program runs again without what was recorded there (ROOFLINE_ALLOCATIONS=0)$' with.err)" -eq 1 ]
	[ "$(runs)" = "1 3 4" ]
	grep -q '^Verdict$' with.out
	rm -rf "$recording"
	analyze --once -- "$app" "${busy[@]}" dies_in:free
	ended_with 139
	! grep 'runs again' with.err
}

@test "a signal that ends the program ends analyze" {
	analyze -- sh -c "'$app' ${busy[*]}; kill -TERM \$\$"
	ended_with 143
	[ "$(runs)" = 1 ]
}
