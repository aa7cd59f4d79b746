#!/usr/bin/env bats
# rooflinectl pack and unpack: a recording as one file, which every command reads.
load common

setup() {
	mkdir "$BATS_TEST_TMPDIR/here" # bats keeps files of its own beside it
	cd "$BATS_TEST_TMPDIR/here"
	packed="$root/tests/recordings/graph_chain.naive.roofline"
}

# make_recording FOLDER: a process of one kernel, with a table that has no row and a file that is none
make_recording() {
	mkdir -p "$1/host.7"
	printf 'key,value\nschema,1\nhost,host\npid,7\nsealed_ns,2000000\n' >"$1/host.7/process.csv"
	printf 'id,text\n1,_Z5saxpyifPf\n' >"$1/host.7/names.csv"
	printf 'id,name,grid_x\n1,1,64\n' >"$1/host.7/signatures.csv"
	printf 'start_ns,end_ns,signature,device,context,stream\n1000,2000,1,0,1,7\n' >"$1/host.7/kernels.csv"
	printf 'start_ns,end_ns,kind\n' >"$1/host.7/copies.csv"
	echo "the second try" >"$1/notes.txt"
}

# refused TEXT ARGUMENT...: exit code 1 and one line on stderr, which holds the text
refused() {
	run -1 --separate-stderr "$ROOFLINECTL" "${@:2}"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl $2: "*"$1"* ]]
}

# tarred FILE NAME...: a packed file of what tar is given
tarred() {
	tar --zstd -P -cf "$@"
}

@test "what is packed comes back byte for byte, but for tables without a row" {
	make_recording one
	"$ROOFLINECTL" pack one
	"$ROOFLINECTL" unpack one.roofline -o two
	run -1 diff -r one two
	[ "$output" = "Only in one/host.7: copies.csv" ]
}

@test "a recording and the packed one have the same report, in every format and form" {
	"$ROOFLINECTL" unpack "$packed" -o one
	"$ROOFLINECTL" pack one -o other.roofline
	for format in text json csv; do
		"$ROOFLINECTL" report one --format $format >expected
		mkdir there && cp other.roofline there/one.roofline
		(cd there && "$ROOFLINECTL" report one --format $format) >by_name # finds its suffix
		diff expected by_name
		"$ROOFLINECTL" report other.roofline --format $format | sed -E 's/other[.]roofline/one/g; s/other[.]after/one.after/g' | diff expected -
		"$ROOFLINECTL" report - --format $format <other.roofline >piped
		sed -E 's/^Recording  \(-\)/Recording  (one)/; s/"recording": "-"/"recording": "one"/; s/RECORDING_FROM_STDIN/one/g' piped | diff expected -
		rm -r there
	done
}

@test "equal recordings make equal files" {
	make_recording one
	"$ROOFLINECTL" pack one
	cp -r one two
	touch -d 2001-01-01 two/host.7/*
	chmod 600 two/notes.txt
	"$ROOFLINECTL" pack two/
	cmp one.roofline two.roofline
}

@test "a packed recording is a tar, compressed by zstd with a checksum, and smaller" {
	"$ROOFLINECTL" unpack "$packed" -o one
	"$ROOFLINECTL" pack one
	[ "$(stat -c %s one.roofline)" -lt $(($(cat one/*/* | wc -c) / 4)) ]
	"$ROOFLINECTL" pack --level 19 one -o less.roofline
	[ "$(stat -c %s less.roofline)" -lt "$(stat -c %s one.roofline)" ]
	needs_command zstd
	[[ "$(zstd -lv one.roofline 2>&1)" == *"Check: XXH64"* ]]
	[ "$(tar --zstd -tf one.roofline | sort)" = "$(cd one && find . -type f | sed 's#^[.]/##' | sort)" ]
}

@test "pack writes to stdout and unpack reads stdin, so that a recording crosses a pipe" {
	make_recording one
	"$ROOFLINECTL" pack one -o - | "$ROOFLINECTL" unpack - -o two
	cmp one/host.7/kernels.csv two/host.7/kernels.csv
	"$ROOFLINECTL" pack one -o - | "$ROOFLINECTL" plot - --format term kernels >plotted
	[ -s plotted ]
	"$ROOFLINECTL" report <("$ROOFLINECTL" pack one -o -) >reported
	grep -q saxpy reported
}

@test "pack of the current folder writes beside it, and of a process folder that process" {
	make_recording one
	(cd one && "$ROOFLINECTL" pack .)
	[ -s one.roofline ]
	"$ROOFLINECTL" pack one/host.7 -o alone.roofline
	"$ROOFLINECTL" unpack alone
	[ "$(ls alone alone/host.7)" = "$(printf '%s\n' alone: host.7 '' alone/host.7: kernels.csv names.csv process.csv signatures.csv)" ]
}

