#!/usr/bin/env bats
# A folder that several users share: none of them can block a recording of another, or lead it elsewhere.
load common

other=12345 # a user, without a name

setup() {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "another user is made by root alone, with setpriv"
	shared=$(mktemp -d "$BATS_TEST_TMPDIR/shared.XXXXXX")
	chmod 1777 "$shared"
	for folder in "$BATS_TEST_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "${BATS_TEST_TMPDIR%/*/*}" "${BATS_TEST_TMPDIR%/*/*/*}"; do
		[ "$folder" = /tmp ] || chmod o+x "$folder"
	done
	cd "$shared"
	ulimit -S -c 0
	recording=$shared/recording
	export ROOFLINE_OUTPUT="$recording" ROOFLINE_CUPTI="$mock_cupti" ROOFLINE_MIN_FREE=0
	as_other true 2>/dev/null || skip "setpriv cannot change the user here"
}

as_other() {
	setpriv --reuid $other --regid $other --clear-groups -- "$@"
}

# refused_by_record REGEX: the program is not started, and one line says why
refused_by_record() {
	run -2 --separate-stderr "$ROOFLINECTL" record -o "$recording" -- touch "$shared/started"
	[ ! -e "$shared/started" ]
	# shellcheck disable=SC2154
	[[ "$stderr" =~ $1 ]] || { echo "$stderr"; false; }
}

@test "nothing is recorded into a folder that another user has made" {
	as_other mkdir -m 755 "$recording"
	capture with env CUDA_INJECTION64_PATH="$collector" "$app" cuda kernels:5 exit:6
	ended_with 6
	warned 1 "cannot record into $recording: .*another user's.*ROOFLINE_OUTPUT"
	equal files '' "$(ls -A "$recording")"
	refused_by_record 'belongs to another user'
}

@test "nothing is recorded through a link of another user" {
	mkdir -m 700 "$BATS_TEST_TMPDIR/mine"
	as_other ln -s "$BATS_TEST_TMPDIR/mine" "$recording"
	capture with env CUDA_INJECTION64_PATH="$collector" ROOFLINE_OUTPUT="$recording/" "$app" cuda kernels:5 exit:6
	ended_with 6
	warned 1 'cannot record into .* a link'
	equal files '' "$(ls -A "$BATS_TEST_TMPDIR/mine")"
	refused_by_record 'is a link'
}

@test "nor into a folder of one's own to which all users may write" {
	mkdir -m 777 "$recording"
	capture with env CUDA_INJECTION64_PATH="$collector" "$app" cuda kernels:5 exit:6
	warned 1 'others may write to'
	equal files '' "$(ls -A "$recording")"
	refused_by_record 'may be written to by all users'
}

@test "the folder is taken as soon as record starts, and given back where nothing is recorded" {
	"$ROOFLINECTL" record -o "$recording" -- bash -c '
		setpriv --reuid 12345 --regid 12345 --clear-groups mkdir "$1" 2>/dev/null && echo taken by another
		exec "$2" cuda kernels:5' bash "$recording" "$app" >out 2>err
	! grep 'taken by another' out
	equal kernels 5 "$(rows kernels)"
	rm -rf "$recording"
	"$ROOFLINECTL" record -o "$recording" -- true
	[ ! -e "$recording" ]
}

@test "a name that is not chosen cannot be guessed where others could make it first" {
	unset ROOFLINE_OUTPUT
	LD_PRELOAD="$runtimes$collector" "$app" cuda kernels:5
	[[ $(echo "$shared"/roofline.*) =~ /roofline\.[0-9]+-[0-9]+\.[0-9]+\.[0-9a-f]{8}$ ]]
	rm -rf "$shared"/roofline.*
	"$ROOFLINECTL" record -- "$app" cuda kernels:5
	[[ $(echo "$shared"/roofline.*) =~ /roofline\.[0-9]+-[0-9]+\.[0-9]+\.[0-9a-f]{8}$ ]]
}

@test "what another user leaves in a folder neither hangs record nor fills its memory" {
	mkdir -m 700 "$recording"
	mkdir "$recording/pipe.1" "$recording/zero.1" "$recording/file.1"
	mkfifo "$recording/pipe.1/process.csv"
	ln -s /dev/zero "$recording/zero.1/process.csv"
	printf 'key,value\nschema,1\nrecord,ffff\n' >"$recording/file.1/process.csv"
	chown -R $other "$recording"/*.1
	(
		[ -n "$runtimes" ] || ulimit -v 4000000 # a sanitizer takes terabytes of addresses
		timeout -s KILL 20 "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5
	)
	equal kernels 5 "$(tail -q -n +2 "$recording"/*/kernels.csv | wc -l)"
}

@test "no name that another user takes keeps a program from being started" {
	as_other mkdir /tmp/rooflinectl.0 2>/dev/null || true
	# shellcheck disable=SC2016
	setpriv --reuid $other --regid $other --clear-groups -- perl -MSocket -e '
		my $hash = 0xcbf29ce484222325;
		{ use integer; $hash = ($hash ^ ord) * 0x100000001b3 for split //, $ARGV[0] }
		socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die;
		bind($socket, pack("S a*", AF_UNIX, sprintf("\0rooflinectl.0.%016x.", $hash))) or die;
		$| = 1;
		print "taken\n";
		sleep 30' "$recording" >taken 3>&- &
	local taker=$!
	for _ in {1..200}; do [ -s taken ] && break; sleep 0.05; done
	[ -s taken ]
	run -0 "$ROOFLINECTL" record -o "$recording" -- "$app" cuda kernels:5
	kill $taker
	[ "$(stat -c %u /tmp/rooflinectl.0 2>/dev/null)" != $other ] || rmdir /tmp/rooflinectl.0
	equal kernels 5 "$(rows kernels)"
}
