#!/usr/bin/env bats
# Where the recording goes, and what happens when it cannot go there.
load common

@test "a folder that is a file: told once, nothing recorded" {
	echo mine >"$recording"
	record cuda kernels:5 exit:6
	warned 1 "cannot record into $recording.*ROOFLINE_OUTPUT"
	[ "$(cat "$recording")" = mine ]
}

@test "a read-only folder: told once, nothing recorded" {
	export ROOFLINE_OUTPUT=/proc/roofline
	record cuda kernels:5 exit:6
	warned 1 'cannot record into /proc/roofline.*: .*nothing is recorded'
}

@test "a folder whose path is longer than a path may be: told once, the default is used" {
	ROOFLINE_OUTPUT=$PWD/$(printf 'long/%.0s' {1..1000})
	record cuda kernels:5 exit:6
	warned 1 'ROOFLINE_OUTPUT is longer than a path may be'
	recording=$(echo "$PWD"/roofline.*)
	readable
	equal kernels 5 "$(rows kernels)"
}

@test "an unset ROOFLINE_OUTPUT records below the current folder" {
	unset ROOFLINE_OUTPUT
	record cuda kernels:5
	warned 0
	recording=$(echo "$PWD"/roofline.*)
	readable
	equal kernels 5 "$(rows kernels)"
}

@test "a relative ROOFLINE_OUTPUT, no HOME, an empty environment otherwise" {
	capture bare "$app" cuda kernels:5 exit:6
	capture with env -i CUDA_INJECTION64_PATH="$collector" ROOFLINE_CUPTI="$mock_cupti" \
		ASAN_OPTIONS="$ASAN_OPTIONS" ROOFLINE_OUTPUT=deep/er/recording \
		"$app" cuda kernels:5 exit:6
	same_as_bare
	warned 0
	recording=$PWD/deep/er/recording
	readable
	equal kernels 5 "$(rows kernels)"
}

@test "a current folder that is gone does not matter to an absolute ROOFLINE_OUTPUT" {
	mkdir gone
	run_in_gone() { (cd gone && rmdir ../gone && "$@"); mkdir gone; }
	capture bare run_in_gone "$app" cuda kernels:5 exit:6
	capture with run_in_gone env CUDA_INJECTION64_PATH="$collector" "$app" cuda kernels:5 exit:6
	same_as_bare
	warned 0
	readable
}

@test "a current folder that is gone and a relative ROOFLINE_OUTPUT: told once" {
	mkdir gone
	export ROOFLINE_OUTPUT=relative
	capture with bash -c 'cd gone && rmdir ../gone && CUDA_INJECTION64_PATH=$0 exec "$@"' \
		"$collector" "$app" cuda kernels:5 exit:6
	warned 1 'cannot record into relative'
	ended_with 6
}

@test "descriptors that the program closes are opened anew" {
	export ROOFLINE_FLUSH_MS=10
	record cuda kernels:5 "until_lines:6:recording/*/kernels.csv" close_descriptors kernels:7 \
		"until_lines:13:recording/*/kernels.csv" exit:6
	warned 0
	readable
	sealed
	equal kernels 12 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
}

@test "the program's own files on our numbers stay its own, in its children too" {
	export ROOFLINE_FLUSH_MS=10
	record cuda kernels:5 replace_descriptors:own kernels:7 sleep_ms:50 fork_run:use_descriptors \
		use_descriptors exit:6
	warned 0
	readable
	equal kernels 12 "$(rows kernels)"
	equal bytes 1994 "$(tr -d '\n' <own | wc -c)"
	[ -z "$(tr -d . <own)" ]
}

@test "a recording deleted meanwhile: told once, and not made again" {
	export ROOFLINE_FLUSH_MS=10
	record cuda kernels:5 sleep_ms:50 "shell:rm -rf $recording" kernels:7 sleep_ms:50 exit:6
	warned 1 'cannot write .*No such file or directory; rows are lost and counted'
	[ ! -e "$recording" ]
}

@test "one table deleted meanwhile: told once, its rows counted as unwritten" {
	export ROOFLINE_FLUSH_MS=10
	record cuda kernels:5 "until_lines:6:recording/*/kernels.csv" "shell:rm -f $recording/*/kernels.csv" kernels:7 exit:6
	warned 1 'cannot write .*kernels.csv: No such file or directory'
	sealed
	equal unwritten_rows 7 "$(loss unwritten_rows)"
}

