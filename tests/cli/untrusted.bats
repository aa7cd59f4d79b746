#!/usr/bin/env bats
# Recordings and files of others are untrusted: what they may not do to whoever reads them.  docs/security.md names these.
load common

setup() {
	mkdir "$BATS_TEST_TMPDIR/here" "$BATS_TEST_TMPDIR/tmp"
	cd "$BATS_TEST_TMPDIR/here"
	export TMPDIR="$BATS_TEST_TMPDIR/tmp"
	packed="$root/tests/recordings/syncs.roofline"
}

# refused TEXT ARGUMENT...: exit code 1 and one line on stderr, which holds the text
refused() {
	run -1 --separate-stderr "$ROOFLINECTL" "${@:2}"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == "rooflinectl $2: "*"$1"* ]] || { echo "$stderr"; false; }
}

@test "a packed recording that becomes far larger than it is ends in one line, and nothing of it stays" {
	needs_command zstd
	mkdir host.7
	truncate -s 200M host.7/kernels.csv
	tar -cf - host.7 | zstd -q -1 >bomb.roofline
	[ "$(stat -c %s bomb.roofline)" -lt 100000 ]
	refused "more than 200 times as large" report bomb.roofline
	refused "more than 200 times as large" unpack bomb.roofline -o out
	[ "$(ls -A)" = "$(printf '%s\n' bomb.roofline host.7)" ]
	[ -z "$(ls -A "$TMPDIR")" ]
}

# archive FILE: a packed file of what the Python on stdin adds to the tar t by add(NAME, BYTES)
archive() {
	needs_command zstd
	{
		cat <<-'END'
			import io, sys, tarfile
			t = tarfile.open(fileobj=sys.stdout.buffer, mode='w|', format=tarfile.GNU_FORMAT)
			def add(name, content=b'', type=tarfile.REGTYPE):
			    info = tarfile.TarInfo(name)
			    info.size, info.type = len(content), type
			    t.addfile(info, io.BytesIO(content))
			add('host.7/process.csv', b'key,value\nschema,1\nsealed_ns,1\n')
		END
		cat
		echo 't.close()'
	} | python3 /dev/stdin | zstd -q -3 >"$1"
}

# refused_packed TEXT FILE: by unpack and by report, and neither leaves anything
refused_packed() {
	local before
	before=$(ls -A)
	refused "$1" unpack "$2" -o out
	refused "$1" report "$2"
	[ "$(ls -A)" = "$before" ]
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "a packed recording has names of two parts: one that stands for many folders is refused" {
	archive deep.roofline <<<"add('a/' * 1500 + 'f')"
	archive wide.roofline <<-'END'
		for i in range(40):
		    add('%d/' % i + 'a/' * 1900 + 'f')
	END
	archive table.roofline <<<"add('host.7/more/kernels.csv')"
	for name in deep wide table; do
		refused_packed "is a name of more than two parts" $name.roofline
	done
	mkdir -p one/host.7/more
	printf 'key,value\nschema,1\n' >one/host.7/process.csv
	echo >one/host.7/more/kernels.csv
	refused "one/host.7/more/kernels.csv: deeper than a process's folder" pack one
}

@test "a packed recording of more files or folders than its size can hold is refused, and nothing of it stays" {
	archive files.roofline <<-'END'
		for i in range(20000):
		    add('host.7/%d' % i)
	END
	archive folders.roofline <<-'END'
		for i in range(20000):
		    add('%d/' % i, type=tarfile.DIRTYPE)
	END
	archive processes.roofline <<-'END'
		for i in range(10000):
		    add('%d/kernels.csv' % i)
	END
	for name in files folders processes; do
		refused_packed "more than 200 times as large" $name.roofline
	done
}

@test "zeros and files that nobody reads count in a packed recording" {
	archive one.roofline <<<"pass"
	head -c 64M /dev/zero | zstd -q >zeros
	{ cat one.roofline; for _ in $(seq 200); do cat zeros; done; } >zeros.roofline
	rm zeros
	refused_packed "more than 200 times as large" zeros.roofline
	archive unread.roofline <<<"add('notes', bytes(100 << 20))"
	refused "more than 200 times as large" report unread.roofline
}

@test "a table that is twice in a packed recording is refused" {
	archive twice.roofline <<<"add('host.7/process.csv', b'key,value\n')"
	refused "is in it twice" report twice.roofline
	refused "File exists" unpack twice.roofline -o out
	[ ! -e out ]
}

@test "an unpack that is refused after it made files leaves nothing" {
	archive link.roofline <<-'END'
		for i in range(100):
		    add('%d/kernels.csv' % i, b'start_ns\n')
		add('link', type=tarfile.SYMTYPE)
	END
	refused_packed "is a link" link.roofline
}

@test "a table that is a device without end is no table, and that is told" {
	"$ROOFLINECTL" unpack "$packed" -o recording
	ln -sf /dev/zero "$(echo recording/*)/api.csv"
	run -0 timeout 20 "$ROOFLINECTL" report --section losses recording
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"api.csv: the table cannot be read: it is no file, but a device or a pipe"* ]]
}

