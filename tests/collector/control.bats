#!/usr/bin/env bats
# A recording under way: ctl, top, the flight recorder of record --last, and the line of record --live.
load common

# Here a program is asked while it runs: a machine that is busy with other tests may be too late once.
setup_file() {
	export BATS_TEST_RETRIES=1
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	ulimit -S -c 0
	export ROOFLINE_CUPTI="$mock_cupti" ROOFLINE_FLUSH_MS=20
	unset ROOFLINE_OUTPUT
}

teardown() {
	[ -z "${recorder-}" ] || kill -KILL "$recorder" 2>/dev/null || true
}

# eventually COMMAND...: succeeds within 30 s
eventually() {
	local try
	for try in {1..1500}; do
		! "$@" >found 2>&1 || return 0
		sleep 0.02
	done
	cat found
	echo "never: $*"
	return 1
}

# started OPTION... -- STEP...: record with mock_app, which uses CUDA when this returns: $recorder and $program
started() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$ROOFLINECTL" record -o out "${options[@]}" -- "$app" cuda "$@" >app.out 2>app.err 3>&- &
	recorder=$!
	eventually pgrep -P "$recorder" mock_app
	program=$(pgrep -P "$recorder" mock_app)
	eventually "$ROOFLINECTL" ctl "$program" status
}

# fails CODE ERROR COMMAND...: it ends with that code, and its one line on stderr is as the pattern says
fails() {
	local code=$1 error=$2
	shift 2
	capture failed "$@"
	equal 'exit code' "$code" "$(cat failed.status)"
	equal 'lines' 1 "$(wc -l <failed.err)"
	# shellcheck disable=SC2053
	[[ $(cat failed.err) == $error ]] || { cat failed.err; false; }
}

# reached FOLDER NUMBER: a ring there has come to that segment
reached() {
	[ "$(ls -d "$1"/.ring.*/*/segment.* | sed 's/.*segment[.]//' | sort -n | tail -n 1)" -ge "$2" ]
}

# ended [CODE]: the program ends by itself
ended() {
	local status=0
	touch stop
	wait "$recorder" || status=$?
	equal 'exit code' "${1-0}" "$status"
	recorder=
}

# first_and_last FOLDER: when its first kernel began and its last one ended
first_and_last() {
	sort -n "$1"/*/kernels.csv | awk -F, '/^[0-9]/ { if (!first) first = $1; last = $2 } END { print first, last }'
}

@test "ctl tells how a recording is, by the program's id, by record's, and by its folder" {
	started -- until:stop
	for target in "$program" "$recorder" out; do
		"$ROOFLINECTL" ctl "$target" status >told
		grep -qE '^[^ ]+\.'"$program"': recording, .* written, 0 lost; .* kernels' told
	done
	ended
	equal 'files of ctl that are left' '' "$(find out -name status -o -name request -o -name '.*')"
	fails 1 "rooflinectl ctl: there is no process $program" "$ROOFLINECTL" ctl "$program" status
	fails 1 "rooflinectl ctl: process $program has ended" "$ROOFLINECTL" ctl out status
}

@test "between ctl stop and ctl start nothing is recorded, and that is counted" {
	started -- until:stop
	"$ROOFLINECTL" ctl "$program" stop | grep -q ': stopped, '
	# What began before is there now; what begins from here on is left out.
	"$ROOFLINECTL" ctl "$program" dump -o before
	before=$(first_and_last before)
	sleep 0.2
	"$ROOFLINECTL" ctl "$program" dump -o after
	equal 'first and last kernel' "$before" "$(first_and_last after)"
	"$ROOFLINECTL" ctl "$program" start | grep -q ': recording, '
	touch stop
	ended
	recording=out
	[ "$(loss outside_window)" -gt 0 ]
	readable
}

# taken FOLDER: the request there is
taken() {
	[ ! -e "$1/request" ] && [ ! -L "$1/request" ]
}

@test "requests are neither links nor FIFOs nor words that are none, and answers follow no link" {
	started -- until:stop
	local folder answered
	folder=$(echo "$PWD"/out/*.*)
	equal 'rights of the answer' 600 "$(stat -c %a "$folder/status")"
	answered=$(grep '^answer ' "$folder/status")
	echo '71 status' >asked
	ln -s "$PWD/asked" "$folder/request"
	eventually taken "$folder"
	echo '72 nonsense' >"$folder/.asked"
	mv "$folder/.asked" "$folder/request"
	eventually taken "$folder"
	echo mine >victim
	ln -s "$PWD/victim" "$folder/.answer"
	mv asked "$folder/request"
	eventually taken "$folder"
	mkfifo "$folder/request"
	eventually taken "$folder" # all before it has been served
	equal 'what was answered last' "$answered" "$(grep '^answer ' "$folder/status")"
	equal 'what the link leads to' mine "$(cat victim)"
	rm "$folder/.answer"
	"$ROOFLINECTL" ctl "$program" status
	ended
}

@test "ctl has one line for what cannot be reached, and words that are none are refused" {
	fails 1 "rooflinectl ctl: process $$ is not recorded: 'rooflinectl record' starts programs that are" "$ROOFLINECTL" ctl $$ status
	fails 1 'rooflinectl ctl: nowhere: No such file or directory' "$ROOFLINECTL" ctl nowhere status
	mkdir empty
	fails 1 'rooflinectl ctl: empty: nothing is being recorded there' "$ROOFLINECTL" ctl empty dump
	fails 2 "*there is no 'strat': start, stop, status or dump, did you mean 'start'[?]*" "$ROOFLINECTL" ctl 1 strat
	fails 2 '*which process, and start, stop, status or dump?*' "$ROOFLINECTL" ctl 1
	fails 2 '*-o is for dump*' "$ROOFLINECTL" ctl 1 stop -o dir
	fails 2 '*which process?*' "$ROOFLINECTL" top
	CUDA_INJECTION64_PATH=$collector ROOFLINE_OUTPUT=$PWD/out "$app" cuda until:stop >app.out 2>app.err 3>&- &
	recorder=$!
	eventually eval 'grep -q pid out/*/process.csv'
	fails 1 "*cannot be asked: it was not started by 'rooflinectl record', nor with ROOFLINE_CONTROL=1" \
		"$ROOFLINECTL" ctl $recorder status
	ended
}

