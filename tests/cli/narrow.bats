#!/usr/bin/env bats
# What is told on terminals that have fewer than 80 columns.
load common

setup() {
	needs_terminal
	mkdir "$BATS_TEST_TMPDIR/here" # bats keeps files of its own beside it
	cd "$BATS_TEST_TMPDIR/here"
	ln -s "$root"/tests/recordings/{graph_chain.naive,graph_chain.graph,collectives.ordered}.roofline .
}

# at COLUMNS ARGUMENT...: what rooflinectl tells on a terminal of so many columns
at() {
	NO_COLOR=1 PAGER=cat script -qec "stty cols $1; '$ROOFLINECTL' ${*:2}" /dev/null </dev/null | tr -d '\r'
}

# fits COLUMNS: no line is longer, but for commands, which are to be copied, and words that are
fits() {
	awk -v most="$1" 'length($0) > most && !/rooflinectl|ncu --|perf record/ && NF > 1 { print; bad = 1 } END { exit bad }'
}

# words: without bars
words() {
	tr -s ' \n' '\n' | grep -v '^#*$'
}

@test "reports, advice, predictions and comparisons fit terminals of 60 and 40 columns and lose no word" {
	local graphs="graph_chain.naive.roofline graph_chain.graph.roofline"
	for command in "report graph_chain.naive.roofline" "advise graph_chain.naive.roofline" \
		"whatif --graph graph_chain.naive.roofline" "compare $graphs" "verify $graphs" "report collectives.ordered.roofline"; do
		at 80 $command | words >wide
		[ "$(wc -l <wide)" -gt 40 ]
		for columns in 60 40; do
			at $columns $command >narrow
			fits $columns <narrow || { echo "$command at $columns"; false; }
			[[ $command == report* ]] || diff wide <(words <narrow)
		done
	done
}

@test "columns of a table stay columns where its lines are broken" {
	at 60 report -s api graph_chain.naive.roofline >narrow
	python3 - <<-'END'
		table = open("narrow").read().split("  once: ")[0] # a sentence is below it
		lines = [line for line in table.splitlines()[1:] if line]
		heads, rows = (lines[0], lines[1]), list(zip(lines[2::2], lines[3::2]))
		assert len(rows) > 5
		for part in (0, 1):
		    ends = {len(row[part]) for row in rows} | {len(heads[part])}
		    assert len(ends) == 1, (part, ends)
	END
}

@test "colors and commands stay whole on a narrow terminal, --wide is not limited, and a file is as ever" {
	PAGER=cat script -qec "stty cols 40; '$ROOFLINECTL' report graph_chain.naive.roofline" /dev/null </dev/null | tr -d '\r' >colored
	grep -q $'^\033\[1mVerdict\033\[0m$' colored
	grep -qx '  how:  rooflinectl advise graph_chain.naive.roofline' colored
	grep -qx '  rooflinectl report graph_chain.naive.roofline --html FILE' colored
	! grep -q $'\001' colored
	diff <(at 40 report --wide graph_chain.naive.roofline) <(at 80 report --wide graph_chain.naive.roofline)
	at 40 "report graph_chain.naive.roofline | cat" >piped
	diff <("$ROOFLINECTL" report graph_chain.naive.roofline) piped
}
