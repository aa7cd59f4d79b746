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

@test "a folder that is gone is no place to record into, and none is needed where -o names one" {
	mkdir gone
	cd gone
	rmdir ../gone
	run -0 "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5
	[ "$(kernels)" -eq 5 ]
	run -1 "$ROOFLINECTL" record -o here -- "$app" cuda kernels:5
	[[ "$output" == *"the current folder is gone"* ]]
	cd "$BATS_TEST_TMPDIR"
}

@test "a warning is not written into a file that the program opened as its stderr" {
	needs_preload
	ROOFLINE_MIN_FREE=99999G run -3 "$ROOFLINECTL" record -o "$recording" -- "$app" file_as_stderr:data.db cuda exit:3
	[ -e data.db ]
	[ ! -s data.db ]
}

@test "a program that ends with _exit loses nothing" {
	needs_preload
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 _exit:4
	[ "$(cat with.status)" -eq 4 ]
	[ "$(kernels)" -eq 5 ]
	grep -q sealed_ns "$recording"/*/process.csv
}

@test "a program that a signal ends ends record with it" {
	capture with "$ROOFLINECTL" record -o "$recording" -- sh -c 'kill -TERM $$'
	[ "$(cat with.status)" -eq 143 ]
}

# fault STEP...: what record says of the program's end
fault() {
	capture bare "$app" cuda kernels:5 "$@"
	rm -rf "$recording"
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 "$@"
	[ ! -e "$recording"/*/last_call ]
	sed -n 's/^rooflinectl record: the program ended with //p' with.err
}

@test "of a program that a fault ends record says in which call that was, and what to leave out" {
	faults_end_programs
	[ "$(fault dies_in:free)" = "signal 11 (Segmentation fault) inside cuMemFreeAsync, while CUPTI was recording it; if it ends well without rooflinectl, try ROOFLINE_ALLOCATIONS=0" ]
	[ "$(cat with.status)" -eq 139 ]
	fault dies_in:event | grep ' inside cuEventRecord, .*, try ROOFLINE_EVENTS=0$'
	[ "$(fault abort)" = "signal 6 (Aborted) outside of the calls that the collector follows; run it without rooflinectl to see whether it does so there" ]
	fault event:record signal:11 | grep 'outside of the calls'
	[ "$(cat with.status)" -eq "$(cat bare.status)" ]
	# What is no fault of the program is none.
	[ -z "$(fault exit:3)" ]
	[ -z "$(fault signal:15)" ]
	ROOFLINE_ALLOCATIONS=0 capture with "$ROOFLINECTL" record -o allocations -- "$app" cuda kernels:5 dies_in:free
	[ "$(cat with.status)" -eq 0 ]
}

@test "a fault is shown for the program that a shell has started, and for none without CUDA" {
	faults_end_programs
	capture with "$ROOFLINECTL" record -o "$recording" -- sh -c '"$@"; exit $?' sh "$app" cuda dies_in:free
	[ "$(cat with.status)" -eq 139 ]
	grep -q '^rooflinectl record: the program ended with exit code 139 inside cuMemFreeAsync, ' with.err
	capture with "$ROOFLINECTL" record -o other -- sh -c 'kill -SEGV $$'
	[ "$(cat with.status)" -eq 139 ]
	! grep 'the program ended with' with.err
}

