#!/usr/bin/env bats
# rooflinectl try: how it measures, what it calls equal, what it tells of a strategy that fails, and what a gate refuses.
# The library is a stand-in, and the program reads ROOFLINE_TRY itself.

load common

# The program prints 20 lines and a sum; $BARE and $TRIED, which it reads as shell commands, make it do otherwise.
setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir bin lib
	cp "$ROOFLINECTL" bin/
	ln -s "$BUILD/share" share
	ln -s "$BUILD/tests/tools/libfake_try.so" lib/librooflinetry.so
	ROOFLINECTL=$PWD/bin/rooflinectl
	cat >app <<-'END'
		#!/usr/bin/env bash
		if [ -n "$ROOFLINE_TRY" ]; then
			echo "tried $ROOFLINE_TRY" >>runs
			eval "$TRIED"
		else
			echo bare >>runs
			eval "$BARE"
		fi
		printf 'line %d\n' 1 2 3
		echo "sum ${sum:-42} in ${time:-7} ms"
	END
	chmod +x app
	export FAKE_TRY_PROCESS=bash FAKE_TRY_ROWS="launches_seen,1000 launches_deferred,900 graph_launches,30 graph_nodes,900"
}

# try OPTION...: without a run before those that are measured
try() {
	"$ROOFLINECTL" try --warmup 0 "$@"
}

# field EXPRESSION: of the JSON in $output
field() {
	python3 -c "import json, sys; j = json.load(sys.stdin); print(($1))" <<<"$output"
}

@test "after a run that is not measured bare runs and runs with the strategy take turns, and the one that comes first changes" {
	run -0 --separate-stderr "$ROOFLINECTL" try --graph -- ./app
	[ "$(paste -sd' ' runs)" = "bare bare tried graph tried graph bare bare tried graph" ]
	[ "${#stderr_lines[@]}" -eq 6 ]
	[[ "${stderr_lines[0]}" == *"bare 1/3  "*s ]]
	[[ "${stderr_lines[1]}" == *"tried 1/3  "*s ]]
}

@test "warm-up runs are bare and not counted" {
	run -0 --separate-stderr try --graph -r 1 --warmup 2 --quiet -f json -- ./app
	[ "$(paste -sd' ' runs)" = "bare bare bare tried graph" ]
	[ -z "$stderr" ]
	[ "$(field 'j["strategies"], len(j["bare"]["times_ns"])')" = "('graph', 1)" ]
}

@test "the speedup is that of medians, with the least and the most of single runs" {
	export BARE='sleep 1'
	run -0 --separate-stderr try --graph -r 2 -f json -- ./app
	[ "$(field 'abs(j["measured"] / (j["bare"]["median_ns"] / j["tried"]["median_ns"]) - 1) < 1e-6')" = True ]
	[ "$(field '1 < j["measured"] and j["measured_low"] <= j["measured"] <= j["measured_high"]')" = True ]
	[ "$(field 'j["is_noise"], j["results"]')" = "(False, 'equal')" ]
	[ "$(field 'abs(j["bare"]["median_ns"] - sum(j["bare"]["times_ns"]) / 2) < 1')" = True ]
}

@test "equal results and what was reached are told" {
	export FAKE_TRY_ROWS="launches_seen,1000 launches_deferred,900 graph_launches,30 graph_nodes,900 passed:capture,20 passed:first_time,80 flush:cuStreamSynchronize,30"
	run -0 --separate-stderr try --graph -r 1 -- ./app
	[[ "$output" == *"Results  (equal)"* ]]
	[[ "$output" == *"stdout     equal, 4 lines"* ]]
	[[ "$output" == *"end        exit code 0 of all runs"* ]]
	[[ "$output" == *"900 of 1,000 (90.0%) launches of kernels were put off"* ]]
	[[ "$output" == *"80  first_time: whether the driver accepts it was not known yet"*"20  capture: the program captures a stream"* ]]
	[[ "$output" == *"30  cuStreamSynchronize"* ]]
	run -0 --separate-stderr try --graph -r 1 -f json -- ./app
	[ "$(field 'j["passed"], j["reach"]["launches_seen"], j["flushes"]')" = \
		"({'first_time': 80, 'capture': 20}, 1000, {'cuStreamSynchronize': 30})" ]
}

