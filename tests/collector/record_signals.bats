#!/usr/bin/env bats
# rooflinectl record: signals reach the program as if record were not there.

load common

# Here signals follow each other within milliseconds: a machine that is busy with other tests may be too late once.
setup_file() {
	export BATS_TEST_RETRIES=1
}

# A program that prints each signal that it gets, and ends with 5 when there is a file called stop.
listener='
	$| = 1;
	for my $name (@ARGV) { $SIG{$name} = sub { print "$name\n" } }
	print "ready\n";
	select undef, undef, undef, 0.02 until -e "stop";
	exit 5;'
signals=(TERM HUP INT QUIT USR1 USR2 WINCH ALRM URG IO PIPE VTALRM PROF XCPU SEGV RTMIN)

# What a test that failed left running.
teardown() {
	[ -z "${recorder-}" ] || kill -KILL -- "-$recorder" 2>/dev/null || true
}

# eventually COMMAND...: succeeds within 10 s
eventually() {
	local try
	for try in {1..500}; do
		! "$@" || return 0
		sleep 0.02
	done
	echo "never: $*"
	return 1
}

# said COUNT WORD: the program has printed the word COUNT times
said() {
	[ "$(grep -cx "$2" out)" -eq "$1" ]
}

# listen: record with the listener, in a process group of its own: $recorder and $program
listen() {
	rm -f out stop
	setsid "$ROOFLINECTL" record -o "$recording" -- perl -e "$listener" "${signals[@]}" >out 2>err 3>&- &
	recorder=$!
	eventually said 1 ready
	program=$(pgrep -P "$recorder" perl)
}

# listened: the program ends by itself, and record with its exit code
listened() {
	local status=0
	touch stop
	wait "$recorder" || status=$?
	equal status 5 "$status"
}

# each_once: the program got each signal, and none twice
each_once() {
	equal signals "$(printf '%s\n' "${signals[@]}" | sort)" "$(grep -vx ready out | sort)"
}

@test "every signal that is sent to record reaches the program, once" {
	listen
	for signal in "${signals[@]}"; do
		kill -s "$signal" "$recorder"
		eventually said 1 "$signal"
	done
	sleep 0.1
	listened
	each_once
}

@test "a signal to the whole process group is not delivered a second time, however often it comes" {
	listen
	for signal in "${signals[@]}"; do
		kill -s "$signal" -- "-$recorder"
		eventually said 1 "$signal"
	done
	sleep 0.2
	each_once
	kill -s USR1 -- "-$recorder"
	eventually said 2 USR1
	kill -s USR1 "$recorder"
	eventually said 3 USR1
	sleep 0.1
	listened
	said 3 USR1
}

# in_turn PATTERN: TERM to each process of that name, one after the other.  Fails where the sender was kept from it for nearly
# as long as record waits for the others' (20 ms), as on a busy machine: this tells nothing then.
in_turn() {
	perl -MTime::HiRes=time -e '
		my $begin = time;
		for (@ARGV) { kill "TERM", $_; select undef, undef, undef, 0.001 }
		exit(time - $begin > 0.015)' $(pgrep -s "$recorder" "$1" | sort -n)
}

@test "TERM to all processes called rooflinectl, or to each process in turn, reaches the program once" {
	for pattern in rooflinectl . rooflinectl . rooflinectl .; do
		for try in {1..30}; do
			listen
			was_soon=1
			in_turn "$pattern" || was_soon=0
			[ "$was_soon" -eq 0 ] || eventually said 1 TERM
			sleep 0.1
			listened
			[ "$was_soon" -eq 0 ] || break
		done
		[ "$was_soon" -eq 1 ]
		said 1 TERM
	done
}

@test "a program in a process group of its own gets what is sent to that of record" {
	setsid "$ROOFLINECTL" record -o "$recording" -- setsid perl -e "$listener" TERM >out 2>err 3>&- &
	recorder=$!
	eventually said 1 ready
	kill -TERM -- "-$recorder"
	eventually said 1 TERM
	listened
}

@test "an alarm that was set before record was started is the program's" {
	run -142 perl -e 'alarm 1; exec @ARGV' "$ROOFLINECTL" record -o "$recording" -- sleep 20
}

@test "TERM, HUP and USR1 to record end the program, and record as it ended" {
	for signal in TERM HUP USR1; do
		rm -f out
		rm -rf "$recording"
		setsid "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 sleep_ms:60000 \
			>out 2>err 3>&- &
		recorder=$!
		eventually grep -q sleep_ms out
		program=$(pgrep -P "$recorder" mock_app)
		kill -s "$signal" "$recorder"
		status=0
		wait "$recorder" || status=$?
		equal status $((128 + $(kill -l "$signal"))) "$status"
		[ ! -e "/proc/$program" ]
	done
}

@test "50 programs that catch TERM end in their own way" {
	for run in {1..50}; do
		setsid "$ROOFLINECTL" record -o "$recording.$run" -- \
			bash -c 'trap "echo caught; exit 9" TERM; echo ready; while :; do sleep 0.01; done' \
			>"out.$run" 2>"err.$run" 3>&- &
		recorder=$!
		eventually grep -q ready "out.$run"
		kill -TERM "$recorder"
		status=0
		wait "$recorder" || status=$?
		equal status 9 "$status"
		equal caught 1 "$(grep -c caught "out.$run")"
	done
}