# Steps that wait until the collector has said so.
no_space="until_lines:1:with.err:No space left"
has_ended="until_lines:1:with.err:has ended"

# on_small_disk KIB STEP...: record on a disk of that size, and with \$disk_options, mounted at small/ and copied to recording/
on_small_disk() {
	local kib=$1
	shift
	needs_namespaces --mount
	mkdir -p small
	capture bare "$app" "$@"
	capture with unshare --user --map-root-user --mount bash -c '
		mount -t tmpfs -o size="$0" small small || exit 97
		CUDA_INJECTION64_PATH=$1 ROOFLINE_OUTPUT=$PWD/small/recording "${@:2}"
		status=$?
		cp -r small/recording . 2>/dev/null
		exit $status' "${kib}k${disk_options-}" "$collector" "$app" "$@"
	same_as_bare
}

@test "a full disk: told once, whole lines are kept, and every lost row is counted once there is room" {
	export ROOFLINE_FLUSH_MS=10 ROOFLINE_MIN_FREE=0
	# A name that needs a new block of the disk, first seen while it is full.
	long_name=_Z5000$(printf 'x%.0s' {1..5000})v
	on_small_disk 400 cuda "shell:head -c 200k </dev/zero >small/ballast 2>/dev/null || :" \
		kernels:9000 "name:$long_name" kernels:2 "$no_space" sleep_ms:100 \
		"shell:rm -f small/ballast" kernels:3 exit:6
	warned 1 'cannot write .*: No space left on device; rows are lost and counted'
	ended_with 6
	readable
	sealed
	equal 'written and lost' 9005 $(($(rows kernels) + $(loss unwritten_rows)))
	[ "$(loss unwritten_rows)" -gt 1000 ]
	each_name_known
	grep -q "$long_name" "$(tables names)"
}

@test "what was lost before and while the disk was full is reported once there is room" {
	export ROOFLINE_FLUSH_MS=10 ROOFLINE_MIN_FREE=0
	on_small_disk 400 cuda "shell:head -c 1M </dev/zero >small/ballast 2>/dev/null || :" \
		$(printf 'zero_times:1 sleep_ms:12 %.0s' {1..70}) "shell:rm -f small/ballast" exit:6
	warned 1 'No space left on device'
	readable
	equal invalid_times 70 "$(loss invalid_times)"
}

@test "a disk that is full from the start and then has room: tables still begin with their header" {
	export ROOFLINE_FLUSH_MS=10 ROOFLINE_MIN_FREE=0
	mkdir -p small
	on_small_disk 400 "shell:head -c 1M </dev/zero >small/ballast 2>/dev/null || :" \
		"shell:mkdir small/recording 2>/dev/null || :" cuda \
		kernels:5 "$no_space" "shell:rm -f small/ballast" kernels:5 exit:6
	warned 1 'No space left on device'
	readable
	sealed
	[ "$(rows kernels)" -ge 5 ]
}

# bytes: of all tables together
bytes() {
	find "$recording" -name '*.csv' -exec cat {} + | wc -c
}

@test "the disk is not filled: the recording ends while the program still has room for its own files" {
	export ROOFLINE_FLUSH_MS=10
	on_small_disk 4000 cuda kernels:200000 "$has_ended" kernels:10 \
		"shell:head -c 150k </dev/zero >small/checkpoint && cp small/checkpoint . || echo no room" exit:6
	warned 1 'has ended, and the program goes on: .*ROOFLINE_MIN_FREE'
	[ "$(stat -c %s checkpoint)" -eq 153600 ]
	readable
	sealed
	equal seals 1 "$(property sealed_ns | wc -l)"
	equal low_disk 1 "$(loss low_disk)"
	equal unwritten_rows 0 "$(loss unwritten_rows)"
	[ "$(rows kernels)" -gt 1000 ]
	[ "$(loss late_records)" -gt 1000 ]
	each_name_known
}