@test "strategies are combined, and what each reached is told" {
	export FAKE_TRY_ROWS="launches_seen,5 launches_deferred,4 memory_seen,10 memory_deferred,9 frees_seen,100 frees_kept,80 allocations_seen,50 allocations_reused,40 blocks_returned,3 passed:new_size,20"
	run -0 --separate-stderr try --pool --graph -r 1 -- ./app
	[ "$(paste -sd' ' runs)" = "bare tried graph,pool" ]
	[[ "$output" == *"9 of 10 (90.0%) memsets and copies on the GPU were put off"* ]]
	[[ "$output" == *"80 of 100 (80.0%) times memory was kept when it was freed"* ]]
	[[ "$output" == *"40 of 50 (80.0%) allocations got memory that was kept"* ]]
	[[ "$output" == *"3 blocks of memory that was kept were given back to the driver"* ]]
	[[ "$output" == *"20  new_size: the first free of memory of this size"* ]]
	export FAKE_TRY_ROWS="waits_seen,1000 waits_over,10 waits_left_out,900 waits_made_later,5 passed:shown,90"
	run -0 --separate-stderr try --fewer-waits -r 1 -- ./app
	[[ "$output" == *"900 of 1,000 (90.0%) waits were left out"* ]]
	[[ "$output" == *"10 of 1,000 (1.0%) waits were for what was done already"* ]]
	[[ "$output" == *"5 times such a wait was made later, before a call that could tell"* ]]
}

@test "copies that went through pinned memory are told, and predicted as such" {
	export FAKE_TRY_ROWS="copies_seen,100 copies_staged,80 staged_bytes,335544320 passed:small_copy,20"
	run -0 --separate-stderr try --pinned -r 1 --trace "$root/tests/recordings/copy_overlap.naive" -- ./app
	[ "$(paste -sd' ' runs)" = "bare tried pinned" ]
	[[ "$output" == *"80 of 100 (80.0%) copies between the host and the GPU went through"*"pinned memory"* ]]
	[[ "$output" == *"335,544,320 bytes went through it"* ]]
	[[ "$output" != *"no memory was registered"* ]]
	[[ "$output" == *"20  small_copy: a copy between the host and the GPU of less than a"*megabyte* ]]
	[[ "$output" == *"Predicted  (pinned_memory, from "* ]]
}

@test "copies of memory that was registered for them are told, or that none could be" {
	export FAKE_TRY_ROWS="copies_seen,100 copies_registered,90 registered_bytes,1000 ranges_registered,3 ranges_released,2 unwatched,0"
	run -0 --separate-stderr try --pinned -r 1 -- ./app
	[[ "$output" == *"90 of 100 (90.0%) copies between the host and the GPU"*"registered for it"* ]]
	[[ "$output" == *"3 times memory of the program was registered"* ]]
	[[ "$output" == *"2 times it was released again, before the end"* ]]
	export FAKE_TRY_ROWS="copies_seen,100 unwatched,1"
	run -0 --separate-stderr try --pinned -r 1 -- ./app
	[[ "$output" == *"no memory was registered: this kernel does not tell when it is unmapped"* ]]
}

