#!/usr/bin/env bash
# Lists in the documents hold what the lists in the code hold.
source "$(dirname "$0")/common.bash"

# rows MACRO HEADER: first argument of every row of an X-macro
rows() {
	sed -nE "s/^[[:space:]]+$1\(([a-z_0-9]+)[,)].*/\1/p" "$2"
}

# chapter HEADING FILE: the lines below a heading, up to the next one
chapter() {
	awk -v heading="$1" '/^#/ { is_inside = $0 == heading; next } is_inside' "$2"
}

# first_cells: the names in the first column of a table
first_cells() {
	sed -nE 's/^\| `([^`]+)` \|.*/\1/p'
}

# same LIST LIST WHAT: lines for what only one of two lists has, or for another order
same() {
	diff <(echo "$1") <(echo "$2") |
		sed -nE "s#^< (.*)#$3: \1 is missing or out of order#p; s#^> (.*)#$3: \1 is not in the code, or out of order#p"
}

report=docs/commands/report.md

same "$(rows SECTION analyzer/output/sections.h)" "$(chapter '## Sections' $report | first_cells)" $report |
	verdict "report.md lists every section, in the order of a report"

rows OUTPUT analyzer/output/outputs.h | while read -r format; do
	for document in $report docs/commands/advise.md; do
		grep -qE "^\| .*--format.*\`$format\`" $document || echo "$document: --format lacks $format"
	done
done | verdict "report.md and advise.md name every format"

same "$(rows SECTION analyzer/output/sections.h | sort)" \
	"$(grep -hoE '^const struct section section_[a-z_]+' analyzer/output/sections/*.c | sed 's/.*section_//' | sort)" \
	analyzer/output/sections | verdict "every section that is written is one that reports have"

# names: every key of JSON, column of CSV and counter that the sections of a recording have
names() {
	local recording=tests/recordings/work_queue.naive.sampled section
	"$BUILD/bin/rooflinectl" report $recording -f json | grep -oE '^ *"[^"]+":' | tr -d ' ":'
	for section in $(rows SECTION analyzer/output/sections.h); do
		"$BUILD/bin/rooflinectl" report $recording -f csv -s "$section" | head -n 1 | tr ',' '\n'
	done
	grep -oE '"?[a-z_0-9]+_ns\b' include/roofline/metrics.h
}

if [ ! -x "$BUILD/bin/rooflinectl" ]; then
	skip "every key that report.md names is one that sections have" "build first: make"
else
	known=$(names)
	# Lines of the schemas' history name keys that went.
	grep -vE '^\| [0-9]+ \|' $report | grep -oE '`[a-z_]+_(ns|count|share)`|`(is|has|first_run|second_run)_[a-z_]+[a-z]`' |
		tr -d '\`' | sort -u | while read -r key; do
			grep -qx "$key" <<<"$known" || echo "$report: no section has $key"
		done | verdict "every key that report.md names is one that sections have"
fi
finish
