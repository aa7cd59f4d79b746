#!/usr/bin/env bash
# Every list in the code is named whole by the page that explains it, and the page names nothing else; and what
# is written in a folder is in its list.
source "$(dirname "$0")/common.bash"

# rows MACRO HEADER [N]: the N-th argument (1) of every row of an X-macro, a comment in quotes without them
rows() {
	perl -0777 -ne '
		s{/\*.*?\*/}{}gs; s/\\\n//g;
		while (/(?<![\w#] )\b'"$1"'\(((?:[^()"]|"(?:\\.|[^"\\])*"|\([^()]*\))*)\)/g) {
			my @part = map { s/^\s+|\s+$|"//gr } $1 =~ /((?:[^,"]|"(?:\\.|[^"\\])*")+)/g;
			print "$part['"${3:-1}"' - 1]\n" if @part > 1 || $part[0] =~ /^[a-z0-9_]+$/ && $part[0] ne "name";
		}' "$2" | grep -v '^\(name\|constant\)$'
}

# cells PAGE HEADER: the first cell of each row of the table with that header, one name a line
cells() {
	awk -v header="$2" '
		index($0, header) == 1 { on = 1; next }
		on && !/^\|/ { on = 0 }
		on && !/^\|-/ { split($0, cell, / *\| */); print cell[2] }' "$1" | sed 's/, /\n/g' | tr -d '`'
}

# same WHAT CODE PAGE TEXT: two lists of names, compared as sets
same() {
	[ -n "$2" ] || echo "the list of $1 was not found: has it changed its form?"
	comm -23 <(sort -u <<<"$2") <(sort -u <<<"$4") | sed '/./!d; s|^|'"$3"' does not name |'
	comm -13 <(sort -u <<<"$2") <(sort -u <<<"$4") | sed '/./!d; s|^|'"$3"' names what is not there: |'
}

# table WHAT MACRO HEADER N PAGE TABLE: a verdict on a list that a table of a page explains
table() {
	same "$1" "$(rows "$2" "$3" "$4")" "$5" "$(cells "$5" "$6")" | verdict "$5 explains each of the $1, and no other"
}

# named WHAT NAMES FILE: each of them stands in FILE as a word
named() {
	local name
	for name in $2; do
		grep -qE "(^|[^a-zA-Z0-9_])$name([^a-zA-Z0-9_]|\$)" "$3" || echo "$3 does not name $name"
	done
}

# listed WHAT NAMES FILES: what files are called, without folder and ending, is the list
listed() {
	same "$1" "$2" "the folder" "$(printf '%s\n' $3 | sed -E 's|.*/||; s|\.[a-z]+$||')" |
		verdict "each of the $1 has its file, and each file its row"
}

table "sets of counters" COUNTER_SET include/roofline/metrics.h 1 docs/commands/record.md '| set | counts |'
table "sets of samples" SAMPLE_SET include/roofline/sampled.h 1 docs/commands/record.md '| set | sampled |'
table "variables of the collector" VARIABLE include/roofline/collector_env.h 2 docs/commands/record.md '| variable |'
table "checks of doctor" CHECK analyzer/cmd/doctor_checks.h 3 docs/commands/doctor.md '| check |'
table "programs that measure" PROGRAM include/roofline/ceilings.h 1 docs/commands/ceilings.md '| program |'

for set in $(rows COUNTER_SET include/roofline/metrics.h) $(rows SAMPLE_SET include/roofline/sampled.h); do
	grep -qE "[^a-z_\"]$set[^a-z_\"]" analyzer/cmd/record_options.c || echo "record --help does not name the set $set"
	grep -qE "[^a-z_\"]$set[^a-z_\"]" include/roofline/collector_env.h || echo "no variable's meaning names the set $set"
done | verdict "record --help and the variables name each set"

ceilings=$(rows CEILING include/roofline/ceilings.h)
# Those that no file which is shipped has yet stand in the row of their program.
same "ceilings" "$ceilings" docs/commands/ceilings.md "$(sed -n '/^<!-- run: rooflinectl ceilings/,/^<!-- end/p' \
	docs/commands/ceilings.md | sed -nE 's/^  ([a-z0-9_]+)(\[[0-9]+\])?  +([0-9]|skipped:).*/\1/p'
	sed -n '/^| program |/,/^$/p' docs/commands/ceilings.md | grep -oE '`[a-z0-9_]+`' | tr -d '`' |
		grep -xF "$ceilings")" |
	verdict "docs/commands/ceilings.md shows each ceiling, or names it"
for program in $(rows PROGRAM include/roofline/ceilings.h); do
	for name in $(rows CEILING include/roofline/ceilings.h | paste - <(rows CEILING include/roofline/ceilings.h 2) |
		awk -v program="$program" '$2 == program { print $1 }'); do
		grep -q "$name" workloads/ceilings/"$program".cu || echo "workloads/ceilings/$program.cu does not measure $name"
	done
done | verdict "each ceiling is measured by the program that its row names"

charts=$(rows CHART analyzer/charts/charts.h)
same "charts" "$charts" docs/commands/plot.md "$(sed -n '/^## Charts/,/^## Zooming/p' docs/commands/plot.md |
	grep -oE '^\*\*[a-z_]+\*\*' | tr -d '*')" | verdict "docs/commands/plot.md explains each of the charts, and no other"
for chart in $charts; do
	[ -s "plots/$chart.gp" ] || echo "plots/$chart.gp is missing"