@test "the disk filled by others: the recording ends as soon as its space is short" {
	export ROOFLINE_FLUSH_MS=10 ROOFLINE_MIN_FREE=1M
	on_small_disk 4000 cuda kernels:5 "until_lines:6:small/recording/*/kernels.csv" \
		"shell:head -c 3200k </dev/zero >small/ballast 2>/dev/null || echo no room" \
		"$has_ended" kernels:5 exit:6
	warned 1 'has ended, and the program goes on'
	readable
	sealed
	equal low_disk 1 "$(loss low_disk)"
	equal kernels 5 "$(rows kernels)"
}

@test "a disk that is nearly full from the start is left alone, and that is told" {
	export ROOFLINE_MIN_FREE=1G
	on_small_disk 4000 cuda kernels:5 exit:6
	warned 1 'only 3 MB are free on the disk of .*small/recording, and 1024 MB are to stay free .*nothing is recorded'
	[ ! -e "$recording" ]
}

@test "a disk that can hold no more files: nothing is recorded, told once, and the program makes its own as ever" {
	# of 60 files at most 3 are to stay free, and a recording takes more than 30
	disk_options=,nr_inodes=60
	local own="shell:mkdir -p small/own; i=0; while [ \$i -lt 25 ] && : >small/own/\$i; do i=\$((i + 1)); done 2>/dev/null; echo made \$i"
	on_small_disk 4000 "shell:touch small/others; cd small && touch \$(seq -s ' ' 1 20)" cuda kernels:5 "$own" exit:6
	grep -q 'made 25' with.out
	warned 1 'has room for few more files .*nothing is recorded'
	[ ! -e "$recording" ]
}

@test "a recording that has its files goes on where the disk can hold no more of them" {
	export ROOFLINE_FLUSH_MS=10
	disk_options=,nr_inodes=100
	on_small_disk 4000 cuda kernels:5 sleep_ms:50 \
		"shell:cd small && touch \$(seq -s ' ' 1 200) 2>/dev/null; true" kernels:7 sleep_ms:50 exit:6
	warned 0
	readable
	sealed
	equal kernels 12 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
}

@test "names count as well: --max-size holds where each kernel has a long one of its own" {
	export ROOFLINE_MAX_SIZE=300K ROOFLINE_FLUSH_MS=10
	record cuda different_names:3000x2000 "$has_ended" exit:6
	warned 1 'has ended, and the program goes on: .*--max-size'
	readable
	sealed
	[ "$(bytes)" -le 307200 ]
}

@test "ROOFLINE_MAX_SIZE ends the recording of a process; what is there is sealed, and reports read it" {
	export ROOFLINE_MAX_SIZE=300K ROOFLINE_FLUSH_MS=10
	record cuda marker:one kernels:100000 "$has_ended" enabled:4 marker:two kernels:100000 exit:6
	warned 1 'has ended, and the program goes on: .*--max-size'
	readable
	sealed
	equal seals 1 "$(property sealed_ns | wc -l)"
	equal size_limit 1 "$(loss size_limit)"
	[ "$(rows kernels)" -gt 1000 ]
	equal 'written and left out' 200000 $(($(rows kernels) + $(loss late_records) + $(loss dropped_records) - 2))
	[ "$(bytes)" -le 307200 ]
	each_name_known
	"$ROOFLINECTL" report "$recording" >report
	grep -q 'max-size' report
}

@test "a recording that ended early is sealed also when the program is killed" {
	export ROOFLINE_MAX_SIZE=300K ROOFLINE_FLUSH_MS=10
	record cuda kernels:100000 "until_lines:1:recording/*/process.csv:sealed_ns" signal:9
	readable
	sealed
	equal size_limit 1 "$(loss size_limit)"
}

@test "below the limit nothing is different" {
	export ROOFLINE_MAX_SIZE=300K
	record cuda kernels:500 exit:6
	warned 0
	equal kernels 500 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
}

@test "a recording is its owner's alone, whatever the umask" {
	umask 0
	ROOFLINE_OUTPUT=$PWD/new/$(basename "$recording")
	recording=$PWD/new
	record cuda kernels:5
	readable
	[ -z "$(find new -type d ! -perm 700)" ]
	[ -z "$(find new -type f ! -perm 600)" ]
}