@test "what memory of the GPU contained is compared in runs of their own, and told where it differs" {
	export FAKE_TRY_WATCHED_MEMORY="allocation_1:_aa allocation_2:_bb" FAKE_TRY_MEMORY="allocation_1:_aa allocation_2:_bb"
	run -0 --separate-stderr try --pinned -r 1 --check-memory -- ./app
	[ "$(paste -sd' ' runs)" = "bare tried pinned bare bare tried pinned" ]
	[[ "$output" == *"device memory equal, 2 lines"* ]]
	export FAKE_TRY_MEMORY="allocation_1:_aa allocation_2:_bc"
	run -3 --separate-stderr try --pinned -r 1 --check-memory --gate=0 -- ./app
	[[ "$output" == *"device memory different, first in line 2"*"bare   allocation 2: bb"*"tried  allocation 2: bc"* ]]
	run -0 --separate-stderr try --pinned -r 1 --check-memory -f json -- ./app
	[ "$(field '[(c["name"], c["match"]) for c in j["compared"] if c["is_judged"]]')" = "[('stdout', 'equal'), ('device memory', 'different')]" ]
	run -0 --separate-stderr try --pinned -r 1 -f json -- ./app
	[ "$(field 'len(j["compared"]), j["results"]')" = "(2, 'equal')" ]
}

@test "memory in which two bare runs differ is not blamed on the strategy, and what is not known is told" {
	cat >app.py <<-'END'
		import os
		os.environ["FAKE_TRY_WATCHED_MEMORY"] = "allocation_1:_%d allocation_2:_bb allocation_3,_not_known:_x" % os.getpid()
		os.environ["FAKE_TRY_MEMORY"] = "allocation_1:_aa allocation_2:_%s allocation_3,_not_known:_x" % os.environ["SECOND"]
	END
	unset FAKE_TRY_PROCESS
	SECOND=bb run -0 --separate-stderr try --graph -r 1 --check-memory -- python3 app.py
	[[ "$output" == *"device memory equal, but for words in 1 of 3 lines in which bare runs differ,"*"first in line 1"* ]]
	[[ "$output" == *"warning: what 1 allocation of the GPU's memory contained is not known"* ]]
	SECOND=bc run -0 --separate-stderr try --graph -r 1 --check-memory -- python3 app.py
	[[ "$output" == *"device memory different, first in line 2"* ]]
}

@test "the time from the first launch to the last wait is measured without recording, in as many more bare runs" {
	export FAKE_TRY_ROWS="launches_seen,5 run_ns,2000000" FAKE_TRY_WATCHED="launches_seen,5 run_ns,8000000"
	run -0 --separate-stderr try --graph -r 2 -- ./app
	[ "$(paste -sd' ' runs)" = "bare tried graph tried graph bare bare bare" ]
	[[ "$output" == *"run            4.00x  4.00x to 4.00x of single runs"*"from the first launch to the last wait: 2.00 ms instead"*"of 8.00 ms"* ]]
	run -0 --separate-stderr try --graph -r 2 -f json -- ./app
	[ "$(field 'j["run"]')" = "{'speedup': 4.0, 'low': 4.0, 'high': 4.0, 'bare_ns': 8000000.0, 'tried_ns': 2000000.0}" ]
	export FAKE_TRY_ROWS="launches_seen,5"
	run -0 --separate-stderr try --graph -r 2 -f json -- ./app
	[ "$(field 'j["run"]["speedup"]')" = None ]
}

@test "a line that differs is shown, and a gate refuses it" {
	export TRIED='sum=41'
	run -0 --separate-stderr try --graph -r 2 -- ./app
	[[ "$output" == *"Results  (different)"* ]]
	[[ "$output" == *"stdout     different, first in line 4"* ]]
	[[ "$output" == *"bare   sum 42 in 7 ms"*"tried  sum 41 in 7 ms"* ]]
	run -3 --separate-stderr try --graph -r 2 --gate --quiet -- ./app
	[ "$stderr" = "rooflinectl try: gate not met: the results differ" ]
}

