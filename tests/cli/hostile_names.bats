#!/usr/bin/env bats
# Names of a recording that attack whoever shows them: terminals, spreadsheets, readers of SVG.
load common

setup_file() {
	export FOLDER="$BATS_FILE_TMPDIR"
	cd "$FOLDER"
	"$ROOFLINECTL" unpack "$root/tests/recordings/syncs.roofline" -o honest
	python3 "$root/tests/tools/hostile_names.py" honest hostile
	mv hostile/*/ $'hostile/\e[31m\xc2\x9b.7'
}

setup() {
	cd "$FOLDER"
}

# is_text FILE...: UTF-8 without control characters, but for ends of lines and tabs
is_text() {
	python3 - "$@" <<-'END'
		import re, sys
		for name in sys.argv[1:]:
		    with open(name, encoding='utf-8', newline='') as file:
		        found = re.search('[\0-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]', file.read())
		    assert not found, (name, found)
	END
}

# shown ARGUMENT...: on stdout and stderr, in files
shown() {
	count=$((${count-0} + 1))
	"$ROOFLINECTL" "$@" >shown.$count.out 2>shown.$count.err || true
}

@test "what a terminal would obey reaches it on no stream, whatever is asked" {
	shown report hostile
	shown report --wide hostile
	shown advise hostile
	shown whatif --graph hostile
	shown verify hostile hostile
	shown verify --strategy launch_bound_graph hostile honest
	shown plot --format term hostile
	shown report $'none\e[31m\xc2\x9b\xff'
	shown report --format $'\e[31m\xc2\x9b' hostile
	shown advise --range $'\e[31m\xc2\x9b' hostile
	shown $'\e[31m\xc2\x9b'
	is_text shown.*
}

@test "JSON on a terminal has no character that it would obey" {
	needs_terminal
	script -qec "'$ROOFLINECTL' report --format json hostile" /dev/null </dev/null | tr -d '\r' >out
	! LC_ALL=C grep -q $'\xc2\x9b' out
	grep -q 'u009B' out
}

@test "a cell of CSV that a spreadsheet would run is a text, and none has control characters" {
	for section in kernels processes devices ranges gaps losses; do
		"$ROOFLINECTL" report --format csv --section $section hostile >$section.csv
	done
	is_text *.csv
	python3 - *.csv <<-'END'
		import csv, sys
		def is_number(text):
		    try:
		        return float(text) is not None
		    except ValueError:
		        return False
		texts = []
		for name in sys.argv[1:]:
		    with open(name, encoding='utf-8', newline='') as file:
		        texts += [cell for row in csv.reader(file) for cell in row if not is_number(cell)]
		assert not [text for text in texts if text[:1] in ('=', '+', '-', '@', '\t', '\r', '\n')]
		assert [text for text in texts if text[:2] in ("'=", "'+", "'-", "'@")]
	END
}

@test "pictures are well-formed, and their text is what can be shown" {
	needs_command gnuplot
	"$ROOFLINECTL" plot -o pictures hostile
	is_text pictures/*.svg
	python3 - pictures/*.svg <<-'END'
		import sys, xml.dom.minidom
		for name in sys.argv[1:]:
		    xml.dom.minidom.parse(name)
	END
	grep -q 'a\]\] >b' pictures/*.svg
}