@test "no variable of the environment is recorded, but those of ranks and visible devices" {
	export API_TOKEN=hunter2-of-the-environment SLURM_JOB_NAME=hunter2-too RANK=3 CUDA_VISIBLE_DEVICES=0
	record cuda kernels:5
	readable
	[ -z "$(grep -r hunter2 "$recording")" ]
	equal rank 3 "$(property rank)"
	equal devices 0 "$(property cuda_visible_devices)"
}

@test "frameworks that are loaded when CUDA starts are named, and nothing is where there are none" {
	record cuda kernels:5
	equal frameworks "" "$(property frameworks)"
	mkdir -p lib/cupy/_core
	math=$(ldd "$ROOFLINECTL" | awk '/libm\.so/ { print $3 }')
	cp "$math" lib/libtorch_cuda.so
	cp "$math" lib/cupy/_core/core.so
	recording=$PWD/with_frameworks
	LD_PRELOAD="$runtimes$PWD/lib/cupy/_core/core.so $PWD/lib/libtorch_cuda.so" ROOFLINE_OUTPUT=$recording record cuda kernels:5
	equal frameworks "PyTorch CuPy" "$(property frameworks)"
}

@test "each process has an identity of its own, by which a copy of its folder is known" {
	record cuda kernels:5
	first=$(property identity)
	[[ "$first" =~ ^[0-9a-f]{16}$ ]]
	rm -r "$recording"
	record cuda kernels:5
	[ "$(property identity)" != "$first" ]
	cp -r "$recording"/* "$recording/copy"
	"$ROOFLINECTL" report "$recording" --section losses | grep -q copied_processes
}

@test "all text is UTF-8: what is not is replaced" {
	record cuda marker:$'caf\xe9' marker:$'na\xc3\xafve' marker:$'half \xe2\x82' kernels:5
	warned 0
	readable
	iconv -f UTF-8 -t UTF-8 "$recording"/*/*.csv >utf8
	grep -qx $'[0-9]*,caf\xef\xbf\xbd' "$(tables names)"
	grep -qx $'[0-9]*,na\xc3\xafve' "$(tables names)"
	grep -qx $'[0-9]*,half \xef\xbf\xbd\xef\xbf\xbd' "$(tables names)"
}

@test "ROOFLINE_COMMAND_LINE=0 leaves the arguments out" {
	export ROOFLINE_COMMAND_LINE=0
	record cuda kernels:5 print:secret
	equal command "$app" "$(property command)"
	[ -z "$(grep -r secret "$recording")" ]
	"$ROOFLINECTL" report "$recording" >report
	grep -q mock_app report
}

# with_limit SOFT HARD STEP...: record where so many files may be open
with_limit() {
	local soft=$1 hard=$2
	shift 2
	limited() { (ulimit -S -n "$soft" && ulimit -H -n "$hard" && "$@"); }
	capture bare limited "$app" "$@"
	capture with limited env CUDA_INJECTION64_PATH="$collector" "$app" "$@"
	same_as_bare
}

# with_limit_among SOFT HARD STEP...: the same where no thread may have a table of descriptors of its own
with_limit_among() {
	local soft=$1 hard=$2 refusing="$runtimes$BUILD/tests/collector/libno_unshare.so"
	shift 2
	limited() { (ulimit -S -n "$soft" && ulimit -H -n "$hard" && "$@"); }
	LD_PRELOAD=$refusing bash -c true || skip "no system call can be refused here"
	capture bare limited "$app" "$@"
	capture with limited env CUDA_INJECTION64_PATH="$collector" LD_PRELOAD="$refusing" "$app" "$@"
	same_as_bare
}

@test "a program that may open only few files is recorded and keeps them all, and its limit" {
	for soft in 12 16 32 1024; do
		rm -rf "$recording"
		with_limit $soft $((soft < 32 ? soft : 2048)) watch_limit descriptor_limit cuda kernels:5 descriptor_limit take_descriptors exit:6
		warned 0
		readable
		sealed
		equal kernels 5 "$(rows kernels)"
	done
}

@test "a program that has used up its descriptors is recorded all the same, and after it has closed ours" {
	export ROOFLINE_FLUSH_MS=10
	with_limit 128 2048 take_descriptors:4 cuda kernels:5 take_descriptors sleep_ms:50 close_descriptors \
		take_descriptors kernels:7 sleep_ms:50 exit:6
	warned 0
	readable
	sealed
	equal kernels 12 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
}

