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
	# these compare times of copies, of which a busy machine may make a slow one fast and a fast one slow
	[[ $BATS_TEST_DESCRIPTION != *registered* ]] || export BATS_TEST_RETRIES=2
}

# tried COMMAND...: with $strategies, launches put off as long as possible; counts in counts.PID
tried() {
	ROOFLINE_TRY=${strategies-graph} ROOFLINE_TRY_ALWAYS=${always-1} ROOFLINE_TRY_OUTPUT=$PWD/counts \
		LD_PRELOAD=$BUILD/lib/librooflinetry.so "$@"
}

# both SEED [MODE]: the program prints the same and ends with the same code, bare and tried
both() {
	local bare=0 with=0
	"$tools/random_program" "$1" 40 "${@:2}" >bare.out 2>bare.err || bare=$?
	tried "$tools/random_program" "$1" 40 "${@:2}" >tried.out 2>tried.err || with=$?
	cmp bare.out tried.out && cmp bare.err tried.err && [ "$bare" = "$with" ] && return
	echo "seed $1: exit codes $bare and $with"
	diff bare.out tried.out | head -20
	return 1
}

# both_later SEED [MODE]: the same with waits put off until the program could tell, so that what they wait for is done later
both_later() {
	RANDOM_PROGRAM_WAITS=later both "$@"
}

# count NAME: of all processes
count() {
	cat counts.* | awk -F, -v name="$1" '$1 == name { sum += $2 } END { print sum + 0 }'
}

@test "programs made by chance do the same with launches put off" {
	for seed in ${SEEDS:-1 2 3 4 7}; do both "$seed"; done
}

@test "they also do with freed memory kept, and with both" {
	export FAKE_DRIVER_MEMORY=3400000
	for strategies in pool graph,pool; do
		for seed in ${SEEDS:-2 5}; do both "$seed"; done
	done
	[ "$(count frees_kept)" -gt 100 ]
	[ "$(count allocations_reused)" -gt 40 ]
	[ "$(count blocks_returned)" -gt 20 ]
}

@test "memory that is kept is handed out again in its context, and given back where there is too little" {
	export FAKE_DRIVER_MEMORY=4000000 strategies=pool
	both 1 memory
	grep -q '^allocate 3145728: 0$' tried.out
	[ "$(count frees_kept)" -eq 39 ] # all but the first one, of each size and context
	[ "$(count allocations_reused)" -eq 38 ]
	[ "$(count blocks_returned)" -eq 1 ]
	[ "$(count passed:new_size)" -eq 3 ]
}

@test "no memory that is kept is handed out once the GPU has failed" {
	for strategies in pool graph,pool; do both 1 memory-after-fault; done
	[ "$(count allocations_reused)" -gt 70 ]
	[ "$(grep -c '^allocate 65536: 0$' tried.out)" -eq 40 ]
	[ "$(grep -c '^allocate 65536: 700$' tried.out)" -eq 40 ]
}

@test "programs made by chance do the same with waits left out, also with launches put off, until the host could tell" {
	export FAKE_DRIVER_ORDER=1
	for strategies in fewer-waits graph; do
		for seed in ${SEEDS:-3 7 9 14 22 33 48 74}; do both "$seed" private; done
	done
	strategies=graph,fewer-waits
	for seed in ${SEEDS:-3 7 9 14 22 33 48 74}; do both_later "$seed" private; done
	for seed in ${SEEDS:-3 7 9 14}; do FAKE_DRIVER_JIT=1 both_later "$seed" private; done
	[ "$(count waits_left_out)" -gt 30 ]
	[ "$(count waits_made_later)" -gt 20 ]
	[ "$(count passed:host_memory)" -gt 10 ]
	[ "$(count passed:prints)" -gt 10 ]
	[ "$(count passed:shown)" -gt 10 ]
	rm counts.*
	for strategies in fewer-waits graph,fewer-waits; do both 3; done
	[ "$(count waits_left_out)" -eq 0 ] # a kernel and the host have memory in common from the start
}