@test "a file that is written into the recording's own folder is not packed itself" {
	make_recording one
	"$ROOFLINECTL" pack one -o one/one.roofline
	"$ROOFLINECTL" unpack one/one.roofline -o two
	[ ! -e two/one.roofline ]
}

@test "the newest recording here may be a packed one" {
	make_recording one
	touch -d 2001-01-01 one/host.7/process.csv
	cp "$packed" newer.roofline
	run -0 "$ROOFLINECTL" report
	[[ "$output" == *"Recording  (./newer.roofline)"* ]]
	touch -d 2000-01-01 newer.roofline
	run -0 "$ROOFLINECTL" report
	[[ "$output" == *"Recording  (./one)"* ]]
}

@test "verify, advise and whatif read packed recordings by either name" {
	cp "$packed" a.roofline
	run -0 "$ROOFLINECTL" verify a - <a.roofline
	[[ "$output" == *" 1.00x"* ]]
	run -0 "$ROOFLINECTL" advise a
	[[ "$output" == *"rooflinectl verify a AFTER"* ]]
	run -0 "$ROOFLINECTL" whatif a --graph
	[ "${lines[-1]}" = "As a picture: rooflinectl plot whatif --graph a" ]
	run -0 "$ROOFLINECTL" whatif --graph a.roofline
	run -0 "$ROOFLINECTL" plot a gaps --format term
}

@test "a table without a row is kept where reading it tells something" {
	make_recording one
	printf 'no,column,of,it\n' >one/host.7/api.csv
	"$ROOFLINECTL" report one >expected
	"$ROOFLINECTL" pack one
	"$ROOFLINECTL" report one.roofline | sed 's/one[.]roofline/one/' | diff expected -
	mkdir two two/host.1 # killed before it wrote anything
	printf 'start_ns,end_ns\n' >two/host.1/kernels.csv
	"$ROOFLINECTL" report two >expected
	"$ROOFLINECTL" pack two
	"$ROOFLINECTL" report two.roofline | sed 's/two[.]roofline/two/' | diff expected -
}

@test "a packed recording that is damaged anywhere is refused, and leaves nothing" {
	size=$(stat -c %s "$packed")
	for at in 3 100 $((size / 3)) $((size / 2)) $((size - 300)) $((size - 4)) $((size - 1)); do
		head -c "$at" "$packed" >cut.roofline
		refused "cut.roofline: is " report cut.roofline
		refused "rooflinectl pack DIR" unpack cut
		cp "$packed" flipped.roofline
		byte=$(od -An -tu1 -j "$at" -N 1 flipped.roofline)
		printf "\\x$(printf %x $((byte ^ 32)))" | dd of=flipped.roofline bs=1 seek="$at" conv=notrunc status=none
		refused "flipped.roofline: is " report flipped
		refused "rooflinectl pack DIR" unpack flipped.roofline
	done
	[ "$(ls)" = "$(printf '%s\n' cut.roofline flipped.roofline)" ]
}

@test "a file that is none is refused" {
	: >empty.roofline
	echo "key,value" >text.roofline
	make_recording one
	tar -cf - -C one notes.txt | zstd -q >other.roofline || skip "zstd is not installed"
	for name in empty text; do
		refused "$name.roofline: is no packed recording (" report $name.roofline
		refused "$name.roofline: is no packed recording (" unpack $name
	done
	refused "other: no recording there" report other
	refused "other.roofline: is no packed recording: no folder in it holds process.csv" unpack other
	[ ! -e other ]
	refused "-: is no packed recording" report - </dev/null
}

@test "names that lead elsewhere, links and devices in a packed file are refused, and nothing is written" {
	needs_command zstd
	make_recording there/one
	mkdir there/here
	ln -s ../../one/host.7/kernels.csv there/here/kernels.csv
	mkfifo there/here/api.csv
	cd there/one
	tarred ../../up.roofline host.7 ../one/notes.txt
	tarred ../../middle.roofline --transform 's#notes#host.7/../../../notes#' host.7 notes.txt
	tarred ../../root.roofline host.7 "$PWD/notes.txt"
	tarred ../../link.roofline -C .. --transform 's#one/##' one here/kernels.csv
	tarred ../../pipe.roofline -C .. --transform 's#one/##' one here/api.csv
	ln host.7/kernels.csv host.7/hard.csv
	tarred ../../hard.roofline host.7
	cd ../..
	for name in up middle root; do
		refused "is a name that leads elsewhere" unpack $name
		refused "is a name that leads elsewhere" report $name
	done
	for name in link hard; do
		refused "is a link" unpack $name
		refused "is a link" report $name
	done
	refused "is no plain file" unpack pipe
	refused "is no plain file" report pipe
	[ "$(ls)" = "$(printf '%s\n' hard.roofline link.roofline middle.roofline pipe.roofline root.roofline there up.roofline)" ]
}

