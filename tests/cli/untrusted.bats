#!/usr/bin/env bats
# Recordings and files of others are untrusted: what they may not do to whoever reads them.  docs/security.md names these.
bats_require_minimum_version 1.5.0
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
	command -v zstd >/dev/null || skip "zstd is not installed"
	mkdir host.7
	truncate -s 200M host.7/kernels.csv
	tar -cf - host.7 | zstd -q -1 >bomb.roofline
	[ "$(stat -c %s bomb.roofline)" -lt 100000 ]
	refused "more than 200 times as large" report bomb.roofline
	refused "more than 200 times as large" unpack bomb.roofline -o out
	[ "$(ls -A)" = "$(printf '%s\n' bomb.roofline host.7)" ]
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "a compressed file of another tool that becomes far larger than it is is refused, and nothing of it stays" {
	{ printf '{"traceEvents": [{"name": "'; head -c 200000000 /dev/zero | tr '\0' a; } | gzip -1 >bomb.json.gz
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