@test "kernels in streams that fork and join come after what they came after, and nothing waits for more" {
	export FAKE_DRIVER_ORDER=1 strategies=graph
	for seed in ${SEEDS:-1 2 3 4 5 6 7 8}; do both "$seed" forks; done
	[ "$(count events_deferred)" -gt 5000 ]
	[ "$(count graph_launches)" -gt 500 ]
	rm counts.*
	for seed in ${SEEDS:-1}; do ROOFLINE_TRY_EVENTS_AT_ONCE=1 both "$seed" forks; done
	[ "$(count events_deferred)" -eq 0 ]
	for refused in instantiate set graph; do
		for seed in ${SEEDS:-9}; do FAKE_DRIVER_REFUSES=$refused both "$seed" forks; done
	done
	always=
	for seed in ${SEEDS:-10 11}; do both "$seed" forks; done
	always=1
	for strategies in graph,fewer-waits graph,pool,fewer-waits,pinned; do
		for seed in ${SEEDS:-12 13 14}; do both_later "$seed" forks; done
	done
}

@test "kernels that go to streams by turns keep the order of each stream, and become graphs of each" {
	export FAKE_DRIVER_ORDER=1 strategies=graph
	for seed in 1 2; do both "$seed" turns; done
	[ "$(count graph_launches)" -lt 200 ] # the GPU has enough to do
	rm counts.*
	export FAKE_DRIVER_IDLE=1
	for seed in ${SEEDS:-1 2 3 4 5 6}; do both "$seed" turns; done
	[ "$(count graph_launches)" -gt 1000 ]
	[ "$(count launches_deferred)" -gt $((9 * $(count launches_seen) / 10)) ]
	for refused in instantiate set graph; do
		for seed in ${SEEDS:-7}; do FAKE_DRIVER_REFUSES=$refused both "$seed" turns; done
	done
	rm counts.*
	always=
	for seed in ${SEEDS:-8 9}; do both "$seed" turns; done
	[ "$(count graph_launches)" -gt 100 ]
	always=1
	unset FAKE_DRIVER_IDLE # by which waits would seem to be over
	for strategies in graph,fewer-waits graph,pool,fewer-waits,pinned; do
		for seed in ${SEEDS:-10 11 12}; do both_later "$seed" turns; done
	done
}

@test "kernels of a stream that several threads use come one after the other, also where it forks from another one" {
	export FAKE_DRIVER_ORDER=1 FAKE_DRIVER_TURNS=1 strategies=graph
	for seed in ${SEEDS:-1 2}; do both "$seed" shared; done
	[ "$(count graph_launches)" -gt 100 ]
	strategies=graph,pool,fewer-waits,pinned
	for seed in ${SEEDS:-3}; do both_later "$seed" shared; done
}

@test "nothing is deferred where no thread can be made that looks after it, and a program that polls gets its kernels" {
	ulimit -s 214748364800 2>/dev/null || skip "the limit of the stack cannot be raised here"
	for seed in ${SEEDS:-1 2}; do both "$seed" loop; done
	[ "$(count passed:no_memory)" -gt 100 ]
	for seed in ${SEEDS:-1 2 3}; do both "$seed" polls; done
	[ "$(grep -c '^polled 1$' tried.out)" -eq 40 ]
	[ "$(count passed:no_memory)" -gt 200 ]
	[ $(($(count launches_deferred) + $(count memory_deferred) + $(count events_deferred))) -eq 0 ]
}

@test "a wait is not taken for over when what was put off is given to the GPU while the driver is asked" {
	export FAKE_DRIVER_ORDER=1 FAKE_DRIVER_SLOW_QUERIES=1 strategies=graph,fewer-waits
	for seed in ${SEEDS:-1 4 5 8}; do both_later "$seed" forks; done
	[ "$(count waits_left_out)" -gt 5 ]
}

@test "no thread makes a wait that was left out while another one captures a stream" {
	export FAKE_DRIVER_ORDER=1 FAKE_DRIVER_DISTURBED=1
	for strategies in fewer-waits graph,fewer-waits; do
		for seed in ${SEEDS:-1}; do both "$seed" captures; done
	done
	[ "$(count waits_left_out)" -gt 100 ]
}

@test "copies of page-locked memory between launches are put off, and nothing of other memory" {
	for strategies in graph graph,pool,fewer-waits,pinned; do
		for seed in ${SEEDS:-1 2 3 4}; do both "$seed" pipeline && FAKE_DRIVER_ORDER=1 both "$seed" pipeline; done
	done
	strategies=graph
	rm counts.*
	for seed in ${SEEDS:-1 2 3 4}; do both "$seed" pipeline; done
	[ "$(count memory_deferred)" -gt 500 ]
	[ "$(count graph_launches)" -gt 300 ]
	for refused in instantiate set graph; do FAKE_DRIVER_REFUSES=$refused both 5 pipeline; done
}