@test "a program goes when record is killed" {
	listen
	kill -KILL "$recorder"
	wait "$recorder" || true
	gone() { ! kill -0 "$program"; } 2>/dev/null
	eventually gone
	none_left() { ! pgrep -s "$recorder"; } >/dev/null
	eventually none_left
}

@test "the value of a queued signal is passed on" {
	cat >queue.pl <<-'END'
		use POSIX;
		sigaction(SIGUSR1, POSIX::SigAction->new(sub { print "value ", unpack("x[24] i", $_[2]), "\n"; exit 3 },
			POSIX::SigSet->new, SA_SIGINFO));
		$| = 1;
		print "ready\n";
		sleep 60;
	END
	setsid "$ROOFLINECTL" record -o "$recording" -- perl queue.pl >out 2>err 3>&- &
	recorder=$!
	eventually said 1 ready
	/bin/kill -s USR1 -q 77 "$recorder" || skip "kill cannot queue values"
	status=0
	wait "$recorder" || status=$?
	equal status 3 "$status"
	said 1 'value 77'
}

@test "which signals the program inherits blocked and ignored is as without record" {
	signal_state() { perl -e '$SIG{CHLD} = $SIG{USR2} = "IGNORE"; exec @ARGV' "$@" grep -E '^Sig(Blk|Ign)' /proc/self/status; }
	signal_state >bare.state
	signal_state "$ROOFLINECTL" record -o "$recording" -- >with.state 2>err
	diff bare.state with.state
}

@test "whoever ignores its children learns the program's exit code all the same" {
	capture with perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' \
		"$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 exit:7
	ended_with 7
}

# state PID: T when it is stopped
stopped() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1)" = T ]
}

running() {
	! stopped "$1"
}

@test "a job of a terminal stops and continues with its program" {
	needs_terminal
	cat >job <<-'END'
		set -m
		"$ROOFLINECTL" record -o "$recording" -- perl -e "$listener" USR1 >out 2>err &
		recorder=$!
		eventually said 1 ready
		program=$(pgrep -P "$recorder" perl)
		kill -TSTP "$recorder"
		eventually stopped "$program" && eventually stopped "$recorder" && echo both stopped
		kill -CONT "$recorder"
		eventually running "$program" && eventually running "$recorder" && echo both continued
		kill -TSTP -- "-$recorder"
		eventually stopped "$program" && eventually stopped "$recorder" && echo group stopped
		kill -CONT -- "-$recorder"
		eventually running "$program" && eventually running "$recorder" && echo group continued
		kill -USR1 "$recorder"
		eventually said 1 USR1
		touch stop
		wait "$recorder"
		echo "ended with $?"
	END
	{
		declare -f eventually said stopped running # script's shell may not hand on exported functions
		cat job
	} >whole_job
	export ROOFLINECTL recording listener
	timeout 60 perl -e '$SIG{TSTP} = "DEFAULT"; exec @ARGV' script -qec "bash whole_job" /dev/null \
		</dev/null >log 3>&-
	tr -d '\r' <log | grep -E '^(both|group|ended)' | diff - <(printf '%s\n' "both stopped" "both continued" \
		"group stopped" "group continued" "ended with 5")
}

@test "without a terminal a program that is stopped and continued by others does not stop record" {
	listen
	kill -STOP "$program"
	eventually stopped "$program"
	sleep 0.1
	running "$recorder"
	kill -CONT "$program"
	listened
}

@test "Ctrl-C at a terminal reaches the program once" {
	needs_terminal
	cat >typed <<-'END'
		use POSIX;
		# a terminal whose foreground job is record
		open my $terminal, "+<", "/dev/ptmx" or die; my ($unlocked, $number) = (pack("i", 0)) x 2;
		ioctl $terminal, 0x40045431, $unlocked or die;
		ioctl $terminal, 0x80045430, $number or die;
		my $pid = fork;
		if (!$pid) {
			POSIX::setsid();
			open STDIN, "<", "/dev/pts/" . unpack("i", $number) or die;
			exec @ARGV;
		}
		sub wait_for { for (1 .. 500) { return if `cat out` =~ /$_[0]/; select undef, undef, undef, 0.02 } die "no $_[0]" }
		wait_for("ready");
		syswrite $terminal, "\x03"; wait_for("INT");
		syswrite $terminal, "\x1c"; wait_for("QUIT");
		select undef, undef, undef, 0.2;
		open my $stop, ">", "stop";
		waitpid $pid, 0;
		print "ended with ", $? >> 8, "\n";
	END
	: >out
	perl typed sh -c 'exec "$@" >out 2>err' sh "$ROOFLINECTL" record -o "$recording" -- \
		perl -e "$listener" INT QUIT >log 3>&-
	grep -x "ended with 5" log
	said 1 INT
	said 1 QUIT
}

@test "the core file is the program's" {
	[[ $(cat /proc/sys/kernel/core_pattern) =~ ^core ]] || skip "core files go elsewhere here"
	ulimit -c unlimited 2>/dev/null || skip "no core files here"
	capture with "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5 abort
	ended_with 134
	[ "$(ls -d core* | wc -l)" -eq 1 ] || skip "no core file was written"
	# its name, as the kernel notes it: 16 bytes, filled up with zeros
	perl -0777 -ne 'print /\0(mock_app|rooflinectl)\0{3,}/ ? $1 : "unknown"' core* >name
	equal 'core of' mock_app "$(cat name)"
}
