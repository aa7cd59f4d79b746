#!/usr/bin/env bats
# rooflinectl tune: which parameters it chooses, what it tells of trials that fail, and what it stores.

load common

# A program whose time is a known function of three parameters; its best point is 256, 32, 4.
setup() {
	cd "$BATS_TEST_TMPDIR"
	cat >app <<-'END'
		#!/usr/bin/env bash
		echo run >>runs
		[ "$2" != 64 ] || [ -z "$BREAKS" ] || { echo "a line" >&2; echo "the tile is too large" >&2; exit 3; }
		b=$(($1 == 64 ? 6 : $1 == 128 ? 7 : $1 == 256 ? 8 : $1 == 512 ? 9 : 10))
		t=$(($2 == 8 ? 3 : $2 == 16 ? 4 : $2 == 32 ? 5 : 6)) u=$(($3 == 1 ? 0 : $3 == 2 ? 1 : $3 == 4 ? 2 : 3))
		echo "time 7 ms"
		echo "time $((100 + 10 * (b - 8) ** 2 + 15 * (t - 5) ** 2 + 5 * (u - 2) ** 2)) ms"
	END
	chmod +x app
	space=(--param block=64..1024:x2 --param tile=8..64:x2 --param unroll=1..8:x2)
	timed=(--objective 'stdout:time ([0-9]+)')
	program=(-- ./app '{block}' '{tile}' '{unroll}')
}

tune() {
	"$ROOFLINECTL" tune "$@"
}

# measured DIR: all 80 points, so that searches need not run the program
measured() {
	tune "${space[@]}" "${timed[@]}" --search exhaustive --repeats 0 --quiet -o "$1" "${program[@]}"
}

runs() {
	wc -l <runs
}

best_of() {
	sed -n 's/^Best  *\(.*\)  [0-9.]*  *(.*/\1/p; s/^Best  *\(.*\)  [0-9.]*$/\1/p'
}

@test "every point is tried once and the best few again, taking turns" {
	run --separate-stderr tune "${space[@]}" "${timed[@]}" --search exhaustive -o results "${program[@]}"
	[ "$status" -eq 0 ]
	[ "$(runs)" -eq 95 ]
	[ "$(best_of <<<"$output")" = "block=256 tile=32 unroll=4" ]
	[[ "$output" == *"(median of 5 repeats, 100 to 100)"* ]]
	[[ "$output" == *"better than the second by 5.0%, in 5 of 5 repeats that took turns"* ]]
	[[ "$output" == *"Run     ./app 256 32 4"* ]]
	[[ "$stderr" == "exhaustive: 80 of 80 points, objective stdout:time ([0-9]+), seed 1"* ]]
	[[ "$stderr" == *"     1/80  block=64 tile=8 unroll=1  220"* ]]
	repeats=$(grep -o '"round":[1-9].*' results/trials.jsonl | sed 's/.*"parameters":{\([^}]*\)}.*/\1/')
	[ "$(sed -n 1p <<<"$repeats")" = "$(sed -n 4p <<<"$repeats")" ]
	[ "$(sed -n 1p <<<"$repeats")" != "$(sed -n 2p <<<"$repeats")" ]
}

@test "what was measured before is not measured again, unless it is asked for" {
	measured results
	tune "${space[@]}" "${timed[@]}" --search exhaustive --repeats 0 --quiet -o results "${program[@]}" >output
	[ "$(runs)" -eq 80 ]
	grep -q "80 measured, 80 of them or their repeats from earlier results" output
	tune "${space[@]}" "${timed[@]}" --search exhaustive --repeats 0 --quiet --fresh -o results "${program[@]}" >output
	[ "$(runs)" -eq 160 ]
	run ! grep "of another command" output
}

@test "measurements of another program, command or objective are not used" {
	measured results
	echo "# changed" >>app
	tune "${space[@]}" "${timed[@]}" --trials 3 --search random --repeats 0 --quiet -o results "${program[@]}" >output
	[ "$(runs)" -eq 83 ]
	grep -q "80 earlier results are of another command, program, objective, GPU, environment or --trial-timeout, and were not used" output
	tune "${space[@]}" --objective 'stdout:ime ([0-9]+)' --trials 3 --search random --repeats 0 --quiet -o results "${program[@]}"
	[ "$(runs)" -eq 86 ]
	tune "${space[@]}" "${timed[@]}" --trials 3 --search random --repeats 0 --quiet -o results "${program[@]}" more
	[ "$(runs)" -eq 89 ]
}