@test "a program that closes every descriptor again and again loses nothing of what is recorded" {
	export ROOFLINE_FLUSH_MS=10
	with_limit 200 200 take_descriptors:8 cuda kernels:5 sleep_ms:50 close_descriptors take_descriptors kernels:7 \
		sleep_ms:50 close_descriptors exit:6
	warned 0
	readable
	sealed
	equal kernels 12 "$(rows kernels)"
	equal losses 0 "$(rows losses)"
}

@test "what the program closes is closed: a reader of its output does not wait for the recording" {
	export ROOFLINE_FLUSH_MS=10
	CUDA_INJECTION64_PATH=$collector "$app" cuda kernels:5 sleep_ms:50 close_output sleep_ms:3000 | {
		cat >/dev/null
		date +%s%N >closed
	}
	date +%s%N >ended
	[ $(($(cat ended) - $(cat closed))) -gt 1500000000 ]
}

@test "where no thread may have its own table, a program with few descriptors is left alone, and a line says so" {
	with_limit_among 24 24 cuda kernels:5 exit:6
	warned 1 'only 24 files may be open .*nothing is recorded'
	[ ! -e "$recording" ]
	with_limit_among 200 200 take_descriptors:8 cuda kernels:5 exit:6
	warned 1 'cannot record into .*: Too many open files; nothing is recorded'
	equal files '' "$(find "$recording" -type f)"
}

@test "where no thread may have its own table, files are opened again, and rows that cannot be written are counted" {
	export ROOFLINE_FLUSH_MS=10
	with_limit_among 1024 1024 watch_limit cuda kernels:5 "until_lines:6:recording/*/kernels.csv" close_descriptors kernels:7 \
		"until_lines:13:recording/*/kernels.csv" exit:6
	warned 0
	readable
	sealed
	equal kernels 12 "$(rows kernels)"
	rm -rf "$recording"
	export ROOFLINE_FLUSH_MS=400 # not between the two steps that close and take
	with_limit_among 200 200 cuda kernels:5 "until_lines:6:recording/*/kernels.csv" close_descriptors take_descriptors \
		kernels:7 sleep_ms:2000 \
		close_descriptors exit:6
	warned 1 'cannot write .*: Too many open files; rows are lost and counted'
	readable
	sealed
	equal kernels 5 "$(rows kernels)"
	equal unwritten_kernels 1 "$(($(loss unwritten_rows) >= 7))"
}

@test "a host's name with slashes is no folder of its own" {
	needs_namespaces --uts
	slashed() { unshare --user --map-root-user --uts bash -c 'echo a/b >/proc/sys/kernel/hostname && exec "$@"' bash "$@"; }
	capture bare slashed "$app" cuda kernels:5 exit:6
	capture with slashed env CUDA_INJECTION64_PATH="$collector" "$app" cuda kernels:5 exit:6
	same_as_bare
	warned 0
	readable
	equal host a/b "$(property host)"
}

# on_odd_disk ODDITY STEP...: record where write(2) to kernels.csv is odd
on_odd_disk() {
	local oddity=$1
	shift
	capture bare "$app" "$@"
	capture with env ODD_DISK="$oddity" CUDA_INJECTION64_PATH="$collector" \
		LD_PRELOAD="$runtimes$BUILD/tests/collector/libodd_disk.so" "$app" "$@"
	same_as_bare
}

@test "a disk that takes nothing and says nothing: told once, rows are counted" {
	on_odd_disk nothing cuda kernels:5 exit:6
	warned 1 'cannot write .*kernels.csv: Input/output error'
	sealed
	equal unwritten_rows 5 "$(loss unwritten_rows)"
}

@test "threads that launch do not wait for a disk that takes seconds for a write" {
	export ROOFLINE_FLUSH_MS=10
	on_odd_disk slow cuda "shell:touch timing" kernels:5 until_lines:1:held timed_threads:2 "shell:rm timing" exit:6
	grep -q 'that was quick' with.out
	warned 0
	readable
	equal kernels 2005 "$(rows kernels)"
}