@test "top tells launches, kernels and what is written, of one interval or until the program ends" {
	started -- until:stop
	"$ROOFLINECTL" top "$program" --once -i 300ms >told
	grep -qE '^[1-9][0-9,]* launches/s  [1-9][0-9,]* kernels/s  GPU 0 .*% busy  .*, .*/s  0 lost$' told
	equal lines 1 "$(wc -l <told)"
	"$ROOFLINECTL" top "$program" -i 250ms >told 3>&- &
	eventually grep -q launches told
	ended
	wait $!
	[ "$(wc -l <told)" -ge 1 ]
}

@test "top -n tells which kernels took the time of the interval" {
	started -- until:stop
	eventually grep -q , out/*/kernels.csv
	"$ROOFLINECTL" top "$program" --once -i 600ms -n 3 >told
	grep -qE '^ +[0-9.]+ [num]?s +[1-9][0-9,]*  [a-z_]+$' told
	[ "$(wc -l <told)" -le 4 ]
	"$ROOFLINECTL" top "$recorder" --once -i 600ms -n 1 >told
	equal lines 2 "$(wc -l <told)"
	ended
}

@test "top --format json tells the same as an object a line" {
	started -- until:stop
	eventually grep -q , out/*/kernels.csv
	"$ROOFLINECTL" top "$program" --once -i 600ms -f json -n 2 >told
	equal lines 1 "$(wc -l <told)"
	python3 -c '
import json
told = json.load(open("told"))
assert told["schema"] == 1 and told["state"] == "recording" and told["processes"] == 1, told
assert told["launches_per_s"] > 0 and told["kernels_per_s"] > 0 and told["written_bytes"] > 0, told
assert told["devices"][0]["device"] == 0 and told["lost"] == 0 and told["interval_ns"] > 5e8, told
assert told["kernels"][0]["time_ns"] > 0 and told["kernels"][0]["name"], told'
	"$ROOFLINECTL" top "$program" --once -i 300ms -f json >told
	! grep -q kernels\" told
	fails 2 "*no format 'csv'; there are: text json*" "$ROOFLINECTL" top "$program" --once -f csv
	ended
}