@test "all strategies together do so, too" {
	strategies=graph,pool,fewer-waits
	for seed in ${SEEDS:-2 6}; do both "$seed" && both "$seed" at-once; done
	export FAKE_DRIVER_ORDER=loose
	for seed in ${SEEDS:-1 2 7}; do both_later "$seed" private; done
	[ "$(count waits_left_out)" -gt 5 ]
	[ "$(count frees_kept)" -gt 20 ]
	strategies=fewer-waits
	for seed in ${SEEDS:-3 4}; do both "$seed" at-once; done
}

@test "copies of pageable memory through pinned memory do the same: every form, size, stream and bad address, alone and with all strategies" {
	strategies=pinned
	for seed in ${SEEDS:-1 5 10}; do both "$seed" copies; done
	strategies=graph,pinned
	for seed in ${SEEDS:-9}; do both "$seed" copies; done
	[ "$(count copies_staged)" -gt 100 ]
	[ "$(count unwatched)" -gt 0 ] || [ "$(count copies_registered)" -gt 100 ]
	for reason in small_copy known_memory memory_range bad_address capture forked; do
		[ "$(count "passed:$reason")" -gt 0 ]
	done
	export FAKE_DRIVER_ORDER=loose strategies=graph,pool,fewer-waits,pinned
	for seed in ${SEEDS:-3 6}; do both "$seed" copies; done
	[ "$(count frees_kept)" -gt 0 ]
	rm counts.*
	for seed in ${SEEDS:-1 2 4}; do both_later "$seed" private-copies; done
	[ "$(count waits_left_out)" -gt 5 ]
	[ "$(count copies_staged)" -gt 20 ]
}

@test "a blocking copy to the GPU is of what its stream's callbacks have written" {
	export FAKE_DRIVER_ORDER=1 FAKE_DRIVER_TIME=1 strategies=pinned
	ROOFLINE_TRY_UNWATCHED=1 both 1 copies-behind
	[ "$(count copies_staged)" -ge 30 ]
	[ "$(count passed:stalled)" -eq 0 ]
	both 2 copies-behind
	both 3 copies-behind # its default streams are those of threads
}

@test "threads that copy at once get what they copied, also where it compares and steps aside by itself" {
	strategies=pinned
	for seed in ${SEEDS:-3 5 16}; do both "$seed" copies-at-once; done
	[ "$(count copies_staged)" -gt 20 ]
	strategies=graph,pool,pinned
	for seed in ${SEEDS:-4}; do both "$seed" copies-at-once; done
	strategies=pinned always=
	for seed in ${SEEDS:-5}; do both "$seed" copies && both "$seed" copies-at-once; done
}

@test "copies that the GPU does not begin are left to the driver after a while, as it may wait for the program" {
	export FAKE_DRIVER_STALLS=1 strategies=pinned
	for seed in ${SEEDS:-2 9}; do both "$seed" copies; done
	[ "$(count passed:stalled)" -gt 0 ]
	[ "$(count copies_staged)" -gt 20 ]
}

@test "nothing is pinned before the program has copied 32 MiB, and the end of few copies is left to the driver to compare" {
	export FAKE_DRIVER_SLOW_COPIES=whole strategies=pinned ROOFLINE_TRY_UNWATCHED=1
	always= tried "$tools/random_program" 1 40 copies-alike
	[ "$(count copies_seen)" -eq 80 ]
	[ "$(count passed:first_copies)" -eq 7 ]
	[ "$(count copies_staged)" -eq 73 ]
	[ "$(count stepped_aside)" -eq 0 ]
	# Not the first in each direction, then three, then one after 31 copies: a quarter of each.
	[ "$(count staged_bytes)" -eq $((73 * (4 << 20) - 8 * (1 << 20))) ]
	rm counts.*
	FAKE_DRIVER_SLOW_COPIES= tried "$tools/random_program" 1 40 copies-alike
	[ "$(count staged_bytes)" -eq $((80 * (4 << 20))) ]
}

@test "copies are left to the driver where pinned memory makes them slower, in either direction" {
	export FAKE_DRIVER_SLOW_COPIES=pieces strategies=pinned ROOFLINE_TRY_UNWATCHED=1
	always= tried "$tools/random_program" 1 40 copies-alike
	[ "$(count stepped_aside)" -eq 2 ]
	[ "$(count copies_staged)" -eq 8 ]
	[ "$(count passed:stepped_aside)" -eq 65 ]
	# To the GPU they return before it is done: what it takes counts as well.
	rm counts.*
	always= tried "$tools/random_program" 1 40 copies-alike-async
	[ "$(count stepped_aside)" -eq 2 ]
	[ "$(count copies_staged)" -eq 8 ]
}