@test "measurements under other variables are not used, but for those of another terminal, login or batch job" {
	again=("${space[@]}" "${timed[@]}" --trials 3 --search random --repeats 0 --quiet -o results "${program[@]}")
	CUDA_VISIBLE_DEVICES=0 measured results
	CUDA_VISIBLE_DEVICES=0 SSH_TTY=/dev/pts/9 TERM=other SLURM_JOB_ID=9 tune "${again[@]}"
	[ "$(runs)" -eq 80 ]
	CUDA_VISIBLE_DEVICES=1 tune "${again[@]}"
	[ "$(runs)" -eq 83 ]
	N=4096 CUDA_VISIBLE_DEVICES=1 tune "${again[@]}"
	[ "$(runs)" -eq 86 ]
}

@test "a trial that took too long is run again with a longer --trial-timeout, and not with the same one" {
	again=(--param s=0,300 --search exhaustive --repeats 0 -o results -- sh -c 'echo >>runs; [ -e quick ] || exec sleep {s}')
	tune --trial-timeout 3 "${again[@]}"
	tune --trial-timeout 3 "${again[@]}"
	[ "$(runs)" -eq 2 ]
	touch quick
	tune --trial-timeout 60 "${again[@]}" 2>trials
	[ "$(runs)" -eq 3 ]
	run ! grep timed_out trials
}

@test "a search that was interrupted goes on where it was" {
	measured results
	head -n 40 results/trials.jsonl >cut
	printf '{"fingerprint":"12' >>cut
	mkdir half
	mv cut half/trials.jsonl
	measured half
	[ "$(runs)" -eq 120 ]
}

@test "Bayesian, genetic and model search find it with 15% of the trials, over ten seeds" {
	measured results
	for search in bayesian model genetic; do
		near=0
		for seed in 1 2 3 4 5 6 7 8 9 10; do
			value=$(tune "${space[@]}" "${timed[@]}" --search $search --trials 12 --seed $seed --from results --quiet \
				--format json "${program[@]}" | python3 -c 'import json, sys; print(int(json.load(sys.stdin)["best"][0]["median"]))')
			near=$((near + (value <= 103)))
		done
		echo "$search: $near of 10"
		[ "$near" -ge "$([ $search = genetic ] && echo 5 || echo 9)" ]
	done
	[ "$(runs)" -eq 80 ]
}

@test "the same seed and the same measurements lead to the same trials" {
	measured results
	for search in random genetic bayesian model; do
		for again in 1 2; do
			tune "${space[@]}" "${timed[@]}" --search $search --trials 20 --seed 5 --from results "${program[@]}" \
				>$search.$again 2>&1
		done
		cmp $search.1 $search.2
		tune "${space[@]}" "${timed[@]}" --search $search --trials 20 --seed 6 --from results "${program[@]}" >other 2>&1
		! cmp -s $search.1 other
	done
}

@test "a trial that fails is told with its reason and skipped" {
	export BREAKS=yes
	run --separate-stderr tune "${space[@]}" "${timed[@]}" --search exhaustive -o results "${program[@]}"
	[ "$status" -eq 0 ]
	[ "$(best_of <<<"$output")" = "block=256 tile=32 unroll=4" ]
	[[ "$output" == *"20 without a value: the program ended with an error"* ]]
	[[ "$output" == *"the last of them: exit code 3: the tile is too large"* ]]
	[[ "$stderr" == *"tile=64 unroll=1  failed: exit code 3: the tile is too large"* ]]
}

@test "a trial that takes too long ends, and so does what it started" {
	cat >slow <<-'END'
		#!/bin/sh
		[ "$1" = 1 ] && { sleep 300 & echo $! >child; wait; }
		echo 5
	END
	chmod +x slow
	run --separate-stderr tune --param a=1,2 --objective 'stdout:^([0-9]+)' --trial-timeout 3 -o results -- ./slow '{a}'
	[ "$status" -eq 0 ]
	[[ "$output" == *"1 without a value: the program took longer than --trial-timeout"* ]]
	[[ "$output" == *"Best    a=2  5"* ]]
	[[ "$output" == *"nothing to compare it with: no other trial worked"* ]]
	run ! grep -q 'State:.[RSD]' "/proc/$(cat child)/status"
}