@test "a compressed file of another tool that becomes far larger than it is is refused, and nothing of it stays" {
	{ printf '{"traceEvents": ['; yes '{"name": "kernel", "ph": "i", "ts": 1},' | head -c 200000000; } | gzip -9 >bomb.json.gz
	refused "more than 200 times as large" import bomb.json.gz -o out
	[ "$(ls -A)" = bomb.json.gz ]
}

@test "no program is started for a file of another tool, whatever it says that it was compressed by" {
	mkdir bin
	for program in lrzip grzip lzop gzip bzip2 xz zstd uncompress lz4; do
		printf '#!/bin/sh\ntouch "%s/started"\n' "$PWD" >"bin/$program"
		chmod +x "bin/$program"
	done
	printf 'LRZI\0\6%64s' x >lrzip.json
	printf 'GRZipII\0\2\4:)%64s' x >grzip.json
	printf '\x89LZO\0\r\n\x1a\n%64s' x >lzop.json
	for file in *.json; do
		PATH="$PWD/bin:$PATH" refused "$file:" import "$file" -o out
	done
	[ ! -e started ]
}

# sqlite KIND: KIND.sqlite, which tests/tools/hostile_sqlite.py describes
sqlite() {
	python3 "$root/tests/tools/hostile_sqlite.py" "$1" "$1.sqlite" || skip "this Python has no sqlite3, or it lacks fts4"
}

# refused_sqlite KIND TEXT: the import ends with it
refused_sqlite() {
	sqlite "$1"
	refused "$2" import "$1.sqlite" -o out
	[ ! -e out ]
}