@test "what is kept of calls is a file of the process's own, and no other process's is touched" {
	faults_end_programs
	local other="$recording/$(hostname)"
	mkdir -p "$other.$$" "$other.1" "$other.gone"
	# That of a rank that runs, and of one that has ended: both within a call.
	python3 -c "
import struct, sys
for path, process in (sys.argv[1], 1), (sys.argv[2], 0x7ffffff0):
    slot = struct.pack('<IHH38s82x', 7, 1, 0, b'cuOther')
    open(path, 'wb').write(struct.pack('<8sII112x', b'ast_call', process, 0) + slot + 61 * 128 * b'\\0')
" "$other.1/last_call" "$other.gone/last_call"
	mkfifo "$other.$$/last_call"
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda dies_in:free
	[ "$(cat with.status)" -eq 139 ]
	grep -q 'inside cuMemFreeAsync' with.err
	[ -p "$other.$$/last_call" ]
	[ -f "$other.1/last_call" ]
	[ ! -e "$other.gone/last_call" ]
	# Without record nothing is kept.
	ROOFLINE_OUTPUT=$PWD/alone capture with env CUDA_INJECTION64_PATH="$collector" "$app" cuda kernels:5 signal:9
	[ -e alone/*/kernels.csv ]
	[ ! -e alone/*/last_call ]
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
		trap 'trap "" INT; echo stopped; exit 0' INT # record passes its own on, later than 20 ms where it was kept from it
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

# ---- one folder, one run ----

# refused REGEX: exit code 2 and one line that matches; the program did not run
refused() {
	ended_with 2
	cat with.err
	[ "$(wc -l <with.err)" -eq 1 ]
	grep -qE "^rooflinectl record: .*$1" with.err
	[ ! -s with.out ]
}

# once OPTION...: record with these on a program of five kernels
once() {
	capture with env "$@" "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5
}

@test "a second run into the same folder is refused, and the first is as it was" {
	once
	ended_with 0
	cp -r "$recording" before
	once
	refused "$recording already holds a recording of another run .*-o"
	diff -r before "$recording"
}

@test "a folder that is there and empty, or has files of other sorts, is taken" {
	mkdir "$recording" "$recording/notes"
	touch "$recording/readme"
	once
	ended_with 0
	equal kernels 5 "$(rows kernels)"
}

@test "the ranks of a job share a folder, each under a record of its own" {
	for rank in 0 1 2; do
		once OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3
		ended_with 0
	done
	equal kernels 15 "$(rows kernels)"
}

@test "ranks that start at once share a folder" {
	started=()
	for rank in {0..7}; do
		SLURM_PROCID=$rank SLURM_NTASKS=8 "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 \
			>"$rank.out" 2>"$rank.err" 3>&- &
		started+=($!)
	done
	for pid in "${started[@]}"; do
		wait "$pid"
	done
	equal kernels 40 "$(rows kernels)"
}

@test "a run into the folder of one that goes on, and has not used CUDA yet, is another run" {
	"$ROOFLINECTL" record -o "$recording" -- bash -c 'touch started; while [ ! -e stop ]; do sleep 0.02; done' 2>first.err 3>&- &
	first=$!
	until [ -e started ]; do sleep 0.02; done
	run -2 --separate-stderr "$ROOFLINECTL" record -o "$recording" -- touch second
	[ ! -e second ]
	[[ "$stderr" == "rooflinectl record: another run that has not ended records into $recording: "*"-o"* ]]
	# of one job each rank is there once
	RANK=0 WORLD_SIZE=2 run -0 "$ROOFLINECTL" record -o "$recording" -- touch rank
	# nor when it was killed is the folder taken
	touch stop
	wait "$first"
	rm -f started stop
	"$ROOFLINECTL" record -o "$recording" -- bash -c 'touch started; sleep 30' 2>first.err 3>&- &
	first=$!
	until [ -e started ]; do sleep 0.02; done
	kill -KILL "$first"
	wait "$first" || true
	run -0 "$ROOFLINECTL" record -o "$recording" -- touch second
	[ -e second ]
}

@test "a rank that the folder has already, or a job of another size, is another run" {
	once RANK=0 WORLD_SIZE=2
	once RANK=0 WORLD_SIZE=2
	refused "another run"
	once RANK=1 WORLD_SIZE=4
	refused "another run"
	once
	refused "another run"
}

@test "a rank is no reason to join the recording of a run without ranks" {
	once
	once RANK=1 WORLD_SIZE=2
	refused "another run"
}

# ---- record under record ----

@test "record under record changes nothing twice and tells its result once" {
	capture once "$ROOFLINECTL" record -o "$recording.1" -- env
	capture with "$ROOFLINECTL" record -o "$recording" -- "$ROOFLINECTL" record -- env
	diff <(grep -v '^ROOFLINE_\(OUTPUT\|RECORD\)=\|^_=' once.out) <(grep -v '^ROOFLINE_\(OUTPUT\|RECORD\)=\|^_=' with.out)
	capture with "$ROOFLINECTL" record -o "$recording" -- "$ROOFLINECTL" record -- \
		sh -c "'$ROOFLINECTL' record -o '$recording' -- '$app' cuda kernels:5; '$app' cuda kernels:5 exit:7"
	ended_with 7
	equal kernels 10 "$(rows kernels)"
	equal 'lines of record' 2 "$(grep -c '^rooflinectl ' with.err)"
}

@test "a program that counts its children, or waits for any, sees its own alone, under every way to record" {
	steps=(count_children:1 cuda kernels:5 count_children:300 kernels:5 exit:6)
	capture bare "$app" "${steps[@]}"
	for option in --api=chosen --live --last=30s --power --sample --counters=roofline --args; do
		rm -rf "$recording"
		capture with "$ROOFLINECTL" record -o "$recording" $option -- "$app" "${steps[@]}"
		cmp bare.out with.out
		ended_with 6
	done
	[ "$(grep -c 'no children: 1, ended: 0' bare.out)" -eq 1 ]
}

@test "as the first process of a container record takes the ends of processes that lost their parents" {
	needs_namespaces --pid --fork --mount-proc
	inside() { unshare --user --map-root-user --pid --fork --mount-proc "$@"; }
	orphan='(sleep 0.1 & echo $! >orphan); for i in $(seq 300); do [ -e /proc/$(cat orphan) ] || break; sleep 0.1; done
		ps -o stat= -e | grep -c Z; exit 7'
	capture with inside "$ROOFLINECTL" record -o "$recording" -- sh -c "$orphan"
	ended_with 7
	equal 'processes that have ended and are still there' 0 "$(cat with.out)"
}

# ---- paths ----

@test "the toolkit and the recording may lie in paths with spaces and colons" {
	mkdir -p 'a b:c/bin' 'a b:c/lib'
	cp "$ROOFLINECTL" 'a b:c/bin/'
	cp "$collector" 'a b:c/lib/'
	capture bare "$app" cuda kernels:5 exit:7
	capture with 'a b:c/bin/rooflinectl' record -o 'd e:f/recording' -- "$app" cuda kernels:5 exit:7
	cmp bare.out with.out
	ended_with 7
	mv 'd e:f/recording' "$recording"
	equal kernels 5 "$(rows kernels)"
	sealed
	[ "$(grep -c 'ERROR' with.err)" -eq 0 ] # of the loader
}

# ---- limits ----

@test "--max-size and --no-command-line reach the collector, and a size that is none is refused" {
	capture with "$ROOFLINECTL" record -o "$recording" --max-size=100K --no-command-line -- \
		"$app" cuda kernels:100000 exit:7
	ended_with 7
	equal size_limit 1 "$(loss size_limit)"
	equal command "$app" "$(property command)"
	for size in 500 ten 5X -1; do
		capture with "$ROOFLINECTL" record -o "$recording" --max-size="$size" -- "$app" print:hello
		ended_with 2
		[[ $(cat with.err) == *"--max-size takes a size of at least 64K, such as 500M, or 0 for no limit, not '$size'"* ]]
	done
}

@test "--repeats records each run into a folder of its own, which compare takes for repeats" {
	capture with "$ROOFLINECTL" record -o "$recording" --repeats 3 -- "$app" cuda kernels:5
	[ "$(cat with.status)" -eq 0 ]
	equal folders "1 2 3" "$(ls -C "$recording" | tr -s ' ')"
	[ "$(grep -c "rooflinectl record: run . of 3" with.err)" -eq 3 ]
	grep -q "rooflinectl record: $recording: 3 recordings of one program" with.err
	run "$ROOFLINECTL" compare "$recording" "$recording/3" -f json
	[ "$(python3 -c 'import json, sys; print([len(s["recordings"]) for s in json.load(sys.stdin)["sides"]])' <<<"$output")" = "[3, 1]" ]
	capture with "$ROOFLINECTL" record -o "$recording" --repeats 2 -- "$app" cuda kernels:5
	[ "$(cat with.status)" -eq 2 ]
	grep -q "$recording/1 already holds a recording of another run" with.err
}

@test "each of the repeats reads the same stdin, and gets signals as the first" {
	echo "a line" >input
	"$ROOFLINECTL" record -o "$recording" --repeats 2 -- sh -c "cat; '$app' cuda kernels:5; grep SigBlk /proc/self/status" \
		<input >out 2>err
	[ "$(grep -c "a line" out)" -eq 2 ]
	[ "$(grep SigBlk out | sort -u | wc -l)" -eq 1 ]
}

@test "a run that fails is the last of the repeats" {
	capture with "$ROOFLINECTL" record -o "$recording" --repeats 3 -- \
		sh -c "'$app' cuda kernels:5; [ -e again ] && exit 7; touch again"
	[ "$(cat with.status)" -eq 7 ]
	grep -q "ended with exit code 7, so there is no further run" with.err
	equal folders "1 2" "$(ls -C "$recording" | tr -s ' ')"
	grep -q "rooflinectl report $recording/2" with.err
	capture with "$ROOFLINECTL" record --repeats 0 -- true
	[ "$(cat with.status)" -eq 2 ]
	capture with "$ROOFLINECTL" record --repeats 2 --last 30s -- true
	[ "$(cat with.status)" -eq 2 ]
}

@test "a library that CUDA or NVTX was to load is replaced, and that is told" {
	needs_preload
	run -0 --separate-stderr env CUDA_INJECTION64_PATH=/one.so NVTX_INJECTION64_PATH=/other.so "$ROOFLINECTL" record -o "$recording" -- \
		bash -c 'echo "$CUDA_INJECTION64_PATH $NVTX_INJECTION64_PATH"'
	equal loaded "$collector $collector" "$output"
	[[ "$stderr" == *"rooflinectl record: replacing CUDA_INJECTION64_PATH=/one.so"* ]]
	[[ "$stderr" == *"rooflinectl record: replacing NVTX_INJECTION64_PATH=/other.so"* ]]
}

@test "--untraced runs the program again without the collector, and keeps its exit code and its recording" {
	needs_preload
	capture with "$ROOFLINECTL" record -o "$recording" --untraced=2 -- "$app" print:here cuda kernels:10
	ended_with 0
	[ "$(find "$recording" -name process.csv | wc -l)" -eq 1 ] # it calls no driver
	if [ -e "$BUILD/lib/librooflinetry.so" ]; then
		[ "$(grep -c '^here$' with.out)" -eq 3 ]
		[ "$(grep -c 'runs again without recording' with.err)" -eq 2 ]
	else
		[ "$(grep -c '^here$' with.out)" -eq 1 ]
		grep -q 'librooflinetry.so is missing, so nothing runs without recording' with.err
	fi
}

@test "--untraced is for a whole run that ended well, and takes a number of runs" {
	capture with "$ROOFLINECTL" record -o "$recording" --untraced -- "$app" cuda kernels:10 exit:3
	ended_with 3
	grep -q 'ended with exit code 3, so there is no ' with.err
	run -2 --separate-stderr "$ROOFLINECTL" record --untraced=0 -- "$app"
	[[ "$stderr" == *"--untraced takes a number of runs from 1 to "* ]]
	run -2 --separate-stderr "$ROOFLINECTL" record --untraced --last 3s -- "$app"
	[[ "$stderr" == *"--untraced does not go with --last"* ]]
}

@test "what record prints of a folder with a hostile name can be pasted" {
	load ../cli/pasted.bash
	for options in "" "--repeats 2" "--last 1s"; do
		rm -rf "$path"
		# shellcheck disable=SC2086 # several words
		capture with "$ROOFLINECTL" record -o "$path" $options -- "$app" cuda kernels:5
		[ "$(cat with.status)" -eq 0 ]
		pasted "$(grep -v '^rooflinectl record: run ' with.err)" "$hostile"
	done
}