@test "when no trial works tune fails and says why the last one did not" {
	run --separate-stderr tune --param a=1,2 -o results -- false '{a}'
	[ "$status" -eq 1 ]
	[ "$(tail -n 1 <<<"$stderr")" = "rooflinectl tune: no trial worked: exit code 1" ]
	[ "$(tail -n 1 <<<"$output")" = "Results results/trials.jsonl" ] # and nothing to draw
	run --separate-stderr tune --param a=1,2 --objective 'stdout:time' -o results -- echo '{a}'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"no_value: it printed no number where the regular expression matches"* ]]
	run --separate-stderr tune --param a=1,2 -o results -- ./nothing '{a}'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"failed: exit code 127: cannot run ./nothing: No such file or directory"* ]]
}

@test "the default is tried first and compared with the best" {
	run --separate-stderr tune "${space[@]}" "${timed[@]}" --default block=1024,unroll=8 --search random --trials 20 -o results "${program[@]}"
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"     1/20  block=1024 tile=8 unroll=8  205"* ]]
	[[ "$output" == *"Default block=1024 tile=8 unroll=8  205; the best is "*"x as good"* ]]
}

@test "points that --where forbids are not tried" {
	run --separate-stderr tune "${space[@]}" "${timed[@]}" --where 'block*tile <= 1024 and unroll != 1' --search exhaustive -o results "${program[@]}"
	[ "$status" -eq 0 ]
	[[ "$stderr" == "exhaustive: 9 of 9 points (--where leaves these of 80)"* ]]
	[ "$(best_of <<<"$output")" = "block=64 tile=16 unroll=4" ]
}

@test "equal points are a tie, and how much chance there is in the choice is told" {
	run --separate-stderr tune --param a=1,2 --objective 'stdout:[0-9]+' -o results -- sh -c 'echo 5 # {a}'
	[ "$status" -eq 0 ]
	[[ "$output" == *"a tie with the second: better in 0 of 5 repeats that took turns, which chance does with 100%"* ]]
	run --separate-stderr tune --param a=1,2 --objective 'stdout:[0-9]+' --repeats 0 -o results -- echo '{a}'
	[[ "$output" == *"each was measured once, so chance may have chosen: --repeats 5 tells"* ]]
}

@test "more is better with --maximize" {
	run --separate-stderr tune --param a=1..9 --objective 'stdout:[0-9]+' --maximize --default a=2 -o results -- echo '{a}'
	[ "$status" -eq 0 ]
	[[ "$output" == *"Best    a=9  9"* ]]
	[[ "$output" == *"Default a=2  2; the best is 4.50x as good"* ]]
}

@test "values of 0 and less are compared, and no share of them is told" {
	run --separate-stderr tune --param a=1,2 --objective 'stdout:[-0-9]+' --default a=2 -o results -- sh -c 'echo $(({a} - 1))'
	[ "$status" -eq 0 ]
	[[ "$output" == *"  better than the second, in 5 of 5 repeats that took turns"$'\n'* ]]
	[[ "$output" == *$'\n'"Default a=2  1"$'\n'* ]]
	run --separate-stderr tune --param a=1,2 --objective 'stdout:[-0-9]+' --maximize -o results -- echo '-{a}'
	[[ "$output" == *"Best    a=1  -1"*"  better than the second, in 5 of 5 repeats that took turns"$'\n'* ]]
}

@test "the last number that is printed counts, also of many lines and of one at the end of a line" {
	run --separate-stderr tune --param a=1,2 --objective 'stdout:[0-9]+$' --repeats 0 -o results -- sh -c 'yes "9 1{a}" | head -n 500000; echo "no 7 number"; echo'
	[ "$status" -eq 0 ]
	[[ "$output" == *"Best    a=1  11"$'\n'* ]]
	run --separate-stderr tune --param a=1,2 --objective 'stdout:^[0-9]|[0-9]s' --repeats 0 -o results -- sh -c 'printf "8 7s {a}"'
	[[ "$output" == *"Best    a=1  7"$'\n'* ]]
}

@test "the time of the whole program is measured where nothing else is asked for" {
	run --separate-stderr tune --param a=2,0 -o results -- sleep '0.{a}'
	[ "$status" -eq 0 ]
	[[ "$output" == *"Best    a=0  "*" ms  (median of 5 repeats"* ]]
	[[ "$output" == *"Second  a=2  "[2-9][0-9][0-9]" ms"* ]]
}