# import_of KIND: its tables
import_of() {
	sqlite "$1"
	timeout 20 "$ROOFLINECTL" import "$1.sqlite" -o "$1" >/dev/null
	cat "$1"/*/*.csv
}

# needs_long_rows: SQLite 3.37 limits all of a row, with the columns that are not read; 3.40 does not
needs_long_rows() {
	python3 -c 'import sqlite3, sys; sys.exit(sqlite3.sqlite_version_info < (3, 40))' ||
		skip "needs SQLite 3.40, which limits the columns that are read alone"
}

@test "a column of a database that is not read may have any size" {
	needs_long_rows
	import_of unread >unread.txt
	grep -q saxpy unread.txt
	grep -q 'host,there' unread.txt
}

@test "generated columns and virtual tables of a database are not read" {
	import_of plain >plain.txt
	grep -q saxpy plain.txt
	import_of generated >generated.txt
	! grep -q 00000000000 generated.txt
	import_of virtual >virtual.txt
	grep -q saxpy virtual.txt
	! grep -q 'of a module' virtual.txt
	refused_sqlite virtual_root "no such module"
}

@test "a cell of a database is at most a MiB" {
	refused_sqlite cell "has a text of more than 1 MiB"
}

@test "reading a database takes no more steps than its size allows" {
	refused_sqlite shared_pages "takes more steps to be read"
}

@test "a row that lies in a page that follows itself takes no more steps, either" {
	needs_long_rows
	refused_sqlite long_chain "takes more steps to be read"
}

@test "reading a database takes at most 64 MiB for its tables" {
	refused_sqlite heap "needs more than 64 MiB of memory"
}

@test "texts of a database become no larger than its size allows" {
	refused_sqlite texts "its texts become larger"
	refused_sqlite names "its texts become larger"
}

@test "names of a database without a key are found in one pass" {
	import_of unkeyed | grep -q ',kernel59999$'
}

@test "a file has at most 1024 GPUs and 1024 processes" {
	refused_sqlite gpus "has more than 1024 GPUs"
	refused_sqlite processes "has more than 1024 processes"
}

# long_json EXPRESSION: a trace with an event that the expression of Python writes
long_json() {
	python3 -c "import sys; sys.stdout.write('{\"traceEvents\": [' + $1 + ']}')" >long.json
}

@test "a text, a number or a key of a JSON trace is at most a MiB" {
	long_json "'{\"name\": \"' + 'a' * 40000000 + '\"}'"
	refused "has a text or a number of more than 1 MiB" import long.json -o out
	long_json "'{\"ts\": ' + '1' * 40000000 + '}'"
	refused "has a text or a number of more than 1 MiB" import long.json -o out
	long_json "'{\"' + 'a' * 1100000 + '\": 1}'"
	refused "has a text or a number of more than 1 MiB" import long.json -o out
	[ ! -e out ]
}

@test "an event of a JSON trace is at most 64 MiB" {
	long_json "'{' + ', '.join(['\"a\": \"' + 'a' * 1000000 + '\"'] * 70) + '}'"
	refused "has an event of more than 64 MiB" import long.json -o out
	[ ! -e out ]
}

@test "files of ceilings and of measurements have limits, too" {
	truncate -s 17M ceilings.json
	refused "ceilings.json: larger than 16 MiB" report --ceilings ceilings.json "$packed"
	mkdir tuned
	truncate -s 257M tuned/trials.jsonl
	refused "tuned/trials.jsonl: larger than 256 MiB" plot tuned tune
}

# hostile FOLDER: a recording whose names and facts are paths and commands
hostile() {
	"$ROOFLINECTL" unpack "$root/tests/recordings/jit_gemm.disk.roofline" -o "$1"
	python3 - "$1"/*/ "$PWD" <<-'END'
		import csv, glob, sys
		folder, here = sys.argv[1:]
		texts = [here + '/canary', '$(touch %s/ran)' % here, '`touch %s/ran`' % here, '|touch %s/ran' % here,
		         'http://127.0.0.1:9/canary', '../../../canary']
		for table, column in (('names', 1), ('process', 1), ('devices', 1)):
		    with open(folder + table + '.csv', newline='') as file:
		        rows = list(csv.reader(file))
		    for number, row in enumerate(rows[1:]):
		        if not row[column].isdigit():
		            row[column] = texts[number % len(texts)]
		    with open(folder + table + '.csv', 'w', newline='') as file:
		        csv.writer(file, lineterminator='\n').writerows(rows)
	END
}

# confined ARGUMENT...: of rooflinectl, which is killed where it makes a socket or starts a program
confined() {
	"$BUILD/tests/tools/confined" "$ROOFLINECTL" "$@" >out 2>err || code=$?
	[ "${code-0}" -ne 77 ] || skip "no seccomp"
	[ "${code-0}" -lt 128 ] || { echo "$*: ended by signal $((code - 128))"; cat err; false; }
	code=0
}

@test "what names of a recording say is neither run, nor read, nor connected to, whatever is asked" {
	hostile recording
	echo secret >canary
	touch -a -d 2001-01-01 canary
	for format in text json csv; do
		confined report --format $format recording
	done
	confined report --html page.html recording
	confined advise recording
	confined whatif --graph --fuse recording
	confined verify recording recording
	confined compare recording recording
	for format in perfetto chrome sqlite speedscope; do
		confined export --format $format -o exported recording
	done
	confined pack -o packed.roofline recording
	confined unpack packed.roofline -o unpacked
	[ ! -e ran ]
	[ "$(stat -c %X canary)" -eq "$(date -d 2001-01-01 +%s)" ]
	cat canary
	[ "$(stat -c %X canary)" -ne "$(date -d 2001-01-01 +%s)" ] || skip "this disk does not tell what was read"
}

@test "charts of such a recording start gnuplot alone, without a shell" {
	needs_command gnuplot
	hostile recording
	"$ROOFLINECTL" plot -o pictures recording
	[ -n "$(ls pictures)" ]
	[ ! -e ran ]
}

@test "the killing works: what starts a program or makes a socket is ended" {
	run "$BUILD/tests/tools/confined" /bin/true
	[ "$status" -ne 77 ] || skip "no seccomp"
	[ "$status" -eq 0 ]
	run "$BUILD/tests/tools/confined" "$(command -v bash)" -c '/bin/true; exit 0'
	[ "$status" -ne 0 ] || [[ "$output" == *"Bad system call"* ]]
	run "$BUILD/tests/tools/confined" "$(command -v bash)" -c 'exec 3<>/dev/tcp/127.0.0.1/9'
	[ "$status" -eq 159 ]
}