@test "large memory that is copied again is registered once it was copied often enough, and the driver copies no piece of it any more" {
	export FAKE_DRIVER_SLOW_COPIES=whole strategies=pinned
	always= tried "$tools/random_program" 1 40 copies-alike
	[ "$(count unwatched)" -eq 0 ] || skip "this kernel does not tell when memory is unmapped"
	[ "$(count copies_seen)" -eq 80 ]
	[ "$(count ranges_registered)" -eq 1 ]
	[ "$(count ranges_released)" -eq 0 ]
	[ "$(count copies_registered)" -ge 76 ]
	[ "$(count registered_bytes)" -eq $(($(count copies_registered) * (4 << 20))) ]
	[ "$(count stepped_aside)" -eq 0 ]
}

@test "memory is released for good where copies of it are no faster registered" {
	export FAKE_DRIVER_SLOW_COPIES=pieces strategies=pinned
	always= tried "$tools/random_program" 1 40 copies-alike
	[ "$(count unwatched)" -eq 0 ] || skip "this kernel does not tell when memory is unmapped"
	[ "$(count ranges_registered)" -eq 1 ]
	[ "$(count ranges_released)" -eq 1 ]
	[ "$(count copies_registered)" -le 8 ]
}

@test "where the kernel does not tell what is unmapped nothing is registered, and that is told" {
	export strategies=pinned ROOFLINE_TRY_UNWATCHED=1
	for seed in ${SEEDS:-1}; do both "$seed" copies; done
	[ "$(count unwatched)" -ge 1 ]
	[ "$(count ranges_registered)" -eq 0 ]
	[ "$(count copies_staged)" -gt 100 ]
}

# checked SEED STRATEGIES [MODE]: what its memory contained, without a strategy where there is none
checked() {
	ROOFLINE_TRY=$2 ROOFLINE_TRY_WATCH=${2:-1} ROOFLINE_TRY_ALWAYS=1 ROOFLINE_TRY_MEMORY=memory LD_PRELOAD=$BUILD/lib/librooflinetry.so \
		"$tools/random_program" "$1" 20 "${@:3}" >checked.out 2>&1 || true
	cat memory.*
	rm memory.*
}

@test "what memory of the GPU contained is listed, and is the same with every strategy" {
	for seed in ${SEEDS:-1 4 8}; do
		checked "$seed" "" >bare.memory
		[ "$(wc -l <bare.memory)" -gt 15 ]
		grep -q '^allocation [0-9]*, [0-9]* bytes, when it was freed: [0-9a-f]*$' bare.memory
		grep -q '^allocation 1, 4096 bytes, at the end: [0-9a-f]*$' bare.memory
		grep -q 'not known: a stream was captured$' bare.memory
		for strategies in graph pool graph,pool,fewer-waits,pinned; do
			checked "$seed" "$strategies" >tried.memory
			cmp bare.memory tried.memory
		done
	done
	for seed in 5 6 7; do checked $seed "" copies; done >bare.memory
	grep -q ' bytes, before a context went: [0-9a-f]*$' bare.memory
	grep -q 'not known: it was freed in the order of a stream$' bare.memory
	grep -q '18878464 bytes, at the end' bare.memory # 18 MiB and a page
	for seed in 5 6 7; do checked $seed graph,pinned copies; done >tried.memory
	cmp bare.memory tried.memory
	checked 2 "" copies >bare.memory
	! cmp -s bare.memory tried.memory
}

@test "the time from the first launch to the last wait is taken, without a strategy as well, which changes nothing then" {
	"$tools/random_program" 5 40 >bare.out || true # its own exit code
	ROOFLINE_TRY_WATCH=1 ROOFLINE_TRY_OUTPUT=$PWD/counts LD_PRELOAD=$BUILD/lib/librooflinetry.so \
		"$tools/random_program" 5 40 >watched.out || true
	cmp bare.out watched.out
	[ "$(count run_ns)" -gt 1000 ]
	[ "$(count launches_deferred)" -eq 0 ]
	[ "$(count frees_kept)" -eq 0 ]
	rm counts.*
	both 5
	[ "$(count run_ns)" -gt 1000 ]
}

@test "what the program does between a wait that was left out and where it is made is not part of that time" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits
	tried "$tools/random_program" 1 20 checks || true
	[ "$(count waits_left_out)" -eq 21 ]
	[ "$(count run_ns)" -gt 1000 ]
	[ "$(count run_ns)" -lt 300000000 ]
}

