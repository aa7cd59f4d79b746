#!/usr/bin/env bats
# Commands that are printed run as they stand when they are pasted, whatever names stand in them.
load common
load pasted.bash

setup() {
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
}

@test "commands of a recording with a hostile name can be pasted" {
	unpacked graph_chain.naive "$path"
	pasted "$("$ROOFLINECTL" pack "$path")"
	pasted "$("$ROOFLINECTL" report "$path" | tail -n 1)"
	pasted "$("$ROOFLINECTL" report --section gaps "$path" | grep -A1 'to see the first:')"
	pasted "$("$ROOFLINECTL" whatif --graph "$path" | tail -n 1)"
	pasted "$("$ROOFLINECTL" advise "$path" | sed -nE 's/^ *(next|check it:) *(.*verify)/\2/p; /^  rooflinectl whatif/p')"
	run ! "$ROOFLINECTL" report --range nowhere "$path"
	pasted "$(sed 's/ --section ranges, and.*//' <<<"$output")"
}

@test "commands of a refused file with a hostile name can be pasted" {
	for suffix in .nsys-rep .sqlite; do
		echo x >"$path$suffix"
		run -1 "$ROOFLINECTL" report "$path$suffix"
		pasted "$output" "$path$suffix"
	done
	run -1 "$ROOFLINECTL" import "$path.nsys-rep" -o out
	pasted "$output" "$path.nsys-rep"
	mkdir "$path"
	run -1 "$ROOFLINECTL" import "$path" -o out
	pasted "$output"
	python3 -c "
import sqlite3, sys
file = sqlite3.connect('x.db')
file.execute('CREATE TABLE rocpd_metadata_x (a)')
file.commit()"
	mv x.db "$path.db"
	run -1 "$ROOFLINECTL" import "$path.db" -o out
	pasted "$output" "$path.db"
}

@test "an import into a folder with a hostile name says how to read it" {
	python3 "$root/tests/tools/hostile_sqlite.py" plain x.sqlite || skip "this Python has no sqlite3"
	pasted "$("$ROOFLINECTL" import x.sqlite -o "$path")"
}

@test "what runs the recorded program says so" {
	unpacked graph_chain.naive one
	note="# the program as recorded: read it before you run it"
	run -0 "$ROOFLINECTL" advise one
	[ "$(grep -cF "$note" <<<"$output")" -eq 3 ] # of the verdict, the advice and what is next, each once
	grep -A1 '^  next: .*-- graph_chain naive' <<<"$output" | grep -qF "        $note"
	run -0 "$ROOFLINECTL" report --format json one
	[[ "$output" != *"$note"* ]]
	sed -i '/^command,/d' one/*/process.csv
	run -0 "$ROOFLINECTL" advise one
	[[ "$output" == *"-- PROGRAM"* ]]
	[[ "$output" != *"$note"* ]]
}

@test "a recorded command line that begins as an option is none of what runs it" {
	unpacked graph_chain.naive one
	sed -i 's/^command,.*/command,--output=elsewhere app/' one/*/process.csv
	run -0 "$ROOFLINECTL" advise one
	[[ "$output" == *"-- PROGRAM"* ]]
	[[ "$output" != *elsewhere* ]]
}

@test "words of a recorded command line are quoted" {
	unpacked graph_chain.naive one
	sed -i 's/^command,.*/command,"app $(touch ran) ;touch ran `touch ran` =ls"/' one/*/process.csv
	pasted "$("$ROOFLINECTL" advise one | sed -nE 's/^ *(next|try it:) +//p')" '$(touch'
}