@test "words in which bare runs differ are not blamed on the strategy, others of their line are" {
	export BARE='time=$RANDOM$RANDOM' TRIED='time=1'
	run -0 --separate-stderr try --graph -r 3 -- ./app
	[[ "$output" == *"Results  (equal, but for words in which bare runs differ)"* ]]
	[[ "$output" == *"in 1 of 4 lines"*"first in line 4"* ]]
	export TRIED='time=1 sum=41'
	run -0 --separate-stderr try --graph -r 3 -f json -- ./app
	[ "$(field 'j["results"], j["compared"][0]["first"]["number"]')" = "('different', 4)" ]
}

@test "where bare runs have not as many lines themselves nothing is blamed on the strategy, and a gate is not met" {
	export BARE='[ "$(wc -l <runs)" -gt 1 ] && echo more'
	run -0 --separate-stderr try --graph -r 2 -- ./app
	[[ "$output" == *"Results  (not known)"* ]]
	[[ "$output" == *"bare runs have not as many lines themselves, they differ from line"* ]]
	rm runs
	run -3 --separate-stderr try --graph -r 2 --gate --quiet -- ./app
	[ "$stderr" = "rooflinectl try: gate not met: whether the results are equal is not known" ]
}

@test "what is masked or left out is not compared" {
	export BARE='time=7' TRIED='time=1'
	run -0 --separate-stderr try --graph -r 1 -f json -- ./app
	[ "$(field 'j["results"], j["compared"][0]["suggested_ignore"]')" = "('different', '[0-9.e+-]+ ms')" ]
	run -0 --separate-stderr try --graph -r 1 -- ./app
	[[ "$output" == *"--ignore '[0-9.e+-]+ ms'"* ]]
	run -0 --separate-stderr try --graph -r 1 -f json --ignore '[0-9]+ ms' -- ./app
	[ "$(field 'j["results"]')" = equal ]
	run -0 --separate-stderr try --graph -r 1 -f json --ignore-output -- ./app
	[ "$(field 'j["results"], j["compared"][0]["is_judged"], j["compared"][0]["match"]')" = "('unknown', False, 'different')" ]
}

@test "what differs on stderr alone is told and does not make results differ" {
	export BARE='echo one >&2' TRIED='echo other >&2'
	run -0 --separate-stderr try --graph -r 1 -- ./app
	[[ "$output" == *"Results  (equal)"* ]]
	[[ "$output" == *"stderr     different, first in line 1 (not judged)"*"bare   one"*"tried  other"* ]]
}

@test "files that the program writes are compared, each as its run left it" {
	export BARE='echo 1 >out' TRIED='echo 1 >out'
	run -0 --separate-stderr try --graph -r 2 --compare out -f json -- ./app
	[ "$(field 'j["results"], j["compared"][2]["name"], j["compared"][2]["match"]')" = "('equal', 'out', 'equal')" ]
	export TRIED='echo 2 >out'
	run -0 --separate-stderr try --graph -r 2 --compare out -f json -- ./app
	[ "$(field 'j["results"], j["compared"][2]["first"]["one"], j["compared"][2]["first"]["other"]')" = "('different', '1', '2')" ]
	export TRIED=
	run -0 --separate-stderr try --graph -r 2 --compare out -- ./app
	[[ "$output" == *"out        different: not written with the strategy"* ]]
	export BARE=
	run -1 --separate-stderr try --graph -r 2 --compare out --quiet -- ./app
	[ "$stderr" = "rooflinectl try: --compare out: the program does not write it" ]
}

@test "a program that prints nothing has no results that are known to be equal" {
	run -0 --separate-stderr try --graph -r 1 -f json -- bash -c :
	[ "$(field 'j["results"]')" = unknown ]
}

