#!/usr/bin/env bats
# rooflinectl record: the program runs as without it, with the collector inside.

load common

# kernels: rows of kernels.csv of all processes
kernels() {
	tail -q -n +2 "$recording"/*/kernels.csv | wc -l
}

@test "stdout and the exit code are the program's own, and the recording is where -o says" {
	capture bare "$app" cuda kernels:5 exit:7
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 exit:7
	cmp bare.out with.out
	[ "$(cat with.status)" -eq 7 ]
	[ "$(kernels)" -eq 5 ]
	grep -q "rooflinectl report $recording" with.err
}

@test "a relative -o is meant from where record was started" {
	capture with "$ROOFLINECTL" record -o here -- env -C / "$app" cuda kernels:5
	[ "$(cat with.status)" -eq 0 ]
	[ -e "$BATS_TEST_TMPDIR"/here/*/kernels.csv ]
}

@test "a program that ends with _exit loses nothing" {
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 _exit:4
	[ "$(cat with.status)" -eq 4 ]
	[ "$(kernels)" -eq 5 ]
	grep -q sealed_ns "$recording"/*/process.csv
}

@test "a program that a signal ends ends record with it" {
	capture with "$ROOFLINECTL" record -o "$recording" -- sh -c 'kill -TERM $$'
	[ "$(cat with.status)" -eq 143 ]
}

@test "options reach the collector" {
	capture with "$ROOFLINECTL" record -o "$recording" --kernels unlike --graphs=graph -- \
		"$app" cuda kernels:5 name:_Z6unlikev kernels:6
	[ "$(kernels)" -eq 6 ]
	grep -q '^graphs,graph$' "$recording"/*/process.csv
}

@test "a program without CUDA is reported to have left nothing" {
	capture with "$ROOFLINECTL" record -o "$recording" -- true
	[ "$(cat with.status)" -eq 0 ]
	grep -q "nothing was recorded" with.err
	[ ! -e "$recording" ]
}

@test "wrong arguments exit with 2, a program that is not there with 127" {
	run "$ROOFLINECTL" record
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" record --graphs=all -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"--graphs takes node, graph or both, not 'all'"* ]]
	run "$ROOFLINECTL" record --delay soon -- true
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" record --kernels '(' -- true
	[ "$status" -eq 2 ]
	run "$ROOFLINECTL" record --api=some -- true
	[ "$status" -eq 2 ]
	capture with "$ROOFLINECTL" record -- no-such-program
	[ "$(cat with.status)" -eq 127 ]
	grep -q "cannot run no-such-program" with.err
}

# runs: the values of run, graphs and counters of every process, by run
runs() {
	local process
	for process in "$recording"/*/process.csv; do
		echo $(sed -nE 's/^(run|graphs|counters),//p' "$process" | sort)
	done | sort
}

@test "--graphs=both runs the program twice into one recording: nodes first, then whole graphs" {
	capture with "$ROOFLINECTL" record -o "$recording" --graphs=both -- \
		sh -c "echo hello; '$app' cuda every_kind:5"
	[ "$(cat with.status)" -eq 0 ]
	[ "$(grep -c hello with.out)" -eq 2 ]
	[ "$(grep -c "the program runs a second time" with.err)" -eq 1 ]
	[ "$(grep -c "rooflinectl report $recording" with.err)" -eq 1 ]
	equal runs "1 node
2 graph" "$(runs)"
	equal "processes that the report counts" 1 \
		"$("$ROOFLINECTL" report "$recording" -f csv -s processes |
			python3 -c 'import csv, sys; print(len(list(csv.DictReader(sys.stdin))))')"
	equal "kernels of the report" 5 \
		"$("$ROOFLINECTL" report "$recording" -f csv -s kernels | cut -d, -f3 | tail -n 1)"
}

@test "without it a process says nothing of runs" {
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5
	[ "$(kernels)" -eq 5 ]
	[ -z "$(property run)" ]
}

@test "a program that fails in its first run is not run a second time, and its exit code is record's" {
	capture with "$ROOFLINECTL" record -o "$recording" --graphs=both -- \
		sh -c "echo hello; '$app' cuda kernels:5 exit:7"
	[ "$(cat with.status)" -eq 7 ]
	[ "$(grep -c hello with.out)" -eq 1 ]
	[ "$(grep -c "ended with exit code 7, so there is no second run" with.err)" -eq 1 ]
	[ "$(grep -c "runs a second time" with.err)" -eq 0 ]
	equal runs "1 node" "$(runs)"
}

@test "neither is one that a signal ended, nor one that did not start or recorded nothing" {
	capture with "$ROOFLINECTL" record -o "$recording" --graphs=both -- \
		sh -c 'echo once; kill -TERM $$'
	[ "$(cat with.status)" -eq 143 ]
	[ "$(wc -l <with.out)" -eq 1 ]
	grep -q "ended with signal 15 (Terminated), so there is no second run" with.err
	capture with "$ROOFLINECTL" record --graphs=both -- no-such-program
	[ "$(cat with.status)" -eq 127 ]
	grep -q "did not start, so there is no second run" with.err
	capture with "$ROOFLINECTL" record -o "$recording" --graphs=both -- echo once
	[ "$(cat with.status)" -eq 0 ]
	[ "$(wc -l <with.out)" -eq 1 ]
	grep -q "nothing was recorded" with.err
}

@test "a program that is interrupted in its first run is not run a second time, whatever its exit code" {
	cat >program <<-END
		trap 'echo stopped; exit 0' INT
		"$app" cuda kernels:5
		kill -INT \$PPID \$\$
		sleep 5
	END
	capture with "$ROOFLINECTL" record -o "$recording" --graphs=both -- bash program
	[ "$(cat with.status)" -eq 0 ]
	[ "$(grep -c stopped with.out)" -eq 1 ]
	grep -q "interrupted, so there is no second run" with.err
}

@test "the exit code is the first run's when the second fails, and that is reported" {
	cat >program <<-END
		"$app" cuda kernels:5
		[ ! -e again ] || exit 9
		touch again
	END
	capture with "$ROOFLINECTL" record -o "$recording" --graphs=both -- bash program
	[ "$(cat with.status)" -eq 0 ]
	grep -q "the second run ended with exit code 9" with.err
	equal runs "1 node
2 graph" "$(runs)"
}

@test "both runs read the same stdin when it is a file, and only the first has counters" {
	echo line >input
	"$ROOFLINECTL" record -o "$recording" --graphs=both --counters=roofline -- \
		sh -c "cat; '$app' cuda kernels:5" <input >out 2>err
	[ "$(grep -c '^line$' out)" -eq 2 ]
	equal runs "1 node roofline
2 graph" "$(runs)"
}

@test "what is no run is reported and taken for none" {
	export ROOFLINE_RUN=third
	record cuda kernels:5
	warned 1 "ROOFLINE_RUN='third'.*; using 0"
	[ -z "$(property run)" ]
}
