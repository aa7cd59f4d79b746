# Shared by endings.bats and tests/bench/signal_storms.sh.

# storm_run HOW FOLDER: one run of mock_app in which a signal handler interrupts calls at a random moment.  Fails with a line
# when it does not end as it should, or when a call is neither in the recording nor counted as lost.
storm_run() {
	local how=$1 folder=$2 begun ended rows lost code=0 us=$((RANDOM % 3000 + 200)) wanted=7
	[ "$how" != jump ] || us=$((RANDOM % 300 + 20)):100 wanted=6
	rm -rf "$folder"
	LD_PRELOAD="$runtimes$collector" ROOFLINE_OUTPUT=$folder ROOFLINE_MIN_FREE=0 timeout -s KILL 30 \
		"$app" cuda "storm:$how:$us" exit:6 >"$folder.out" 2>"$folder.err" || code=$?
	read -r begun ended < <(sed -n 's/^storm: \([0-9]*\) calls begun, \([0-9]*\) ended$/\1 \2/p' "$folder.out")
	[ -e "$folder" ] || {
		echo "storm:$how:$us: nothing was recorded"
		return 1
	}
	rows=$(cat "$folder"/*/event_calls.csv "$folder"/*/loads.csv | grep -vc '^correlation')
	lost=$(awk -F, '$2 == "unwritten_rows" { sum += $3 } END { printf "%d", sum }' "$folder"/*/losses.csv)
	if [ "$code" -ne $wanted ] || [ -s "$folder.err" ] || ! grep -q '^sealed_ns,' "$folder"/*/process.csv ||
		[ $((rows + lost)) -lt "$ended" ] || [ $((rows + lost)) -gt "$begun" ]; then
		echo "storm:$how:$us: exit code $code, $begun calls begun, $ended ended, $rows written, $lost lost"
		cat "$folder.err"
		return 1
	fi
}