@test "a program that fails without a strategy is told at once, unless that is of no account" {
	export BARE='echo no GPU >&2; exit 3' TRIED='exit 3'
	run -1 --separate-stderr try --graph --quiet -- ./app
	[ -z "$output" ]
	[ "$stderr" = "rooflinectl try: the program fails without a strategy, with exit code 3: no GPU (--ignore-failure tries it all the same)" ]
	[ "$(wc -l <runs)" -eq 1 ]
	run -0 --separate-stderr try --graph -r 1 --ignore-failure -f json -- ./app
	[ "$(field 'j["has_equal_ends"], j["bare"]["exit_code"]')" = "(True, 3)" ]
	export BARE='kill -SEGV $$'
	run -1 --separate-stderr try --graph --quiet -- ./app
	[[ "$stderr" == *"with signal 11 (Segmentation fault)"* ]]
	run -1 --separate-stderr try --graph --quiet -- ./nowhere
	[[ "$stderr" == *"with exit code 127: cannot run ./nowhere: No such file or directory"* ]]
}

@test "a strategy that breaks the program is told with how it ended, and not measured" {
	export TRIED='echo bad handle >&2; kill -SEGV $$'
	run -0 --separate-stderr try --graph -- ./app
	[[ "$output" == *"Results  (different)"* ]]
	[[ "$output" == *"exit code 0 bare; with the strategy:"*"signal 11 (Segmentation fault): bad handle"* ]]
	[[ "$output" == *"speedup            -  the runs cannot be compared"* ]]
	[ "$(wc -l <runs)" -eq 2 ]
	run -3 --separate-stderr try --graph --gate -- ./app
}

@test "a strategy that hangs is ended at the time limit" {
	export TRIED='sleep 60'
	run -0 --separate-stderr try --graph --timeout 1.5 -- ./app
	[[ "$output" == *"no end within 1.5 s"* ]]
	[[ "$output" == *"Results  (different)"* ]]
}

@test "a gate asks for a least speedup" {
	export BARE='sleep 0.3'
	run -0 --separate-stderr try --graph -r 1 --gate -- ./app
	run -3 --separate-stderr try --graph -r 1 --gate=100000 --quiet -- ./app
	[[ "$stderr" == "rooflinectl try: gate not met: the measured speedup is "*"x, and 1e+05x was asked for" ]]
}

@test "--keep prints a command that runs when it is pasted, and none where nothing was gained" {
	export BARE='sleep 0.3'
	run -0 --separate-stderr try --graph -r 1 --keep -- ./app "two words"
	command=$(sed -n '/^To keep it/,$ s/^  //p' <<<"$output")
	[ "$command" = "LD_PRELOAD=$PWD/lib/librooflinetry.so ROOFLINE_TRY=graph ./app 'two words'" ]
	rm runs
	bash -c "$command"
	[ "$(cat runs)" = "tried graph" ]
	export TRIED='sleep 0.6'
	run -0 --separate-stderr try --graph -r 1 --keep --quiet -- ./app
	[[ "$stderr" == "rooflinectl try: nothing to keep: "* ]]
	[[ "$output" != *"To keep it"* ]]
}

@test "the command of --keep preloads what the user preloads, too" {
	export BARE='sleep 0.3'
	ln -s lib/librooflinetry.so other.so
	LD_PRELOAD=$PWD/other.so run -0 --separate-stderr try --graph -r 1 --keep -- ./app
	grep -qxF "  LD_PRELOAD=$PWD/lib/librooflinetry.so:$PWD/other.so ROOFLINE_TRY=graph ./app" <<<"$output"
	LD_PRELOAD="$PWD/other.so $PWD/lib/librooflinetry.so" run -0 --separate-stderr try --graph -r 1 --keep -- ./app
	grep -qF "LD_PRELOAD='" <<<"$output"
}

@test "what the program prints is shown on demand, and it gets the input that is asked for" {
	echo hello >in
	run -0 --separate-stderr try --graph -r 1 --quiet --show-output --input in -- bash -c 'echo "$(cat) there"'
	[ "$stderr" = "$(printf 'hello there\nhello there')" ]
	[[ "$output" != *"hello there"* ]]
	run -0 --separate-stderr try --graph -r 1 --quiet -- bash -c 'cat; echo end'
	[[ "$output" == *"stdout     equal, 1 line"* ]]
}