done | verdict "each chart has its script in plots/"
for script in plots/*.gp; do
	name=$(basename "$script" .gp)
	grep -qx "$name" <<<"$charts" || grep -q "\b$name\.gp" plots/*.gp analyzer/charts/*.c analyzer/charts/*/*.c analyzer/cmd/plot.c ||
		echo "$script is no chart's, and nothing loads it"
done | verdict "each script in plots/ is a chart's, or loaded by one"

for module in $(sed -n "/<<-'END'/,/END\$/p" tests/lint/modules.sh | sed -n 's/^[[:space:]]*\([a-z/]*\) .*|.*|.*/\1/p' |
	sed 's/^analyzer.//' | cut -d/ -f1 | sort -u); do
	grep -q "class=\"name\".*\b$module/" docs/images/architecture.svg || echo "docs/images/architecture.svg has no $module/"
done | verdict "the picture of the modules has each of them"

rules=$(rows RULE analyzer/advice/rules/rules.h)
table "rules" RULE analyzer/advice/rules/rules.h 1 docs/commands/report.md '| id |'
same "rules" "$rules" analyzer/advice/rules "$(grep -hoE '^const struct rule rule_[a-z_0-9]+' analyzer/advice/rules/*.c |
	sed 's/.*rule_//')" | verdict "each rule that is written is in rules.h"

techniques=$(rows TECHNIQUE analyzer/techniques/techniques.h)
same "techniques" "$techniques" analyzer/techniques "$(grep -hoE '^const struct technique technique_[a-z_0-9]+' \
	analyzer/techniques/*.c | sed 's/.*technique_//')" | verdict "each technique that is written is in techniques.h"
{ grep -qx '<!-- run: rooflinectl whatif --list -->' docs/commands/whatif.md || echo "docs/commands/whatif.md has no list"; } |
	verdict "docs/commands/whatif.md has the list of techniques that whatif prints"

listed "workloads" "$(rows WORKLOAD workloads/workloads.h)" "$(ls workloads/*.cu workloads/*.py | grep -v '/workload[.]')"
listed "programs that measure" "$(rows PROGRAM include/roofline/ceilings.h)" "$(echo workloads/ceilings/*.cu)"
same "commands" "$(rows COMMAND analyzer/cmd/commands.h)" analyzer/cmd \
	"$(grep -hoE '^int cmd_[a-z]+\(' analyzer/cmd/*.c | sed 's/.*cmd_//; s/($//')" |
	verdict "each command that is written is in commands.h"

# Exit codes: each page says what each code of commands.h that its command can end with means.
codes=$(grep -oE 'EXIT_[A-Z]+ = [0-9]' analyzer/cmd/commands.h)
for page in docs/commands/*.md; do
	command=$(basename "$page" .md)
	files=$(grep -lE "^int cmd_$command\(" analyzer/cmd/*.c | sed 's/\.c$//')
	text=$(sed -n '/^## Exit code/,/^## [^E]/p' "$page")
	[ -n "$text" ] || { echo "$page has no section of exit codes"; continue; }
	while read -r name _ code; do
		if grep -qE "\b$name\b" "$files"*.c; then
			grep -qE "(^|[ ;(])$code\b" <<<"$text" || echo "$page does not say when the exit code is $code ($name)"
		fi
	done <<<"$codes"
	grep -oE '(^|; |\. |, )[0-9]+ (when|with|for|success)' <<<"$text" | grep -oE '[0-9]+' | while read -r code; do
		grep -q "= $code" <<<"$codes" || [ "$page" = docs/commands/record.md ] ||
			echo "$page tells of an exit code $code that commands.h does not have"
	done
done | verdict "each command's page tells its exit codes"

causes=$(rows CAUSE analyzer/analysis/time/gaps.h 2)
named "causes" "$causes" docs/commands/report.md | verdict "docs/commands/report.md names each cause of idle time"

# ---- the report ----

# chapter HEADING FILE: the lines below a heading, up to the next one
chapter() {
	awk -v heading="$1" '/^#/ { is_inside = $0 == heading; next } is_inside' "$2"
}

# first_cells: the names in the first column of a table
first_cells() {
	sed -nE 's/^\| `([^`]+)` \|.*/\1/p'
}

# same_order LIST LIST WHAT: lines for what only one of two lists has, or for another order
same_order() {
	diff <(echo "$1") <(echo "$2") |
		sed -nE "s#^< (.*)#$3: \1 is missing or out of order#p; s#^> (.*)#$3: \1 is not in the code, or out of order#p"
}

report=docs/commands/report.md

same_order "$(rows SECTION analyzer/output/sections.h)" "$(chapter '## Sections' $report | first_cells)" $report |
	verdict "report.md lists every section, in the order of a report"

rows OUTPUT analyzer/output/outputs.h | while read -r format; do
	for document in $report docs/commands/advise.md; do
		grep -qE "^\| .*--format.*\`$format\`" $document || echo "$document: --format lacks $format"
	done
done | verdict "report.md and advise.md name every format"

same_order "$(rows SECTION analyzer/output/sections.h | sort)" \
	"$(grep -hoE '^const struct section section_[a-z_]+' analyzer/output/sections/*.c | sed 's/.*section_//' | sort)" \
	analyzer/output/sections | verdict "every section that is written is one that reports have"

# names: every key of JSON, column of CSV and counter that the sections of a recording have
names() {
	local recording=tests/recordings/work_queue.naive.sampled section
	"$BUILD/bin/rooflinectl" report $recording -f json | grep -oE '^ *"[^"]+":' | tr -d ' ":'
	for section in $(rows SECTION analyzer/output/sections.h); do
		"$BUILD/bin/rooflinectl" report $recording -f csv -s "$section" 2>/dev/null | head -n 1 | tr ',' '\n'
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
