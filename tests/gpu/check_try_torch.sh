#!/usr/bin/env bash
# PyTorch's own tests of streams, events and CUDA graphs end with every strategy of librooflinetry.so as they do without.
#
#   PYTORCH_TESTS=FOLDER tests/gpu/check_try_torch.sh      about a minute and a half
#
# FOLDER has test_cuda.py, and test_cuda_trace.py if wanted, of test/ in the sources of the version of PyTorch that is
# installed.  They are not of this project, and are run as they are.  PYTHON is the interpreter that has PyTorch (python3);
# STRATEGIES as in check_try.sh; TESTS is a regular expression of their names (stream|event|graph).
# Where an outcome differs the test is run again alone, with nothing beside it, and that counts.
LIMIT_S=${LIMIT_S:-75} # of a run
# shellcheck source=tests/gpu/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.bash"

library=$BUILD/lib/librooflinetry.so
python=${PYTHON:-python3}
tests=${TESTS:-stream|event|graph}
read -ra all_strategies <<<"${STRATEGIES:-graph pool fewer-waits pinned graph,pool,fewer-waits,pinned}"
folder=${PYTORCH_TESTS:-}
again_most=4 again_s=20

if [ -z "$folder" ] || [ ! -f "$folder/test_cuda.py" ]; then
	echo "1..0 # SKIP PYTORCH_TESTS names no folder with test_cuda.py of PyTorch's sources"
	exit 0
fi

# run_tests STRATEGIES FILE REGEX: in the background, as a run of tap.bash; without strategies where there are none
run_tests() {
	local way=()
	[ -z "$1" ] || way=("ROOFLINE_TRY=$1" ROOFLINE_TRY_ALWAYS=1 "LD_PRELOAD=$library" "ROOFLINE_TRY_OUTPUT=$scratch/counts.$((run_count + 1))")
	start env "${way[@]}" "$python" tests/gpu/torch_tests.py "$folder/$2" "$3"
}

# outcomes RUN: "outcome test" a line
outcomes() { grep -E '^(passed|skipped|failed|expected) ' "$scratch/$1.out" | sort -k2; }

# outcome RUN TEST; a run that ended before it: missing
outcome() {
	local found
	found=$(awk -v test="$2" '$2 == test { print $1; exit }' "$scratch/$1.out")
	echo "${found:-missing}"
}

# regex_of TEST: its name alone
regex_of() { echo "^${1##*.}\$"; }

# is_same_alone STRATEGIES FILE TEST: run again, after each other
is_same_alone() {
	local bare limit_s=$again_s
	run_tests "" "$2" "$(regex_of "$3")"
	bare=$run_count
	wait
	run_tests "$1" "$2" "$(regex_of "$3")"
	wait
	[ "$(outcome "$bare" "$3")" = "$(outcome "$run_count" "$3")" ] && return
	echo "#   alone: $(outcome "$bare" "$3") without, $(outcome "$run_count" "$3") with $1, exit code $(cat "$scratch/$run_count.code")"
	tail -n 20 "$scratch/$run_count.err" | sed 's/^/#   /'
	return 1
}

# is_same_outcome STRATEGIES FILE TEST RUN: of the two runs without it must be like one
again_count=0
is_same_outcome() {
	local got
	got=$(outcome "$4" "$3")
	[ "$got" = "$(outcome "${bare_of[$2]}" "$3")" ] || [ "$got" = "$(outcome "${second_of[$2]}" "$3")" ] && return
	echo "#   $(outcome "${bare_of[$2]}" "$3") without, $got with $1: ${3##*.}"
	[ $((++again_count)) -le $again_most ] && is_same_alone "$1" "$2" "$3"
}

declare -A bare_of second_of tried_of
# begin FILE REGEX: without a strategy, twice, and with each
begin() {
	local strategies
	run_tests "" "$1" "$2"
	bare_of[$1]=$run_count
	run_tests "" "$1" "$2"
	second_of[$1]=$run_count
	for strategies in "${all_strategies[@]}"; do
		run_tests "$strategies" "$1" "$2"
		tried_of["$strategies:$1"]=$run_count
	done
}

# reached RUN ROW
reached() { cat "$scratch/counts.$1".* 2>/dev/null | awk -F, -v row="$2" '$1 == row { sum += $2 } END { print sum + 0 }'; }

# told_of RUN: where it ended before its last test, or tests failed: how, and what it said
told_of() {
	grep -q '^all [0-9]* tests have ended$' "$scratch/$1.out" && ! grep -q '^failed ' "$scratch/$1.out" && return
	echo "#   exit code $(cat "$scratch/$1.code") (124: not done within $limit_s s); the last of its output and of stderr:"
	tail -n 3 "$scratch/$1.out" | sed 's/^/#   /'
	tail -n 40 "$scratch/$1.err" | sed 's/^/#   /'
}

# judge FILE: each strategy
judge() {
	local strategies run different test
	echo "# $(head -n 1 "$scratch/${bare_of[$1]}.out")"
	echo "# without a strategy: $(outcomes "${bare_of[$1]}" | awk '{ n[$1]++ } END { for (o in n) printf "%s %d ", o, n[o] }')"
	for strategies in "${all_strategies[@]}"; do
		run=${tried_of["$strategies:$1"]} different=0
		told_of "$run"
		while read -r _ test; do
			is_same_outcome "$strategies" "$1" "$test" "$run" || different=$((different + 1))
		done < <(outcomes "${bare_of[$1]}")
		echo "# $strategies: $(outcomes "$run" | grep -c '^passed') passed, $(reached "$run" launches_deferred) of $(reached "$run" launches_seen) launches" \
			"put off, $(reached "$run" graph_launches) graphs, $(reached "$run" allocations_reused) allocations reused," \
			"$(reached "$run" waits_left_out) waits left out, $(reached "$run" copies_staged) copies staged"
		check "$1: every test ends as without with $strategies" equal 0 "$different"
	done
}

begin test_cuda.py "$tests"
wait
if ! grep -q '^PyTorch ' "$scratch/${bare_of[test_cuda.py]}.out"; then
	skip "PyTorch's own tests" "$(tail -n 1 "$scratch/${bare_of[test_cuda.py]}.out" "$scratch/${bare_of[test_cuda.py]}.err" | tr '\n' ' ')"
	finish
	exit 0
fi
check "test_cuda.py: most tests pass without a strategy" \
	test "$(outcomes "${bare_of[test_cuda.py]}" | grep -c '^passed')" -ge 20
judge test_cuda.py

# What PyTorch tells of each event and stream: a test a process, as it says itself.
traced=(test_event_creation_callback test_event_deletion_callback test_event_record_callback test_event_wait_callback
	test_event_synchronization_callback test_stream_creation_callback test_stream_synchronization_callback)
if [ -f "$folder/test_cuda_trace.py" ]; then
	strategies=${all_strategies[-1]}
	declare -A traced_bare traced_tried
	for test in "${traced[@]}"; do
		run_tests "" test_cuda_trace.py "^$test\$"
		traced_bare[$test]=$run_count
		run_tests "$strategies" test_cuda_trace.py "^$test\$"
		traced_tried[$test]=$run_count
	done
	wait
	for test in "${traced[@]}"; do
		check "test_cuda_trace.py: $test ends as without with $strategies" equal \
			"passed test_cuda_trace.TestCudaTrace.$test passed test_cuda_trace.TestCudaTrace.$test" \
			"$(outcomes "${traced_bare[$test]}") $(outcomes "${traced_tried[$test]}")"
	done
fi
finish