@test "a process that wrote nothing is told, and a library that stepped aside" {
	FAKE_TRY_PROCESS=nobody run -0 --separate-stderr try --graph -r 1 -- ./app
	[[ "$output" == *"Reached  (by the last run with the strategy, in 0 processes"*"nothing is known"* ]]
	export FAKE_TRY_ROWS="launches_seen,10 stepped_aside,1 late_errors,2"
	run -0 --separate-stderr try --graph -r 1 -- ./app
	[[ "$output" == *"the library stepped aside"*"errors of launches came from a later call"* ]]
}

@test "rows that nobody understands are left out" {
	export FAKE_TRY_ROWS="launches_seen,10 launches_seen nonsense,x passed:new_reason,3 ,, flush:,1 launches_deferred,-4"
	run -0 --separate-stderr try --graph -r 1 -f json -- ./app
	[ "$(field 'j["reach"]["launches_seen"], j["reach"]["launches_deferred"], j["passed"]')" = "(10, 0, {'new_reason': 3})" ]
}

@test "an interruption ends the program, and nothing is left" {
	export BARE='echo $$ >pid; exec sleep 300'
	"$ROOFLINECTL" try --graph --quiet -- ./app >out 2>err &
	for ((i = 0; i < 300; i++)); do [ -s pid ] && break; sleep 0.1; done
	kill -TERM $!
	code=0
	wait $! || code=$?
	[ "$code" -eq 143 ]
	[ "$(cat err)" = "rooflinectl try: interrupted" ]
	! kill -0 "$(cat pid)" 2>/dev/null
}

@test "a prediction from a recording stands beside what was measured" {
	export BARE='sleep 0.2'
	run -0 --separate-stderr try --graph -r 1 -f json --trace "$root/tests/recordings/graph_chain.naive" -- ./app
	[ "$(field 'j["prediction"]["techniques"], j["prediction"]["run"]["low"] < j["prediction"]["run"]["speedup"] < j["prediction"]["run"]["high"]')" = \
		"('cuda_graph', True)" ]
	[ "$(field '1 < j["prediction"]["process"]["speedup"] < j["prediction"]["run"]["speedup"]')" = True ]
	run -0 --separate-stderr try --graph -r 1 --trace "$root/tests/recordings/graph_chain.naive" -- ./app
	[[ "$output" == *"Predicted  (cuda_graph, from "* ]]
	run -0 --separate-stderr try --graph --pool -r 1 -f json --trace "$root/tests/recordings/graph_memory.malloc" -- ./app
	[ "$(field 'j["prediction"]["techniques"]')" = "preallocate, cuda_graph" ]
	run -0 --separate-stderr try --fewer-waits -r 1 -f json --trace "$root/tests/recordings/graph_chain.naive" -- ./app
	[ "$(field 'j["prediction"]["techniques"]')" = remove_syncs ]
	run -1 --separate-stderr try --graph --trace nowhere -- ./app
	[[ "$stderr" == *nowhere* ]]
}

@test "CSV has the same figures in one row" {
	run -0 --separate-stderr try --graph -r 1 -f csv -- ./app
	[ "$(python3 -c 'import csv, sys; [r] = csv.DictReader(sys.stdin); print(r["strategies"], r["results"], r["reach_launches_deferred"])' <<<"$output")" = \
		"graph equal 900" ]
}

@test "wrong usage is one line and exit code 2" {
	for arguments in "-- ./app" "--graph" "--graph -r 0 -- ./app" "--graph --ignore ( -- ./app" "--graph --gate=x -- ./app" \
		"--graph --record a --trace b -- ./app"; do
		run -2 --separate-stderr try $arguments
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "without the library it says so" {
	rm lib/librooflinetry.so
	run -1 --separate-stderr try --graph -- ./app
	[[ "$stderr" == "rooflinectl try: $PWD/lib/librooflinetry.so is missing: "* ]]
}
