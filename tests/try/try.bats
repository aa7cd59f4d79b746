#!/usr/bin/env bats
# librooflinetry.so, against a stand-in for the driver that does everything at once: what is put off for too long shows.
#
#   SEEDS="$(seq 500)" bats tests/try/try.bats     more programs made by chance
load ../cli/common

setup() {
	tools=$BUILD/tests/try
	mkdir -p "$BATS_TEST_TMPDIR/lib"
	ln -s "$tools/libfake_driver.so" "$BATS_TEST_TMPDIR/lib/libcuda.so.1"
	export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/lib
	cd "$BATS_TEST_TMPDIR"
}

# tried COMMAND...: with launches put off as long as possible; counts in counts.PID
tried() {
	ROOFLINE_TRY=graph ROOFLINE_TRY_ALWAYS=${always-1} ROOFLINE_TRY_OUTPUT=$PWD/counts \
		LD_PRELOAD=$BUILD/lib/librooflinetry.so "$@"
}

# both SEED [at-once]: the program prints the same and ends with the same code, bare and tried
both() {
	local bare=0 with=0
	"$tools/random_program" "$1" 40 "${@:2}" >bare.out 2>bare.err || bare=$?
	tried "$tools/random_program" "$1" 40 "${@:2}" >tried.out 2>tried.err || with=$?
	cmp bare.out tried.out && cmp bare.err tried.err && [ "$bare" = "$with" ] && return
	echo "seed $1: exit codes $bare and $with"
	diff bare.out tried.out | head -20
	return 1
}

# count NAME: of all processes
count() {
	cat counts.* | awk -F, -v name="$1" '$1 == name { sum += $2 } END { print sum + 0 }'
}

@test "programs made by chance do the same with launches put off" {
	for seed in ${SEEDS:-1 2 3 4 7}; do both "$seed"; done
}

@test "threads that launch, wait and capture at once get what they launched, in order" {
	for seed in ${SEEDS:-1 3}; do both "$seed" at-once; done
}

@test "they also do where it steps aside by itself" {
	always= both 9
}

@test "they do where the driver makes no graphs, changes none, or launches none" {
	for refused in instantiate set graph; do FAKE_DRIVER_REFUSES=$refused both 11; done
}

@test "it steps aside where graphs make the program slower, and stays where they do not" {
	FAKE_DRIVER_SLOW=1 always= tried "$tools/random_program" 1 8000 loop || true
	[ "$(count stepped_aside)" -eq 1 ]
	[ "$(count graph_launches)" -lt 4000 ]
	[ "$(count passed:stepped_aside)" -gt 80000 ]
	[ "$(count passed:comparing)" -gt 0 ]
	rm counts.*
	tried "$tools/random_program" 1 2000 loop || true
	[ "$(count stepped_aside)" -eq 0 ]
	[ "$(count graph_launches)" -gt 1500 ]
}

@test "a child of vfork that calls _exit ends nothing of its parent" {
	tried "$tools/random_program" 1 100 vfork || true
	[ "$(find . -name 'counts.*' | wc -l)" -eq 1 ]
	[ "$(count passed:stepped_aside)" -eq 0 ]
	[ "$(count launches_deferred)" -gt 1900 ]
}

@test "where each launch is followed by a wait nearly all are passed on at once" {
	always= tried "$tools/random_program" 1 8000 waits || true
	[ "$(count launches_deferred)" -lt 800 ]
	[ "$(count graph_launches)" -eq 0 ]
}

@test "launches that come again become graphs, and every launch is counted as put off or passed on" {
	both 4
	[ "$(count graph_launches)" -gt 20 ]
	[ "$(count launches_deferred)" -gt 500 ]
	passed=$(cat counts.* | awk -F, '/^passed:/ { sum += $2 } END { print sum + 0 }')
	[ "$(count launches_seen)" -eq $(($(count launches_deferred) + passed)) ]
}

@test "a program that polls memory and calls nothing gets its kernel" {
	both 3
	grep -q '^polled 1$' tried.out
}

@test "without a strategy nothing is put off and nothing written" {
	LD_PRELOAD=$BUILD/lib/librooflinetry.so ROOFLINE_TRY_OUTPUT=$PWD/counts "$tools/random_program" 4 10 >out || true
	[ -s out ]
	! ls counts.*
}

@test "every function that cuda.h declares has its row" {
	header=$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")
	header=${header%/bin/nvcc}/include/cuda.h
	[ -e "$header" ] || skip "no cuda.h"
	grep -oE '^CUresult CUDAAPI cu[A-Za-z0-9_]+' "$header" | awk '{ print $3 }' | sort -u >declared
	sed -n 's/.*FUNCTION("\(cu[^"]*\)".*/\1/p' "$root"/try/functions_*.h | sort -u >rows
	[ "$(wc -l <declared)" -gt 300 ]
	comm -23 declared rows >missing
	[ ! -s missing ] || { cat missing; return 1; }
}