@test "--last keeps the newest second of several, whole, and its dumps are recordings that reports read" {
	started --last 1s --live -- kernels:1000 until:stop
	eventually reached out 12
	[ "$(ls -d out/.ring.*/*/segment.* | wc -l)" -le 11 ]
	for dump in 1 2; do
		equal shown "rooflinectl report $PWD/out/dump.$dump" "$("$ROOFLINECTL" ctl "$program" dump)"
	done
	kill -USR2 "$recorder"
	eventually test -e out/dump.3
	ended
	grep -q "rooflinectl record: SIGUSR2: rooflinectl report $PWD/out/dump.3\$" app.err
	grep -q "rooflinectl record: the program ended with exit code 0: rooflinectl report $PWD/out/dump.4\$" app.err
	equal 'what is left' 'dump.1 dump.2 dump.3 dump.4' "$(ls -A out | xargs)"
	for dump in 1 2 3 4; do
		recording=out/dump.$dump
		readable
		sealed
		each_name_known
		[ "$(loss older_segments)" -gt 0 ]
		set -- $(first_and_last "$recording")
		[ $(($2 - $1)) -ge 1000000000 ]
	done
	equal 'times out of order or twice' 0 "$(tail -q -n +2 out/dump.4/*/kernels.csv |
		awk -F, 'seen[$7]++ || $1 < last { bad++ } { last = $1 } END { print bad + 0 }')"
	"$ROOFLINECTL" report out/dump.1 | grep -q '  dump      rooflinectl ctl: only the last 1s were kept'
	! grep -q launches app.err # the line of --live is for a terminal
	"$ROOFLINECTL" pack out/dump.1
	"$ROOFLINECTL" report out/dump.1.roofline >packed
}

@test "--last SIZE keeps the newest bytes, in --ring, and what was before is no damage" {
	mkdir ring
	started --last 1M --ring ring -- marker:before until:stop
	eventually reached ring 16
	[ "$(cat ring/.ring.*/*/segment.*/*.csv | wc -c)" -le 1200000 ]
	ended
	equal 'what is left' '' "$(ls -A ring)"
	recording=out/dump.1
	readable
	each_name_known
	[ "$(cat out/dump.1/*/kernels.csv | wc -c)" -gt 600000 ]
	"$ROOFLINECTL" report out/dump.1 >report
	! grep -qE 'markers.csv|do not have the form|cut_off_rows' report || { cat report; false; }
}

@test "a program that is killed leaves its last span, and so does one whose record is killed with it" {
	started --last 2s -- forever
	kill -KILL "$program"
	wait "$recorder" || true
	recording=out/dump.1
	readable
	! sealed
	[ "$(rows kernels)" -gt 50 ]
	"$ROOFLINECTL" report out/dump.1 | grep -q '  cut off   '
	rm -r out
	started --last 2s -- forever
	kill -KILL "$recorder"
	wait "$recorder" || true
	recorder=
	eventually test ! -e "/proc/$program/exe"
	"$ROOFLINECTL" ctl out dump
	cut_off
	readable
	[ "$(rows kernels)" -gt 50 ]
}

@test "what --ring keeps elsewhere is found by the folder of -o, also when program and record were killed" {
	mkdir ring
	for target in out ring/.ring.*; do
		started --last 2s --ring ring -- forever
		kill -KILL "$recorder" "$program"
		wait "$recorder" || true
		recorder=
		eventually test ! -e "/proc/$program/exe"
		# shellcheck disable=SC2086 # a pattern
		equal shown "rooflinectl report $PWD/out/dump.1" "$("$ROOFLINECTL" ctl $target dump)"
		recording=out/dump.1
		readable
		[ "$(rows kernels)" -gt 50 ]
		rm -r out ring/.ring.*
	done
}

@test "a program that has used up its descriptors answers ctl" {
	ulimit -S -n 200
	started -- take_descriptors until:stop
	"$ROOFLINECTL" ctl "$program" status | grep -q ': recording, '
	ended
	grep -q 'descriptors taken' app.out
}

@test "record under record --last makes no ring of its own, and the one dump has all processes" {
	mkdir ring
	capture with "$ROOFLINECTL" record -o out --last 30s --ring ring -- "$ROOFLINECTL" record -- \
		sh -c "'$ROOFLINECTL' record -o out -- '$app' cuda kernels:5; '$app' cuda kernels:7 exit:6"
	ended_with 6
	equal 'lines of record' 1 "$(grep -c '^rooflinectl ' with.err)"
	equal 'what is there' dump.1 "$(ls -A out ring | grep -v ':$' | xargs)"
	recording=out/dump.1
	readable 2
	equal kernels 12 "$(rows kernels)"
	capture failed "$ROOFLINECTL" record -o all -- "$ROOFLINECTL" record --last 30s -- touch ran
	equal 'exit code' 2 "$(cat failed.status)"
	grep -q 'rooflinectl record: --last: the record above this one keeps everything, in .*/all: choose another folder' failed.err
	[ ! -e ran ]
}