@test "where the disk is full no part of a file or folder stays" {
	"$ROOFLINECTL" unpack "$packed" -o one
	echo before >one.roofline
	ulimit -f 4
	refused "one.roofline: cannot be written: File too large" pack one
	[ "$(cat one.roofline)" = before ]
	refused "cannot be written: File too large" unpack "$packed" -o two
	[ "$(ls)" = "$(printf '%s\n' one one.roofline)" ]
	run -1 bash -c "'$ROOFLINECTL' pack one -o - >/dev/full"
	[[ "$output" == "rooflinectl pack: stdout: cannot be written: No space left on device" ]]
}

@test "where there is no place for what is unpacked, one line tells of TMPDIR" {
	TMPDIR=$PWD/nosuch refused "set TMPDIR to a folder with space" report "$packed"
}

@test "what cannot be packed is told in one line" {
	make_recording one
	refused "nosuch: No such file or directory" pack nosuch
	mkdir empty
	refused "empty: no recording there" pack empty
	refused "is packed already" pack "$packed" -o two
	refused "nosuch/one.roofline: cannot be written: No such file" pack one -o nosuch/one.roofline
	refused "empty: not a file" pack one -o empty
	ln -s process.csv one/host.7/link.csv
	refused "link.csv: neither a file nor a folder" pack one
	[ ! -e one.roofline ]
	refused "one: is there already; give -o another name" unpack "$packed" -o one
	refused "does not end in .roofline" unpack one
	refused "does not end in .roofline" unpack - <"$packed"
	refused "nosuch.roofline: No such file or directory" unpack nosuch.roofline
}

@test "wrong usage is exit code 2" {
	for arguments in "pack" "unpack" "pack one two" "pack --level 0 one" "pack --level 20 one" "pack --level 9x one" "pack --level= one"; do
		run -2 "$ROOFLINECTL" $arguments
		[[ "$output" == "rooflinectl "*"; see rooflinectl "*" --help" ]]
	done
}

@test "a folder that holds packed recordings is none itself, and hides no older one" {
	make_recording one
	mkdir -p there/kept && cd there
	cp -r ../one ./old
	"$ROOFLINECTL" pack ../one -o kept/one.roofline
	touch -d '1 hour ago' old/*/process.csv
	run -0 "$ROOFLINECTL" report --section processes
	[[ "$output" == *"Recording  (./old)"* ]]
	rm -r old
	run -1 "$ROOFLINECTL" report
	[[ "$output" == *"no recording under the current folder"* ]]
}

@test "packed or unpacked, a recording stays as old as it is" {
	make_recording old
	touch -d "2026-01-02 03:04:05" old/host.7/process.csv
	make_recording new
	touch -d "2026-02-03 04:05:06" new/host.7/process.csv
	"$ROOFLINECTL" pack old
	"$ROOFLINECTL" unpack old.roofline -o older
	[ "$(stat -c %Y old.roofline older/host.7/process.csv | uniq)" = "$(date -d "2026-01-02 03:04:05" +%s)" ]
	"$ROOFLINECTL" report --section processes --format json | grep -q '"recording": "./new"'
}

@test "what an unpack that was killed leaves is no recording" {
	make_recording one
	cp -r one .two.AbCdEf
	"$ROOFLINECTL" report --section processes --format json | grep -q '"recording": "./one"'
}

@test "a folder where a file is wanted, and a name without a letter" {
	mkdir empty.roofline
	refused "empty.roofline: is a folder, and no packed recording" unpack empty.roofline -o one
	make_recording one
	run -2 "$ROOFLINECTL" pack one -o ''
	[[ "$output" == *"-o wants a name"* ]]
}

@test "control characters of names reach no terminal" {
	mkdir -p 'a'
	printf 'x' >$'a/evil\e[31m'
	tarred evil.roofline --transform 's|a|../a|' a/*
	run -1 --separate-stderr "$ROOFLINECTL" report evil.roofline
	[[ "$stderr" != *$'\e'* ]]
	[[ "$stderr" == *"evil?[31m"* ]]
}

@test "pack tells the name that it chose, and nothing where it was given" {
	make_recording "a run"
	run -0 --separate-stderr "$ROOFLINECTL" pack "a run"
	[[ "$output" =~ ^"a run.roofline: "[0-9.]+" "(B|KiB)"; read it with: rooflinectl report 'a run.roofline'"$ ]]
	run -0 "$ROOFLINECTL" pack "a run" -o two.roofline
	[ -z "$output" ]
}