@test "when it launched and waited is kept as a run of a recording, and changes nothing" {
	mkdir recording
	"$tools/random_program" 5 40 >bare.out || true
	ROOFLINE_TRY_CALLS=recording LD_PRELOAD=$BUILD/lib/librooflinetry.so "$tools/random_program" 5 40 >watched.out || true
	cmp bare.out watched.out
	tried "$tools/random_program" 5 40 >tried.out || true
	local folder
	folder=$(echo recording/*)
	grep -q '^run,5$' "$folder/process.csv"
	[ "$(stat -c %a "$folder" "$folder/api.csv" | xargs)" = "700 600" ]
	# launches by cuLaunchKernel and cuLaunchKernelEx, and each ended after it began
	[ "$(awk -F, '$3 == 1 || $3 == 2' "$folder/api.csv" | wc -l)" -eq "$(count launches_seen)" ]
	awk -F, 'NR > 1 && $2 < $1 { exit 1 }' "$folder/api.csv"
	! grep -v '^kind' "$folder/losses.csv"
}

@test "waits between launches are left out, and made at the end" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits
	tried "$tools/random_program" 1 100 loop || true
	[ "$(count waits_seen)" -eq 101 ]
	[ "$(count waits_left_out)" -eq 101 ]
	[ "$(count waits_made_later)" -eq 2 ] # for the stream, and for what sets memory at the start
	[ "$(count late_errors)" -eq 0 ]
}

@test "what an event stood for when it was waited for is waited for before it is recorded again" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits
	both 1 events
	[ "$(grep -c '^query 0 ' tried.out)" -eq 40 ]
	[ "$(count waits_left_out)" -gt 39 ]
}

@test "no wait is left out where the GPU reads all memory of the host, or a library gives its memory to other devices" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits
	FAKE_DRIVER_SHARES=1 tried "$tools/random_program" 1 100 loop || true
	[ "$(count passed:host_memory)" -eq 101 ]
	rm counts.*
	cp "$(ldd "$ROOFLINECTL" | awk '$1 ~ /^libz\.so/ { print $3 }')" libibverbs.so.1
	tried env LD_PRELOAD="$BUILD/lib/librooflinetry.so $PWD/libibverbs.so.1" "$tools/random_program" 1 100 loop || true
	[ "$(count passed:other_library)" -eq 101 ]
}

@test "no wait is left out where a library is loaded whose name or functions say that it gives the memory to devices" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits
	local other
	other=$(ldd "$ROOFLINECTL" | awk '$1 ~ /^libz\.so/ { print $3 }')
	for name in libpsm2.so.2 libpsm3-fi.so libgdrapi.so.2 libibverbs.so.1; do
		cp "$other" $name
		tried env LD_PRELOAD="$BUILD/lib/librooflinetry.so $PWD/$name" "$tools/random_program" 1 100 loop || true
		[ "$(count passed:other_library)" -eq 101 ]
		rm counts.*
	done
	cp "$tools/libstatic_verbs.so" libof_the_program.so
	tried env LD_PRELOAD="$BUILD/lib/librooflinetry.so $PWD/libof_the_program.so" "$tools/random_program" 1 100 loop || true
	[ "$(count passed:other_library)" -eq 101 ]
	rm counts.*
	cp "$other" libother.so
	tried env LD_PRELOAD="$BUILD/lib/librooflinetry.so $PWD/libother.so" "$tools/random_program" 1 100 loop || true
	[ "$(count waits_left_out)" -eq 101 ]
}

@test "no wait is left out any more once a device is open that may read memory of the GPU, or another namespace has libraries" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits FAKE_DEVICES=$PWD/devices
	mkdir -p devices/infiniband
	touch devices/infiniband/uverbs0 devices/hfi1_0 devices/gdrdrv uverbs0
	for device in infiniband/uverbs0 hfi1_0 gdrdrv; do
		RANDOM_PROGRAM_OPENS=/dev/$device tried env LD_PRELOAD="$BUILD/lib/librooflinetry.so $tools/libfake_devices.so" \
			"$tools/random_program" 1 100 opens >out || true
		grep -q '^opened 1$' out
		[ "$(count waits_left_out)" -eq 51 ]
		grep -q '^event waits [1-9]' out
		[ "$(count passed:other_device)" -eq 50 ]
		rm counts.*
	done
	# One that is not there, and others, give nothing to anybody.
	for path in /dev/hfi1_that_is_not_there /dev/null "$PWD/uverbs0"; do
		RANDOM_PROGRAM_OPENS=$path tried "$tools/random_program" 1 100 opens >out || true
		[ "$(count waits_left_out)" -eq 101 ]
		grep -q '^event waits 0$' out
		rm counts.*
	done
	tried "$tools/random_program" 1 100 dlmopens >out || true
	grep -q '^loaded 1$' out
	grep -q '^event waits [1-9]' out
	[ "$(count waits_left_out)" -eq 51 ]
	[ "$(count passed:other_namespace)" -eq 50 ]
	(umask 027 && ROOFLINE_TRY=fewer-waits LD_PRELOAD=$BUILD/lib/librooflinetry.so sh -c ': >made')
	[ "$(stat -c %a made)" = 640 ]
}

@test "what was left out is made before a library is loaded, which may read memory of the GPU without the driver" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits
	tried "$tools/random_program" 1 100 loads || true
	[ "$(count waits_left_out)" -eq 100 ]
	[ "$(count waits_made_later)" -eq 100 ]
}

@test "where the program reads what it waited for right away waits are made without looking" {
	export FAKE_DRIVER_ORDER=1 strategies=fewer-waits
	always= tried "$tools/random_program" 1 4000 reads || true
	[ "$(count passed:nothing_between)" -gt 3800 ]
	[ "$(count waits_left_out)" -lt 100 ]
}

@test "threads that launch, wait, free and capture at once get what they launched, in order" {
	for strategies in graph pool graph,pool; do
		for seed in ${SEEDS:-3}; do both "$seed" at-once; done
	done
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

@test "what was put off is done before a program ends, or becomes another one, right after its last launches" {
	for how in quick_exit _exit execve execv execvp execvpe execl execlp execle fexecve execveat execve-fails; do
		rm -f *.log counts.*
		FAKE_DRIVER_LOG=$PWD/bare.log "$tools/random_program" 2 30 $how >bare.out || [ $how = execve-fails ]
		FAKE_DRIVER_LOG=$PWD/tried.log tried "$tools/random_program" 2 30 $how >tried.out || [ $how = execve-fails ]
		[ "$(count launches_deferred)" -gt 500 ]
		cmp bare.log tried.log || { echo "$how: $(wc -l <bare.log) were done bare, $(wc -l <tried.log) tried"; return 1; }
		cmp bare.out tried.out
	done
}

@test "a library that starts before may make the program begin anew" {
	run env LD_PRELOAD="$BUILD/lib/librooflinetry.so:$tools/libbegins_anew.so" ROOFLINE_TRY=graph printenv BEGUN_ANEW
	[ "$status" -eq 0 ]
	[ "$output" = 1 ]
}

@test "a child of fork can look up functions that another thread looks up at that moment" {
	tried "$tools/random_program" 1 1 children >children
	grep -x "0 children failed" children
}

@test "a fork comes after what its thread launched, and waits for no other thread that is in the driver" {
	export FAKE_DRIVER_BLOCKS=many
	both 1 children-between
	[ "$(grep -c '^forked at once$' tried.out)" -eq 4 ]
	[ "$(grep -c '^child 3$' tried.out)" -eq 4 ]
	[ "$(count launches_deferred)" -gt 100 ]
}

@test "a child of vfork that calls _exit ends nothing of its parent" {
	tried "$tools/random_program" 1 100 vfork || true
	[ "$(find . -name 'counts.*' | wc -l)" -eq 1 ]
	[ "$(count passed:stepped_aside)" -eq 0 ]
	[ "$(count launches_deferred)" -gt 1900 ]
}

@test "a child of vfork that becomes another program, or fails to, does nothing that its parent deferred" {
	both 1 vfork-exec
	[ "$(find . -name 'counts.*' | wc -l)" -eq 1 ]
	[ "$(count launches_deferred)" -gt 700 ]
	! grep . tried.err
}

@test "where each launch is followed by a wait nearly all are passed on at once" {
	always= tried "$tools/random_program" 1 8000 waits || true
	[ "$(count launches_deferred)" -lt 800 ]
	[ "$(count graph_launches)" -eq 0 ]
}

@test "where each launch goes to another stream than the one before it nearly all are passed on at once" {
	always= tried "$tools/random_program" 1 1000 alternate || true
	[ "$(count launches_seen)" -ge 20000 ]
	[ "$(count launches_deferred)" -lt 2000 ]
	[ "$(count graph_launches)" -eq 0 ]
}

@test "a program that computes for longer than three launches take between two of them is passed on" {
	always= tried "$tools/random_program" 1 200 slow || true
	[ "$(count passed:not_launch_bound)" -gt 3500 ]
}

@test "launches, memsets and copies that come again become graphs, and each is counted as put off or passed on" {
	both 12
	[ "$(count graph_launches)" -gt 20 ]
	[ "$(count launches_deferred)" -gt 500 ]
	passed=$(cat counts.* | awk -F, '/^passed:/ { sum += $2 } END { print sum + 0 }')
	[ $(($(count launches_seen) + $(count memory_seen))) -eq $(($(count launches_deferred) + $(count memory_deferred) + passed)) ]
	[ "$(count memory_deferred)" -gt 100 ]
}

@test "a program that polls memory and calls nothing gets its kernel" {
	both 3
	grep -q '^polled 1$' tried.out
}

@test "code is certain not to print where it neither prints, asserts nor has managed variables, packed or not" {
	mkdir images
	python3 "$root/tests/try/make_images.py" images
	(cd images && "$tools/code_images" 0 *) >told
	awk '{ is = $1 ~ /^silent/ ? "silent" : "not_certain"; if ($2 != is || $3 != is) { print; bad = 1 } } END { exit bad }' told
	[ "$(wc -l <told)" -eq 17 ]
	# Machine code for GPUs of another major compute capability does not count, text does.
	(cd images && "$tools/code_images" 9 *prints_on_*) >told.9
	[ "$(awk '{ print $1, $2, $3 }' told.9 | paste -sd,)" = "prints_on_8 silent silent,prints_on_9 not_certain not_certain,text_prints_on_8 not_certain not_certain" ]
	# A text that is cut off may be one that prints nothing; of anything else a part is never certain.
	[ "$(awk '$4 == "parts" { print $1 }' told | sort | paste -sd' ')" = "ptx_managed ptx_prints silent_ptx" ]
}

@test "code of the compiler itself is told apart as well, however it packs it" {
	needs_command nvcc
	printf '%s\n' '__global__ void add(int *p) { p[1] = *p; }' >silent.cu
	printf '%s\n' '#include <cstdio>' '__global__ void add(int *p) { printf("%%d", *p); }' >prints.cu
	printf '%s\n' '__managed__ int m;' '__global__ void add(int *p) { m = *p; }' >managed.cu
	for name in silent prints managed; do
		for mode in none size speed; do
			nvcc -compress-mode=$mode -gencode arch=compute_90,code='[sm_90,compute_90]' -fatbin -o $name.$mode $name.cu 2>/dev/null ||
				nvcc -gencode arch=compute_90,code='[sm_90,compute_90]' -fatbin -o $name.$mode $name.cu
		done
	done
	"$tools/code_images" 0 silent.none silent.size silent.speed >told
	[ "$(grep -c ' silent silent no_part$' told)" -eq 3 ]
	"$tools/code_images" 0 prints.{none,size,speed} managed.{none,size,speed} >told
	[ "$(grep -c ' not_certain not_certain no_part$' told)" -eq 6 ]
}

@test "nothing is put off once the program has a texture reference, which kernels in graphs must not use" {
	tried "$tools/random_program" 1 10 loop || true
	[ "$(count launches_deferred)" -gt 100 ]
	rm counts.*
	tried "$tools/random_program" 1 10 textures || true
	[ "$(count launches_deferred)" -eq 0 ]
	[ "$(count passed:stopped)" -eq 200 ]
}

@test "where CUDA_LAUNCH_BLOCKING has each launch wait nothing is put off" {
	export CUDA_LAUNCH_BLOCKING=1 strategies=graph,fewer-waits
	both 3
	[ "$(count launches_seen)" -gt 100 ]
	[ "$(count launches_deferred)" -eq 0 ]
	[ "$(count passed:launch_blocking)" -gt 100 ]
	[ "$(count waits_left_out)" -eq 0 ]
}

@test "a variable that is set to 0 has no launch wait" {
	export CUDA_LAUNCH_BLOCKING=0 strategies=graph,fewer-waits
	both 3
	[ "$(count launches_deferred)" -gt 100 ]
	[ "$(count passed:launch_blocking)" -eq 0 ]
	rm counts.*
	export FAKE_DRIVER_ORDER=1
	tried "$tools/random_program" 1 100 loop || true
	[ "$(count waits_left_out)" -eq 101 ]
}

@test "streams by turns keep the order of launches where all share one queue of the GPU" {
	export FAKE_DRIVER_ORDER=1 FAKE_DRIVER_IDLE=1 CUDA_DEVICE_MAX_CONNECTIONS=1 strategies=graph
	for seed in 1 2; do both "$seed" turns; done
	[ "$(count graph_launches)" -lt 200 ]
}

@test "a version of a function that is newer than any known one is called as it is, with all done before it" {
	export FAKE_DRIVER_NEWER=1
	for strategies in graph graph,pool,fewer-waits,pinned; do
		for seed in ${SEEDS:-1 2 3}; do both "$seed" newer; done
	done
	[ "$(count launches_deferred)" -gt 20 ]
	grep -q '^cuMemAlloc 0 ' tried.out
}

@test "of each function with one of its own the newest version is known that the headers declare" {
	header=$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")
	header=${header%/bin/nvcc}/include/cudaTypedefs.h
	[ -e "$header" ] || skip "no cudaTypedefs.h"
	newest=$(sed -n 's/.*NEWEST_KNOWN = \([0-9]*\).*/\1/p' "$root/try/lookup.c")
	tr -d '\n' <"$root/try/handlers.h" | grep -oE 'HANDLER\("cu[A-Za-z0-9]*",[^a-z]*[0-9]+' |
		sed 's/.*"\(cu[^"]*\)"[^0-9]*\([0-9]*\)/\1 \2/' | awk '$2 > v[$1] { v[$1] = $2 } END { for (n in v) print n, v[n] }' >handled
	[ "$(wc -l <handled)" -gt 40 ]
	# _ptsz and _ptds of old functions are of 7.0, and have the same arguments.
	grep -oE 'PFN_cu[A-Za-z0-9]+_v[0-9]+\)' "$header" | sed 's/PFN_\(cu[A-Za-z0-9]*\)_v\([0-9]*\))/\1 \2/' |
		awk -v newest="$newest" '$2 <= newest && $2 > v[$1] { v[$1] = $2 } END { for (n in v) print n, v[n] }' >declared
	awk 'NR == FNR { known[$1] = $2; next } ($1 in known) && $2 != known[$1] { print $1, $2, "is not known"; bad = 1 } END { exit bad }' handled declared
}

@test "a program finds CUDA where it finds it bare, and nowhere else" {
	local try=$BUILD/lib/librooflinetry.so weakly=$tools/librefers_weakly.so cuda=$PWD/lib/libcuda.so.1
	for how in "" local global; do
		for others in "" "$weakly" "$weakly $cuda" "$cuda $weakly"; do
			for wanted in "" graph graph,pool,fewer-waits,pinned; do
				LD_PRELOAD=$others "$tools/finds_cuda" $how >bare.out
				ROOFLINE_TRY=$wanted LD_PRELOAD="$try $others" "$tools/finds_cuda" $how >tried.out
				diff bare.out tried.out || { echo "$how, with $others and $wanted"; return 1; }
			done
		done
	done
	LD_PRELOAD=$weakly "$tools/finds_cuda" >bare.out
	[ "$(grep -c ': not there$' bare.out)" -eq 9 ]
	LD_PRELOAD="$weakly $cuda" "$tools/finds_cuda" >bare.out
	[ "$(grep -c ': not there$' bare.out)" -eq 1 ]
}

@test "without a strategy nothing is put off and nothing written" {
	LD_PRELOAD=$BUILD/lib/librooflinetry.so ROOFLINE_TRY_OUTPUT=$PWD/counts "$tools/random_program" 4 10 >out || true
	[ -s out ]
	! ls counts.*
}

@test "every function that cuda.h declares has its row, and each of graphics and profilers" {
	header=$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")
	header=${header%/bin/nvcc}/include/cuda
	[ -e "$header.h" ] || skip "no cuda.h"
	# cuWGL: of Windows
	cat "$header".h "$header"{EGL,GL,Profiler,VDPAU}.h | grep -oE 'CUresult CUDAAPI cu[A-Za-z0-9_]+' | awk '{ print $3 }' |
		grep -v '^cuWGL' | sort -u >declared
	sed -n 's/.*FUNCTION("\(cu[^"]*\)".*/\1/p' "$root"/try/functions_*.h | sort -u >rows
	[ "$(wc -l <declared)" -gt 300 ]
	comm -23 declared rows >missing
	[ ! -s missing ] || { cat missing; return 1; }
}
