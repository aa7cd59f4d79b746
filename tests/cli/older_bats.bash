# older_bats.bash - what the tests use of bats 1.7 and older ones lack: Ubuntu 22.04 has 1.2.1.  There, BATS_TEST_RETRIES,
# which repeats a test that a busy machine made late, has no effect.

# One process runs setup_file, and one each test.
BATS_FILE_TMPDIR=${BATS_FILE_TMPDIR:-$BATS_RUN_TMPDIR/file.${BATS_TEST_FILENAME##*/}}
BATS_TEST_TMPDIR=${BATS_TEST_TMPDIR:-$BATS_RUN_TMPDIR/test.$$}
mkdir -p "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"

# run [-CODE|!] [--separate-stderr] [--] COMMAND...: keep what it prints in $output and $lines, its exit code in $status;
# fail unless that is CODE (!: is not 0); --separate-stderr keeps that stream in $stderr and $stderr_lines
run() {
	local wanted='' errors='' flags=$-
	while [[ $1 == -* || $1 == ! ]]; do
		case $1 in
		-[0-9]* | !) wanted=${1#-} ;;
		--separate-stderr) errors=$BATS_RUN_TMPDIR/stderr.$$ ;;
		--) shift && break ;;
		*) echo "run: unknown option $1" && return 1 ;;
		esac
		shift
	done
	set +eET
	if [ -n "$errors" ]; then
		output=$("$@" 2>"$errors")
		status=$?
		stderr=$(<"$errors")
		mapfile -t stderr_lines < <(grep -v '^$' <<<"$stderr")
	else
		output=$("$@" 2>&1)
		status=$?
	fi
	mapfile -t lines < <(grep -v '^$' <<<"$output")
	set "-$flags"
	case $wanted in
	'') ;;
	!) [ "$status" -ne 0 ] || { echo "expected an exit code other than 0" && return 1; } ;;
	*) [ "$status" -eq "$wanted" ] || { echo "expected exit code $wanted, got $status" && return 1; } ;;
	esac
}