@test "--when-slower makes a dump of a range that took longer, and counts those that come too soon after it" {
	started --last 30s --when-slower step=50ms -- slow_marker:20 slow_marker:90 until:first slow_marker:70 slow_marker:80 \
		until:stop
	eventually test -e out/dump.1
	touch first
	eventually "$ROOFLINECTL" ctl "$program" status
	sleep 2
	ended
	grep -qE 'rooflinectl record: the range step took 90.0 ms, more than 50.0 ms: rooflinectl report .*/out/dump.1$' app.err
	equal dumps 'dump.1 dump.2' "$(ls out | xargs)"
	recording=out/dump.2
	equal 'slow ranges without a dump' 2 "$(loss undumped_ranges)"
}

@test "a flight recorder on a disk that is too small keeps less, and goes on" {
	needs_namespaces --mount
	mkdir small
	export ROOFLINE_LAST=16M ROOFLINE_MIN_FREE=2M
	capture with unshare --user --map-root-user --mount bash -c '
		mount -t tmpfs -o size=8m small small || exit 97
		CUDA_INJECTION64_PATH=$1 ROOFLINE_OUTPUT=$PWD/small/recording "${@:2}"
		status=$?
		cp -r small/recording .
		exit $status' bash "$collector" "$app" cuda $(printf 'kernels:20000 sleep_ms:40 %.0s' {1..12}) exit:6
	ended_with 6
	warned 1 'keeps less than was asked for'
	recording=recording
	sealed
	equal low_disk 0 "$(loss low_disk)"
	equal 'last kernel' 240000 "$(cut -d, -f7 recording/*/segment.*/kernels.csv | sort -n | tail -n 1)"
}

# with_few_files STEP...: a flight recorder on a disk of 90 files
with_few_files() {
	needs_namespaces --mount
	mkdir small
	capture with unshare --user --map-root-user --mount bash -c '
		mount -t tmpfs -o size=64m,nr_inodes=90 small small || exit 97
		CUDA_INJECTION64_PATH=$1 ROOFLINE_OUTPUT=$PWD/small/recording "${@:2}"
		status=$?
		cp -r small/recording .
		exit $status' bash "$collector" "$app" cuda "$@"
	ended_with 6
	recording=recording
	sealed
}

@test "a flight recorder on a disk that can hold few files keeps less, and goes on" {
	export ROOFLINE_LAST=16M
	with_few_files marker:one $(printf 'every_kind:9 kernels:60000 sleep_ms:40 %.0s' {1..10}) \
		"shell:cd small && touch \$(seq -s ' ' 1 20) && echo there is room" \
		$(printf 'every_kind:9 kernels:60000 sleep_ms:40 %.0s' {1..10}) exit:6
	grep -q 'there is room' with.out
	warned 1 'keeps less than was asked for'
	equal low_disk 0 "$(loss low_disk)"
	equal unwritten_rows 0 "$(loss unwritten_rows)"
}

@test "a flight recorder that cannot begin a second segment ends, and a row of its losses tells that" {
	export ROOFLINE_LAST=16M
	with_few_files "shell:cd small && touch \$(seq -s ' ' 1 200) 2>/dev/null; true" \
		$(printf 'kernels:60000 sleep_ms:40 %.0s' {1..4}) exit:6
	warned 1 'has ended, and the program goes on: .*number of files'
	equal low_disk 1 "$(loss low_disk)"
	[ "$(cat recording/*/segment.1/kernels.csv | wc -l)" -gt 1000 ]
}

@test "--last of a program without CUDA, and of one that cannot be run, leaves nothing" {
	capture with "$ROOFLINECTL" record -o out --last 1s -- true
	ended_with 0
	grep -q 'nothing was recorded: the program did not use CUDA' with.err
	capture with "$ROOFLINECTL" record -o out --last 1s -- ./nowhere
	ended_with 127
	equal lines 1 "$(wc -l <with.err)"
	[ ! -e out ]
}

@test "--live shows a line on a terminal" {
	needs_terminal
	script -qec "$ROOFLINECTL record --live -o out -- $app cuda until:stop" typescript >shown 3>&- &
	recorder=$!
	eventually grep -qE '[1-9][0-9]* s  [1-9][0-9,]* launches/s ' shown
	ended
}

@test "what --last does not go with, and spans and ranges that are none, are refused" {
	for wrong in --last=1ms --last=10K --last=soon "--last=30s --counters" "--last=30s --graphs=both" \
		"--last=30s --max-size=1M" "--last=30s --when-slower=50ms" --when-slower=step=50ms --ring=.; do
		fails 2 '*--*' "$ROOFLINECTL" record $wrong -- "$app" cuda
	done
}

@test "what ctl dump prints of a folder with a hostile name can be pasted" {
	load ../cli/pasted.bash
	started -- until:stop
	pasted "$("$ROOFLINECTL" ctl "$program" dump -o "$path")"
	ended
}