@test "texts are parameters as well, one of them may be empty, and words may hold several" {
	run --separate-stderr tune --param block=16x16,32x8 --param pad=,_padded --objective 'stdout:[0-9]+' -o results -- \
		sh -c 'case {block}{pad} in 32x8_padded) echo 1;; *) echo 2;; esac'
	[ "$status" -eq 0 ]
	[[ "$output" == *"Best    block=32x8 pad=_padded  1"* ]]
	[[ "$output" == *"Run     sh -c 'case 32x8_padded in "* ]]
}

@test "JSON has the best few with their repeats, and every trial" {
	tune "${space[@]}" "${timed[@]}" --search bayesian --seed 3 --quiet --format json -o results "${program[@]}" >output.json
	python3 - <<-'END'
		import json
		result = json.load(open("output.json"))
		assert result["search"] == "bayesian" and result["seed"] == 3 and result["points"] == 80
		assert len(result["trials"]) == 12 and result["trials"][0]["status"] == "ok"
		assert len(result["best"][0]["repeats"]) == result["rounds"] == 5
		assert result["best"][0]["median"] == min(trial["value"] for trial in result["trials"])
		assert set(result["best"][0]["parameters"]) == {"block", "tile", "unroll"}
	END
}

@test "no further trial begins when the seconds are over" {
	run --separate-stderr tune --param a=1..9 --search random --seconds 0.5 -o results -- sleep '0.2{a}'
	[ "$status" -eq 0 ]
	[[ "$output" =~ "Trials  "[1-4]" of 9 points ("[0-9]+"%); --seconds were over" ]]
}

@test "interrupted, tune ends the trial, tells what it has, and keeps what was measured" {
	cat >slow <<-'END'
		#!/bin/sh
		[ "$1" = 3 ] && { touch there; sleep 300; }
		echo 5
	END
	chmod +x slow
	cat >interrupt.py <<-'END'
		import os, signal, subprocess, sys, time
		signal.signal(signal.SIGINT, signal.default_int_handler) # what a script runs in the background ignores it
		tune = subprocess.Popen(sys.argv[1:], stdout=open("out", "w"), stderr=open("err", "w"))
		while not os.path.exists("there"):
		    time.sleep(0.01)
		tune.send_signal(signal.SIGINT)
		sys.exit(tune.wait() != -signal.SIGINT)
	END
	python3 interrupt.py "$ROOFLINECTL" tune --param a=1..5 --objective 'stdout:[0-9]+' -o results -- ./slow '{a}'
	grep -q "rooflinectl tune: interrupted" err
	grep -q "^Best    a=1  5" out
	[ "$(wc -l <results/trials.jsonl)" -eq 2 ]
}

@test "the program gets no input, and its output only goes where it is asked for" {
	run --separate-stderr tune --param a=1,2 --objective 'stdout:[0-9]+' -o results --repeats 0 -- sh -c 'cat; echo "value {a}"' <<<"input 7"
	[ "$status" -eq 0 ]
	[[ "$output" != *$'\nvalue '* && "$stderr" != *$'\nvalue '* && "$output" == *"Best    a=1  1"* ]]
	run --separate-stderr tune --param a=1,2 --objective 'stdout:[0-9]+' -o results --fresh --show-output --repeats 0 -- sh -c 'echo "value {a}"'
	[[ "$stderr" == *$'\nvalue 2'* ]]
}

# wrong TEXT ARGUMENT...: is usage, and says so
wrong() {
	local text=$1
	shift
	run --separate-stderr tune "$@"
	[ "$status" -eq 2 ]
	[[ "$stderr" == "rooflinectl tune: "*"$text"* ]] || { echo "$stderr"; return 1; }
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}

@test "what cannot be meant is refused in one line before anything runs" {
	wrong "no program given" --param a=1,2
	wrong "no --param NAME=VALUE,... is given" -- ./app
	wrong "the command does not use --param a: write {a} where its value goes" --param a=1,2 -- ./app
	wrong "the command has {tiel}, and there is no --param tiel: " --param a=1,2 -- ./app '{a}' '--tile={tiel}'
	wrong "no parameter with numbers of that name at 'b'" --param a=1,2 --where 'a < b' -- ./app '{a}'
	wrong "--where leaves none of 2 combinations" --param a=1,2 --where 'a > 2' -- ./app '{a}'
	wrong "--search 'simplex' is none of those" --param a=1,2 --search simplex -- ./app '{a}'
	wrong "is none of wall, kernel:NAME, range:NAME, stdout:REGEX" --param a=1,2 --objective kernel: -- ./app '{a}'
	wrong "--objective 'stdout:('" --param a=1,2 --objective 'stdout:(' -- ./app '{a}'
	wrong "--maximize is for --objective stdout" --param a=1,2 --maximize -- ./app '{a}'
	wrong "--param a has no value '3'" --param a=1,2 --default a=3 -- ./app '{a}'
	wrong "--trials takes a whole number, not '1.5'" --param a=1,2 --trials 1.5 -- ./app '{a}'
	wrong "--explain is for --objective kernel:NAME" --param a=1,2 --explain -- ./app '{a}'
	wrong "--from runs nothing" --param a=1,2 --objective kernel:k --explain --from results -- ./app '{a}'
	[ ! -e runs ]
}

@test "braces that name no parameter are passed on: of shells, regular expressions, awk and JSON" {
	run tune --param a=1,2 --repeats 0 -o results -- sh -c 'echo {a} ${HOME} {} {1,2} "[0-9]{3}" "{ print }" "{\"x\": 1}" >>words'
	[ "$status" -eq 0 ]
	[ "$(head -n 1 words)" = "1 $HOME {} {1,2} [0-9]{3} { print } {\"x\": 1}" ]
}

@test "--from a folder without results says so" {
	run --separate-stderr tune --param a=1,2 --from . -- ./app '{a}'
	[ "$status" -eq 1 ]
	[[ "$stderr" == *". holds no measurements (trials.jsonl)" ]]
}

@test "plot tune draws the best found against trials" {
	measured results
	for search in random bayesian; do
		for seed in 1 2; do
			tune "${space[@]}" "${timed[@]}" --search $search --trials 12 --seed $seed --from results --quiet -o again "${program[@]}"
		done
	done
	run --separate-stderr "$ROOFLINECTL" plot tune again -o .
	[ "$status" -eq 0 ]
	[ "$output" = roofline-tune.svg ]
	grep -q 'bayesian, 2 times' roofline-tune.svg
	tune --param a=10,2,1 --objective 'stdout:[0-9]+' --search exhaustive --trials 1 --quiet -o ends -- echo '{a}'
	tune --param a=10,2,1 --objective 'stdout:[0-9]+' --search random --trials 3 --quiet -o ends -- echo '{a}'
	"$ROOFLINECTL" plot tune ends -o ends
	grep -q 'exhaustive: 10x after 1<' ends/roofline-tune.svg
	# The title of the axis is above the legend.
	baseline() { grep -B1 "<text>.*$1" roofline-tune.svg | sed -n 's/.*translate([0-9.]*,\([0-9]*\).*/\1/p'; }
	[ "$(($(baseline '>trials<') + 13))" -le "$(baseline 'bayesian, 2 times')" ]
	"$ROOFLINECTL" plot again tune --format term | grep -q 'random, 2 times'
	run --separate-stderr "$ROOFLINECTL" plot tune gaps again
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"draw it alone"* ]]
	run --separate-stderr "$ROOFLINECTL" plot tune
	[ "$status" -eq 2 ]
	mkdir empty
	run --separate-stderr "$ROOFLINECTL" plot tune ./empty
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"holds no results of rooflinectl tune"* ]]
}

@test "the spaces that are measured on a GPU have as many points for tune as for what builds their programs" {
	export PYTHONPATH="$root/tests/tune" PYTHONDONTWRITEBYTECODE=1 ROOFLINECTL
	python3 - "$root/docs/results/autotune" <<-'END'
		import os, re, subprocess, sys
		from spaces import SPACES
		for space in SPACES:
		    command = [os.environ["ROOFLINECTL"], "tune", *space.options(), "--search", "random", "--trials", "1",
		               "--from", sys.argv[1], "--", *space.words()]
		    said = subprocess.run(command, capture_output=True, text=True).stderr
		    count = re.search(r"of (\d+) points", said)
		    assert count and int(count[1]) == len(list(space.points())) >= 40, (space.name, said)
		    assert all(name in space.command for name in space.parameters), space.name
	END
}
